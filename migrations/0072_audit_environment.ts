import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- The log by environment. Either may be rare: an account that tries things has thousands of entries of the sandbox for
    -- each live one. Begins with the environment, as no look-up by id does.
    CREATE INDEX audit_entries_environment_idx ON audit_entries (environment, account_id, id) WHERE environment IS NOT NULL;
    DROP INDEX audit_entries_sandbox_idx;
  `)
}

export async function down(): Promise<void> {
  throw new Error('migrations only go forward: restore a backup instead')
}
