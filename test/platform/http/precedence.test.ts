import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { Failure } from '#src/failure.ts'
import { endpoint, type Route, reply } from '#src/platform/http/endpoint.ts'
import { newId } from '#src/platform/ids.ts'
import { call, makeKeyRow, startApp, type TestApp } from '../../support/http.ts'

const REVOKED_AT = new Date('2026-11-02T10:11:12.000Z')
const NOW = new Date('2026-11-20T00:00:00.000Z')
const KEYS = new Map([
  ['verify', makeKeyRow({ scopes: ['verify'] })],
  ['attest', makeKeyRow({ scopes: ['attest', 'screen'] })],
  ['all', makeKeyRow({ scopes: ['all'] })],
  ['publishable', makeKeyRow({ scopes: ['all'], isAccountBearing: false })],
  ['live', makeKeyRow({ scopes: ['verify'], environment: 'live' })],
  ['revoked', makeKeyRow({ revokedAt: REVOKED_AT, expiresAt: NOW })],
  ['expired', makeKeyRow({ expiresAt: NOW })],
])

const routes: Route[] = [
  endpoint(
    {
      method: 'GET',
      path: '/v1/things/:id',
      sdk: { none: 'a route of a test' },
      effect: 'write',
      kind: 'call',
      summary: 'One',
      operationId: 'test',
      scope: 'verify',
      query: z.object({
        n: z
          .string()
          .regex(/^[0-9]+$/)
          .optional(),
      }),
      view: z.object({ id: z.string(), account_id: z.string() }),
      status: [200],
    },
    async ({ params, caller }) => {
      if (params.id === 'absent') throw new Failure('not_found', 'No such thing.')
      return { id: params.id, account_id: caller.accountId }
    },
  ),
  endpoint(
    {
      method: 'GET',
      path: '/v1/things/special',
      sdk: { none: 'a route of a test' },
      effect: 'write',
      kind: 'call',
      summary: 'Static',
      operationId: 'test',
      scope: 'verify',
      view: z.object({ is: z.string() }),
      status: [200],
    },
    async () => ({ is: 'special' }),
  ),
  endpoint(
    {
      method: 'POST',
      path: '/v1/things/:id',
      sdk: { none: 'a route of a test' },
      effect: 'write',
      kind: 'call',
      summary: 'Change',
      operationId: 'test',
      scope: 'admin',
      needsAccountKey: true,
      body: z.strictObject({ name: z.string().max(10) }),
      view: z.object({ name: z.string() }),
      status: [200, 202],
    },
    async ({ params, body }) => {
      if (params.id === 'absent') throw new Failure('not_found', 'No such thing.')
      return reply(202, { name: body.name, secret: 'never declared' }, { 'Retry-After': '3' })
    },
  ),
]

let app: TestApp
beforeAll(async () => {
  app = await startApp(routes, { findKey: async (raw) => KEYS.get(raw), now: () => NOW })
})
afterAll(() => app.close())

describe('an answer', () => {
  it('has ids and versions on success and on failure', async () => {
    for (const path of ['/health', '/v1/things/x', '/nowhere', '/v1/openapi.json']) {
      const { headers } = await call(app, path)
      expect(headers['request-id']).toMatch(/^req_[0-9a-z]{26}$/)
      expect(headers['service-version']).toBe('2026-11-01')
      expect(headers['x-content-type-options']).toBe('nosniff')
    }
  })

  it('never takes its request id from the caller', async () => {
    const { headers } = await call(app, '/health', { headers: { 'X-Request-Id': 'mine', 'Request-Id': 'mine' } })
    expect(headers['request-id']).not.toBe('mine')
  })

  it('is problem+json with every member', async () => {
    const { status, headers, json } = await call(app, '/v1/things/x', { key: 'attest' })
    expect(status).toBe(403)
    expect(headers['content-type']).toBe('application/problem+json')
    expect(headers['cache-control']).toBe('no-store')
    expect(json).toEqual({
      type: 'https://api.example.test/docs/errors#insufficient_scope',
      title: 'Insufficient scope',
      status: 403,
      code: 'insufficient_scope',
      detail: expect.any(String),
      request_id: headers['request-id'],
      required_scope: 'verify',
    })
  })

  it("is parsed from the handler's result, so that no undeclared member is sent", async () => {
    const { status, headers, json } = await call(app, '/v1/things/1', { key: 'all', json: { name: 'x' } })
    expect(status).toBe(202)
    expect(headers['retry-after']).toBe('3')
    expect(json).toEqual({ name: 'x' })
  })
})

