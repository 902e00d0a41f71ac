// What can be told of a media file by parsers that run in a thread of their own: see threads.ts.

import type { FileFacts } from './exif.ts'
import type { ThreadRequest, Thumbnail } from './inspector-thread.ts'
import { createThreads, type Inspection } from './threads.ts'

export interface Inspector {
  /** Format, sides, EXIF and what an image declares about itself; and whether any file holds a C2PA manifest. */
  inspect(path: string): Promise<Inspection<FileFacts>>
  /** A small upright picture without metadata, `maxSide` pixels at its longest side. */
  thumbnail(path: string, maxSide: number): Promise<Inspection<Thumbnail>>
  close(): Promise<void>
}

export interface InspectorOptions {
  /** Threads, started when first needed. One inspects about a thousand photos per second. */
  threads?: number
  /** For one request, from its start in the thread. Honest files take milliseconds, a thumbnail of 60 megapixels a second. */
  limitMs?: number
  /** As in `ThreadsOptions`. */
  quickMs?: number
  /** Waiting requests, beyond which the answer is `busy`. */
  maxWaiting?: number
  /** The thread's file. Another one only where a test wants a thread that misbehaves. */
  thread?: URL
}

export function createInspector(options: InspectorOptions = {}): Inspector {
  const { threads = 1, limitMs = 5_000, quickMs = 1_000, maxWaiting = 1_000 } = options
  const thread = options.thread ?? new URL('./inspector-thread.ts', import.meta.url)
  const pool = createThreads<ThreadRequest>({
    thread,
    threads,
    limitMs,
    quickMs,
    maxWaiting,
    // A thumbnail takes as long as fifty inspections, and an upload waits for an inspection.
    isSlow: ({ op }) => op === 'thumbnail',
  })

  return {
    inspect: (path) => pool.submit({ op: 'inspect', path }),
    thumbnail: (path, maxSide) => pool.submit({ op: 'thumbnail', path, maxSide }),
    close: async () => pool.close(),
  }
}
