// Authorize, the rules that intents are judged by: policies and their webhooks, mandates, schedules and passkeys.

import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(POLICIES)
  await knex.raw(MANDATES)
  await knex.raw(SCHEDULES)
  await knex.raw(PASSKEYS)
}

export async function down(): Promise<void> {
  throw new Error('migrations only go forward: restore a backup instead')
}

const ACCOUNT = `account_id = (SELECT nullif(current_setting('app.account_id', true), ''))`
const SCOPE = `${ACCOUNT}
      AND environment = (SELECT nullif(current_setting('app.environment', true), ''))`

const POLICIES = `
  -- Each change is a version, and none ever changes: decisions name the version that they were made by. digest:
  -- SHA-256 of the document's canonical JSON; a process keeps a compiled policy under it. changed_by: the key or the
  -- user.
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
  ${tenant('policy_versions')}
  GRANT SELECT, INSERT ON policy_versions TO countersign_app;

  -- The secrets that sign questions to policy webhooks. expires_at: NULL for the newest one, which a rotation made; the
  -- previous one signs beside it until then.
  CREATE TABLE policy_webhook_secrets (
    account_id text COLLATE "C" NOT NULL,
    environment text COLLATE "C" NOT NULL,
    version integer NOT NULL,
    sealed_secret bytea NOT NULL,
    created_by text COLLATE "C" NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz,
    CONSTRAINT policy_webhook_secrets_pkey PRIMARY KEY (account_id, environment, version),
    CONSTRAINT policy_webhook_secrets_account_fkey FOREIGN KEY (account_id) REFERENCES accounts (id),
    CONSTRAINT policy_webhook_secrets_environment_check CHECK (environment IN ('sandbox', 'live')),
    CONSTRAINT policy_webhook_secrets_version_check CHECK (version > 0)
  );
  -- Only one is the newest.
  -- One is the newest.
  CREATE UNIQUE INDEX policy_webhook_secrets_newest_key ON policy_webhook_secrets (account_id, environment)
    WHERE expires_at IS NULL;
  ${tenant('policy_webhook_secrets')}
  -- UPDATE of the secret is for a rotation of the master key.
  GRANT SELECT, INSERT, UPDATE (sealed_secret, expires_at), DELETE ON policy_webhook_secrets TO countersign_app;
`

