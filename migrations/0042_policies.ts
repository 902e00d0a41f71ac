import type { Knex } from 'knex'

const SCOPE = `account_id = nullif(current_setting('app.account_id', true), '')
  AND environment = nullif(current_setting('app.environment', true), '')`

// The policies by which intents are authorized and verified.
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- Each change is a version, and none ever changes: decisions name the version that they were made by. digest: SHA-256 of the
    -- document's canonical JSON; a process keeps a compiled policy under it. changed_by: the key or the user.
    CREATE TABLE policy_versions (
      account_id text COLLATE "C" NOT NULL,
      environment text COLLATE "C" NOT NULL,
      version integer NOT NULL,
      document jsonb NOT NULL,
      digest bytea NOT NULL,
      rolled_back_to integer,
      changed_by text COLLATE "C" NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now(),
      CONSTRAINT policy_versions_pkey PRIMARY KEY (account_id, environment, version),
      CONSTRAINT policy_versions_account_fkey FOREIGN KEY (account_id) REFERENCES accounts (id),
      CONSTRAINT policy_versions_environment_check CHECK (environment IN ('sandbox', 'live')),
      CONSTRAINT policy_versions_version_check CHECK (version > 0 AND rolled_back_to BETWEEN 0 AND version - 1),
      CONSTRAINT policy_versions_digest_check CHECK (octet_length(digest) = 32)
    );
    ALTER TABLE policy_versions ENABLE ROW LEVEL SECURITY;
    ALTER TABLE policy_versions FORCE ROW LEVEL SECURITY;
    CREATE POLICY policy_versions_tenant ON policy_versions TO countersign_app USING (${SCOPE}) WITH CHECK (${SCOPE});
    SELECT admit_erasure('policy_versions');
    GRANT SELECT, INSERT ON policy_versions TO countersign_app;
  `)
}

export async function down(): Promise<void> {
  throw new Error('migrations only go forward: restore a backup instead')
}
