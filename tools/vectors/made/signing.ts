// Signs the tokens of the vectors: keys and nonces follow from names (RFC 6979), so that the file can be made again byte for
// byte, and r and s are numbers here, which hostile signatures are made of.

import { createECDH, createHmac, hash } from 'node:crypto'
import { sha256Base64url } from '#src/platform/crypto/digest.ts'

/** Order of P-256 (SEC 2, 2.4.2). */
export const N = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n

export interface VectorKey {
  kid: string
  d: bigint
  jwk: Record<string, string>
}

/** A key that everyone can compute: it signs vectors, and is in no deployment. */
export function makeVectorKey(name: string, env: 'sandbox' | 'live', family: 'token' | 'record'): VectorKey {
  const d = toNumber(hash('sha256', `countersign token vectors: ${name}`, 'buffer')) % N
  const point = pointOf(d)
  const [x, y] = [point.subarray(1, 33).toString('base64url'), point.subarray(33).toString('base64url')]
  const kid = sha256Base64url(JSON.stringify({ crv: 'P-256', kty: 'EC', x, y }))
  return { kid, d, jwk: { kty: 'EC', crv: 'P-256', x, y, kid, alg: 'ES256', use: 'sig', env, family } }
}

/** r and s of ECDSA with SHA-256. */
export function signNumbers({ d }: Pick<VectorKey, 'd'>, data: string | Buffer): { r: bigint; s: bigint } {
  const digest = hash('sha256', data, 'buffer')
  const e = toNumber(digest) % N
  for (const k of noncesOf(d, e)) {
    const r = toNumber(pointOf(k).subarray(1, 33)) % N
    const s = (inverse(k) * (e + r * d)) % N
    if (r !== 0n && s !== 0n) return { r, s }
  }
  throw new Error('no nonce signs')
}

export function rawSignature({ r, s }: { r: bigint; s: bigint }): Buffer {
  return Buffer.concat([toBytes(r), toBytes(s)])
}

export function derSignature({ r, s }: { r: bigint; s: bigint }): Buffer {
  const integer = (value: bigint) => {
    const hex = value.toString(16)
    const bytes = Buffer.from(hex.padStart(hex.length + (hex.length % 2), '0'), 'hex')
    const body = (bytes[0] ?? 0) >= 0x80 ? Buffer.concat([Buffer.from([0]), bytes]) : bytes
    return Buffer.concat([Buffer.from([2, body.length]), body])
  }
  const body = Buffer.concat([integer(r), integer(s)])
  return Buffer.concat([Buffer.from([0x30, body.length]), body])
}

/** 32 bytes. */
export function toBytes(value: bigint): Buffer {
  return Buffer.from(value.toString(16).padStart(64, '0'), 'hex')
}

function toNumber(bytes: Buffer): bigint {
  return BigInt(`0x${bytes.toString('hex')}`)
}

function pointOf(scalar: bigint): Buffer {
  const ecdh = createECDH('prime256v1')
  ecdh.setPrivateKey(toBytes(scalar))
  return ecdh.getPublicKey()
}

// RFC 6979 3.2.
function* noncesOf(d: bigint, e: bigint): Generator<bigint> {
  const mac = (key: Buffer, ...parts: Buffer[]) => createHmac('sha256', key).update(Buffer.concat(parts)).digest()
  const seed = Buffer.concat([toBytes(d), toBytes(e)])
  let v: Buffer = Buffer.alloc(32, 1)
  let key: Buffer = Buffer.alloc(32, 0)
  for (const mark of [0, 1]) {
    key = mac(key, v, Buffer.from([mark]), seed)
    v = mac(key, v)
  }
  for (;;) {
    v = mac(key, v)
    const k = toNumber(v)
    if (k > 0n && k < N) yield k
    key = mac(key, v, Buffer.from([0]))
    v = mac(key, v)
  }
}

// Fermat: n is prime.
function inverse(value: bigint): bigint {
  let [result, base, exponent] = [1n, value % N, N - 2n]
  while (exponent > 0n) {
    if (exponent & 1n) result = (result * base) % N
    base = (base * base) % N
    exponent >>= 1n
  }
  return result
}
