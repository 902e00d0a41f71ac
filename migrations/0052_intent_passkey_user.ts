import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- Whose passkey confirmed the action at authorize: that user asked for it, and approves none of it. Null without a passkey.
    -- No foreign key: a user may be removed while the token is kept.
    ALTER TABLE intents ADD COLUMN passkey_user_id text COLLATE "C";
  `)
}

export async function down(): Promise<void> {
  throw new Error('migrations only go forward: restore a backup instead')
}
