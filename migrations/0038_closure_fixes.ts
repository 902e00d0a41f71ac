import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- The jobs that wait for the reopening of their account: see src/platform/jobs/hold.ts. Other statements never match
    -- its condition.
    CREATE INDEX jobs_held_idx ON jobs (account_id) WHERE state = 'queued' AND run_at > timestamptz '2100-01-01 00:00:00+00';
  `)
}

export async function down(): Promise<void> {
  throw new Error('migrations only go forward: restore a backup instead')
}
