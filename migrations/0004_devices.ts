import type { Knex } from 'knex'

const TENANT = `account_id = nullif(current_setting('app.account_id', true), '')
  AND environment = nullif(current_setting('app.environment', true), '')`

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE root_cas (
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
      CONSTRAINT root_cas_pkey PRIMARY KEY (account_id, environment, id),
      CONSTRAINT root_cas_fingerprint_key UNIQUE (fingerprint, account_id, environment),
      CONSTRAINT root_cas_account_fkey FOREIGN KEY (account_id) REFERENCES accounts (id),
      CONSTRAINT root_cas_environment_check CHECK (environment IN ('sandbox', 'live'))
    );

    -- spki_digest: SHA-256 of the public key's SubjectPublicKeyInfo. One key is one device, for ever: a revoked key can't
    -- come back under a new id.
    CREATE TABLE devices (
      account_id text COLLATE "C" NOT NULL,
      environment text COLLATE "C" NOT NULL,
      id text COLLATE "C" NOT NULL,
      name text,
      spki bytea NOT NULL,
      spki_digest bytea NOT NULL,
      certificate_chain bytea[] NOT NULL,
      certificate_subject text NOT NULL,
      not_before timestamptz NOT NULL,
      not_after timestamptz NOT NULL,
      hardware_tier text NOT NULL DEFAULT 'none',
      enrolled_at timestamptz NOT NULL DEFAULT now(),
      revoked_at timestamptz,
      revoke_effective_at timestamptz,
      revoke_reason text,
      CONSTRAINT devices_pkey PRIMARY KEY (account_id, environment, id),
      CONSTRAINT devices_spki_key UNIQUE (spki_digest, account_id, environment),
      CONSTRAINT devices_account_fkey FOREIGN KEY (account_id) REFERENCES accounts (id),
      CONSTRAINT devices_environment_check CHECK (environment IN ('sandbox', 'live')),
      CONSTRAINT devices_tier_check CHECK (hardware_tier IN ('none', 'software', 'tee', 'strongbox', 'secure_enclave')),
      CONSTRAINT devices_revoked_check CHECK ((revoked_at IS NULL) = (revoke_effective_at IS NULL))
    );

    -- consumed_by is the attestation that used the nonce; consuming is one guarded UPDATE, so two can't both win.
    CREATE TABLE capture_sessions (
      account_id text COLLATE "C" NOT NULL,
      environment text COLLATE "C" NOT NULL,
      id text COLLATE "C" NOT NULL,
      nonce text COLLATE "C" NOT NULL,
      device_id text COLLATE "C",
      claim_reference text,
      issued_at timestamptz NOT NULL DEFAULT now(),
      expires_at timestamptz NOT NULL,
      consumed_by text COLLATE "C",
      consumed_at timestamptz,
      CONSTRAINT capture_sessions_pkey PRIMARY KEY (account_id, environment, id),
      CONSTRAINT capture_sessions_nonce_key UNIQUE (nonce, account_id, environment),
      CONSTRAINT capture_sessions_account_fkey FOREIGN KEY (account_id) REFERENCES accounts (id),
      CONSTRAINT capture_sessions_device_fkey FOREIGN KEY (account_id, environment, device_id)
        REFERENCES devices (account_id, environment, id),
      CONSTRAINT capture_sessions_environment_check CHECK (environment IN ('sandbox', 'live'))
    );
    CREATE INDEX capture_sessions_device_idx ON capture_sessions (device_id, account_id, environment)
      WHERE device_id IS NOT NULL;

    ${['root_cas', 'devices', 'capture_sessions']
      .map(
        (table) => `
    ALTER TABLE ${table} ENABLE ROW LEVEL SECURITY;
    ALTER TABLE ${table} FORCE ROW LEVEL SECURITY;
    CREATE POLICY ${table}_tenant ON ${table} TO countersign_app USING (${TENANT}) WITH CHECK (${TENANT});`,
      )
      .join('\n')}
    GRANT SELECT, INSERT, DELETE ON root_cas TO countersign_app;
    GRANT SELECT, INSERT, UPDATE ON devices TO countersign_app;
    GRANT SELECT, INSERT, UPDATE ON capture_sessions TO countersign_app;
  `)
}

export async function down(): Promise<void> {
  throw new Error('migrations only go forward: restore a backup instead')
}
