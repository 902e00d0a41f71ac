// Migrating a database that is in use, that a later version or other code has migrated, or whose owner is no superuser.

import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { migrate } from '#src/platform/db/migrate.ts'
import { migrateEngine } from '#src/platform/jobs/bull.ts'
import { createTestDatabase, loginUrl, makeAccount, type TestDatabase } from '../../support/database.ts'

// It adds a column, so it needs its table for itself.
const ADDING = '9000_added.ts'
let directory: string
let database: TestDatabase

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'countersign-migrations-'))
  cpSync(resolve(import.meta.dirname, '../../../migrations'), directory, { recursive: true })
  writeFileSync(join(directory, 'package.json'), '{ "type": "module" }')
  writeFileSync(
    join(directory, ADDING),
    "export const up = (knex) => knex.raw('ALTER TABLE devices ADD COLUMN added text')\nexport const down = () => {}\n",
  )
})
afterAll(() => rmSync(directory, { recursive: true, force: true }))
beforeEach(async () => {
  database = await createTestDatabase()
})
afterEach(() => database?.close())

const run = (more: Partial<Parameters<typeof migrate>[0]> = {}) =>
  migrate({ ownerUrl: database.ownerUrl, loginUrl: database.url, migrateEngine, directory, ...more })

it('gives way to what uses a table, while the service goes on, and is done when that has ended', async () => {
  const scope = await makeAccount(database)
  const dump = new pg.Client({ connectionString: database.ownerUrl })
  await dump.connect()
  try {
    await dump.query('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT FROM devices')
    const waiting = Promise.withResolvers<string>()
    const migrated = run({ onWait: waiting.resolve })
    expect(await waiting.promise).toMatch(/waits for a table/)
    // Between two tries: a statement of the service waits for 0.9 s at most.
    const read = () => database.db.tenant(scope, (tx) => tx.query('SELECT FROM devices')).catch(() => 'busy')
    await expect.poll(read).toEqual([])
    await dump.query('COMMIT')
    expect(await migrated).toEqual({ applied: [ADDING], newer: [] })
  } finally {
    await dump.end()
  }
  const columns = await database.owner(
    "SELECT FROM information_schema.columns WHERE table_name = 'devices' AND column_name = 'added'",
  )
  expect(columns).toHaveLength(1)
})

it('applies what is missing once, and then nothing', async () => {
  const both = await Promise.all([run(), run()])
  expect(both.flatMap(({ applied }) => applied)).toEqual([ADDING])
  expect(await run()).toEqual({ applied: [], newer: [] })
})

it('leaves a database as it is that a later version has migrated, unless it lacks something', async () => {
  await database.owner("INSERT INTO migrations (name, batch, migration_time) VALUES ('9999_later.ts', 99, now())")
  await expect(run()).rejects.toThrow(`(it has 9999_later.ts) and lacks ${ADDING}: bring the code up to date`)
  const own = resolve(import.meta.dirname, '../../../migrations')
  expect(await run({ directory: own })).toEqual({ applied: [], newer: ['9999_later.ts'] })
})

it('refuses a database that other code made, and says how to get an empty one', async () => {
  await database.owner("UPDATE migrations SET name = replace(name, '.ts', '_of_another_code.ts')")
  const [first] = await database.owner<{ name: string }>('SELECT name FROM migrations ORDER BY name')
  await expect(run()).rejects.toThrow(new RegExp(`\\(${first?.name} and \\d+ more\\).*or name an empty database\\.$`))
  await expect(run({ remedy: 'remove .data' })).rejects.toThrow(/, or remove \.data\.$/)
  expect(await database.owner("SELECT FROM pg_attribute WHERE attname = 'added'")).toEqual([])
})

it('prepares the engine again where the service made a sequence and the owner is no superuser', async () => {
  const name = new URL(database.ownerUrl).pathname.slice(1)
  const owner = `engine_owner_${name}`
  await database.owner(`CREATE ROLE ${owner} LOGIN NOSUPERUSER PASSWORD 'test'`)
  try {
    await database.owner(`ALTER DATABASE ${name} OWNER TO ${owner}`)
    await database.owner(`ALTER SCHEMA bullmq OWNER TO ${owner}`)
    for (const kind of ['TABLE', 'SEQUENCE'] as const) {
      const objects = await database.owner<{ name: string }>(
        `SELECT c.oid::regclass::text AS name FROM pg_class c WHERE relnamespace = 'bullmq'::regnamespace AND relkind = $1
           AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = c.oid AND d.deptype IN ('a', 'i'))`,
        [kind === 'TABLE' ? 'r' : 'S'],
      )
      for (const { name: object } of objects) await database.owner(`ALTER ${kind} ${object} OWNER TO ${owner}`)
    }
    const functions = await database.owner<{ name: string }>(
      "SELECT oid::regprocedure::text AS name FROM pg_proc WHERE pronamespace = 'bullmq'::regnamespace",
    )
    for (const { name: one } of functions) await database.owner(`ALTER FUNCTION ${one} OWNER TO ${owner}`)
    const service = new pg.Client({ connectionString: database.url })
    await service.connect()
    await service.query('CREATE SEQUENCE bullmq.made_by_the_service').finally(() => service.end())

    const client = new pg.Client({ connectionString: loginUrl(database.ownerUrl, owner) })
    await client.connect()
    await migrateEngine(client, new URL(database.url).username).finally(() => client.end())
  } finally {
    await database.owner(`REASSIGN OWNED BY ${owner} TO CURRENT_USER`)
    await database.owner(`DROP OWNED BY ${owner}`)
    await database.owner(`DROP ROLE ${owner}`)
  }
})

it.each(['submission', 'video_chunks'])('leaves %s to lz4, or uncompressed where Postgres lacks it', async (name) => {
  const [column] = await database.owner(
    `SELECT attcompression = 'l' AS "isLz4", attstorage = 'e' AS "isUncompressed"
     FROM pg_attribute WHERE attrelid = 'attestations'::regclass AND attname = $1`,
    [name],
  )
  const [{ hasLz4 } = {}] = await database.owner(
    `SELECT 'lz4' = ANY (enumvals) AS "hasLz4" FROM pg_settings WHERE name = 'default_toast_compression'`,
  )
  expect(column).toEqual({ isLz4: hasLz4, isUncompressed: !hasLz4 })
})
