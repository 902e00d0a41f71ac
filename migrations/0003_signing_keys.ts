import type { Knex } from 'knex'

// Keys of the deployment, not of a tenant: `token` keys retire when the last token has expired, `record` keys stay
// published for ever, because a signed result must verify years later. Private halves are sealed under MASTER_KEY.
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE signing_keys (
      kid text COLLATE "C" NOT NULL,
      environment text COLLATE "C" NOT NULL,
      family text COLLATE "C" NOT NULL,
      public_jwk jsonb NOT NULL,
      sealed_private_key bytea NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now(),
      active_from timestamptz NOT NULL DEFAULT now(),
      retired_at timestamptz,
      CONSTRAINT signing_keys_pkey PRIMARY KEY (kid),
      CONSTRAINT signing_keys_environment_check CHECK (environment IN ('sandbox', 'live')),
      CONSTRAINT signing_keys_family_check CHECK (family IN ('token', 'record'))
    );
    GRANT SELECT, INSERT, UPDATE (retired_at) ON signing_keys TO countersign_system;
  `)
}

export async function down(): Promise<void> {
  throw new Error('migrations only go forward: restore a backup instead')
}
