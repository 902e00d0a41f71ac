// Local copies of media must not outlive the process that made them: nothing else knows that they are there.

import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createS3Store } from '#src/platform/store/s3.ts'
import { startSystem } from '../../support/system.ts'
import { until } from '../../support/until.ts'
import { chunked } from './contract.ts'

const CHILD = resolve(import.meta.dirname, 'lend-child.ts')
const HOUR_MS = 3_600_000
const scope = { accountId: 'acc_one', environment: 'live' } as const

let server: Server
let endpoint: string
let spool: string
let object = 'bytes of a photo'
const children = new Set<ChildProcess>()

beforeAll(async () => {
  // Every object is these bytes.
  server = createServer((req, res) => req.resume().on('end', () => res.end(req.method === 'GET' ? object : '')))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => {
  server?.closeAllConnections()
  server?.close()
})
beforeEach(async () => {
  spool = await mkdtemp(join(tmpdir(), 'spool-'))
})
afterEach(async () => {
  for (const child of children) child.kill('SIGKILL')
  children.clear()
  await rm(spool, { recursive: true })
})

async function lendInChild(): Promise<ChildProcess> {
  const child = fork(CHILD, [endpoint, spool], { execArgv: [], stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  children.add(child)
  await once(child, 'message')
  return child
}

async function kill(child: ChildProcess): Promise<void> {
  const ended = once(child, 'exit')
  child.kill('SIGKILL')
  await ended
}

function createStore({ now = Date.now, maxSpoolBytes }: { now?: () => number; maxSpoolBytes?: number } = {}) {
  return createS3Store({
    bucket: 'bucket',
    region: 'us-east-1',
    prefix: '',
    endpoint,
    credentials: { accessKeyId: 'a', secretAccessKey: 'b' },
    spoolDirectory: spool,
    now,
    ...(maxSpoolBytes !== undefined && { maxSpoolBytes }),
  })
}

describe('the local files of the S3 store', () => {
  it('are removed at the start of the next process once theirs was killed, and not before', async () => {
    const [killed, living] = [await lendInChild(), await lendInChild()]
    const store = createStore()
    expect(await store.start()).toBe(0)
    await kill(killed)
    expect(await store.start()).toBe(1)
    expect(await readdir(spool)).toHaveLength(2)
    await kill(living)
    expect(await store.start()).toBe(1)
    expect(await readdir(spool)).toEqual([])
    await store.close()
  })

  it('are removed when their process is gone, whatever process ids are in use, and the others when they are a day old', async () => {
    const store = createStore()
    await store.withLocalFile(scope, 'a'.repeat(64), async () => {
      const [own = '', owner = ''] = (await readdir(spool)).toSorted()
      expect([own.split('-').slice(0, 2), owner]).toEqual([
        ['countersign', 'blob'],
        `countersign-owner-${own.split('-')[2]}`,
      ])
      // The lock of a process that was killed is a file that nobody has locked.
      const killed = ['countersign-blob-00000000-1', 'countersign-blob-00000000-2']
      const others = ['countersign-blob-without-a-lock', 'of-somebody-else']
      for (const name of [...killed, ...others, 'countersign-owner-00000000']) await writeFile(join(spool, name), '')
      expect(await createStore().start()).toBe(2)
      expect((await readdir(spool)).toSorted()).toEqual([own, owner, ...others].toSorted())

      const tomorrow = createStore({ now: () => Date.now() + 25 * HOUR_MS })
      await rename(join(spool, own), join(spool, 'kept'))
      expect(await tomorrow.start()).toBe(1)
      await rename(join(spool, 'kept'), join(spool, own))
      await tomorrow.close()
    })
    await store.close()
    expect(await readdir(spool)).toEqual(['of-somebody-else'])
  })

  it('of a killed process are removed once by processes that start at the same time', async () => {
    await kill(await lendInChild())
    const stores = Array.from({ length: 8 }, () => createStore())
    const removed = await Promise.all(stores.map((store) => store.start()))
    expect(removed.reduce((sum, count) => Number(sum) + Number(count), 0)).toBe(1)
    expect(await readdir(spool)).toEqual([])
    await Promise.all(stores.map((store) => store.close()))
  })

  it('of a killed process are removed by a process of another kind that starts in the same folder', async () => {
    await kill(await lendInChild())
    expect(await readdir(spool)).toHaveLength(2)
    const system = await startSystem({
      engine: 'postgres',
      only: ['screen'],
      environment: {
        BLOB_STORE: `s3://bucket?region=us-east-1&endpoint=${encodeURIComponent(endpoint)}`,
        AWS_ACCESS_KEY_ID: 'a',
        AWS_SECRET_ACCESS_KEY: 'b',
        TMPDIR: spool,
      },
    })
    expect((await readdir(spool)).filter((name) => name.startsWith('countersign-blob-'))).toEqual([])
    await system.close()
  })
})

describe('the disk for local files', () => {
  const maxSpoolBytes = 1_000_000
  const inUse = async () => {
    const names = (await readdir(spool)).filter((name) => name.startsWith('countersign-blob-'))
    const sizes = await Promise.all(names.map(async (name) => (await stat(join(spool, name))).size))
    return sizes.reduce((sum, size) => sum + size, 0)
  }

  it('is shared by accounts: large files wait for room, and small ones do not', async () => {
    const store = createStore({ maxSpoolBytes })
    const released = Promise.withResolvers<void>()
    const lent: string[] = []
    const lend = (accountId: string) =>
      store.withLocalFile({ ...scope, accountId }, 'a'.repeat(64), async () => {
        lent.push(accountId)
        await released.promise
      })
    object = 'x'.repeat(300_000)
    const works = ['acc_one', 'acc_one', 'acc_one', 'acc_two'].map(lend)
    await until(() => lent.length === 2)
    object = 'x'.repeat(25_000)
    works.push(lend('acc_three'))
    await until(() => lent.includes('acc_three'))
    expect(lent.toSorted()).toEqual(['acc_one', 'acc_three', 'acc_two'])
    expect(await inUse()).toBe(625_000)
    released.resolve()
    await Promise.all(works)
    expect(await inUse()).toBe(0)
    await store.close()
  })

  it('lends a file that is larger than the share of an account', async () => {
    const store = createStore({ maxSpoolBytes })
    object = 'x'.repeat(700_000)
    expect(await store.withLocalFile(scope, 'a'.repeat(64), inUse)).toBe(700_000)
    await store.close()
  })

  it('is refused to uploads that leave other accounts too little, and not to an archive', async () => {
    const store = createStore({ maxSpoolBytes })
    const put = (size: number, maxBytes = maxSpoolBytes / 2) =>
      store.put(scope, chunked(Buffer.alloc(size), 10_000), { maxBytes })
    expect(await put(450_000)).toMatchObject({ size: 450_000 })
    const source = Promise.withResolvers<void>()
    const slow = store.put(scope, slowly(Buffer.alloc(400_000), source.promise), { maxBytes: maxSpoolBytes / 2 })
    await until(async () => (await inUse()) > 0)
    await expect(put(450_000)).rejects.toMatchObject({ code: 'service_unavailable', headers: { 'Retry-After': '10' } })
    source.resolve()
    await slow
    expect(await put(450_000)).toMatchObject({ size: 450_000 })
    // Its size is not known before it is made, and its queue bounds how many there are.
    expect(await put(1_200_000, 10_000_000)).toMatchObject({ size: 1_200_000 })
    expect(await readdir(spool)).toEqual([])
    await store.close()
  })

  it('is taken back from the upload of an account with more that still arrives, when another account comes', async () => {
    const store = createStore({ maxSpoolBytes })
    const put = (accountId: string, source: AsyncGenerator<Uint8Array>) =>
      store.put({ ...scope, accountId }, source, { maxBytes: maxSpoolBytes / 2 })
    const ended = Promise.withResolvers<void>()
    let arrived = 0
    const arriving = (size: number) => slowly(Buffer.alloc(size), ended.promise, () => (arrived += 1))
    const first = put('acc_one', arriving(450_000))
    first.catch(() => {})
    await until(() => arrived === 1)
    const second = put('acc_two', arriving(250_000))
    await until(() => arrived === 2)
    expect(await put('acc_three', chunked(Buffer.alloc(200_000), 10_000))).toMatchObject({ size: 200_000 })
    ended.resolve()
    await expect(first).rejects.toMatchObject({ code: 'service_unavailable', headers: { 'Retry-After': '10' } })
    expect(await second).toMatchObject({ size: 250_000 })
    expect(await readdir(spool)).toEqual([])
    await store.close()
  })
})

async function* slowly(
  bytes: Buffer,
  until: Promise<void>,
  onArrived: () => void = () => {},
): AsyncGenerator<Uint8Array> {
  // What arrives is written half a megabyte at a time, or 64 chunks.
  for await (const chunk of chunked(bytes, 5_000)) yield chunk
  onArrived()
  await until
}
