// Reports over a real ledger: random decisions are recorded as Authorize records them, and each report must be what adding
// up the entries by hand gives.

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createReports } from '#src/authorize/reports/reports.ts'
import { newId } from '#src/platform/ids.ts'
import type { DecisionEntry, NewDecision } from '#src/platform/ledger/entry.ts'
import type { TestCaller } from '../../support/callers.ts'
import { startTestService, type TestService } from '../../support/service.ts'

const START = Date.parse('2026-11-01T00:00:00.000Z')
const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const ACTOR = { id: 'key_test_1', person: null, keyId: 'key_test_1' }
const at = (ms: number) => new Date(START + ms)
const RANGE = { from: at(0).toISOString(), to: at(30 * 24 * HOUR_MS).toISOString() }

let service: TestService
let caller: TestCaller
let recorded: DecisionEntry[]
const mandates = [0, 1, 2].map((n) => newId('dec', 'sandbox', START + n).replace('dec', 'mnd'))
const approvals: { id: string; askedAt: number; state: string; seconds: number }[] = []

beforeAll(async () => {
  service = await startTestService({ scopes: ['verify'] })
  caller = await service.makeCaller()
  const other = await service.makeCaller()
  await record(caller, [...executions(120, caller), ...approvalDecisions()])
  await record(other, executions(10, other))
  recorded = await service.entries(caller)
})
afterAll(() => service.close())

function record(to: TestCaller, decisions: readonly NewDecision[]) {
  const { db, ledger } = service.services.platform
  return db.tenant(to, (tx) => ledger.recordMany(tx, to, decisions))
}

async function ask(path: string, query: Record<string, string> = RANGE, by: { key: string } = caller) {
  const { status, json } = await service.call(by, `/v1/analytics/${path}?${new URLSearchParams(query)}`)
  return {
    status,
    json: json as Record<string, unknown> & {
      data: Record<string, unknown>[]
      next_cursor: string | null
      age_classes: {
        from_seconds: number
        to_seconds: number | null
        total: number
        by_status: Record<string, number>
      }[]
    },
  }
}

async function pages(path: string, query: Record<string, string>) {
  const found: Record<string, unknown>[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const { status, json } = await ask(path, { ...query, ...(cursor !== '' && { cursor }) })
    expect(status).toBe(200)
    expect(json.has_more).toBe(json.next_cursor !== null)
    found.push(...json.data)
    cursor = json.next_cursor
  }
  return found
}

const entryOf = (kind: NewDecision['kind'], ms: number, subject: string, more: Partial<NewDecision>): NewDecision => ({
  kind,
  at: at(ms),
  actor: ACTOR,
  subject,
  reason: null,
  valid: null,
  inputs: {},
  ...more,
})

/** Tokens with what became of them: never presented, checked, executed, with and without a mandate, failed later. */
function executions(count: number, { environment }: TestCaller): NewDecision[] {
  return Array.from({ length: count }, (_, n) => {
    const ms = n * HOUR_MS * 4
    const jti = newId('jti', environment, START + ms)
    const mandate = n % 5 === 4 ? undefined : mandates[n % 3]
    const bound: Record<string, string> = mandate === undefined ? {} : { mandate_id: mandate }
    const isDay = n % 3 === 1
    const period =
      n % 3 === 2 ? {} : { period_start: at(isDay ? Math.floor(ms / (24 * HOUR_MS)) * 24 * HOUR_MS : 0).toISOString() }
    // A tenth that no binary fraction has, and more than a double can hold.
    const amounts = {
      amount: n % 7 === 0 ? '999999999999999.1' : `${n}.${String(n % 10)}1`,
      currency: n % 2 ? 'EUR' : 'USD',
    }
    const charge = mandate === undefined ? {} : { ...bound, ...period, ...amounts }
    const made = [entryOf('authorize', ms, jti, { valid: n % 4 !== 0, inputs: { jti, device_id: 'd', ...bound } })]
    if (n % 6 === 5) return made
    made.push(entryOf('verify', ms + 1, jti, { valid: false, reason: 'policy_denied', inputs: { jti } }))
    made.push(entryOf('verify', ms + 2, jti, { valid: true, inputs: { jti } }))
    if (n % 6 === 4) return made
    made.push(entryOf('execute', ms + 2, jti, { valid: true, inputs: { jti, decision_id: 'x', ...charge } }))
    const outcome = [undefined, 'succeeded', 'failed', 'not_run'][n % 4]
    const released = outcome === 'succeeded' ? {} : charge
    if (outcome !== undefined)
      made.push(entryOf('outcome', ms + 9, jti, { reason: outcome, inputs: { jti, ...released } }))
    return made
  }).flat()
}

