// Lists by time read the rows of their range and of an hour beside it, also in plans that are made for all values.

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { countEntries, findAuditEntries } from '#src/account/audit/rows.ts'
import { countDeliveries, listDeliveries } from '#src/account/webhooks/delivery-rows.ts'
import { countAgents, findAgents } from '#src/agents/registry/rows.ts'
import { countSessions, findAgentSessions } from '#src/agents/registry/session-rows.ts'
import { countBatches, findBatches } from '#src/attest/batches/rows.ts'
import { countStreams, findStreams } from '#src/attest/captures/stream-rows.ts'
import { countCases, findCases } from '#src/attest/cases/rows.ts'
import { findReevaluations } from '#src/attest/causes/rows.ts'
import { countClaims, findClaims } from '#src/attest/claims/claim-rows.ts'
import { countDevices, listDevices } from '#src/attest/devices/rows.ts'
import { countScreeningBatches, findScreeningBatches } from '#src/attest/screen/batch-rows.ts'
import { countScreenings, findScreenings } from '#src/attest/screen/rows.ts'
import { listApprovals } from '#src/authorize/approvals/rows.ts'
import { countDecisions, findDecisions } from '#src/authorize/decisions/rows.ts'
import { countMandates, listMandates } from '#src/authorize/mandates/rows.ts'
import { countRevocations, listRevocations } from '#src/authorize/revocations/rows.ts'
import { countSchedules, listSchedules } from '#src/authorize/schedules/rows.ts'
import { type AccountType, SCOPED_TYPES, type ScopedType } from '#src/catalogue/ids.ts'
import type { Tx } from '#src/platform/db/database.ts'
import { boundsOfRange, countOf, MAX_TOTAL, type TimeRange } from '#src/platform/db/id-ranges.ts'
import { createPager } from '#src/platform/http/page.ts'
import { newId, type Scope } from '#src/platform/ids.ts'
import { createTraces } from '#src/trace/canaries/traces.ts'
import { countDiffs, findDiffs } from '#src/trace/diffs/rows.ts'
import { countTraceJobs, listTraceJobs } from '#src/trace/jobs/rows.ts'
import { countLocks, findLocks } from '#src/trace/locks/rows.ts'
import { countRequests, findRequests } from '#src/trace/shares/disclosure-rows.ts'
import { countShares, findShares } from '#src/trace/shares/rows.ts'
import { countViews, findViews } from '#src/trace/shares/view-rows.ts'
import { createTestDatabase, makeAccount, type TestDatabase } from '../../support/database.ts'
import { fillEveryTable } from '../../support/rows.ts'
import { readingRows } from '../../support/rows-read.ts'

const ROWS = 2_000
const MINUTES_APART = 10
const HOUR_MS = 3_600_000
// Six rows an hour: two hours of ids beside a range of one, and a page of 20 with the row that says whether another follows.
// Mandates are read once more each, with their chains.
const FEW_ROWS = 60

type Page = { before: string | undefined; limit: number }
type Listed = readonly { id: string }[]

interface List {
  table: string
  type: ScopedType | AccountType
  time?: string
  /** Columns of a copy, as SQL: `made` has its `id` and its time `at`. */
  columns?: Record<string, string>
  list(tx: Tx, scope: Scope, range: TimeRange, page: Page): Promise<Listed>
  count?(tx: Tx, scope: Scope, range: TimeRange): Promise<number>
}

const tracesIn = (tx: Tx) =>
  createTraces({
    db: { ...test.db, tenant: <R>(_: Scope, work: (tx: Tx) => Promise<R>) => work(tx) },
    pager: createPager({ key: Buffer.alloc(32) }),
  })
const fromBefore = ({ from, to }: TimeRange) => ({ from, to })
const gteLt = ({ from, to }: TimeRange) => ({ from, to })
const HASH = `concat('\\x', encode(sha256(made.id::bytea), 'hex'))`
const now = new Date()
const TIMES = Array.from({ length: ROWS }, (_, n) => new Date(now.getTime() - (n + 0.5) * MINUTES_APART * 60_000))
// The same in every table, so that rows can refer to those of other tables.
const SANDBOX_IDS = TIMES.map((at) => newId('clm', 'sandbox', at.getTime()).slice('clm_'.length))

