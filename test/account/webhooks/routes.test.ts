import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { MAX_ENDPOINTS } from '#src/account/webhooks/endpoints.ts'
import { purgeDeletedEndpoints } from '#src/account/webhooks/rows.ts'
import { verifyWebhookSignature } from '#src/account/webhooks/signature.ts'
import { EVENT_TYPES } from '#src/catalogue/events.ts'
import type { KeyRow } from '#src/platform/http/caller.ts'
import { newId, type Scope } from '#src/platform/ids.ts'
import { call, type TestAnswer, type TestApp } from '../../support/http.ts'
import { createFixture, escalated, type Fixture } from './fixture.ts'

const PATH = '/v1/webhook-endpoints'

let fixture: Fixture
let app: TestApp

beforeAll(async () => {
  fixture = await createFixture()
  app = fixture.app
})
afterAll(() => fixture.close())

/** An account of its own with a key that may administer it. */
async function makeCaller(row: Partial<KeyRow> = {}, of?: Scope) {
  const scope = of ?? (await fixture.makeAccount(row.environment === undefined ? {} : { environment: row.environment }))
  const key = fixture.addKey({ ...scope, ...row })
  return {
    scope,
    get: (path = '') => call(app, PATH + path, { key }),
    post: (path: string, json?: unknown) =>
      call(app, PATH + path, { key, method: 'POST', ...(json === undefined ? {} : { json }) }),
    remove: (path: string) => call(app, PATH + path, { key, method: 'DELETE' }),
    create: (body: Record<string, unknown> = {}) =>
      call(app, PATH, { key, json: { url: 'http://127.0.0.1:4000/', event_types: ['*'], ...body } }),
  }
}

const findings = ({ status, json }: TestAnswer) => [
  status,
  json.code,
  json.errors?.map(({ pointer, code }) => [pointer, code]),
]
const listed = ({ json }: TestAnswer) => json.data as Record<string, unknown>[]

