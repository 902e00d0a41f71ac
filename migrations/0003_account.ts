// Accounts: keys, people and their sessions, mails, the audit log, exports and usage.

import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(KEYS)
  await knex.raw(PEOPLE)
  await knex.raw(LOGIN)
  await knex.raw(RECORDS)
  await knex.raw(USAGE)
}

export async function down(): Promise<void> {
  throw new Error('migrations only go forward: restore a backup instead')
}

const ACCOUNT = `account_id = (SELECT nullif(current_setting('app.account_id', true), ''))`
const SCOPE = `${ACCOUNT}
      AND environment = (SELECT nullif(current_setting('app.environment', true), ''))`

const KEYS = `
  -- hash: SHA-256 of the key. created_by: the key or the user that made it, or 'operator'. products: NULL for the
  -- routes of every product. ip_allow: addresses and ranges in canonical form, NULL for every address. read_only: the
  -- key changes nothing, whatever its scopes. successor_id: the key that a rotation made; until grace_expires_at both
  -- work. version: counts the changes, for If-Match.
  CREATE TABLE api_keys (
    account_id text COLLATE "C" NOT NULL,
    environment text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    name text NOT NULL,
    hash bytea NOT NULL,
    prefix text NOT NULL,
    last4 text NOT NULL,
    scopes text[] NOT NULL,
    products text[],
    ip_allow text[],
    read_only boolean NOT NULL DEFAULT false,
    is_account_bearing boolean NOT NULL DEFAULT true,
    version integer NOT NULL DEFAULT 1,
    created_by text COLLATE "C" NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz,
    revoked_at timestamptz,
    last_used_at timestamptz,
    successor_id text COLLATE "C",
    grace_expires_at timestamptz,
    CONSTRAINT api_keys_pkey PRIMARY KEY (account_id, environment, id),
    CONSTRAINT api_keys_hash_key UNIQUE (hash),
    CONSTRAINT api_keys_account_fkey FOREIGN KEY (account_id) REFERENCES accounts (id),
    CONSTRAINT api_keys_successor_fkey FOREIGN KEY (account_id, environment, successor_id)
      REFERENCES api_keys (account_id, environment, id) DEFERRABLE INITIALLY DEFERRED,
    CONSTRAINT api_keys_environment_check CHECK (environment IN ('sandbox', 'live')),
    CONSTRAINT api_keys_hash_check CHECK (octet_length(hash) = 32),
    CONSTRAINT api_keys_ip_allow_check CHECK (cardinality(ip_allow) BETWEEN 1 AND 50),
    CONSTRAINT api_keys_rotation_check CHECK ((successor_id IS NULL) = (grace_expires_at IS NULL)),
    CONSTRAINT api_keys_products_check CHECK (cardinality(products) > 0)
  );
  -- A key replaces one key, and finds it by this index.
  CREATE UNIQUE INDEX api_keys_successor_key ON api_keys (account_id, environment, successor_id)
    WHERE successor_id IS NOT NULL;
  -- Keys go on working when the user who made them is removed: the answer to the removal lists them.
  CREATE INDEX api_keys_created_by_idx ON api_keys (account_id, created_by);
  ${tenant('api_keys')}
  CREATE POLICY api_keys_system ON api_keys TO countersign_system USING (true) WITH CHECK (true);
  GRANT SELECT, INSERT, UPDATE ON api_keys TO countersign_app;
  GRANT SELECT (account_id, environment, id, hash, scopes, products, ip_allow, read_only, is_account_bearing,
    created_by, expires_at, revoked_at, last_used_at, grace_expires_at), UPDATE (last_used_at)
    ON api_keys TO countersign_system;
`

