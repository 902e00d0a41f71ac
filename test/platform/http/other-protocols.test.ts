// A protocol of others prescribes media types, statuses and the form of errors, and lets clients send parameters that this
// service does not know.

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { endpoint, publicEndpoint, reply } from '#src/platform/http/endpoint.ts'
import { describeRoutes } from '#src/platform/http/openapi.ts'
import type { ErrorForm } from '#src/platform/http/respond.ts'
import { call, startApp, type TestApp } from '../../support/http.ts'

const form: ErrorForm = {
  contentType: 'application/scim+json',
  view: z.object({ status: z.string(), detail: z.string() }).meta({ id: 'ScimTestError' }),
  show: ({ status }, detail) => ({ status: String(status), detail }),
}
const common = {
  jsonTypes: ['application/scim+json', 'application/json'],
  ignoresUnknownQuery: true,
  errorForm: form,
  sdk: { none: 'A protocol of others' },
  kind: 'call',
} as const
const view = z.object({ name: z.string(), count: z.string().nullable() })
const query = z.object({ count: z.string().optional() })

const routes = [
  endpoint(
    {
      ...common,
      takesDirectory: true,
      method: 'POST',
      path: '/v1/things/kept',
      operationId: 'keepThing',
      effect: 'write',
      summary: 'Keep a thing',
      query,
      body: z.object({ name: z.string() }),
      view,
      status: [201],
    },
    async ({ body, query: { count } }) =>
      reply(201, { name: body.name, count: count ?? null }, { Location: '/v1/things/1' }),
  ),
  endpoint(
    {
      ...common,
      takesDirectory: true,
      method: 'DELETE',
      path: '/v1/things/:id',
      operationId: 'dropThing',
      effect: 'destructive',
      summary: 'Drop a thing',
      view: z.object({}),
      status: [204],
    },
    async () => reply(204, {}),
  ),
  publicEndpoint(
    {
      method: 'GET',
      path: '/v1/plain',
      operationId: 'getPlain',
      sdk: { none: 'For this test alone' },
      effect: 'read',
      kind: 'call',
      summary: 'As today',
      public: 'For this test alone',
      query,
      view: z.object({ ok: z.boolean() }),
      status: [200],
    },
    async () => ({ ok: true }),
  ),
]

let app: TestApp
beforeAll(async () => {
  app = await startApp(routes, {
    findDirectory: async (token) =>
      token === 'good' || token === 'revoked' || token === 'suspended'
        ? {
            tokenId: 'sct_1',
            accountId: 'acc_1',
            plan: 'enterprise',
            products: [],
            suspendedAt: token === 'suspended' ? new Date(0) : undefined,
            isRevoked: token === 'revoked',
          }
        : undefined,
  })
})
afterAll(() => app.close())

const send = (path: string, sent: Parameters<typeof call>[2] = {}) => call(app, path, { key: 'good', ...sent })
const SCIM = { 'Content-Type': 'application/scim+json' }

describe('a route of another protocol', () => {
  it('takes its media types, answers 201 in the first of them, and ignores parameters that it does not know', async () => {
    for (const type of ['application/scim+json', 'application/scim+json; charset=utf-8', 'application/json']) {
      const answer = await send('/v1/things/kept?count=2&attributes=a&attributes=b&%ff=1', {
        method: 'POST',
        headers: { 'Content-Type': type },
        body: '{"name":"one"}',
      })
      expect(answer, type).toMatchObject({
        status: 201,
        headers: { 'content-type': 'application/scim+json', location: '/v1/things/1' },
        json: { name: 'one', count: '2' },
      })
    }
  })

  it('answers 204 without a body, a length or a media type', async () => {
    const answer = await send('/v1/things/1', { method: 'DELETE' })
    expect(answer).toMatchObject({ status: 204, text: '' })
    expect(answer.headers).not.toHaveProperty('content-type')
    expect(answer.headers).not.toHaveProperty('content-length')
  })

  it('has errors of its own form, also of its access, of the body and of addresses that nothing answers', async () => {
    const post = (sent: Parameters<typeof call>[2]) =>
      call(app, '/v1/things/kept', { method: 'POST', body: '{"name":"one"}', headers: SCIM, ...sent })
    const cases: [Promise<Awaited<ReturnType<typeof call>>>, number][] = [
      [post({}), 401],
      [post({ key: 'bad' }), 401],
      [post({ key: 'revoked' }), 401],
      [post({ key: 'suspended' }), 403],
      [post({ headers: { ...SCIM, Authorization: ['Bearer good', 'Bearer bad'] } }), 401],
      [post({ headers: { ...SCIM, 'X-API-Key': 'good' } }), 401],
      [post({ key: 'good', body: '{' }), 400],
      [post({ key: 'good', body: '{}' }), 400],
      [post({ key: 'good', headers: { 'Content-Type': 'text/plain' } }), 415],
      [send('/v1/things/kept?count=1&count=2', { method: 'POST', headers: SCIM, body: '{"name":"one"}' }), 400],
      [send('/v1/things/unknown/thing'), 404],
      [send('/v1/things/kept', { method: 'PUT' }), 405],
    ]
    for (const [sent, status] of cases) {
      const answer = await sent
      expect(answer.status).toBe(status)
      expect(answer.headers['content-type']).toBe('application/scim+json')
      expect(answer.json).toEqual({ status: String(status), detail: expect.any(String) })
      if (status === 401) expect(answer.headers['www-authenticate']).toBe('Bearer')
    }
  })

  it('is described with its media types, its token and its form of errors', async () => {
    const document = await describeRoutes(routes, { baseUrl: 'https://api.example.test' })
    const post = document.paths['/v1/things/kept']?.post as Record<string, never>
    expect(post).toMatchObject({
      security: [{ directory: [] }],
      requestBody: { content: { 'application/scim+json': {}, 'application/json': {} } },
      responses: {
        201: { content: { 'application/scim+json': {} } },
        401: { content: { 'application/scim+json': { schema: { $ref: '#/components/schemas/ScimTestError' } } } },
      },
    })
  })
})

describe('every other route', () => {
  it('stays as it is: strict parameters, problems, and no token of a directory', async () => {
    expect(await call(app, '/v1/plain?other=1')).toMatchObject({ status: 400, json: { code: 'invalid_request' } })
    expect(await call(app, '/v1/plain')).toMatchObject({ headers: { 'content-type': 'application/json' } })
    expect(await call(app, '/v1/nothing')).toMatchObject({
      status: 404,
      headers: { 'content-type': 'application/problem+json' },
    })
  })
})
