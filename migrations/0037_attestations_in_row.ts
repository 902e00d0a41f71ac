import type { Knex } from 'knex'

// An attestation's submission, facts and record are some 5 kB in all: too long for Postgres's usual rows, and short enough for a
// page. Kept in the row they need no entries in the table for long values, which cost more than the rest of the update; and
// with room on its page for the result, the update needs no entry in any index. The manifest of a long video still goes there.
// Applies to rows written from now on.
export async function up(knex: Knex): Promise<void> {
  await knex.raw('ALTER TABLE attestations SET (toast_tuple_target = 8160, fillfactor = 30)')
}

export async function down(): Promise<void> {
  throw new Error('migrations only go forward: restore a backup instead')
}
