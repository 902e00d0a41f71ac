// Authenticator data of passkeys (WebAuthn Level 3, 6.1) and the public key of a new one (RFC 9053, 9054). The library that
// verifies ceremonies reads both as well; this reader comes first, because it bounds what a registered key may cost its
// verifier, and because no byte may be left over.

import { createPublicKey } from 'node:crypto'
import { decode, decodeFirst } from 'cborg'
import { STRICT_CBOR } from '#src/attest/hardware/authenticator-data.ts'
import { ed25519Problem } from '#src/platform/crypto/ed25519.ts'

export interface AuthenticatorFacts {
  rpIdHash: Buffer
  isUserPresent: boolean
  isUserVerified: boolean
  /** The passkey may be copied to other devices of its owner. */
  isBackupEligible: boolean
  isBackedUp: boolean
  /** uint32. Authenticators that don't count say 0 always. */
  counter: number
  /** Present in a registration only. */
  credential: NewCredential | undefined
}

export interface NewCredential {
  /** The model of the authenticator as a UUID; zeros where it is not told. */
  aaguid: string
  id: Buffer
  /** COSE_Key, as it was sent. */
  publicKey: Buffer
}

/** COSE algorithms, the preferred first. */
export const ALGORITHMS = { ES256: -7, EdDSA: -8, RS256: -257 } as const
export type PasskeyAlgorithm = keyof typeof ALGORITHMS
export const ALGORITHM_NAMES = Object.keys(ALGORITHMS) as PasskeyAlgorithm[]

/** undefined for data that no authenticator sends. */
export function readAuthenticatorFacts(bytes: Buffer): AuthenticatorFacts | undefined {
  if (bytes.length < HEAD_BYTES) return undefined
  const flags = bytes.readUInt8(32)
  const has = (flag: number) => (flags & flag) !== 0
  // 6.1.3: what can't be backed up is not backed up.
  if (has(BACKED_UP) && !has(BACKUP_ELIGIBLE)) return undefined
  const rest = bytes.subarray(HEAD_BYTES)
  const attested = has(HAS_CREDENTIAL) ? readCredential(rest) : { credential: undefined, rest }
  if (attested === undefined || !areExtensions(attested.rest, has(HAS_EXTENSIONS))) return undefined
  return {
    rpIdHash: bytes.subarray(0, 32),
    isUserPresent: has(USER_PRESENT),
    isUserVerified: has(USER_VERIFIED),
    isBackupEligible: has(BACKUP_ELIGIBLE),
    isBackedUp: has(BACKED_UP),
    counter: bytes.readUInt32BE(33),
    credential: attested.credential,
  }
}

/** The algorithm of a COSE_Key; a string says why it is not accepted. */
export function readAlgorithm(publicKey: Buffer): { algorithm: PasskeyAlgorithm } | string {
  const key = readMap(publicKey)
  if (key === undefined) return 'is no COSE key'
  const members = [...key.keys()]
  const has = (...wanted: number[]) => members.length === wanted.length && wanted.every((label) => key.has(label))
  switch (key.get(ALG)) {
    case ALGORITHMS.ES256:
      return has(KTY, ALG, CRV, X, Y) &&
        key.get(KTY) === EC2 &&
        key.get(CRV) === P256 &&
        isPoint(key.get(X), key.get(Y))
        ? { algorithm: 'ES256' }
        : 'is no point of P-256'
    case ALGORITHMS.EdDSA:
      return has(KTY, ALG, CRV, X) && key.get(KTY) === OKP && key.get(CRV) === ED25519
        ? readEd25519(key.get(X))
        : 'is no Ed25519 key'
    case ALGORITHMS.RS256:
      return has(KTY, ALG, N, E) && key.get(KTY) === RSA ? (rsaProblem(key) ?? { algorithm: 'RS256' }) : 'is no RSA key'
    default:
      return `must be of ${ALGORITHM_NAMES.join(', ')}`
  }
}

const HEAD_BYTES = 37
const USER_PRESENT = 0x01
const USER_VERIFIED = 0x04
const BACKUP_ELIGIBLE = 0x08
const BACKED_UP = 0x10
const HAS_CREDENTIAL = 0x40
const HAS_EXTENSIONS = 0x80
const AAGUID_BYTES = 16
const MAX_ID_BYTES = 1_023
const MAX_EXTENSION_BYTES = 1_024

