import { randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import { Registry } from 'prom-client'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { z } from 'zod'
import { createLimitOf } from '#src/account/limits/limit-of.ts'
import { EMERGENCY_ACCOUNT_RATE, PLAN_LIMITS, SANDBOX_LIMITS } from '#src/catalogue/plans.ts'
import { addressBlock } from '#src/platform/http/client-address.ts'
import { endpoint, publicEndpoint, type Route, reply } from '#src/platform/http/endpoint.ts'
import { createRequestLimits } from '#src/platform/http/limits.ts'
import type { Principal } from '#src/platform/http/principal.ts'
import { createGuesses } from '#src/platform/limits/guesses.ts'
import { createLimiter } from '#src/platform/limits/limiter.ts'
import { createLiveProcesses } from '#src/platform/limits/live-processes.ts'
import { createLog } from '#src/platform/log.ts'
import { startRateLimits } from '#src/rate-limits.ts'
import { createTestDatabase } from '../../support/database.ts'
import { call, cookiesOf, makeKeyRow, startApp, type TestAnswer, type TestApp } from '../../support/http.ts'
import { until } from '../../support/until.ts'

const log = createLog({ process: 'test', level: 'silent' })
const view = z.object({ ok: z.boolean() })
const common = {
  sdk: { none: 'a route of a test' },
  effect: 'write',
  kind: 'call',
  summary: 'Test',
  operationId: 'test',
  view,
} as const
const routes: Route[] = [
  endpoint(
    { ...common, method: 'GET', path: '/v1/read', scope: 'verify', permission: 'claims.read', status: [200] },
    async () => ({ ok: true }),
  ),
  endpoint(
    { ...common, method: 'POST', path: '/v1/work', scope: 'verify', status: [202], body: z.strictObject({}) },
    async () => reply(202, { ok: true }),
  ),
  endpoint(
    {
      ...common,
      method: 'GET',
      path: '/v1/stream',
      scope: 'verify',
      status: [200],
      streams: { contentType: 'text/plain' },
    },
    async () => ({ status: 200, stream: Readable.from(['ok']), headers: {} }),
  ),
  endpoint(
    { ...common, method: 'POST', path: '/v1/stop', scope: 'admin', status: [200], isEmergency: true },
    async () => ({ ok: true }),
  ),
  publicEndpoint({ ...common, method: 'GET', path: '/v1/public', public: 'a test', status: [200] }, async () => ({
    ok: true,
  })),
]

const SESSION = { id: 'uss_1', secret: 'a'.repeat(43) }
const account = 'acc_01m7x7enn9exb9d4gh0kbvf97d'
const KEYS = new Map([
  ['sandbox', makeKeyRow({ scopes: ['all'], accountId: account })],
  ['sandbox-2', makeKeyRow({ scopes: ['all'], accountId: account })],
  ['narrow', makeKeyRow({ scopes: ['verify'] })],
  ['live-1', makeKeyRow({ scopes: ['verify'], environment: 'live', accountId: account, plan: 'developer' })],
  ['live-2', makeKeyRow({ scopes: ['verify'], environment: 'live', accountId: account, plan: 'developer' })],
  ['publishable-1', makeKeyRow({ scopes: ['all'], isAccountBearing: false })],
  ['publishable-2', makeKeyRow({ scopes: ['all'], isAccountBearing: false })],
])
const sharing = 'acc_01m7x7enn9exb9d4gh0kbvf97e'
for (let key = 0; key < 12; key += 1) KEYS.set(`shared-${key}`, makeKeyRow({ scopes: ['verify'], accountId: sharing }))
KEYS.set('shared-live', makeKeyRow({ scopes: ['verify'], environment: 'live', accountId: sharing, plan: 'developer' }))
const found = {
  findKey: async (raw: string) => KEYS.get(raw),
  findSession: async (secret: string) =>
    secret === SESSION.secret
      ? {
          sessionId: SESSION.id,
          userId: 'usr_1',
          accountId: account,
          role: 'owner' as const,
          plan: 'developer' as const,
          products: [],
          isSandboxOnly: false,
          hasEnded: false,
          suspendedAt: undefined,
        }
      : undefined,
}

/** An application whose clock stands still: no bucket is refilled. */
function startStill(isDevelopment = false) {
  const registry = new Registry()
  const limits = createRequestLimits({
    limiter: createLimiter({ now: () => 1_000 }),
    guesses: createGuesses({ perSecond: 20, prefix: 'test' }),
    limitOf: createLimitOf({ isDevelopment, factor: 1 }),
    registry,
  })
  return startApp(routes, { ...found, limits, trustedProxies: ['127.0.0.1'] }).then((app) => ({ app, registry }))
}

const from = (address: string) => ({ headers: { 'X-Forwarded-For': address } })
const limited = (name: string) => ({ status: 429, json: { code: 'rate_limited', limit: name } })

/** Sends until a request is refused; answers the refusal, and how many were not. */
async function untilRefused(send: () => Promise<TestAnswer>, most = 300): Promise<TestAnswer & { granted: number }> {
  for (let granted = 0; granted <= most; granted += 1) {
    const answer = await send()
    if (answer.status === 429) return { ...answer, granted }
  }
  throw new Error(`${most} requests were not refused`)
}

describe('rate limits', () => {
  let app: TestApp
  let registry: Registry

  beforeAll(async () => {
    const started = await startStill()
    app = started.app
    registry = started.registry
  })
  afterAll(() => app.close())

  it('of a sandbox key: its burst, then 429 with Retry-After and the name of the limit; other keys go on', async () => {
    const refused = await untilRefused(() => call(app, '/v1/read', { key: 'sandbox' }))
    expect(refused).toMatchObject(limited('key'))
    expect(refused.granted).toBe(SANDBOX_LIMITS.rate.burst)
    expect(refused.headers).toMatchObject({
      'retry-after': '1',
      'ratelimit-policy': '"default";q=10;w=1',
      ratelimit: '"default";r=0;t=1',
      'content-type': 'application/problem+json',
    })
    expect((await call(app, '/v1/read', { key: 'sandbox-2' })).status).toBe(200)
    expect(await registry.metrics()).toContain('countersign_rate_limited_total{plan="enterprise",bucket="key"} 1')
  })

  it('of the sandbox: the keys of an account share ten times the rate of one, and a flooding key takes only its own', async () => {
    const { burst } = SANDBOX_LIMITS.accountRate
    const started = await startStill()
    const read = (key: string) => call(started.app, '/v1/read', { key })
    await untilRefused(() => read('shared-0'))
    for (let more = 0; more < burst; more += 1) expect(await read('shared-0')).toMatchObject(limited('key'))
    const answers: TestAnswer[] = []
    for (let granted = SANDBOX_LIMITS.rate.burst; granted < burst; granted += 1) {
      answers.push(await read(`shared-${1 + (granted % 10)}`))
    }
    expect(answers.filter(({ status }) => status !== 200)).toEqual([])
    // The one of which less is left.
    expect(answers[0]?.headers.ratelimit).toBe('"default";r=10;t=1')
    expect(answers.at(-2)?.headers).toMatchObject({
      'ratelimit-policy': '"default";q=100;w=1',
      ratelimit: '"default";r=1;t=1',
    })
    const refused = await read('shared-11')
    expect(refused).toMatchObject(limited('account'))
    expect(refused.headers).toMatchObject({ 'retry-after': '1', 'ratelimit-policy': '"default";q=100;w=1' })
    expect((await read('narrow')).status).toBe(200)
    expect((await read('shared-live')).status).toBe(200)
    await started.app.close()
  })

  it('of emergencies: a key that has used up its rate can still stop things, up to a burst of its own', async () => {
    expect((await call(app, '/v1/read', { key: 'sandbox' })).status).toBe(429)
    const refused = await untilRefused(() => call(app, '/v1/stop', { method: 'POST', key: 'sandbox' }))
    expect(refused).toMatchObject(limited('emergency'))
    expect(refused.granted).toBe(50)
    expect(refused.headers['ratelimit-policy']).toBe('"emergency";q=10;w=1')
    // A stolen key uses up only its own.
    expect((await call(app, '/v1/stop', { method: 'POST', key: 'sandbox-2' })).status).toBe(200)
  })

  it('of emergencies: a thousand keys of an account together have a burst of their own, and a user has another', async () => {
    const limitOf = createLimitOf({ isDevelopment: false, factor: 1 })
    const limits = createRequestLimits({
      limiter: createLimiter({ now: () => 0 }),
      guesses: createGuesses({ perSecond: 1, prefix: 'test' }),
      limitOf,
      registry: new Registry(),
    })
    const { keyId: _, scopes, ...row } = makeKeyRow({ accountId: account })
    const stop = async (principal: Principal, isAccountBearing = true) => {
      const { refusal } = await limits.admit({ ...row, isAccountBearing, principal }, { isEmergency: true })
      return refusal?.members.limit
    }
    let granted = 0
    for (let key = 0; key < 1_000; key += 1) {
      if ((await stop({ kind: 'key', keyId: `key_${key}`, scopes })) === undefined) granted += 1
    }
    expect(granted).toBe(EMERGENCY_ACCOUNT_RATE.burst)
    expect(await stop({ kind: 'key', keyId: 'key_new', scopes })).toBe('emergency')
    const user = { kind: 'session', sessionId: 'uss_1', userId: 'usr_1', role: 'owner', isSandboxOnly: false } as const
    expect(await stop(user)).toBeUndefined()
    expect(await stop({ kind: 'key', keyId: 'key_public', scopes }, false)).toBeUndefined()
  })

  it('of a live account: its keys share the rate of its plan, and its users have their own', async () => {
    let turn = 0
    const refused = await untilRefused(() => call(app, '/v1/read', { key: `live-${(turn++ % 2) + 1}` }))
    expect(refused).toMatchObject(limited('account'))
    expect(refused.granted).toBe(PLAN_LIMITS.developer.rate.burst)
    const headers = { ...cookiesOf(SESSION), 'Service-Environment': 'live' }
    const user = await untilRefused(() => call(app, '/v1/read', { headers }))
    expect(user).toMatchObject(limited('user'))
    expect(user.granted).toBe(100)
  })

  it('of the publishable keys: by address, whichever of them it sends; 100 a second in development', async () => {
    let turn = 0
    const send = () => call(app, '/v1/read', { key: `publishable-${(turn++ % 2) + 1}`, ...from('198.51.100.1') })
    const refused = await untilRefused(send)
    expect(refused).toMatchObject(limited('address'))
    expect(refused.headers['ratelimit-policy']).toBe('"default";q=5;w=1')
    expect(refused.granted).toBe(SANDBOX_LIMITS.publishableRate.burst)
    const neighbour = await call(app, '/v1/read', { key: 'publishable-1', ...from('198.51.100.2') })
    expect(neighbour.status).toBe(200)

    const development = await startStill(true)
    const answer = await call(development.app, '/v1/read', { key: 'publishable-1' })
    expect(answer.headers['ratelimit-policy']).toBe('"default";q=100;w=1')
    await development.app.close()
  })

  it('are told on every answer to a known caller: 200, 202, 304, 400, a stream; on no other', async () => {
    const started = await startStill()
    const key = 'sandbox'
    const first = await call(started.app, '/v1/read', { key })
    const headers = { 'If-None-Match': String(first.headers.etag) }
    const answers = [
      first,
      await call(started.app, '/v1/work', { key, json: {} }),
      await call(started.app, '/v1/read', { key, headers }),
      await call(started.app, '/v1/work', { key, json: { unknown: 1 } }),
      await call(started.app, '/v1/stream', { key }),
    ]
    expect(answers.map(({ status }) => status)).toEqual([200, 202, 304, 400, 200])
    for (const { headers } of answers) {
      expect(headers['ratelimit-policy']).toBe('"default";q=10;w=1')
      expect(headers.ratelimit).toMatch(/^"default";r=10;t=1$/)
    }
    const unknown = [
      await call(started.app, '/v1/public'),
      await call(started.app, '/v1/read'),
      await call(started.app, '/v1/stop', { method: 'POST', key: 'narrow' }),
      await call(started.app, '/v1/none', { key }),
    ]
    expect(unknown.map(({ status }) => status)).toEqual([200, 401, 403, 404])
    for (const { headers } of unknown) expect(headers.ratelimit).toBeUndefined()
    await started.app.close()
  })

  it('come after 404, 401 and 403, and before the body is read', async () => {
    await untilRefused(() => call(app, '/v1/read', { key: 'narrow' }))
    const malformed = { method: 'POST', key: 'narrow', body: '{', headers: { 'Content-Type': 'application/json' } }
    expect((await call(app, '/v1/none', { key: 'narrow' })).json.code).toBe('not_found')
    expect((await call(app, '/v1/work', { ...malformed, key: 'nobody' })).json.code).toBe('invalid_api_key')
    expect((await call(app, '/v1/stop', { method: 'POST', key: 'narrow' })).json.code).toBe('insufficient_scope')
    expect(await call(app, '/v1/work', malformed)).toMatchObject(limited('key'))
  })

  it.each([
    { what: 'keys', send: (guess: number) => ({ key: `guess-${guess}` }) },
    {
      what: 'sessions',
      send: (guess: number) => ({
        headers: cookiesOf({ id: 'uss_2', secret: `guess${String(guess).padStart(38, '0')}` }),
      }),
    },
  ])('meet 1,000 guessed $what of one address, and leave the valid ones behind it alone', async ({ what, send }) => {
    const started = await startStill()
    const at = `203.0.113.${what.length}`
    const guess = async (number: number) => {
      const sent = send(number)
      const headers = { ...('headers' in sent ? sent.headers : {}), ...from(at).headers }
      return call(started.app, '/v1/read', { ...sent, headers })
    }
    const answers: TestAnswer[] = []
    for (let number = 0; number < 1_000; number += 50) {
      answers.push(...(await Promise.all(Array.from({ length: 50 }, (_, index) => guess(number + index)))))
    }
    const refused = answers.filter(({ status }) => status === 429)
    // Twenty for each second that the test takes are answered as what they are.
    expect(refused.length).toBeGreaterThan(0)
    for (const answer of refused) expect(answer).toMatchObject(limited('guesses'))
    expect(refused[0]?.headers['retry-after']).toBe('1')
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([401, 429]))

    await Promise.all(Array.from({ length: 30 }, (_, index) => guess(index)))
    expect((await call(started.app, '/v1/read', { key: 'sandbox', ...from(at) })).status).toBe(200)
    const headers = { ...cookiesOf(SESSION), ...from(at).headers }
    expect((await call(started.app, '/v1/read', { headers })).status).toBe(200)
    const elsewhere = await call(started.app, '/v1/read', { key: 'nobody', ...from('203.0.113.200') })
    expect(elsewhere.json.code).toBe('invalid_api_key')
    expect(await started.registry.metrics()).toMatch(/rate_limited_total\{plan="none",bucket="guesses"\} \d+/)
    await started.app.close()
  })

  it('count an IPv6 network of one subscriber as one address', () => {
    expect(addressBlock('2001:db8:1:2:3:4:5:6')).toBe('2001:db8:1:2::/64')
    expect(addressBlock('2001:db8:1:2::1')).toBe('2001:db8:1:2::/64')
    expect(addressBlock('2001:db8:1:3::1')).not.toBe(addressBlock('2001:db8:1:2::1'))
    expect(addressBlock('192.0.2.7')).toBe('192.0.2.7')
  })
})

