import type { Knex } from 'knex'

const TENANT = `account_id = nullif(current_setting('app.account_id', true), '')
  AND environment = nullif(current_setting('app.environment', true), '')`

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- The secrets that sign questions to policy webhooks. expires_at: NULL for the newest one, which a rotation made; the
    -- one before it signs beside it until then.
    CREATE TABLE policy_webhook_secrets (
      account_id text COLLATE "C" NOT NULL,
      environment text COLLATE "C" NOT NULL,
      version integer NOT NULL,
      sealed_secret bytea NOT NULL,
      created_by text COLLATE "C" NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now(),
      expires_at timestamptz,
      CONSTRAINT policy_webhook_secrets_pkey PRIMARY KEY (account_id, environment, version),
      CONSTRAINT policy_webhook_secrets_account_fkey FOREIGN KEY (account_id) REFERENCES accounts (id),
      CONSTRAINT policy_webhook_secrets_environment_check CHECK (environment IN ('sandbox', 'live')),
      CONSTRAINT policy_webhook_secrets_version_check CHECK (version > 0)
    );
    -- One is the newest.
    CREATE UNIQUE INDEX policy_webhook_secrets_newest_key ON policy_webhook_secrets (account_id, environment)
      WHERE expires_at IS NULL;
    ALTER TABLE policy_webhook_secrets ENABLE ROW LEVEL SECURITY;
    ALTER TABLE policy_webhook_secrets FORCE ROW LEVEL SECURITY;
    CREATE POLICY policy_webhook_secrets_tenant ON policy_webhook_secrets TO countersign_app
      USING (${TENANT}) WITH CHECK (${TENANT});
    SELECT admit_erasure('policy_webhook_secrets');
    -- UPDATE of the secret: a rotation of the master key.
    GRANT SELECT, INSERT, DELETE, UPDATE (sealed_secret, expires_at) ON policy_webhook_secrets TO countersign_app;
  `)
}

export async function down(): Promise<void> {
  throw new Error('migrations only go forward: restore a backup instead')
}
