// Plans that hold while the statistics know nothing of an account: those of its first batch.

import { createHash } from 'node:crypto'
import { globSync, readFileSync } from 'node:fs'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { findScreeningBatch, insertScreeningBatch } from '#src/attest/screen/batch-rows.ts'
import { findKnownScores, findScoresOf } from '#src/attest/screen/call-rows.ts'
import { type Conclusion, concludeScreenings, screeningFactors, selectScreening } from '#src/attest/screen/rows.ts'
import { DEFAULT_THRESHOLDS } from '#src/attest/screen/thresholds.ts'
import type { Tx } from '#src/platform/db/database.ts'
import { newId, type Scope } from '#src/platform/ids.ts'
import { createTestDatabase, makeAccount, type TestDatabase } from '../../support/database.ts'
import { readingRows } from '../../support/rows-read.ts'

const FILE = createHash('sha256').update('a file').digest()
const THE_FILE = `'\\x${FILE.toString('hex')}'::bytea`
const MANY = 3_000
const UNAVAILABLE: Conclusion = {
  status: 'unavailable',
  reason: 'detector_failed',
  detector: null,
  detectorVersion: null,
  thresholds: DEFAULT_THRESHOLDS,
  genaiScore: null,
  deepfakeScore: null,
  models: [],
  factors: [],
  observations: [],
  isCached: false,
}

let database: TestDatabase
let scope: Scope
beforeAll(async () => {
  database = await createTestDatabase()
  await addScreenings(await makeAccount(database), 500)
  await database.owner('ANALYZE screenings')
  scope = await makeAccount(database)
  await addScreenings(scope, MANY)
})
afterAll(() => database?.close())

/** Screenings of different files in the queue, and as many of one file with a score. */
async function addScreenings(account: Scope, count: number): Promise<void> {
  await addQueued(account, count)
  await addScored(account, count, THE_FILE)
}

const addQueued = (account: Scope, count: number, perFile = 1) =>
  add(account, count, { media_sha256: `sha256((number / ${perFile})::text::bytea)`, status: `'queued'` })

const addScored = (account: Scope, count: number, digest: string) =>
  add(account, count, {
    media_sha256: digest,
    status: `'scored'`,
    detector: `'http'`,
    detector_version: `'1'`,
    thresholds: `'{}'`,
    genai_score: '0.1',
    completed_at: 'now()',
  })

async function add({ accountId, environment }: Scope, count: number, columns: Record<string, string>): Promise<void> {
  await database.owner(
    `INSERT INTO screenings (account_id, environment, id, media_id, job_id, ${Object.keys(columns).join()})
     SELECT $1, $2, $3 || lpad(to_hex(number), 6, '0'), 'med', gen_random_uuid(), ${Object.values(columns).join()}
     FROM generate_series(1, $4::int) AS number`,
    [accountId, environment, newId('scr', environment).slice(0, -6), count],
  )
}

describe('an account that is newer than the statistics', () => {
  it('has its look-ups by another index than the one of all its rows', async () => {
    const asked = { screeningId: 'scr', mediaSha256: FILE, detector: 'http', version: '1' }
    const found = await readingRows(database.db, scope, 'screenings', (tx) => findKnownScores(tx, asked))
    expect(found).toMatchObject({ answer: { genai: 0.1 }, most: 1 })
    const factors = await readingRows(database.db, scope, 'screenings', (tx) => screeningFactors(tx, [FILE]))
    expect(factors).toMatchObject({ answer: [[]], most: 1 })
  })

  it('has a few of its queued screenings ended without reading the others', async () => {
    const ended = await database.owner<{ id: string }>(
      `SELECT id FROM screenings WHERE account_id = $1 AND status = 'queued' LIMIT 20`,
      [scope.accountId],
    )
    const { most } = await readingRows(database.db, scope, 'screenings', (tx) =>
      concludeScreenings(
        tx,
        ended.map(({ id }) => ({ id, ...UNAVAILABLE })),
      ),
    )
    expect(most).toBeLessThan(2 * ended.length + 1)
  })

  // The planner takes a join for the cheaper way where it expects one row of the account, and then reads all of them.
  it('has no rows changed by a join with what was given alone', async () => {
    const tables = await database.owner<{ name: string }>(
      `SELECT table_name AS name FROM information_schema.key_column_usage
       WHERE constraint_name LIKE '%_pkey' AND ordinal_position = 1 AND column_name = 'account_id'`,
    )
    const joined = globSync('src/**/*.ts').flatMap((file) =>
      [...readFileSync(file, 'utf8').matchAll(/UPDATE (\w+) SET [^`;]*? FROM (?:unnest|jsonb_to_recordset)\([^`]*/g)]
        .filter(([text, table]) => tables.some(({ name }) => name === table) && text.includes(`WHERE ${table}.id = `))
        .map(([text, table]) => ({ file, table, names: text.includes(`${table}.id = ANY(`) })),
    )
    expect(joined.length).toBeGreaterThan(2)
    expect(joined.filter(({ names }) => !names)).toEqual([])
  })

  it('has every policy of tenants compare with what the planner does not know', async () => {
    const known = await database.owner<{ tablename: string }>(
      `SELECT tablename FROM pg_policies WHERE 'countersign_app' = ANY(roles)
         AND concat(qual, with_check) ~ 'current_setting' AND concat(qual, with_check) !~ 'SELECT (NULLIF|CASE)'`,
    )
    expect(known).toEqual([])
  })
})

