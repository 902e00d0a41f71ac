// Each filter of the lists is read from an index, however many rows its account has.

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ApprovalFilter, listApprovals } from '#src/authorize/approvals/rows.ts'
import { findDecisions } from '#src/authorize/decisions/rows.ts'
import { type IntentFilter, listIntents } from '#src/authorize/intents/issued-rows.ts'
import type { Scope } from '#src/platform/ids.ts'
import { type DecisionFilter, SUBJECT_COLUMNS } from '#src/platform/ledger/rows.ts'
import { createTestDatabase, makeAccount, type TestDatabase } from '../support/database.ts'
import { fillEveryTable } from '../support/rows.ts'
import { readingRows } from '../support/rows-read.ts'

// PLANS_ROWS=200000 measures as large an account.
const ROWS = Number(process.env.PLANS_ROWS ?? 6_000)
const FEW_ROWS = 120
const PAGE = { before: undefined, limit: 21 }

let test: TestDatabase
let scope: Scope

beforeAll(async () => {
  test = await createTestDatabase()
  scope = await makeAccount(test)
  await fillEveryTable(test, scope)
  // Every column names something else in one row of a thousand.
  await copy('decisions', 'id', {
    kind: `'verify'`,
    reason: rare('reason'),
    ...Object.fromEntries(Object.values(SUBJECT_COLUMNS).map((column) => [column, rare(column)])),
  })
  await copy('approvals', 'id', {
    jti: 'made.id',
    outcome: `CASE number % 1000 WHEN 0 THEN NULL WHEN 1 THEN 'denied' WHEN 2 THEN 'cancelled' WHEN 3 THEN NULL ELSE 'approved' END`,
    decided_at: `CASE WHEN number % 1000 IN (0, 3) THEN NULL ELSE created_at END`,
    is_told: 'number % 1000 <> 0',
    expires_at: `CASE number % 1000 WHEN 0 THEN now() + interval '1 day' ELSE created_at + interval '1 hour' END`,
    agent_session_id: rare('agent_session_id'),
    roles: `'{approver}'`,
    excluded_ids: `'{}'`,
  })
  await copy('intents', 'jti', {
    agent_id: rare('agent_id'),
    execution_key: 'NULL',
    revocation_id: `CASE number % 1000 WHEN 0 THEN 'rev' END`,
    revoked_scope: `CASE number % 1000 WHEN 0 THEN 'token' END`,
    revoked_at: `CASE number % 1000 WHEN 0 THEN now() END`,
    expires_at: `CASE number % 1000 WHEN 1 THEN now() + interval '1 day' ELSE now() - interval '1 day' END`,
  })
  for (const table of ['decisions', 'approvals', 'intents']) await test.owner(`ANALYZE ${table}`)
}, 300_000)
afterAll(() => test?.close())

const rare = (column: string) => `CASE number % 1000 WHEN 0 THEN 'rare ${column}' ELSE 'common ' || number END`

/** Copies of a row, each a second older than the one before. */
async function copy(table: string, key: string, columns: Record<string, string>): Promise<void> {
  const [example] = await test.owner<{ id: string }>(`SELECT ${key} AS id FROM ${table} LIMIT 1`)
  const prefix = (example?.id ?? '').slice(0, 9)
  const named = await test.owner<{ name: string }>(
    `SELECT attname AS name FROM pg_attribute WHERE attrelid = '${table}'::regclass AND attnum > 0
       AND NOT attisdropped AND attgenerated = ''`,
  )
  const values = named.map(({ name }) => (name === key ? 'made.id' : (columns[name] ?? `example.${name}`)))
  await test.owner(
    `INSERT INTO ${table} (${named.map(({ name }) => name).join()})
     SELECT ${values.join()} FROM generate_series(1, ${ROWS}) AS number
       CROSS JOIN LATERAL (SELECT '${prefix}' || lpad(number::text, 26, '0') AS id) made
       CROSS JOIN (SELECT * FROM ${table} WHERE ${key} = '${example?.id}') example`,
  )
}

describe('the list of decisions', () => {
  const filters: [string, DecisionFilter][] = [
    ['reason', { reasons: ['rare reason'] }],
    ...Object.entries(SUBJECT_COLUMNS).map(([name, column]): [string, DecisionFilter] => [
      column,
      { subjects: { [name]: `rare ${column}` } },
    ]),
  ]

  it.each(filters)('by %s reads little more than it shows', async (_, filter) => {
    const page = { below: undefined, limit: PAGE.limit, maxBytes: 1_000_000 }
    const read = () => readingRows(test.db, scope, 'decisions', (tx) => findDecisions(tx, scope, filter, page))
    const { answer, most } = await read()
    expect(answer.rows.length).toBeGreaterThan(0)
    expect(most).toBeLessThan(FEW_ROWS)
  })
})

describe('the list of approvals', () => {
  const person = { userId: 'usr_other', role: 'approver', isHumanOnly: false }
  const filters: [string, ApprovalFilter][] = [
    ['pending', { statuses: ['pending'] }],
    ['denied', { statuses: ['denied'] }],
    ['cancelled', { statuses: ['cancelled'] }],
    ['expired', { statuses: ['expired'] }],
    ['awaiting a person', { awaiting: person }],
    ['of a session', { agentSessionId: 'rare agent_session_id' }],
  ]

  it.each(filters)('%s reads little more than it shows', async (_, filter) => {
    const { answer, most } = await readingRows(test.db, scope, 'approvals', (tx) =>
      listApprovals(tx, scope, filter, PAGE),
    )
    expect(answer.length).toBeGreaterThan(0)
    expect(most).toBeLessThan(FEW_ROWS + (2 * ROWS) / 1_000)
  })
})

describe('the list of issued tokens', () => {
  const filters: [string, IntentFilter][] = [
    ['active', { statuses: ['active'] }],
    ['revoked', { statuses: ['revoked'] }],
    ['expired', { statuses: ['expired'] }],
    ['of an agent', { agentId: 'rare agent_id' }],
  ]

  it.each(filters)('%s reads little more than it shows', async (_, filter) => {
    const { answer, most } = await readingRows(test.db, scope, 'intents', (tx) => listIntents(tx, scope, filter, PAGE))
    expect(answer.length).toBeGreaterThan(0)
    expect(most).toBeLessThan(FEW_ROWS + (2 * ROWS) / 1_000)
  })
})