const PEOPLE = `
  -- The members of an account. email: in lower case. A removed member keeps the row, so that the address can't come
  -- back by itself (a link, single sign-on); only an invite makes it active again. reactivated_at: when it did. Votes
  -- from before count no more, in either environment.
  CREATE TABLE users (
    account_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    email text COLLATE "C" NOT NULL,
    role text COLLATE "C" NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    last_login_at timestamptz,
    deprovisioned_at timestamptz,
    reactivated_at timestamptz,
    CONSTRAINT users_pkey PRIMARY KEY (account_id, id),
    CONSTRAINT users_email_key UNIQUE (account_id, email),
    CONSTRAINT users_account_fkey FOREIGN KEY (account_id) REFERENCES accounts (id),
    CONSTRAINT users_role_check CHECK (role IN ('owner', 'admin', 'approver', 'analyst', 'developer')),
    CONSTRAINT users_email_check CHECK (email = lower(email) AND length(email) BETWEEN 3 AND 254)
  );
  -- An address belongs to one account at a time.
  CREATE UNIQUE INDEX users_active_email_key ON users (email) WHERE deprovisioned_at IS NULL;
  -- It includes removed members: their addresses must not come back by themselves.
  CREATE INDEX users_email_idx ON users (email);
  ${account('users')}
  CREATE POLICY users_system ON users TO countersign_system USING (true) WITH CHECK (true);
  GRANT SELECT, INSERT, UPDATE ON users TO countersign_app;
  -- At login neither the person nor the account is known before.
  GRANT SELECT, INSERT, UPDATE (role, last_login_at, deprovisioned_at, reactivated_at) ON users TO countersign_system;

  -- Signed-in browsers. secret_hash: SHA-256 of the cookie. method: how the person proved who they are.
  -- is_sandbox_only: the link was shown in the answer to the request for it. expires_at: the absolute end; the idle
  -- end counts from last_seen_at.
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
    CONSTRAINT user_sessions_user_fkey FOREIGN KEY (account_id, user_id)
      REFERENCES users (account_id, id) ON DELETE CASCADE,
    CONSTRAINT user_sessions_method_check CHECK (method IN ('magic_link', 'operator_link', 'invite', 'sso')),
    CONSTRAINT user_sessions_secret_check CHECK (octet_length(secret_hash) = 32)
  );
  CREATE INDEX user_sessions_user_idx ON user_sessions (account_id, user_id, id);
  CREATE INDEX user_sessions_expires_idx ON user_sessions (expires_at);
  ${account('user_sessions')}
  CREATE POLICY user_sessions_system ON user_sessions TO countersign_system USING (true) WITH CHECK (true);
  GRANT SELECT, INSERT, UPDATE ON user_sessions TO countersign_app;
  GRANT SELECT, INSERT, UPDATE (last_seen_at, ended_at), DELETE ON user_sessions TO countersign_system;

  -- Invites to become a member. token_hash: SHA-256 of the token, which is an HMAC of id and nonce; sending an invite
  -- again replaces both. sends: how many mails were made. invited_by: the user or the key. user_id: the member that
  -- it made.
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
  ${account('invites')}
  CREATE POLICY invites_system ON invites TO countersign_system USING (true) WITH CHECK (true);
  GRANT SELECT, INSERT, UPDATE ON invites TO countersign_app;
  -- The token of an invite names no account. A person who leaves an account to accept an invite elsewhere leaves no
  -- invites behind, in the same transaction without a tenant. Retention deletes.
  GRANT SELECT, UPDATE (accepted_at, user_id, revoked_at), DELETE ON invites TO countersign_system;
`

const LOGIN = `
  -- Mails to send. The text is made when it is sent: no row contains a link. subject_id: what the mail is about, by
  -- kind. reason: why it was dropped or failed, without addresses.
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
  ${tenant('mails')}
  CREATE POLICY mails_system ON mails TO countersign_system USING (true) WITH CHECK (true);
  GRANT SELECT, INSERT, UPDATE (status, reason, settled_at) ON mails TO countersign_app;
  GRANT SELECT, INSERT, DELETE ON mails TO countersign_system;

  -- Links that sign in. token_hash: SHA-256 of the token, which is an HMAC of id and nonce. user_id: the user of an
  -- operator's link; other links find the user by the address when they are used.
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
  GRANT SELECT, INSERT, UPDATE (used_at, voided_at), DELETE ON login_links TO countersign_system;

  -- How often something was attempted lately. subject_hash: SHA-256 of the limit's name and of the thing that it
  -- limits.
  CREATE TABLE attempts (
    subject_hash bytea NOT NULL,
    times timestamptz[] NOT NULL,
    is_allowed boolean NOT NULL,
    expires_at timestamptz NOT NULL,
    CONSTRAINT attempts_pkey PRIMARY KEY (subject_hash),
    CONSTRAINT attempts_hash_check CHECK (octet_length(subject_hash) = 32)
  );
  CREATE INDEX attempts_expires_idx ON attempts (expires_at);
  GRANT SELECT, INSERT, UPDATE (times, is_allowed, expires_at), DELETE ON attempts TO countersign_system;
`

