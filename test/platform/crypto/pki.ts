// Certificates of our own. Options that a test omits are those of an honest device CA.

import 'reflect-metadata'
import { generateKeyPairSync, webcrypto } from 'node:crypto'
import {
  BasicConstraintsExtension,
  type Extension,
  KeyUsageFlags,
  KeyUsagesExtension,
  X509CertificateGenerator,
} from '@peculiar/x509'
import { readCertificateFields } from '#src/platform/crypto/certificate-fields.ts'
import { readDerElements, readOnly } from '#src/platform/crypto/der.ts'
import { type Certificate, parseCertificate } from '#src/platform/crypto/x509.ts'
import { sequence } from '../../../capture-kit/der.ts'

type KeyPair = webcrypto.CryptoKeyPair

export const P256 = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }
export const P384 = { name: 'ECDSA', namedCurve: 'P-384', hash: 'SHA-384' }
export const P521 = { name: 'ECDSA', namedCurve: 'P-521', hash: 'SHA-512' }
export const ED25519 = { name: 'Ed25519' }

export function rsa(modulusLength: number, hash = 'SHA-256') {
  return { name: 'RSASSA-PKCS1-v1_5', modulusLength, publicExponent: new Uint8Array([1, 0, 1]), hash }
}

/**
 * An RSA pair with its exponents swapped, so that the public one is as long as the modulus. It signs like any other;
 * verifying takes a hundred times as long.
 */
export async function makeSlowRsa(bits = 3072): Promise<KeyPair> {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: bits, publicExponent: 65_537 })
  const { n = '', e = '', d = '', p = '', q = '', qi = '' } = privateKey.export({ format: 'jwk' })
  const reduced = (prime: string) => fromBigInt(toBigInt(e) % (toBigInt(prime) - 1n))
  const swapped = { kty: 'RSA', n, e: d, d: e, p, q, dp: reduced(p), dq: reduced(q), qi }
  const { subtle } = webcrypto
  return {
    privateKey: await subtle.importKey('jwk', swapped, rsa(bits), true, ['sign']),
    publicKey: await subtle.importKey('jwk', { kty: 'RSA', n, e: d }, rsa(bits), true, ['verify']),
  }
}

const toBigInt = (text: string) => BigInt(`0x${Buffer.from(text, 'base64url').toString('hex')}`)
const fromBigInt = (number: bigint) =>
  Buffer.from(number.toString(16).replace(/^(?=(?:..)*.$)/, '0'), 'hex').toString('base64url')

/** The public part alone, without a private key: no test signs with it. */
export async function rsaPublicKey(modulus: Buffer, exponent: Buffer): Promise<webcrypto.CryptoKey> {
  const jwk = { kty: 'RSA', n: modulus.toString('base64url'), e: exponent.toString('base64url') }
  return webcrypto.subtle.importKey('jwk', jwk, rsa(modulus.length * 8), true, ['verify'])
}

/** A certificate with its keys, so that it can issue others. */
export interface Issued {
  name: string
  keys: KeyPair
  algorithm: KeyAlgorithmParameters
  der: Buffer
  certificate: Certificate
}

type KeyAlgorithmParameters = typeof P256 | typeof ED25519 | ReturnType<typeof rsa>

interface CertificateOptions {
  name: string
  /** Signs, and gives its name to the issuer field. Its own when missing. */
  issuer?: Pick<Issued, 'name' | 'keys' | 'algorithm'>
  /** Another name in the issuer field than the signer's. */
  issuerName?: string
  keys?: KeyPair
  algorithm?: KeyAlgorithmParameters
  /** Signs with another hash than the issuer's algorithm has. */
  signatureHash?: string
  isCa?: boolean
  /** No basicConstraints at all. */
  isBare?: boolean
  pathLength?: number
  /** null: no keyUsage extension. */
  usages?: KeyUsageFlags | null
  from?: string
  until?: string
  extensions?: Extension[]
}

export const AT = new Date('2026-11-20T12:00:00Z')

export async function makeDer(options: CertificateOptions): Promise<Omit<Issued, 'certificate'>> {
  const { name, algorithm = P256, isCa = false, isBare = false, pathLength, extensions = [] } = options
  const keys = options.keys ?? ((await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])) as KeyPair)
  const signer = options.issuer ?? { name, keys, algorithm }
  const usages = options.usages === undefined ? defaultUsages(isCa) : options.usages
  const certificate = await X509CertificateGenerator.create({
    subject: `CN=${name}`,
    issuer: `CN=${options.issuerName ?? signer.name}`,
    publicKey: keys.publicKey,
    signingKey: signer.keys.privateKey,
    signingAlgorithm: options.signatureHash ? { ...signer.algorithm, hash: options.signatureHash } : signer.algorithm,
    notBefore: new Date(options.from ?? '2026-01-01T00:00:00Z'),
    notAfter: new Date(options.until ?? '2027-01-01T00:00:00Z'),
    extensions: [
      ...(isBare ? [] : [new BasicConstraintsExtension(isCa, pathLength, true)]),
      ...(usages === null ? [] : [new KeyUsagesExtension(usages, true)]),
      ...extensions,
    ],
  })
  return { name, keys, algorithm, der: Buffer.from(certificate.rawData) }
}

/** DER of a certificate for an ML-DSA key (RFC 9881), signed by a P-256 one. */
export async function makeMlDsa(kind: 'ml-dsa-44' | 'ml-dsa-65' | 'ml-dsa-87' = 'ml-dsa-65'): Promise<Buffer> {
  const spki = generateKeyPairSync(kind as 'ed25519').publicKey.export({ type: 'spki', format: 'der' })
  const { der } = await makeDer({ name: 'Other', isCa: true })
  const { spki: ours } = readCertificateFields(der)
  const [tbs, ...rest] = readDerElements(readOnly(der, 0x30).content)
  const at = tbs?.content.indexOf(ours) ?? 0
  const fields = tbs?.content ?? Buffer.alloc(0)
  const changed = sequence(fields.subarray(0, at), spki, fields.subarray(at + ours.length))
  return sequence(changed, ...rest.map(({ bytes }) => bytes))
}

export async function make(options: CertificateOptions): Promise<Issued> {
  const made = await makeDer(options)
  const parsed = parseCertificate(made.der)
  if (!parsed.ok) throw new Error(parsed.detail)
  return { ...made, certificate: parsed.certificate }
}

/** Root, intermediate, leaf. Given options replace those of a level. */
export async function makeChain(
  change: Partial<Record<'root' | 'intermediate' | 'leaf', Partial<CertificateOptions>>> = {},
): Promise<Record<'root' | 'intermediate' | 'leaf', Issued>> {
  const root = await make({ name: 'Root', isCa: true, ...change.root })
  const intermediate = await make({ name: 'Intermediate', isCa: true, issuer: root, ...change.intermediate })
  const leaf = await make({ name: 'Device 1', issuer: intermediate, ...change.leaf })
  return { root, intermediate, leaf }
}

function defaultUsages(isCa: boolean): KeyUsageFlags {
  return isCa ? KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign : KeyUsageFlags.digitalSignature
}
