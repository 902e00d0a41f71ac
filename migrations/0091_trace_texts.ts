import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- A model elsewhere may answer with calls of tools, may refuse, and its server may filter its words.
    ALTER TABLE traces
      DROP CONSTRAINT traces_finish_reason_check,
      ADD CONSTRAINT traces_finish_reason_check CHECK (finish_reason IN ('stop', 'length', 'canary_tripped', 'tool_calls',
        'refusal', 'content_filter'));
    -- An erasure of the texts sets it to null.
    GRANT UPDATE (text_until) ON traces TO countersign_app;
  `)
}

export async function down(): Promise<void> {
  throw new Error('migrations only go forward: restore a backup instead')
}