const MANDATES = `
  -- What somebody lets an agent do. path: the mandate's ancestors, root first, and itself. principal: for whom the
  -- agent acts. constraints and pointers: JSON. instruments: the payment instruments that actions may name; NULL:
  -- any. budget_max_count: executions in one period. started_on: the calendar date of the creation in the mandate's
  -- zone, from which a total budget counts. version: counts the changes that PATCH makes. created_by, revoked_by: the
  -- key or the user. There is no column for the state: it follows from the others and the clock.
  -- No foreign key to agents: the row stays when the agent is gone, and the check would lock the agent's row.
  -- Check-ins change no indexed column: the fillfactor leaves room for them on the page of their row.
  CREATE TABLE mandates (
    account_id text COLLATE "C" NOT NULL,
    environment text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    parent_id text COLLATE "C",
    path text[] COLLATE "C" NOT NULL,
    agent_id text COLLATE "C",
    principal text NOT NULL,
    description text NOT NULL,
    version integer NOT NULL DEFAULT 1,
    timezone text COLLATE "C" NOT NULL,
    constraints jsonb NOT NULL,
    pointers jsonb NOT NULL,
    instruments text[] COLLATE "C",
    budget_limit numeric(20, 4),
    budget_currency text COLLATE "C",
    budget_period text COLLATE "C",
    budget_max_count integer,
    started_on date NOT NULL,
    not_before timestamptz,
    expires_at timestamptz NOT NULL,
    heartbeat_interval_seconds integer,
    heartbeat_window_seconds integer,
    last_check_in_at timestamptz,
    revoked_at timestamptz,
    revoked_by text COLLATE "C",
    revoked_reason text,
    created_by text COLLATE "C" NOT NULL,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    CONSTRAINT mandates_pkey PRIMARY KEY (account_id, environment, id),
    CONSTRAINT mandates_account_fkey FOREIGN KEY (account_id) REFERENCES accounts (id),
    CONSTRAINT mandates_parent_fkey FOREIGN KEY (account_id, environment, parent_id)
      REFERENCES mandates (account_id, environment, id) ON DELETE CASCADE,
    CONSTRAINT mandates_environment_check CHECK (environment IN ('sandbox', 'live')),
    CONSTRAINT mandates_path_check CHECK (cardinality(path) BETWEEN 1 AND 5 AND path[cardinality(path)] = id
      AND path[cardinality(path) - 1] IS NOT DISTINCT FROM parent_id),
    CONSTRAINT mandates_expires_check CHECK (expires_at <= created_at + interval '366 days'),
    CONSTRAINT mandates_heartbeat_check CHECK (
      (heartbeat_interval_seconds IS NULL) = (heartbeat_window_seconds IS NULL)
      AND (heartbeat_interval_seconds IS NULL) = (last_check_in_at IS NULL)),
    CONSTRAINT mandates_revoked_check CHECK ((revoked_at IS NULL) = (revoked_by IS NULL)
      AND (revoked_at IS NULL) = (revoked_reason IS NULL)),
    CONSTRAINT mandates_budget_check CHECK ((budget_limit IS NULL) = (budget_currency IS NULL)
      AND (budget_limit IS NULL) = (budget_period IS NULL) AND budget_limit > 0
      AND budget_period IN ('total', 'day', 'week', 'month', 'year')
      AND (budget_max_count IS NULL OR (budget_limit IS NOT NULL AND budget_max_count > 0))),
    CONSTRAINT mandates_not_before_check CHECK (not_before < expires_at),
    CONSTRAINT mandates_instruments_check CHECK (cardinality(instruments) > 0)
  ) WITH (fillfactor = 80);
  CREATE INDEX mandates_parent_idx ON mandates (parent_id, account_id, environment, id) WHERE parent_id IS NOT NULL;
  CREATE INDEX mandates_agent_idx ON mandates (agent_id, account_id, environment, id) WHERE agent_id IS NOT NULL;
  ${tenant('mandates')}
  -- DELETE is for retention.
  GRANT SELECT, INSERT, UPDATE (agent_id, version, constraints, instruments, budget_limit, budget_currency,
    budget_period, budget_max_count, not_before, expires_at, heartbeat_interval_seconds, heartbeat_window_seconds,
    last_check_in_at, revoked_at, revoked_by, revoked_reason, updated_at), DELETE ON mandates TO countersign_app;

  -- What was spent in a period of a budget. period_start: a calendar date in the mandate's zone. executions: those in
  -- the period that were charged and not given back.
  -- No foreign keys here and below: charges are made under the locks of their mandates, and a check would be one
  -- look-up more for each.
  CREATE TABLE mandate_spend (
    account_id text COLLATE "C" NOT NULL,
    environment text COLLATE "C" NOT NULL,
    mandate_id text COLLATE "C" NOT NULL,
    period_start date NOT NULL,
    spent numeric(20, 4) NOT NULL,
    executions integer NOT NULL DEFAULT 0,
    CONSTRAINT mandate_spend_pkey PRIMARY KEY (account_id, environment, mandate_id, period_start),
    CONSTRAINT mandate_spend_environment_check CHECK (environment IN ('sandbox', 'live')),
    CONSTRAINT mandate_spend_spent_check CHECK (spent >= 0),
    CONSTRAINT mandate_spend_executions_check CHECK (executions >= 0)
  ) WITH (fillfactor = 50);
  ${tenant('mandate_spend')}
  GRANT SELECT, INSERT, UPDATE (spent, executions), DELETE ON mandate_spend TO countersign_app;

  -- What a token was charged, once on each level that has a budget. depth: 1 is the root.
  CREATE TABLE mandate_charges (
    account_id text COLLATE "C" NOT NULL,
    environment text COLLATE "C" NOT NULL,
    jti text COLLATE "C" NOT NULL,
    mandate_id text COLLATE "C" NOT NULL,
    depth integer NOT NULL,
    period_start date NOT NULL,
    amount numeric(20, 4) NOT NULL,
    currency text COLLATE "C" NOT NULL,
    charged_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    released_at timestamptz,
    CONSTRAINT mandate_charges_pkey PRIMARY KEY (account_id, environment, jti, mandate_id),
    CONSTRAINT mandate_charges_environment_check CHECK (environment IN ('sandbox', 'live')),
    CONSTRAINT mandate_charges_amount_check CHECK (amount >= 0)
  ) WITH (fillfactor = 90);
  -- What was charged to a mandate, by day.
  CREATE INDEX mandate_charges_mandate_idx ON mandate_charges (mandate_id, account_id, environment, charged_at);
  ${tenant('mandate_charges')}
  GRANT SELECT, INSERT, UPDATE (released_at), DELETE ON mandate_charges TO countersign_app;
`

