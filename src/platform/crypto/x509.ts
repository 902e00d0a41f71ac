// Certificates that strangers send. Everything is bounded: how many, how large, which keys, how many signatures one check
// verifies. A path that RFC 5280 section 6 would need more than this for (policies, name constraints) is refused.

import { type KeyObject, X509Certificate } from 'node:crypto'
import { type CertificateFields, readCertificateFields } from '#src/platform/crypto/certificate-fields.ts'
import { judgeIssuer, judgeLeaf, type Obstacle } from '#src/platform/crypto/chain-rules.ts'
import { sha256, sha256Hex } from '#src/platform/crypto/digest.ts'
import { isP256Spki } from '#src/platform/crypto/ecdsa.ts'
import { createLru } from '#src/platform/crypto/lru.ts'

export type KeyAlgorithm = 'ec-p256' | 'ec-p384' | 'ec-p521' | 'ed25519' | 'rsa'

export interface Certificate extends Readonly<CertificateFields> {
  readonly der: Buffer
  /** SHA-256 of the DER, lower-case hex. */
  readonly fingerprint: string
  /** For people: `CN=Device 1, O=Acme`. Compare `subjectDer` and `issuerDer`. */
  readonly subject: string
  readonly issuer: string
  /** Lower case, no leading zeros: the form of revocation lists. */
  readonly serialNumberHex: string
  /** SHA-256 of the SubjectPublicKeyInfo. A P-256 key has one encoding only, so this names the key. */
  readonly spkiDigest: Buffer
  readonly publicKey: KeyObject
  readonly keyAlgorithm: KeyAlgorithm
  readonly keyBits: number
  readonly notBefore: Date
  readonly notAfter: Date
  readonly x509: X509Certificate
}

export type ParsedCertificate =
  | { ok: true; certificate: Certificate }
  | { ok: false; code: 'too_large' | 'not_a_certificate' | 'unsupported_key'; detail: string }

export type ParsedChain =
  | { ok: true; certificates: Certificate[] }
  | {
      ok: false
      index: number
      code: 'too_many' | 'too_large' | 'not_a_certificate' | 'unsupported_key' | 'duplicate'
      detail: string
    }

export interface ChainLimits {
  maxCertificates: number
  maxBytes: number
}

/** Real chains have 2 to 5 certificates of 0.5 to 2 KiB. */
export const CHAIN_LIMITS: ChainLimits = { maxCertificates: 8, maxBytes: 16 * 1024 }

export type DistrustCode =
  | 'unknown_ca'
  | 'expired'
  | 'not_yet_valid'
  | 'bad_signature'
  | 'not_a_ca'
  | 'path_length'
  | 'name_mismatch'
  | 'key_usage'
  | 'weak_key'

export type ChainVerdict =
  | { isTrusted: true; path: string[]; anchor: string }
  | { isTrusted: false; code: DistrustCode; detail: string; index: number }

// One hostile certificate may take 16 KiB and as much again in OpenSSL: some 50 MB at the very worst.
const certificates = createLru<string, Certificate>(1_000)

/** Reads one DER certificate with a key that we can verify with: P-256, P-384, P-521, Ed25519, RSA up to 8,192 bits. */
export function parseCertificate(der: Uint8Array, maxBytes: number = CHAIN_LIMITS.maxBytes): ParsedCertificate {
  if (der.byteLength > maxBytes) {
    return { ok: false, code: 'too_large', detail: `has ${der.byteLength} bytes, at most ${maxBytes} are read` }
  }
  const fingerprint = sha256Hex(der)
  const known = certificates.get(fingerprint)
  if (known !== undefined) return { ok: true, certificate: known }

  // A copy: what is remembered must not change with, nor keep alive, the request it came in.
  const bytes = Buffer.from(der)
  const read = readCertificate(bytes)
  if (read === undefined) return { ok: false, code: 'not_a_certificate', detail: describeStranger(bytes) }
  const { fields, x509, publicKey } = read
  const key = publicKey && describeKey(publicKey, fields.spki)
  if (publicKey === undefined || key === undefined) {
    const detail =
      'has a key that is none of P-256 (named curve, uncompressed), P-384, P-521, Ed25519, RSA up to 8192 bits'
    return { ok: false, code: 'unsupported_key', detail }
  }
  const certificate: Certificate = {
    ...fields,
    der: bytes,
    fingerprint,
    subject: oneLine(x509.subject),
    issuer: oneLine(x509.issuer),
    serialNumberHex: x509.serialNumber.toLowerCase().replace(/^0+(?=.)/, ''),
    spkiDigest: sha256(fields.spki),
    publicKey,
    ...key,
    notBefore: x509.validFromDate,
    notAfter: x509.validToDate,
    x509,
  }
  certificates.set(fingerprint, certificate)
  return { ok: true, certificate }
}

