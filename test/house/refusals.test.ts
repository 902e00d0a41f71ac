import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { allRoutes } from '#src/app.ts'
import type { Route } from '#src/platform/http/endpoint.ts'
import { propertiesOf, type Schema } from '#src/platform/http/openapi-schema.ts'
import { call, cookiesOf, makeKeyRow, startApp, type TestApp } from '../support/http.ts'
import { makeServices, routesOf } from '../support/services.ts'

// What a caller learns from the first wrong request, on every route: the accepted names, values and types.

// Authorization API 1.0 (AuthZEN), 10.1: receivers ignore unknown members.
const IGNORING = ['/v1/access', '/access/v1'].flatMap((path) => [`${path}/evaluation`, `${path}/evaluations`])

// All of these requests are refused before any part is called.
const services = makeServices()
// Those of SCIM answer in a form of its own, which test/account/scim checks.
const features = routesOf(services).filter(({ errorForm }) => errorForm === undefined)
const routes = allRoutes({ routes: features, jwks: async () => ({ keys: [] }), baseUrl: 'http://localhost' })
let app: TestApp
const owner = {
  sessionId: 'uss_1',
  userId: 'usr_1',
  accountId: 'acc_1',
  role: 'owner',
  plan: 'enterprise',
  products: [],
  isSandboxOnly: false,
  hasEnded: false,
  suspendedAt: undefined,
} as const

beforeAll(async () => {
  app = await startApp(features, {
    findKey: async () => makeKeyRow({ scopes: ['all'] }),
    findSession: async () => owner,
  })
})
afterAll(async () => {
  await app.close()
  await services.close()
})

describe('the refusal of a wrong request', () => {
  it('lists the known parameters for an unknown parameter', async () => {
    for (const route of routes.filter((one) => one.public === undefined)) {
      const known = Object.keys(route.query?.shape ?? {})
      const { status, json } = await send(route, '?no_such=1', ofRightType(route))
      const codes = json.errors?.map(({ code }: { code: string }) => code)
      expect([route.path, status, codes]).toEqual([route.path, 400, expect.arrayContaining(['unknown_field'])])
      for (const name of known) expect(detailOf(json), route.path).toContain(name)
    }
  })

  it('lists the accepted values for a wrong value', async () => {
    let count = 0
    for (const route of features.filter(({ query }) => query !== undefined)) {
      for (const [name, schema] of parametersOf(route)) {
        const allowed = Array.isArray(schema.enum) ? schema.enum : [schema.minimum, schema.maximum]
        // The domain checks these, after its endpoint was found.
        if (allowed.includes(undefined) || name === 'event_type') continue
        count += 1
        const { status, json } = await send(route, `?${name}=no_such`)
        expect([route.path, name, status, json.errors?.[0]?.pointer]).toEqual([route.path, name, 400, `?${name}`])
        for (const value of allowed) expect(detailOf(json), `${route.path} ${name}`).toContain(String(value))
      }
    }
    expect(count).toBeGreaterThan(30)
  })

  it('says where cursors come from for an invented cursor, or finds nothing', async () => {
    const lists = features.filter(({ method, query }) => method === 'GET' && query?.shape.cursor !== undefined)
    expect(lists.length).toBeGreaterThan(10)
    for (const route of lists) {
      const { status } = await send(route, `?cursor=${'x'.repeat(2_000)}`)
      expect([route.path, status]).toEqual([route.path, 400])
    }
  })

  it('lists the accepted content types for a wrong content type', async () => {
    for (const route of features) {
      const accepted = route.rawBody?.contentTypes ?? (route.body === undefined ? [] : ['application/json'])
      if (accepted.length === 0) continue
      for (const type of ['application/x-www-form-urlencoded', '']) {
        const { status, json } = await send(route, '', {
          body: 'a=1',
          headers: type === '' ? {} : { 'Content-Type': type },
        })
        const refusal =
          route.wrongContentType === undefined ? [415, 'unsupported_media_type'] : [400, 'invalid_request']
        expect([route.path, status, json.code]).toEqual([route.path, ...refusal])
        for (const one of accepted) expect(detailOf(json), route.path).toContain(one)
      }
    }
  })

  it('lists the known members for an unknown member', async () => {
    for (const route of features.filter(({ body, path }) => body !== undefined && !IGNORING.includes(path))) {
      const { status, json } = await send(route, '', { json: { no_such: 1 } })
      expect([route.path, status]).toEqual([route.path, 400])
      // Of alternatives, the intended one is sent first.
      expect(detailOf(json), route.path).toMatch(/known members are [a-z_]+|"pointer":"\/(?:format|kind)"/)
    }
  })

  it('lists the allowed methods for another method, also where a parameter would match the word', async () => {
    const words = routes.filter(({ path }) => !path.includes(':'))
    for (const { path } of words) {
      const declared = new Set(routes.filter((one) => one.path === path).map(({ method }) => String(method)))
      if (declared.has('GET')) declared.add('HEAD')
      for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].filter((one) => !declared.has(one))) {
        const { status, headers, json } = await call(app, path, { method, key: 'k' })
        expect([method, path, status, json.code]).toEqual([method, path, 405, 'method_not_allowed'])
        expect(String(headers.allow).split(', ').sort()).toEqual([...declared].sort())
      }
    }
  })
})

// A query is checked after the content type of a raw body, and before any byte of it.
function ofRightType({ rawBody }: Route): Parameters<typeof call>[2] {
  return rawBody === undefined ? {} : { body: '{}', headers: { 'Content-Type': rawBody.contentTypes[0] ?? '' } }
}

function send(route: Route, search: string, sent: Parameters<typeof call>[2] = {}) {
  const path = route.path.replaceAll(/:([a-z]+)/g, (_, name) => (name === 'index' ? '0' : 'x'))
  // Of the whole account, a sandbox key changes nothing and does not see all.
  const changesAccount = route.isAccountLevel === true
  if (route.public === undefined && (route.scope === undefined || changesAccount)) {
    const headers = { ...cookiesOf({ id: owner.sessionId, secret: 'A'.repeat(43) }), ...sent.headers }
    return call(app, path + search, { method: route.method, ...sent, headers })
  }
  return call(app, path + search, { method: route.method, key: 'k', ...sent })
}

function parametersOf(route: Route): [name: string, schema: Schema][] {
  const schemas: Record<string, Schema> = {}
  const { properties } = propertiesOf(route.query, 'input', { name: 'X', schemas })
  return Object.entries(properties).map(([name, schema]) => {
    const component =
      String(schema.$ref ?? '')
        .split('/')
        .at(-1) ?? ''
    return [name, schemas[component] ?? schema]
  })
}

function detailOf(json: unknown): string {
  return JSON.stringify(json).replaceAll('\\"', '"')
}