function approvalDecisions(): NewDecision[] {
  const states = ['approved', 'denied', 'expired', 'cancelled', 'lapsed', 'pending']
  return Array.from({ length: 48 }, (_, n) => {
    const ms = n * HOUR_MS
    const id = newId('dec', 'sandbox', START + ms).replace('dec', 'apr')
    const jti = newId('jti', 'sandbox', START + ms)
    const state = states[n % states.length] ?? ''
    const seconds = [1, 299, 300, 5_000, 40_000, 100_000, 300_000][n % 7] ?? 0
    const expires = state === 'pending' ? '2999-01-01T00:00:00.000Z' : at(ms + seconds * 1_000).toISOString()
    const isOver = state === 'lapsed' || state === 'pending'
    // Nobody has told yet that the lapsed ones are over.
    approvals.push({ id, askedAt: START + ms, state: state === 'lapsed' ? 'expired' : state, seconds })
    const inputs = { approval_id: id, jti }
    const ended = { status: state, ended_at: at(ms + seconds * 1_000).toISOString() }
    const made = [
      entryOf('approval', ms, id, { reason: 'approval_required', inputs: { ...inputs, expires_at: expires } }),
    ]
    if (n % 2 === 0)
      made.push(
        entryOf('approval_decision', ms + 1, id, { reason: 'approval_vote', inputs: { ...inputs, status: 'pending' } }),
      )
    // Of the token's other approval.
    const other = { approval_id: 'apr_test_other', jti, status: 'denied' }
    made.push(entryOf('approval_decision', ms + 2, 'apr_test_other', { reason: 'approval_denied', inputs: other }))
    if (isOver) return made
    const reason = `approval_${state}`
    return [
      ...made,
      entryOf('approval_decision', ms + seconds * 1_000 + 7_000, id, { reason, inputs: { ...inputs, ...ended } }),
    ]
  }).flat()
}

/** Ten-thousandths. */
function units(decimal: string): bigint {
  const [whole = '', fraction = ''] = decimal.split('.')
  return BigInt(whole + fraction.padEnd(4, '0'))
}

describe('spend by mandate', () => {
  /** From the entries alone, in whole ten-thousandths. */
  function expected(from: number, to: number) {
    const sums = new Map<string, { executions: number; charged: bigint; released: bigint }>()
    const executed = recorded.filter(
      ({ kind, at }) => kind === 'execute' && Date.parse(at) >= from && Date.parse(at) < to,
    )
    for (const { inputs } of executed) {
      if (inputs.mandate_id == null) continue
      const outcome = recorded.find((one) => one.kind === 'outcome' && one.inputs.jti === inputs.jti)
      const key = [inputs.mandate_id, inputs.period_start ?? null, inputs.currency ?? null].join(' ')
      const sum = sums.get(key) ?? { executions: 0, charged: 0n, released: 0n }
      sum.executions += 1
      sum.charged += units(inputs.amount ?? '')
      sum.released += units(outcome?.inputs.amount ?? '0')
      sums.set(key, sum)
    }
    return sums
  }

  const found = (rows: Record<string, unknown>[]) =>
    new Map(
      rows.map((row) => {
        const { mandate_id, period_start, currency, executions, charged, released, spent } = row as Record<
          string,
          string
        >
        const [sum, back] = [units(charged ?? ''), units(released ?? '')]
        expect(units(spent ?? '')).toBe(sum - back)
        return [[mandate_id, period_start, currency].join(' '), { executions, charged: sum, released: back }]
      }),
    )

  it('is what the executions charged less what their outcomes gave back, to the last decimal', async () => {
    const { status, json } = await ask('mandate-spend', { ...RANGE, limit: '100' })
    expect([status, json.has_more]).toEqual([200, false])
    const whole = expected(START, Date.parse(RANGE.to))
    expect(whole.size).toBeGreaterThan(10)
    expect(found(json.data)).toEqual(new Map([...whole].map(([key, sum]) => [key.replace(/ null/g, ' '), sum])))
    expect(json.data.some(({ released }) => released !== '0')).toBe(true)
  })

  it('counts an execution at its own time, pages through, and filters by mandate', async () => {
    const [from, to] = [START + 100 * HOUR_MS + 2, START + 300 * HOUR_MS]
    const query = { from: new Date(from).toISOString(), to: new Date(to).toISOString(), limit: '3' }
    const rows = await pages('mandate-spend', query)
    expect(found(rows)).toEqual(new Map([...expected(from, to)].map(([key, sum]) => [key.replace(/ null/g, ' '), sum])))
    expect(new Set(rows.map((row) => [row.mandate_id, row.period_start, row.currency].join())).size).toBe(rows.length)
    const [mandate = ''] = mandates
    const own = await pages('mandate-spend', { ...query, mandate_id: mandate })
    expect(own).toEqual(rows.filter(({ mandate_id }) => mandate_id === mandate))
    expect(own.length).toBeGreaterThan(0)
  })

  it('refuses what would read too many entries, and ranges that are none', async () => {
    const { db, pager } = service.services.platform
    const reports = createReports({ db, pager, now: () => new Date(), maxEntries: 20 })
    const few = { from: RANGE.from, to: at(24 * HOUR_MS).toISOString(), limit: 10 }
    expect((await reports.spend(caller, few)).data.length).toBeGreaterThan(0)
    const refused = { code: 'invalid_request', errors: [{ pointer: '?from', code: 'range_too_large' }] }
    await expect(reports.spend(caller, { ...RANGE, limit: 10 })).rejects.toMatchObject(refused)
    await expect(reports.approvals(caller, RANGE)).rejects.toMatchObject(refused)
    for (const path of ['mandate-spend', 'approvals', 'unexecuted']) {
      for (const [from, to] of [
        [RANGE.to, RANGE.from],
        ['2024-01-01T00:00:00Z', RANGE.to],
        ['yesterday', RANGE.to],
      ]) {
        const { status, json } = await ask(path, { from: String(from), to: String(to) })
        expect([path, status, json.code, json.errors]).toMatchObject([
          path,
          400,
          'invalid_request',
          [{ pointer: '?from' }],
        ])
      }
      // Another account's ledger is another one, and a cursor of one query is none of another.
      const stranger = await service.makeCaller()
      const { json } = await ask(path, RANGE, stranger)
      expect((json.age_classes ?? json.data).every(({ total }) => (total ?? 0) === 0)).toBe(true)
    }
    const { json } = await ask('mandate-spend', { ...RANGE, limit: '1' })
    const misused = { ...RANGE, to: at(HOUR_MS).toISOString(), cursor: String(json.next_cursor) }
    expect((await ask('mandate-spend', misused)).json.errors).toMatchObject([{ pointer: '?cursor' }])
    const live = { ...RANGE, mandate_id: 'jti_live_01kaj0nv2rgvhk6pc5y8eaj4mb' }
    expect((await ask('mandate-spend', live)).json.code).toBe('environment_mismatch')
  })
})

