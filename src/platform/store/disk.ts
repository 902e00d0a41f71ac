// Blobs as files: `<root>/<account>/<environment>/<first two digits>/<sha256>`. The two digits keep a folder at 1/256 of an
// environment, so that a listing, a backup and the lock on a folder stay small with millions of photos.
// Order is what makes a 200 durable: content to disk, then the name, then the folder that holds the name.

import { createHash, randomUUID } from 'node:crypto'
import { type FileHandle, mkdir, open, readdir, rename, rm, stat, unlink } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { Readable } from 'node:stream'
import { Failure } from '#src/failure.ts'
import type { Scope } from '#src/platform/ids.ts'
import type { BlobSource, BlobStore, PutOptions, StagedBlob } from './blobs.ts'
import { createHead } from './head.ts'

// Parts of paths that come from rows and requests: no separator, no dot, nothing that could climb.
const ACCOUNT = /^[a-z]{3}_[0-9a-z]{1,40}$/
const SHA256 = /^[0-9a-f]{64}$/
const VARIANT = /^[a-z0-9][a-z0-9-]{0,39}$/

// No account is called this, so temporary files share the blobs' filesystem (rename stays atomic) and never their names.
const TEMPORARY = '.incoming'
// Since the last write, so an upload that still moves is never swept, however long it takes.
const STALE_AFTER_MS = 24 * 3_600_000

// One write per half megabyte: 64 KiB writes cost a thread pool round trip each and measured 20 % slower at 8 uploads.
const WRITE_BYTES = 512 * 1024
// A client may send single bytes; the list of chunks must not outgrow the bytes in it.
const WRITE_CHUNKS = 64
// Node's pools are made of small slices; a chunk of this size has memory of its own.
const FREED_BYTES = 16 * 1024
const READ_BYTES = 256 * 1024

export interface DiskStore extends BlobStore {
  /** Removes what crashed processes left: temporary files older than a day. Call it at boot. Returns how many. */
  sweep(): Promise<number>
}

export function createDiskStore(options: { root: string; now?: () => number }): DiskStore {
  const root = resolve(options.root)
  const now = options.now ?? Date.now
  const temporary = join(root, TEMPORARY)
  const folders = createFolders(root)

  const pathOf = (scope: Scope, sha256: string): string => {
    const isEnvironment = scope.environment === 'sandbox' || scope.environment === 'live'
    if (!ACCOUNT.test(scope.accountId) || !isEnvironment || !SHA256.test(sha256)) {
      throw new TypeError('not the name of a blob')
    }
    return join(root, scope.accountId, scope.environment, sha256.slice(0, 2), sha256)
  }
  const variantPath = (scope: Scope, sha256: string, variant: string): string => {
    if (!VARIANT.test(variant)) throw new TypeError('not the name of a variant')
    return `${pathOf(scope, sha256)}.${variant}`
  }

  async function stage<R>(fill: (file: FileHandle, path: string) => Promise<R>): Promise<R> {
    await folders.ensure(temporary)
    const path = join(temporary, randomUUID())
    const file = await open(path, 'wx', 0o600)
    try {
      return await fill(file, path)
    } catch (error) {
      throw isFull(error)
        ? new Failure('service_unavailable', { detail: 'The media store is full. Try again later.', cause: error })
        : error
    } finally {
      await file.close()
      // After a rename there is nothing of this name; after anything else it must go.
      await ifThere(unlink(path))
    }
  }

  async function nameDurably(from: string, to: string): Promise<void> {
    const folder = dirname(to)
    await folders.ensure(folder)
    await rename(from, to)
    await syncFolder(folder)
  }

  return {
    put: (scope, source, putOptions) =>
      stage(async (file, path) => {
        const { sha256, size } = await receive(file, source, putOptions)
        const staged: StagedBlob = { sha256, size, path }
        await putOptions.onStaged?.(staged)
        await file.datasync()
        await nameDurably(path, pathOf(scope, sha256))
        return { sha256, size }
      }),

    putVariant: (scope, sha256, variant, bytes) => {
      const to = variantPath(scope, sha256, variant)
      return stage(async (file, path) => {
        await file.writeFile(bytes)
        await file.datasync()
        await nameDurably(path, to)
      })
    },

    async openRead(scope, sha256, { range, variant } = {}) {
      const path = variant === undefined ? pathOf(scope, sha256) : variantPath(scope, sha256, variant)
      const file = await openIfThere(path)
      if (file === undefined) return undefined
      const { size } = await file.stat()
      if (size === 0) {
        await file.close()
        return { stream: Readable.from([]), size }
      }
      const bounds = range === undefined ? {} : { start: range.first, end: range.last }
      return { stream: file.createReadStream({ ...bounds, highWaterMark: READ_BYTES }), size }
    },

    exists: async (scope, sha256) => (await ifThere(stat(pathOf(scope, sha256)))) !== undefined,

    async delete(scope, sha256) {
      const folder = dirname(pathOf(scope, sha256))
      const names = (await ifThere(readdir(folder))) ?? []
      const doomed = names.filter((name) => name === sha256 || name.startsWith(`${sha256}.`))
      await Promise.all(doomed.map((name) => rm(join(folder, name), { force: true })))
      // An erasure is a promise too: it must not come undone by a power cut.
      if (doomed.length > 0) await syncFolder(folder)
    },

    path: pathOf,

    async sweep() {
      const names = (await ifThere(readdir(temporary))) ?? []
      let removed = 0
      for (const name of names) {
        const path = join(temporary, name)
        const found = await ifThere(stat(path))
        if (found === undefined || now() - found.mtimeMs < STALE_AFTER_MS) continue
        await ifThere(unlink(path))
        removed += 1
      }
      return removed
    },
  }
}

