import type { Knex } from 'knex'

// Each policy in a transaction of its own: together they would lock every table while they wait for one.
export const config = { transaction: false }

const LOCK_TIMEOUT_MS = 2_000
const TRIES = 60
const LOCK_NOT_AVAILABLE = '55P03'

interface Policy {
  table: string
  name: string
  using: string
  check: string
}

// The planner evaluates a setting when it plans, and expects of each account what the statistics say about that one. Of an
// account that is newer than the statistics they say that it has no rows: by their primary key its rows are then read as
// a whole where another index would find one. Behind a SELECT the value is unknown to the planner, which expects as many rows
// as accounts have on average.
export async function up(knex: Knex): Promise<void> {
  const { rows } = await knex.raw<{ rows: Policy[] }>(`
    SELECT tablename AS "table", policyname AS name, qual AS using, with_check AS check FROM pg_policies
    WHERE schemaname = current_schema() AND 'countersign_app' = ANY(roles) AND qual LIKE '%current_setting%'
      AND qual NOT LIKE '%SELECT%' ORDER BY tablename, policyname`)
  for (const policy of rows) await alter(knex, policy, TRIES)
}

async function alter(knex: Knex, policy: Policy, tries: number): Promise<void> {
  const { table, name, using, check } = policy
  try {
    await knex.raw(`
      BEGIN;
      SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS};
      ALTER POLICY ${name} ON ${table} USING (${behindSelect(using)}) WITH CHECK (${behindSelect(check)});
      COMMIT`)
  } catch (error) {
    await knex.raw('ROLLBACK')
    const isLocked = error instanceof Error && 'code' in error && error.code === LOCK_NOT_AVAILABLE
    if (!isLocked || tries <= 1) throw error
    // Statements that wait behind this one get their turn.
    await knex.raw('SELECT pg_sleep(0.5)')
    await alter(knex, policy, tries - 1)
  }
}

function behindSelect(expression: string): string {
  return expression.replaceAll(/NULLIF\(current_setting\('[a-z_.]+'::text, true\), ''::text\)/g, '(SELECT $&)')
}

export async function down(): Promise<void> {
  throw new Error('migrations only go forward: restore a backup instead')
}
