// Blobs as files: `<root>/<account>/<environment>/<first two digits>/<sha256>`. The two digits keep a folder at 1/256
// of an environment, so that a listing, a backup and the lock on a folder stay small with millions of photos. Order is
// what makes a 200 durable: content to disk, then the name, then the folder that holds the name.

import { randomUUID } from 'node:crypto'
import { type FileHandle, mkdir, open, readdir, rename, rm, stat, unlink } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { Readable } from 'node:stream'
import { Failure } from '#src/failure.ts'
import type { Scope } from '#src/platform/ids.ts'
import type { BlobStore, StagedBlob } from './blobs.ts'
import { checkTenant, hashOf, nameOf } from './names.ts'
import { receive } from './receive.ts'

// No account is called this, so temporary files share the blobs' filesystem (rename stays atomic) and never their
// names.
const TEMPORARY = '.incoming'
// Counted from the last write, so an upload in progress is never swept, however long it takes.
const STALE_AFTER_MS = 24 * 3_600_000

const READ_BYTES = 256 * 1024

export interface DiskStore extends BlobStore {
  /** The blob's file. Names it without checking that it exists. */
  path(scope: Scope, sha256: string): string
}

export function createDiskStore(options: { root: string; now?: () => number }): DiskStore {
  const root = resolve(options.root)
  const now = options.now ?? Date.now
  const temporary = join(root, TEMPORARY)
  const folders = createFolders(root)

  const pathOf = (scope: Scope, sha256: string, variant?: string): string =>
    join(root, ...checkTenant(scope), sha256.slice(0, 2), nameOf(sha256, variant))

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
      // After a rename nothing has this name; after anything else the file must be removed.
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
      const to = pathOf(scope, sha256, variant)
      return stage(async (file, path) => {
        await file.writeFile(bytes)
        await file.datasync()
        await nameDurably(path, to)
      })
    },

    async openRead(scope, sha256, { range, variant } = {}) {
      const file = await openIfThere(pathOf(scope, sha256, variant))
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

    async delete(scope, sha256, { variant } = {}) {
      const path = pathOf(scope, sha256, variant)
      const folder = dirname(path)
      const names = (await ifThere(readdir(folder))) ?? []
      const doomed = names.filter((name) => (variant === undefined ? hashOf(name) === sha256 : name === basename(path)))
      await Promise.all(doomed.map((name) => rm(join(folder, name), { force: true })))
      // An erasure is durable too: a power cut must not undo it.
      if (doomed.length > 0) await syncFolder(folder)
    },

    path: (scope, sha256) => pathOf(scope, sha256),

    async withLocalFile(scope, sha256, work) {
      const path = pathOf(scope, sha256)
      if ((await ifThere(stat(path))) === undefined) throw new Error('the blob is missing from the store')
      return work(path)
    },

    async *list(scope) {
      const home = join(root, ...checkTenant(scope))
      for (const folder of (await ifThere(readdir(home))) ?? []) {
        const names = (await ifThere(readdir(join(home, folder)))) ?? []
        const hashes = new Set(names.flatMap((name) => hashOf(name) ?? []))
        if (hashes.size > 0) yield [...hashes]
      }
    },

    async storedAt(scope, sha256) {
      const folder = dirname(pathOf(scope, sha256))
      const names = (await ifThere(readdir(folder))) ?? []
      let latestMs: number | undefined
      for (const name of names.filter((one) => hashOf(one) === sha256)) {
        const found = await ifThere(stat(join(folder, name)))
        if (found !== undefined) latestMs = Math.max(latestMs ?? 0, found.mtimeMs)
      }
      return latestMs === undefined ? undefined : new Date(latestMs)
    },

    // An address that can't be used is better found at boot than by the first upload.
    check: () => folders.ensure(temporary),

    // The remains are on the disk that all processes share: `sweep` finds them.
    start: async () => 0,

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

    close: async () => {},
  }
}

// A file is only as durable as the folders above it: each folder's entry is synced in its parent, once per process.
function createFolders(root: string) {
  const made = new Map<string, Promise<void>>()
  // 256 folders per environment of an account: the map drops entries rather than grow; a dropped one costs a few syncs.
  const MAX_KNOWN = 20_000

  async function make(folder: string): Promise<void> {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    // Another process may have just made any of these without having synced it, so all folders up to the root are
    // synced.
    for (let at = folder; at !== root; at = dirname(at)) await syncFolder(dirname(at))
    // The folder that holds the root is the operator's, and we may not be allowed to open it.
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
