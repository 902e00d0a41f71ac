// Blobs as objects: `<prefix>/<account>/<environment>/<sha256>`, variants behind a dot. An object appears whole or not
// at all, and only under its final name: the bytes are hashed into a local file first, because S3 can't rename.

import { createWriteStream } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { Failure } from '#src/failure.ts'
import { createFairSemaphore } from '#src/platform/fair-semaphore.ts'
import type { Scope } from '#src/platform/ids.ts'
import type { BlobSource, BlobStore } from './blobs.ts'
import { createLocalFiles, DEFAULT_SPOOL_BYTES, type DiskRoom, hasCode } from './local-files.ts'
import { checkTenant, hashOf, nameOf } from './names.ts'
import { receive } from './receive.ts'
import { createBucket, type S3Access } from './s3-bucket.ts'

export interface S3StoreOptions extends S3Access {
  /** In front of every key, without slashes at its ends; '' for none. */
  prefix: string
  /** Where uploads are written until they are whole, and where blobs are lent as files. The system's by default. */
  spoolDirectory?: string
  /** What the local files of the process may take of the disk, besides small ones. */
  maxSpoolBytes?: number
  now?: () => number
}

// Counted from the last write, so an upload in progress is never swept, however long it takes.
const STALE_AFTER_MS = 24 * 3_600_000
// The size up to which one request suffices. Above it parts of this size are sent, each with its own retries. S3 wants
// 5 MiB at least, and 10,000 parts at most: 80 GB.
const PART_BYTES = 8 * 1024 * 1024
// Parts in memory, over all uploads of the process: 64 MiB. Half of them may be of one account.
const PARTS_AT_ONCE = 8
const PARTS_OF_ONE_ACCOUNT = 4
const PARTS_OF_ONE_UPLOAD = 4
// Local files at once, each of up to the largest blob; a worker inspects eight. The last one is for another account.
const LENT_AT_ONCE = 8
const LENT_TO_ONE_ACCOUNT = 7
// Lent files of up to a fortieth, which photos are, don't wait for videos: all together they take a fifth more.
const SMALL_PART = 40
// Bounded by the requests and jobs that wait for them.
const UNBOUNDED = {
  maxWaitingEach: Number.POSITIVE_INFINITY,
  maxWaiting: Number.POSITIVE_INFINITY,
  refusal: { detail: 'Too many files of this account are being moved. Try again.', retryAfterSeconds: 1 },
}

