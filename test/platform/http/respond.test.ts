import { createServer } from 'node:net'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { Failure } from '#src/failure.ts'
import { createDatabase } from '#src/platform/db/database.ts'
import { publicEndpoint, type Route, reply } from '#src/platform/http/endpoint.ts'
import { toFailure } from '#src/platform/http/respond.ts'
import { call, return503, startApp, type TestApp } from '../../support/http.ts'

const base = {
  method: 'GET' as const,
  sdk: { none: 'a route of a test' },
  effect: 'write' as const,
  kind: 'call' as const,
  public: 'for the test',
  summary: 'x',
  operationId: 'test',
  status: [200],
}
const view = z.object({ id: z.string(), list: z.array(z.object({ n: z.number() })) })
const errorRoute = (path: string, make: () => unknown): Route =>
  publicEndpoint({ ...base, path, view }, async () => {
    throw make()
  })

describe('an error of the store', () => {
  const coded = (code: string) => Object.assign(new Error('x'), { code })
  it.each([
    '08000',
    '08003',
    '08006',
    '08001',
    '53100',
    '53200',
    '53300',
    '57P01',
    '57P02',
    '57P03',
    '57P05',
    '57014',
    '55P03',
    '25006',
    '25P03',
    '40001',
    '40P01',
    'ECONNREFUSED',
    'ECONNRESET',
    'ETIMEDOUT',
    'EPIPE',
    'ENOTFOUND',
    'EAI_AGAIN',
    'ENOSPC',
  ])('%s is service_unavailable', (code) => {
    expect(toFailure(coded(code)).code).toBe('service_unavailable')
    expect(toFailure(new Error('with meaning', { cause: coded(code) })).code).toBe('service_unavailable')
  })

  it.each(['ENOENT', 'EAGAIN'])('%s of a Unix socket is service_unavailable', (code) => {
    expect(toFailure(Object.assign(coded(code), { syscall: 'connect' })).code).toBe('service_unavailable')
  })

  it.each(['23505', '42501', '42P01', '22P02', '22021', 'ENOENT', 'ERR_ASSERTION'])('%s is internal_error', (code) => {
    expect(toFailure(coded(code)).code).toBe('internal_error')
  })

  it('is left unchanged when it is a Failure', () => {
    const failure = new Failure('conflict', { detail: 'x', cause: coded('08006') })
    expect(toFailure(failure)).toBe(failure)
  })

  it.each(['a string', 0, null, undefined, {}, { message: 'Connection terminated' }])(
    'is survived when %j is thrown',
    (thrown) => {
      expect(toFailure(thrown).code).toBe('internal_error')
    },
  )

  it('is recognized of a server that refuses, one that hangs, and one that hangs up', async () => {
    const refusing = createDatabase({ url: 'postgres://u:p@127.0.0.1:1/x' })
    await expect(refusing.system('x', async () => 1).catch((error) => toFailure(error).code)).resolves.toBe(
      'service_unavailable',
    )

    const silent = createServer(() => {}).listen(0, '127.0.0.1')
    const rude = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1')
    for (const server of [silent, rude]) {
      await new Promise((resolve) => (server.listening ? resolve(undefined) : server.once('listening', resolve)))
      const address = server.address()
      const port = typeof address === 'object' && address !== null ? address.port : 0
      const pool = new pg.Pool({ host: '127.0.0.1', port, connectionTimeoutMillis: 200 })
      const code = await pool.connect().catch((error) => toFailure(error).code)
      expect(code).toBe('service_unavailable')
      await pool.end()
      server.close()
    }
    await refusing.close()
  })
})

describe('the answer to an error', () => {
  return503()
  let app: TestApp
  beforeAll(async () => {
    app = await startApp([
      errorRoute(
        '/v1/bug',
        () => new Error('password is hunter2', { cause: new Error('svc_live_0123456789abcdefghijABCDEFGHIJ12') }),
      ),
      errorRoute('/v1/string', () => 'thrown as it is'),
      errorRoute('/v1/down', () => Object.assign(new Error('no'), { code: '57P03' })),
      errorRoute(
        '/v1/wait',
        () => new Failure('service_unavailable', { detail: 'Later.', headers: { 'Retry-After': '30' } }),
      ),
      errorRoute(
        '/v1/state',
        () =>
          new Failure('invalid_state_transition', {
            detail: 'No.',
            members: { allowed: ['open'], status: 'mine', code: 'mine' },
          }),
      ),
      publicEndpoint({ ...base, path: '/v1/leaky', view }, async () => ({
        id: 'x',
        list: [{ n: 'wrong' as unknown as number }],
      })),
      publicEndpoint({ ...base, path: '/v1/status', view }, async () => reply(201, { id: 'x', list: [] })),
      publicEndpoint(
        { ...base, path: '/v1/kept', view: z.object({ status: z.number(), body: z.string() }) },
        async () => ({
          status: 7,
          body: 'a view may look like a reply',
        }),
      ),
    ])
  })
  afterAll(() => app.close())

  it('contains nothing of the cause, which the log has once', async () => {
    const { status, text, headers } = await call(app, '/v1/bug')
    expect(status).toBe(500)
    expect(text).not.toMatch(/hunter2|svc_live|Error|at /)
    const lines = app.logged.filter((line) => line.requestId === headers['request-id'] && line.level !== 'debug')
    expect(lines).toHaveLength(1)
    expect(lines[0]).toMatchObject({
      level: 'error',
      route: 'GET /v1/bug',
      code: 'internal_error',
      err: { message: 'password is hunter2' },
    })
    expect(JSON.stringify(lines[0])).toContain('svc_live_[redacted]')
  })

  it('exists also for thrown values that are not errors', async () => {
    expect((await call(app, '/v1/string')).json.code).toBe('internal_error')
  })

  it('states when to retry', async () => {
    const down = await call(app, '/v1/down')
    expect([down.status, down.json.code]).toEqual([503, 'service_unavailable'])
    expect(Number(down.headers['retry-after'])).toBeGreaterThan(0)
    expect((await call(app, '/v1/wait')).headers['retry-after']).toBe('30')
  })

  it('has members of its own beside the fixed ones', async () => {
    const { json } = await call(app, '/v1/state')
    expect(json).toMatchObject({ status: 409, code: 'invalid_state_transition', allowed: ['open'] })
  })

  it('is internal_error when our answer does not match its view, and the log says where', async () => {
    const { status, headers } = await call(app, '/v1/leaky')
    expect(status).toBe(500)
    const line = app.logged.find((one) => one.requestId === headers['request-id'])
    expect(JSON.stringify(line)).toContain('/list/0/n')
    expect((await call(app, '/v1/status')).status).toBe(500)
  })

  it('is not taken from a body that resembles a reply', async () => {
    expect((await call(app, '/v1/kept')).json).toEqual({ status: 7, body: 'a view may look like a reply' })
  })

  it('is counted by route and status, never by address', async () => {
    await call(app, '/v1/whatever/someone/asks?for=it')
    const text = await app.metrics.registry.metrics()
    expect(text).toMatch(
      /countersign_http_request_duration_seconds_count\{process="web",method="GET",route="\/v1\/bug",status="500"\} 1/,
    )
    expect(text).toContain('route="unmatched",status="404"')
    expect(text).not.toContain('whatever')
  })
})
