// Why the certificates of a chain don't lead from one to the next: one can't be read, names another issuer, was not signed by its
// key, or the root was not sent. These have different causes, so they have different codes.

import { isSignedBy } from '#src/platform/crypto/chain-path.ts'
import type { Certificate, ParsedChain } from '#src/platform/crypto/x509.ts'
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

/** The last certificate of a chain that ends with its root, which names and signs itself. Undefined when it does. */
export function endProblem(last: Certificate, index: number): Reason | undefined {
  if (!last.issuerDer.equals(last.subjectDer)) {
    const named = shown(last.issuer)
    return reason('root_missing', `the root is missing: certificate ${index}, the last one, was issued by ${named}`)
  }
  if (!isSignedBy(last, last)) {
    return reason(
      'chain_broken',
      `certificate ${index} names itself as its issuer, as a root does, and its key did not sign it`,
    )
  }
  return undefined
}

/** Certificates that can't be read, or whose keys are not verified. */
export function unreadable({ code, index, detail }: Extract<ParsedChain, { ok: false }>): Reason {
  return reason(code === 'ml_dsa_key' ? code : 'malformed', `certificate ${index} ${detail}`)
}

function shown(name: string): string {
  const clean = quote(name)
  if (clean === null) return 'without a name'
  return clean.length > MAX_NAME_CHARACTERS ? `“${clean.slice(0, MAX_NAME_CHARACTERS).toWellFormed()}…”` : `“${clean}”`
}
