// The overview and the search read a few rows of an account, however many the account and others have, also in plans that are
// made for all values.

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { countClaimsByDay, countFactors } from '#src/attest/analytics/rows.ts'
import { countApprovals } from '#src/authorize/approvals/rows.ts'
import { countByReason } from '#src/authorize/reports/decision-days.ts'
import { findByPrefix } from '#src/overview/search/rows.ts'
import * as waiting from '#src/overview/waiting/rows.ts'
import type { Tx } from '#src/platform/db/database.ts'
import { newId, type Scope } from '#src/platform/ids.ts'
import { createTestDatabase, makeAccount, type TestDatabase } from '../support/database.ts'
import { readingRows } from '../support/rows-read.ts'

// PLANS_ROWS=200000 measures as large accounts.
const ROWS = Number(process.env.PLANS_ROWS ?? 4_000)
const LIMIT = 6
/** One row in 100 waits, and counts end at a thousand. */
const CAPPED = Math.min(ROWS / 100, waiting.COUNT_CAP)

let test: TestDatabase
let scope: Scope
let other: Scope
beforeAll(async () => {
  test = await createTestDatabase()
  scope = await makeAccount(test)
  other = await makeAccount(test)
  for (const account of [scope, other]) await fill(account)
  await test.owner('ANALYZE')
}, 300_000)
afterAll(() => test?.close())

/** Rows whose names all begin alike; one in 100 waits. */
async function fill({ accountId, environment }: Scope): Promise<void> {
  const insert = (table: string, type: Parameters<typeof newId>[0], columns: Record<string, string>) =>
    test.owner(
      `INSERT INTO ${table} (account_id, environment, id, ${Object.keys(columns).join()})
       SELECT $1, $2, $3 || lpad(n::text, 6, '0'), ${Object.values(columns).join()} FROM generate_series(1, $4::int) n`,
      [accountId, environment, newId(type, environment).slice(0, -6), ROWS],
    )
  await insert('claims', 'clm', {
    reference: `'CLM-' || n`,
    risk_status: `(ARRAY['passed', 'review', 'failed', 'pending'])[1 + n % 4]`,
  })
  await insert('agents', 'agt', {
    name: `CASE WHEN n % 2 = 0 THEN 'Twin' ELSE 'Robot ' || n END`,
    owner: `'o'`,
    created_by: `'k'`,
  })
  await test.owner(
    `INSERT INTO cases (account_id, environment, id, claim_id, priority, state, reason_code, closed_at, due_at, review_due_at, decision_due_at)
     SELECT account_id, environment, replace(id, 'clm', 'cas'), id, 'normal', CASE WHEN waits THEN 'open' ELSE 'approved' END,
       CASE WHEN NOT waits THEN 'risk_accepted' END, CASE WHEN NOT waits THEN now() END, CASE WHEN waits THEN now() END, now(), now()
     FROM (SELECT *, right(id, 2) = '00' AS waits FROM claims WHERE account_id = $1) claim`,
    [accountId],
  )
  await insert('decisions', 'dec', {
    kind: `CASE WHEN n % 100 = 0 THEN 'verify' ELSE 'inference' END`,
    at: 'now()',
    reason: `CASE n % 300 WHEN 0 THEN 'policy_denied' END`,
    entry: `'{}'`,
    entry_sha256: `sha256('x')`,
  })
  await insert('approvals', 'apr', {
    jti: `'jti_' || n`,
    origin: `'verify'`,
    rules: `'[]'`,
    min_approvals: '1',
    roles: `'{approver}'`,
    requires_passkey: 'false',
    has_separation: 'true',
    action_hash: `'a'`,
    payload_hash: `'p'`,
    preview_hash: `'v'`,
    agent_session_id: `'s'`,
    device_id: `'d'`,
    excluded_ids: `'{}'`,
    actor_kind: `'key'`,
    actor_id: `'k'`,
    token_ttl_seconds: '60',
    sealed_description: `'x'`,
    sealed_payload: `'x'`,
    expires_at: `now() + interval '1 day'`,
    outcome: `CASE WHEN n % 100 <> 0 THEN 'approved' END`,
    decided_at: `CASE WHEN n % 100 <> 0 THEN now() END`,
    is_told: 'n % 100 <> 0',
  })
  await insert('devices', 'dev', {
    spki: `'x'`,
    spki_digest: `sha256((random() || '-' || n)::text::bytea)`,
    certificate_chain: `'{}'`,
    certificate_subject: `'CN=d'`,
    not_before: 'now()',
    not_after: `now() + interval '1 day' * (CASE WHEN n % 100 = 0 THEN 10 ELSE 100 END)`,
  })
}

