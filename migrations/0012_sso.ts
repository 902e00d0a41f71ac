import type { Knex } from 'knex'

// Rows of one account, in both environments.
const TENANT = `account_id = (SELECT NULLIF(current_setting('app.account_id', true), ''))`

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- The identity provider of an account. generation: counts changes of issuer and client; a link to a subject belongs to one.
    -- domain_token: what the TXT record of the domain must contain. failed_checks: daily checks in a row that found another record.
    CREATE TABLE sso_configs (
      account_id text COLLATE "C" NOT NULL,
      id text COLLATE "C" NOT NULL,
      issuer text COLLATE "C" NOT NULL,
      client_id text COLLATE "C" NOT NULL,
      sealed_client_secret bytea NOT NULL,
      client_secret_last4 text COLLATE "C" NOT NULL,
      generation integer NOT NULL DEFAULT 1,
      domain text COLLATE "C" NOT NULL,
      domain_token text COLLATE "C" NOT NULL,
      verified_at timestamptz,
      checked_at timestamptz,
      failed_checks smallint NOT NULL DEFAULT 0,
      tested_at timestamptz,
      is_enforced boolean NOT NULL DEFAULT false,
      version integer NOT NULL DEFAULT 1,
      changed_at timestamptz NOT NULL,
      changed_by text COLLATE "C" NOT NULL,
      CONSTRAINT sso_configs_pkey PRIMARY KEY (account_id),
      CONSTRAINT sso_configs_account_fkey FOREIGN KEY (account_id) REFERENCES accounts (id),
      CONSTRAINT sso_configs_domain_check CHECK (domain = lower(domain) AND length(domain) BETWEEN 3 AND 253),
      CONSTRAINT sso_configs_tested_check CHECK (tested_at IS NULL OR verified_at IS NOT NULL),
      CONSTRAINT sso_configs_enforced_check CHECK (NOT is_enforced OR tested_at IS NOT NULL)
    );
    -- A domain has one organization. Claims that are not verified block nobody.
    CREATE UNIQUE INDEX sso_configs_verified_domain_key ON sso_configs (domain) WHERE verified_at IS NOT NULL;
    CREATE INDEX sso_configs_checked_idx ON sso_configs (checked_at) WHERE verified_at IS NOT NULL;

    -- Logins that have begun. The row goes with its use. browser_hash: SHA-256 of the cookie. sealed_secrets: nonce and PKCE
    -- verifier. session_id: of a member who links an own account.
    CREATE TABLE sso_starts (
      account_id text COLLATE "C" NOT NULL,
      state_hash bytea NOT NULL,
      browser_hash bytea NOT NULL,
      id text COLLATE "C" NOT NULL,
      sealed_secrets bytea NOT NULL,
      generation integer NOT NULL,
      session_id text COLLATE "C",
      expires_at timestamptz NOT NULL,
      CONSTRAINT sso_starts_pkey PRIMARY KEY (account_id, id),
      CONSTRAINT sso_starts_state_key UNIQUE (state_hash),
      CONSTRAINT sso_starts_account_fkey FOREIGN KEY (account_id) REFERENCES accounts (id),
      CONSTRAINT sso_starts_hash_check CHECK (octet_length(state_hash) = 32 AND octet_length(browser_hash) = 32)
    );
    CREATE INDEX sso_starts_expires_idx ON sso_starts (expires_at);

    -- Who a member is at the identity provider. The link of a removed member stays: the same person must not come back by another
    -- address. It ends when an invite or the directory makes them a member again, and with the provider.
    ALTER TABLE users ADD COLUMN sso_subject text COLLATE "C";
    CREATE UNIQUE INDEX users_sso_subject_key ON users (account_id, sso_subject) WHERE sso_subject IS NOT NULL;

    -- Tokens of directories (SCIM). token_hash: SHA-256.
    CREATE TABLE scim_tokens (
      account_id text COLLATE "C" NOT NULL,
      id text COLLATE "C" NOT NULL,
      token_hash bytea NOT NULL,
      last4 text COLLATE "C" NOT NULL,
      created_by text COLLATE "C" NOT NULL,
      created_at timestamptz NOT NULL,
      last_used_at timestamptz,
      revoked_at timestamptz,
      CONSTRAINT scim_tokens_pkey PRIMARY KEY (account_id, id),
      CONSTRAINT scim_tokens_hash_key UNIQUE (token_hash),
      CONSTRAINT scim_tokens_account_fkey FOREIGN KEY (account_id) REFERENCES accounts (id),
      CONSTRAINT scim_tokens_hash_check CHECK (octet_length(token_hash) = 32)
    );

    -- What a directory says of users beside address and activity. work_email: of emails, for the filter. deleted_at: the directory
    -- deleted the user, who is removed then, and does not show it to the directory again.
    CREATE TABLE directory_users (
      account_id text COLLATE "C" NOT NULL,
      user_id text COLLATE "C" NOT NULL,
      external_id text COLLATE "C",
      name jsonb,
      display_name text,
      emails jsonb,
      work_email text COLLATE "C",
      changed_at timestamptz NOT NULL,
      deleted_at timestamptz,
      CONSTRAINT directory_users_pkey PRIMARY KEY (account_id, user_id),
      CONSTRAINT directory_users_user_fkey FOREIGN KEY (account_id, user_id) REFERENCES users (account_id, id) ON DELETE CASCADE
    );
    CREATE INDEX directory_users_external_idx ON directory_users (account_id, external_id) WHERE external_id IS NOT NULL;
    CREATE INDEX directory_users_work_idx ON directory_users (account_id, work_email) WHERE work_email IS NOT NULL;

    ALTER TABLE audit_entries DROP CONSTRAINT audit_entries_actor_check;
    ALTER TABLE audit_entries ADD CONSTRAINT audit_entries_actor_check
      CHECK (actor_kind IN ('key', 'session', 'directory', 'operator', 'service'));

    ${['sso_configs', 'sso_starts', 'scim_tokens', 'directory_users']
      .map(
        (table) => `
    ALTER TABLE ${table} ENABLE ROW LEVEL SECURITY;
    ALTER TABLE ${table} FORCE ROW LEVEL SECURITY;
    CREATE POLICY ${table}_tenant ON ${table} TO countersign_app USING (${TENANT}) WITH CHECK (${TENANT});
    SELECT admit_erasure('${table}');`,
      )
      .join('\n')}
    -- Signing in: only the domain or the state tells the account.
    CREATE POLICY sso_configs_system ON sso_configs TO countersign_system USING (true) WITH CHECK (true);
    CREATE POLICY sso_starts_system ON sso_starts TO countersign_system USING (true) WITH CHECK (true);
    CREATE POLICY scim_tokens_system ON scim_tokens TO countersign_system USING (true) WITH CHECK (true);
    GRANT SELECT, INSERT, UPDATE, DELETE ON sso_configs TO countersign_app;
    GRANT SELECT, UPDATE (verified_at, checked_at, failed_checks, tested_at, is_enforced) ON sso_configs TO countersign_system;
    GRANT SELECT, INSERT, UPDATE (sealed_secrets) ON sso_starts TO countersign_app;
    GRANT SELECT, INSERT, DELETE ON sso_starts TO countersign_system;
    GRANT UPDATE (sso_subject) ON users TO countersign_system;
    GRANT SELECT, INSERT, UPDATE ON scim_tokens TO countersign_app;
    GRANT SELECT, UPDATE (last_used_at) ON scim_tokens TO countersign_system;
    GRANT SELECT, INSERT, UPDATE ON directory_users TO countersign_app;

    -- The directory changes the address of a user in a tenant transaction, which sees no login links: those of the address end with it.
    CREATE FUNCTION void_login_links(address text, at timestamptz) RETURNS void
    LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
      UPDATE login_links SET voided_at = at WHERE email = address AND used_at IS NULL AND voided_at IS NULL
    $$;
    REVOKE ALL ON FUNCTION void_login_links FROM PUBLIC;
    GRANT EXECUTE ON FUNCTION void_login_links TO countersign_app;
  `)
}

export async function down(): Promise<void> {
  throw new Error('migrations only go forward: restore a backup instead')
}