describe('the router', () => {
  it('answers 404 without a key', async () => {
    for (const path of [
      '/x',
      '/v1',
      '/v2/things/x',
      '/v1/things',
      '/v1/things/x/',
      '/V1/things/x',
      '//v1/things/x',
      '/v1/things/%00%ff/y',
    ]) {
      const { status, json } = await call(app, path)
      expect([path, status, json.code]).toEqual([path, 404, 'not_found'])
    }
  })

  it('answers 405 with Allow, before it asks for a key', async () => {
    for (const method of ['DELETE', 'PUT', 'PATCH', 'OPTIONS', 'PROPFIND']) {
      const { status, headers, json } = await call(app, '/v1/things/x', { method })
      expect([method, status, json.code]).toEqual([method, 405, 'method_not_allowed'])
      expect(headers.allow).toBe('GET, HEAD, POST')
    }
  })

  it('answers HEAD as GET, without its body', async () => {
    const got = await call(app, '/v1/things/x', { key: 'verify' })
    const { status, headers, text } = await call(app, '/v1/things/x', { key: 'verify', method: 'HEAD' })
    expect([status, text]).toEqual([200, ''])
    expect(headers['content-length']).toBe(got.headers['content-length'])
    expect((await call(app, '/v1/things/x', { method: 'HEAD' })).status).toBe(401)
    expect((await call(app, '/nowhere', { method: 'HEAD' })).status).toBe(404)
  })

  it('prefers a static path to a parameter, whatever the order of the table', async () => {
    expect((await call(app, '/v1/things/special', { key: 'verify' })).json).toEqual({ is: 'special' })
  })

  it('refuses two routes for one address', async () => {
    const [first] = routes
    if (first === undefined) throw new Error('no routes')
    await expect(startApp([first, { ...first, path: '/v1/things/:other' }])).rejects.toThrow('two routes')
  })
})

describe('authentication', () => {
  const cases: [name: string, headers: Record<string, string | string[]>, status: number, code: string][] = [
    ['no key', {}, 401, 'authentication_required'],
    ['an empty X-API-Key', { 'X-API-Key': '' }, 401, 'authentication_required'],
    ['Basic', { Authorization: 'Basic dmVyaWZ5Og==' }, 401, 'authentication_required'],
    ['a bare key in Authorization', { Authorization: 'verify' }, 401, 'authentication_required'],
    ['Bearer without a key', { Authorization: 'Bearer' }, 401, 'authentication_required'],
    ['Bearer with two words', { Authorization: 'Bearer verify verify' }, 401, 'authentication_required'],
    ['Basic beside a good key', { Authorization: 'Basic eA==', 'X-API-Key': 'verify' }, 401, 'authentication_required'],
    ['an unknown key', { Authorization: 'Bearer nobody' }, 401, 'invalid_api_key'],
    ['an unknown X-API-Key', { 'X-API-Key': 'nobody' }, 401, 'invalid_api_key'],
    ['a key of 8 kB', { Authorization: `Bearer ${'a'.repeat(8_000)}` }, 401, 'invalid_api_key'],
    ['a revoked key, also expired', { Authorization: 'Bearer revoked' }, 401, 'api_key_revoked'],
    ['a key at its expiry', { Authorization: 'Bearer expired' }, 401, 'api_key_expired'],
    ['two different keys', { Authorization: 'Bearer verify', 'X-API-Key': 'all' }, 400, 'invalid_request'],
    ['X-API-Key twice', { 'X-API-Key': ['verify', 'all'] }, 400, 'invalid_request'],
    ['Authorization twice', { Authorization: ['Bearer verify', 'Bearer all'] }, 400, 'invalid_request'],
  ]
  it.each(cases)('refuses %s', async (_name, headers, status, code) => {
    const answer = await call(app, '/v1/things/x', { headers })
    expect([answer.status, answer.json.code]).toEqual([status, code])
    expect(answer.headers['www-authenticate']).toBe(status === 401 ? 'Bearer' : undefined)
  })

  it('reports that a key was revoked', async () => {
    const { json } = await call(app, '/v1/things/x', { key: 'revoked' })
    expect(json.detail).toContain('2026-11-02T10:11:12.000Z')
  })

  it.each([
    ['Authorization', { Authorization: 'Bearer verify' }],
    ['X-API-Key', { 'X-API-Key': 'verify' }],
    ['both, equal', { Authorization: 'Bearer verify', 'X-API-Key': 'verify' }],
    ['another case of the scheme', { Authorization: 'bEARER  verify' }],
  ])('accepts %s', async (_name, headers) => {
    expect((await call(app, '/v1/things/x', { headers })).status).toBe(200)
  })

  it('accepts the scope all on every route', async () => {
    expect((await call(app, '/v1/things/x', { key: 'all' })).status).toBe(200)
  })
})

