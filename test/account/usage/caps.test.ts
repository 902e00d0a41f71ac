import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createCaps } from '#src/account/usage/caps.ts'
import type { Plan } from '#src/catalogue/access.ts'
import type { Scope } from '#src/platform/ids.ts'
import { makeMedia } from '../../attest/claims/phone.ts'
import { type Service, startService } from '../../attest/claims/service.ts'
import type { TestCaller } from '../../support/callers.ts'
import { until } from '../../support/until.ts'

const CAP = 1_000
const NDJSON = { 'Content-Type': 'application/x-ndjson' }

let service: Service
beforeAll(async () => {
  service = await startService()
})
afterAll(() => service.close())

interface Customer extends TestCaller {
  mediaId: string
}

/** An account on the plan that has used `used` operations this month. */
async function makeCustomer(
  used: number,
  { plan = 'developer', environment = 'live' }: { plan?: Plan; environment?: Scope['environment'] } = {},
): Promise<Customer> {
  const caller = await service.makeCaller({ environment, plan, scopes: ['attest', 'verify', 'screen'] })
  const mediaId = await makeMedia(service, caller)
  await service.test.owner(
    `INSERT INTO usage_days (account_id, environment, day, operation, units)
     VALUES ($1, 'live', (now() AT TIME ZONE 'UTC')::date, 'attest', $2)`,
    [caller.accountId, used],
  )
  return { ...caller, mediaId }
}

const capture = ({ mediaId }: Customer, more: object = {}) => ({
  media_type: 'image',
  media: { media_id: mediaId },
  ...more,
})
const submit = (customer: Customer, more: object = {}, headers: Record<string, string> = {}) =>
  service.call(customer, '/v1/claims/attest', {
    method: 'POST',
    json: capture(customer, more),
    headers: { Prefer: 'wait=0', ...headers },
  })

async function submitBatch(customer: Customer, lines: readonly object[], path = '/v1/claims/batches') {
  const body = lines.map((line) => `${JSON.stringify(line)}\n`).join('')
  const { status, json, headers } = await service.call(customer, path, { method: 'POST', body, headers: NDJSON })
  const rejected = (json.rejected ?? []) as { line: number; errors: { code: string }[] }[]
  const codes = rejected.map(({ line, errors }) => [line, errors[0]?.code])
  return { status, json, headers, rejected: codes }
}

const countOf = async ({ accountId }: Customer, table = 'attestations') => {
  const [row] = await service.test.owner<{ count: number }>(
    `SELECT count(*)::int AS count FROM ${table} WHERE account_id = $1`,
    [accountId],
  )
  return row?.count ?? 0
}
const times = (count: number, customer: Customer) => Array.from({ length: count }, () => capture(customer))