describe('creating an endpoint', () => {
  it('answers it with its secret, which no other answer shows', async () => {
    const { create, get } = await makeCaller()
    const created = await create({ url: 'https://example.com/hooks?a=1', event_types: ['claim.escalated', 'ping'] })
    expect(created.status).toBe(200)
    expect(created.json).toEqual({
      webhook_endpoint_id: expect.stringMatching(/^whe_test_[0-9a-z]{26}$/),
      url: 'https://example.com/hooks?a=1',
      event_types: ['claim.escalated', 'ping'],
      description: '',
      metadata: {},
      max_per_second: null,
      max_concurrency: 8,
      status: 'enabled',
      disabled_reason: null,
      disabled_at: null,
      circuit: { status: 'closed', opened_at: null, probe_at: null },
      last_success_at: null,
      created_at: expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/),
      secret_rotated_at: null,
      previous_secret_expires_at: null,
      signing_secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{44}$/),
    })
    const { signing_secret: secret, ...rest } = created.json
    const read = await get(`/${rest.webhook_endpoint_id}`)
    expect(read.json).toEqual(rest)
    const stored = await fixture.owner<{ sealed_secret: Buffer }>(
      'SELECT sealed_secret FROM webhook_endpoints WHERE id = $1',
      [rest.webhook_endpoint_id],
    )
    expect(stored[0]?.sealed_secret.includes(String(secret))).toBe(false)
    expect(JSON.stringify(await get())).not.toContain(secret)
    expect(JSON.stringify(app.logged)).not.toContain(secret)
  })

  it.each([
    ['ftp://example.com/', 'scheme_not_allowed'],
    ['not a url', 'not_a_url'],
    ['https://user:pw@example.com/', 'userinfo_not_allowed'],
    ['https://example.com/#x', 'fragment_not_allowed'],
    ['https://example.com:22/', 'port_not_allowed'],
    ['https://169.254.169.254/', 'address_not_public'],
    ['https://0x7f000002/', 'address_not_public'],
    ['https://localhost/', 'address_not_public'],
    [`https://example.com/${'a'.repeat(2_048)}`, 'too_long'],
  ])('refuses the url %s', async (url, code) => {
    const { create } = await makeCaller()
    expect(findings(await create({ url }))).toEqual([400, 'invalid_request', [['/url', code]]])
  })

  it('refuses plain http in live', async () => {
    const { create } = await makeCaller({ environment: 'live' })
    expect(findings(await create({ url: 'http://example.com/' }))).toEqual([
      400,
      'invalid_request',
      [['/url', 'scheme_not_allowed']],
    ])
    expect((await create({ url: 'https://example.com/' })).json.webhook_endpoint_id).toMatch(/^whe_live_/)
  })

  it.each([
    [['nonsense'], '/event_types/0', 'unknown_event_type'],
    [['ping', 'claim.*'], '/event_types/1', 'unknown_event_type'],
    [['constructor'], '/event_types/0', 'unknown_event_type'],
    [['*', 'ping'], '/event_types/0', 'not_alone'],
    [['ping', '*'], '/event_types/1', 'not_alone'],
    [['*', '*'], '/event_types/0', 'not_alone'],
    [['ping', 'ping'], '/event_types/1', 'duplicate'],
  ])('refuses the event types %j', async (event_types, pointer, code) => {
    const { create } = await makeCaller()
    expect(findings(await create({ event_types }))).toEqual([400, 'invalid_request', [[pointer, code]]])
  })

  it('lists the event types in the refusal of an unknown one', async () => {
    const { create } = await makeCaller()
    const { json } = await create({ event_types: ['claim.failed'] })
    for (const type of [...Object.keys(EVENT_TYPES), '"*"']) expect(json.detail).toContain(type)
  })

  it('names every field of the wrong type', async () => {
    const { create, post } = await makeCaller()
    for (const [json, pointer] of [
      [{ url: 5 }, '/url'],
      [{ event_types: [] }, '/event_types'],
      [{ event_types: '*' }, '/event_types'],
      [{ event_types: [null] }, '/event_types/0'],
      [{ status: 'enabled' }, '/status'],
      [{ max_per_second: 0 }, '/max_per_second'],
      [{ max_per_second: 1.5 }, '/max_per_second'],
      [{ max_concurrency: 33 }, '/max_concurrency'],
      [{ max_concurrency: null }, '/max_concurrency'],
      [{ description: 'x'.repeat(501) }, '/description'],
      [{ metadata: { team: 5 } }, '/metadata/team'],
      [{ metadata: { team: 'x'.repeat(501) } }, '/metadata/team'],
      [{ metadata: { ['x'.repeat(41)]: '' } }, `/metadata/${'x'.repeat(41)}`],
      [{ metadata: Object.fromEntries(Array.from({ length: 51 }, (_, n) => [`k${n}`, ''])) }, '/metadata'],
    ] as const) {
      const answer = await create(json)
      expect([answer.status, answer.json.errors?.[0]?.pointer], JSON.stringify(json)).toEqual([400, pointer])
    }
    expect((await post('', [])).status).toBe(400)
  })

  it(`refuses more than ${MAX_ENDPOINTS} endpoints, deleted ones not counted`, async () => {
    const { scope, create, remove } = await makeCaller()
    const { json } = await create()
    await fixture.owner(
      `INSERT INTO webhook_endpoints (account_id, environment, id, url, event_types, sealed_secret)
       SELECT $1, $2, 'whe_test_' || n, 'https://example.com/', '{*}', '' FROM generate_series(2, $3) AS n`,
      [scope.accountId, scope.environment, MAX_ENDPOINTS],
    )
    expect(findings(await create()).slice(0, 2)).toEqual([409, 'limit_reached'])
    await remove(`/${json.webhook_endpoint_id}`)
    expect((await create()).status).toBe(200)
  })
})

describe('access control of the webhook routes', () => {
  it.each([
    ['GET', ''],
    ['POST', ''],
    ['GET', '/ID'],
    ['PATCH', '/ID'],
    ['POST', '/ID/rotate-secret'],
    ['DELETE', '/ID'],
    ['POST', '/ID/test'],
    ['GET', '/ID/deliveries'],
  ])('%s %s accepts admin keys of one account only, and for its own endpoints only', async (method, path) => {
    const owner = await makeCaller()
    const { json: mine } = await owner.create()
    const id = String(mine.webhook_endpoint_id)
    const send = async (row: Partial<KeyRow>, target: string) => {
      const key = fixture.addKey({ ...owner.scope, ...row })
      const sent = path === '' ? { url: 'https://example.com/', event_types: ['*'] } : { description: 'x' }
      const json = (method === 'POST' && path === '') || method === 'PATCH' ? sent : undefined
      const { status, json: body } = await call(app, PATH + path.replace('ID', target), {
        key,
        method,
        ...(json && { json }),
      })
      return [status, body.code]
    }
    expect(await send({ scopes: ['verify', 'attest', 'escalate', 'intent', 'screen'] }, id)).toEqual([
      403,
      'insufficient_scope',
    ])
    expect(await send({ scopes: ['all'], isAccountBearing: false }, id)).toEqual([403, 'account_key_required'])
    if (path === '') return
    const other = await fixture.makeAccount()
    expect(await send({ accountId: other.accountId }, id)).toEqual([404, 'not_found'])
    expect(await send({}, newId('whe', 'live'))).toEqual([403, 'environment_mismatch'])
    expect(await send({}, newId('whe', 'sandbox'))).toEqual([404, 'not_found'])
    expect(await send({}, newId('clm', 'sandbox'))).toEqual([404, 'not_found'])
    expect(await send({}, 'x')).toEqual([404, 'not_found'])
    expect((await owner.get(`/${id}`)).status).toBe(200)
  })
})

