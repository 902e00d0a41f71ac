// Standing schedules over the real routes and in real transactions: what is set up, its states, and cycles that are
// executed once.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { actionAmountsOf } from '#src/authorize/action-amounts.ts'
import { judgeSchedule, scheduleFactsOf } from '#src/authorize/schedules/judge.ts'
import { claimCycle, readScheduleRow, releaseCycle } from '#src/authorize/schedules/rows.ts'
import type { Tx } from '#src/platform/db/database.ts'
import { newId } from '#src/platform/ids.ts'
import type { TestCaller } from '../../support/callers.ts'
import { startTestService, type TestService } from '../../support/service.ts'

let service: TestService
let caller: TestCaller

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
// The clock of Postgres decides in lists, so anchors are near the real time.
const TODAY = Math.floor(Date.now() / HOUR_MS) * HOUR_MS
const daysAgo = (days: number) => new Date(TODAY - days * DAY_MS).toISOString()

beforeAll(async () => {
  service = await startTestService({ scopes: ['all'] })
})
afterAll(() => service?.close())
beforeEach(async () => {
  caller = await service.makeCaller()
  service.clock.now = undefined
})

const body = (more: object = {}) => ({
  counterparty: 'Landlord',
  amount: { type: 'fixed', value: '1250.00', currency: 'EUR' },
  frequency: 'daily',
  anchor_at: daysAgo(2),
  timezone: 'UTC',
  occurrences: 12,
  ...more,
})
const post = (path: string, json?: unknown, headers: Record<string, string> = {}, by: { key: string } = caller) =>
  service.call(by, `/v1/schedules${path}`, { method: 'POST', headers, ...(json !== undefined && { json }) })
const create = async (more: object = {}) => {
  const { json } = await post('', body(more))
  expect(json).not.toHaveProperty('code')
  return String(json.schedule_id)
}
const get = async (path: string) => (await service.call(caller, `/v1/schedules${path}`)).json
const idsOf = async (query: string) =>
  ((await get(`?${query}`)).data as { schedule_id: string }[]).map(({ schedule_id: id }) => id)
const inTenant = <R>(work: (tx: Tx) => Promise<R>) => service.test.db.tenant(caller, work)
const claim = (scheduleId: string, cycle: number, jti = newId('jti', 'sandbox')) =>
  inTenant((tx) => claimCycle(tx, caller, { scheduleId, cycle, jti, amount: '1250' }))
const audited = async () =>
  (
    await service.test.owner<{ action: string; subject_id: string }>(
      'SELECT action, subject_id FROM audit_entries WHERE account_id = $1 ORDER BY id',
      [caller.accountId],
    )
  ).map(({ action }) => action)

