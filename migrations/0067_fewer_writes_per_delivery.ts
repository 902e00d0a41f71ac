import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- A job of the queue deliver is deleted when it succeeds: its delivery and the attempts say what was done.
    GRANT DELETE ON jobs TO countersign_app;

    -- Each statement that writes an attempt takes its keys from the delivery's row, which it changes or locks. The check
    -- would lock that row a second time, and write this to the log.
    ALTER TABLE delivery_attempts DROP CONSTRAINT delivery_attempts_delivery_fkey;
  `)
}

export async function down(): Promise<void> {
  throw new Error('migrations only go forward: restore a backup instead')
}