async function receive(file: FileHandle, source: BlobSource, { maxBytes, onHead, ownsChunks = false }: PutOptions) {
  const hash = createHash('sha256')
  const head = onHead === undefined ? undefined : createHead(onHead)
  let size = 0
  let chunks: Uint8Array[] = []
  let waiting = 0
  // One write is under way while the next half megabyte arrives and is hashed; never two, so memory stays flat.
  let written: Promise<void> = Promise.resolve()
  try {
    for await (const chunk of source) {
      size += chunk.byteLength
      if (size > maxBytes) throw new Failure('payload_too_large', `The body is larger than ${maxBytes} bytes.`)
      head?.add(chunk)
      hash.update(chunk)
      chunks.push(chunk)
      waiting += chunk.byteLength
      if (waiting < WRITE_BYTES && chunks.length < WRITE_CHUNKS) continue
      await written
      written = writeAll(file, chunks, ownsChunks)
      // A failed write is thrown by the next await; until then it must not count as unhandled.
      written.catch(() => {})
      chunks = []
      waiting = 0
    }
    head?.end()
  } finally {
    // The file is closed by our caller: not under a write that is still in flight.
    await written
  }
  await writeAll(file, chunks, ownsChunks)
  return { sha256: hash.digest('hex'), size }
}

// writev may write less than it was given (a signal, a nearly full disk); the kernel then says why on the next call.
async function writeAll(file: FileHandle, chunks: Uint8Array[], ownsChunks: boolean): Promise<void> {
  let rest = chunks
  while (rest.length > 0) {
    const { bytesWritten } = await file.writev(rest)
    rest = after(rest, bytesWritten)
  }
  if (ownsChunks) for (const chunk of chunks) free(chunk)
}

// Left to the collector, the chunks of a few photos are counted as 20 MB of memory outside of the heap, and V8 marks the
// whole heap to find them: at 8 uploads a third of all the processor time. A chunk of a shared pool is left alone.
function free({ buffer, byteLength }: Uint8Array): void {
  if (byteLength >= FREED_BYTES && buffer.byteLength === byteLength && buffer instanceof ArrayBuffer) buffer.transfer(0)
}

function after(chunks: Uint8Array[], bytes: number): Uint8Array[] {
  let skip = bytes
  for (const [index, chunk] of chunks.entries()) {
    if (skip < chunk.byteLength) return [chunk.subarray(skip), ...chunks.slice(index + 1)]
    skip -= chunk.byteLength
  }
  return []
}

// A file is only as durable as the folders above it: each one's entry is synced in its parent, once per process.
function createFolders(root: string) {
  const made = new Map<string, Promise<void>>()
  // 256 folders per environment of an account: the map forgets rather than grow; a forgotten one costs a few syncs.
  const MAX_KNOWN = 20_000

  async function make(folder: string): Promise<void> {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    // Another process may have made any of these a moment ago without having synced it yet, so all up to the root.
    for (let at = folder; at !== root; at = dirname(at)) await syncFolder(dirname(at))
    // The folder that holds the root is the operator's and may be closed to us.
    await syncFolder(dirname(root)).catch(() => {})
  }

  return {
    ensure(folder: string): Promise<void> {
      const known = made.get(folder)
      if (known !== undefined) return known
      if (made.size >= MAX_KNOWN) made.clear()
      const making = make(folder)
      made.set(folder, making)
      making.catch(() => made.delete(folder))
      return making
    },
  }
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

const openIfThere = (path: string): Promise<FileHandle | undefined> => ifThere(open(path, 'r'))

async function ifThere<R>(work: Promise<R>): Promise<R | undefined> {
  try {
    return await work
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw error
  }
}

const isFull = (error: unknown): boolean => ['ENOSPC', 'EDQUOT'].includes(codeOf(error) ?? '')

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}
