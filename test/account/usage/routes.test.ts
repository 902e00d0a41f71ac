import { afterAll, beforeAll, expect, test } from 'vitest'
import { countBatch, giveBackLines } from '#src/account/usage/meter.ts'
import { ROLES } from '#src/catalogue/access.ts'
import { METERED_NAMES, type MeteredOperation } from '#src/catalogue/metered.ts'
import { newId, type Scope } from '#src/platform/ids.ts'
import { makeAccount } from '../../support/database.ts'
import { type Sent, startTestService, type TestService } from '../../support/service.ts'

let service: TestService
beforeAll(async () => {
  service = await startTestService({ scopes: ['admin'] })
})
afterAll(() => service.close())

const makeLive = (plan = 'growth') => makeAccount(service.test, { environment: 'live', plan })
const fold = () => service.services.account.usage.fold.run(new AbortController().signal)

async function use(live: Scope, units: number, operation: MeteredOperation = 'attest'): Promise<string> {
  const batchId = newId('bat', 'live')
  await service.test.db.tenant(live, (tx) => countBatch(tx, live, operation, { batchId, lines: units }))
  return batchId
}

const useAt = (live: Scope, at: string, units: number) =>
  service.test.owner(
    `INSERT INTO usage_entries (account_id, environment, operation, subject_id, units, at) VALUES ($1, 'live', 'screen', $2, $3, $4)`,
    [live.accountId, newId('scr', 'live'), units, at],
  )

/** A request of a new user with the role. */
async function as(live: Scope, role: (typeof ROLES)[number], path: string, sent: Sent = {}) {
  const { headers } = await service.signIn(live.accountId, { role })
  return service.call({}, path, { ...sent, headers: { ...headers, ...sent.headers } })
}

const get = (live: Scope, path: string) => as(live, 'owner', path)
const put = (live: Scope, json: object, headers: Record<string, string> = {}) =>
  as(live, 'owner', '/v1/account/plan', { method: 'PUT', json, headers })
const planOf = async ({ accountId }: Scope) =>
  (await service.test.owner<{ plan: string }>('SELECT plan FROM accounts WHERE id = $1', [accountId]))[0]?.plan
const thisMonth = () => new Date().toISOString().slice(0, 7)

test('the routes are open to the roles that the table of permissions names, and to live keys, and to keys of the sandbox where every member sees them', async () => {
  const live = await makeLive('enterprise')
  const readers = { '/v1/account': ROLES, '/v1/account/plan': ROLES } as const
  const accountants = ['owner', 'admin', 'approver', 'analyst'] as const
  for (const path of ['/v1/account', '/v1/account/plan', '/v1/account/usage', '/v1/account/invoices'] as const) {
    const allowed: readonly string[] = path in readers ? ROLES : accountants
    for (const role of ROLES) {
      const { status, json } = await as(live, role, path)
      expect([path, role, status, json.code]).toEqual(
        allowed.includes(role) ? [path, role, 200, undefined] : [path, role, 403, 'insufficient_role'],
      )
    }
    for (const environment of ['sandbox', 'live'] as const) {
      const key = service.addKey({ ...live, environment })
      // A developer may make a sandbox key, and may not see the usage.
      const isSeen = environment === 'live' || path in readers
      expect((await service.call({ key }, path)).status).toBe(isSeen ? 200 : 403)
    }
  }
  for (const role of ROLES.filter((one) => one !== 'owner')) {
    const sent = { method: 'PUT', json: { plan: 'growth', confirm: true } }
    expect((await as(live, role, '/v1/account/plan', sent)).json.code).toBe('insufficient_role')
  }
  const key = service.addKey(live)
  const byKey = await service.call({ key }, '/v1/account/plan', { method: 'PUT', json: { plan: 'growth' } })
  expect(byKey.json.code).toBe('session_required')
  expect(await planOf(live)).toBe('enterprise')
})

test('the account shows its limits and the notices of this month', async () => {
  const live = await makeLive()
  await use(live, 100_000)
  expect((await get(live, '/v1/account')).json).toMatchObject({ notices: [] })
  await fold()
  const { json } = await get(live, '/v1/account')
  expect(json).toMatchObject({
    account_id: live.accountId,
    plan: 'growth',
    products: ['attest', 'authorize', 'trace'],
    environments: [
      { environment: 'sandbox', is_metered: false },
      { environment: 'live', is_metered: true },
    ],
    limits: { rate_per_second: 100, burst: 200, monthly_operations: 100_000, is_hard_cap: true, retention_days: 365 },
    notices: [
      { kind: 'usage_80', month: thisMonth(), plan: 'growth', cap: 100_000, used: 100_000 },
      { kind: 'usage_100', month: thisMonth(), plan: 'growth', cap: 100_000, used: 100_000 },
    ],
  })
})

