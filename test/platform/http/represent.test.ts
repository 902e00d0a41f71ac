import { createHash } from 'node:crypto'
import { request as httpRequest, type IncomingHttpHeaders } from 'node:http'
import { Readable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { brotliDecompressSync, createBrotliDecompress, createGunzip, gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { Failure } from '#src/failure.ts'
import { endpoint, publicEndpoint, type Route, reply } from '#src/platform/http/endpoint.ts'
import { chooseCoding } from '#src/platform/http/represent.ts'
import { makeKeyRow, startApp, type TestApp } from '../../support/http.ts'

const view = z.object({ text: z.string() })
const base = {
  method: 'GET' as const,
  sdk: { none: 'a route of a test' },
  effect: 'write' as const,
  kind: 'call' as const,
  summary: 'x',
  operationId: 'test',
  scope: 'verify' as const,
  view,
  status: [200, 202],
}
const streamed = { ...base, view: z.never(), streams: { contentType: 'application/x-ndjson' }, status: [200, 206] }
const PHOTO = Buffer.alloc(5_000, 'photo')

let text = ''
let opened: Readable | undefined
const routes: Route[] = [
  endpoint({ ...base, path: '/v1/text' }, async () => ({ text })),
  endpoint({ ...base, path: '/v1/queued' }, async () => reply(202, { text })),
  endpoint({ ...base, path: '/v1/tagged' }, async () => reply(200, { text }, { ETag: 'W/"mine"', Vary: 'Prefer' })),
  endpoint({ ...base, method: 'POST', path: '/v1/text' }, async () => ({ text })),
  endpoint({ ...base, path: '/v1/wrong' }, async () => {
    throw new Failure('conflict', text)
  }),
  publicEndpoint({ ...base, path: '/v1/public', public: 'for the test' }, async () =>
    reply(200, { text }, { 'Cache-Control': 'public, max-age=300' }),
  ),
  endpoint({ ...streamed, path: '/v1/photo' }, async ({ header }) => {
    opened = Readable.from([PHOTO])
    const headers = { 'Content-Type': 'image/jpeg', ETag: '"photo"', 'Content-Length': '5000' }
    return { status: header('range') === undefined ? 200 : 206, stream: opened, headers }
  }),
  endpoint({ ...streamed, path: '/v1/lines' }, async () => {
    opened = Readable.from(lines())
    return { status: 200, stream: opened, headers: {} }
  }),
  endpoint({ ...streamed, path: '/v1/broken/:place' }, async ({ params }) => {
    async function* broken() {
      if (params.place === 'later') {
        yield `${'x'.repeat(2_000)}\n`
        await delay(50)
      }
      throw new Failure('conflict', 'It broke.')
    }
    return { status: 200, stream: Readable.from(broken()), headers: {} }
  }),
]

let gate = Promise.resolve()
async function* lines() {
  yield `${JSON.stringify({ line: 1, text })}\n`
  await gate
  yield `${JSON.stringify({ line: 2, text })}\n`
}

let app: TestApp
beforeAll(async () => {
  const row = makeKeyRow({ scopes: ['verify'] })
  app = await startApp(routes, { findKey: async () => row })
})
afterAll(() => app.close())

interface Got {
  status: number
  headers: IncomingHttpHeaders
  body: Buffer
}

function get(path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Got> {
  return new Promise((resolve, reject) => {
    const options = { port: app.port, path, method, headers: { 'X-API-Key': 'k', ...headers }, agent: false }
    const sending = httpRequest(options, (res) => {
      const chunks: Buffer[] = []
      res.on('data', (chunk: Buffer) => chunks.push(chunk)).on('error', reject)
      res.on('end', () => resolve({ status: res.statusCode ?? 0, headers: res.headers, body: Buffer.concat(chunks) }))
    })
    sending.on('error', reject).end()
  })
}

const words = (count: number) =>
  Array.from({ length: count }, (_, n) => createHash('md5').update(`${n}`).digest('hex')).join(' ')
const plain = () => JSON.stringify({ text })

describe('a conditional GET', () => {
  it('has a weak tag of its content, and may be cached by its reader only', async () => {
    text = 'a'
    const first = await get('/v1/text')
    expect(first.headers.etag).toMatch(/^W\/"[A-Za-z0-9_-]{43}"$/)
    expect(first.headers['cache-control']).toBe('private, no-cache')
    expect((await get('/v1/text')).headers.etag).toBe(first.headers.etag)
    text = 'b'
    expect((await get('/v1/text')).headers.etag).not.toBe(first.headers.etag)
  })

  it('is 304 without a body while nothing has changed', async () => {
    text = words(100)
    const { headers } = await get('/v1/text')
    const tag = headers.etag ?? ''
    for (const condition of [tag, tag.slice(2), `"x", ${tag}`, `W/"a,b" , ${tag},"y"`, '*', ' * ']) {
      for (const method of ['GET', 'HEAD']) {
        const answer = await get('/v1/text', { 'If-None-Match': condition }, method)
        expect([condition, answer.status, answer.body.length]).toEqual([condition, 304, 0])
        expect(answer.headers).toMatchObject({
          etag: tag,
          vary: 'Accept-Encoding',
          'cache-control': 'private, no-cache',
          'request-id': expect.stringMatching(/^req_/),
        })
        for (const name of ['content-length', 'content-type', 'content-encoding']) {
          expect(answer.headers).not.toHaveProperty(name)
        }
      }
    }
    text = `${text}!`
    for (const condition of [tag, tag.slice(3, -1), '"x"', '', 'W/*']) {
      expect((await get('/v1/text', { 'If-None-Match': condition })).status).toBe(200)
    }
  })

  it('has one tag for every encoding', async () => {
    text = words(100)
    const answers = await Promise.all(
      ['identity', 'gzip', 'br'].map((coding) => get('/v1/text', { 'Accept-Encoding': coding })),
    )
    expect(new Set(answers.map(({ headers }) => headers.etag)).size).toBe(1)
    const condition = { 'If-None-Match': answers[2]?.headers.etag ?? '', 'Accept-Encoding': 'gzip' }
    expect((await get('/v1/text', condition)).status).toBe(304)
  })

  it('keeps a tag of the route’s own, and has none for other statuses than 200', async () => {
    text = 'x'
    expect((await get('/v1/tagged')).headers.etag).toBe('W/"mine"')
    expect((await get('/v1/tagged', { 'If-None-Match': '"mine"' })).status).toBe(304)
    const queued = await get('/v1/queued', { 'If-None-Match': '*' })
    expect([queued.status, queued.headers.etag, queued.headers['cache-control']]).toEqual([202, undefined, 'no-store'])
    const wrong = await get('/v1/wrong', { 'If-None-Match': '*' })
    expect([wrong.status, wrong.headers.etag, wrong.headers['cache-control']]).toEqual([409, undefined, 'no-store'])
    const posted = await get('/v1/text', { 'If-None-Match': '*' }, 'POST')
    expect([posted.status, posted.headers.etag, posted.headers['cache-control']]).toEqual([200, undefined, 'no-store'])
  })

  it('keeps the cache headers of a public route', async () => {
    const { headers } = await get('/v1/public')
    expect(headers['cache-control']).toBe('public, max-age=300')
    expect((await get('/v1/public', { 'If-None-Match': headers.etag ?? '' })).status).toBe(304)
    expect((await get('/v1/openapi.json', { 'If-None-Match': '*' })).status).toBe(304)
  })

  it('does not open a stream with a matching strong tag, also for a range, and closes it', async () => {
    for (const headers of [{}, { Range: 'bytes=0-4' }]) {
      const answer = await get('/v1/photo', { 'If-None-Match': '"photo"', ...headers })
      expect([answer.status, answer.body.length, answer.headers.etag]).toEqual([304, 0, '"photo"'])
      expect(answer.headers).not.toHaveProperty('content-length')
      expect(opened?.destroyed).toBe(true)
    }
  })
})

describe('HEAD', () => {
  it('has the headers of GET, encoded or not', async () => {
    text = words(200)
    for (const headers of [{}, { 'Accept-Encoding': 'br' }]) {
      const [whole, head] = [await get('/v1/text', headers), await get('/v1/text', headers, 'HEAD')]
      const { 'request-id': _w, date: _wd, ...said } = whole.headers
      const { 'request-id': _h, date: _hd, ...saidByHead } = head.headers
      expect([head.status, head.body.length]).toEqual([200, 0])
      expect(saidByHead).toEqual(said)
      expect(Number(head.headers['content-length'])).toBe(whole.body.length)
    }
  })
})

describe('a long answer', () => {
  it.each([
    ['br', brotliDecompressSync],
    ['gzip', gunzipSync],
  ])('is encoded as %s when the caller accepts it', async (coding, decode) => {
    for (const count of [50, 500, 20_000]) {
      text = words(count)
      const { headers, body } = await get('/v1/text', { 'Accept-Encoding': coding })
      expect(headers).toMatchObject({
        'content-encoding': coding,
        vary: 'Accept-Encoding',
        'content-length': String(body.length),
      })
      expect(body.length).toBeLessThan(plain().length)
      expect(decode(body).toString()).toBe(plain())
    }
  })

  it('is sent unencoded otherwise, with Vary', async () => {
    text = words(50)
    for (const headers of [{}, { 'Accept-Encoding': 'identity' }, { 'Accept-Encoding': 'zstd, gzip;q=0' }]) {
      const answer = await get('/v1/text', headers)
      expect(answer.headers).toMatchObject({ vary: 'Accept-Encoding', 'content-length': String(plain().length) })
      expect(answer.headers).not.toHaveProperty('content-encoding')
      expect(answer.body.toString()).toBe(plain())
    }
  })

  it('is one of at least a KiB', async () => {
    const accept = { 'Accept-Encoding': 'br, gzip' }
    text = 'x'.repeat(1024 - JSON.stringify({ text: '' }).length - 1)
    const small = await get('/v1/text', accept)
    expect([small.body.length, small.headers['content-encoding'], small.headers.vary]).toEqual([
      1023,
      undefined,
      undefined,
    ])
    text += 'x'
    expect((await get('/v1/text', accept)).headers['content-encoding']).toBe('br')
  })

  it("is encoded also when it is a write's or a problem, and keeps its other Vary values", async () => {
    text = words(50)
    const accept = { 'Accept-Encoding': 'gzip' }
    expect((await get('/v1/text', accept, 'POST')).headers['content-encoding']).toBe('gzip')
    const wrong = await get('/v1/wrong', accept)
    expect(wrong.headers).toMatchObject({ 'content-encoding': 'gzip', 'content-type': 'application/problem+json' })
    expect(JSON.parse(gunzipSync(wrong.body).toString())).toMatchObject({ code: 'conflict' })
    expect((await get('/v1/tagged', accept)).headers.vary).toBe('Prefer, Accept-Encoding')
  })

  it('is not encoded when it is a photo', async () => {
    const { headers, body } = await get('/v1/photo', { 'Accept-Encoding': 'br, gzip' })
    expect([headers['content-encoding'], headers.vary, headers.etag]).toEqual([undefined, undefined, '"photo"'])
    expect(body).toEqual(PHOTO)
  })
})

describe('a stream of lines', () => {
  it.each([
    ['br', brotliDecompressSync],
    ['gzip', gunzipSync],
  ])('is encoded as %s while it is sent', async (coding, decode) => {
    text = words(500)
    const { headers, body } = await get('/v1/lines', { 'Accept-Encoding': coding })
    expect(headers).toMatchObject({ 'content-encoding': coding, 'content-type': 'application/x-ndjson' })
    expect(headers).not.toHaveProperty('content-length')
    expect(
      decode(body)
        .toString()
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line).line),
    ).toEqual([1, 2])
  })

  it.each([
    ['br', createBrotliDecompress],
    ['gzip', createGunzip],
  ])('is readable line by line, as %s', async (coding, createDecoder) => {
    text = 'short'
    const waiting = Promise.withResolvers<void>()
    gate = waiting.promise
    const res = await fetchRaw('/v1/lines', coding)
    const decoded = res.pipe(createDecoder())
    const first = await new Promise<Buffer>((resolve) => decoded.once('data', resolve))
    expect(JSON.parse(first.toString()).line).toBe(1)
    waiting.resolve()
    const rest = await decoded.toArray()
    expect(JSON.parse(Buffer.concat(rest).toString()).line).toBe(2)
  })

  it('stops when its reader leaves', async () => {
    gate = new Promise(() => {})
    const res = await fetchRaw('/v1/lines', 'br')
    res.destroy()
    for (let n = 0; n < 100 && opened?.destroyed !== true; n += 1) await delay(10)
    expect(opened?.destroyed).toBe(true)
    gate = Promise.resolve()
  })

  it('is a problem when it fails before the first line, and cut when it fails later', async () => {
    for (const coding of ['identity', 'br', 'gzip']) {
      const accept = { 'Accept-Encoding': coding }
      const first = await get('/v1/broken/first', accept)
      expect([first.status, first.headers['content-type']]).toEqual([409, 'application/problem+json'])
      await expect(get('/v1/broken/later', accept), coding).rejects.toMatchObject({ code: 'ECONNRESET' })
    }
  })

  it('has a HEAD without lines', async () => {
    const head = await get('/v1/lines', { 'Accept-Encoding': 'br' }, 'HEAD')
    expect([head.status, head.headers['content-encoding'], head.body.length]).toEqual([200, 'br', 0])
  })
})

describe('Accept-Encoding', () => {
  it.each([
    [undefined, undefined],
    ['', undefined],
    ['identity', undefined],
    ['gzip', 'gzip'],
    ['x-gzip', 'gzip'],
    ['GZIP', 'gzip'],
    ['br', 'br'],
    ['gzip, deflate, br, zstd', 'br'],
    ['gzip;q=1.0, br;q=0.5', 'gzip'],
    ['gzip;q=0.5 , br ; q=0.5', 'br'],
    ['*', 'br'],
    ['*;q=0.1, br;q=0', 'gzip'],
    ['br;q=0, gzip;q=0', undefined],
    ['identity;q=1, br;q=0.5', undefined],
    ['identity;q=0.5, br;q=0.5', 'br'],
    ['gzip;q=2, br;q=nonsense', undefined],
    ['deflate', undefined],
    [',;,;q=1,', undefined],
    [`${'a,'.repeat(5_000)}gzip`, 'gzip'],
  ])('%s is answered with %s', (header, coding) => {
    expect(chooseCoding(header)).toBe(coding)
  })
})

function fetchRaw(path: string, coding: string): Promise<Readable> {
  return new Promise((resolve, reject) => {
    const headers = { 'X-API-Key': 'k', 'Accept-Encoding': coding }
    httpRequest({ port: app.port, path, headers, agent: false }, resolve).on('error', reject).end()
  })
}
