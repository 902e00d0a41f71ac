// Why a certificate is not the work of the one that follows it in a chain: it names another issuer, or the signature is not
// that one's. The two mean different things to the person who looks for the cause, so they are told apart.

import { isSignedBy } from '#src/platform/crypto/chain-path.ts'
import type { Certificate } from '#src/platform/crypto/x509.ts'
import { quote } from '#src/platform/sanitize.ts'
import { type Reason, reason } from './verdict.ts'

// Two names stand in one sentence. Real ones have some 80 characters.
const MAX_NAME_CHARACTERS = 120

/** `index`: the certificate's, from 0. Undefined when names and signature fit. */
export function linkProblem(certificate: Certificate, issuer: Certificate, index: number): Reason | undefined {
  if (!certificate.issuerDer.equals(issuer.subjectDer)) {
    const [named, found] = [shown(certificate.issuer), shown(issuer.subject)]
    return reason('issuer_name_differs', `certificate ${index} names the issuer ${named}, the one after it is ${found}`)
  }
  if (!isSignedBy(certificate, issuer)) {
    return reason('chain_broken', `the signature of certificate ${index} is not by the key of the one after it`)
  }
  return undefined
}

function shown(name: string): string {
  const clean = quote(name)
  if (clean === null) return 'without a name'
  return clean.length > MAX_NAME_CHARACTERS ? `“${clean.slice(0, MAX_NAME_CHARACTERS).toWellFormed()}…”` : `“${clean}”`
}
