// The hash chain of a video's chunks: every link covers all chunks before it, and the first link covers a nonce that
// was secret until the server issued it.

import { hash } from 'node:crypto'

const LABEL = Buffer.from('cap-chain/v1', 'ascii')
// Separates the hash of a link from the hash of anything else with the same beginning.
const LINK = 0x01
const SEED_BYTES = 32
const FIXED_BYTES = 1 + 32 + 4 + 8 + 8 + 8 + 32

export interface ChainedChunk {
  /** Index, from 0. */
  index: number
  firstPtsUs: number
  /** The end, exclusive. */
  lastPtsUs: number
  bytes: number
  /** 32 bytes. */
  sha256: Uint8Array
}

/** `link_0 = SHA256("cap-chain/v1" || seed)`: the link before the first chunk. */
export function firstLink(seed: Uint8Array): Buffer {
  return hash('sha256', Buffer.concat([LABEL, seed]), 'buffer')
}

/**
 * `link_(k+1) = SHA256(0x01 || link_k || u32be(k) || u64be(first_pts_us) || u64be(last_pts_us) || u64be(bytes) || sha256)`:
 * the link of chunk k. All numbers are integers from 0 to 2^53 - 1.
 */
export function nextLink(previous: Uint8Array, chunk: ChainedChunk): Buffer {
  const data = Buffer.allocUnsafe(FIXED_BYTES)
  let at = data.writeUInt8(LINK, 0)
  data.set(previous, at)
  at = data.writeUInt32BE(chunk.index, at + 32)
  at = data.writeBigUInt64BE(BigInt(chunk.firstPtsUs), at)
  at = data.writeBigUInt64BE(BigInt(chunk.lastPtsUs), at)
  at = data.writeBigUInt64BE(BigInt(chunk.bytes), at)
  data.set(chunk.sha256, at)
  return hash('sha256', data, 'buffer')
}

/** The 32 bytes of a seed in base64url without padding; null for any other form, which can't be a seed. */
export function parseSeed(text: string): Buffer | null {
  const seed = Buffer.from(text, 'base64url')
  return seed.byteLength === SEED_BYTES && seed.toString('base64url') === text ? seed : null
}
