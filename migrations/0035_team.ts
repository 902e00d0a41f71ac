import type { Knex } from 'knex'

// Of an account, whatever the environment.
const TENANT = `account_id = nullif(current_setting('app.account_id', true), '')`

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- Invites to become a member. token_hash: SHA-256 of the token, which is an HMAC of id and nonce; sending an invite again
    -- replaces both. sends: how many mails were made. invited_by: the user or the key. user_id: whom accepting made a member.
    CREATE TABLE invites (
      account_id text COLLATE "C" NOT NULL,
      id text COLLATE "C" NOT NULL,
      email text COLLATE "C" NOT NULL,
      role text COLLATE "C" NOT NULL,
      invited_by text COLLATE "C" NOT NULL,
      nonce bytea NOT NULL,
      token_hash bytea NOT NULL,
      sends smallint NOT NULL DEFAULT 1,
      created_at timestamptz NOT NULL,
      sent_at timestamptz NOT NULL,
      expires_at timestamptz NOT NULL,
      accepted_at timestamptz,
      user_id text COLLATE "C",
      revoked_at timestamptz,
      CONSTRAINT invites_pkey PRIMARY KEY (account_id, id),
      CONSTRAINT invites_token_key UNIQUE (token_hash),
      CONSTRAINT invites_account_fkey FOREIGN KEY (account_id) REFERENCES accounts (id),
      CONSTRAINT invites_user_fkey FOREIGN KEY (account_id, user_id) REFERENCES users (account_id, id) ON DELETE CASCADE,
      CONSTRAINT invites_role_check CHECK (role IN ('owner', 'admin', 'approver', 'analyst', 'developer')),
      CONSTRAINT invites_email_check CHECK (email = lower(email) AND length(email) BETWEEN 3 AND 254),
      CONSTRAINT invites_hash_check CHECK (octet_length(token_hash) = 32 AND octet_length(nonce) = 16),
      CONSTRAINT invites_end_check CHECK (accepted_at IS NULL OR revoked_at IS NULL),
      CONSTRAINT invites_accepted_check CHECK ((accepted_at IS NULL) = (user_id IS NULL))
    );
    CREATE INDEX invites_email_idx ON invites (account_id, email);
    CREATE INDEX invites_user_idx ON invites (account_id, user_id) WHERE user_id IS NOT NULL;
    CREATE INDEX invites_expires_idx ON invites (expires_at);

    ALTER TABLE invites ENABLE ROW LEVEL SECURITY;
    ALTER TABLE invites FORCE ROW LEVEL SECURITY;
    CREATE POLICY invites_tenant ON invites TO countersign_app USING (${TENANT}) WITH CHECK (${TENANT});
    CREATE POLICY invites_system ON invites TO countersign_system USING (true) WITH CHECK (true);
    GRANT SELECT, INSERT, UPDATE ON invites TO countersign_app;
    -- Accepting: the token alone tells the account. Retention deletes.
    GRANT SELECT, DELETE, UPDATE (accepted_at, user_id) ON invites TO countersign_system;

    -- Keys go on working when the user who made them is removed: the answer to the removal lists them.
    CREATE INDEX api_keys_created_by_idx ON api_keys (account_id, created_by) WHERE created_by IS NOT NULL;
    GRANT SELECT (created_by) ON api_keys TO countersign_system;
  `)
}

export async function down(): Promise<void> {
  throw new Error('migrations only go forward: restore a backup instead')
}
