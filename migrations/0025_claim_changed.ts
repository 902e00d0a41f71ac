import type { Knex } from 'knex'

// When the claim of a closed case came to stand otherwise: such a case stays closed until somebody reopens it, and must be found.
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    ALTER TABLE cases ADD COLUMN claim_changed_at timestamptz,
      ADD CONSTRAINT cases_claim_changed_check CHECK (claim_changed_at IS NULL OR closed_at IS NOT NULL);
    CREATE INDEX cases_claim_changed_idx ON cases (account_id, environment, id) WHERE claim_changed_at IS NOT NULL;
  `)
}

export async function down(): Promise<void> {
  throw new Error('migrations only go forward: restore a backup instead')
}
