// Certificates that strangers send. Everything is bounded: their number, their size, the kinds of keys, the signatures
// that one check verifies. A path that requires more of RFC 5280 section 6 (policies, name constraints) is refused.

import { type KeyObject, X509Certificate } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { type CertificateFields, readCertificateFields } from '#src/platform/crypto/certificate-fields.ts'
import { type CheckInput, findPath } from '#src/platform/crypto/chain-path.ts'
import { judgeLeaf } from '#src/platform/crypto/chain-rules.ts'
import { sha256, sha256Hex } from '#src/platform/crypto/digest.ts'
import { isP256Spki } from '#src/platform/crypto/ecdsa.ts'
import { keyProblem, mlDsaProblem, UNSUPPORTED_KEY } from '#src/platform/crypto/public-key.ts'

export type KeyAlgorithm = 'ec-p256' | 'ec-p384' | 'ec-p521' | 'ed25519' | 'rsa'

export interface Certificate extends Readonly<CertificateFields> {
  readonly der: Buffer
  /** SHA-256 of the DER, lower-case hex. */
  readonly fingerprint: string
  /** For display, without invisible characters: `CN=Device 1, O=Acme`. Compare `subjectDer` and `issuerDer`. */
  readonly subject: string
  readonly issuer: string
  /**
   * Lower case, no leading zeros: the form of revocation lists. A negative one, which RFC 5280 forbids, begins with -.
   */
  readonly serialNumberHex: string
  /** SHA-256 of the SubjectPublicKeyInfo. A P-256 key has only one encoding, so this identifies the key. */
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
  | { ok: false; code: 'too_large' | 'not_a_certificate' | 'unsupported_key' | 'ml_dsa_key'; detail: string }

export type ParsedChain =
  | { ok: true; certificates: Certificate[] }
  | {
      ok: false
      index: number
      code: 'too_many' | 'too_large' | 'not_a_certificate' | 'unsupported_key' | 'ml_dsa_key' | 'duplicate'
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

// One hostile certificate may take 16 KiB, and as much again in OpenSSL: about 50 MB in the worst case.
const certificates = new LRUCache<string, Certificate>({ max: 1_000 })

/**
 * Reads one DER certificate with a key that we can verify with: P-256, P-384, P-521, Ed25519, RSA up to 8,192 bits with
 * a public exponent of up to 32 bits.
 */
export function parseCertificate(der: Uint8Array, maxBytes: number = CHAIN_LIMITS.maxBytes): ParsedCertificate {
  if (der.byteLength > maxBytes) {
    return { ok: false, code: 'too_large', detail: `has ${der.byteLength} bytes, at most ${maxBytes} are read` }
  }
  const fingerprint = sha256Hex(der)
  const known = certificates.get(fingerprint)
  if (known !== undefined) return { ok: true, certificate: known }

  // A copy: a cached certificate must not change with the request's buffer, nor keep it in memory.
  const bytes = Buffer.from(der)
  const fields = readFields(bytes)
  if (fields === undefined) return { ok: false, code: 'not_a_certificate', detail: describeUnreadable(bytes) }
  const mlDsa = mlDsaProblem(fields.spki)
  if (mlDsa !== undefined) return { ok: false, code: 'ml_dsa_key', detail: mlDsa }
  // The check runs before OpenSSL parses the certificate and its key.
  const problem = keyProblem(fields.spki)
  if (problem !== undefined) return { ok: false, code: 'unsupported_key', detail: problem }
  const x509 = readX509(bytes)
  if (x509 === undefined) return { ok: false, code: 'not_a_certificate', detail: describeUnreadable(bytes) }
  const publicKey = publicKeyOf(x509)
  const key = publicKey && describeKey(publicKey, fields.spki)
  if (publicKey === undefined || key === undefined) {
    return { ok: false, code: 'unsupported_key', detail: UNSUPPORTED_KEY }
  }
  const certificate: Certificate = {
    ...fields,
    ...describe(x509),
    der: bytes,
    fingerprint,
    spkiDigest: sha256(fields.spki),
    publicKey,
    ...key,
    x509,
  }
  certificates.set(fingerprint, certificate)
  return { ok: true, certificate }
}

export type CertificateSummary = Pick<
  Certificate,
  'subject' | 'issuer' | 'serialNumberHex' | 'notBefore' | 'notAfter' | 'fingerprint'
>

/**
 * A summary of a stored certificate, also when its key was accepted under wider limits than today's.
 * @throws {Error} when it is not a certificate.
 */
export function summarizeStored(der: Buffer | undefined = Buffer.alloc(0)): CertificateSummary {
  const parsed = parseCertificate(der)
  if (parsed.ok) return parsed.certificate
  const x509 = readX509(der)
  if (x509 === undefined) throw new Error(`a stored certificate can't be read any more: ${parsed.detail}`)
  return { ...describe(x509), fingerprint: sha256Hex(der) }
}

/** RFC 7468. */
export function pemOf(der: Uint8Array): string {
  const lines =
    Buffer.from(der)
      .toString('base64')
      .match(/.{1,64}/g) ?? []
  return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n')
}

/** Reads certificates in the order sent, leaf first. An empty chain is valid. Stops at the first refused one. */
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
 * Searches a path from the leaf, which comes first, to one of the anchors, over the rest of the chain in any order (RFC
 * 5280 section 6). Trusted: `path` holds the fingerprints from the leaf to the anchor. Not trusted: the obstacle on the
 * path that came furthest; `index` is the certificate in `chain` that it concerns, or the chain's length for an anchor
 * that wasn't sent. An anchor's dates, key and constraints count, its own signature doesn't. The leaf needs a P-256
 * key, and is never its own anchor. Names are compared byte by byte.
 */
export function checkChain({ chain, anchors, at }: CheckInput): ChainVerdict {
  const [leaf] = chain
  if (leaf === undefined) return { isTrusted: false, code: 'unknown_ca', detail: 'the chain is empty', index: 0 }
  const obstacle = judgeLeaf(leaf, at)
  return obstacle === undefined ? findPath(leaf, { chain, anchors, at }) : { isTrusted: false, ...obstacle, index: 0 }
}

// Our reader first: OpenSSL would also accept PEM, and bytes after the certificate.
function readFields(der: Buffer): CertificateFields | undefined {
  try {
    return readCertificateFields(der)
  } catch {
    return undefined
  }
}

function readX509(der: Buffer): X509Certificate | undefined {
  try {
    const x509 = new X509Certificate(der)
    return Number.isNaN(x509.validFromDate.getTime() + x509.validToDate.getTime()) ? undefined : x509
  } catch {
    return undefined
  }
}

function describe(x509: X509Certificate): Omit<CertificateSummary, 'fingerprint'> {
  return {
    subject: oneLine(x509.subject),
    issuer: oneLine(x509.issuer),
    serialNumberHex: x509.serialNumber.toLowerCase().replace(/^0+(?=.)/, ''),
    notBefore: x509.validFromDate,
    notAfter: x509.validToDate,
  }
}

function publicKeyOf(x509: X509Certificate): KeyObject | undefined {
  try {
    return x509.publicKey
  } catch {
    return undefined // An algorithm that OpenSSL doesn't know, or a point that isn't on its curve.
  }
}

// P-256 is recognised by its one encoding, which also avoids node:crypto's slow key details.
const CURVES: Record<string, { keyAlgorithm: KeyAlgorithm; keyBits: number }> = {
  secp384r1: { keyAlgorithm: 'ec-p384', keyBits: 384 },
  secp521r1: { keyAlgorithm: 'ec-p521', keyBits: 521 },
}

function describeKey(key: KeyObject, spki: Buffer): { keyAlgorithm: KeyAlgorithm; keyBits: number } | undefined {
  if (isP256Spki(spki)) return { keyAlgorithm: 'ec-p256', keyBits: 256 }
  const { namedCurve = '', modulusLength = 0 } = key.asymmetricKeyDetails ?? {}
  switch (key.asymmetricKeyType) {
    case 'ec':
      return CURVES[namedCurve]
    case 'rsa':
      return { keyAlgorithm: 'rsa', keyBits: modulusLength }
    case 'ed25519':
      return { keyAlgorithm: 'ed25519', keyBits: 256 }
    default:
      return undefined
  }
}

const OTHER_FORMATS: readonly (readonly [magic: Buffer, name: string])[] = [
  [Buffer.from('89504e470d0a1a0a', 'hex'), 'is a PNG image'],
  [Buffer.from('ffd8ff', 'hex'), 'is a JPEG image'],
  [Buffer.from('-----BEGIN'), 'is PEM text: send the base64 between its lines'],
  [Buffer.from('MII'), 'is base64 of a certificate, encoded twice'],
]

function describeUnreadable(bytes: Buffer): string {
  if (bytes.length === 0) return 'is empty'
  const name = OTHER_FORMATS.find(([magic]) => bytes.subarray(0, magic.length).equals(magic))?.[1]
  return `${name ?? 'is not one well-formed X.509 certificate'} (DER is expected)`
}

// OpenSSL escapes only C0 controls. Other controls affect terminals, and characters that reorder or hide text mislead
// readers.
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu

function oneLine(name: string | undefined): string {
  return (name ?? '').replaceAll('\n', ', ').replaceAll(INVISIBLE, '\ufffd')
}
