import type { Knex } from 'knex'

// Each table in a transaction of its own: together they would lock all of them while they wait for one.
export const config = { transaction: false }

const LOCK_TIMEOUT_MS = 2_000
const TRIES = 60
// The lock of a table comes before that of `accounts`, and transactions of tenants take them the other way round.
const NOT_NOW = ['55P03', '40P01']

const TABLES = [
  'attestations',
  'case_entries',
  'cases',
  'device_entries',
  'fingerprints',
  'screening_calls',
  'trace_contents',
  'trace_jobs',
  'trace_manifests',
]

// Each has a key to a parent that has the account. A foreign key is checked row by row, by a look-up and a lock of the
// account's row: for a batch of 10,000 lines ten thousand times.
export async function up(knex: Knex): Promise<void> {
  for (const table of TABLES) await dropKey(knex, table, TRIES)
}

async function dropKey(knex: Knex, table: string, tries: number): Promise<void> {
  try {
    await knex.raw(`
      BEGIN;
      SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS};
      ALTER TABLE ${table} DROP CONSTRAINT IF EXISTS ${table}_account_fkey;
      COMMIT`)
  } catch (error) {
    await knex.raw('ROLLBACK')
    const isLocked = error instanceof Error && 'code' in error && NOT_NOW.includes(String(error.code))
    if (!isLocked || tries <= 1) throw error
    // Statements that wait behind this one get their turn.
    await knex.raw('SELECT pg_sleep(0.5)')
    await dropKey(knex, table, tries - 1)
  }
}

export async function down(): Promise<void> {
  throw new Error('migrations only go forward: restore a backup instead')
}
