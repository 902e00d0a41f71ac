// The contract of every blob store. Another store runs the same suite: `blobStoreContract('s3', makeStore)`.

import { createHash, randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { buffer } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Failure } from '#src/failure.ts'
import type { Scope } from '#src/platform/ids.ts'
import type { BlobStore } from '#src/platform/store/blobs.ts'

export interface StoreUnderTest {
  store: BlobStore
  /** Everything that is stored under any name, temporary ones included. */
  names(): Promise<string[]>
  close(): Promise<void>
}

export function blobStoreContract(name: string, makeStore: () => Promise<StoreUnderTest>): void {
  const scope: Scope = { accountId: 'acc_one', environment: 'sandbox' }
  const limit = { maxBytes: 10_000_000 }
  let under: StoreUnderTest
  let store: BlobStore

  beforeAll(async () => {
    under = await makeStore()
    store = under.store
  })
  afterAll(() => under.close())

  describe(`blob store: ${name}`, () => {
    it('returns what it was given, named by its hash', async () => {
      for (const size of [1, 63, 64, 65, 65_536, 524_288, 1_500_001]) {
        const bytes = randomBytes(size)
        const stored = await store.put(scope, chunked(bytes, 50_000), limit)
        expect(stored).toEqual({ sha256: sha256(bytes), size })
        const open = await store.openRead(scope, stored.sha256)
        expect(open?.size).toBe(size)
        expect((await readAll(open)).equals(bytes)).toBe(true)
      }
    })

    it('accepts single bytes as well as one large chunk', async () => {
      const bytes = randomBytes(5_000)
      expect((await store.put(scope, chunked(bytes, 1), limit)).sha256).toBe(sha256(bytes))
      expect((await readAll(await store.openRead(scope, sha256(bytes)))).equals(bytes)).toBe(true)
    })

    it('accepts chunks that it may free, and keeps those that it may not', async () => {
      const bytes = randomBytes(1_000_000)
      const copies = (): Uint8Array[] =>
        Array.from({ length: 20 }, (_, i) => Uint8Array.from(bytes.subarray(i * 50_000, (i + 1) * 50_000)))
      for (const ownsChunks of [true, false]) {
        const chunks = copies()
        const source = (async function* () {
          yield* chunks
        })()
        expect((await store.put(scope, source, { ...limit, ownsChunks })).sha256).toBe(sha256(bytes))
        if (!ownsChunks) expect(Buffer.concat(chunks).equals(bytes)).toBe(true)
      }
      expect((await readAll(await store.openRead(scope, sha256(bytes)))).equals(bytes)).toBe(true)
    })

    it('reads a range', async () => {
      const bytes = randomBytes(100_000)
      const { sha256: hash } = await store.put(scope, chunked(bytes, 9_000), limit)
      for (const [first, last] of [
        [0, 0],
        [10, 19],
        [99_999, 99_999],
        [0, 99_999],
      ] as const) {
        const open = await store.openRead(scope, hash, { range: { first, last } })
        expect((await readAll(open)).equals(bytes.subarray(first, last + 1))).toBe(true)
        expect(open?.size).toBe(100_000)
      }
    })

    it('stores the same bytes once, also in ten concurrent writes', async () => {
      const bytes = randomBytes(300_000)
      const before = (await under.names()).length
      const stored = await Promise.all(
        Array.from({ length: 10 }, () => store.put(scope, chunked(bytes, 40_000), limit)),
      )
      expect(new Set(stored.map((one) => one.sha256))).toEqual(new Set([sha256(bytes)]))
      expect((await under.names()).length).toBe(before + 1)
    })

    it('refuses a source that is longer than allowed and stores nothing', async () => {
      const before = await under.names()
      const put = store.put(scope, chunked(randomBytes(2_000_000), 60_000), { maxBytes: 1_999_999 })
      await expect(put).rejects.toMatchObject({ code: 'payload_too_large' })
      expect(await under.names()).toEqual(before)
    })

    it('stores nothing of a source that fails at any byte', async () => {
      const before = await under.names()
      for (const at of [0, 1, 70_000, 600_000, 1_200_000]) {
        const broken = failing(randomBytes(at), 50_000, new Error('the client went away'))
        await expect(store.put(scope, broken, limit)).rejects.toThrow('the client went away')
      }
      expect(await under.names()).toEqual(before)
    })

    it('passes the head on while the source is still read, and ends early when it is refused', async () => {
      let sent = 0
      const endless = (async function* () {
        for (;;) {
          sent += 10_000
          yield randomBytes(10_000)
        }
      })()
      const before = await under.names()
      const put = store.put(scope, endless, {
        ...limit,
        onHead: (head) => {
          if (head.byteLength < 1_000) return false
          throw new Failure('invalid_request', 'not this')
        },
      })
      await expect(put).rejects.toMatchObject({ code: 'invalid_request' })
      expect(sent).toBe(10_000)
      expect(await under.names()).toEqual(before)
    })

    it('passes a growing head on few times however small the chunks are, and a short source in whole', async () => {
      const bytes = randomBytes(400_000)
      const lengths: number[] = []
      const put = (source: AsyncIterable<Uint8Array>) =>
        store.put(scope, source, {
          ...limit,
          onHead: (head, isWhole) => {
            expect(Buffer.from(head).equals(bytes.subarray(0, head.byteLength))).toBe(true)
            lengths.push(isWhole ? -head.byteLength : head.byteLength)
            return false
          },
        })
      await put(chunked(bytes, 7))
      expect(lengths).toHaveLength(7)
      expect(lengths.at(-1)).toBe(262_144)
      lengths.length = 0
      await put(chunked(bytes.subarray(0, 50), 7))
      expect(lengths).toEqual([-50])
    })

    it('discards a source that is refused when it is complete', async () => {
      const bytes = randomBytes(200_000)
      const before = await under.names()
      const put = store.put(scope, chunked(bytes, 50_000), {
        ...limit,
        onStaged: async (staged) => {
          expect(staged).toMatchObject({ sha256: sha256(bytes), size: 200_000 })
          throw new Failure('invalid_request', 'not this')
        },
      })
      await expect(put).rejects.toMatchObject({ code: 'invalid_request' })
      expect(await store.exists(scope, sha256(bytes))).toBe(false)
      expect(await under.names()).toEqual(before)
    })

    it('separates tenants', async () => {
      const bytes = randomBytes(1_000)
      const { sha256: hash } = await store.put(scope, chunked(bytes, 1_000), limit)
      for (const other of [
        { ...scope, accountId: 'acc_two' },
        { ...scope, environment: 'live' as const },
      ]) {
        expect(await store.exists(other, hash)).toBe(false)
        expect(await store.openRead(other, hash)).toBeUndefined()
        await store.delete(other, hash)
      }
      expect(await store.exists(scope, hash)).toBe(true)
    })

    it('keeps variants beside the blob and deletes them with it', async () => {
      const bytes = randomBytes(1_000)
      const { sha256: hash } = await store.put(scope, chunked(bytes, 1_000), limit)
      expect(await store.openRead(scope, hash, { variant: 'thumbnail-320' })).toBeUndefined()
      await store.putVariant(scope, hash, 'thumbnail-320', Buffer.from('small'))
      await store.putVariant(scope, hash, 'thumbnail-320', Buffer.from('smaller'))
      await store.putVariant(scope, hash, 'nothing', Buffer.alloc(0))
      expect(String(await readAll(await store.openRead(scope, hash, { variant: 'thumbnail-320' })))).toBe('smaller')
      expect((await readAll(await store.openRead(scope, hash, { variant: 'nothing' }))).length).toBe(0)
      await store.delete(scope, hash)
      await store.delete(scope, hash)
      expect(await store.exists(scope, hash)).toBe(false)
      expect(await store.openRead(scope, hash, { variant: 'thumbnail-320' })).toBeUndefined()
    })

    it('refuses names that lead out of a tenant', async () => {
      const hash = 'a'.repeat(64)
      const accounts = ['', '.', '..', 'acc_../x', 'acc_a/b', 'acc_a\\b', 'acc_a\0', 'ACC_a', 'acc_', '.incoming']
      for (const accountId of accounts) {
        await expect(store.exists({ ...scope, accountId }, hash)).rejects.toThrow(TypeError)
      }
      for (const environment of ['', '..', 'test', 'sandbox/']) {
        await expect(store.exists({ ...scope, environment: environment as 'live' }, hash)).rejects.toThrow(TypeError)
      }
      for (const sha of ['', '..', 'A'.repeat(64), `${'a'.repeat(63)}/`, 'a'.repeat(63), 'a'.repeat(65)]) {
        await expect(store.openRead(scope, sha)).rejects.toThrow(TypeError)
        await expect(store.delete(scope, sha)).rejects.toThrow(TypeError)
      }
      for (const variant of ['', '..', '../x', 'A', 'a.b', '-a']) {
        await expect(store.openRead(scope, hash, { variant })).rejects.toThrow(TypeError)
      }
    })

    it('deletes one variant alone', async () => {
      const bytes = randomBytes(1_000)
      const { sha256: hash } = await store.put(scope, chunked(bytes, 1_000), limit)
      for (const variant of ['small', 'small-2']) await store.putVariant(scope, hash, variant, Buffer.from(variant))
      await store.delete(scope, hash, { variant: 'small' })
      expect(await store.openRead(scope, hash, { variant: 'small' })).toBeUndefined()
      expect(String(await readAll(await store.openRead(scope, hash, { variant: 'small-2' })))).toBe('small-2')
      expect(await store.exists(scope, hash)).toBe(true)
    })

    it('provides a blob as a local file', async () => {
      const bytes = randomBytes(400_000)
      const { sha256: hash } = await store.put(scope, chunked(bytes, 50_000), limit)
      const read = await Promise.all(
        Array.from({ length: 20 }, () => store.withLocalFile(scope, hash, (path) => readFile(path))),
      )
      for (const one of read) expect(one.equals(bytes)).toBe(true)
      await expect(
        store.withLocalFile(scope, hash, async () => {
          throw new Error('what the reader says')
        }),
      ).rejects.toThrow('what the reader says')
      await store.delete(scope, hash)
      await expect(store.withLocalFile(scope, hash, async () => 'read')).rejects.toThrow()
    })

    it('lists the blobs of a tenant with their times', async () => {
      const tenant = { accountId: 'acc_lister', environment: 'live' as const }
      const before = Date.now() - 2_000
      const put = async () => (await store.put(tenant, chunked(randomBytes(2_000), 500), limit)).sha256
      const [first, second, third] = [await put(), await put(), await put()]
      await store.putVariant(tenant, first, 'small', Buffer.from('small'))
      // A thumbnail that was made while its original was deleted.
      await store.delete(tenant, third)
      await store.putVariant(tenant, third, 'small', Buffer.from('small'))
      const listed: string[] = []
      for await (const page of store.list(tenant)) listed.push(...page)
      expect(listed.sort()).toEqual([first, second, third].sort())
      for (const hash of listed) {
        expect((await store.storedAt(tenant, hash))?.getTime()).toBeGreaterThan(before)
        await store.delete(tenant, hash)
        expect(await store.storedAt(tenant, hash)).toBeUndefined()
      }
      for await (const page of store.list(tenant)) expect(page).toEqual([])
    })

    it('can be read while it is deleted', async () => {
      const bytes = randomBytes(500_000)
      const { sha256: hash } = await store.put(scope, chunked(bytes, 50_000), limit)
      const open = await store.openRead(scope, hash)
      await store.delete(scope, hash)
      expect((await readAll(open)).equals(bytes)).toBe(true)
    })
  })
}

export async function* chunked(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.byteLength; at += size) yield bytes.subarray(at, at + size)
}

async function* failing(bytes: Uint8Array, size: number, error: Error): AsyncGenerator<Uint8Array> {
  yield* chunked(bytes, size)
  throw error
}

const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

async function readAll(open: Awaited<ReturnType<BlobStore['openRead']>>): Promise<Buffer> {
  if (open === undefined) throw new Error('no such blob')
  return buffer(open.stream)
}
