import type { Knex } from 'knex'

const TENANT = `account_id = nullif(current_setting('app.account_id', true), '')
  AND environment = nullif(current_setting('app.environment', true), '')`

// What a request with an Idempotency-Key did: a row in the transaction of its effect, so that neither is there without the
// other. Never what was answered. Rows live for a day: they are inserted and deleted, never updated, and autovacuum runs
// early because as many leave as come. No foreign key to accounts: it would want an index of its own, and what an account
// leaves here is gone in a day.
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE idempotency_keys (
      account_id text COLLATE "C" NOT NULL,
      environment text COLLATE "C" NOT NULL,
      -- SHA-256 of what the caller sent: of one size whatever that was.
      key_digest bytea NOT NULL,
      -- Method and pattern, such as 'POST /v1/media'.
      route text COLLATE "C" NOT NULL,
      -- SHA-256 of method, path and body.
      fingerprint bytea NOT NULL,
      status smallint NOT NULL,
      -- Which rows a replay shows, as the route spells it; NULL where doing it again is the replay.
      subject text COLLATE "C",
      created_at timestamptz NOT NULL DEFAULT now(),
      CONSTRAINT idempotency_keys_pkey PRIMARY KEY (key_digest, route, account_id, environment),
      CONSTRAINT idempotency_keys_environment_check CHECK (environment IN ('sandbox', 'live')),
      CONSTRAINT idempotency_keys_digests_check CHECK (octet_length(key_digest) = 32 AND octet_length(fingerprint) = 32),
      CONSTRAINT idempotency_keys_status_check CHECK (status BETWEEN 200 AND 299)
    ) WITH (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 1000);
    CREATE INDEX idempotency_keys_created_idx ON idempotency_keys (created_at);

    ALTER TABLE idempotency_keys ENABLE ROW LEVEL SECURITY;
    ALTER TABLE idempotency_keys FORCE ROW LEVEL SECURITY;
    CREATE POLICY idempotency_keys_tenant ON idempotency_keys TO countersign_app
      USING (${TENANT}) WITH CHECK (${TENANT});
    CREATE POLICY idempotency_keys_system ON idempotency_keys TO countersign_system USING (true) WITH CHECK (true);
    GRANT SELECT, INSERT ON idempotency_keys TO countersign_app;
    GRANT SELECT (account_id, environment, key_digest, route, created_at), DELETE ON idempotency_keys TO countersign_system;
  `)
}

export async function down(): Promise<void> {
  throw new Error('migrations only go forward: restore a backup instead')
}
