// Reads media files with parsers that run in a separate thread: see threads.ts.

import type { FileFacts } from './exif.ts'
import type { ThreadRequest } from './inspector-thread.ts'
import { createThreads, type Inspection } from './threads.ts'

export interface Inspector {
  /**
   * Format, dimensions, EXIF and declarations of an image; and for any file, whether it holds a C2PA manifest. Files of several
   * owners are read in turn.
   */
  inspect(path: string, owner?: string): Promise<Inspection<FileFacts>>
  close(): Promise<void>
}

export interface InspectorOptions {
  /** Threads, started when first needed. One inspects about a thousand photos per second. */
  threads?: number
  /** Per request, from its start in the thread. Valid files take milliseconds. */
  limitMs?: number
  /** Same as in `ThreadsOptions`. */
  quickMs?: number
  /** The most waiting requests; beyond that the answer is `busy`. */
  maxWaiting?: number
  /** The thread's file. Tests pass one that misbehaves. */
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
    ownerOf: ({ owner }) => owner,
  })

  return {
    inspect: (path, owner = '') => pool.submit({ path, owner }),
    close: async () => pool.close(),
  }
}