test('usage shows each operation and day, folded or not, and only the account’s own', async () => {
  const live = await makeLive()
  await use(await makeLive(), 500)
  const batchId = await use(live, 200)
  await fold()
  await use(live, 50)
  await use(live, 8, 'screen')
  await service.test.db.tenant(live, (tx) => giveBackLines(tx, live, 'attest', [{ id: newId('att', 'live'), batchId }]))
  await useAt(live, '2026-02-01T00:00:00Z', 3)
  await useAt(live, '2026-02-28T23:59:59.9Z', 4)
  await useAt(live, '2026-03-01T00:00:00Z', 5)

  const { json } = await get(live, '/v1/account/usage')
  expect(json).toMatchObject({ month: thisMonth(), environment: 'live', used: 257, cap: 100_000, remaining: 99_743 })
  expect(json).toMatchObject({ percent: 0.3, is_hard_cap: true })
  const operations = json.operations as { operation: string; units: number; days: { units: number }[] }[]
  expect(operations.map(({ operation }) => operation)).toEqual(METERED_NAMES)
  expect(operations.map(({ units }) => units)).toEqual([249, 8, 0, 0, 0, 0, 0, 0])
  expect(operations[0]?.days.reduce((sum, { units }) => sum + units, 0)).toBe(249)

  for (const isFolded of [false, true]) {
    if (isFolded) await fold()
    const february = (await get(live, '/v1/account/usage?month=2026-02')).json
    expect(february).toMatchObject({ month: '2026-02', used: 7, cap: null, remaining: null, percent: null })
    expect(february.resets_at).toBe('2026-03-01T00:00:00.000Z')
    expect((february.operations as { days: object[] }[])[1]?.days).toEqual([
      { day: '2026-02-01', units: 3 },
      { day: '2026-02-28', units: 4 },
    ])
  }
  for (const month of ['2026-13', '2026-1', '0000-01', 'now', '2026-02-01']) {
    expect((await get(live, `/v1/account/usage?month=${month}`)).json.code).toBe('invalid_request')
  }
})

test('statements go back to the first month, page by page, and are final when their month has ended', async () => {
  const live = await makeLive()
  await service.test.owner(
    `UPDATE accounts SET created_at = date_trunc('month', now() AT TIME ZONE 'UTC') AT TIME ZONE 'UTC' - interval '14 months' WHERE id = $1`,
    [live.accountId],
  )
  const [last] = await service.test.owner<{ at: Date; month: string }>(
    `SELECT at, to_char(at AT TIME ZONE 'UTC', 'YYYY-MM') AS month FROM (
       SELECT (date_trunc('month', now() AT TIME ZONE 'UTC') - interval '1 second') AT TIME ZONE 'UTC' AS at) AS moment`,
  )
  await useAt(live, last?.at.toISOString() ?? '', 12)
  await use(live, 3)
  const months: unknown[] = []
  for (let cursor: unknown = ''; cursor !== null; ) {
    const more = cursor === '' ? '' : `&cursor=${cursor}`
    const { json } = await get(live, `/v1/account/invoices?limit=6${more}`)
    const page = json.data as Record<string, unknown>[]
    if (months.length === 0) {
      expect(page[0]).toMatchObject({ month: thisMonth(), status: 'open', total_units: 3 })
      expect(page[0]).toMatchObject({ payment_processor: 'none', payment: null })
      expect(page[1]).toMatchObject({ month: last?.month, total_units: 12, to: page[0]?.from })
    }
    months.push(...page.map(({ month }) => month))
    cursor = json.next_cursor
  }
  expect(months).toHaveLength(15)
  expect(months).toEqual([...new Set(months)].toSorted().toReversed())
  const second = (await get(live, '/v1/account/invoices?limit=3')).json.data as { status: string }[]
  expect(second[2]?.status).toBe('final')
  const other = await makeLive()
  const foreign = (await get(live, '/v1/account/invoices?limit=1')).json.next_cursor
  expect((await get(other, `/v1/account/invoices?cursor=${foreign}`)).json.code).toBe('invalid_request')
})

