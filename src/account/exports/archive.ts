// A ZIP archive that is written while it is read: one file at a time, hashed on the way. Memory does not grow with the
// files' bytes, only with their number: a ZIP ends with a list of its files.

import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { ZipFile } from 'yazl'

export interface ArchivedFile {
  name: string
  size: number
  sha256: string
}

type Source = AsyncIterable<Uint8Array | string> | Iterable<string>

export interface Archive {
  /** The archive's bytes; must be read for `add` to make progress. */
  output: AsyncIterable<Uint8Array>
  /** Resolves when the file is in the archive. Call it again only then. */
  add(name: string, source: Source, options?: { isCompressed?: boolean }): Promise<ArchivedFile>
  /** No file follows: the output ends. */
  end(): void
  /** Ends the output with an error. A file in progress is rejected. */
  fail(reason: unknown): void
}

export function createArchive({ at }: { at: Date }): Archive {
  const zip = new ZipFile()
  const output = zip.outputStream as Readable
  const failed = Promise.withResolvers<never>()
  // It may fail while no file is being added.
  failed.promise.catch(() => {})
  const fail = (reason: unknown) => {
    const error = reason instanceof Error ? reason : new Error(String(reason))
    failed.reject(error)
    output.destroy(error)
  }
  zip.on('error', fail)
  output.on('error', fail)

  return {
    output,
    async add(name, source, { isCompressed = true } = {}) {
      const hash = createHash('sha256')
      let size = 0
      async function* measure(): AsyncGenerator<Buffer> {
        for await (const part of source) {
          const bytes =
            typeof part === 'string' ? Buffer.from(part) : Buffer.from(part.buffer, part.byteOffset, part.length)
          hash.update(bytes)
          size += bytes.byteLength
          yield bytes
        }
      }
      const stream = Readable.from(measure(), { objectMode: false })
      const read = new Promise<void>((resolve, reject) => {
        stream.once('end', resolve)
        stream.once('error', reject)
      })
      read.catch(fail)
      try {
        zip.addReadStream(stream, name, { compress: isCompressed, mtime: at, mode: 0o100600 })
        await Promise.race([read, failed.promise])
      } finally {
        stream.destroy()
      }
      return { name, size, sha256: hash.digest('hex') }
    },
    end: () => zip.end(),
    fail,
  }
}