describe('the rate limits of several web processes', () => {
  const redisUrl = inject('redisUrl')
  const settings = { RATE_LIMITS: 'on', RATE_LIMIT_FACTOR: 1, MODE: 'production', REDIS_URL: undefined } as const

  it('divide the rates among the live processes without Redis', async () => {
    const test = await createTestDatabase()
    const first = createLiveProcesses({ db: test.db, kind: 'web' })
    const second = createLiveProcesses({ db: test.db, kind: 'web' })
    await first.start()
    expect(first.count()).toBe(1)
    await test.owner(`INSERT INTO workers (id, queue, concurrency) VALUES (gen_random_uuid(), 'attest', 4)`)
    await second.start()
    expect(second.count()).toBe(2)
    await first.stop()
    await second.start()
    expect(second.count()).toBe(1)
    await second.stop()
    expect(await test.owner(`SELECT FROM workers WHERE queue = 'web'`)).toEqual([])
    await test.close()
  })

  it('are off, or multiplied, as configured', async () => {
    const test = await createTestDatabase()
    const closing: (() => unknown)[] = []
    const parts = (app: Pick<TestApp, 'metrics'> | undefined) => ({
      db: test.db,
      log,
      registry: app?.metrics.registry ?? new Registry(),
      onClose: (close: () => unknown) => void closing.push(close),
    })
    const place = { ...settings, QUEUE_PREFIX: 'test' }
    expect(await startRateLimits({ ...place, RATE_LIMITS: 'off' }, parts(undefined))).toBeUndefined()
    const limits = await startRateLimits({ ...place, RATE_LIMIT_FACTOR: 3 }, parts(undefined))
    const app = await startApp(routes, { ...found, limits })
    expect((await call(app, '/v1/read', { key: 'sandbox' })).headers['ratelimit-policy']).toBe('"default";q=30;w=1')
    await app.close()
    await Promise.all(closing.map((close) => close()))
    await test.close()
  })

  it.skipIf(redisUrl === null)('are counted together in Redis: never more than burst + rate x time', async () => {
    const test = await createTestDatabase()
    const closing: (() => unknown)[] = []
    const place = { ...settings, REDIS_URL: redisUrl ?? '', QUEUE_PREFIX: `t${randomBytes(4).toString('hex')}` }
    const start = async () => {
      const registry = new Registry()
      const limits = await startRateLimits(place, {
        db: test.db,
        log,
        registry,
        onClose: (close) => void closing.push(close),
      })
      return startApp(routes, { ...found, limits })
    }
    const apps = [await start(), await start()]
    const { perSecond, burst } = PLAN_LIMITS.developer.rate
    const grantedAt: number[] = []
    const startedAt = performance.now()
    const send = async (app: TestApp, key: string) => {
      while (grantedAt.length < burst + perSecond) {
        const { status } = await call(app, '/v1/read', { key })
        if (status === 200) grantedAt.push(performance.now())
        else expect(status).toBe(429)
      }
    }
    await Promise.all(apps.flatMap((app) => ['live-1', 'live-2'].map((key) => send(app, key))))
    for (const [index, at] of grantedAt.entries()) {
      expect(index + 1).toBeLessThanOrEqual(burst + (perSecond * (at - startedAt)) / 1_000)
    }
    // The guesses too: twice as many processes allow no more of them.
    await until(async () => {
      const guesses = apps.flatMap((app) => Array.from({ length: 15 }, () => call(app, '/v1/read', { key: 'nobody' })))
      return (await Promise.all(guesses)).some(({ status }) => status === 429)
    })
    await Promise.all(apps.map((app) => app.close()))
    await Promise.all(closing.map((close) => close()))
    await test.close()
  })
})
