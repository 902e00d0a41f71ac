// Lists by a status that few rows have read few rows, also where these are the oldest of many.

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ScopedType } from '#src/catalogue/ids.ts'
import type { Tx } from '#src/platform/db/database.ts'
import { createPager } from '#src/platform/http/page.ts'
import { newId, type Scope } from '#src/platform/ids.ts'
import { createTraces } from '#src/trace/canaries/traces.ts'
import { findDiffs } from '#src/trace/diffs/rows.ts'
import { listTraceJobs } from '#src/trace/jobs/rows.ts'
import { findLocks } from '#src/trace/locks/rows.ts'
import { findRequests } from '#src/trace/shares/disclosure-rows.ts'
import { findShares } from '#src/trace/shares/rows.ts'
import { createTestDatabase, makeAccount, type TestDatabase } from '../support/database.ts'
import { fillEveryTable } from '../support/rows.ts'
import { readingRows } from '../support/rows-read.ts'

const ROWS = 20_000
const RARE = 3
const FEW_ROWS = 40

interface List {
  table: string
  type: ScopedType
  /** Columns of a copy, as SQL: `n` is its number. */
  columns: Record<string, string>
  /** What the oldest rows become. */
  rare: string
  list(tx: Tx, scope: Scope): Promise<readonly { id: string }[]>
}

const page = { before: undefined, limit: 21 }
const at = new Date()
const HASH = `concat('\\x', encode(sha256(n::text::bytea), 'hex'))`

const HASH_TEXT = `repeat('a', 43)`

const LISTS: List[] = [
  {
    table: 'trace_jobs',
    type: 'job',
    columns: { state: `'cancelled'`, sealed_input: 'NULL', finished_at: 'now()', queue_job_id: 'gen_random_uuid()' },
    rare: `state = 'queued', finished_at = NULL`,
    list: (tx, scope) => listTraceJobs(tx, scope, { statuses: ['queued', 'running'] }, page),
  },
  {
    table: 'model_diffs',
    type: 'dif',
    columns: { state: `'cancelled'`, finished_at: 'now()', job_id: 'gen_random_uuid()' },
    rare: `state = 'queued', finished_at = NULL`,
    list: (tx, scope) => findDiffs(tx, scope, { statuses: ['queued'] }, page),
  },
  {
    table: 'session_locks',
    type: 'lck',
    columns: {
      agent_session_id: `concat('session ', n)`,
      agent_id: 'NULL',
      cleared_at: 'now()',
      cleared_by: `'key'`,
      agent_unsuspended: 'false',
    },
    rare: 'cleared_at = NULL, cleared_by = NULL, agent_unsuspended = NULL',
    list: (tx, scope) => findLocks(tx, scope, { statuses: ['locked'] }, { ...page, order: 'asc' }),
  },
  {
    table: 'disclosure_requests',
    type: 'dsr',
    columns: {
      status: `'denied'`,
      verified_at: 'now()',
      decided_at: 'now()',
      decided_by: `'key'`,
      ended_at: 'now()',
      ends_at: `now() + interval '1 day'`,
      code_hash: HASH,
      grant_hash: 'NULL',
      grant_nonce: 'NULL',
    },
    rare: `status = 'pending', decided_at = NULL, decided_by = NULL, ended_at = NULL`,
    list: (tx, scope) => findRequests(tx, scope, { statuses: ['pending', 'granted'], at }, { ...page, order: 'asc' }),
  },
  {
    table: 'trace_shares',
    type: 'shr',
    columns: { token_hash: HASH, expires_at: `now() - interval '1 day'`, revoked_at: 'NULL', revoked_by: 'NULL' },
    rare: `expires_at = now() + interval '1 day'`,
    list: (tx, scope) => findShares(tx, scope, { statuses: ['active'], at }, page),
  },
  {
    table: 'traces',
    type: 'trc',
    columns: {
      model: `'m'`,
      finish_reason: `'stop'`,
      prompt_hash: HASH_TEXT,
      completion_hash: HASH_TEXT,
      prompt_tokens: '1',
      completion_tokens: '1',
      max_tokens: '1',
      sampling: `'{}'::jsonb`,
      token_facts: `'{}'::jsonb`,
      model_version_id: `'m@0'`,
      runtime: `'r'`,
      source: `'server'`,
    },
    rare: `finish_reason = 'canary_tripped', completion_hash = NULL`,
    list: async (tx, scope) => {
      const db = { ...test.db, tenant: <R>(_: Scope, work: (tx: Tx) => Promise<R>) => work(tx) }
      const traces = createTraces({ db, pager: createPager({ key: Buffer.alloc(32) }) })
      return (await traces.list(scope, { finishReasons: ['canary_tripped', 'refusal'] }, { limit: 20 })).data
    },
  },
]

let test: TestDatabase
let scope: Scope
beforeAll(async () => {
  test = await createTestDatabase()
  scope = await makeAccount(test)
  await fillEveryTable(test, scope)
}, 120_000)
afterAll(() => test?.close())

describe.each(LISTS)('the list of $table', ({ table, type, columns, rare, list }) => {
  it('by a rare status reads few rows', async () => {
    const oldest = await copyRows(table, type, columns)
    await test.owner(`UPDATE ${table} SET ${rare} WHERE id = ANY($1)`, [oldest])
    await test.owner(`ANALYZE ${table}`)
    const { answer, most } = await readingRows(test.db, scope, table, (tx) => list(tx, scope))
    expect(answer.map(({ id }) => id).toSorted()).toEqual(oldest)
    expect(most).toBeLessThan(FEW_ROWS)
  })
})

/** Replaces the row that the table has by many. Returns the ids of the oldest. */
async function copyRows(table: string, type: ScopedType, columns: Record<string, string>): Promise<string[]> {
  const id = newId(type, 'sandbox').slice(0, -6)
  const [own] = await test.owner<{ names: string }>(
    `SELECT string_agg(quote_ident(attname), ', ') AS names FROM pg_attribute
     WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped AND attgenerated = '' AND attidentity = ''`,
    [table],
  )
  const members = Object.entries({ id: `'${id}' || lpad(n::text, 6, '0')`, ...columns })
  await test.owner(
    `INSERT INTO ${table} (${own?.names}) SELECT ${own?.names} FROM (
       SELECT copy.* FROM (SELECT * FROM ${table} WHERE account_id = $1 LIMIT 1) the_row
       CROSS JOIN generate_series(1, ${ROWS}) AS n
       CROSS JOIN LATERAL jsonb_populate_record(NULL::${table}, to_jsonb(the_row)
         || jsonb_build_object(${members.map(([column, value]) => `'${column}', ${value}`).join(', ')})) copy) copies`,
    [scope.accountId],
  )
  await test.owner(`DELETE FROM ${table} WHERE account_id = $1 AND NOT starts_with(id, $2)`, [scope.accountId, id])
  return Array.from({ length: RARE }, (_, n) => `${id}${String(n + 1).padStart(6, '0')}`)
}
