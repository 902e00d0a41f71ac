// Reports over claims and cases, as callers see them: every number is what counting the rows by hand gives.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createAnalytics } from '#src/attest/analytics/analytics.ts'
import { ADVISORIES, FACTOR_CODES } from '#src/attest/factors/table.ts'
import { newId } from '#src/platform/ids.ts'
import type { TestCaller } from '../../support/callers.ts'
import { startTestService, type TestService } from '../../support/service.ts'

const DAY_MS = 86_400_000
const START = Date.parse('2026-11-01T00:00:00.000Z')
const PERIOD = { from: new Date(START).toISOString(), to: new Date(START + 3 * DAY_MS).toISOString() }

let service: TestService
let caller: TestCaller
beforeAll(async () => {
  service = await startTestService()
})
beforeEach(async () => {
  caller = await service.makeCaller()
})
afterAll(() => service?.close())

const ask = (path: string, query: Record<string, string> = PERIOD, by: { key: string } = caller) =>
  service.call(by, `/v1/analytics/${path}?${new URLSearchParams(query)}`)

const addClaim = (ms: number, columns: Record<string, unknown> = {}, by: TestCaller = caller) =>
  service.makeClaim(by, { id: newId('clm', by.environment, START + ms), ...columns })

let cases = 0
async function addCase(
  state: string,
  reason: string | null,
  closedMs: number | null,
  claim: Record<string, unknown> = {},
) {
  cases += 1
  const { accountId, environment } = caller
  await service.test.owner(
    `INSERT INTO cases (account_id, environment, id, claim_id, priority, state, reason_code, closed_at, due_at,
       review_due_at, decision_due_at)
     VALUES ($1, $2, $3, $4, 'normal', $5, $6, $7, CASE WHEN $7::timestamptz IS NULL THEN now() END, now(), now())`,
    [
      accountId,
      environment,
      newId('cas', environment, START, cases),
      await addClaim(0, claim),
      state,
      reason,
      closedMs === null ? null : new Date(START + closedMs),
    ],
  )
}

describe('claims by day', () => {
  it('are counted by the risk status that they have, on every day of the period', async () => {
    await addClaim(0, { risk_status: 'failed' })
    await addClaim(DAY_MS - 1, { risk_status: 'passed' })
    await addClaim(DAY_MS, { risk_status: 'review' })
    await addClaim(DAY_MS + 5, { risk_status: 'review' })
    await addClaim(-1)
    await addClaim(3 * DAY_MS)
    await addClaim(0, {}, await service.makeCaller())
    const { status, json } = await ask('claims')
    const none = { pending: 0, passed: 0, review: 0, failed: 0 }
    expect([status, json]).toEqual([
      200,
      {
        ...PERIOD,
        days: [
          { ...none, day: '2026-11-01', total: 2, passed: 1, failed: 1 },
          { ...none, day: '2026-11-02', total: 2, review: 2 },
          { ...none, day: '2026-11-03', total: 0 },
        ],
      },
    ])
  })

  it('begin and end within a day where the period does', async () => {
    for (const hour of [1, 5, 23, 25, 29]) await addClaim(hour * 3_600_000)
    const { json } = await ask('claims', { from: '2026-11-01T05:00:00Z', to: '2026-11-02T03:00:00+02:00' })
    expect((json.days as { day: string; total: number }[]).map(({ day, total }) => [day, total])).toEqual([
      ['2026-11-01', 2],
      ['2026-11-02', 0],
    ])
  })

  it('are those of the last 30 days when no period is given', async () => {
    const { json } = await ask('claims', {})
    expect(Date.parse(String(json.to)) - Date.parse(String(json.from))).toBe(30 * DAY_MS)
    expect(json.days).toHaveLength(31)
  })

  it('are refused beyond a number of claims, and for a period that is too long or ends before it begins', async () => {
    for (let n = 0; n < 3; n += 1) await addClaim(n)
    const few = (maxClaims: number) => createAnalytics({ ...service.services.platform, maxClaims })
    expect((await few(3).claims(caller, PERIOD)).days[0]?.claims).toEqual({ pending: 3 })
    await expect(few(2).claims(caller, PERIOD)).rejects.toMatchObject({ errors: [{ code: 'range_too_large' }] })
    const wrong = [
      { from: PERIOD.to, to: PERIOD.from },
      { from: new Date(START - 93 * DAY_MS).toISOString(), to: PERIOD.from },
    ]
    for (const path of ['claims', 'factors', 'decisions']) {
      for (const query of wrong) {
        expect((await ask(path, query)).json.errors).toMatchObject([{ pointer: '?from', code: 'out_of_range' }])
      }
      expect((await ask(path, { from: 'yesterday' })).json.errors).toMatchObject([{ pointer: '?from' }])
    }
  })
})

describe('factors by outcome', () => {
  it('are counted over the claims whose case ended in the period', async () => {
    const codes = (factors: string[], advisories: string[] = []) => ({
      factor_codes: factors,
      advisory_codes: advisories,
    })
    await addCase('denied', 'suspected_fraud', 0, codes(['signature_invalid', 'gps_absent'], ['exif_missing']))
    await addCase('denied', 'signature_invalid', 1, codes(['signature_invalid']))
    await addCase('denied', 'insufficient_evidence', 2, codes(['gps_absent']))
    await addCase('approved', 'risk_accepted', 3, codes(['gps_absent'], ['exif_missing']))
    await addCase('approved', 'provenance_verified', 3, codes([]))
    await addCase('withdrawn', 'policyholder_withdrew', 4, codes(['gps_absent']))
    await addCase('in_review', null, null, codes(['gps_absent']))
    await addCase('approved', 'risk_accepted', 3 * DAY_MS, codes(['gps_absent']))
    await addCase('denied', 'suspected_fraud', -1, codes(['gps_absent']))
    const { status, json } = await ask('factors')
    expect(status).toBe(200)
    expect(json).toMatchObject({ ...PERIOD, cases: { fraud: 2, legitimate: 2, other: 2 } })
    const factors = json.factors as { code: string }[]
    expect(factors.map(({ code }) => code)).toEqual([...FACTOR_CODES, ...ADVISORIES])
    const of = (code: string) => factors.find((one) => one.code === code)
    expect(of('signature_invalid')).toMatchObject({ points: 70, cases: { fraud: 2, legitimate: 0, other: 0 } })
    expect(of('gps_absent')).toMatchObject({ points: 30, cases: { fraud: 1, legitimate: 1, other: 2 } })
    expect(of('exif_missing')).toMatchObject({ points: null, cases: { fraud: 1, legitimate: 1, other: 0 } })
    expect(of('no_manifest')).toMatchObject({ cases: { fraud: 0, legitimate: 0, other: 0 } })
    const other = await service.makeCaller()
    expect((await ask('factors', PERIOD, other)).json.cases).toEqual({ fraud: 0, legitimate: 0, other: 0 })
  })

  it('are refused beyond a number of cases', async () => {
    for (let n = 0; n < 3; n += 1) await addCase('approved', 'risk_accepted', n)
    const few = (maxCases: number) => createAnalytics({ ...service.services.platform, maxCases })
    expect((await few(3).factors(caller, PERIOD)).cases).toMatchObject({ legitimate: 3 })
    await expect(few(2).factors(caller, PERIOD)).rejects.toMatchObject({ errors: [{ code: 'range_too_large' }] })
  })
})
