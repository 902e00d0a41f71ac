import { Agent, request as httpRequest } from 'node:http'
import { connect } from 'node:net'
import { Readable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { publicEndpoint, type Route } from '#src/platform/http/endpoint.ts'
import { call, callRaw, startApp, type TestApp } from '../../support/http.ts'
import { until } from '../../support/until.ts'

const base = {
  ...({ sdk: { none: 'a route of a test' }, effect: 'write', kind: 'call' } as const),
  public: 'for the test',
  status: [200],
}
const open: TestApp[] = []
afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.close(500)))
})

async function start(routes: Route[]): Promise<TestApp> {
  const app = await startApp(routes)
  open.push(app)
  return app
}

function slowRoute(ms: number, on: { start?: () => void; abort?: () => void } = {}): Route {
  return publicEndpoint(
    {
      ...base,
      method: 'GET',
      path: '/v1/slow',
      summary: 'Slow',
      operationId: 'test',
      view: z.object({ ok: z.boolean() }),
    },
    async ({ signal }) => {
      signal.addEventListener('abort', () => on.abort?.())
      on.start?.()
      await delay(ms)
      return { ok: true }
    },
  )
}

describe('an orderly shutdown', () => {
  it('lets a request finish, refuses new ones, and closes idle connections', async () => {
    const began = Promise.withResolvers<void>()
    const app = await start([slowRoute(300, { start: began.resolve })])
    const agent = new Agent({ keepAlive: true })
    const answer = new Promise<string | undefined>((resolve, reject) => {
      const req = httpRequest({ port: app.port, path: '/v1/slow', agent }, (res) =>
        resolve(res.resume().headers.connection),
      )
      req.on('error', reject).end()
    })
    const idle = connect(app.port, '127.0.0.1')
    idle.on('error', () => {})
    await began.promise
    // Longer than this test may last: waiting for the deadline would fail it.
    const closing = app.close(600_000)
    await expect(call(app, '/health')).rejects.toThrow('ECONNREFUSED')
    await answer
    await closing
    agent.destroy()
  })

  it('cuts the remaining connections at the deadline', async () => {
    const began = Promise.withResolvers<void>()
    const app = await start([slowRoute(600_000, { start: began.resolve })])
    const refused = expect(call(app, '/v1/slow')).rejects.toThrow()
    await began.promise
    await app.close(200)
    await refused
  })
})

describe('a client that disconnects', () => {
  it('aborts the signal, and is not an error of ours', async () => {
    const began = Promise.withResolvers<void>()
    const aborted = Promise.withResolvers<void>()
    const app = await start([slowRoute(300, { start: began.resolve, abort: aborted.resolve })])
    const socket = connect(app.port, '127.0.0.1')
    socket.write('GET /v1/slow HTTP/1.1\r\nHost: x\r\n\r\n')
    await began.promise
    socket.destroy()
    await aborted.promise
    await until(async () => (await app.metrics.registry.metrics()).includes('route="/v1/slow",status="499"'))
    expect(app.logged.filter((line) => line.level === 'error' || line.level === 'warn')).toEqual([])
  })

  it('does not abort a request that was answered', async () => {
    let aborted = 0
    const abort = () => {
      aborted += 1
    }
    const app = await start([slowRoute(10, { abort })])
    const agent = new Agent({ keepAlive: true })
    await new Promise((resolve) =>
      httpRequest({ port: app.port, path: '/v1/slow', agent }, (res) => res.resume().on('end', resolve)).end(),
    )
    await delay(50)
    expect(aborted).toBe(0)
    agent.destroy()
  })
})

