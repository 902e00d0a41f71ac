import type { Knex } from 'knex'

const SCOPE = `account_id = nullif(current_setting('app.account_id', true), '')
        AND environment = nullif(current_setting('app.environment', true), '')`

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- Jobs belong to an account. Those of mails that are sent before an account exists belong to this one.
    INSERT INTO accounts (id, name, plan, products) VALUES ('acc_service', 'The service itself', 'developer', '{}');

    -- Mails to send. The text is made when it is sent: no row contains a link. subject_id: what the mail is about, by kind.
    -- reason: why it was dropped or failed, without addresses.
    CREATE TABLE mails (
      account_id text COLLATE "C" NOT NULL,
      environment text COLLATE "C" NOT NULL,
      id text COLLATE "C" NOT NULL,
      kind text COLLATE "C" NOT NULL,
      recipient text COLLATE "C" NOT NULL,
      subject_id text COLLATE "C" NOT NULL,
      status text COLLATE "C" NOT NULL DEFAULT 'pending',
      reason text,
      created_at timestamptz NOT NULL DEFAULT now(),
      settled_at timestamptz,
      CONSTRAINT mails_pkey PRIMARY KEY (account_id, environment, id),
      CONSTRAINT mails_account_fkey FOREIGN KEY (account_id) REFERENCES accounts (id),
      CONSTRAINT mails_environment_check CHECK (environment IN ('sandbox', 'live')),
      CONSTRAINT mails_status_check CHECK (status IN ('pending', 'sent', 'dropped', 'failed')),
      CONSTRAINT mails_recipient_check CHECK (recipient = lower(recipient) AND length(recipient) BETWEEN 3 AND 254)
    );
    CREATE INDEX mails_created_idx ON mails (created_at);

    -- Links that sign in. token_hash: SHA-256 of the token, which is an HMAC of id and nonce. user_id: of an operator's link,
    -- which names its user; other links find the user by the address when they are used.
    CREATE TABLE login_links (
      id text COLLATE "C" NOT NULL,
      email text COLLATE "C" NOT NULL,
      method text COLLATE "C" NOT NULL,
      account_id text COLLATE "C",
      user_id text COLLATE "C",
      nonce bytea NOT NULL,
      token_hash bytea NOT NULL,
      is_echoed boolean NOT NULL DEFAULT false,
      created_at timestamptz NOT NULL,
      expires_at timestamptz NOT NULL,
      used_at timestamptz,
      voided_at timestamptz,
      CONSTRAINT login_links_pkey PRIMARY KEY (id),
      CONSTRAINT login_links_token_key UNIQUE (token_hash),
      CONSTRAINT login_links_method_check CHECK (method IN ('magic_link', 'operator_link')),
      CONSTRAINT login_links_user_check CHECK ((account_id IS NULL) = (user_id IS NULL)),
      CONSTRAINT login_links_hash_check CHECK (octet_length(token_hash) = 32 AND octet_length(nonce) = 16)
    );
    CREATE INDEX login_links_open_idx ON login_links (email) WHERE used_at IS NULL AND voided_at IS NULL;
    CREATE INDEX login_links_expires_idx ON login_links (expires_at);

    -- How often something was attempted lately. subject_hash: SHA-256 of the limit's name and of what it counts for.
    CREATE TABLE attempts (
      subject_hash bytea NOT NULL,
      times timestamptz[] NOT NULL,
      is_allowed boolean NOT NULL,
      expires_at timestamptz NOT NULL,
      CONSTRAINT attempts_pkey PRIMARY KEY (subject_hash),
      CONSTRAINT attempts_hash_check CHECK (octet_length(subject_hash) = 32)
    );
    CREATE INDEX attempts_expires_idx ON attempts (expires_at);

    -- Removed members too: their addresses must not come back by themselves.
    CREATE INDEX users_email_idx ON users (email);

    ALTER TABLE mails ENABLE ROW LEVEL SECURITY;
    ALTER TABLE mails FORCE ROW LEVEL SECURITY;
    CREATE POLICY mails_tenant ON mails TO countersign_app
      USING (${SCOPE})
      WITH CHECK (${SCOPE});
    CREATE POLICY mails_system ON mails TO countersign_system USING (true) WITH CHECK (true);
    GRANT SELECT, INSERT, UPDATE (status, reason, settled_at) ON mails TO countersign_app;
    GRANT SELECT, INSERT, DELETE ON mails TO countersign_system;
    GRANT INSERT (id, queue, lane, priority, account_id, environment, payload, run_at, traceparent)
      ON jobs TO countersign_system;
    GRANT SELECT, INSERT, DELETE, UPDATE (used_at, voided_at) ON login_links TO countersign_system;
    GRANT SELECT, INSERT, DELETE, UPDATE (times, is_allowed, expires_at) ON attempts TO countersign_system;
    GRANT DELETE ON user_sessions TO countersign_system;
  `)
}

export async function down(): Promise<void> {
  throw new Error('migrations only go forward: restore a backup instead')
}
