// Why a certificate was not issued by the next one of a chain: it names another issuer, or the signature is not by that
// key. The two have different causes, so they have different codes.

import { isSignedBy } from '#src/platform/crypto/chain-path.ts'
import type { Certificate } from '#src/platform/crypto/x509.ts'
import { quote } from '#src/platform/sanitize.ts'
import { type Reason, reason } from './verdict.ts'

// One sentence holds two names. Real names have about 80 characters.
const MAX_NAME_CHARACTERS = 120

/** `index`: the certificate's, from 0. Undefined when names and signature match. */
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
