// Perceptual hashes of files. Decoding runs in separate processes: a malicious picture can harm only those.

import type { Decoder } from '../media/decoder.ts'
import type { Inspection } from '../media/threads.ts'
import { DETAIL_SIDE, halve } from './detail.ts'
import { hashGreys, type PictureHash } from './phash.ts'

export interface HashedPicture extends PictureHash {
  /** The greys from which the hash was made, four for each: a match of the hash is confirmed by them. */
  detail: Uint8Array
}

export interface Hasher {
  /** The hash of the image file at `path`. */
  hash(path: string): Promise<Inspection<HashedPicture>>
}

export function createHasher(decoder: Pick<Decoder, 'greys'>): Hasher {
  return {
    async hash(path) {
      const decoded = await decoder.greys(path, DETAIL_SIDE)
      if (!decoded.ok) return decoded
      const { data: detail } = decoded.value
      return { ok: true, value: { ...hashGreys(halve(detail)), detail } }
    },
  }
}