describe('a schedule', () => {
  it('is set up with its defaults, and shows its cycles', async () => {
    const { json } = await post('', body())
    expect(json).toMatchObject({
      status: 'active',
      counterparty: 'Landlord',
      amount: { type: 'fixed', value: '1250', currency: 'EUR' },
      frequency: 'daily',
      anchor_at: daysAgo(2),
      window_seconds: 86_400,
      occurrences: 12,
      consume_missed: false,
      used: 0,
      remaining: 12,
      current_cycle: { cycle: 3, opens_at: daysAgo(0), closes_at: daysAgo(-1), jti: null },
      next_cycle: { cycle: 3, opens_at: daysAgo(0) },
      last_execution: null,
      created_by: { type: 'key', id: expect.stringMatching(/^key_test_/) },
      status_changed_by: null,
    })
    expect(await get(`/${json.schedule_id}`)).toEqual(json)
    expect(await audited()).toEqual(['schedule.created'])
  })

  it.each([
    [{ timezone: 'europe/berlin' }, '/timezone', 'unknown_timezone'],
    [{ timezone: '+01:00' }, '/timezone', 'unknown_timezone'],
    [{ frequency: 'FREQ=DAILY;COUNT=3' }, '/frequency', 'not_supported'],
    [{ frequency: 'sometimes' }, '/frequency', 'invalid_value'],
    [{ anchor_at: '1999-12-31T23:59:59Z' }, '/anchor_at', 'out_of_range'],
    [{ anchor_at: '2200-01-01T00:00:00Z' }, '/anchor_at', 'out_of_range'],
    [{ anchor_at: '2026-11-22' }, '/anchor_at', undefined],
    [{ frequency: 'FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30' }, '/anchor_at', 'not_an_occurrence'],
    [{ frequency: 'FREQ=WEEKLY;BYDAY=MO', anchor_at: '2026-11-22T12:00:00Z' }, '/anchor_at', 'not_an_occurrence'],
    [{ frequency: 'FREQ=YEARLY;INTERVAL=1000', occurrences: 9 }, '/occurrences', 'out_of_range'],
    [{ occurrences: 1_001 }, '/occurrences', undefined],
    [{ occurrences: 0 }, '/occurrences', undefined],
    [{ window_seconds: 59 }, '/window_seconds', undefined],
    [{ amount: { type: 'fixed', value: 0, currency: 'EUR' } }, '/amount/value', 'invalid_amount'],
    [{ amount: { type: 'fixed', value: '0.00001', currency: 'EUR' } }, '/amount/value', 'invalid_amount'],
    [{ amount: { type: 'fixed', value: -1, currency: 'EUR' } }, '/amount/value', 'invalid_amount'],
    [{ amount: { type: 'fixed', value: 1, currency: 'eur' } }, '/amount/currency', 'invalid_currency'],
    [{ amount: { type: 'about', value: 1, currency: 'EUR' } }, '/amount/type', undefined],
    [{ until: '2027-01-01' }, '/until', 'unknown_field'],
  ])('is refused with %j', async (more, pointer, code) => {
    const { status, json } = await post('', body(more))
    expect([status, json.code, json.errors?.map((error) => error.pointer)]).toEqual([400, 'invalid_request', [pointer]])
    if (code !== undefined) expect(json.errors?.[0]?.code).toBe(code)
  })

  it('is listed by status and counterparty, newest first, in pages', async () => {
    const [active, paused, cancelled, executed, missed] = [
      await create(),
      await create({ counterparty: 'Other' }),
      await create(),
      await create({ occurrences: 1 }),
      await create({ occurrences: 2, consume_missed: true }),
    ]
    // Its second and last cycle ended yesterday.
    await post(`/${paused}/pause`)
    await post(`/${cancelled}/cancel`)
    expect(await claim(executed, 3)).toBe(true)
    expect(await idsOf('status=active')).toEqual([active])
    expect(await idsOf('status=paused')).toEqual([paused])
    expect(await idsOf('status=cancelled')).toEqual([cancelled])
    expect(await idsOf('status=exhausted')).toEqual([missed, executed])
    expect(await idsOf('status=paused&status=exhausted')).toEqual([missed, executed, paused])
    expect(await get(`/${missed}`)).toMatchObject({ status: 'exhausted', used: 2, remaining: 0, next_cycle: null })
    expect(await get(`/${executed}`)).toMatchObject({ status: 'exhausted', used: 1, next_cycle: null })
    expect(await idsOf('counterparty=Other')).toEqual([paused])
    expect(await idsOf(`created_gte=${daysAgo(-1)}`)).toEqual([])
    const first = await get('?limit=4&include=total_count')
    expect(first).toMatchObject({ has_more: true, total_count: 5 })
    expect(await idsOf(`limit=4&cursor=${first.next_cursor}`)).toEqual([active])
  })

  it('is set up once for an Idempotency-Key', async () => {
    const send = () => post('', body(), { 'Idempotency-Key': 'one' })
    const [first, second] = [await send(), await send()]
    expect(second.json).toEqual(first.json)
    expect(await idsOf('')).toHaveLength(1)
  })

  it('previews its next 24 cycles, at most those that remain', async () => {
    const anchor = '2027-01-31T08:00:00.000Z'
    const monthly = await create({ frequency: 'monthly', anchor_at: anchor, occurrences: 30, window_seconds: 3_600 })
    const { cycles, status } = (await get(`/${monthly}/preview`)) as { cycles: Cycle[]; status: unknown }
    expect([status, cycles.length]).toEqual(['active', 24])
    expect(cycles.slice(0, 3)).toEqual([
      { cycle: 1, opens_at: anchor, closes_at: '2027-01-31T09:00:00.000Z' },
      { cycle: 2, opens_at: '2027-02-28T08:00:00.000Z', closes_at: '2027-02-28T09:00:00.000Z' },
      { cycle: 3, opens_at: '2027-03-31T08:00:00.000Z', closes_at: '2027-03-31T09:00:00.000Z' },
    ])
    const daily = await create({ occurrences: 3 })
    const numbers = async () => ((await get(`/${daily}/preview`)).cycles as Cycle[]).map(({ cycle }) => cycle)
    expect(await numbers()).toEqual([3, 4, 5])
    await claim(daily, 3)
    expect(await numbers()).toEqual([4, 5])
    await post(`/${daily}/pause`)
    expect(await numbers()).toEqual([4, 5])
    await post(`/${daily}/cancel`)
    expect(await numbers()).toEqual([])
    const counting = await create({ occurrences: 4, consume_missed: true })
    expect(((await get(`/${counting}/preview`)).cycles as Cycle[]).map(({ cycle }) => cycle)).toEqual([3, 4])
  })
})

