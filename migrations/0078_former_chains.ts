import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- Chains that renewals replaced, newest first: the certificates of each as base64 of DER, leaf first, with commas
    -- between them. Captures from before a renewal may arrive after it.
    ALTER TABLE devices ADD COLUMN former_chains text[] NOT NULL DEFAULT '{}';
  `)
}

export async function down(): Promise<void> {
  throw new Error('migrations only go forward: restore a backup instead')
}
