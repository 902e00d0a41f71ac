// Lists of claims, cases and batches of an account that has 200,000 of them: a page reads few rows, whatever its filter and
// its order.

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findBatches } from '#src/attest/batches/rows.ts'
import { type CaseFilter, type CaseOrder, countCases, findCases } from '#src/attest/cases/rows.ts'
import { type ClaimFilter, type ClaimOrder, countClaims, findClaims } from '#src/attest/claims/claim-rows.ts'
import type { Scope } from '#src/platform/ids.ts'
import { createTestDatabase, makeAccount, type TestDatabase } from '../../support/database.ts'
import { readingRows } from '../../support/rows-read.ts'

const ROWS = 200_000
const LIMIT = 20
// Where a filter and an order have an index each, the planner reads one of them: up to this part of the rows, in milliseconds.
const FEW = ROWS / 8
const NOW = new Date('2026-11-20T15:00:00.000Z')

let database: TestDatabase
let scope: Scope
beforeAll(async () => {
  database = await createTestDatabase()
  scope = await makeAccount(database)
  await fill(scope)
  await database.owner('ANALYZE claims, cases')
}, 300_000)
afterAll(() => database?.close())

const minutesAgo = (minutes: number) => new Date(NOW.getTime() - minutes * 60_000)

const CLAIM_FILTERS: [name: string, filter: ClaimFilter, found: number][] = [
  ['nothing', {}, ROWS],
  ['a rare status', { riskStatuses: ['failed'] }, 200],
  ['two rare statuses', { riskStatuses: ['failed', 'pending'] }, 400],
  ['several frequent statuses', { riskStatuses: ['passed', 'review'] }, ROWS - 400],
  ['a rare provenance', { provenanceStatuses: ['broken'] }, 200],
  ['two provenances', { provenanceStatuses: ['broken', 'unattested'] }, 400],
  ['a rare line', { lines: ['marine'] }, 40],
  ['a rare line and a status', { lines: ['marine'], riskStatuses: ['passed', 'review'] }, 40],
  ['a high score', { scoreFrom: 199 }, 200],
  ['a narrow band of scores', { scoreFrom: 190, scoreBelow: 191 }, 0],
  ['recent updates', { updatedFrom: minutesAgo(100), updatedBefore: minutesAgo(50) }, 50],
  ['an open case', { hasCase: true }, 2_000],
  ['no open case', { hasCase: false }, ROWS - 2_000],
]

const CLAIM_ORDERS: ClaimOrder[] = (['created', 'score', 'updated'] as const).flatMap((by) =>
  (['asc', 'desc'] as const).map((direction) => ({ by, direction })),
)

describe('the list of claims', () => {
  it.each(CLAIM_FILTERS)('with %s reads few rows in every order', async (_name, filter, found) => {
    for (const order of CLAIM_ORDERS) {
      const { answer, most } = await readingRows(database.db, scope, 'claims', (tx) =>
        findClaims(tx, scope, filter, { order, after: undefined, limit: LIMIT }),
      )
      expect([order, answer.length]).toEqual([order, Math.min(LIMIT, found)])
      expect([order, most < FEW, most]).toEqual([order, true, most])
    }
    const counted = await database.db.tenant(scope, (tx) => countClaims(tx, scope, filter))
    expect(counted).toBe(Math.min(found, 100_000))
  })

  it.each(CLAIM_ORDERS)(
    'by $by, $direction, goes on after any place without reading what came before',
    async (order) => {
      const after = { created: '', score: '100', updated: minutesAgo(ROWS / 2).toISOString() }[order.by]
      const [middle] = await database.owner<{ id: string }>(
        `SELECT id FROM claims WHERE account_id = $1 ORDER BY id OFFSET ${ROWS / 2} LIMIT 1`,
        [scope.accountId],
      )
      const { answer, most } = await readingRows(database.db, scope, 'claims', (tx) =>
        findClaims(tx, scope, {}, { order, after: { value: after, id: middle?.id ?? '' }, limit: LIMIT }),
      )
      expect(answer).toHaveLength(LIMIT)
      expect(most).toBeLessThan(200)
    },
  )
})