describe('listing endpoints', () => {
  it('returns all of them page by page, newest first, and none of another account', async () => {
    const { create, get } = await makeCaller()
    await (await makeCaller()).create()
    const ids: unknown[] = []
    for (let i = 0; i < 5; i += 1) ids.unshift((await create()).json.webhook_endpoint_id)
    ids.sort().reverse()

    const seen: unknown[] = []
    let cursor = ''
    for (const expected of [2, 2, 1]) {
      const page = await get(`?limit=2${cursor}&include=total_count`)
      expect(page.json).toMatchObject({ object: 'list', has_more: expected === 2 && seen.length < 3, total_count: 5 })
      seen.push(...listed(page).map((row) => row.webhook_endpoint_id))
      cursor = `&cursor=${page.json.next_cursor}`
    }
    expect(seen).toEqual(ids)
    expect(findings(await get('?cursor=abc'))).toEqual([400, 'invalid_request', [['?cursor', 'invalid_cursor']]])
    expect((await get('?status=lost')).status).toBe(400)
    expect(listed(await get('?created_gte=2100-01-01T00:00:00Z'))).toEqual([])
    // ISO 8601 permits years and offsets that Postgres does not parse.
    expect(listed(await get('?created_gte=0000-01-01T00:00:00Z'))).toHaveLength(5)
    expect(listed(await get('?created_lt=9999-12-31T23:59:59-23:59'))).toHaveLength(5)
  })
})

describe('listing endpoints by status and with statistics', () => {
  it('answers those of a status, and the numbers of each where a window is asked for', async () => {
    const { create, get, scope } = await makeCaller()
    const [enabled, disabled] = [
      String((await create()).json.webhook_endpoint_id),
      String((await create()).json.webhook_endpoint_id),
    ]
    await fixture.owner(`UPDATE webhook_endpoints SET status = 'disabled', disabled_reason = 'gone' WHERE id = $1`, [
      disabled,
    ])
    await fixture.emit([escalated('clm_test_a')], scope)
    const idsOf = async (query: string) => listed(await get(query)).map((row) => row.webhook_endpoint_id)
    expect(await idsOf('?status=enabled')).toEqual([enabled])
    expect(await idsOf('?status=disabled')).toEqual([disabled])
    expect(await idsOf('?status=disabled&status=enabled')).toEqual([disabled, enabled])
    expect(listed(await get()).every((row) => row.statistics === undefined)).toBe(true)
    const [second, first] = listed(await get('?window=7d'))
    const { to: _to, ...numbers } = (await get(`/${enabled}/stats?window=7d`)).json
    expect(first?.statistics).toMatchObject(numbers)
    expect(first?.statistics).toMatchObject({ window: '7d', pending: { count: 1 } })
    expect(second?.statistics).toMatchObject({ webhook_endpoint_id: disabled, pending: { count: 0 } })
  })
})

describe('deleting an endpoint', () => {
  it('hides it, cancels its waiting deliveries, and can not be undone', async () => {
    const { scope, create, get, remove, post } = await makeCaller()
    const id = String((await create()).json.webhook_endpoint_id)
    const [emitted] = await fixture.emit([escalated('clm_test_a')], scope)
    const deliveryId = emitted?.deliveryIds[0] ?? ''
    expect((await remove(`/${id}`)).json).toEqual({ webhook_endpoint_id: id, deleted: true })
    expect(await fixture.deliveryOf(deliveryId)).toMatchObject({ status: 'cancelled', next_attempt_at: null })
    expect(await fixture.jobState(deliveryId)).toBe('cancelled')
    expect(listed(await get())).toEqual([])
    for (const answer of [await get(`/${id}`), await remove(`/${id}`), await post(`/${id}/test`)]) {
      expect(answer.status).toBe(404)
    }
    expect(listed(await get(`/${id}/deliveries`))).toMatchObject([{ delivery_id: deliveryId, status: 'cancelled' }])
  })

  it('is final 30 days later, when its log is gone', async () => {
    const { scope, create, remove } = await makeCaller()
    const id = String((await create()).json.webhook_endpoint_id)
    const [emitted] = await fixture.emit([escalated('clm_test_a')], scope)
    await create()
    await remove(`/${id}`)
    const purge = (before: number) =>
      fixture.db.tenant(scope, (tx) => purgeDeletedEndpoints(tx, scope, { before: new Date(before), limit: 10 }))
    expect(await purge(Date.now() + 60_000)).toBe(0)
    await fixture.owner('DELETE FROM deliveries WHERE id = $1', [emitted?.deliveryIds[0]])
    expect(await purge(Date.now() - 60_000)).toBe(0)
    expect(await purge(Date.now() + 60_000)).toBe(1)
    expect(await fixture.owner('SELECT id FROM webhook_endpoints WHERE id = $1', [id])).toEqual([])
  })
})