const LISTS: List[] = [
  {
    table: 'claims',
    type: 'clm',
    columns: { reference: 'NULL' },
    list: (tx, scope, range, { before, limit }) =>
      findClaims(tx, scope, fromBefore(range), {
        order: { by: 'created', direction: 'desc' },
        after: before === undefined ? undefined : { id: before, value: '' },
        limit,
      }),
    count: (tx, scope, range) => countClaims(tx, scope, fromBefore(range)),
  },
  {
    table: 'traces',
    type: 'trc',
    list: async (tx, scope, range, { limit }) =>
      (await tracesIn(tx).list(scope, fromBefore(range), { limit: limit - 1 })).data,
    count: async (tx, scope, range) =>
      (await tracesIn(tx).list(scope, fromBefore(range), { limit: 1, include: 'total_count' })).total_count ?? 0,
  },
  {
    table: 'approvals',
    type: 'apr',
    columns: { jti: 'made.id' },
    list: (tx, scope, range, page) => listApprovals(tx, scope, gteLt(range), page),
  },
  {
    table: 'screenings',
    type: 'scr',
    columns: { batch_id: 'NULL', batch_line: 'NULL' },
    list: (tx, scope, range, page) => findScreenings(tx, scope, fromBefore(range), page),
    count: (tx, scope, range) => countScreenings(tx, scope, fromBefore(range)),
  },
  {
    table: 'cases',
    type: 'cas',
    columns: { claim_id: `replace(made.id, 'cas_', 'clm_')` },
    list: (tx, scope, range, { before, limit }) =>
      findCases(
        tx,
        scope,
        { ...fromBefore(range), now },
        {
          order: { by: 'created', direction: 'desc' },
          after: before === undefined ? undefined : { id: before, dueAt: undefined },
          limit,
        },
      ),
    count: (tx, scope, range) => countCases(tx, scope, { ...fromBefore(range), now }),
  },
  {
    table: 'batches',
    type: 'bat',
    list: (tx, scope, { from, to }, page) => findBatches(tx, scope, { from, to }, page),
    count: (tx, scope, { from, to }) => countBatches(tx, scope, { from, to }),
  },
  {
    table: 'screening_batches',
    type: 'bat',
    list: (tx, scope, range, page) => findScreeningBatches(tx, scope, range, page),
    count: (tx, scope, range) => countScreeningBatches(tx, scope, range),
  },
  {
    table: 'capture_sessions',
    type: 'cap',
    time: 'issued_at',
    columns: { nonce: 'made.id', consumed_by: 'NULL', consumed_at: 'NULL' },
    list: (tx, scope, range, page) => findStreams(tx, scope, range, page),
    count: (tx, scope, range) => countStreams(tx, scope, range),
  },
  {
    table: 'reevaluations',
    type: 'ree',
    columns: { key: 'made.id' },
    list: (tx, scope, range, page) => findReevaluations(tx, scope, fromBefore(range), page),
  },
  {
    table: 'devices',
    type: 'dev',
    time: 'enrolled_at',
    columns: { spki_digest: HASH },
    list: (tx, scope, { from, to }, { before, limit }) => {
      const after = before === undefined ? undefined : { id: before, notAfter: undefined }
      return listDevices(tx, scope, { enrolledGte: from, enrolledLt: to }, { after, limit, now })
    },
    count: (tx, scope, { from, to }) => countDevices(tx, scope, { enrolledGte: from, enrolledLt: to }, now),
  },
  {
    table: 'trace_jobs',
    type: 'job',
    list: (tx, scope, range, page) => listTraceJobs(tx, scope, gteLt(range), page),
    count: (tx, scope, range) => countTraceJobs(tx, scope, gteLt(range)),
  },
  {
    table: 'model_diffs',
    type: 'dif',
    list: (tx, scope, range, page) => findDiffs(tx, scope, gteLt(range), page),
    count: (tx, scope, range) => countDiffs(tx, scope, gteLt(range)),
  },
  {
    table: 'trace_shares',
    type: 'shr',
    columns: { token_hash: HASH },
    list: (tx, scope, range, page) => findShares(tx, scope, { ...gteLt(range), at: now }, page),
    count: (tx, scope, range) => countShares(tx, scope, { ...gteLt(range), at: now }),
  },
  {
    table: 'share_views',
    type: 'shv',
    time: 'viewed_at',
    list: (tx, scope, range, page) => findViews(tx, scope, { ...gteLt(range), shareId }, page),
    count: (tx, scope, range) => countViews(tx, scope, { ...gteLt(range), shareId }),
  },
  {
    table: 'disclosure_requests',
    type: 'dsr',
    list: (tx, scope, range, page) => findRequests(tx, scope, { ...gteLt(range), at: now }, page),
    count: (tx, scope, range) => countRequests(tx, scope, { ...gteLt(range), at: now }),
  },
  {
    table: 'session_locks',
    type: 'lck',
    columns: { cleared_at: 'now()', cleared_by: `'key'`, agent_unsuspended: 'false' },
    list: (tx, scope, range, page) => findLocks(tx, scope, fromBefore(range), page),
    count: (tx, scope, range) => countLocks(tx, scope, fromBefore(range)),
  },
  {
    table: 'agents',
    type: 'agt',
    list: (tx, scope, range, page) => findAgents(tx, scope, gteLt(range), page),
    count: (tx, scope, range) => countAgents(tx, scope, gteLt(range)),
  },
  {
    table: 'agent_sessions',
    type: 'ses',
    list: (tx, scope, range, page) => findAgentSessions(tx, scope, { ...gteLt(range), agentId }, page),
    count: (tx, scope, range) => countSessions(tx, scope, { ...gteLt(range), agentId }),
  },
  {
    table: 'agent_sessions',
    type: 'ses',
    list: (tx, scope, range, page) => findAgentSessions(tx, scope, gteLt(range), page),
    count: (tx, scope, range) => countSessions(tx, scope, gteLt(range)),
  },
  {
    table: 'mandates',
    type: 'mnd',
    columns: { path: 'ARRAY[made.id]', expires_at: 'made.at' },
    list: (tx, scope, range, page) => listMandates(tx, scope, gteLt(range), page),
    count: (tx, scope, range) => countMandates(tx, scope, gteLt(range)),
  },
  {
    table: 'revocations',
    type: 'rev',
    list: (tx, scope, range, page) => listRevocations(tx, scope, gteLt(range), page),
    count: (tx, scope, range) => countRevocations(tx, scope, gteLt(range)),
  },
  {
    table: 'schedules',
    type: 'sch',
    list: (tx, scope, range, page) => listSchedules(tx, scope, gteLt(range), page),
    count: (tx, scope, range) => countSchedules(tx, scope, gteLt(range)),
  },
  {
    table: 'deliveries',
    type: 'whd',
    columns: { event_id: 'made.id' },
    list: (tx, { environment }, range, page) => listDeliveries(tx, environment, gteLt(range), page),
    count: (tx, { environment }, range) => countDeliveries(tx, environment, gteLt(range)),
  },
  {
    table: 'decisions',
    type: 'dec',
    time: 'at',
    list: async (tx, scope, range, { before, limit }) =>
      (await findDecisions(tx, scope, range, { below: before, limit, maxBytes: 1_000_000 })).rows,
    count: (tx, scope, range) => countDecisions(tx, scope, range),
  },
  {
    table: 'audit_entries',
    type: 'aud',
    time: 'at',
    list: (tx, _scope, range, { before, limit }) => findAuditEntries(tx, gteLt(range), { before, limit }),
    count: (tx, _scope, range) => countEntries(tx, gteLt(range)),
  },
]

