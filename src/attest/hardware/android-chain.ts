// The certificate chain of an attested Android key, up to a root that is pinned by its public key: the certificate of
// the first root expired in 2026, the devices that carry it did not. Older devices violate RFC 5280, so this is a
// separate path validation: every certificate signs the one before it, and only the first describes a key.

import { readCertificateExtensions } from '#src/platform/crypto/certificate-fields.ts'
import { type Certificate, parseChain } from '#src/platform/crypto/x509.ts'
import { endProblem, linkProblem, unreadable } from './chain-link.ts'
import { KEY_DESCRIPTION_OID } from './key-description.ts'
import { type Reason, reason } from './verdict.ts'

export interface AndroidChain {
  certificates: Certificate[]
  leaf: Certificate
  /** The certificate that signed the key: its name says which hardware holds it. */
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

// A key's certificate, its issuer's and a root; a remotely provisioned chain has two more.
const MIN_CERTIFICATES = 3

export function checkAndroidChain({ ders, rootDigests, at }: PathInput): AndroidPath {
  if (ders.length < MIN_CERTIFICATES) {
    return refuse('chain_too_short', `has ${ders.length} certificates: the key’s, its issuers’ and the root are needed`)
  }
  const parsed = parseChain(ders)
  if (!parsed.ok) return { ok: false, reason: unreadable(parsed) }
  const { certificates } = parsed
  const [leaf, attester] = certificates
  const root = certificates.at(-1)
  if (leaf === undefined || attester === undefined || root === undefined) return refuse('chain_too_short', 'is empty')

  // The root must be self-signed. Google's own verifier compares names as well, so a chain with valid signatures and
  // wrong names is refused: see decision 21.
  for (const [index, certificate] of certificates.entries()) {
    const issuer = certificates[index + 1]
    const problem = issuer === undefined ? endProblem(root, index) : linkProblem(certificate, issuer, index)
    if (problem !== undefined) return { ok: false, reason: problem }
  }
  const weak = certificates.findIndex(({ isCa, pathLength, keyUsage }, index) => {
    const isShort = pathLength !== undefined && index - 1 > pathLength
    // On real phones the attesting certificate does not declare itself a CA; its position and its issuer identify it.
    return index > 1 && (!isCa || isShort || keyUsage?.keyCertSign === false)
  })
  if (weak !== -1) return refuse('issuer_not_ca', `certificate ${weak} may not issue the one before it`)
  const rootAt = certificates.findIndex(({ spkiDigest }) => rootDigests.has(spkiDigest.toString('hex')))
  if (rootAt === -1) return refuse('root_unknown', 'does not end with a root of the vendor')
  // Vendors renew the certificate of a root's key, and each version signs the other. With one above the other the first
  // would take the place of the factory's certificate, and a remotely provisioned chain would never expire.
  if (rootAt < certificates.length - 1) {
    return refuse('chain_broken', `certificate ${rootAt} is a root of the vendor: nothing stands above it`)
  }

  const extensions = certificates.map(({ der }) => readCertificateExtensions(der).get(KEY_DESCRIPTION_OID)?.value)
  const [description, ...others] = extensions
  // A key that may sign can also sign a certificate, and would vouch for whatever that describes.
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

// A factory certificate has a serial number as its name, and is valid as long as the device, whatever its dates. A
// remotely provisioned one is valid for weeks and renewed. Unknown forms are held to their dates.
function provisioningOf(certificates: readonly Certificate[]): 'factory' | 'remote' {
  const issuedByRoot = certificates.at(-2)
  return /(?:^|, )serialNumber=/.test(issuedByRoot?.subject ?? '') ? 'factory' : 'remote'
}

function refuse(code: Reason['code'], detail: string): AndroidPath {
  return { ok: false, reason: reason(code, detail) }
}
