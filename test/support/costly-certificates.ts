// Certificates whose signatures cost their verifier most: RSA keys with a public exponent as long as the modulus.
// OpenSSL bounds the exponent above 3,072 bits only, so one check takes some hundred times as long as with 65,537. The
// signatures are noise: that they are wrong is known only after the exponentiation.

import { generateKeyPairSync, type KeyObject, randomBytes } from 'node:crypto'
import { boolean, element, nothing, octets, sequence, set, tagged } from '../../capture-kit/der.ts'

/** The longest modulus for which OpenSSL accepts every exponent. */
export const COSTLY_BITS = 3_072

type Random = (size: number) => Buffer

interface CertificateParts {
  subject: string
  issuer: string
  spki: Buffer
  isCa: boolean
  /** The source of its serial number and its signature. */
  random?: Random
}

/** DER with a signature of noise, as an RSA issuer of `COSTLY_BITS` would have made one. */
export function unsignedCertificate({ subject, issuer, spki, isCa, random = randomBytes }: CertificateParts): Buffer {
  const algorithm = sequence(OID_SHA256_RSA, nothing())
  const constraints = sequence(OID_BASIC_CONSTRAINTS, boolean(true), octets(sequence(...(isCa ? [boolean(true)] : []))))
  const body = sequence(
    tagged(0, element(0x02, Buffer.from([2]))),
    element(0x02, Buffer.from([0x40]), random(15)),
    algorithm,
    nameOf(issuer),
    sequence(utcTime('260101000000Z'), utcTime('460101000000Z')),
    nameOf(subject),
    spki,
    tagged(3, sequence(constraints)),
  )
  // Below the modulus, whose first bit is set: a larger number would be refused before any work.
  const signature = random(COSTLY_BITS / 8)
  signature[0] = 0
  return sequence(body, algorithm, bits(signature))
}

interface KeyLengths {
  modulusBits: number
  exponentBits: number
  random?: Random
}

/** SubjectPublicKeyInfo of an RSA key of chosen lengths, without a private key: its modulus is a random odd number. */
export function rsaSpki({ modulusBits, exponentBits, random = randomBytes }: KeyLengths): Buffer {
  const key = sequence(
    integerOf(randomOdd(modulusBits, { firstBits: 0xff, random })),
    integerOf(randomOdd(exponentBits, { firstBits: 0x80, random })),
  )
  return sequence(sequence(OID_RSA, nothing()), bits(key))
}

/** A CA certificate whose key takes its verifier longest. */
export function costlyAuthority({
  subject,
  issuer = subject,
  modulusBits = COSTLY_BITS,
  exponentBits = modulusBits - 1,
}: {
  subject: string
  issuer?: string
  modulusBits?: number
  exponentBits?: number
}): Buffer {
  return unsignedCertificate({ subject, issuer, spki: rsaSpki({ modulusBits, exponentBits }), isCa: true })
}

/**
 * Makes chains of a device: the leaf, which is new each time, and `issuers` certificates that all have the name of its
 * issuer, so that each of their keys is tried.
 */
export function createCostlyChains({
  issuers = 7,
  ...key
}: {
  issuers?: number
  exponentBits?: number
} = {}): () => Buffer[] {
  const name = `Costly ${randomBytes(6).toString('hex')}`
  const authorities = Array.from({ length: issuers }, () => costlyAuthority({ subject: name, ...key }))
  const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const spki = spkiOf(publicKey)
  return () => [unsignedCertificate({ subject: 'Phone', issuer: name, spki, isCa: false }), ...authorities]
}

/** The chain of a TLS server: a leaf with a real key, and above it `length` certificates that lead to no root. */
export function costlyServer({ length, exponentBits }: { length: number; exponentBits?: number }): {
  cert: string
  key: string
} {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const nameAt = (level: number) => (level === 0 ? '127.0.0.1' : `Level ${level}`)
  const certificates = [
    unsignedCertificate({ subject: nameAt(0), issuer: nameAt(1), spki: spkiOf(publicKey), isCa: false }),
    ...Array.from({ length }, (_, index) =>
      costlyAuthority({
        subject: nameAt(index + 1),
        issuer: nameAt(index + 2),
        ...(exponentBits === undefined ? {} : { exponentBits }),
      }),
    ),
  ]
  return {
    cert: certificates.map(pemOf).join(''),
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  }
}

export function pemOf(der: Uint8Array): string {
  const lines = Buffer.from(der).toString('base64').replaceAll(/.{64}/g, '$&\n')
  return `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`
}

const OID_SHA256_RSA = element(0x06, Buffer.from('2a864886f70d01010b', 'hex'))
const OID_RSA = element(0x06, Buffer.from('2a864886f70d010101', 'hex'))
const OID_BASIC_CONSTRAINTS = element(0x06, Buffer.from('551d13', 'hex'))
const OID_COMMON_NAME = element(0x06, Buffer.from('550403', 'hex'))

function nameOf(commonName: string): Buffer {
  return sequence(set(sequence(OID_COMMON_NAME, element(0x0c, Buffer.from(commonName)))))
}

function utcTime(text: string): Buffer {
  return element(0x17, Buffer.from(text))
}

function bits(content: Uint8Array): Buffer {
  return element(0x03, Buffer.from([0]), content)
}

// A leading zero octet: INTEGER is signed, and these are positive.
function integerOf(magnitude: Buffer): Buffer {
  return element(0x02, (magnitude[0] ?? 0) >= 0x80 ? Buffer.concat([Buffer.alloc(1), magnitude]) : magnitude)
}

/** Returns an odd number of exactly so many bits; `firstBits` are set in the first whole octet. */
function randomOdd(length: number, { firstBits, random }: { firstBits: number; random: Random }): Buffer {
  const bytes = random(Math.ceil(length / 8))
  const top = (length - 1) % 8
  bytes[0] = (((bytes[0] ?? 0) | (firstBits >> (7 - top))) & (0xff >> (7 - top))) | (1 << top)
  bytes[bytes.length - 1] = (bytes[bytes.length - 1] ?? 0) | 1
  return bytes
}

function spkiOf(key: KeyObject): Buffer {
  return key.export({ type: 'spki', format: 'der' })
}