let test: TestDatabase
let scope: Scope
let shareId: string
let agentId: string

beforeAll(async () => {
  test = await createTestDatabase()
  scope = await makeAccount(test)
  await fillEveryTable(test, scope)
  // Others are not listed.
  await test.owner('UPDATE disclosure_requests SET verified_at = now()')
  const copied = new Map(LISTS.map((list) => [list.table, list]))
  for (const [table, { type, time = 'created_at', columns = {} }] of copied)
    await copyRows(table, { type, time, columns })
  const only = async (column: string, table: string) =>
    (await test.owner<{ id: string }>(`SELECT DISTINCT ${column} AS id FROM ${table}`))[0]?.id ?? ''
  shareId = await only('share_id', 'share_views')
  agentId = await only('agent_id', 'agent_sessions')
}, 120_000)
afterAll(() => test.close())

describe.each(LISTS)('the list of $table', ({ table, time = 'created_at', list, count }) => {
  const page = { before: undefined, limit: 21 }
  const ago = (hours: number) => new Date(now.getTime() - hours * HOUR_MS)
  const ranges: [string, TimeRange][] = [
    ['of the last hour', { from: ago(1) }],
    ['of an hour ten days ago', { from: ago(241), to: ago(240) }],
    ['before a time', { to: ago(150) }],
    ['before every row', { to: ago(10_000) }],
    ['after every row', { from: ago(-100) }],
  ]

  it.each(ranges)('%s reads few rows, and lists those of the range', async (_, range) => {
    const { answer, most } = await readingRows(test.db, scope, table, (tx) => list(tx, scope, range, page))
    expect(answer.map(({ id }) => id).slice(0, 20)).toEqual((await idsWithin(table, time, range)).slice(0, 20))
    expect(most).toBeLessThan(FEW_ROWS)
  })

  it.skipIf(count === undefined)('counts a range by few rows', async () => {
    const range = { from: ago(241), to: ago(240) }
    const { answer, most } = await readingRows(
      test.db,
      scope,
      table,
      (tx) => count?.(tx, scope, range) ?? Promise.resolve(0),
    )
    expect(answer).toBe((await idsWithin(table, time, range)).length)
    expect(most).toBeLessThan(FEW_ROWS)
  })
})