test('an owner lowers the plan after seeing what it brings; the team loses access, and the cap counts at once', async () => {
  const live = await makeLive('enterprise')
  await use(live, 150_000)
  await fold()
  const member = await service.signIn(live.accountId, { role: 'admin' })
  const asMember = () => service.call({}, '/v1/account', { headers: member.headers })
  expect((await asMember()).status).toBe(200)

  const asked = await put(live, { plan: 'growth' })
  expect([asked.status, asked.json.code]).toEqual([409, 'conflict'])
  expect(asked.json.errors?.map(({ code }) => code)).toEqual([
    'confirmation_required',
    'fewer_operations',
    'cap_reached',
    'lower_rate',
    'shorter_retention',
    'owner_only',
  ])
  expect(await planOf(live)).toBe('enterprise')

  const { status, json } = await put(live, { plan: 'growth', confirm: true })
  expect([status, json.plan]).toEqual([200, 'growth'])
  expect(json).toMatchObject({ usage: { used: 150_000, cap: 100_000, remaining: 0, percent: 150 } })
  expect((json.plans as object[]).map((one) => Object.values(one).at(-1))).toEqual(['owner', 'current', 'operator'])
  expect((await asMember()).json.code).toBe('plan_required')
  const notices = (await get(live, '/v1/account')).json.notices as { kind: string }[]
  expect(notices.map(({ kind }) => kind)).toEqual(['usage_80', 'usage_100'])

  const entries = await service.test.owner(
    'SELECT action, environment, actor_kind, before, after FROM audit_entries WHERE account_id = $1',
    [live.accountId],
  )
  const what = { action: 'plan.changed', environment: null, actor_kind: 'session' }
  expect(entries).toEqual([{ ...what, before: { plan: 'enterprise' }, after: { plan: 'growth' } }])
})

test('the plan is never raised here, is left as it is by the same plan, and changes once for one Idempotency-Key', async () => {
  const live = await makeLive('growth')
  for (const confirm of [true, false]) {
    const { status, json } = await put(live, { plan: 'enterprise', confirm })
    expect([status, json.errors?.[0]?.code]).toEqual([409, 'not_lower'])
  }
  expect((await put(live, { plan: 'growth' })).status).toBe(200)
  expect((await put(live, { plan: 'free' })).json.code).toBe('invalid_request')

  const owner = await service.signIn(live.accountId)
  const headers = { ...owner.headers, 'Idempotency-Key': 'lower' }
  const lower = () =>
    service.call({}, '/v1/account/plan', { method: 'PUT', json: { plan: 'developer', confirm: true }, headers })
  const answers = await Promise.all([lower(), lower(), lower()])
  for (const { status, json } of answers) if (status !== 200) expect(json.code).toBe('idempotency_in_progress')
  const again = await lower()
  expect([again.status, again.headers['idempotent-replayed'], again.json.plan]).toEqual([200, 'true', 'developer'])
  const [row] = await service.test.owner<{ count: number }>(
    `SELECT count(*)::int AS count FROM audit_entries WHERE account_id = $1 AND action = 'plan.changed'`,
    [live.accountId],
  )
  expect(row?.count).toBe(1)
})

test('an account is renamed by an owner or an admin, once, with its entry in the audit log', async () => {
  const live = await makeLive('enterprise')
  const { key } = await service.makeCaller({ ...live, environment: 'live' })
  const own = service.addKey({ ...live, scopes: ['admin'] })
  const rename = (name: string, more: Sent = {}) =>
    service.call({ key: own }, '/v1/account', { method: 'PATCH', json: { name }, ...more })
  expect((await rename('Acme Insurance')).json).toMatchObject({ account_id: live.accountId, name: 'Acme Insurance' })
  expect((await rename('Acme Insurance')).status).toBe(200)
  const entries = await service.test.owner(
    `SELECT before, after FROM audit_entries WHERE account_id = $1 AND action = 'account.renamed'`,
    [live.accountId],
  )
  expect(entries).toEqual([{ before: { name: 'Test' }, after: { name: 'Acme Insurance' } }])
  for (const name of ['', ' ', '\u200b', 'x'.repeat(201)])
    expect((await rename(name)).json.code).toBe('invalid_request')
  expect((await service.call({ key }, '/v1/account')).json.name).toBe('Test')
  for (const role of ROLES) {
    const { headers } = await service.signIn(live.accountId, { role })
    const { status } = await service.call({}, '/v1/account', { method: 'PATCH', json: { name: role }, headers })
    expect([role, status]).toEqual([role, ['owner', 'admin'].includes(role) ? 200 : 403])
  }
})

test('an approver reads the notice of usage with its numbers, and the usage itself', async () => {
  const live = await makeLive('enterprise')
  const { headers } = await service.signIn(live.accountId, { role: 'approver' })
  await service.test.owner(
    `INSERT INTO account_notices (account_id, month, kind, plan, cap, used) VALUES ($1, date_trunc('month', now())::date, 'usage_80', 'enterprise', 100, 81)`,
    [live.accountId],
  )
  expect((await service.call({}, '/v1/account', { headers })).json.notices).toMatchObject([{ cap: 100, used: 81 }])
  expect((await service.call({}, '/v1/account/usage', { headers })).status).toBe(200)
})