// COSE labels and values; N and X, and E and Y, share theirs.
const KTY = 1
const ALG = 3
const CRV = -1
const X = -2
const Y = -3
const N = -1
const E = -2
const OKP = 1
const EC2 = 2
const RSA = 3
const P256 = 1
const ED25519 = 6
// A verification costs the square of the modulus and the length of the exponent, which OpenSSL bounds from 3,073 bits on
// only. Who registers the key chooses both. Authenticators have 2,048 bits and 65537.
const MIN_RSA_BYTES = 256
const MAX_RSA_BYTES = 512
const MAX_EXPONENT_BYTES = 4

// 6.5.1: AAGUID, length of the id, id, COSE key.
function readCredential(bytes: Buffer): { credential: NewCredential; rest: Buffer } | undefined {
  const idAt = AAGUID_BYTES + 2
  if (bytes.length < idAt) return undefined
  const idLength = bytes.readUInt16BE(AAGUID_BYTES)
  const keyAt = idAt + idLength
  if (idLength === 0 || idLength > MAX_ID_BYTES || keyAt >= bytes.length) return undefined
  const rest = stepOver(bytes.subarray(keyAt))
  if (rest === undefined) return undefined
  const hex = bytes.toString('hex', 0, AAGUID_BYTES)
  return {
    credential: {
      aaguid: hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5'),
      id: bytes.subarray(idAt, keyAt),
      publicKey: bytes.subarray(keyAt, bytes.length - rest.length),
    },
    rest,
  }
}

function stepOver(bytes: Buffer): Buffer | undefined {
  try {
    const [, rest] = decodeFirst(bytes, STRICT_CBOR)
    return bytes.subarray(bytes.length - rest.length)
  } catch {
    return undefined // The decoder throws on invalid bytes, and on nesting beyond the stack.
  }
}

function areExtensions(bytes: Buffer, isFlagged: boolean): boolean {
  if (bytes.length === 0) return !isFlagged
  return isFlagged && bytes.length <= MAX_EXTENSION_BYTES && readMap(bytes) !== undefined
}

/** undefined unless the bytes are one CBOR map. */
export function readMap(bytes: Buffer): Map<unknown, unknown> | undefined {
  try {
    const value: unknown = decode(bytes, STRICT_CBOR)
    return value instanceof Map ? value : undefined
  } catch {
    return undefined
  }
}

function isBytes(value: unknown, length: number): value is Uint8Array {
  return value instanceof Uint8Array && value.length === length
}

function isPoint(x: unknown, y: unknown): boolean {
  if (!isBytes(x, 32) || !isBytes(y, 32)) return false
  const [jwkX, jwkY] = [x, y].map((value) => Buffer.from(value).toString('base64url'))
  try {
    createPublicKey({ key: { kty: 'EC', crv: 'P-256', x: jwkX ?? '', y: jwkY ?? '' }, format: 'jwk' })
    return true
  } catch {
    return false
  }
}

function readEd25519(x: unknown): { algorithm: 'EdDSA' } | string {
  if (!isBytes(x, 32)) return 'is no Ed25519 key'
  return ed25519Problem(x) ?? { algorithm: 'EdDSA' }
}

function rsaProblem(key: Map<unknown, unknown>): string | undefined {
  const [modulus, exponent] = [key.get(N), key.get(E)]
  if (!(modulus instanceof Uint8Array) || !(exponent instanceof Uint8Array)) return 'is no RSA key'
  if (modulus.length < MIN_RSA_BYTES || modulus.length > MAX_RSA_BYTES || (modulus[0] ?? 0) === 0) {
    return `must have a modulus of ${MIN_RSA_BYTES * 8} to ${MAX_RSA_BYTES * 8} bits`
  }
  if (exponent.length < 1 || exponent.length > MAX_EXPONENT_BYTES) {
    return `must have a public exponent of at most ${MAX_EXPONENT_BYTES * 8} bits`
  }
  const value = exponent.reduce((sum, byte) => sum * 256 + byte, 0)
  // With exponent 1 every value is its own signature, and no even number is a valid exponent or modulus.
  const isOdd = value % 2 === 1 && (modulus.at(-1) ?? 0) % 2 === 1
  return value >= 3 && isOdd ? undefined : 'must have an odd modulus, and an odd public exponent above 1'
}