describe('the state of a schedule', () => {
  it('changes by pausing, resuming and cancelling, each once in the audit log and in the ledger', async () => {
    const id = await create()
    const act = async (name: string) => {
      const { status, json } = await post(`/${id}/${name}`)
      return [status, json.code ?? json.status, json.allowed]
    }
    expect(await act('resume')).toEqual([409, 'invalid_state_transition', ['paused']])
    expect(await act('pause')).toEqual([200, 'paused', undefined])
    expect(await act('pause')).toEqual([200, 'paused', undefined])
    expect(await act('resume')).toEqual([200, 'active', undefined])
    expect(await act('cancel')).toEqual([200, 'cancelled', undefined])
    expect(await act('cancel')).toEqual([200, 'cancelled', undefined])
    expect(await act('pause')).toEqual([409, 'invalid_state_transition', ['active']])
    expect(await act('resume')).toEqual([409, 'invalid_state_transition', ['paused']])
    expect(await audited()).toEqual(['schedule.created', 'schedule.paused', 'schedule.resumed', 'schedule.cancelled'])
    expect((await service.entries(caller)).map(({ kind, subject_id, reason }) => [kind, subject_id, reason])).toEqual(
      ['created', 'paused', 'resumed', 'cancelled'].map((reason) => ['schedule_change', id, reason]),
    )
    expect(await get(`/${id}`)).toMatchObject({ status_changed_by: { type: 'key' }, next_cycle: null })
  })

  it('is changed once for an Idempotency-Key: a repeat of a pause does not undo a resume', async () => {
    const id = await create()
    const pause = () => post(`/${id}/pause`, undefined, { 'Idempotency-Key': 'p' })
    await pause()
    await post(`/${id}/resume`)
    expect((await pause()).json.status).toBe('active')
  })

  it('is not written with the scope of an agent, which may only take away', async () => {
    const id = await create()
    const agent = { key: service.addKey({ accountId: caller.accountId, scopes: ['intent'] }) }
    const statusOf = async (path: string, json?: unknown) => (await post(path, json, {}, agent)).status
    expect(await statusOf('', body())).toBe(403)
    expect(await statusOf(`/${id}/pause`)).toBe(200)
    expect(await statusOf(`/${id}/resume`)).toBe(403)
    expect(await statusOf(`/${id}/cancel`)).toBe(200)
  })

  it('waits for the decisions that depend on it', async () => {
    const id = await create()
    const steps: string[] = []
    let pausing: Promise<unknown> | undefined
    await inTenant(async (tx) => {
      await readScheduleRow(tx, id, 'update')
      pausing = post(`/${id}/pause`).then(() => steps.push('paused'))
      const jti = newId('jti', 'sandbox')
      expect(await claimCycle(tx, caller, { scheduleId: id, cycle: 3, jti, amount: '1' })).toBe(true)
      steps.push('claimed')
    })
    await pausing
    expect(steps).toEqual(['claimed', 'paused'])
    expect(await claim(id, 4)).toBe(false)
  })
})