const RECORDS = `
  -- The audit log: administrative acts, and reads that must be recorded. A row never changes. environment: NULL for
  -- what concerns the whole account. actor_id: the key, the user, or 'operator'. before, after: without secrets.
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
  -- The log is read by one of these at a time. Reads of media are most of its rows, and one action alone may be rare.
  CREATE INDEX audit_entries_action_idx ON audit_entries (account_id, action, id);
  CREATE INDEX audit_entries_actor_idx ON audit_entries (actor_id, account_id, id);
  CREATE INDEX audit_entries_subject_idx ON audit_entries (subject_id, account_id, id) WHERE subject_id IS NOT NULL;
  -- Either environment may be rare: an account that tries things has thousands of sandbox entries for each live one.
  -- Begins with the environment, as no look-up by id does.
  CREATE INDEX audit_entries_environment_idx ON audit_entries (environment, account_id, id)
    WHERE environment IS NOT NULL;
  ${account('audit_entries')}
  CREATE POLICY audit_entries_system ON audit_entries TO countersign_system USING (true) WITH CHECK (true);
  GRANT SELECT, INSERT ON audit_entries TO countersign_app;
  -- Retention runs in the system role: a request can't delete its own entry.
  GRANT SELECT (account_id, id, at, environment), INSERT, DELETE ON audit_entries TO countersign_system;

  -- Archives of everything that an account has. sha256: the archive's, under which the store keeps it beside the
  -- media of the live environment.
  CREATE TABLE account_exports (
    account_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    state text COLLATE "C" NOT NULL DEFAULT 'queued',
    includes_media boolean NOT NULL,
    requested_by text COLLATE "C" NOT NULL,
    job_id uuid NOT NULL,
    files_done integer NOT NULL DEFAULT 0,
    rows_done bigint NOT NULL DEFAULT 0,
    size bigint,
    sha256 bytea,
    failure text,
    created_at timestamptz NOT NULL DEFAULT now(),
    finished_at timestamptz,
    expires_at timestamptz,
    CONSTRAINT account_exports_pkey PRIMARY KEY (account_id, id),
    CONSTRAINT account_exports_account_fkey FOREIGN KEY (account_id) REFERENCES accounts (id),
    CONSTRAINT account_exports_state_check CHECK (state IN ('queued', 'running', 'ready', 'failed', 'expired')),
    CONSTRAINT account_exports_sha256_check CHECK (octet_length(sha256) = 32),
    CONSTRAINT account_exports_ready_check CHECK (state <> 'ready' OR (sha256 IS NOT NULL AND expires_at IS NOT NULL))
  );
  -- An account has one unfinished export.
  CREATE UNIQUE INDEX account_exports_unfinished_key ON account_exports (account_id)
    WHERE state IN ('queued', 'running');
  ${account('account_exports')}
  CREATE POLICY account_exports_system ON account_exports TO countersign_system USING (true);
  GRANT SELECT, INSERT, UPDATE ON account_exports TO countersign_app;
  -- Callers wait for the end of an export.
  GRANT SELECT (account_id, id, state) ON account_exports TO countersign_system;
`

