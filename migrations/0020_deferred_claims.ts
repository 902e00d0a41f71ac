import type { Knex } from 'knex'

// A batch inserts its attestations before it locks and writes their claims, which it shares with everyone else: it defers
// this constraint to its commit. For all other transactions it is checked at once, as before.
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    ALTER TABLE attestations ALTER CONSTRAINT attestations_claim_fkey DEFERRABLE INITIALLY IMMEDIATE;
  `)
}

export async function down(): Promise<void> {
  throw new Error('migrations only go forward: restore a backup instead')
}