describe('testing an endpoint and reading its log', () => {
  it('sends a signed ping whose attempts appear in the log', async () => {
    const { scope, create, get, post } = await makeCaller()
    let code = 500
    const { received, url } = await fixture.receiver((response) => response.writeHead(code).end())
    const { json: made } = await create({ url, event_types: ['claim.escalated'] })
    const tested = await post(`/${made.webhook_endpoint_id}/test`)
    expect(tested.status).toBe(202)
    expect(tested.json).toEqual({
      webhook_endpoint_id: made.webhook_endpoint_id,
      event_id: expect.stringMatching(/^evt_test_/),
      delivery_id: expect.stringMatching(/^whd_test_/),
    })
    const deliveryId = String(tested.json.delivery_id)
    await fixture.runOnce(deliveryId)
    code = 200
    await fixture.runOnce(deliveryId)
    const [first] = received
    expect(first?.json).toMatchObject({
      type: 'ping',
      account_id: scope.accountId,
      data: { webhook_endpoint_id: made.webhook_endpoint_id },
    })
    for (const { body, headers } of received) {
      expect(
        verifyWebhookSignature({ rawBody: body, headers }, [String(made.signing_secret)], Date.now() / 1_000),
      ).toEqual({
        valid: true,
      })
    }

    const [delivery] = listed(await get(`/${made.webhook_endpoint_id}/deliveries`))
    expect(delivery).toEqual({
      delivery_id: deliveryId,
      webhook_endpoint_id: made.webhook_endpoint_id,
      failed_at: null,
      event_id: tested.json.event_id,
      event_type: 'ping',
      status: 'delivered',
      created_at: expect.any(String),
      next_attempt_at: null,
      delivered_at: expect.any(String),
      attempts: [500, 200].map((response_status, index) => ({
        attempt: index + 1,
        started_at: expect.any(String),
        finished_at: expect.any(String),
        response_status,
        error: null,
        error_detail: null,
        duration_ms: expect.any(Number),
        // The second attempt used the connection of the first.
        timing: {
          dns_ms: null,
          connect_ms: index === 0 ? expect.any(Number) : null,
          tls_ms: null,
          first_byte_ms: expect.any(Number),
        },
      })),
    })
  })

  it('filters and pages the log', async () => {
    const { scope, create, get, post } = await makeCaller()
    const { url } = await fixture.receiver()
    const id = String((await create({ url })).json.webhook_endpoint_id)
    const ping = String((await post(`/${id}/test`)).json.delivery_id)
    await fixture.emit([escalated('clm_test_a'), escalated('clm_test_b')], scope)
    await fixture.runOnce(ping)
    const idsOf = async (query: string) => listed(await get(`/${id}/deliveries${query}`)).map((row) => row.delivery_id)
    expect(await idsOf('')).toHaveLength(3)
    expect(await idsOf('?status=delivered')).toEqual([ping])
    expect(await idsOf('?created_lt=0001-01-01T00:00:00%2B23:59')).toEqual([])
    expect(await idsOf('?event_type=ping')).toEqual([ping])
    expect(await idsOf('?event_type=claim.escalated&status=pending')).toHaveLength(2)
    expect(await idsOf('?event_type=trace.job_completed')).toEqual([])
    const page = await get(`/${id}/deliveries?limit=2&include=total_count`)
    expect(page.json).toMatchObject({ has_more: true, total_count: 3 })
    expect(await idsOf(`?limit=2&cursor=${page.json.next_cursor}`)).toHaveLength(1)
    expect((await get(`/${id}/deliveries?status=lost`)).status).toBe(400)
    expect(findings(await get(`/${id}/deliveries?event_type=x`))).toEqual([
      400,
      'invalid_request',
      [['?event_type', 'unknown_event_type']],
    ])
  })
})