describe('a request that is not HTTP', () => {
  it.each([
    ['noise', 'hello\r\n\r\n', 400],
    ['a TLS hello', Buffer.from('1603010200010001fc0303', 'hex'), 400],
    ['headers of 20 kB', `GET / HTTP/1.1\r\nHost: x\r\nX: ${'a'.repeat(20_000)}\r\n\r\n`, 400],
    ['two lengths', 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab', 400],
    [
      'a length and chunks',
      'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      400,
    ],
    ['a bare line feed in a header', 'GET / HTTP/1.1\r\nHost: x\nX: y\r\n\r\n', 400],
    ['a request without a host', 'GET /health HTTP/1.1\r\n\r\n', 400],
    ['two hosts', 'GET /health HTTP/1.1\r\nHost: x\r\nhOST: y\r\n\r\n', 400],
    ['one host twice', 'GET /health HTTP/1.1\r\nHost: x\r\nHost: x\r\n\r\n', 400],
  ])('gets a problem: %s', async (_name, bytes, status) => {
    const app = await start([])
    const text = await callRaw(app, bytes)
    expect(text).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `))
    expect(text).toContain('application/problem+json')
    expect((await call(app, '/health')).json).toEqual({ status: 'ok' })
  })

  it.each([
    ['http://example.com/health', 200, 'application/json'],
    ['HTTP://example.com:99999/health?', 200, 'application/json'],
    ['http://[x/health', 200, 'application/json'],
    ['http://[::1', 200, 'text/html'],
    ['http://[::1?a', 200, 'text/html'],
    ['//[x/health', 404, 'application/problem\\+json'],
    ['*', 404, 'application/problem\\+json'],
  ])('with the target %s gets %i', async (target, status, type) => {
    const app = await start([])
    const text = await callRaw(app, `GET ${target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`)
    expect(text).toMatch(new RegExp(`^HTTP/1\\.1 ${status} [^]*${type}`))
  })

  it('is accepted where HTTP allows it: no host in HTTP/1.0, an unknown expectation', async () => {
    const app = await start([])
    for (const request of [
      'GET /health HTTP/1.0\r\n\r\n',
      'GET /health HTTP/1.1\r\nHost: x\r\nExpect: wonders\r\nConnection: close\r\n\r\n',
    ]) {
      expect(await callRaw(app, request)).toMatch(/^HTTP\/1\.1 200 /)
    }
  })
})

describe('hostile bytes', () => {
  // A seeded walk over one good request: bits flipped, bytes removed, repeated and replaced by bytes special to
  // parsers.
  it('never cause a 5xx, a crash or a hang', async () => {
    const app = await start([
      publicEndpoint(
        {
          ...base,
          method: 'POST',
          path: '/v1/echo/:id',
          summary: 'Echo',
          operationId: 'test',
          query: z.object({ q: z.string().optional() }),
          body: z.strictObject({ text: z.string(), list: z.array(z.int()).optional() }),
          view: z.object({ text: z.string() }),
        },
        async ({ body }) => ({ text: body.text }),
      ),
    ])
    const body = '{"text":"h\\u00e9llo","list":[1,-2]}'
    const good = Buffer.from(
      `POST /v1/echo/clm%20x?q=%41 HTTP/1.1\r\nHost: x\r\nConnection: close\r\nPrefer: wait=5\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    )
    const tokens = [
      '\0',
      '\r\n',
      '%',
      '"',
      '{',
      '}',
      '\u{d800}',
      '\\ud800',
      '1e999',
      '__proto__',
      ':',
      ' ',
      '\xff',
      '/../',
      '?',
      '&',
    ]
    const statuses = new Map<string, number>()
    let seed = 7
    const next = (below: number) => {
      seed = (seed * 48_271) % 2_147_483_647
      return seed % below
    }
    for (let round = 0; round < 200; round += 1) {
      const at = next(good.length)
      const token = Buffer.from(tokens[next(tokens.length)] ?? '', 'latin1')
      const kinds = [
        () => Buffer.from(good.map((byte, index) => (index === at ? byte ^ (1 << next(8)) : byte))),
        () => Buffer.concat([good.subarray(0, at), good.subarray(at + 1 + next(5))]),
        () => Buffer.concat([good.subarray(0, at), token, good.subarray(at)]),
        () => Buffer.concat([good.subarray(0, at), token, good.subarray(at + token.length)]),
      ]
      const answer = await sendAndFinish(app.port, kinds[round % 4]?.() ?? good)
      const status = /^HTTP\/1\.1 ([0-9]{3}) /.exec(answer)?.[1] ?? answer.slice(0, 20)
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
    }
    const unexpected = [...statuses.keys()].filter((status) => !/^(?:[24][0-9]{2}|)$/.test(status))
    expect(unexpected).toEqual([])
    expect([...statuses.keys()]).toEqual(expect.arrayContaining(['200', '400', '404']))
    expect(app.logged.filter((line) => line.level === 'error')).toEqual([])
    expect((await call(app, '/health')).status).toBe(200)
  })

  // Half-closed after the last byte, as a client does that has sent everything: an incomplete request then ends.
  function sendAndFinish(port: number, bytes: Buffer): Promise<string> {
    return new Promise((resolve) => {
      const chunks: Buffer[] = []
      const socket = connect({ port, host: '127.0.0.1' })
      socket.on('data', (chunk) => chunks.push(chunk)).on('error', () => {})
      socket.on('close', () => resolve(Buffer.concat(chunks).toString('latin1')))
      socket.end(bytes)
    })
  }
})

describe('a streamed answer', () => {
  const streaming = (path: string, make: () => Readable): Route =>
    publicEndpoint(
      {
        ...base,
        method: 'GET',
        path,
        summary: 'Bytes',
        operationId: 'test',
        view: z.never(),
        streams: { contentType: 'image/jpeg' },
      },
      async () => ({ status: 200, stream: make(), headers: { ETag: '"x"' } }),
    )

  it('sends the bytes, or with HEAD only their headers', async () => {
    let destroyed = 0
    const app = await start([
      streaming('/v1/bytes', () =>
        Readable.from([Buffer.from('ab'), Buffer.from('cd')]).on('close', () => {
          destroyed += 1
        }),
      ),
      streaming('/v1/nothing', () => Readable.from([])),
    ])
    const got = await call(app, '/v1/bytes')
    expect([got.status, got.text, got.headers.etag, got.headers['content-type']]).toEqual([
      200,
      'abcd',
      '"x"',
      'image/jpeg',
    ])
    const head = await call(app, '/v1/bytes', { method: 'HEAD' })
    expect([head.status, head.text, head.headers.etag]).toEqual([200, '', '"x"'])
    expect((await call(app, '/v1/nothing')).text).toBe('')
    await until(() => destroyed === 2)
  })

  it('becomes a problem after an error before the first byte', async () => {
    const app = await start([
      streaming(
        '/v1/missing',
        () =>
          new Readable({
            read() {
              this.destroy(new Error('no such blob'))
            },
          }),
      ),
    ])
    const { status, json } = await call(app, '/v1/missing')
    expect([status, json.code]).toEqual([500, 'internal_error'])
    expect(app.logged.filter((line) => line.level === 'error')).toHaveLength(1)
  })

  it('cuts the connection when the bytes break off, and logs it once', async () => {
    const app = await start([
      streaming('/v1/breaks', () =>
        Readable.from(
          (async function* () {
            yield Buffer.alloc(1000)
            await delay(20)
            throw new Error('disk gone')
          })(),
        ),
      ),
    ])
    await expect(call(app, '/v1/breaks')).rejects.toThrow()
    await until(() => app.logged.filter((line) => line.level === 'error').length === 1)
  })

  it('closes its source when the reader leaves', async () => {
    let closed = 0
    const app = await start([
      streaming('/v1/endless', () =>
        new Readable({
          read() {
            this.push(Buffer.alloc(65_536))
          },
        }).on('close', () => {
          closed += 1
        }),
      ),
    ])
    const socket = connect(app.port, '127.0.0.1')
    socket.write('GET /v1/endless HTTP/1.1\r\nHost: x\r\n\r\n')
    await new Promise((resolve) => socket.once('data', resolve))
    socket.destroy()
    await until(() => closed === 1)
    await delay(20)
    expect(app.logged.filter((line) => line.level === 'error')).toEqual([])
  })

  it('closes its source when the reader leaves before the first byte', async () => {
    let [asked, closed] = [0, 0]
    const app = await start([
      publicEndpoint(
        {
          ...base,
          method: 'GET',
          path: '/v1/late',
          summary: 'x',
          operationId: 'test',
          view: z.never(),
          streams: { contentType: 'image/jpeg' },
        },
        async ({ signal }) => {
          const stream = new Readable({ read() {} }).on('close', () => {
            closed += 1
          })
          signal.addEventListener('abort', () => stream.push('late'))
          asked += 1
          return { status: 200, stream, headers: {} }
        },
      ),
    ])
    const socket = connect(app.port, '127.0.0.1')
    socket.write('GET /v1/late HTTP/1.1\r\nHost: x\r\n\r\n')
    await until(() => asked === 1)
    socket.destroy()
    await until(() => closed === 1, { timeoutMs: 5_000 })
  })

  it('is refused where the route does not declare it', async () => {
    const app = await start([
      publicEndpoint(
        { ...base, method: 'GET', path: '/v1/undeclared', summary: 'x', operationId: 'test', view: z.object({}) },
        async () => ({
          status: 200,
          stream: Readable.from(['x']),
          headers: {},
        }),
      ),
    ])
    expect((await call(app, '/v1/undeclared')).status).toBe(500)
  })
})
