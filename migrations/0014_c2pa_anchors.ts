import type { Knex } from 'knex'

const TENANT = `account_id = nullif(current_setting('app.account_id', true), '')
  AND environment = nullif(current_setting('app.environment', true), '')`

// Whose C2PA signatures an account trusts beside those that the deployment names. They are apart from root_cas: who may issue
// certificates to capture devices has no say over the signers of cameras and editors, nor the other way round.
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE c2pa_anchors (
      account_id text COLLATE "C" NOT NULL,
      environment text COLLATE "C" NOT NULL,
      id text COLLATE "C" NOT NULL,
      name text NOT NULL,
      certificate bytea NOT NULL,
      fingerprint bytea NOT NULL,
      subject text NOT NULL,
      not_before timestamptz NOT NULL,
      not_after timestamptz NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now(),
      CONSTRAINT c2pa_anchors_pkey PRIMARY KEY (account_id, environment, id),
      CONSTRAINT c2pa_anchors_fingerprint_key UNIQUE (fingerprint, account_id, environment),
      CONSTRAINT c2pa_anchors_account_fkey FOREIGN KEY (account_id) REFERENCES accounts (id),
      CONSTRAINT c2pa_anchors_environment_check CHECK (environment IN ('sandbox', 'live'))
    );
    ALTER TABLE c2pa_anchors ENABLE ROW LEVEL SECURITY;
    ALTER TABLE c2pa_anchors FORCE ROW LEVEL SECURITY;
    CREATE POLICY c2pa_anchors_tenant ON c2pa_anchors TO countersign_app USING (${TENANT}) WITH CHECK (${TENANT});
    GRANT SELECT, INSERT, DELETE ON c2pa_anchors TO countersign_app;
  `)
}

export async function down(): Promise<void> {
  throw new Error('migrations only go forward: restore a backup instead')
}