export function createS3Store({
  prefix,
  spoolDirectory = tmpdir(),
  maxSpoolBytes = DEFAULT_SPOOL_BYTES,
  now = Date.now,
  ...access
}: S3StoreOptions): BlobStore {
  const bucket = createBucket(access)
  const files = createLocalFiles(spoolDirectory, maxSpoolBytes)
  const staleBefore = () => new Date(now() - STALE_AFTER_MS)
  const takePart = createFairSemaphore({ ...UNBOUNDED, slots: PARTS_AT_ONCE, slotsEach: PARTS_OF_ONE_ACCOUNT })
  const takeFile = createFairSemaphore({ ...UNBOUNDED, slots: LENT_AT_ONCE, slotsEach: LENT_TO_ONE_ACCOUNT })
  const homeOf = (scope: Scope): string => [...(prefix === '' ? [] : [prefix]), ...checkTenant(scope), ''].join('/')
  const keyOf = (scope: Scope, sha256: string, variant?: string): string => `${homeOf(scope)}${nameOf(sha256, variant)}`

  async function spooled<R>(
    { accountId }: Scope,
    fill: (file: FileHandle, path: string, room: DiskRoom) => Promise<R>,
  ): Promise<R> {
    try {
      return await files.use(accountId, fill)
    } catch (error) {
      throw isFull(error) ? full(error) : error
    }
  }

  async function upload(
    scope: Scope,
    file: FileHandle,
    { sha256, size }: { sha256: string; size: number },
  ): Promise<void> {
    const key = keyOf(scope, sha256)
    if (size <= PART_BYTES) {
      return takePart(scope.accountId, async () => bucket.putObject(key, await readAt(file, 0, size), { sha256 }))
    }
    await bucket.putInParts(key, {
      count: Math.ceil(size / PART_BYTES),
      atOnce: PARTS_OF_ONE_UPLOAD,
      send: (index, sendPart) =>
        takePart(scope.accountId, async () => {
          const at = index * PART_BYTES
          return sendPart(await readAt(file, at, Math.min(PART_BYTES, size - at)))
        }),
    })
  }

  /** Keys of the blob and its variants. */
  async function keysOf(scope: Scope, sha256: string): Promise<{ key: string; modifiedAt: Date }[]> {
    const key = keyOf(scope, sha256)
    const found: { key: string; modifiedAt: Date }[] = []
    // Nothing else begins with the 64 digits of a hash, so this is one short page.
    for await (const page of bucket.list(key)) {
      found.push(...page.filter((one) => hashOf(one.key.slice(homeOf(scope).length)) === sha256))
    }
    return found
  }

  return {
    put: (scope, source, options) =>
      spooled(scope, async (file, path, room) => {
        // An archive of an account may be larger than all the room: its queue bounds how many there are.
        const isCounted = options.maxBytes <= maxSpoolBytes / 2
        room.mayBeEvicted(() => void file.truncate().catch(() => {}))
        const stored = await receive(file, isCounted ? counted(source, room) : source, options)
        if (!room.begin()) throw tooManyBytes()
        await options.onStaged?.({ ...stored, path })
        await upload(scope, file, stored)
        return stored
      }),

    async putVariant(scope, sha256, variant, bytes) {
      await bucket.putObject(keyOf(scope, sha256, variant), bytes, {})
    },

    async openRead(scope, sha256, { range, variant } = {}) {
      return bucket.getObject(keyOf(scope, sha256, variant), range)
    },

    exists: async (scope, sha256) => bucket.hasObject(keyOf(scope, sha256)),

    async delete(scope, sha256, { variant } = {}) {
      if (variant !== undefined) return bucket.deleteObject(keyOf(scope, sha256, variant))
      // The blob first: while it exists, a reader could make another thumbnail of it.
      await bucket.deleteObject(keyOf(scope, sha256))
      for (const { key } of await keysOf(scope, sha256)) await bucket.deleteObject(key)
    },

    async withLocalFile(scope, sha256, work) {
      const key = keyOf(scope, sha256)
      return takeFile(scope.accountId, () =>
        spooled(scope, async (_file, path, room) => {
          for (;;) {
            const found = await bucket.getObject(key)
            if (found === undefined) throw new Error('the blob is missing from the store')
            if (found.size <= maxSpoolBytes / SMALL_PART || room.take(found.size)) {
              await download(found.stream, path, found.size)
              return work(path)
            }
            // An open download would be cut off while it waits.
            found.stream.destroy()
            await room.freed()
          }
        }),
      )
    },

    async *list(scope) {
      const home = homeOf(scope)
      for await (const page of bucket.list(home)) {
        const hashes = new Set(page.flatMap(({ key }) => hashOf(key.slice(home.length)) ?? []))
        if (hashes.size > 0) yield [...hashes]
      }
    },

    async storedAt(scope, sha256) {
      const times = (await keysOf(scope, sha256)).map(({ modifiedAt }) => modifiedAt.getTime())
      return times.length === 0 ? undefined : new Date(Math.max(...times))
    },

    check: () => bucket.check(),

    start: () => files.sweep(staleBefore()),

    async sweep() {
      const unfinished = await bucket.abortUploads(prefix === '' ? '' : `${prefix}/`, staleBefore())
      return unfinished + (await files.sweep(staleBefore()))
    },

    close: async () => bucket.close(),
  }
}

/** @throws {Failure} `service_unavailable` when the account would take more of the disk than it leaves to others. */
async function* counted(source: BlobSource, room: DiskRoom): AsyncGenerator<Uint8Array> {
  for await (const chunk of source) {
    if (!room.take(chunk.byteLength)) throw tooManyBytes()
    yield chunk
  }
}

async function readAt(file: FileHandle, at: number, length: number): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(length)
  for (let done = 0; done < length; ) {
    const { bytesRead } = await file.read(bytes, done, length - done, at + done)
    if (bytesRead === 0) throw new Error('a spooled blob is shorter than it was')
    done += bytesRead
  }
  return bytes
}

async function download(stream: Readable, path: string, size: number): Promise<void> {
  const file = createWriteStream(path)
  await pipeline(stream, file)
  // A connection that is closed early without an error looks like the end of the object.
  if (file.bytesWritten !== size) throw new Error(`the store sent ${file.bytesWritten} of ${size} bytes`)
}

function tooManyBytes(): Failure {
  const detail = 'Too many bytes of media are being received at this moment. Try again.'
  return new Failure('service_unavailable', { detail, headers: { 'Retry-After': '10' } })
}

const isFull = (error: unknown): boolean => hasCode(error, 'ENOSPC', 'EDQUOT')

const full = (cause: unknown): Failure =>
  new Failure('service_unavailable', { detail: 'The media store is full. Try again later.', cause })
