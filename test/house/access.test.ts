import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { KEY_SCOPES, PRODUCTS, ROLES, type Role } from '#src/catalogue/access.ts'
import { isSeenFromSandbox, permissionsOf, rolesWith } from '#src/catalogue/permissions.ts'
import type { KeyRow, SessionRow } from '#src/platform/http/caller.ts'
import type { Route } from '#src/platform/http/endpoint.ts'
import { newId } from '#src/platform/ids.ts'
import { call, cookiesOf, makeKeyRow, startApp, type TestApp } from '../support/http.ts'
import { makeServices, routesOf } from '../support/services.ts'

// The matrix of route and principal, generated from the route table. A request that may pass names an unknown query
// parameter, which is refused right after access was granted: no handler runs, and no database is needed.

const services = makeServices()
const routes = routesOf(services).filter((route) => route.public === undefined)
const keys = new Map<string, KeyRow>()
const sessions = new Map<string, SessionRow>()
let app: TestApp

beforeAll(async () => {
  app = await startApp(routesOf(services), {
    findKey: async (raw) => keys.get(raw),
    findSession: async (secret) => sessions.get(secret),
  })
})
afterAll(async () => {
  await app.close()
  await services.close()
})

const GRANTED = 'unknown_field'

let made = 0
function keyOf(row: Partial<KeyRow>): string {
  made += 1
  keys.set(`key-${made}`, makeKeyRow(row))
  return `key-${made}`
}

function sessionOf(row: Partial<SessionRow>, withToken = true): Record<string, string> {
  made += 1
  const secret = String(made).padStart(43, 'A')
  const id = `uss_${made}`
  sessions.set(secret, {
    sessionId: id,
    userId: 'usr_1',
    accountId: 'acc_1',
    role: 'owner',
    plan: 'enterprise',
    products: ['attest', 'authorize', 'trace'],
    isSandboxOnly: false,
    hasEnded: false,
    suspendedAt: undefined,
    ...row,
  })
  return cookiesOf({ id, secret }, { withToken })
}

/** What a request ends in: a code of access, or `GRANTED`. */
async function knock(route: Route, sent: { key?: string; headers?: Record<string, string>; ids?: 'live' | 'test' }) {
  const { ids, ...rest } = sent
  const path = route.path.replaceAll(/:([a-z]+)/g, (_, name) => {
    if (name === 'index') return '0'
    return ids === undefined ? 'x' : newId('clm', ids === 'live' ? 'live' : 'sandbox')
  })
  const type = route.rawBody?.contentTypes[0]?.replace('*', 'jpeg')
  const headers = { ...(type !== undefined && { 'Content-Type': type }), ...rest.headers }
  const body = type === undefined ? {} : { body: '{}' }
  const { json } = await call(app, `${path}?no_such=1`, { method: route.method, ...rest, headers, ...body })
  // A route may also require a parameter.
  const findings: { code: string }[] = json.errors ?? []
  const finding = findings.find(({ code }) => code === GRANTED) ?? findings[0]
  const code = json.code === 'invalid_request' ? finding?.code : json.code
  return [`${route.method} ${route.path}`, code]
}

const named = (route: Route) => `${route.method} ${route.path}`
const changesAccount = (route: Route) => {
  const isOpen = route.method === 'GET' && route.permission !== undefined && isSeenFromSandbox(route.permission)
  return route.isAccountLevel === true && !isOpen
}