/** Reads certificates as they were sent, leaf first. An empty chain is a chain. Stops at the first that is refused. */
export function parseChain(ders: readonly Uint8Array[], limits: ChainLimits = CHAIN_LIMITS): ParsedChain {
  const { maxCertificates, maxBytes } = limits
  if (ders.length > maxCertificates) {
    const detail = `has ${ders.length} certificates, at most ${maxCertificates} are read`
    return { ok: false, index: maxCertificates, code: 'too_many', detail }
  }
  const parsed: Certificate[] = []
  for (const [index, der] of ders.entries()) {
    const result = parseCertificate(der, maxBytes)
    if (!result.ok) return { index, ...result }
    const { certificate } = result
    const twin = parsed.findIndex(({ fingerprint }) => fingerprint === certificate.fingerprint)
    if (twin !== -1) return { ok: false, index, code: 'duplicate', detail: `is certificate ${twin} again` }
    parsed.push(certificate)
  }
  return { ok: true, certificates: parsed }
}

/**
 * Looks for a path from the leaf, which comes first, to one of the anchors, over the rest of the chain in any order
 * (RFC 5280 section 6). Trusted: `path` holds the fingerprints from the leaf to the anchor. Not trusted: the obstacle on
 * the way that came furthest; `index` is the certificate in `chain` that it concerns, or the chain's length for an anchor
 * that wasn't sent. An anchor's dates, key and constraints count, its own signature doesn't. The leaf needs a P-256 key,
 * and is never its own anchor. Names are compared byte by byte.
 */
export function checkChain({ chain, anchors, at }: CheckInput): ChainVerdict {
  const [leaf] = chain
  if (leaf === undefined) return { isTrusted: false, code: 'unknown_ca', detail: 'the chain is empty', index: 0 }
  const obstacle = judgeLeaf(leaf, at)
  return obstacle === undefined ? findPath(leaf, { chain, anchors, at }) : { isTrusted: false, ...obstacle, index: 0 }
}

function readCertificate(der: Buffer) {
  try {
    // Our reader first: OpenSSL would also take PEM, and bytes after the certificate.
    const fields = readCertificateFields(der)
    const x509 = new X509Certificate(der)
    if (Number.isNaN(x509.validFromDate.getTime() + x509.validToDate.getTime())) return undefined
    return { fields, x509, publicKey: publicKeyOf(x509) }
  } catch {
    return undefined
  }
}

function publicKeyOf(x509: X509Certificate): KeyObject | undefined {
  try {
    return x509.publicKey
  } catch {
    return undefined // An algorithm that OpenSSL doesn't know, or a point that isn't on its curve.
  }
}

// RSA verification costs the square of the modulus: the bound is what keeps one check at a fraction of a millisecond.
const MAX_RSA_BITS = 8_192
const CURVES: Record<string, { keyAlgorithm: KeyAlgorithm; keyBits: number }> = {
  prime256v1: { keyAlgorithm: 'ec-p256', keyBits: 256 },
  secp384r1: { keyAlgorithm: 'ec-p384', keyBits: 384 },
  secp521r1: { keyAlgorithm: 'ec-p521', keyBits: 521 },
}

function describeKey(key: KeyObject, spki: Buffer): { keyAlgorithm: KeyAlgorithm; keyBits: number } | undefined {
  const { namedCurve = '', modulusLength = 0 } = key.asymmetricKeyDetails ?? {}
  switch (key.asymmetricKeyType) {
    case 'ec':
      return namedCurve === 'prime256v1' && !isP256Spki(spki) ? undefined : CURVES[namedCurve]
    case 'rsa':
      return modulusLength <= MAX_RSA_BITS ? { keyAlgorithm: 'rsa', keyBits: modulusLength } : undefined
    case 'ed25519':
      return { keyAlgorithm: 'ed25519', keyBits: 256 }
    default:
      return undefined
  }
}

const STRANGERS: readonly (readonly [magic: Buffer, name: string])[] = [
  [Buffer.from('89504e470d0a1a0a', 'hex'), 'is a PNG image'],
  [Buffer.from('ffd8ff', 'hex'), 'is a JPEG image'],
  [Buffer.from('-----BEGIN'), 'is PEM text: send the base64 between its lines'],
  [Buffer.from('MII'), 'is base64 of a certificate, encoded twice'],
]

function describeStranger(bytes: Buffer): string {
  if (bytes.length === 0) return 'is empty'
  const name = STRANGERS.find(([magic]) => bytes.subarray(0, magic.length).equals(magic))?.[1]
  return `${name ?? 'is not one well-formed X.509 certificate'} (DER is expected)`
}

function oneLine(name: string | undefined): string {
  return (name ?? '').replaceAll('\n', ', ')
}

interface CheckInput {
  chain: readonly Certificate[]
  anchors: readonly Certificate[]
  at: Date
}

/** A certificate that a chain of good signatures reaches, and the one it signed. */
interface Step {
  certificate: Certificate
  signed: Step | undefined
  /** Between this one and the leaf, without self-issued ones. */
  intermediates: number
  depth: number
}

// Ten times what an honest chain needs. A mesh of equal names under a hundred anchors of that name ends here.
const MAX_SIGNATURE_CHECKS = 64

