import type { Knex } from 'knex'

// Whether a share shows what its graph says of single positions, by which a person with the file of the model finds the
// prompt. Shares that were made before show the graph by message.
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`ALTER TABLE trace_shares ADD COLUMN reveals_prompt boolean NOT NULL DEFAULT false`)
}

export async function down(): Promise<void> {
  throw new Error('migrations only go forward: restore a backup instead')
}
