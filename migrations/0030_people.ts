import type { Knex } from 'knex'

// Of an account, whatever the environment.
const TENANT = `account_id = nullif(current_setting('app.account_id', true), '')`

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- The members of an account. email: in lower case. A removed member keeps the row, so that the address can't come back by
    -- itself (a link, single sign-on); only an invite makes it active again.
    CREATE TABLE users (
      account_id text COLLATE "C" NOT NULL,
      id text COLLATE "C" NOT NULL,
      email text COLLATE "C" NOT NULL,
      role text COLLATE "C" NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now(),
      last_login_at timestamptz,
      deprovisioned_at timestamptz,
      CONSTRAINT users_pkey PRIMARY KEY (account_id, id),
      CONSTRAINT users_email_key UNIQUE (account_id, email),
      CONSTRAINT users_account_fkey FOREIGN KEY (account_id) REFERENCES accounts (id),
      CONSTRAINT users_role_check CHECK (role IN ('owner', 'admin', 'approver', 'analyst', 'developer')),
      CONSTRAINT users_email_check CHECK (email = lower(email) AND length(email) BETWEEN 3 AND 254)
    );
    -- An address belongs to one account at a time.
    CREATE UNIQUE INDEX users_active_email_key ON users (email) WHERE deprovisioned_at IS NULL;

    -- Signed-in browsers. secret_hash: SHA-256 of the cookie. method: how the person proved who they are. is_sandbox_only: the
    -- link was shown in the answer to the request for it. expires_at: the absolute end; the idle end counts from last_seen_at.
    CREATE TABLE user_sessions (
      account_id text COLLATE "C" NOT NULL,
      id text COLLATE "C" NOT NULL,
      user_id text COLLATE "C" NOT NULL,
      secret_hash bytea NOT NULL,
      method text COLLATE "C" NOT NULL,
      is_sandbox_only boolean NOT NULL DEFAULT false,
      ip text,
      user_agent text,
      created_at timestamptz NOT NULL DEFAULT now(),
      last_seen_at timestamptz NOT NULL DEFAULT now(),
      expires_at timestamptz NOT NULL,
      ended_at timestamptz,
      CONSTRAINT user_sessions_pkey PRIMARY KEY (account_id, id),
      CONSTRAINT user_sessions_secret_key UNIQUE (secret_hash),
      CONSTRAINT user_sessions_user_fkey FOREIGN KEY (account_id, user_id) REFERENCES users (account_id, id) ON DELETE CASCADE,
      CONSTRAINT user_sessions_method_check CHECK (method IN ('magic_link', 'operator_link', 'invite', 'sso')),
      CONSTRAINT user_sessions_secret_check CHECK (octet_length(secret_hash) = 32)
    );
    CREATE INDEX user_sessions_user_idx ON user_sessions (account_id, user_id, id);
    CREATE INDEX user_sessions_expires_idx ON user_sessions (expires_at);

    -- Administrative acts, and reads of what must not be read unseen. Never changed. environment: NULL for what concerns the
    -- whole account. actor_id: the key, the user, or 'operator'. before, after: without secrets.
    CREATE TABLE audit_entries (
      account_id text COLLATE "C" NOT NULL,
      id text COLLATE "C" NOT NULL,
      at timestamptz NOT NULL DEFAULT now(),
      environment text COLLATE "C",
      action text COLLATE "C" NOT NULL,
      actor_kind text COLLATE "C" NOT NULL,
      actor_id text COLLATE "C" NOT NULL,
      ip text,
      user_agent text,
      request_id text,
      subject_id text COLLATE "C",
      before jsonb,
      after jsonb,
      CONSTRAINT audit_entries_pkey PRIMARY KEY (account_id, id),
      CONSTRAINT audit_entries_account_fkey FOREIGN KEY (account_id) REFERENCES accounts (id),
      CONSTRAINT audit_entries_environment_check CHECK (environment IN ('sandbox', 'live')),
      CONSTRAINT audit_entries_actor_check CHECK (actor_kind IN ('key', 'session', 'operator', 'service'))
    );

    ${['users', 'user_sessions', 'audit_entries']
      .map(
        (table) => `
    ALTER TABLE ${table} ENABLE ROW LEVEL SECURITY;
    ALTER TABLE ${table} FORCE ROW LEVEL SECURITY;
    CREATE POLICY ${table}_tenant ON ${table} TO countersign_app USING (${TENANT}) WITH CHECK (${TENANT});
    CREATE POLICY ${table}_system ON ${table} TO countersign_system USING (true) WITH CHECK (true);`,
      )
      .join('\n')}
    GRANT SELECT, INSERT, UPDATE ON users TO countersign_app;
    GRANT SELECT, INSERT, UPDATE ON user_sessions TO countersign_app;
    GRANT SELECT, INSERT ON audit_entries TO countersign_app;
    -- Signing in: neither the person nor the account is known before.
    GRANT SELECT, INSERT, UPDATE (role, last_login_at, deprovisioned_at) ON users TO countersign_system;
    GRANT SELECT, INSERT, UPDATE (last_seen_at, ended_at) ON user_sessions TO countersign_system;
    GRANT INSERT ON audit_entries TO countersign_system;
  `)
}

export async function down(): Promise<void> {
  throw new Error('migrations only go forward: restore a backup instead')
}