describe('the cap of the month', () => {
  it('refuses the first capture beyond it, and says when the next month begins', async () => {
    const customer = await makeCustomer(CAP - 2)
    expect([(await submit(customer)).status, (await submit(customer)).status]).toEqual([202, 202])
    const { status, json, headers } = await submit(customer)
    expect([status, json.code]).toEqual([402, 'monthly_cap_exceeded'])
    const now = new Date()
    const resetsAt = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1))
    expect(json.resets_at).toBe(resetsAt.toISOString())
    const retryAtMs = Date.now() + Number(headers['retry-after']) * 1_000
    expect(Math.abs(retryAtMs - resetsAt.getTime())).toBeLessThan(600_000)
    expect(await countOf(customer)).toBe(2)
  })

  it('lets pass what repeats an accepted capture, by its name or its Idempotency-Key', async () => {
    const customer = await makeCustomer(CAP - 2)
    const named = await submit(customer, { external_id: 'mine' })
    const keyed = await submit(customer, {}, { 'Idempotency-Key': 'k' })
    expect((await submit(customer)).status).toBe(402)
    const byName = await submit(customer, { external_id: 'mine' })
    expect([byName.status, byName.json.attestation_id]).toEqual([202, named.json.attestation_id])
    const byKey = await submit(customer, {}, { 'Idempotency-Key': 'k' })
    expect([byKey.status, byKey.json.attestation_id]).toEqual([202, keyed.json.attestation_id])
    expect(byKey.headers['idempotent-replayed']).toBe('true')
    const other = await submit(customer, { external_id: 'mine', claim: { line: 'auto' } })
    expect(other.json.code).toBe('monthly_cap_exceeded')
    expect((await submit(customer, {}, { 'Idempotency-Key': 'other' })).status).toBe(402)
    expect(await countOf(customer)).toBe(2)
  })

  it('comes after access and before the body', async () => {
    const customer = await makeCustomer(CAP)
    const send = (path: string, sent: object, key: string | undefined = customer.key) =>
      service.call({ key }, path, { method: 'POST', ...sent }).then(({ json }) => json.code)
    for (const path of [
      '/v1/claims/attest',
      '/v1/claims/batches',
      '/v1/media/screen',
      '/v1/media/screenings/batches',
    ]) {
      expect(await send(path, { json: { no_such: 1 } })).toBe('monthly_cap_exceeded')
      expect(await send(path, { body: '{', headers: { 'Content-Type': 'text/plain' } })).toBe('monthly_cap_exceeded')
      expect(await send(`${path}?no_such=1`, { json: {} })).toBe('monthly_cap_exceeded')
    }
    expect(await send('/v1/attestations/att_live_01m7x7ere1ey09f3faaz5qa7a5/retry', {})).toBe('monthly_cap_exceeded')
    expect(await send('/v1/attestations/att_test_01m7x7ere1ey09f3faaz5qa7a5/retry', {})).toBe('environment_mismatch')
    const reader = service.addKey({ ...customer, scopes: ['verify'] })
    expect(await send('/v1/claims/attest', { json: {} }, reader)).toBe('insufficient_scope')
    expect((await service.call(customer, '/v1/claims')).status).toBe(200)
  })

  it('is not passed by captures whose evaluation is late', async () => {
    const customer = await makeCustomer(CAP - 3)
    const answers = []
    for (let n = 0; n < 6; n += 1) answers.push((await submit(customer)).status)
    expect(answers).toEqual([202, 202, 202, 402, 402, 402])
  })

  it('may be passed by captures sent at the same moment, and by none after them', async () => {
    const customer = await makeCustomer(CAP - 5)
    const answers = await Promise.all(Array.from({ length: 30 }, () => submit(customer)))
    const accepted = answers.filter(({ status }) => status === 202).length
    expect(accepted).toBeGreaterThanOrEqual(5)
    expect(answers.filter(({ status }) => status === 402)).toHaveLength(30 - accepted)
    expect((await submit(customer)).status).toBe(402)
    expect(await countOf(customer)).toBe(accepted)
  })

  it('holds for nobody in the sandbox or on the plan enterprise', async () => {
    for (const [used, options] of [
      [CAP, { environment: 'sandbox' }],
      [6_000_000, { plan: 'enterprise' }],
    ] as const) {
      const customer = await makeCustomer(used, options)
      expect((await submit(customer)).status).toBe(202)
      const batch = await submitBatch(customer, times(2, customer))
      expect([batch.status, batch.rejected]).toEqual([202, []])
    }
  })

  it('lifts when lines are given back', async () => {
    const customer = await makeCustomer(CAP - 2)
    const { json } = await submitBatch(customer, times(2, customer))
    const codeOfWrong = async () =>
      (await service.call(customer, '/v1/claims/attest', { method: 'POST', json: {} })).json.code
    await until(async () => (await codeOfWrong()) === 'monthly_cap_exceeded')
    await service.call(customer, `/v1/claims/batches/${json.batch_id}/cancel`, { method: 'POST' })
    await until(async () => (await codeOfWrong()) === 'invalid_request')
    expect((await submit(customer)).status).toBe(202)
  })

  it('of this month gets no room from a batch that an earlier month counted, also once that is folded', async () => {
    const customer = await makeCustomer(CAP - 3)
    await service.test.owner(`UPDATE accounts SET plan = 'developer' WHERE id = $1`, [customer.accountId])
    const { json } = await submitBatch(customer, times(3, customer))
    await service.test.owner(
      `UPDATE usage_entries SET at = date_trunc('month', at AT TIME ZONE 'UTC') AT TIME ZONE 'UTC' - interval '1 second'
       WHERE subject_id = $1`,
      [json.batch_id],
    )
    const lines = await service.test.owner<{ id: string }>('SELECT id FROM attestations WHERE batch_id = $1', [
      json.batch_id,
    ])
    const { usage } = service.services.account.usage
    const readMonth = async () => {
      const { used, allowance } = await usage.month(customer.accountId)
      return [used, allowance?.remaining]
    }
    expect(await readMonth()).toEqual([CAP - 3, 3])
    await service.call(customer, `/v1/claims/batches/${json.batch_id}/cancel`, { method: 'POST' })
    expect(await readMonth()).toEqual([CAP - 6, 3])
    const retry = () => service.call(customer, `/v1/attestations/${lines[0]?.id}/retry`, { method: 'POST' })
    // A line that is tried again counts for this month, and is given back to it.
    await until(async () => (await retry()).status === 202)
    expect(await readMonth()).toEqual([CAP - 5, 2])
    await service.call(customer, `/v1/claims/batches/${json.batch_id}/cancel`, { method: 'POST' })
    const more = await submitBatch(customer, times(6, customer))
    expect([await readMonth(), more.rejected.length]).toEqual([[CAP - 3, 0], 3])
    await service.services.account.usage.fold.fold()
    expect(await readMonth()).toEqual([CAP - 3, 0])
    expect((await submitBatch(customer, times(1, customer))).status).toBe(402)
  })
})

