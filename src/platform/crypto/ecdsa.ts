// ES256 over bytes. The high-S twin of a valid signature is valid too (RFC 7518 does not require low S, and devices
// don't produce it): never detect a replay by signature bytes, only by what was signed.

import { createPublicKey, type KeyObject, sign, verify } from 'node:crypto'
import { LRUCache } from 'lru-cache'

interface VerifyInput {
  /** SubjectPublicKeyInfo in DER, or the key. */
  spki: Uint8Array | KeyObject
  /** The signed bytes, not their digest. */
  data: Uint8Array
  /** DER (RFC 3279 2.2.3), or r and s of 32 bytes each. 64 bytes are always read as r and s. */
  signature: Uint8Array
}

// A signature of a record or a bundle takes less than a tenth of a millisecond. Handing it to the thread pool costs half
// of that in addition, a third of it on this thread. Only what takes long to hash goes there.
const POOL_FROM_BYTES = 64 * 1024

/**
 * ECDSA over P-256 with SHA-256. False for everything other than a valid signature: malformed
 * bytes, BER that isn't DER, another kind of key.
 */
export async function verifyEcdsaP256({ spki, data, signature }: VerifyInput): Promise<boolean> {
  const key = publicKeyOf(spki)
  // node:crypto verifies DER 1.7 times as fast as r and s, so r and s are converted to DER first.
  const der = signature.byteLength === 64 ? toDer(signature) : isStrictDer(signature) ? signature : undefined
  if (key === undefined || der === undefined) return false
  if (data.byteLength < POOL_FROM_BYTES) return verify('sha256', data, key, der)
  return new Promise((resolve, reject) => {
    verify('sha256', data, key, der, (error, isValid) => (error ? reject(error) : resolve(isValid)))
  })
}

/**
 * r and s, 32 bytes each (RFC 7518 3.4).
 * @throws {TypeError} when the key is not a P-256 private key.
 */
export async function signEcdsaP256(key: KeyObject, data: Uint8Array): Promise<Buffer> {
  if (key.type !== 'private' || !isP256(key)) throw new TypeError('ES256 signs with a P-256 private key')
  if (data.byteLength < POOL_FROM_BYTES) return toRaw(sign('sha256', data, key))
  return new Promise((resolve, reject) => {
    sign('sha256', data, key, (error, der) => (error ? reject(error) : resolve(toRaw(der))))
  })
}

// Each device has its own key: enough entries for the devices that are active within minutes of each other.
const publicKeys = new LRUCache<string, KeyObject>({ max: 10_000 })
// RFC 5480: id-ecPublicKey, secp256r1, an uncompressed point. Other encodings of the same key are refused, so that a
// key has one digest and a revoked key can't return in another encoding.
const P256_SPKI = Buffer.from('3059301306072a8648ce3d020106082a8648ce3d03010703420004', 'hex')
const P256_SPKI_BYTES = 91

/** Whether the DER has the one form of a P-256 SubjectPublicKeyInfo that we accept; the point is not checked. */
export function isP256Spki(der: Uint8Array): boolean {
  return der.byteLength === P256_SPKI_BYTES && P256_SPKI.compare(der, 0, P256_SPKI.length) === 0
}

function publicKeyOf(spki: Uint8Array | KeyObject): KeyObject | undefined {
  if (!(spki instanceof Uint8Array)) return spki.type === 'public' && isP256(spki) ? spki : undefined
  if (!isP256Spki(spki)) return undefined
  const der = Buffer.from(spki)
  const name = der.toString('latin1')
  const known = publicKeys.get(name)
  if (known !== undefined) return known
  try {
    const key = createPublicKey({ key: der, format: 'der', type: 'spki' })
    publicKeys.set(name, key)
    return key
  } catch {
    return undefined // The point isn't on the curve.
  }
}

// Node describes the curve anew at each question, and those of the service's own keys come with every token.
const p256Keys = new WeakSet<KeyObject>()

function isP256(key: KeyObject): boolean {
  if (p256Keys.has(key)) return true
  const isIt = key.asymmetricKeyType === 'ec' && key.asymmetricKeyDetails?.namedCurve === 'prime256v1'
  if (isIt) p256Keys.add(key)
  return isIt
}

// Two INTEGERs of up to 33 bytes, and what stands before each and before both.
const MAX_DER_BYTES = 72

function toDer(raw: Uint8Array): Buffer {
  const der = Buffer.alloc(MAX_DER_BYTES)
  const end = writeInteger(raw, 32, der, writeInteger(raw, 0, der, 2))
  der[0] = 0x30
  der[1] = end - 2
  return der.subarray(0, end)
}

// X.690 8.3: as few bytes as possible; the first bit is the sign. Returns where it ends.
function writeInteger(raw: Uint8Array, from: number, der: Buffer, at: number): number {
  let start = from
  while (start < from + 31 && raw[start] === 0) start += 1
  const zeros = (raw[start] ?? 0) >= 0x80 ? 1 : 0
  const length = from + 32 - start + zeros
  der[at] = 0x02
  der[at + 1] = length
  der.set(raw.subarray(start, from + 32), at + 2 + zeros)
  return at + 2 + length
}

function toRaw(der: Buffer): Buffer {
  const raw = Buffer.alloc(64)
  const rLength = der[3] ?? 0
  copyScalar(der.subarray(4, 4 + rLength), raw, 32)
  copyScalar(der.subarray(6 + rLength), raw, 64)
  return raw
}

function copyScalar(integerBytes: Buffer, raw: Buffer, end: number): void {
  const magnitude = integerBytes.length > 32 ? integerBytes.subarray(-32) : integerBytes
  magnitude.copy(raw, end - magnitude.length)
}

// SEQUENCE of two positive INTEGERs in their shortest form and nothing else. P-256 never needs a long-form length.
function isStrictDer(bytes: Uint8Array): boolean {
  if (bytes.byteLength < 8 || bytes.byteLength > 72) return false
  if (bytes[0] !== 0x30 || bytes[1] !== bytes.byteLength - 2) return false
  const sAt = endOfInteger(bytes, 2)
  return sAt !== undefined && endOfInteger(bytes, sAt) === bytes.byteLength
}

function endOfInteger(bytes: Uint8Array, at: number): number | undefined {
  const length = bytes[at + 1]
  const first = bytes[at + 2]
  const second = bytes[at + 3] ?? 0
  if (bytes[at] !== 0x02 || length === undefined || first === undefined || length < 1 || length > 33) return undefined
  if (first >= 0x80) return undefined
  if (first === 0 && (length === 1 || second < 0x80)) return undefined
  if (length === 33 && first !== 0) return undefined
  return at + 2 + length
}