describe('approvals', () => {
  it('are counted by their age and by how they ended', async () => {
    const { json } = await ask('approvals')
    for (const { from_seconds: from, to_seconds: to, total, by_status: counts } of json.age_classes) {
      const inClass = approvals.filter(({ state, seconds, askedAt }) => {
        const age = state === 'pending' ? (Date.now() - askedAt) / 1_000 : seconds
        return age >= Number(from) && (to === null || age < Number(to))
      })
      expect(total).toBe(inClass.length)
      for (const [state, count] of Object.entries(counts)) {
        expect([from, state, count]).toEqual([from, state, inClass.filter((one) => one.state === state).length])
      }
    }
    expect(json.age_classes.reduce((sum, { total }) => sum + Number(total), 0)).toBe(approvals.length)
    const decided = approvals.filter(({ state }) => state === 'approved' || state === 'denied')
    const sorted = decided.map(({ seconds }) => seconds).toSorted((a, b) => a - b)
    const middle = sorted.length / 2
    expect(json.seconds_to_decide).toMatchObject({ p50: ((sorted[middle - 1] ?? 0) + (sorted[middle] ?? 0)) / 2 })
    const oldest = approvals.find(({ state }) => state === 'pending')
    expect(json.oldest_pending).toEqual({
      approval_id: oldest?.id,
      asked_at: new Date(oldest?.askedAt ?? 0).toISOString(),
    })
  })
})

describe('tokens that were never executed', () => {
  it('are all listed, newest first, each with its last verification', async () => {
    const executed = new Set(recorded.filter(({ kind }) => kind === 'execute').map(({ subject_id }) => subject_id))
    const open = recorded
      .filter(({ kind, subject_id }) => kind === 'authorize' && !executed.has(subject_id))
      .toSorted((a, b) => (a.decision_id < b.decision_id ? 1 : -1))
    const rows = await pages('unexecuted', { ...RANGE, limit: '7' })
    expect(rows.map(({ jti }) => jti)).toEqual(open.map(({ subject_id }) => subject_id))
    expect(rows.length).toBe(40)
    for (const row of rows) {
      const verified = recorded.filter(({ kind, subject_id }) => kind === 'verify' && subject_id === row.jti)
      const last = verified.toSorted((a, b) => (a.decision_id < b.decision_id ? 1 : -1))[0]
      const shown = last && { decision_id: last.decision_id, at: last.at, valid: last.valid, reason: last.reason }
      expect(row.last_verification).toEqual(shown ?? null)
      const authorized = open.find(({ subject_id }) => subject_id === row.jti)
      expect(row).toMatchObject({
        decision_id: authorized?.decision_id,
        authorized_at: authorized?.at,
        device_id: 'd',
        mandate_id: authorized?.inputs.mandate_id ?? null,
      })
    }
  })

  it('are found also where a page reads fewer authorizations than it would need', async () => {
    const { db, pager } = service.services.platform
    const reports = createReports({ db, pager, now: () => new Date(), maxScanned: 4 })
    const whole = (
      await createReports({ db, pager, now: () => new Date() }).unexecuted(caller, { ...RANGE, limit: 100 })
    ).data
    const found: typeof whole = []
    let rounds = 0
    for (let cursor: string | undefined; rounds === 0 || cursor !== undefined; rounds += 1) {
      const page = await reports.unexecuted(caller, { ...RANGE, limit: 100, cursor })
      found.push(...page.data)
      cursor = page.next_cursor ?? undefined
    }
    expect(rounds).toBe(31)
    expect(found).toEqual(whole)
  })
})