describe('a cycle', () => {
  it('is executed exactly once by 100 tokens at once', async () => {
    const id = await create()
    // As a decision does: lock, read, judge, claim.
    const decide = (jti: string) =>
      inTenant(async (tx) => {
        const row = await readScheduleRow(tx, id, 'update')
        if (row === undefined) throw new Error('no schedule')
        const at = new Date()
        const facts = scheduleFactsOf(row, at)
        const action = actionAmountsOf({ counterparty: 'Landlord', amount: 1250, currency: 'EUR' })
        const refusal = judgeSchedule(facts, action, { at: at.toISOString(), prior: 'none' })
        if (refusal !== undefined) return refusal.reason
        const cycle = facts.cycle?.number ?? 0
        return (await claimCycle(tx, caller, { scheduleId: id, cycle, jti, amount: '1250' })) ? 'executed' : 'lost'
      })
    const answers = await Promise.all(Array.from({ length: 100 }, () => decide(newId('jti', 'sandbox'))))
    expect(answers.filter((answer) => answer === 'executed')).toHaveLength(1)
    expect(answers.filter((answer) => answer === 'schedule_already_executed')).toHaveLength(99)
    expect(await get(`/${id}`)).toMatchObject({ used: 1, last_execution: { cycle: 3 } })
  })

  it('has one claim, however many are made without a look at it before', async () => {
    const id = await create()
    const answers = await Promise.all(Array.from({ length: 100 }, () => claim(id, 3)))
    expect(answers.filter((isMine) => isMine)).toHaveLength(1)
    expect(await get(`/${id}`)).toMatchObject({ used: 1 })
  })

  it('is claimed only of a schedule that is active and has occurrences left, once per token', async () => {
    const id = await create({ occurrences: 2 })
    const jti = newId('jti', 'sandbox')
    expect(await claim(id, 1, jti)).toBe(true)
    expect(await claim(id, 2, jti)).toBe(false)
    await post(`/${id}/pause`)
    expect(await claim(id, 2)).toBe(false)
    await post(`/${id}/resume`)
    expect(await claim(id, 2)).toBe(true)
    expect(await claim(id, 3)).toBe(false)
    const counting = await create({ occurrences: 2, consume_missed: true })
    expect(await claim(counting, 3)).toBe(false)
    expect(await claim(newId('sch', 'sandbox'), 1)).toBe(false)
    // Of another account it is as if there were none.
    const stranger = await service.makeCaller()
    const foreign = service.test.db.tenant(stranger, (tx) =>
      claimCycle(tx, stranger, { scheduleId: counting, cycle: 1, jti: newId('jti', 'sandbox'), amount: '1' }),
    )
    expect(await foreign).toBe(false)
  })

  it('is given back by its token, and can be executed again', async () => {
    const id = await create({ occurrences: 1 })
    const jti = newId('jti', 'sandbox')
    await claim(id, 3, jti)
    const release = () => inTenant((tx) => releaseCycle(tx, caller, jti))
    const answers = await Promise.all(Array.from({ length: 5 }, release))
    expect(answers.filter((one) => one !== undefined)).toEqual([
      { schedule_id: id, cycle: 3, amount: '1250', currency: 'EUR' },
    ])
    expect(await get(`/${id}`)).toMatchObject({ status: 'active', used: 0, last_execution: null })
    expect(await claim(id, 3)).toBe(true)
  })
})