describe('every route that is not public', () => {
  it('refuses requests without a credential, and credentials that no longer count', async () => {
    // At once: an answer to a refused key takes its time.
    const checkRefusals = async (route: Route) => {
      expect(await knock(route, {})).toEqual([named(route), 'authentication_required'])
      expect(await knock(route, { key: 'svc_test_nobody' })).toEqual([named(route), 'invalid_api_key'])
      const revoked = keyOf({ revokedAt: new Date(0) })
      expect(await knock(route, { key: revoked })).toEqual([named(route), 'api_key_revoked'])
      const expired = keyOf({ expiresAt: new Date(0) })
      expect(await knock(route, { key: expired })).toEqual([named(route), 'api_key_expired'])
      const ofSuspended = [
        { key: keyOf({ suspendedAt: new Date(0) }) },
        { headers: sessionOf({ suspendedAt: new Date(0) }) },
      ]
      for (const sent of ofSuspended) expect(await knock(route, sent)).toEqual([named(route), 'account_suspended'])
      const ended = sessionOf({ hasEnded: true })
      expect(await knock(route, { headers: ended })).toEqual([named(route), 'session_expired'])
      const unknown = cookiesOf({ id: 'uss_x', secret: 'Z'.repeat(43) })
      expect(await knock(route, { headers: unknown })).toEqual([named(route), 'session_expired'])
    }
    await Promise.all(routes.map(checkRefusals))
  })

  it('takes keys with its scope and no others', async () => {
    for (const route of routes) {
      for (const scope of KEY_SCOPES) {
        const ofScope = scope === route.scope ? GRANTED : 'insufficient_scope'
        const expected = route.takesAnyKey ? GRANTED : route.scope === undefined ? 'session_required' : ofScope
        const key = keyOf({ scopes: [scope], environment: 'live' })
        expect(await knock(route, { key })).toEqual([named(route), expected])
      }
      const sandboxKey = keyOf({ scopes: ['all'] })
      const ofKey = changesAccount(route) ? 'environment_mismatch' : GRANTED
      const ofSandbox = route.scope === undefined && !route.takesAnyKey ? 'session_required' : ofKey
      expect(await knock(route, { key: sandboxKey })).toEqual([named(route), ofSandbox])
      if (route.needsAccountKey && !changesAccount(route)) {
        const publishable = keyOf({ scopes: ['all'], isAccountBearing: false })
        expect(await knock(route, { key: publishable })).toEqual([named(route), 'account_key_required'])
      }
    }
  })

  it('takes keys that only read where it reads, and no others', async () => {
    for (const route of routes.filter(({ scope, takesAnyKey }) => scope !== undefined || takesAnyKey)) {
      const key = keyOf({ scopes: KEY_SCOPES, environment: 'live', isReadOnly: true })
      const expected = route.effect === 'read' ? GRANTED : 'key_read_only'
      expect(await knock(route, { key })).toEqual([named(route), expected])
    }
  })

  it('takes the keys that docs/account/keys.md names for each job where the job needs it, and not beyond', async () => {
    const JOBS: Record<string, { key: Partial<KeyRow>; can: string[]; cannot: string[] }> = {
      'consumer of events': {
        key: { scopes: ['admin'], isReadOnly: true },
        can: ['GET /v1/events/pull', 'PUT /v1/event-consumers/:name', 'GET /v1/events/:id', 'GET /v1/auth/session'],
        cannot: [
          'DELETE /v1/event-consumers/:name',
          'PUT /v1/policy',
          'POST /v1/account/keys',
          'POST /v1/webhook-endpoints',
        ],
      },
      auditor: {
        key: { scopes: ['admin', 'verify'], isReadOnly: true },
        can: [
          'GET /v1/account/audit',
          'GET /v1/decisions',
          'GET /v1/decisions/:id',
          'GET /v1/decisions/export',
          'POST /v1/decisions/verify-chain',
        ],
        cannot: ['POST /v1/intent/verify', 'PATCH /v1/account', 'POST /v1/account/keys/:id/revoke'],
      },
      'export to business intelligence': {
        key: { scopes: ['verify', 'escalate', 'screen'], isReadOnly: true, narrowedTo: ['attest'] },
        can: ['GET /v1/claims', 'GET /v1/cases', 'GET /v1/media/screenings'],
        cannot: ['POST /v1/media/screen', 'POST /v1/intent/stop', 'GET /v1/intent/status/:jti', 'GET /v1/decisions'],
      },
      'relying party': {
        key: { scopes: ['verify'], narrowedTo: ['authorize'] },
        can: ['POST /v1/intent/verify', 'POST /v1/intent/executions/:jti/outcome', 'GET /v1/decisions/:id'],
        cannot: ['POST /v1/intent/authorize', 'GET /v1/claims', 'GET /v1/decisions', 'GET /v1/decisions/:id/explain'],
      },
      'agent runtime': {
        key: { scopes: ['intent'], narrowedTo: ['authorize', 'trace'] },
        can: ['POST /v1/agents/:id/sessions', 'POST /v1/intent/authorize', 'POST /v1/trace/inferences'],
        cannot: ['POST /v1/agents/:id/unsuspend', 'POST /v1/intent/verify', 'POST /v1/mandates', 'GET /v1/events'],
      },
      'intake of captures': {
        key: { scopes: ['attest'] },
        can: ['POST /v1/claims/attest', 'POST /v1/claims/batches'],
        cannot: ['GET /v1/claims', 'POST /v1/intent/authorize', 'PUT /v1/policy'],
      },
    }
    for (const [job, { key: row, can, cannot }] of Object.entries(JOBS)) {
      const key = keyOf({ environment: 'live', ...row })
      for (const name of [...can, ...cannot]) {
        const route = routes.find((one) => named(one) === name)
        if (route === undefined) throw new Error(`there is no ${name}`)
        const [, code] = await knock(route, { key })
        const refusals = ['key_read_only', 'insufficient_scope']
        expect([job, name, can.includes(name) ? code === GRANTED : refusals.includes(String(code)), code]).toEqual([
          job,
          name,
          true,
          code,
        ])
      }
    }
  })

  it('belongs to the product that lists its feature, and to none where the account does', () => {
    const ofAccount = new Set(services.account.features.map(({ name }) => name).concat('platform'))
    for (const { name, routes: own = [] } of services.features) {
      for (const route of own) {
        expect([named(route), route.products === undefined]).toEqual([named(route), ofAccount.has(name)])
      }
    }
  })

  it('takes keys that are narrowed to a product of it, and of the account any', async () => {
    for (const route of routes.filter(({ scope }) => scope !== undefined)) {
      for (const product of PRODUCTS) {
        const key = keyOf({ scopes: KEY_SCOPES, environment: 'live', narrowedTo: [product] })
        const isOpen = route.products === undefined || route.products.includes(product)
        expect([product, await knock(route, { key })]).toEqual([
          product,
          [named(route), isOpen ? GRANTED : 'insufficient_scope'],
        ])
      }
    }
  })

  it.each(['sandbox', 'live'] as const)(
    'takes sessions with its permission and no others, in %s',
    async (environment) => {
      for (const route of routes) {
        for (const role of ROLES) {
          const headers = { ...sessionOf({ role }), 'Service-Environment': environment }
          const isAllowed = route.permission !== undefined && rolesWith(route.permission, environment).includes(role)
          expect([role, await knock(route, { headers })]).toEqual([
            role,
            [named(route), isAllowed ? GRANTED : 'insufficient_role'],
          ])
        }
      }
    },
  )

  it('gives roles in live what they need for their work, and no more', async () => {
    const NEEDS: [Role, string, boolean][] = [
      ['analyst', 'GET /v1/media/screenings', true],
      ['analyst', 'GET /v1/media/screenings/:id', true],
      ['analyst', 'POST /v1/media/screen', false],
      ['analyst', 'GET /v1/events', true],
      ['approver', 'GET /v1/events', true],
      ['analyst', 'GET /v1/webhook-endpoints', false],
      ['approver', 'GET /v1/webhook-endpoints', false],
      ['approver', 'POST /v1/agents/:id/suspend', true],
      ['approver', 'POST /v1/agents/:id/unsuspend', false],
      ['analyst', 'POST /v1/agents/:id/suspend', false],
      ['approver', 'GET /v1/account', true],
      ['approver', 'GET /v1/account/usage', true],
      ['approver', 'PUT /v1/account/plan', false],
      ['developer', 'GET /v1/decisions', true],
      ['developer', 'GET /v1/decisions/:id', true],
      ['developer', 'GET /v1/decisions/:id/explain', false],
    ]
    for (const [role, name, isAllowed] of NEEDS) {
      const route = routes.find((one) => named(one) === name)
      if (route === undefined) throw new Error(`there is no ${name}`)
      const headers = { ...sessionOf({ role }), 'Service-Environment': 'live' }
      expect([role, ...(await knock(route, { headers }))]).toEqual([
        role,
        name,
        isAllowed ? GRANTED : 'insufficient_role',
      ])
    }
  })

  it('takes the CSRF token of the session where it changes something, and no request of another origin', async () => {
    for (const route of routes.filter((one) => one.permission !== undefined)) {
      const isRead = route.method === 'GET'
      const headers = sessionOf({}, false)
      const without = await knock(route, { headers })
      expect(without).toEqual([named(route), isRead ? GRANTED : 'csrf_token_invalid'])
      if (isRead) continue
      const ofAnother = { ...headers, 'X-CSRF-Token': sessionOf({})['X-CSRF-Token'] ?? '' }
      expect(await knock(route, { headers: ofAnother })).toEqual([named(route), 'csrf_token_invalid'])
      const foreign = { ...sessionOf({}), Origin: 'https://evil.example' }
      expect(await knock(route, { headers: foreign })).toEqual([named(route), 'csrf_token_invalid'])
      const crossSite = { ...sessionOf({}), 'Sec-Fetch-Site': 'cross-site' }
      expect(await knock(route, { headers: crossSite })).toEqual([named(route), 'csrf_token_invalid'])
    }
  })

  it('refuses ids of the other environment, whether they exist or not', async () => {
    for (const route of routes.filter(({ path }) => path.includes('/:id'))) {
      if (route.isAccountLevel) continue
      if (route.scope !== undefined) {
        const [test, live] = [keyOf({ scopes: [route.scope] }), keyOf({ scopes: [route.scope], environment: 'live' })]
        expect(await knock(route, { key: test, ids: 'live' })).toEqual([named(route), 'environment_mismatch'])
        expect(await knock(route, { key: live, ids: 'test' })).toEqual([named(route), 'environment_mismatch'])
      }
      if (route.permission === undefined) continue
      const headers = sessionOf({})
      const named_ = { ...headers, 'Service-Environment': 'sandbox' }
      expect(await knock(route, { headers: named_, ids: 'live' })).toEqual([named(route), 'environment_mismatch'])
      // Without the header, the id of a read names the environment, and a change is one of the sandbox.
      const unnamed = await knock(route, { headers, ids: 'live' })
      expect(unnamed).toEqual([named(route), route.method === 'GET' ? GRANTED : 'environment_mismatch'])
    }
  })

  it('keeps sessions of echoed links from live data and from changes of the account', async () => {
    for (const route of routes.filter((one) => one.permission !== undefined)) {
      const headers = sessionOf({ isSandboxOnly: true })
      const inSandbox = changesAccount(route) ? 'environment_mismatch' : GRANTED
      expect(await knock(route, { headers })).toEqual([named(route), inSandbox])
      const live = { ...headers, 'Service-Environment': 'live' }
      expect(await knock(route, { headers: live })).toEqual([named(route), 'environment_mismatch'])
    }
  })

  it('takes from a session what its permissions name, and nothing else that they could name', async () => {
    const closure = { closedAt: new Date(0), erasedAfter: new Date(Date.now() + 86_400_000) }
    // One of each kind: the tests above hold every route against its permission.
    const kindOf = ({ permission, method, isAccountLevel, plan }: Route) =>
      JSON.stringify([permission, method === 'GET', isAccountLevel, plan])
    const kinds = [...new Map(routes.map((route) => [kindOf(route), route])).values()]
    for (const role of ROLES) {
      for (const standing of [
        { plan: 'enterprise', isSandboxOnly: false },
        { plan: 'growth', isSandboxOnly: false },
        { plan: 'enterprise', isSandboxOnly: true },
        { plan: 'enterprise', isSandboxOnly: false, closure },
      ] as const) {
        for (const environment of ['sandbox', 'live'] as const) {
          const isClosed = 'closure' in standing
          const named_ = permissionsOf({ role, ...standing, isClosed }, environment)
          const granted = new Set<string>()
          for (const route of kinds) {
            if (route.permission === undefined) continue
            const headers = { ...sessionOf({ role, ...standing }), 'Service-Environment': environment }
            const [, code] = await knock(route, { headers })
            // Of a closed account, a permission that also allows changes is named only where these are possible.
            const counts = !isClosed || route.method !== 'GET' || route.permission.endsWith('.read')
            if (code === GRANTED && counts) granted.add(route.permission)
          }
          const used = new Set<string>(routes.flatMap(({ permission = [] }) => permission))
          const expected = named_.filter((name) => used.has(name))
          expect([role, standing, environment, [...granted].toSorted()]).toEqual([
            role,
            standing,
            environment,
            expected.toSorted(),
          ])
        }
      }
    }
  })

  it('keeps users beside the owner out when the account has left the plan enterprise', async () => {
    for (const route of routes.filter((one) => one.permission !== undefined)) {
      for (const role of ROLES) {
        const isOpen = (role === 'owner' && route.plan === undefined) || route.permission === 'session.own'
        const expected = isOpen ? GRANTED : 'plan_required'
        const headers = sessionOf({ role, plan: 'growth' })
        expect([role, await knock(route, { headers })]).toEqual([role, [named(route), expected]])
      }
    }
  })
})

it('a key in a header counts before a cookie, and an unknown environment is refused by name', async () => {
  const [route] = routes.filter((one) => one.permission !== undefined && one.method === 'GET')
  if (route === undefined) throw new Error('no such route')
  const both = { headers: sessionOf({}), key: 'svc_test_nobody' }
  expect((await knock(route, both))[1]).toBe('invalid_api_key')
  const unknown: Role = 'owner'
  const headers = { ...sessionOf({ role: unknown }), 'Service-Environment': 'production' }
  expect((await knock(route, { headers }))[1]).toBe('invalid_value')
})
