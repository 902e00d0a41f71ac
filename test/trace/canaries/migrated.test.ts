// Traces that were stored before their trips were: a reading counts for a day at most, so that those of a day count on.

import knex from 'knex'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { newId } from '#src/platform/ids.ts'
import { up } from '../../../migrations/0082_trips_of_traces.ts'
import { createTestDatabase, makeAccount, type TestDatabase } from '../../support/database.ts'

let database: TestDatabase

beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(() => database?.close())

it('traces of a day keep their trips, and readings of inputs, whose length their caller chose, allow nothing more', async () => {
  const { accountId, environment } = await makeAccount(database)
  await database.owner('ALTER TABLE traces DROP COLUMN tripped_families, DROP COLUMN cut_after')
  const readings = JSON.stringify([
    { family: 'a', tripped: true },
    { family: 'b', tripped: false },
  ])
  const store = (source: string, given: string, age: string) =>
    database.owner(
      `INSERT INTO traces (account_id, environment, id, source, canary_set, readings, reading_at, digest, created_by, created_at)
       VALUES ($1, $2, $3, $4, 's', $5, now(), repeat('d', 43), 'key', now() - $6::interval)`,
      [accountId, environment, newId('trc', environment), source, given, age],
    )
  await store('client', readings, '1 hour')
  await store('server', '[]', '2 hours')
  await store('client', readings, '2 days')
  await migrateAsPlainOwner()
  const rows = await database.owner('SELECT tripped_families, cut_after FROM traces ORDER BY created_at DESC')
  expect(rows).toEqual([
    { tripped_families: ['a'], cut_after: null },
    { tripped_families: null, cut_after: 0 },
    { tripped_families: null, cut_after: null },
  ])
})

// Row-level security does not bind a superuser, which the owner of a database of the tests is.
async function migrateAsPlainOwner(): Promise<void> {
  const url = new URL(database.ownerUrl)
  const role = `plain_owner_${url.pathname.slice(1)}`
  await database.owner(`CREATE ROLE ${role} LOGIN NOSUPERUSER PASSWORD 'test'`)
  await database.owner(`GRANT CREATE ON SCHEMA public TO ${role}`)
  await database.owner(`ALTER TABLE traces OWNER TO ${role}`)
  url.username = role
  url.password = 'test'
  const connection = knex({ client: 'pg', connection: url.href })
  try {
    await connection.transaction(up)
  } finally {
    await connection.destroy()
    await database.owner('ALTER TABLE traces OWNER TO CURRENT_USER')
    await database.owner(`REVOKE CREATE ON SCHEMA public FROM ${role}`)
    await database.owner(`DROP ROLE ${role}`)
  }
}
