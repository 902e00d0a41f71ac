// Tokens that are issued under a clinician's order, and the approvals that they wait for.

import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- order_hash: the content of the order when the token was issued. No foreign key to the order: the check would
    -- lock its row.
    ALTER TABLE intents ADD COLUMN order_id text COLLATE "C", ADD COLUMN order_hash text COLLATE "C",
      DROP CONSTRAINT intents_bound_check,
      ADD CONSTRAINT intents_bound_check CHECK (num_nonnulls(mandate_id, schedule_id, order_id) <= 1),
      ADD CONSTRAINT intents_order_check CHECK ((order_id IS NULL) = (order_hash IS NULL));
    ALTER TABLE approvals ADD COLUMN order_id text COLLATE "C";
  `)
}

export async function down(): Promise<void> {
  throw new Error('migrations only go forward: restore a backup instead')
}
