import { createHash, randomBytes } from 'node:crypto'
import { mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import {
  CreateMultipartUploadCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  S3Client,
} from '@aws-sdk/client-s3'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Scope } from '#src/platform/ids.ts'
import type { BlobStore } from '#src/platform/store/blobs.ts'
import { createS3Store } from '#src/platform/store/s3.ts'
import { blobStoreContract, chunked } from './contract.ts'
import { type S3Server, startS3Server, whyNoS3Server } from './s3-server.ts'

const reason = whyNoS3Server()
const scope: Scope = { accountId: 'acc_one', environment: 'live' }

describe.skipIf(reason !== undefined)(`s3 store${reason === undefined ? '' : ` (${reason})`}`, () => {
  let server: S3Server
  let client: S3Client

  beforeAll(async () => {
    server = await startS3Server()
    const { endpoint, region, credentials } = server.access
    client = new S3Client({
      region,
      ...(endpoint && { endpoint, forcePathStyle: true }),
      ...(credentials && {
        credentials: { accessKeyId: credentials.accessKeyId, secretAccessKey: credentials.secretAccessKey },
      }),
    })
  })
  afterAll(async () => {
    client?.destroy()
    await server?.close()
  })

  blobStoreContract('s3', async () => {
    const { store, names, close } = await makeStore()
    return { store, names, close }
  })

  async function makeStore() {
    const spool = await mkdtemp(join(tmpdir(), 'spool-'))
    const store = createS3Store({ ...server.access, prefix: server.prefix, spoolDirectory: spool })
    return {
      store,
      spool,
      names: async () => [...(await keys()), ...(await unfinished()), ...(await readdir(spool))].sort(),
      async close() {
        await store.close()
        await rm(spool, { recursive: true })
      },
    }
  }

  async function keys(): Promise<string[]> {
    const found = await client.send(new ListObjectsV2Command({ Bucket: server.access.bucket, Prefix: server.prefix }))
    return (found.Contents ?? []).map(({ Key = '' }) => Key)
  }

  async function unfinished(): Promise<string[]> {
    const found = await client.send(
      new ListMultipartUploadsCommand({ Bucket: server.access.bucket, Prefix: server.prefix }),
    )
    return (found.Uploads ?? []).map(({ Key = '', UploadId = '' }) => `${Key} ${UploadId}`)
  }

  describe('beyond the contract', () => {
    let under: Awaited<ReturnType<typeof makeStore>>
    let store: BlobStore
    beforeEach(async () => {
      under = await makeStore()
      store = under.store
    })
    afterEach(() => under.close())

    it('stores large blobs in parts, and returns them whole and by ranges that cross parts', async () => {
      const bytes = randomBytes(20 * 1024 * 1024 + 12_345)
      const { sha256 } = await store.put(scope, chunked(bytes, 1_000_000), { maxBytes: 30_000_000 })
      expect(sha256).toBe(createHash('sha256').update(bytes).digest('hex'))
      const whole = await store.openRead(scope, sha256)
      expect(whole?.size).toBe(bytes.byteLength)
      expect((await readAll(whole)).equals(bytes)).toBe(true)
      const [first, last] = [8 * 1024 * 1024 - 10, 16 * 1024 * 1024 + 10]
      const part = await readAll(await store.openRead(scope, sha256, { range: { first, last } }))
      expect(part.equals(bytes.subarray(first, last + 1))).toBe(true)
      expect(await unfinished()).toEqual([])
      expect(await readdir(under.spool)).toEqual([])
      await store.delete(scope, sha256)
    })

    it('names an object by tenant and hash', async () => {
      const { sha256 } = await store.put(scope, chunked(Buffer.from('abc'), 3), { maxBytes: 3 })
      expect(await keys()).toContain(`${server.prefix}/acc_one/live/${sha256}`)
    })

    it('deletes the blob and its variants, and no other blob whose name begins alike', async () => {
      const tenant = { ...scope, accountId: 'acc_deleter' }
      const { sha256 } = await store.put(tenant, chunked(Buffer.from('abc'), 3), { maxBytes: 3 })
      await store.putVariant(tenant, sha256, 'thumbnail-320', Buffer.from('small'))
      const other = { ...scope, accountId: 'acc_deleter2' }
      await store.put(other, chunked(Buffer.from('abc'), 3), { maxBytes: 3 })
      await store.delete(tenant, sha256)
      expect((await keys()).filter((key) => key.includes('acc_deleter'))).toEqual([
        `${server.prefix}/acc_deleter2/live/${sha256}`,
      ])
    })

    it('deletes what crashed processes left', async () => {
      const Key = `${server.prefix}/acc_one/live/${'b'.repeat(64)}`
      await client.send(new CreateMultipartUploadCommand({ Bucket: server.access.bucket, Key }))
      const left = join(under.spool, 'countersign-blob-left')
      const foreign = join(under.spool, 'of-somebody-else')
      for (const file of [left, foreign]) await writeFile(file, 'abc')
      const tomorrow = createS3Store({
        ...server.access,
        prefix: server.prefix,
        spoolDirectory: under.spool,
        now: () => Date.now() + 25 * 3_600_000,
      })
      expect(await tomorrow.sweep()).toBe(2)
      expect(await tomorrow.sweep()).toBe(0)
      await tomorrow.close()
      expect(await unfinished()).toEqual([])
      expect(await readdir(under.spool)).toEqual(['of-somebody-else'])
    })

    it('reports at boot that a bucket does not exist', async () => {
      await store.check()
      const lost = createS3Store({ ...server.access, bucket: 'countersign-of-nobody', prefix: '' })
      await expect(lost.check()).rejects.toThrow(/BLOB_STORE: the bucket countersign-of-nobody .* can't be used/)
      await lost.close()
    })
  })
})

// A server that misbehaves on purpose, as a real one does when it is overloaded, cut off or partly down.
describe('the S3 store, with a failing server', () => {
  let spool: string
  beforeEach(async () => {
    spool = await mkdtemp(join(tmpdir(), 'spool-'))
  })
  afterEach(() => rm(spool, { recursive: true }))

  async function withServer<R>(
    answer: (request: { method: string; url: string; tries: number }) => {
      status: number
      body?: string
      headers?: Record<string, string>
    },
    work: (store: BlobStore, seen: string[]) => Promise<R>,
  ): Promise<R> {
    const seen: string[] = []
    const tries = new Map<string, number>()
    const server = createServer((req, res) => {
      const { method = '', url = '' } = req
      req.resume()
      req.on('end', () => {
        const name = `${method} ${url}`
        seen.push(name)
        tries.set(name, (tries.get(name) ?? 0) + 1)
        const { status, body = '', headers = {} } = answer({ method, url, tries: tries.get(name) ?? 1 })
        res.writeHead(status, headers).end(body)
      })
    })
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
    const { port } = server.address() as AddressInfo
    const store = createS3Store({
      bucket: 'bucket',
      region: 'us-east-1',
      prefix: '',
      endpoint: `http://127.0.0.1:${port}`,
      credentials: { accessKeyId: 'a', secretAccessKey: 'b' },
      spoolDirectory: spool,
    })
    try {
      return await work(store, seen)
    } finally {
      await store.close()
      server.closeAllConnections()
      server.close()
    }
  }

  it('retries, and then reports that the store does not answer', async () => {
    await withServer(
      ({ tries }) => (tries < 3 ? { status: 503 } : { status: 200 }),
      async (store) => {
        expect(await store.put(scope, chunked(Buffer.from('abc'), 3), { maxBytes: 3 })).toMatchObject({ size: 3 })
      },
    )
    await withServer(
      () => ({ status: 500 }),
      async (store) => {
        const put = store.put(scope, chunked(Buffer.from('abc'), 3), { maxBytes: 3 })
        await expect(put).rejects.toMatchObject({ code: 'service_unavailable' })
        await expect(store.exists(scope, 'a'.repeat(64))).rejects.toMatchObject({ code: 'service_unavailable' })
        await expect(store.delete(scope, 'a'.repeat(64))).rejects.toMatchObject({ code: 'service_unavailable' })
        await store.check()
      },
    )
    expect(await readdir(spool)).toEqual([])
  })

  it('reports a server that is unreachable', async () => {
    await withServer(
      () => ({ status: 200 }),
      async (store) => {
        const gone = createS3Store({
          bucket: 'bucket',
          region: 'us-east-1',
          prefix: '',
          endpoint: 'http://127.0.0.1:1',
          credentials: { accessKeyId: 'a', secretAccessKey: 'b' },
        })
        await expect(gone.exists(scope, 'a'.repeat(64))).rejects.toMatchObject({ code: 'service_unavailable' })
        await gone.close()
        await store.close()
      },
    )
  })

  it('reports missing permissions: that is for the operator', async () => {
    await withServer(
      () => ({ status: 403 }),
      async (store) => {
        const put = store.put(scope, chunked(Buffer.from('abc'), 3), { maxBytes: 3 })
        await expect(put).rejects.toMatchObject({ name: expect.not.stringContaining('Failure') })
        await expect(store.check()).rejects.toThrow('403')
      },
    )
  })

  it('aborts a multipart upload of which one part fails', async () => {
    const begun =
      '<?xml version="1.0"?><InitiateMultipartUploadResult><UploadId>u1</UploadId></InitiateMultipartUploadResult>'
    await withServer(
      ({ method, url }) => {
        if (method === 'POST') return { status: 200, body: begun }
        if (method === 'PUT')
          return url.includes('partNumber=2') ? { status: 400 } : { status: 200, headers: { ETag: '"e"' } }
        return { status: 204 }
      },
      async (store, seen) => {
        const put = store.put(scope, chunked(randomBytes(20_000_000), 1_000_000), { maxBytes: 30_000_000 })
        await expect(put).rejects.toThrow()
        expect(seen.filter((one) => one.startsWith('DELETE') && one.includes('uploadId=u1'))).toHaveLength(1)
        expect(seen.some((one) => one.includes('complete'))).toBe(false)
      },
    )
    expect(await readdir(spool)).toEqual([])
  })

  it('does not delete what may still be uploading', async () => {
    const upload = (id: string, at: number) =>
      `<Upload><Key>acc_one/live/x</Key><UploadId>${id}</UploadId><Initiated>${new Date(at).toISOString()}</Initiated></Upload>`
    const hour = 3_600_000
    const uploads = `${upload('old', Date.now() - 25 * hour)}${upload('young', Date.now() - 23 * hour)}`
    const body = `<?xml version="1.0"?><ListMultipartUploadsResult>${uploads}</ListMultipartUploadsResult>`
    const [left, young] = [join(spool, 'countersign-blob-left'), join(spool, 'countersign-blob-young')]
    for (const file of [left, young]) await writeFile(file, 'abc')
    await utimes(left, new Date(Date.now() - 25 * hour), new Date(Date.now() - 25 * hour))
    await withServer(
      ({ method }) => (method === 'GET' ? { status: 200, body } : { status: 204 }),
      async (store, seen) => {
        expect(await store.sweep()).toBe(2)
        expect(seen.filter((one) => one.startsWith('DELETE')).map((one) => /uploadId=(\w+)/.exec(one)?.[1])).toEqual([
          'old',
        ])
      },
    )
    expect(await readdir(spool)).toEqual(['countersign-blob-young'])
  })

  it('lists page after page', async () => {
    const page = (hash: string, next: string) =>
      `<?xml version="1.0"?><ListBucketResult><Contents><Key>acc_one/live/${hash}</Key><LastModified>2026-01-01T00:00:00.000Z</LastModified></Contents>${next}</ListBucketResult>`
    const more = '<IsTruncated>true</IsTruncated><NextContinuationToken>t/1=</NextContinuationToken>'
    const [first, second] = ['a'.repeat(64), 'b'.repeat(64)]
    await withServer(
      ({ url }) => ({
        status: 200,
        body: url.includes('continuation-token=t%2F1%3D') ? page(second, '') : page(first, more),
      }),
      async (store) => {
        const listed: string[] = []
        for await (const hashes of store.list(scope)) listed.push(...hashes)
        expect(listed).toEqual([first, second])
      },
    )
  })

  it('stores and lends files of one account while another has many under way', async () => {
    const [loud, other] = [{ ...scope, accountId: 'acc_loud' }, scope]
    const release = Promise.withResolvers<void>()
    const server = createServer((req, res) => {
      const isHeld = req.method === 'PUT' && req.url?.includes(loud.accountId)
      req.resume().on('end', () => void (isHeld ? release.promise : Promise.resolve()).then(() => res.end('bytes')))
    })
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
    const store = createStoreAt(server, spool)
    const put = (of: Scope) => store.put(of, chunked(Buffer.from('abc'), 3), { maxBytes: 3 })
    const lend = (of: Scope, work: () => Promise<void>) => store.withLocalFile(of, 'a'.repeat(64), work)
    const held = Array.from({ length: 12 }, () => [put(loud), lend(loud, () => release.promise)]).flat()
    await Promise.all([put(other), lend(other, async () => {})])
    release.resolve()
    await Promise.all(held)
    await store.close()
    server.closeAllConnections()
    server.close()
  })

  it('does not return half a blob', async () => {
    const whole = Buffer.from('the whole of it')
    await withServer(
      () => ({
        status: 200,
        body: 'the wh',
        headers: { 'Content-Length': String(whole.byteLength), Connection: 'close' },
      }),
      async (store) => {
        await expect(store.withLocalFile(scope, 'a'.repeat(64), async () => 'read')).rejects.toThrow()
      },
    )
    expect(await readdir(spool)).toEqual([])
  })

  it('signs with the hash that it already has', async () => {
    const hashes: unknown[] = []
    const server = createServer((req, res) => {
      hashes.push(req.headers['x-amz-content-sha256'])
      req.resume().on('end', () => res.end())
    })
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
    const store = createStoreAt(server, spool)
    const { sha256 } = await store.put(scope, chunked(Buffer.from('abc'), 3), { maxBytes: 3 })
    expect(hashes).toEqual([sha256])
    await store.close()
    server.closeAllConnections()
    server.close()
  })
})

function createStoreAt(server: Server, spoolDirectory: string) {
  const { port } = server.address() as AddressInfo
  return createS3Store({
    bucket: 'bucket',
    region: 'us-east-1',
    prefix: '',
    endpoint: `http://127.0.0.1:${port}`,
    credentials: { accessKeyId: 'a', secretAccessKey: 'b' },
    spoolDirectory,
  })
}

async function readAll(open: Awaited<ReturnType<BlobStore['openRead']>>): Promise<Buffer> {
  if (open === undefined) throw new Error('no such blob')
  return buffer(open.stream)
}
