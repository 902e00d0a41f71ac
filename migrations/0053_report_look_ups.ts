import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- What became of a token or an approval, for reports. A token that is polled has thousands of other entries.
    CREATE INDEX decisions_ended_idx ON decisions (jti, kind, account_id, environment, id)
      WHERE kind IN ('execute', 'outcome', 'approval_decision');
  `)
}

export async function down(): Promise<void> {
  throw new Error('migrations only go forward: restore a backup instead')
}
