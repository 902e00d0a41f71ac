// The chain of an attested Android key, from the key to a root that is pinned by its public key: the certificate of the first
// root expired in 2026 and the devices that carry it did not. Older devices don't keep to RFC 5280, so this is a path of its
// own: every certificate signs the one before it, and only the first says something about a key.

import { readCertificateExtensions } from '#src/platform/crypto/certificate-fields.ts'
import { type Certificate, parseChain } from '#src/platform/crypto/x509.ts'
import { linkProblem } from './chain-link.ts'
import { KEY_DESCRIPTION_OID } from './key-description.ts'
import { type Reason, reason } from './verdict.ts'

export interface AndroidChain {
  certificates: Certificate[]
  leaf: Certificate
  /** The one that signed the key: its name says which hardware it sits in. */
  attester: Certificate
  /** Value of the extension. */
  description: Buffer
  provisioning: 'factory' | 'remote'
}

export type AndroidPath = { ok: true; chain: AndroidChain } | { ok: false; reason: Reason }

interface PathInput {
  /** DER, leaf first, the root last. */
  ders: readonly Uint8Array[]
  /** SHA-256 of the roots' SubjectPublicKeyInfo, lower-case hex. */
  rootDigests: ReadonlySet<string>
  at: Date
}

// A key, what signed it, and a root; over the air there are two more.
const MIN_CERTIFICATES = 3

export function checkAndroidChain({ ders, rootDigests, at }: PathInput): AndroidPath {
  if (ders.length < MIN_CERTIFICATES) {
    return refuse('chain_too_short', `has ${ders.length} certificates: the key’s, its issuers’ and the root are needed`)
  }
  const parsed = parseChain(ders)
  if (!parsed.ok) return refuse('malformed', `certificate ${parsed.index} ${parsed.detail}`)
  const { certificates } = parsed
  const [leaf, attester] = certificates
  const root = certificates.at(-1)
  if (leaf === undefined || attester === undefined || root === undefined) return refuse('chain_too_short', 'is empty')

  // The root must have signed itself. Google's own verifier compares names as well, so a chain whose signatures fit and whose
  // names don't is refused: see decision 27.
  for (const [index, certificate] of certificates.entries()) {
    const problem = linkProblem(certificate, certificates[index + 1] ?? root, index)
    if (problem !== undefined) return { ok: false, reason: problem }
  }
  const weak = certificates.findIndex(({ isCa, pathLength, keyUsage }, index) => {
    const isShort = pathLength !== undefined && index - 1 > pathLength
    // What attests keys is no CA by its own words on real phones: it is told by its place, and by its issuer.
    return index > 1 && (!isCa || isShort || keyUsage?.keyCertSign === false)
  })
  if (weak !== -1) return refuse('issuer_not_ca', `certificate ${weak} may not issue the one before it`)
  const rootAt = certificates.findIndex(({ spkiDigest }) => rootDigests.has(spkiDigest.toString('hex')))
  if (rootAt === -1) return refuse('root_unknown', 'does not end with a root of the vendor')
  // Vendors renew the certificate of a root's key, and each of them signs the other: with one above the other the first would
  // stand where the factory's certificate does, and what came over the air would never expire.
  if (rootAt < certificates.length - 1) {
    return refuse('chain_broken', `certificate ${rootAt} is a root of the vendor: nothing stands above it`)
  }

  const extensions = certificates.map(({ der }) => readCertificateExtensions(der).get(KEY_DESCRIPTION_OID)?.value)
  const [description, ...others] = extensions
  // A key that may sign can sign a certificate too, and would vouch for whatever that says.
  const elsewhere = others.findIndex((value) => value !== undefined)
  if (elsewhere !== -1) return refuse('extension_elsewhere', `certificate ${elsewhere + 1} describes a key as well`)
  if (description === undefined) return refuse('extension_missing', 'its first certificate describes no key')

  const provisioning = provisioningOf(certificates)
  if (provisioning === 'remote') {
    const [, ...issuers] = certificates.slice(0, -1)
    const early = issuers.findIndex(({ notBefore }) => at < notBefore)
    if (early !== -1) return refuse('not_yet_valid', `certificate ${early + 1} is not valid yet`)
    const late = issuers.findIndex(({ notAfter }) => at > notAfter)
    if (late !== -1) return refuse('expired', `certificate ${late + 1} is not valid any more`)
  }
  return { ok: true, chain: { certificates, leaf, attester, description, provisioning } }
}

// What the factory put in has a serial number for a name, and lives as long as the device whatever its dates say. What came
// over the air lives for weeks and is renewed. Unknown shapes are held to their dates.
function provisioningOf(certificates: readonly Certificate[]): 'factory' | 'remote' {
  const issuedByRoot = certificates.at(-2)
  return /(?:^|, )serialNumber=/.test(issuedByRoot?.subject ?? '') ? 'factory' : 'remote'
}

function refuse(code: Reason['code'], detail: string): AndroidPath {
  return { ok: false, reason: reason(code, detail) }
}