// The planner knows how many rows a file has on average, and how few of all rows name a detector.
describe('a file that was screened thousands of times, beside many screenings of which few have a score', () => {
  it('has its latest score read, and not all of them', async () => {
    await database.owner('TRUNCATE screenings CASCADE')
    const others = await makeAccount(database)
    await addQueued(others, 20_000, 50)
    await addScored(others, 2_000, 'sha256((number / 100)::text::bytea)')
    await addScored(scope, MANY, THE_FILE)
    await database.owner('ANALYZE screenings')
    const asked = { screeningId: 'scr', mediaSha256: FILE, detector: 'http', version: '1' }
    const known = await readingRows(database.db, scope, 'screenings', (tx) => findKnownScores(tx, asked))
    expect(known).toMatchObject({ answer: { genai: 0.1 }, most: 1 })
    const http = { name: 'http', version: '1' }
    const scores = await readingRows(database.db, scope, 'screenings', (tx) => findScoresOf(tx, [FILE], http))
    expect(scores).toMatchObject({ answer: [{ genai: 0.1 }], most: 1 })
  })
})

describe('a statement that was planned while its table was small', () => {
  beforeEach(async () => {
    await database.owner('TRUNCATE screenings CASCADE')
    for (const account of [scope, await makeAccount(database)]) await addQueued(account, 1)
    await database.owner('ANALYZE screenings')
  })

  /** The plan with its figures, of the last statement that `run` sends, planned before `fill`. */
  async function planBefore(fill: () => Promise<void>, run: (tx: Tx) => Promise<unknown>): Promise<string> {
    return database.db.tenant(scope, async (tx) => {
      let sent = { text: '', values: [] as readonly unknown[] }
      const query: Tx['query'] = (text, values = []) => {
        sent = { text, values }
        return tx.query(text, values)
      }
      await run({ ...tx, query })
      const literals = sent.values.map((value) => (Array.isArray(value) ? `'{${value}}'` : `'${value}'`))
      const execute = `EXECUTE look_up (${literals.join()})`
      await tx.adhoc('SET LOCAL plan_cache_mode = force_generic_plan')
      await tx.adhoc(`PREPARE look_up AS ${sent.text}`)
      await tx.adhoc(execute)
      await fill()
      const lines = await tx.adhoc<Record<string, string>>(`EXPLAIN (ANALYZE) ${execute}`)
      await tx.adhoc('DEALLOCATE look_up')
      return lines.map((line) => line['QUERY PLAN']).join('\n')
    })
  }

  it('reads one row of the many that came since', async () => {
    const [row] = await database.owner<{ id: string }>('SELECT id FROM screenings WHERE account_id = $1', [
      scope.accountId,
    ])
    const { text, values } = selectScreening(row?.id ?? '')
    const plan = await planBefore(
      () => addScreenings(scope, MANY),
      (tx) => tx.query(text, values),
    )
    expect(plan).toContain('rows=1')
    expect(plan).not.toContain('Rows Removed by Filter')
  })

  it('counts the screenings of a batch, and not all of its account', async () => {
    const id = newId('bat', scope.environment)
    await database.db.tenant(scope, (tx) => insertScreeningBatch(tx, scope, { id, createdAt: new Date() }))
    await database.owner(`UPDATE screenings SET batch_id = $2, batch_line = 1 WHERE account_id = $1`, [
      scope.accountId,
      id,
    ])
    const plan = await planBefore(
      () => addScreenings(scope, MANY),
      (tx) => findScreeningBatch(tx, id),
    )
    expect(plan).toContain('rows=1')
    expect(plan).not.toContain('Rows Removed by Filter')
  })
})
