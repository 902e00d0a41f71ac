// Local copies of media must not outlive the process that made them: nothing else knows that they are there.

import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createS3Store } from '#src/platform/store/s3.ts'
import { startSystem } from '../../support/system.ts'

const CHILD = resolve(import.meta.dirname, 'lend-child.ts')
const HOUR_MS = 3_600_000
const scope = { accountId: 'acc_one', environment: 'live' } as const

let server: Server
let endpoint: string
let spool: string
const children = new Set<ChildProcess>()

beforeAll(async () => {
  // Every object is these bytes.
  server = createServer((req, res) => req.resume().on('end', () => res.end('bytes of a photo')))
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

function createStore({ now = Date.now } = {}) {
  return createS3Store({
    bucket: 'bucket',
    region: 'us-east-1',
    prefix: '',
    endpoint,
    credentials: { accessKeyId: 'a', secretAccessKey: 'b' },
    spoolDirectory: spool,
    now,
  })
}

describe('the local files of the S3 store', () => {
  it('are removed at the start of the next process once theirs was killed, and not before', async () => {
    const [killed, living] = [await lendInChild(), await lendInChild()]
    const store = createStore()
    expect(await store.start()).toBe(0)
    await kill(killed)
    expect(await store.start()).toBe(1)
    expect(await readdir(spool)).toHaveLength(1)
    await kill(living)
    expect(await store.start()).toBe(1)
    expect(await readdir(spool)).toEqual([])
    await store.close()
  })

  it('are removed when another process has the number of theirs, as in a container that was restarted', async () => {
    const store = createStore()
    await store.withLocalFile(scope, 'a'.repeat(64), async () => {
      const [own = ''] = await readdir(spool)
      const words = own.split('-')
      const startedAt = words[4] ?? ''
      expect([words.slice(0, 2), Number(words[3])]).toEqual([['countersign', 'blob'], process.pid])
      const earlier = words.with(4, `${Number(startedAt) + 1}`).join('-')
      // Whether a process of another machine lives is unknown here: its files go when they are a day old.
      const foreign = words.with(2, '00000000').with(3, '4194304').join('-')
      const names = [earlier, foreign, 'countersign-blob-of-an-earlier-release', 'of-somebody-else']
      for (const name of names) await writeFile(join(spool, name), 'bytes')
      expect(await store.start()).toBe(1)
      expect((await readdir(spool)).toSorted()).toEqual([own, ...names.slice(1)].toSorted())

      const tomorrow = createStore({ now: () => Date.now() + 25 * HOUR_MS })
      await rename(join(spool, own), join(spool, 'kept'))
      expect(await tomorrow.start()).toBe(2)
      await rename(join(spool, 'kept'), join(spool, own))
      await tomorrow.close()
    })
    expect(await readdir(spool)).toEqual(['of-somebody-else'])
    await store.close()
  })

  it('of a killed process are removed by a process of another kind that starts in the same folder', async () => {
    await kill(await lendInChild())
    expect(await readdir(spool)).toHaveLength(1)
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
