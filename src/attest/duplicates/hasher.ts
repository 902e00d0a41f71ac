// Perceptual hashes of files, made in a thread: what a stranger's picture does to its decoder ends there.

import { createThreads, type Inspection } from '../media/threads.ts'
import type { HashRequest } from './hasher-thread.ts'
import type { PictureHash } from './phash.ts'

export interface Hasher {
  /** The hash of the image file at `path`. */
  hash(path: string): Promise<Inspection<PictureHash>>
  close(): void
}

// A photo takes 10 to 60 ms; a PNG or WebP of 64 megapixels, which can't be decoded small, takes one or two seconds.
const LIMIT_MS = 10_000

export function createHasher({ limitMs = LIMIT_MS }: { limitMs?: number } = {}): Hasher {
  const pool = createThreads<HashRequest>({
    thread: new URL('./hasher-thread.ts', import.meta.url),
    threads: 1,
    limitMs,
    // One picture at a time is asked for: there is nobody whom a slow one could hold up.
    quickMs: limitMs,
    maxWaiting: 1_000,
  })
  return { hash: (path) => pool.submit({ path }), close: pool.close }
}
