import { createHash } from 'node:crypto'
import { request as httpRequest } from 'node:http'
import { connect } from 'node:net'
import { Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { endpoint, publicEndpoint, type Route } from '#src/platform/http/endpoint.ts'
import { DEFAULT_MINIMUM_RATE } from '#src/platform/http/minimum-rate.ts'
import { flood } from '../../support/flood.ts'
import { call, callRaw, makeKeyRow, return503, startApp, type TestApp } from '../../support/http.ts'
import { until } from '../../support/until.ts'

const MEGABYTE = 1024 * 1024
const seen = { handled: 0, started: 0, uploads: [] as string[] }

const routes: Route[] = [
  endpoint(
    {
      method: 'POST',
      path: '/v1/notes',
      tag: 'notes',
      summary: 'Write',
      operationId: 'test',
      scope: 'attest',
      body: z.strictObject({ text: z.string(), list: z.array(z.number()).optional() }),
      view: z.object({ length: z.number() }),
      status: [200],
    },
    async ({ body }) => {
      seen.handled += 1
      return { length: body.text.length }
    },
  ),
  endpoint(
    {
      method: 'POST',
      path: '/v1/optional',
      tag: 'notes',
      summary: 'Write or not',
      operationId: 'test',
      scope: 'attest',
      body: z.strictObject({ text: z.string() }).optional(),
      view: z.object({ text: z.string().nullable() }),
      status: [200],
    },
    async ({ body }) => ({ text: body?.text ?? null }),
  ),
  endpoint(
    {
      method: 'POST',
      path: '/v1/bare',
      tag: 'notes',
      summary: 'No body',
      operationId: 'test',
      scope: 'attest',
      view: z.object({ ok: z.boolean() }),
      status: [200],
    },
    async () => ({ ok: true }),
  ),
  endpoint(
    {
      method: 'POST',
      path: '/v1/uploads',
      tag: 'uploads',
      summary: 'Bytes',
      operationId: 'test',
      scope: 'attest',
      rawBody: { contentTypes: ['image/*', 'application/x-ndjson'] },
      maxBodyBytes: 8 * MEGABYTE,
      view: z.object({ sha256: z.string() }),
      status: [200],
    },
    async ({ stream, header, signal }) => {
      const hash = createHash('sha256')
      seen.started += 1
      try {
        if (header('x-slow-store') !== undefined) await delay(700)
        for await (const chunk of stream) hash.update(chunk)
      } catch (error) {
        seen.uploads.push(signal.aborted ? 'aborted' : 'refused')
        throw error
      }
      return { sha256: hash.digest('hex') }
    },
  ),
  publicEndpoint(
    {
      method: 'POST',
      path: '/v1/broken-store',
      tag: 'uploads',
      summary: 'A store that fails in the middle',
      operationId: 'test',
      public: 'for the test',
      rawBody: { contentTypes: ['image/png'] },
      maxBodyBytes: 64 * MEGABYTE,
      view: z.object({}),
      status: [200],
    },
    async ({ stream }) => {
      await pipeline(
        stream,
        new Writable({
          write: (_chunk, _encoding, done) => done(Object.assign(new Error('full'), { code: 'ENOSPC' })),
        }),
      )
      return {}
    },
  ),
]

return503()

let app: TestApp
const pace = { ...DEFAULT_MINIMUM_RATE, windowMs: 400, minBytes: 64 }
const keys = new Map(['k', 'other'].map((raw) => [raw, makeKeyRow({ scopes: ['attest'] })]))
const findKey = async (raw: string) => keys.get(raw)
beforeAll(async () => {
  app = await startApp(routes, { findKey, pace })
})
afterAll(() => app.close())

function post(body: string | Uint8Array, headers: Record<string, string> = { 'Content-Type': 'application/json' }) {
  return call(app, '/v1/notes', { method: 'POST', key: 'k', body, headers })
}

describe('malformed JSON', () => {
  const deep = (levels: number) => `{"text":${'['.repeat(levels)}${']'.repeat(levels)}}`
  const cases: [name: string, body: string | Uint8Array, code: string, pointer: string | undefined][] = [
    ['nothing but a space', ' ', 'invalid_json', undefined],
    ['a truncated object', '{"text":"x', 'invalid_json', undefined],
    ['a second value', '{"text":"x"} {}', 'invalid_json', undefined],
    ['a comment', '{"text":"x"/**/}', 'invalid_json', undefined],
    ['a byte order mark', '\ufeff{"text":"x"}', 'invalid_json', undefined],
    ['invalid UTF-8', Buffer.from('7b2274657874223a22ff227d', 'hex'), 'invalid_json', undefined],
    ['UTF-16', Buffer.from('{"text":"x"}', 'utf16le'), 'invalid_json', undefined],
    ['a duplicate key', '{"text":"x","text":"y"}', 'invalid_json', '/text'],
    ['a duplicate key by escape', '{"text":"x","te\\u0078t":"y"}', 'invalid_json', '/text'],
    ['a lone surrogate', '{"text":"\\ud800"}', 'invalid_json', '/text'],
    ['a huge integer', '{"text":"x","list":[9007199254740993]}', 'invalid_json', '/list/0'],
    ['35 levels', deep(34), 'invalid_json', undefined],
    ['100,000 levels', deep(100_000), 'invalid_json', undefined],
    ['U+0000', '{"text":"a\\u0000b"}', 'invalid_request', '/text'],
    ['U+0000 in a name', '{"text":"a","b\\u0000":1}', 'invalid_request', ''],
    ['null', 'null', 'invalid_request', ''],
    ['an array', '[]', 'invalid_request', ''],
    ['a prototype', '{"text":"x","__proto__":{"admin":true}}', 'invalid_request', '/__proto__'],
    ['an unknown field', '{"text":"x","txet":1}', 'invalid_request', '/txet'],
    ['a wrong type', '{"text":1}', 'invalid_request', '/text'],
    ['a missing field', '{}', 'invalid_request', '/text'],
    ['2,000 values', `{"text":"x","list":[${'"",'.repeat(1_998)}""]}`, 'invalid_request', '/list/0'],
    ['2,001 values', `{"text":"x","list":[${'"",'.repeat(1_999)}""]}`, 'invalid_request', ''],
    ['half a million wrong values', `{"text":"x","list":[${'"",'.repeat(250_000)}""]}`, 'invalid_request', undefined],
  ]
  it.each(cases)('refuses %s', async (_name, body, code, pointer) => {
    const before = seen.handled
    const { status, json } = await post(body)
    expect([status, json.code]).toEqual([400, code])
    if (pointer !== undefined) expect(json.errors?.map((one) => one.pointer)).toContain(pointer)
    expect(seen.handled).toBe(before)
  })

  it('accepts an escaped backslash before u0000', async () => {
    expect((await post('{"text":"\\\\u0000"}')).json).toEqual({ length: 6 })
  })

  it('reports every error at once', async () => {
    const { json } = await call(app, '/v1/notes?q=1', { key: 'k', json: { text: 1, list: ['a', 2, null], more: true } })
    expect(json.errors?.map((one) => one.pointer).sort()).toEqual(['/list/0', '/list/2', '/more', '/text', '?q'])
  })
})

describe('the body and its type', () => {
  it('are refused when the body is missing', async () => {
    const { status, json } = await call(app, '/v1/notes', { method: 'POST', key: 'k' })
    expect([status, json.errors]).toEqual([400, [{ pointer: '', code: 'required', detail: expect.any(String) }]])
    expect((await call(app, '/v1/optional', { method: 'POST', key: 'k' })).json).toEqual({ text: null })
    expect((await call(app, '/v1/optional', { key: 'k', json: { text: 'x' } })).json).toEqual({ text: 'x' })
  })

  it.each([
    ['none', {}],
    ['text', { 'Content-Type': 'text/plain' }],
    ['a form', { 'Content-Type': 'application/x-www-form-urlencoded' }],
    ['a lookalike', { 'Content-Type': 'application/jsonp' }],
    ['another charset', { 'Content-Type': 'application/json; charset=utf-16' }],
    ['gzip', { 'Content-Type': 'application/json', 'Content-Encoding': 'gzip' }],
    ['two codings', { 'Content-Type': 'application/json', 'Content-Encoding': 'identity, br' }],
  ])('are refused with the content type: %s', async (_name, headers) => {
    const { status, json } = await post('{"text":"x"}', headers as Record<string, string>)
    expect([status, json.code]).toEqual([415, 'unsupported_media_type'])
  })

  it.each(['application/json', 'Application/JSON; charset=UTF-8', 'application/json;charset="utf-8"'])(
    'are accepted with %s',
    async (type) => {
      expect((await post('{"text":"x"}', { 'Content-Type': type, 'Content-Encoding': 'identity' })).status).toBe(200)
    },
  )

  it('are ignored on a route without a declared body', async () => {
    expect((await call(app, '/v1/bare', { key: 'k', json: { anything: 1 } })).json).toEqual({ ok: true })
  })
})

describe('the size of a body', () => {
  it('may be the limit and not a byte more', async () => {
    const fill = (total: number) => `{"text":"${'a'.repeat(total - 11)}"}`
    expect((await post(fill(MEGABYTE))).json).toEqual({ length: MEGABYTE - 11 })
    expect((await post(fill(MEGABYTE + 1))).status).toBe(413)
  })

  // Of 94 MB that have been sent by then: data under way in both directions, and garbage that is not collected yet.
  const FAR_FROM_ALL = 48
  const post100 = (framing: string, parts: Buffer[]) =>
    flood(
      app.port,
      `POST /v1/notes HTTP/1.1\r\nHost: x\r\nX-API-Key: k\r\nContent-Type: application/json\r\n${framing}\r\n\r\n`,
      parts,
    )
  const piece = Buffer.alloc(64 * 1024, 0x20)

  it('of 100 MB is refused by its announced length, and the sender can read why', async () => {
    const { text, failure, held } = await post100(`Content-Length: ${100 * MEGABYTE}`, [piece])
    expect(failure).toBeUndefined()
    expect(text).toMatch(/^HTTP\/1\.1 413 /)
    expect(text).toContain('"code":"payload_too_large"')
    expect(text.toLowerCase()).toContain('connection: close')
    expect(held).toBeLessThan(FAR_FROM_ALL)
  })

  it('of 100 MB in chunks is refused, and the sender can read why', async () => {
    const chunk = [Buffer.from('10000\r\n'), piece, Buffer.from('\r\n')]
    const { text, failure, held } = await post100('Transfer-Encoding: chunked', chunk)
    expect(failure).toBeUndefined()
    expect(text).toMatch(/^HTTP\/1\.1 413 /)
    expect(held).toBeLessThan(FAR_FROM_ALL)
  })

  it('of 100 MB is refused readably for an ordinary client', async () => {
    const response = await fetch(`${app.url}/v1/notes`, {
      method: 'POST',
      headers: { 'X-API-Key': 'k', 'Content-Type': 'application/json' },
      body: Buffer.alloc(100 * MEGABYTE, 0x20),
    })
    expect(response.status).toBe(413)
    expect(await response.json()).toMatchObject({ code: 'payload_too_large' })
  })

  it('is refused without 100 Continue when it is too large', async () => {
    for (const [key, length, line] of [
      ['nobody', 10, '401'],
      ['k', 100 * MEGABYTE, '413'],
    ] as const) {
      const text = await callRaw(
        app,
        `POST /v1/notes HTTP/1.1\r\nHost: x\r\nX-API-Key: ${key}\r\nContent-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: ${length}\r\nConnection: close\r\n\r\n`,
      )
      expect(text).toMatch(new RegExp(`^HTTP/1\\.1 ${line}`))
      expect(text).not.toContain('100 Continue')
    }
  })

  it('is invited by 100 Continue when it is accepted', async () => {
    const text = await new Promise<string>((resolve) => {
      let all = ''
      const socket = connect(app.port, '127.0.0.1')
      socket.write(
        'POST /v1/notes HTTP/1.1\r\nHost: x\r\nX-API-Key: k\r\nContent-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: 12\r\nConnection: close\r\n\r\n',
      )
      socket.on('data', (bytes) => {
        all += bytes
        if (all.endsWith('100 Continue\r\n\r\n')) socket.write('{"text":"x"}')
      })
      socket.on('close', () => resolve(all))
    })
    expect(text).toContain('HTTP/1.1 200')
  })

  it('is bounded for all bodies of an account together, which leave room for those of another', async () => {
    const small = await startApp(routes, { findKey, bodyBudgetBytes: 200_000 })
    const hold = httpRequest({
      port: small.port,
      path: '/v1/notes',
      method: 'POST',
      headers: { 'X-API-Key': 'k', 'Content-Type': 'application/json' },
    })
    hold.on('error', () => {})
    hold.write(`{"text":"${'a'.repeat(80_000)}`)
    const attempt = () => call(small, '/v1/notes', { key: 'k', json: { text: 'b'.repeat(50_000) } })
    await until(async () => (await attempt()).status === 503)
    expect((await attempt()).headers['retry-after']).toMatch(/^[0-9]+$/)
    expect((await call(small, '/v1/notes', { key: 'other', json: { text: 'b'.repeat(50_000) } })).status).toBe(200)
    hold.destroy()
    await until(async () => (await attempt()).status === 200)
    await small.close()
  })
})

describe('slow bodies and broken connections', () => {
  it.each([
    ['of a length', 'Content-Length: 5000', '{', ' '],
    ['in chunks', 'Transfer-Encoding: chunked', '1\r\n{\r\n', '1\r\n \r\n'],
  ])('end with an answer that says so: a body %s that trickles', async (_name, framing, first, drop) => {
    const text = await new Promise<string>((resolve) => {
      let all = ''
      const socket = connect(app.port, '127.0.0.1')
      socket
        .on('data', (bytes) => {
          all += bytes
        })
        .on('error', () => {})
        .on('close', () => resolve(all))
      socket.write(
        `POST /v1/notes HTTP/1.1\r\nHost: x\r\nX-API-Key: k\r\nContent-Type: application/json\r\n${framing}\r\n\r\n${first}`,
      )
      const drip = setInterval(() => (all === '' ? socket.write(drop) : socket.end()), 50)
      socket.on('close', () => clearInterval(drip))
    })
    expect(text).toMatch(/^HTTP\/1\.1 408 /)
    expect(text).toContain('"code":"request_timeout"')
  })

  it('are not blamed on the sender when the store is slow', async () => {
    const bytes = Buffer.alloc(4 * MEGABYTE, 7)
    const { status, json } = await call(app, '/v1/uploads', {
      key: 'k',
      body: bytes,
      headers: { 'Content-Type': 'image/jpeg', 'X-Slow-Store': '1' },
    })
    expect([status, json.sha256]).toEqual([200, createHash('sha256').update(bytes).digest('hex')])
  })

  it('survive clients that leave in the middle', async () => {
    const before = seen.uploads.length
    for (const path of ['/v1/notes', '/v1/uploads']) {
      for (const framing of ['Content-Length: 100000', 'Transfer-Encoding: chunked']) {
        const type = path === '/v1/notes' ? 'application/json' : 'image/png'
        const socket = connect(app.port, '127.0.0.1')
        socket.on('error', () => {})
        const { started } = seen
        socket.write(
          `POST ${path} HTTP/1.1\r\nHost: x\r\nX-API-Key: k\r\nContent-Type: ${type}\r\n${framing}\r\n\r\n3e8\r\n${' '.repeat(1000)}\r\n`,
        )
        if (type === 'image/png') await until(() => seen.started > started)
        else await delay(50)
        socket.resetAndDestroy()
      }
    }
    await until(() => seen.uploads.length === before + 2)
    expect(seen.uploads.slice(before)).toEqual(['aborted', 'aborted'])
    expect((await call(app, '/health')).status).toBe(200)
    expect(app.logged.filter((line) => line.level === 'error')).toEqual([])
  })

  it('end in a refusal of a broken chunk', async () => {
    const text = await callRaw(
      app,
      'POST /v1/notes HTTP/1.1\r\nHost: x\r\nX-API-Key: k\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n',
    )
    expect(text).toMatch(/^HTTP\/1\.1 400 /)
    expect((await call(app, '/health')).status).toBe(200)
  })
})

describe('a raw body', () => {
  it('is passed on as bytes', async () => {
    const { json } = await call(app, '/v1/uploads', { key: 'k', body: 'abc', headers: { 'Content-Type': 'image/png' } })
    expect(json).toEqual({ sha256: createHash('sha256').update('abc').digest('hex') })
  })

  it.each(['application/json', 'image/', 'images/png', ''])('is refused with the type %j', async (type) => {
    const headers: Record<string, string> = type === '' ? {} : { 'Content-Type': type }
    expect((await call(app, '/v1/uploads', { key: 'k', body: 'abc', headers })).status).toBe(415)
  })

  it('of unknown length is limited, and the sender can read why', async () => {
    const before = seen.uploads.length
    const answer = await new Promise<number>((resolve, reject) => {
      const req = httpRequest(
        {
          port: app.port,
          path: '/v1/uploads',
          method: 'POST',
          headers: { 'X-API-Key': 'k', 'Content-Type': 'image/png' },
        },
        (res) => resolve(res.resume().statusCode ?? 0),
      )
      req.on('error', reject)
      for (let i = 0; i < 9; i += 1) req.write(Buffer.alloc(MEGABYTE))
      req.end()
    })
    expect(answer).toBe(413)
    await until(() => seen.uploads.length > before)
  })

  it('gets an answer although the store failed in the middle of the upload', async () => {
    const { status, json } = await call(app, '/v1/broken-store', {
      body: Buffer.alloc(20 * MEGABYTE),
      headers: { 'Content-Type': 'image/png' },
    })
    expect([status, json.code]).toEqual([503, 'service_unavailable'])
  })

  it('leaves the connection open after it was refused while small', async () => {
    const one = 'POST /v1/notes HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}'
    const text = await callRaw(app, one, one, one.replace('Host: x', 'Host: x\r\nConnection: close'))
    expect(text.match(/HTTP\/1\.1 401/g)).toHaveLength(3)
  })
})