it('a count reads no more rows than the largest total that is told', async () => {
  const count = async (rows: number) => {
    const [row] = await test.owner<{ count: number }>(countOf(`generate_series(1, ${rows}) AS n WHERE n > 0`))
    return row?.count
  }
  expect(await count(3)).toBe(3)
  expect(await count(MAX_TOTAL + 1)).toBe(MAX_TOTAL)
})

it('the bounds of a fixed statement hold every id where a range is open, and end at the cursor', () => {
  const ids = { type: 'clm', environment: 'live' } as const
  const made = [0, now.getTime(), Date.parse('9999-12-31T23:59:59Z')].map((at) => newId('clm', 'live', at))
  const [lowest, above] = boundsOfRange(ids, {})
  expect(made.filter((id) => lowest <= id && id < above)).toEqual(made)
  const [, cursor] = boundsOfRange(ids, { to: now }, made[0])
  expect(cursor).toBe(made[0])
  expect(boundsOfRange(ids, { to: now }, made[2])).toEqual(boundsOfRange(ids, { to: now }))
})

/** Copies the row that the table has, to times that lie minutes apart. */
async function copyRows(
  table: string,
  { type, time, columns }: Required<Pick<List, 'type' | 'time' | 'columns'>>,
): Promise<void> {
  const isScoped = Object.hasOwn(SCOPED_TYPES, type)
  const ids = SANDBOX_IDS.map((id) => `${type}_${isScoped ? id : id.slice('test_'.length)}`)
  const members = Object.entries({ id: 'made.id', [time]: 'made.at', ...columns })
  const [own] = await test.owner<{ names: string }>(
    `SELECT string_agg(quote_ident(attname), ', ') AS names FROM pg_attribute
     WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped AND attgenerated = '' AND attidentity = ''`,
    [table],
  )
  await test.owner(
    `INSERT INTO ${table} (${own?.names}) SELECT ${own?.names} FROM (
       SELECT copy.* FROM (SELECT * FROM ${table} WHERE account_id = $1 LIMIT 1) the_row
       CROSS JOIN unnest($2::text[], $3::timestamptz[]) AS made (id, at)
       CROSS JOIN LATERAL jsonb_populate_record(NULL::${table}, to_jsonb(the_row)
         || jsonb_build_object(${members.map(([column, value]) => `'${column}', ${value}`).join(', ')})) copy) copies`,
    [scope.accountId, ids, TIMES],
  )
  await test.owner(`ANALYZE ${table}`)
}

async function idsWithin(table: string, time: string, { from, to }: TimeRange): Promise<string[]> {
  const rows = await test.owner<{ id: string }>(
    `SELECT id FROM ${table} WHERE ${time} >= coalesce($1, '-infinity'::timestamptz)
       AND ${time} < coalesce($2, 'infinity'::timestamptz) ORDER BY id DESC`,
    [from ?? null, to ?? null],
  )
  return rows.map(({ id }) => id)
}
