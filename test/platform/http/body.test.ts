// JSON bodies: what is refused of their text, their type and their size.

import { request as httpRequest } from 'node:http'
import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { flood } from '../../support/flood.ts'
import { call, callRaw, return503, startApp, type TestApp } from '../../support/http.ts'
import { until } from '../../support/until.ts'
import { findKey, MEGABYTE, routes, seen, startBodies } from './bodies.ts'

return503()

let app: TestApp
beforeAll(async () => {
  app = await startBodies()
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

  it('is taken from an account with more whose body only drips, when accounts have all and another comes', async () => {
    const small = await startApp(routes, { findKey, bodyBudgetBytes: 200_000 })
    const drip = (key: string, bytes: number) => {
      const sending = httpRequest({
        port: small.port,
        path: '/v1/notes',
        method: 'POST',
        headers: { 'X-API-Key': key, 'Content-Type': 'application/json' },
      })
      sending.on('error', () => {})
      const answer = new Promise<number | undefined>((resolve) => {
        sending.once('response', (response) => resolve(response.resume().statusCode))
      })
      sending.write(`{"text":"${'a'.repeat(bytes)}`)
      return { sending, answer }
    }
    const send = (key: string, bytes: number) => call(small, '/v1/notes', { key, json: { text: 'b'.repeat(bytes) } })
    const first = drip('k', 90_000)
    await until(async () => (await send('k', 30_000)).status === 503)
    const second = drip('other', 49_000)
    await until(async () => (await send('other', 20_000)).status === 503)
    expect((await send('third', 40_000)).status).toBe(200)
    expect(await first.answer).toBe(503)
    second.sending.end('"}')
    expect(await second.answer).toBe(200)
    await small.close()
  })
})
