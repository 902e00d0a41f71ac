// Perceptual hashes of files. Decoding runs in separate processes: a malicious picture can harm only those.

import type { Decoder } from '../media/decoder.ts'
import type { Inspection } from '../media/threads.ts'
import { hashGreys, type PictureHash, SIDE } from './phash.ts'

export interface Hasher {
  /** The hash of the image file at `path`. */
  hash(path: string): Promise<Inspection<PictureHash>>
}

export function createHasher(decoder: Pick<Decoder, 'greys'>): Hasher {
  return {
    async hash(path) {
      const decoded = await decoder.greys(path, SIDE)
      return decoded.ok ? { ok: true, value: hashGreys(decoded.value.data) } : decoded
    },
  }
}
