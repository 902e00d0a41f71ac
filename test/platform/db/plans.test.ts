// Plans that hold while the statistics know nothing of an account: those of its first batch.

import { createHash } from 'node:crypto'
import { globSync, readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findKnownScores } from '#src/attest/screen/call-rows.ts'
import { type Conclusion, concludeScreenings, screeningFactors } from '#src/attest/screen/rows.ts'
import { DEFAULT_THRESHOLDS } from '#src/attest/screen/thresholds.ts'
import { newId, type Scope } from '#src/platform/ids.ts'
import { createTestDatabase, makeAccount, type TestDatabase } from '../../support/database.ts'
import { readingRows } from '../../support/rows-read.ts'

const FILE = createHash('sha256').update('a file').digest()
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
async function addScreenings({ accountId, environment }: Scope, count: number): Promise<void> {
  const add = (columns: string, values: string) =>
    database.owner(
      `INSERT INTO screenings (account_id, environment, id, media_id, job_id, media_sha256, ${columns})
       SELECT $1, $2, $3 || lpad(to_hex(number), 6, '0'), 'med', gen_random_uuid(), ${values}
       FROM generate_series(1, $4::int) AS number`,
      [accountId, environment, newId('scr', environment).slice(0, -6), count],
    )
  await add('status', `sha256(number::text::bytea), 'queued'`)
  await add(
    'status, detector, detector_version, thresholds, genai_score, completed_at',
    `'\\x${FILE.toString('hex')}'::bytea, 'scored', 'http', '1', '{}', 0.1, now()`,
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

describe('a statement that was planned while its table was small', () => {
  it('reads one row of the many that came since', async () => {
    await database.owner('TRUNCATE screenings CASCADE')
    await addScreenings(scope, 1)
    await database.owner('ANALYZE screenings')
    const [row] = await database.owner<{ id: string }>(`SELECT id FROM screenings WHERE status = 'queued'`)
    const plan = await database.db.tenant(scope, async (tx) => {
      await tx.adhoc('SET LOCAL plan_cache_mode = force_generic_plan')
      await tx.adhoc('PREPARE look_up (text) AS SELECT * FROM screenings WHERE id = $1')
      await tx.adhoc(`EXECUTE look_up ('${row?.id}')`)
      await addScreenings(scope, MANY)
      const lines = await tx.adhoc<Record<string, string>>(`EXPLAIN (ANALYZE) EXECUTE look_up ('${row?.id}')`)
      await tx.adhoc('DEALLOCATE look_up')
      return lines.map((line) => line['QUERY PLAN']).join('\n')
    })
    expect(plan).toContain('rows=1')
    expect(plan).not.toContain('Rows Removed by Filter')
  })
})