const reading = (table: string, work: (tx: Tx) => Promise<unknown>) => readingRows(test.db, scope, table, work)

describe('the search', () => {
  it.each([
    ['claims', 'id', 'clm_'],
    ['claims', 'reference', 'CLM'],
    ['agents', 'name_lower', 'robot'],
    ['agents', 'name_lower', 'twin'],
  ])('reads a few rows of %s by %s', async (table, column, text) => {
    const { answer, most } = await reading(table, (tx) => findByPrefix(tx, { table, column }, text, LIMIT))
    expect(answer).toHaveLength(LIMIT)
    // A sort by the id looks at the row after.
    expect(most).toBeLessThanOrEqual(LIMIT + 1)
  })
})

describe('the overview', () => {
  it('reads the cases that wait, and no other', async () => {
    const { answer, most } = await reading('cases', (tx) => waiting.countCases(tx, 'usr_1'))
    expect(answer).toMatchObject({ unassigned: { count: CAPPED }, mine: { count: 0 } })
    expect(most).toBeLessThanOrEqual((2 * ROWS) / 100)
  })

  it('reads the approvals of the account that wait, and no other', async () => {
    const awaiting = { userId: 'usr_1', role: 'approver', isHumanOnly: true }
    for (const filter of [{ awaiting }, { statuses: ['pending'] as const }]) {
      const upTo = (most: number) => reading('approvals', (tx) => countApprovals(tx, scope, filter, most))
      const all = await upTo(ROWS)
      expect(all).toEqual({ answer: ROWS / 100, most: ROWS / 100 })
      const few = await upTo(10)
      expect(few.answer).toBe(10)
      expect(few.most).toBeLessThanOrEqual(ROWS / 100)
    }
  })

  it('reads the devices whose certificates end soon, and no other', async () => {
    const { answer, most } = await reading('devices', waiting.countExpiring)
    expect(answer).toMatchObject({ devices: { count: CAPPED } })
    expect(most).toBeLessThanOrEqual(ROWS / 100)
  })
})

describe('the reports by day', () => {
  const period = { from: new Date(Date.now() - 3_600_000), to: new Date(Date.now() + 3_600_000) }
  const before = { from: new Date(0), to: new Date(90 * 86_400_000) }

  it('read what is in the period of one account, and no other', async () => {
    const claims = (when: typeof period) => reading('claims', (tx) => countClaimsByDay(tx, scope, when, 1_000_000))
    expect((await claims(period)).most).toBe(ROWS)
    expect((await claims(before)).most).toBe(0)
    const decisions = (when: typeof period) => reading('decisions', (tx) => countByReason(tx, scope, when, 1_000_000))
    expect((await decisions(period)).most).toBe(ROWS / 100)
    expect((await decisions(before)).most).toBe(0)
    const cases = (when: typeof period) => reading('cases', (tx) => countFactors(tx, when, 1_000_000))
    expect((await cases(period)).most).toBe(ROWS - ROWS / 100)
    expect((await cases(before)).most).toBe(0)
  })

  it('read one row more than they may count, and then no claim of a case', async () => {
    expect((await reading('claims', (tx) => countClaimsByDay(tx, scope, period, 10))).most).toBe(11)
    expect((await reading('decisions', (tx) => countByReason(tx, scope, period, 10))).most).toBe(11)
    expect((await reading('cases', (tx) => countFactors(tx, period, 10))).most).toBe(11)
    expect((await reading('claims', (tx) => countFactors(tx, period, 10))).most).toBe(0)
    expect((await reading('claims', (tx) => countFactors(tx, period, ROWS))).most).toBe(ROWS - ROWS / 100)
  })
})