describe('a batch', () => {
  it('is accepted up to the cap: lines beyond it are refused, and repeats are not', async () => {
    const customer = await makeCustomer(CAP - 3)
    expect((await submit(customer, { external_id: 'known' })).status).toBe(202)
    const batch = await submitBatch(customer, [
      capture(customer),
      { media_type: 'image' },
      capture(customer, { external_id: 'a' }),
      capture(customer),
      capture(customer, { external_id: 'known' }),
      capture(customer, { external_id: 'a' }),
    ])
    expect([batch.status, batch.json.accepted]).toEqual([202, 4])
    expect(batch.rejected.map(([line]) => line)).toEqual([2, 4])
    expect(batch.rejected[1]).toEqual([4, 'monthly_cap_exceeded'])

    const repeats = await submitBatch(customer, [capture(customer, { external_id: 'a' }), capture(customer)])
    expect([repeats.status, repeats.json.accepted, repeats.rejected]).toEqual([202, 1, [[2, 'monthly_cap_exceeded']]])
    const spent = await submitBatch(customer, [capture(customer), { media_type: 'image' }])
    expect([spent.status, spent.json.code]).toEqual([402, 'monthly_cap_exceeded'])
    expect(Number(spent.headers['retry-after'])).toBeGreaterThan(0)
    expect(spent.rejected).toHaveLength(2)
  })

  it('does not pass the cap together with another batch at the same moment, of captures or of screenings', async () => {
    const customer = await makeCustomer(CAP - 7)
    const images = Array.from({ length: 5 }, () => ({ media_id: customer.mediaId }))
    const batches = await Promise.all([
      submitBatch(customer, times(5, customer)),
      submitBatch(customer, times(5, customer)),
      submitBatch(customer, images, '/v1/media/screenings/batches'),
    ])
    expect((await countOf(customer)) + (await countOf(customer, 'screenings'))).toBe(7)
    const accepted = batches.reduce((sum, { status, json }) => sum + (status === 202 ? Number(json.accepted) : 0), 0)
    expect(accepted).toBe(7)
  })
})

describe('reading what is used', () => {
  async function makeCaps(used: number, plan: Plan = 'growth') {
    const customer = await makeCustomer(used, { plan })
    const clock = { ms: 0, now: new Date() }
    let reads = 0
    let last: Promise<unknown> = Promise.resolve()
    const { db } = service.test
    const counting = {
      readTenant: ((scope: Scope, statements: never) => {
        reads += 1
        const reading = db.readTenant(scope, statements)
        last = reading
        return reading
      }) as typeof db.readTenant,
    }
    const caps = createCaps({ db: counting, now: () => clock.now, monotonic: () => clock.ms })
    return { check: () => caps.check(customer), clock, reads: () => reads, lastRead: () => last, customer }
  }

  it('happens once a second at most, and no request waits for it while there is room', async () => {
    const { check, clock, reads, lastRead, customer } = await makeCaps(0)
    await check()
    for (let n = 0; n < 50; n += 1) expect(await check()).toBeUndefined()
    expect(reads()).toBe(1)
    clock.ms = 1_001
    // Nothing is awaited here: it would not be undefined yet.
    const passed = await Promise.race([
      check(),
      Promise.resolve()
        .then(() => Promise.resolve())
        .then(() => 'waits'),
    ])
    expect([passed, reads()]).toEqual([undefined, 2])
    // The read that no request waited for must not see the change.
    await lastRead()
    await service.test.owner('UPDATE usage_days SET units = 100000 WHERE account_id = $1', [customer.accountId])
    clock.ms = 3_000
    expect(await check()).toBeUndefined()
    await until(async () => (await check()) !== undefined)
  })

  it('is awaited near the cap, and again when the next month has begun', async () => {
    const { check, clock, reads, customer } = await makeCaps(95_000)
    await check()
    await service.test.owner('UPDATE usage_days SET units = 100000 WHERE account_id = $1', [customer.accountId])
    expect(await check()).toBeUndefined()
    clock.ms = 1_001
    expect((await check())?.code).toBe('monthly_cap_exceeded')
    expect((await check())?.code).toBe('monthly_cap_exceeded')
    expect(reads()).toBe(2)
    clock.now = new Date(Date.now() + 40 * 24 * 3_600_000)
    await check()
    expect(reads()).toBe(3)
  })
})
