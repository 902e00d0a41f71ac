// What one certificate must satisfy at its position in a path. Pure: the search checks signatures and names.

import type { Certificate, DistrustCode } from '#src/platform/crypto/x509.ts'

export interface Obstacle {
  code: DistrustCode
  detail: string
}

/** The leaf signs captures, so its key and use are restricted more than any other's. */
export function judgeLeaf(leaf: Certificate, at: Date): Obstacle | undefined {
  if (leaf.keyAlgorithm !== 'ec-p256')
    return { code: 'weak_key', detail: `the leaf's key is ${leaf.keyAlgorithm}, not P-256` }
  if (leaf.keyUsage?.digitalSignature === false) return { code: 'key_usage', detail: 'the leaf may not sign data' }
  return judgeCertificate(leaf, at) ?? judgeSignatureAlgorithm(leaf)
}

interface IssuerContext {
  /** Between the issuer and the leaf; self-issued ones don't count (RFC 5280 4.2.1.9). */
  intermediates: number
  at: Date
  isAnchor: boolean
}

/** A certificate that signed another one of the path. */
export function judgeIssuer(issuer: Certificate, { intermediates, at, isAnchor }: IssuerContext): Obstacle | undefined {
  if (!issuer.isCa) return { code: 'not_a_ca', detail: 'is not a CA certificate, but signed one of the chain' }
  if (issuer.keyUsage?.keyCertSign === false) return { code: 'key_usage', detail: 'may not sign certificates' }
  if (issuer.pathLength !== undefined && intermediates > issuer.pathLength) {
    const detail = `allows ${issuer.pathLength} intermediates below it, the path has ${intermediates}`
    return { code: 'path_length', detail }
  }
  return judgeCertificate(issuer, at) ?? (isAnchor ? undefined : judgeSignatureAlgorithm(issuer))
}

function judgeCertificate(certificate: Certificate, at: Date): Obstacle | undefined {
  const { notBefore, notAfter, keyAlgorithm, keyBits, unknownCriticalExtensions } = certificate
  if (!(at >= notBefore)) return { code: 'not_yet_valid', detail: `is valid from ${notBefore.toISOString()}` }
  if (!(at <= notAfter)) return { code: 'expired', detail: `was valid until ${notAfter.toISOString()}` }
  if (keyAlgorithm === 'rsa' && keyBits < 2048) return { code: 'weak_key', detail: `has an RSA key of ${keyBits} bits` }
  const [unknown] = unknownCriticalExtensions
  if (unknown === undefined) return undefined
  // RFC 5280 4.2: code that doesn't process a critical extension must refuse the certificate.
  return { code: 'key_usage', detail: `has the critical extension ${unknown}, which is not processed here` }
}

// Without SHA-1, MD5 and other algorithms that OpenSSL may still verify.
const STRONG_SIGNATURES = new Set([
  '1.2.840.10045.4.3.2', // ecdsa-with-SHA256, then 384 and 512
  '1.2.840.10045.4.3.3',
  '1.2.840.10045.4.3.4',
  '1.2.840.113549.1.1.11', // sha256WithRSAEncryption, then 384 and 512
  '1.2.840.113549.1.1.12',
  '1.2.840.113549.1.1.13',
  '1.3.101.112', // Ed25519
])

function judgeSignatureAlgorithm({ signatureOid }: Certificate): Obstacle | undefined {
  if (STRONG_SIGNATURES.has(signatureOid)) return undefined
  return { code: 'weak_key', detail: `is signed with the algorithm ${signatureOid}, which is not accepted` }
}
