// Stores the valid lines of a batch until its body is complete, in a temporary file without a name: however this
// process ends, the system frees the space.

import { randomUUID } from 'node:crypto'
import { type FileHandle, open, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { Failure } from '#src/failure.ts'
import type { Hold } from '#src/platform/fair-budget.ts'
import type { BatchLine } from '../claims/submission.ts'

export interface SpooledLine {
  line: number
  body: BatchLine
}

export interface Spool {
  add(line: SpooledLine): Promise<void>
  count(): number
  /** In the order of `add`; each call starts from the beginning. Nothing may be added after the first call. */
  chunks(): AsyncGenerator<SpooledLine[], void>
  close(): Promise<void>
}

// Lines that are read and parsed at once: enough that a read costs little, few enough that parsing takes only some milliseconds
// of the event loop.
const CHUNK_LINES = 250
const CHUNK_BYTES = 4 * 1024 * 1024
const WRITE_BYTES = 256 * 1024

interface Chunk {
  offset: number
  bytes: number
  lines: number
}

/**
 * @param hold takes the disk of the account's share, and is released when the spool is closed. Until the lines are read, it may be
 * evicted.
 * @throws {Failure} `service_unavailable` (from `add` and `chunks`) when the share is used up, or the hold was evicted.
 */
export async function createSpool({ directory, hold }: { directory: string; hold: Hold }): Promise<Spool> {
  const path = join(directory, `batch-${randomUUID()}`)
  const file = await open(path, 'wx+', 0o600)
  const chunks: Chunk[] = []
  let waiting: Buffer[] = []
  let waitingBytes = 0
  let bytes = 0
  let count = 0
  try {
    await unlink(path)
  } catch (error) {
    await file.close()
    throw error
  }

  // The file has no name: its space is free when it is closed.
  hold.mayBeEvicted(() => void file.close().catch(() => {}))

  async function flush(): Promise<void> {
    if (waitingBytes === 0) return
    if (!hold.take(waitingBytes)) throw tooManyUploads()
    const block = Buffer.concat(waiting)
    waiting = []
    waitingBytes = 0
    await file.appendFile(block)
  }

  return {
    async add(line) {
      // JSON text has no raw line breaks, so a line break can end a record.
      const record = Buffer.from(`${JSON.stringify(line)}\n`)
      let chunk = chunks.at(-1)
      if (chunk === undefined || chunk.lines >= CHUNK_LINES || chunk.bytes + record.length > CHUNK_BYTES) {
        chunk = { offset: bytes, bytes: 0, lines: 0 }
        chunks.push(chunk)
      }
      chunk.bytes += record.length
      chunk.lines += 1
      bytes += record.length
      count += 1
      waiting.push(record)
      waitingBytes += record.length
      if (waitingBytes >= WRITE_BYTES) await flush()
    },
    count: () => count,
    async *chunks() {
      if (!hold.begin()) throw tooManyUploads()
      await flush()
      for (const chunk of chunks) {
        const text = (await readExactly(file, chunk.offset, chunk.bytes)).toString('utf8')
        yield text
          .trimEnd()
          .split('\n')
          .map((record): SpooledLine => JSON.parse(record))
      }
    },
    async close() {
      hold.release()
      await file.close()
    },
  }
}

function tooManyUploads(): Failure {
  return new Failure('service_unavailable', 'Too many batches are being uploaded at once. Retry later.')
}

async function readExactly(file: FileHandle, offset: number, length: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(length)
  for (let filled = 0; filled < length; ) {
    const { bytesRead } = await file.read(buffer, filled, length - filled, offset + filled)
    if (bytesRead === 0) throw new Error('the spool of a batch is shorter than what was written to it')
    filled += bytesRead
  }
  return buffer
}