describe('the cycles of all schedules', () => {
  interface Due {
    schedule_id: string
    cycle: number
    status: string
    jti: string | null
    opens_at: string
  }
  const period = (from: number, to: number) => `from=${daysAgo(from)}&to=${daysAgo(to)}`
  const cyclesOf = async (query: string) => {
    const page: Record<string, unknown> = await get(`/cycles?${query}`)
    return { ...page, data: page.data as Due[], next_cursor: page.next_cursor }
  }
  const shown = async (query: string) =>
    (await cyclesOf(query)).data.map(({ schedule_id: id, cycle, status }) => [id, cycle, status])

  it('are those that begin in the period, with what became of each', async () => {
    const daily = await create({ occurrences: 4 })
    const short = await create({ window_seconds: 60, anchor_at: daysAgo(3), occurrences: 2, consume_missed: true })
    const jti = newId('jti', 'sandbox')
    expect(await claim(daily, 3, jti)).toBe(true)
    // Yesterday's window of the daily one has closed a day after it opened: now, or a part of an hour ago.
    expect(await shown(period(5, -10))).toEqual([
      [short, 1, 'missed'],
      [short, 2, 'missed'],
      [daily, 1, 'missed'],
      [daily, 2, 'missed'],
      [daily, 3, 'executed'],
      // The missed ones do not count, so that three remain.
      [daily, 4, 'upcoming'],
      [daily, 5, 'upcoming'],
      [daily, 6, 'upcoming'],
    ])
    const { data } = await cyclesOf(period(1, -1))
    expect(data).toMatchObject([
      { schedule_id: daily, cycle: 2, jti: null, amount: null, executed_at: null },
      { schedule_id: daily, cycle: 3, jti, amount: '1250', currency: 'EUR', executed_at: expect.any(String) },
    ])
    expect(data.map(({ opens_at }) => opens_at)).toEqual([daysAgo(1), daysAgo(0)])
    expect(await shown(period(10, 4))).toEqual([])
  })

  it('end with a cancellation, and with the last one that is executed', async () => {
    const [cancelled, used, running] = [await create(), await create({ occurrences: 1 }), await create()]
    await post(`/${cancelled}/cancel`)
    expect(await claim(used, 3)).toBe(true)
    expect(await shown(period(0.5, -3))).toEqual([
      [running, 3, 'open'],
      [running, 4, 'upcoming'],
      [running, 5, 'upcoming'],
      [used, 3, 'executed'],
      [cancelled, 3, 'cancelled'],
    ])
  })

  it('come in pages of any size, which together have each of them once', async () => {
    const ids = [await create(), await create(), await create()]
    const all = await cyclesOf(`${period(3, -3)}&limit=100`)
    expect(all).toMatchObject({ has_more: false, next_cursor: null })
    expect(all.data).toHaveLength(15)
    for (const limit of [1, 4, 5]) {
      const read: Due[] = []
      for (let cursor: unknown = ''; cursor !== null; ) {
        const from = cursor === '' ? '' : `&cursor=${cursor}`
        const { data, next_cursor } = await cyclesOf(`${period(3, -3)}&limit=${limit}${from}`)
        read.push(...data)
        cursor = next_cursor
      }
      expect(read, String(limit)).toEqual(all.data)
    }
    const lines = await service.call(caller, `/v1/schedules/cycles?${period(3, -3)}`, {
      headers: { Accept: 'application/x-ndjson' },
    })
    expect(lines.text.trim().split('\n')).toHaveLength(15)
    expect(new Set(all.data.map(({ schedule_id: id }) => id))).toEqual(new Set(ids))
  })

  it('are read for a period of at most 31 days', async () => {
    for (const [query, pointer] of [
      [period(0, 1), '?from'],
      [period(32, 0), '?from'],
    ] as const) {
      expect((await get(`/cycles?${query}`)).errors).toMatchObject([{ pointer }])
    }
    // A week before today, and two weeks in all.
    const id = await create({ anchor_at: daysAgo(10), occurrences: 50 })
    const { data } = await cyclesOf('limit=100')
    expect(data.every(({ schedule_id }) => schedule_id === id)).toBe(true)
    expect(data).toHaveLength(14)
  })
})

interface Cycle {
  cycle: number
  opens_at: string
  closes_at: string
}