const USAGE = `
  -- What accounts are counted for. An entry is inserted in the transaction of its effect; the process clock adds
  -- entries to the sums per day, once each, and retention deletes them later. subject_id: what was counted (an
  -- attestation, a screening, a batch). units: as many as one statement counted; negative where they are given back.
  -- turn: 0 for the first count of a subject; each give-back and each later count has the next. at: its day in UTC is
  -- the day that it counts for. folded_at: when it was added to the sum of that day.
  -- No foreign key to accounts: it would be checked entry by entry, and the policy refuses every account but the
  -- transaction's own.
  CREATE TABLE usage_entries (
    account_id text COLLATE "C" NOT NULL,
    environment text COLLATE "C" NOT NULL,
    operation text COLLATE "C" NOT NULL,
    subject_id text COLLATE "C" NOT NULL,
    turn integer NOT NULL DEFAULT 0,
    units integer NOT NULL,
    at timestamptz NOT NULL DEFAULT now(),
    folded_at timestamptz,
    CONSTRAINT usage_entries_pkey PRIMARY KEY (account_id, environment, operation, subject_id, turn),
    CONSTRAINT usage_entries_environment_check CHECK (environment IN ('sandbox', 'live')),
    CONSTRAINT usage_entries_units_check CHECK (units <> 0),
    CONSTRAINT usage_entries_turn_check CHECK (turn >= 0)
  ) WITH (autovacuum_vacuum_scale_factor = 0.05);
  CREATE INDEX usage_entries_unfolded_idx ON usage_entries (account_id, environment) WHERE folded_at IS NULL;
  -- For retention. Entries arrive in the order of their times, so that an index of block ranges finds old ones at
  -- next to no cost for the insert.
  CREATE INDEX usage_entries_at_idx ON usage_entries USING brin (at);
  ${tenant('usage_entries')}
  CREATE POLICY usage_entries_system ON usage_entries TO countersign_system USING (true) WITH CHECK (true);
  GRANT SELECT, INSERT, DELETE ON usage_entries TO countersign_app;
  -- The clock sums and purges for all accounts at once. An entry has counts and ids only.
  GRANT SELECT, UPDATE (folded_at), DELETE ON usage_entries TO countersign_system;

  -- The sums, from which statements are computed. They are kept as long as the account.
  CREATE TABLE usage_days (
    account_id text COLLATE "C" NOT NULL,
    environment text COLLATE "C" NOT NULL,
    day date NOT NULL,
    operation text COLLATE "C" NOT NULL,
    units bigint NOT NULL,
    CONSTRAINT usage_days_pkey PRIMARY KEY (account_id, environment, day, operation),
    CONSTRAINT usage_days_account_fkey FOREIGN KEY (account_id) REFERENCES accounts (id),
    CONSTRAINT usage_days_environment_check CHECK (environment IN ('sandbox', 'live'))
  ) WITH (fillfactor = 50);
  ${tenant('usage_days')}
  CREATE POLICY usage_days_system ON usage_days TO countersign_system USING (true) WITH CHECK (true);
  GRANT SELECT, DELETE ON usage_days TO countersign_app;
  GRANT SELECT, INSERT, UPDATE (units) ON usage_days TO countersign_system;

  -- Once per kind, month and account. notified_at: when people were told.
  CREATE TABLE account_notices (
    account_id text COLLATE "C" NOT NULL,
    kind text COLLATE "C" NOT NULL,
    month date NOT NULL,
    plan text COLLATE "C" NOT NULL,
    cap bigint NOT NULL,
    used bigint NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    notified_at timestamptz,
    CONSTRAINT account_notices_pkey PRIMARY KEY (account_id, month, kind),
    CONSTRAINT account_notices_account_fkey FOREIGN KEY (account_id) REFERENCES accounts (id),
    CONSTRAINT account_notices_kind_check CHECK (kind IN ('usage_80', 'usage_100')),
    CONSTRAINT account_notices_month_check CHECK (extract(day FROM month) = 1)
  );
  CREATE INDEX account_notices_untold_idx ON account_notices (created_at) WHERE notified_at IS NULL;
  ${account('account_notices')}
  CREATE POLICY account_notices_system ON account_notices TO countersign_system USING (true) WITH CHECK (true);
  GRANT SELECT, UPDATE (notified_at), DELETE ON account_notices TO countersign_app;
  GRANT SELECT, INSERT ON account_notices TO countersign_system;
`

/** Row-level security of a table whose rows belong to one environment of an account. */
function tenant(table: string): string {
  return protect(table, SCOPE)
}

/** Row-level security of a table whose rows belong to an account, whatever the environment. */
function account(table: string): string {
  return protect(table, ACCOUNT)
}

function protect(table: string, condition: string): string {
  return `
    ALTER TABLE ${table} ENABLE ROW LEVEL SECURITY;
    ALTER TABLE ${table} FORCE ROW LEVEL SECURITY;
    CREATE POLICY ${table}_tenant ON ${table} TO countersign_app USING (${condition}) WITH CHECK (${condition});
    SELECT admit_erasure('${table}');`
}
