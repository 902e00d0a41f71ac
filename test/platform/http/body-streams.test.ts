// Bodies as they arrive: slow and broken connections, and raw bodies that their reader gets as bytes.

import { createHash } from 'node:crypto'
import { request as httpRequest } from 'node:http'
import { connect } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { call, callRaw, return503, type TestApp } from '../../support/http.ts'
import { until } from '../../support/until.ts'
import { MEGABYTE, seen, startBodies, trickle } from './bodies.ts'

return503()

let app: TestApp
beforeAll(async () => {
  app = await startBodies()
})
afterAll(() => app.close())

describe('slow bodies and broken connections', () => {
  it.each([
    ['of a length', 'Content-Length: 5000', '{', ' '],
    ['in chunks', 'Transfer-Encoding: chunked', '1\r\n{\r\n', '1\r\n \r\n'],
  ])('end with an answer that says so: a body %s that trickles', async (_name, framing, first, drop) => {
    const text = await trickle(app.port, { framing, first, drop })
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
