import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Scope } from '#src/platform/ids.ts'
import { createDiskStore } from '#src/platform/store/disk.ts'
import { blobStoreContract, chunked } from './contract.ts'

const makeRoot = (): Promise<string> => mkdtemp(join(tmpdir(), 'blobs-'))

async function filesOf(root: string): Promise<string[]> {
  const entries = await readdir(root, { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
}

blobStoreContract('disk', async () => {
  const root = await makeRoot()
  return {
    store: createDiskStore({ root }),
    names: () => filesOf(root),
    close: () => rm(root, { recursive: true }),
  }
})

describe('the disk store', () => {
  const scope: Scope = { accountId: 'acc_one', environment: 'live' }
  let root = ''
  beforeEach(async () => {
    root = await makeRoot()
  })
  afterEach(() => rm(root, { recursive: true }))

  it('names a file by tenant and hash', async () => {
    const store = createDiskStore({ root })
    const { sha256 } = await store.put(scope, chunked(Buffer.from('abc'), 3), { maxBytes: 3 })
    expect(store.path(scope, sha256)).toBe(join(root, 'acc_one', 'live', 'ba', sha256))
    expect(await filesOf(root)).toEqual([store.path(scope, sha256)])
  })

  it('repairs a damaged file when the same bytes are stored again', async () => {
    const store = createDiskStore({ root })
    const put = () => store.put(scope, chunked(Buffer.from('abc'), 3), { maxBytes: 3 })
    const { sha256 } = await put()
    await writeFile(store.path(scope, sha256), 'abX!')
    await put()
    const repaired = await store.openRead(scope, sha256)
    expect(repaired?.size).toBe(3)
    repaired?.stream.destroy()
  })

  it('deletes what a crashed process left, and only after a day', async () => {
    const program = `
      import { createDiskStore } from '#src/platform/store/disk.ts'
      const source = (async function* () { for (;;) { yield Buffer.alloc(600_000); process.stdout.write('.') } })()
      await createDiskStore({ root: ${JSON.stringify(root)} })
        .put({ accountId: 'acc_one', environment: 'live' }, source, { maxBytes: Infinity })`
    const child = spawn(process.execPath, ['--input-type=module', '--eval', program])
    await once(child.stdout, 'data')
    child.kill('SIGKILL')
    await once(child, 'exit')
    const [left = ''] = await filesOf(root)
    expect(left).toContain('.incoming')

    const store = createDiskStore({ root })
    expect(await store.sweep()).toBe(0)
    const yesterday = new Date(Date.now() - 25 * 3_600_000)
    await utimes(left, yesterday, yesterday)
    expect(await store.sweep()).toBe(1)
    expect(await filesOf(root)).toEqual([])
  })

  it('deletes nothing in an empty store', async () => {
    expect(await createDiskStore({ root: join(root, 'new') }).sweep()).toBe(0)
  })

  it('reports a full disk with its own error', async () => {
    const store = createDiskStore({ root })
    const source = (async function* (): AsyncGenerator<Uint8Array> {
      yield Buffer.from('abc')
      throw Object.assign(new Error('no space'), { code: 'ENOSPC' })
    })()
    await expect(store.put(scope, source, { maxBytes: 10 })).rejects.toMatchObject({ code: 'service_unavailable' })
    expect(await filesOf(root)).toEqual([])
  })
})
