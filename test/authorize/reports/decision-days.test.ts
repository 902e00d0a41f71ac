// Verifications by day and reason, over entries that the ledger recorded.

import { afterAll, beforeAll, expect, it } from 'vitest'
import { countByReason } from '#src/authorize/reports/decision-days.ts'
import type { DecisionKind } from '#src/catalogue/decisions.ts'
import type { TestCaller } from '../../support/callers.ts'
import { startTestService, type TestService } from '../../support/service.ts'

const DAY_MS = 86_400_000
const START = Date.parse('2026-11-01T00:00:00.000Z')
const PERIOD = { from: new Date(START).toISOString(), to: new Date(START + 2 * DAY_MS).toISOString() }
const ACTOR = { id: 'key_test_1', person: null, keyId: 'key_test_1' }

let service: TestService
let caller: TestCaller
beforeAll(async () => {
  service = await startTestService({ scopes: ['admin'] })
  caller = await service.makeCaller()
})
afterAll(() => service?.close())

async function record(to: TestCaller, decisions: [ms: number, kind: DecisionKind, reason: string | null][]) {
  const { db, ledger } = service.services.platform
  const entries = decisions.map(([ms, kind, reason]) => ({
    kind,
    at: new Date(START + ms),
    actor: ACTOR,
    subject: 'jti_test_1',
    reason,
    valid: reason === null,
    inputs: {},
  }))
  await db.tenant(to, (tx) => ledger.recordMany(tx, to, entries))
}

it('counts verifications and executions of the period by day, kind and reason', async () => {
  await record(caller, [
    [0, 'verify', 'policy_denied'],
    [1, 'verify', 'policy_denied'],
    [2, 'verify', null],
    [3, 'execute', null],
    [4, 'authorize', 'policy_denied'],
    [DAY_MS, 'verify', 'wire_over_10k'],
    [-1, 'verify', 'policy_denied'],
    [2 * DAY_MS, 'verify', 'policy_denied'],
  ])
  await record(await service.makeCaller(), [[0, 'verify', 'policy_denied']])
  const { status, json } = await service.call(caller, `/v1/analytics/decisions?${new URLSearchParams(PERIOD)}`)
  expect([status, json]).toEqual([
    200,
    {
      ...PERIOD,
      total: 5,
      counts: [
        { day: '2026-11-01', kind: 'verify', reason: 'policy_denied', decisions: 2 },
        { day: '2026-11-01', kind: 'verify', reason: null, decisions: 1 },
        { day: '2026-11-01', kind: 'execute', reason: null, decisions: 1 },
        { day: '2026-11-02', kind: 'verify', reason: 'wire_over_10k', decisions: 1 },
      ],
    },
  ])
})

it('counts one more than it may, and no further', async () => {
  const period = { from: new Date(START), to: new Date(START + 2 * DAY_MS) }
  const counts = await service.test.db.tenant(caller, (tx) => countByReason(tx, caller, period, 3))
  expect(counts.reduce((sum, { decisions }) => sum + decisions, 0)).toBe(4)
})