const SCHEDULES = `
  -- Standing schedules: one payment to one counterparty in each cycle. frequency: a word or a recurrence rule.
  -- anchor_at: occurrence 1. executed: how many rows schedule_cycles has, counted under the lock of this row.
  -- ends_at: when the window of the last cycle closes, where missed cycles count. created_by, changed_by: a key or a
  -- user.
  CREATE TABLE schedules (
    account_id text COLLATE "C" NOT NULL,
    environment text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    status text COLLATE "C" NOT NULL DEFAULT 'active',
    counterparty text COLLATE "C" NOT NULL,
    amount_type text COLLATE "C" NOT NULL,
    amount numeric(20, 4) NOT NULL,
    currency text COLLATE "C" NOT NULL,
    frequency text COLLATE "C" NOT NULL,
    anchor_at timestamptz NOT NULL,
    timezone text COLLATE "C" NOT NULL,
    window_seconds integer NOT NULL,
    occurrences integer NOT NULL,
    consume_missed boolean NOT NULL,
    executed integer NOT NULL DEFAULT 0,
    ends_at timestamptz,
    created_by text COLLATE "C" NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    changed_by text COLLATE "C",
    changed_at timestamptz,
    CONSTRAINT schedules_pkey PRIMARY KEY (account_id, environment, id),
    CONSTRAINT schedules_account_fkey FOREIGN KEY (account_id) REFERENCES accounts (id),
    CONSTRAINT schedules_environment_check CHECK (environment IN ('sandbox', 'live')),
    CONSTRAINT schedules_status_check CHECK (status IN ('active', 'paused', 'cancelled')),
    CONSTRAINT schedules_amount_check CHECK (amount_type IN ('fixed', 'max') AND amount > 0),
    CONSTRAINT schedules_occurrences_check CHECK (occurrences BETWEEN 1 AND 1000),
    CONSTRAINT schedules_executed_check CHECK (executed BETWEEN 0 AND occurrences),
    CONSTRAINT schedules_window_check CHECK (window_seconds > 0),
    CONSTRAINT schedules_ends_check CHECK (consume_missed = (ends_at IS NOT NULL)),
    CONSTRAINT schedules_changed_check CHECK ((changed_at IS NULL) = (changed_by IS NULL))
  );
  CREATE INDEX schedules_counterparty_idx ON schedules (counterparty, account_id, environment, id);
  ${tenant('schedules')}
  -- DELETE is for retention.
  GRANT SELECT, INSERT, UPDATE (status, executed, changed_by, changed_at), DELETE ON schedules TO countersign_app;

  -- A cycle that was executed: exactly one token has it, and a token has at most one. The row goes when the execution
  -- is reported as failed or not run.
  CREATE TABLE schedule_cycles (
    account_id text COLLATE "C" NOT NULL,
    environment text COLLATE "C" NOT NULL,
    schedule_id text COLLATE "C" NOT NULL,
    cycle integer NOT NULL,
    jti text COLLATE "C" NOT NULL,
    amount numeric(20, 4) NOT NULL,
    currency text COLLATE "C" NOT NULL,
    executed_at timestamptz NOT NULL,
    CONSTRAINT schedule_cycles_pkey PRIMARY KEY (schedule_id, cycle, account_id, environment),
    CONSTRAINT schedule_cycles_jti_key UNIQUE (jti, account_id, environment),
    CONSTRAINT schedule_cycles_schedule_fkey FOREIGN KEY (account_id, environment, schedule_id)
      REFERENCES schedules (account_id, environment, id) ON DELETE CASCADE,
    CONSTRAINT schedule_cycles_environment_check CHECK (environment IN ('sandbox', 'live')),
    CONSTRAINT schedule_cycles_cycle_check CHECK (cycle > 0)
  );
  ${tenant('schedule_cycles')}
  GRANT SELECT, INSERT, DELETE ON schedule_cycles TO countersign_app;
`

const PASSKEYS = `
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
    CONSTRAINT passkeys_size_check CHECK (octet_length(credential_id) BETWEEN 1 AND 1023 AND octet_length(public_key) <=
      1024)
  );
  CREATE INDEX passkeys_user_idx ON passkeys (user_id, account_id, id);
  ${account('passkeys')}
  CREATE POLICY passkeys_system ON passkeys TO countersign_system USING (true) WITH CHECK (true);
  GRANT SELECT, INSERT, UPDATE (name, counter, is_backed_up, last_used_at), DELETE ON passkeys TO countersign_app;
  -- A person who leaves an account of their own to accept an invite does so in a transaction without a tenant.
  GRANT SELECT (account_id, id, user_id), DELETE ON passkeys TO countersign_system;

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
  ${account('passkey_registrations')}
  GRANT SELECT, INSERT, UPDATE (challenge, expires_at), DELETE ON passkey_registrations TO countersign_app;

  -- What a person is asked to confirm with a passkey. challenge: SHA-256 of the canonical JSON of what is confirmed
  -- and the nonce. user_id: the user whose passkey has to confirm; NULL: any user of the account.
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
  ${tenant('passkey_challenges')}
  -- DELETE is for retention.
  GRANT SELECT, INSERT, UPDATE (consumed_at), DELETE ON passkey_challenges TO countersign_app;
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
