import type { Knex } from 'knex'

// An attempt in flight is a column of its delivery, and its row is written once, when the attempt has ended. The start of
// an attempt that was interrupted moves to the second column, from which the next attempt writes its row. The account
// of a delivery is the one of its endpoint, and the account of an attempt that of its delivery: a foreign key to accounts
// beside these is checked row by row and refuses nothing more.
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    ALTER TABLE deliveries ADD COLUMN attempt_started_at timestamptz, ADD COLUMN interrupted_at timestamptz,
      DROP CONSTRAINT deliveries_account_fkey;
    ALTER TABLE delivery_attempts DROP CONSTRAINT delivery_attempts_account_fkey;
  `)
}

export async function down(): Promise<void> {
  throw new Error('migrations only go forward: restore a backup instead')
}
