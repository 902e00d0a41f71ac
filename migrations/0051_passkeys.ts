import type { Knex } from 'knex'

const ACCOUNT = `account_id = nullif(current_setting('app.account_id', true), '')`
const TENANT = `${ACCOUNT} AND environment = nullif(current_setting('app.environment', true), '')`

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- Passkeys belong to users, whatever the environment. public_key: COSE_Key. counter: the highest that was accepted; 0
    -- where the authenticator does not count. The row is deleted when the passkey is removed, or its user.
    CREATE TABLE passkeys (
      account_id text COLLATE "C" NOT NULL,
      id text COLLATE "C" NOT NULL,
      user_id text COLLATE "C" NOT NULL,
      name text NOT NULL,
      credential_id bytea NOT NULL,
      public_key bytea NOT NULL,
      algorithm text COLLATE "C" NOT NULL,
      counter bigint NOT NULL,
      aaguid uuid NOT NULL,
      transports text[] NOT NULL,
      is_backup_eligible boolean NOT NULL,
      is_backed_up boolean NOT NULL,
      created_at timestamptz NOT NULL,
      last_used_at timestamptz,
      CONSTRAINT passkeys_pkey PRIMARY KEY (account_id, id),
      CONSTRAINT passkeys_credential_key UNIQUE (credential_id, account_id),
      CONSTRAINT passkeys_user_fkey FOREIGN KEY (account_id, user_id) REFERENCES users (account_id, id) ON DELETE CASCADE,
      CONSTRAINT passkeys_algorithm_check CHECK (algorithm IN ('ES256', 'EdDSA', 'RS256')),
      CONSTRAINT passkeys_counter_check CHECK (counter BETWEEN 0 AND 4294967295),
      CONSTRAINT passkeys_backup_check CHECK (is_backup_eligible OR NOT is_backed_up),
      CONSTRAINT passkeys_size_check CHECK (octet_length(credential_id) BETWEEN 1 AND 1023 AND octet_length(public_key) <= 1024)
    );
    CREATE INDEX passkeys_user_idx ON passkeys (user_id, account_id, id);

    -- The one registration that a session has begun. The challenge counts once: the row goes with it.
    CREATE TABLE passkey_registrations (
      account_id text COLLATE "C" NOT NULL,
      session_id text COLLATE "C" NOT NULL,
      challenge bytea NOT NULL,
      expires_at timestamptz NOT NULL,
      CONSTRAINT passkey_registrations_pkey PRIMARY KEY (account_id, session_id),
      CONSTRAINT passkey_registrations_session_fkey FOREIGN KEY (account_id, session_id)
        REFERENCES user_sessions (account_id, id) ON DELETE CASCADE,
      CONSTRAINT passkey_registrations_challenge_check CHECK (octet_length(challenge) = 32)
    );

    -- What a person is asked to confirm with a passkey. challenge: SHA-256 of the canonical JSON of what is confirmed and the
    -- nonce. user_id: whose passkey has to confirm; NULL: that of any user of the account.
    CREATE TABLE passkey_challenges (
      account_id text COLLATE "C" NOT NULL,
      environment text COLLATE "C" NOT NULL,
      id text COLLATE "C" NOT NULL,
      challenge bytea NOT NULL,
      nonce bytea NOT NULL,
      action_hash text COLLATE "C" NOT NULL,
      payload_hash text COLLATE "C" NOT NULL,
      agent_session_id text COLLATE "C",
      device_id text COLLATE "C",
      approval_id text COLLATE "C",
      user_id text COLLATE "C",
      created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
      expires_at timestamptz NOT NULL,
      consumed_at timestamptz,
      CONSTRAINT passkey_challenges_pkey PRIMARY KEY (account_id, environment, id),
      CONSTRAINT passkey_challenges_account_fkey FOREIGN KEY (account_id) REFERENCES accounts (id),
      CONSTRAINT passkey_challenges_environment_check CHECK (environment IN ('sandbox', 'live')),
      CONSTRAINT passkey_challenges_bytes_check CHECK (octet_length(challenge) = 32 AND octet_length(nonce) = 32)
    );

    ${[
      ['passkeys', ACCOUNT],
      ['passkey_registrations', ACCOUNT],
      ['passkey_challenges', TENANT],
    ]
      .map(
        ([table, condition]) => `
    ALTER TABLE ${table} ENABLE ROW LEVEL SECURITY;
    ALTER TABLE ${table} FORCE ROW LEVEL SECURITY;
    CREATE POLICY ${table}_tenant ON ${table} TO countersign_app USING (${condition}) WITH CHECK (${condition});
    SELECT admit_erasure('${table}');`,
      )
      .join('\n')}
    GRANT SELECT, INSERT, UPDATE (name, counter, is_backed_up, last_used_at), DELETE ON passkeys TO countersign_app;
    GRANT SELECT, INSERT, UPDATE (challenge, expires_at), DELETE ON passkey_registrations TO countersign_app;
    -- DELETE is for retention.
    GRANT SELECT, INSERT, UPDATE (consumed_at), DELETE ON passkey_challenges TO countersign_app;

    -- A person who leaves an account of their own to accept an invite does so in a system transaction.
    CREATE POLICY passkeys_system ON passkeys TO countersign_system USING (true) WITH CHECK (true);
    GRANT SELECT (account_id, user_id, id), DELETE ON passkeys TO countersign_system;
  `)
}

export async function down(): Promise<void> {
  throw new Error('migrations only go forward: restore a backup instead')
}