const CASE_FILTERS: [name: string, filter: CaseFilter, found: number][] = [
  ['nothing', {}, ROWS],
  ['one status', { states: ['escalated'] }, 200],
  ['several statuses', { states: ['escalated', 'open', 'in_review'] }, 2_000],
  ['a priority', { priorities: ['urgent'] }, 200],
  ['two priorities', { priorities: ['urgent', 'high'] }, 400],
  ['a reason', { reasonCodes: ['suspected_fraud'] }, 200],
  ['an assignee', { assignee: 'usr_a' }, 200],
  ['no assignee', { assignee: null }, 200],
  ['a due date', { dueFrom: minutesAgo(-10), dueBefore: minutesAgo(-1_510) }, 15],
  ['overdue', { isOverdue: true }, 0],
  ['a changed claim', { isClaimChanged: true }, 0],
]

const CASE_ORDERS: CaseOrder[] = (['created', 'due'] as const).flatMap((by) =>
  (['asc', 'desc'] as const).map((direction) => ({ by, direction })),
)

describe('the list of cases', () => {
  it.each(CASE_FILTERS)('with %s reads few rows in every order', async (_name, filter, found) => {
    const at = { ...filter, now: NOW }
    for (const order of CASE_ORDERS) {
      const { answer, most } = await readingRows(database.db, scope, 'cases', (tx) =>
        findCases(tx, scope, at, { order, after: undefined, limit: LIMIT }),
      )
      if (order.by === 'created') expect([order, answer.length]).toEqual([order, Math.min(LIMIT, found)])
      expect([order, most < FEW, most]).toEqual([order, true, most])
    }
    const counted = await database.db.tenant(scope, (tx) => countCases(tx, scope, at))
    expect(counted).toBe(Math.min(found, 100_000))
  })
})

describe('the list of batches', () => {
  it('reads a page of them', async () => {
    await database.owner(
      `INSERT INTO batches (account_id, environment, id, accepted, rejected)
       SELECT $1, $2, 'bat_test_' || lpad(n::text, 26, '0'), 1, '[]' FROM generate_series(1, ${ROWS}) AS n`,
      [scope.accountId, scope.environment],
    )
    await database.owner('ANALYZE batches')
    const filter = { from: undefined, to: undefined }
    const { answer, most } = await readingRows(database.db, scope, 'batches', (tx) =>
      findBatches(tx, scope, filter, { before: undefined, limit: LIMIT }),
    )
    expect(answer).toHaveLength(LIMIT)
    expect(most).toBeLessThan(200)
  })
})

/** One claim a minute and one closed case for it; each hundredth case is open. */
async function fill({ accountId, environment }: Scope): Promise<void> {
  const id = (type: string) => `'${type}_test_' || lpad(n::text, 26, '0')`
  await database.owner(
    `INSERT INTO claims (account_id, environment, id, reference, line, risk_status, risk_score, provenance_status, created_at, updated_at)
     SELECT $1, $2, ${id('clm')}, 'reference ' || n, CASE WHEN n % 5000 = 0 THEN 'marine' ELSE 'auto' END,
       CASE n % 1000 WHEN 1 THEN 'failed' WHEN 2 THEN 'pending' WHEN 3 THEN 'review' ELSE 'passed' END,
       CASE WHEN n % 1000 = 2 THEN NULL WHEN n % 1000 = 1 THEN 199 ELSE n % 190 END,
       CASE n % 1000 WHEN 1 THEN 'broken' WHEN 2 THEN NULL WHEN 3 THEN 'unattested' ELSE 'verified' END,
       $3::timestamptz - n * interval '1 minute', $3::timestamptz - n * interval '1 minute'
     FROM generate_series(1, ${ROWS}) AS n`,
    [accountId, environment, NOW],
  )
  await database.owner(
    `INSERT INTO cases (account_id, environment, id, claim_id, state, reason_code, assignee, priority, review_due_at,
       decision_due_at, due_at, closed_at)
     SELECT $1, $2, ${id('cas')}, ${id('clm')}, state, CASE WHEN n % 1000 = 5 THEN 'suspected_fraud' ELSE 'other' END,
       CASE n % 1000 WHEN 6 THEN 'usr_a' WHEN 7 THEN NULL ELSE 'usr_b' END,
       CASE n % 1000 WHEN 8 THEN 'urgent' WHEN 9 THEN 'high' ELSE 'normal' END, due, due,
       CASE WHEN state <> 'approved' THEN due END, CASE WHEN state = 'approved' THEN now() END
     FROM (SELECT n, CASE WHEN n % 100 <> 0 THEN 'approved' WHEN n % 1000 = 0 THEN 'escalated' WHEN n % 200 = 0 THEN 'open' ELSE 'in_review' END AS state,
       $3::timestamptz + n * interval '1 minute' AS due FROM generate_series(1, ${ROWS}) AS n) AS made`,
    [accountId, environment, NOW],
  )
}