describe('the order of checks', () => {
  const liveId = newId('clm', 'live')
  const testId = newId('clm', 'sandbox')
  const bad = { headers: { 'Content-Type': 'application/json' }, body: '{"name"', method: 'POST' }
  const steps: [name: string, path: string, sent: Parameters<typeof call>[2], code: string][] = [
    ['address before key', '/v1/nothing', { ...bad, key: 'nobody' }, 'not_found'],
    ['key before environment', `/v1/things/${liveId}`, { ...bad, key: 'nobody' }, 'invalid_api_key'],
    ['environment before scope', `/v1/things/${liveId}`, { ...bad, key: 'verify' }, 'environment_mismatch'],
    ['scope before account key', `/v1/things/${testId}`, { ...bad, key: 'verify' }, 'insufficient_scope'],
    ['account key before body', `/v1/things/${testId}`, { ...bad, key: 'publishable' }, 'account_key_required'],
    ['body before resource', '/v1/things/absent', { ...bad, key: 'all' }, 'invalid_json'],
    ['resource last', '/v1/things/absent', { json: { name: 'x' }, key: 'all' }, 'not_found'],
  ]
  it.each(steps)('is %s', async (_name, path, sent, code) => {
    expect((await call(app, path, sent)).json.code).toBe(code)
  })

  it('refuses the sandbox environment to a live key as well', async () => {
    expect((await call(app, `/v1/things/${testId}`, { key: 'live' })).json.code).toBe('environment_mismatch')
    expect((await call(app, `/v1/things/${liveId}`, { key: 'live' })).status).toBe(200)
  })
})

describe('the query of a request', () => {
  it.each([
    ['an undeclared name', '?limit=1', '?limit', 'unknown_field'],
    ['a name given twice', '?n=1&n=1', '?n', 'duplicate'],
    ['a wrong value', '?n=x', '?n', 'invalid_format'],
    ['a malformed escape', '?n=%zz', '?', 'invalid_encoding'],
    ['U+0000', '?n=%00', '?n', 'invalid_character'],
    ['a prototype', '?__proto__=1', '?__proto__', 'unknown_field'],
  ])('is refused with %s', async (_name, search, pointer, code) => {
    const { status, json } = await call(app, `/v1/things/x${search}`, { key: 'verify' })
    expect([status, json.code]).toEqual([400, 'invalid_request'])
    expect(json.errors).toContainEqual({ pointer, code, detail: expect.any(String) })
  })

  it('is refused where none is declared, with each parameter named', async () => {
    const { json } = await call(app, '/v1/things/special?a=1&b=2', { key: 'verify' })
    expect(json.errors?.map(({ pointer }) => pointer)).toEqual(['?a', '?b'])
  })
})
