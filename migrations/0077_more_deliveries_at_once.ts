import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- Old rows keep to a smaller bound, so they need not be read.
    ALTER TABLE webhook_endpoints
      DROP CONSTRAINT webhook_endpoints_concurrency_check,
      ADD CONSTRAINT webhook_endpoints_concurrency_check CHECK (max_concurrency BETWEEN 1 AND 32) NOT VALID;
  `)
}

export async function down(): Promise<void> {
  throw new Error('migrations only go forward: restore a backup instead')
}
