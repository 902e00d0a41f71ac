import type { Knex } from 'knex'

// What operators do to accounts and keys. The partial index lists the suspended accounts, of which there are few: the
// dispatcher reads it in every round.
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    ALTER TABLE accounts ADD COLUMN suspended_at timestamptz, ADD COLUMN suspension_reason text,
      ADD COLUMN suspension_ended_at timestamptz,
      ADD CONSTRAINT accounts_suspension_check CHECK ((suspended_at IS NULL) = (suspension_reason IS NULL));
    CREATE INDEX accounts_suspended_idx ON accounts (id) WHERE suspended_at IS NOT NULL;
    GRANT SELECT (suspended_at, suspension_reason, suspension_ended_at),
      UPDATE (plan, products, suspended_at, suspension_reason, suspension_ended_at) ON accounts TO countersign_system;

    ALTER TABLE signing_keys ADD COLUMN revoked_at timestamptz, ADD COLUMN doubted_since timestamptz,
      ADD CONSTRAINT signing_keys_revocation_check CHECK ((revoked_at IS NULL) = (doubted_since IS NULL));
    GRANT UPDATE (sealed_private_key, active_from, revoked_at, doubted_since) ON signing_keys TO countersign_system;
  `)
}

export async function down(): Promise<void> {
  throw new Error('migrations only go forward: restore a backup instead')
}