// Visits each certificate once, the one with the fewest intermediates below it first. Fewer never reaches less far, so no
// path has to be tried twice, and a mesh of cross-signed certificates costs at most the square of their number.
function findPath(leaf: Certificate, { chain, anchors, at }: CheckInput): ChainVerdict {
  const isAnchor = new Set(anchors.map(({ fingerprint }) => fingerprint))
  const candidates = [...anchors, ...chain.slice(1)]
  const reached = new Set<string>()
  const open: Step[] = [{ certificate: leaf, signed: undefined, intermediates: 0, depth: 0 }]
  let furthest: (Obstacle & { certificate: Certificate; depth: number }) | undefined
  let checks = 0
  const isSigned = (subject: Certificate, issuer: Certificate) =>
    ++checks <= MAX_SIGNATURE_CHECKS && isSignedBy(subject, issuer)

  for (let step = takeFewest(open); step !== undefined; step = takeFewest(open)) {
    const { certificate, depth } = step
    if (reached.has(certificate.fingerprint)) continue
    reached.add(certificate.fingerprint)
    if (depth > 0 && isAnchor.has(certificate.fingerprint)) return trust(step)

    const named = candidates.filter((issuer) => isIssuerName(certificate, issuer))
    const issuers = named.filter((issuer) => isSigned(certificate, issuer))
    if (issuers.length === 0) {
      const others = named.length > 0 ? [] : chain.slice(1)
      note(certificate, depth, explainDeadEnd(certificate, named.length > 0, others, isSigned))
    }
    const intermediates = step.intermediates + (depth === 0 || isSelfIssued(certificate) ? 0 : 1)
    for (const issuer of issuers) {
      const obstacle = judgeIssuer(issuer, { intermediates, at, isAnchor: isAnchor.has(issuer.fingerprint) })
      if (obstacle === undefined) open.push({ certificate: issuer, signed: step, intermediates, depth: depth + 1 })
      else note(issuer, depth + 1, obstacle)
    }
  }
  if (checks > MAX_SIGNATURE_CHECKS)
    return distrust({ code: 'unknown_ca', detail: 'has too many possible issuers' }, leaf)
  if (furthest === undefined)
    return distrust({ code: 'unknown_ca', detail: 'its issuers sign each other in a loop' }, leaf)
  return distrust(furthest, furthest.certificate)

  function note(certificate: Certificate, depth: number, obstacle: Obstacle): void {
    if (furthest === undefined || depth > furthest.depth) furthest = { ...obstacle, certificate, depth }
  }

  function distrust({ code, detail }: Obstacle, { fingerprint, subject }: Certificate): ChainVerdict {
    const index = chain.findIndex((sent) => sent.fingerprint === fingerprint)
    const name = subject === '' ? 'the certificate without a name' : subject.slice(0, 200)
    return { isTrusted: false, code, detail: `${name}: ${detail}`, index: index === -1 ? chain.length : index }
  }
}

function trust(top: Step): ChainVerdict {
  const path: string[] = []
  for (let step: Step | undefined = top; step !== undefined; step = step.signed)
    path.unshift(step.certificate.fingerprint)
  return { isTrusted: true, path, anchor: top.certificate.fingerprint }
}

function takeFewest(open: Step[]): Step | undefined {
  let best = 0
  for (const [index, step] of open.entries()) {
    if (step.intermediates < (open[best]?.intermediates ?? 0)) best = index
  }
  return open.splice(best, 1)[0]
}

function isIssuerName(subject: Certificate, issuer: Certificate): boolean {
  return issuer.subjectDer.equals(subject.issuerDer) && issuer.fingerprint !== subject.fingerprint
}

function isSelfIssued({ subjectDer, issuerDer }: Certificate): boolean {
  return subjectDer.equals(issuerDer)
}

function explainDeadEnd(
  certificate: Certificate,
  isNameKnown: boolean,
  others: readonly Certificate[],
  isSigned: (subject: Certificate, issuer: Certificate) => boolean,
): Obstacle {
  if (isSelfIssued(certificate) && isSigned(certificate, certificate)) {
    return { code: 'unknown_ca', detail: 'is a root that is not registered' }
  }
  if (isNameKnown) return { code: 'bad_signature', detail: 'its signature is not by the issuer that it names' }
  const signer = others.find((other) => other !== certificate && isSigned(certificate, other))
  if (signer !== undefined) {
    return { code: 'name_mismatch', detail: 'was signed by a certificate of the chain, but names another issuer' }
  }
  return { code: 'unknown_ca', detail: 'its issuer is neither in the chain nor a registered root' }
}

// By the issuer's key and the subject's bytes, which is all that a signature depends on.
const signatures = createLru<string, boolean>(10_000)

function isSignedBy(subject: Certificate, issuer: Certificate): boolean {
  const pair = `${subject.fingerprint}${issuer.spkiDigest.toString('latin1')}`
  const known = signatures.get(pair)
  if (known !== undefined) return known
  const isValid = verifySignature(subject, issuer)
  signatures.set(pair, isValid)
  return isValid
}

function verifySignature({ x509 }: Certificate, { publicKey }: Certificate): boolean {
  try {
    return x509.verify(publicKey)
  } catch {
    return false // The algorithm doesn't fit the key.
  }
}
