// Authorize, the intents themselves: tokens, approvals of people, revocations, and the public status lists.

import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(INTENTS)
  await knex.raw(APPROVALS)
  await knex.raw(REVOCATIONS)
  await knex.raw(STATUS_LISTS)
}

export async function down(): Promise<void> {
  throw new Error('migrations only go forward: restore a backup instead')
}

const SCOPE = `account_id = (SELECT nullif(current_setting('app.account_id', true), ''))
      AND environment = (SELECT nullif(current_setting('app.environment', true), ''))`

const INTENTS = `
  -- One row per issued token. token_sha256: the hash of the exact string; every signature has a second valid form.
  -- The other hashes are those that the token carries. sealed_facts: what authorize knew of the action (JSON).
  -- sealed_token: the token itself, where a request with an Idempotency-Key may ask for it again, until it expires.
  -- status_list and status_index: where the public status list has its bits. executed_by: the key or user whose
  -- verify executed it. execution_key: a digest of that principal and its Idempotency-Key.
  -- passkey_user_id: the user whose passkey confirmed the action at authorize: they asked for it, and approve none of
  -- it. No foreign key to it: a user may be removed while the token is kept. No foreign key to accounts: a token is
  -- issued to a principal of the account, and the check would lock its row.
  -- A token is executed, gets its outcome, loses its sealed string: the fillfactor leaves room for each change on the
  -- page of its row, and only the last one changes an indexed column.
  CREATE TABLE intents (
    account_id text COLLATE "C" NOT NULL,
    environment text COLLATE "C" NOT NULL,
    jti text COLLATE "C" NOT NULL,
    token_sha256 bytea NOT NULL,
    action_hash text COLLATE "C" NOT NULL,
    payload_hash text COLLATE "C" NOT NULL,
    context_hash text COLLATE "C",
    trace_id text COLLATE "C",
    reading_hash text COLLATE "C",
    agent_id text COLLATE "C",
    agent_session_id text COLLATE "C" NOT NULL,
    device_id text COLLATE "C" NOT NULL,
    mandate_id text COLLATE "C",
    schedule_id text COLLATE "C",
    audience text COLLATE "C",
    biometric jsonb,
    passkey_user_id text COLLATE "C",
    policy_version integer NOT NULL,
    status_list integer NOT NULL,
    status_index integer NOT NULL,
    actor_kind text COLLATE "C" NOT NULL,
    actor_id text COLLATE "C" NOT NULL,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    expires_at timestamptz NOT NULL,
    sealed_facts bytea NOT NULL,
    sealed_token bytea,
    executed_at timestamptz,
    executed_by text COLLATE "C",
    execution_key text COLLATE "C",
    outcome text COLLATE "C",
    outcome_at timestamptz,
    revocation_id text COLLATE "C",
    revoked_scope text COLLATE "C",
    revoked_at timestamptz,
    CONSTRAINT intents_pkey PRIMARY KEY (account_id, environment, jti),
    CONSTRAINT intents_environment_check CHECK (environment IN ('sandbox', 'live')),
    CONSTRAINT intents_digest_check CHECK (octet_length(token_sha256) = 32),
    CONSTRAINT intents_actor_check CHECK (actor_kind IN ('key', 'session')),
    CONSTRAINT intents_bound_check CHECK (mandate_id IS NULL OR schedule_id IS NULL),
    CONSTRAINT intents_executed_check CHECK ((executed_at IS NULL) = (executed_by IS NULL)
      AND (execution_key IS NULL OR executed_at IS NOT NULL)),
    CONSTRAINT intents_outcome_check CHECK (outcome IN ('succeeded', 'failed', 'not_run')),
    CONSTRAINT intents_outcome_at_check CHECK ((outcome IS NULL) = (outcome_at IS NULL)
      AND (outcome IS NULL OR executed_at IS NOT NULL)),
    CONSTRAINT intents_revoked_check CHECK ((revocation_id IS NULL) = (revoked_at IS NULL)
      AND (revocation_id IS NULL) = (revoked_scope IS NULL) AND revoked_scope IN ('token', 'session', 'device'))
  ) WITH (fillfactor = 70);
  -- Revocations end every unexpired token of their session or device.
  CREATE INDEX intents_session_idx ON intents (agent_session_id, account_id, environment, expires_at);
  CREATE INDEX intents_device_idx ON intents (device_id, account_id, environment, expires_at);
  -- An Idempotency-Key executes one token. Tokens that are executed without a key are in no index that their
  -- execution changes.
  CREATE UNIQUE INDEX intents_execution_key ON intents (execution_key, account_id, environment)
    WHERE execution_key IS NOT NULL;
  -- The list of issued tokens. Few of the tokens that are kept are revoked or still valid.
  CREATE INDEX intents_agent_idx ON intents (agent_id, account_id, environment, jti) WHERE agent_id IS NOT NULL;
  CREATE INDEX intents_revoked_idx ON intents (account_id, environment, jti) WHERE revoked_at IS NOT NULL;
  CREATE INDEX intents_expires_idx ON intents (account_id, environment, expires_at);
  -- The clock deletes the sealed strings of expired tokens.
  CREATE INDEX intents_sealed_idx ON intents (expires_at, account_id, environment) WHERE sealed_token IS NOT NULL;
  ${tenant('intents')}
  GRANT SELECT, INSERT, UPDATE (sealed_facts, sealed_token, executed_at, executed_by, execution_key, outcome,
    outcome_at, revocation_id, revoked_scope, revoked_at), DELETE ON intents TO countersign_app;
`

const APPROVALS = `
  -- What people are asked to approve before an action may run. rules: [{rule_id, rule_hash, min_approvals, roles}],
  -- as they were when it was asked for. sealed_description and sealed_payload: the action itself, whose hashes stand
  -- beside them. excluded_ids: users who can't decide it. outcome: what ended it; that it has expired is in no
  -- column, but follows from expires_at. is_told: whether its end is in an event and in the ledger.
  -- No foreign key to accounts or intents: it is written while a token is authorized or verified, and the check would
  -- lock them.
  CREATE TABLE approvals (
    account_id text COLLATE "C" NOT NULL,
    environment text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    jti text COLLATE "C" NOT NULL,
    origin text COLLATE "C" NOT NULL,
    rules jsonb NOT NULL,
    min_approvals smallint NOT NULL,
    roles text[] COLLATE "C" NOT NULL,
    requires_passkey boolean NOT NULL,
    has_separation boolean NOT NULL,
    action_hash text COLLATE "C" NOT NULL,
    payload_hash text COLLATE "C" NOT NULL,
    preview_hash text COLLATE "C" NOT NULL,
    agent_id text COLLATE "C",
    agent_session_id text COLLATE "C" NOT NULL,
    device_id text COLLATE "C" NOT NULL,
    mandate_id text COLLATE "C",
    schedule_id text COLLATE "C",
    requester_id text COLLATE "C",
    excluded_ids text[] COLLATE "C" NOT NULL,
    actor_kind text COLLATE "C" NOT NULL,
    actor_id text COLLATE "C" NOT NULL,
    token_ttl_seconds integer NOT NULL,
    sealed_description bytea NOT NULL,
    sealed_payload bytea NOT NULL,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    expires_at timestamptz NOT NULL,
    outcome text COLLATE "C",
    decided_at timestamptz,
    is_told boolean NOT NULL DEFAULT false,
    CONSTRAINT approvals_pkey PRIMARY KEY (account_id, environment, id),
    CONSTRAINT approvals_environment_check CHECK (environment IN ('sandbox', 'live')),
    CONSTRAINT approvals_origin_check CHECK (origin IN ('authorize', 'verify')),
    CONSTRAINT approvals_min_check CHECK (min_approvals BETWEEN 1 AND 10),
    CONSTRAINT approvals_roles_check CHECK (roles <@ ARRAY['owner', 'admin', 'approver'] AND cardinality(roles) > 0),
    CONSTRAINT approvals_actor_check CHECK (actor_kind IN ('key', 'session')),
    CONSTRAINT approvals_outcome_check CHECK (outcome IN ('approved', 'denied', 'cancelled')),
    CONSTRAINT approvals_decided_check CHECK ((outcome IS NULL) = (decided_at IS NULL)),
    -- What people decide, they decide in time.
    CONSTRAINT approvals_in_time_check CHECK (outcome IS NULL OR outcome = 'cancelled' OR decided_at < expires_at)
  );
  CREATE UNIQUE INDEX approvals_token_key ON approvals (jti, origin, account_id, environment);
  -- What is not told is what is pending, and little else.
  CREATE INDEX approvals_open_idx ON approvals (account_id, environment, id) WHERE NOT is_told;
  CREATE INDEX approvals_session_idx ON approvals (agent_session_id, account_id, environment) WHERE NOT is_told;
  CREATE INDEX approvals_device_idx ON approvals (device_id, account_id, environment) WHERE NOT is_told;
  CREATE INDEX approvals_expiring_idx ON approvals (expires_at) WHERE NOT is_told AND outcome IS NULL;
  CREATE INDEX approvals_untold_idx ON approvals (decided_at) WHERE NOT is_told AND outcome IS NOT NULL;
  -- The list of approvals by how they ended, and by session.
  CREATE INDEX approvals_outcome_idx ON approvals (outcome, account_id, environment, id) WHERE outcome IS NOT NULL;
  CREATE INDEX approvals_lapsed_idx ON approvals (account_id, environment, id) WHERE outcome IS NULL;
  CREATE INDEX approvals_all_of_session_idx ON approvals (agent_session_id, account_id, environment, id);
  ${tenant('approvals')}
  CREATE POLICY approvals_system ON approvals TO countersign_system USING (true);
  GRANT SELECT, INSERT, UPDATE (sealed_description, sealed_payload, outcome, decided_at, is_told), DELETE
    ON approvals TO countersign_app;
  -- The clock finds expired approvals, and web those that its callers wait for, in all accounts with one statement.
  GRANT SELECT (account_id, environment, id, expires_at, outcome, decided_at, is_told)
    ON approvals TO countersign_system;

  -- What people decided, one row for each person. via: how they did so. actor_id: the user, or the key that spoke for
  -- them. key_root_id: the first key of the rotations that led to that key. passkey_id: with which the person signed
  -- the action.
  CREATE TABLE approval_votes (
    account_id text COLLATE "C" NOT NULL,
    environment text COLLATE "C" NOT NULL,
    approval_id text COLLATE "C" NOT NULL,
    user_id text COLLATE "C" NOT NULL,
    decision text COLLATE "C" NOT NULL,
    via text COLLATE "C" NOT NULL,
    actor_id text COLLATE "C" NOT NULL,
    key_root_id text COLLATE "C",
    passkey_id text COLLATE "C",
    comment text,
    decided_at timestamptz NOT NULL,
    CONSTRAINT approval_votes_pkey PRIMARY KEY (account_id, environment, approval_id, user_id),
    CONSTRAINT approval_votes_approval_fkey FOREIGN KEY (account_id, environment, approval_id)
      REFERENCES approvals (account_id, environment, id) ON DELETE CASCADE,
    CONSTRAINT approval_votes_decision_check CHECK (decision IN ('approve', 'deny')),
    CONSTRAINT approval_votes_via_check CHECK (via IN ('session', 'passkey', 'api_key')),
    CONSTRAINT approval_votes_key_check CHECK ((via = 'api_key') = (key_root_id IS NOT NULL))
  );
  CREATE UNIQUE INDEX approval_votes_key_key ON approval_votes (approval_id, key_root_id, account_id, environment)
    WHERE key_root_id IS NOT NULL;
  ${tenant('approval_votes')}
  GRANT SELECT, INSERT, DELETE ON approval_votes TO countersign_app;
`

const REVOCATIONS = `
  -- What ends tokens before they expire. subject_id: the jti, agent session or device. expires_at: until when new
  -- tokens are refused; issued ones stay revoked. ended_count: the tokens that ended with it.
  CREATE TABLE revocations (
    account_id text COLLATE "C" NOT NULL,
    environment text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    scope text COLLATE "C" NOT NULL,
    subject_id text COLLATE "C" NOT NULL,
    reason text NOT NULL,
    ended_count integer NOT NULL,
    actor_kind text COLLATE "C" NOT NULL,
    actor_id text COLLATE "C" NOT NULL,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    expires_at timestamptz,
    CONSTRAINT revocations_pkey PRIMARY KEY (account_id, environment, id),
    CONSTRAINT revocations_account_fkey FOREIGN KEY (account_id) REFERENCES accounts (id),
    CONSTRAINT revocations_environment_check CHECK (environment IN ('sandbox', 'live')),
    CONSTRAINT revocations_scope_check CHECK (scope IN ('token', 'session', 'device')),
    CONSTRAINT revocations_actor_check CHECK (actor_kind IN ('key', 'session')),
    CONSTRAINT revocations_expires_check CHECK (expires_at IS NULL OR scope <> 'token')
  );
  CREATE INDEX revocations_subject_idx ON revocations (subject_id, scope, account_id, environment);
  CREATE UNIQUE INDEX revocations_token_key ON revocations (subject_id, account_id, environment) WHERE scope = 'token';
  -- Retention looks for what has ended, hourly: revocations without an end are many, and stay.
  CREATE INDEX revocations_expiry_idx ON revocations (account_id, environment, expires_at) WHERE expires_at IS NOT NULL;
  CREATE INDEX revocations_tokens_idx ON revocations (account_id, environment, id) WHERE scope = 'token';
  ${tenant('revocations')}
  GRANT SELECT, INSERT, DELETE ON revocations TO countersign_app;

  -- Each time that an account stopped everything, until it resumed.
  CREATE TABLE stops (
    account_id text COLLATE "C" NOT NULL,
    environment text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    reason text NOT NULL,
    stopped_by text COLLATE "C" NOT NULL,
    stopped_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    resumed_by text COLLATE "C",
    resumed_at timestamptz,
    CONSTRAINT stops_pkey PRIMARY KEY (account_id, environment, id),
    CONSTRAINT stops_account_fkey FOREIGN KEY (account_id) REFERENCES accounts (id),
    CONSTRAINT stops_environment_check CHECK (environment IN ('sandbox', 'live')),
    CONSTRAINT stops_resumed_check CHECK ((resumed_at IS NULL) = (resumed_by IS NULL))
  );
  CREATE UNIQUE INDEX stops_live_key ON stops (account_id, environment) WHERE resumed_at IS NULL;
  ${tenant('stops')}
  GRANT SELECT, INSERT, UPDATE (resumed_by, resumed_at), DELETE ON stops TO countersign_app;
`

const STATUS_LISTS = `
  -- The public status lists. They belong to no tenant: a list has tokens of every account of its environment, in an
  -- order that says nothing of who issued when. seed: gives the order of this list. Processes draw blocks of 256
  -- places.
  CREATE SEQUENCE status_blocks_sandbox MINVALUE 0;
  CREATE SEQUENCE status_blocks_live MINVALUE 0;
  GRANT USAGE ON SEQUENCE status_blocks_sandbox, status_blocks_live TO countersign_system;
  CREATE TABLE status_lists (
    environment text COLLATE "C" NOT NULL,
    number integer NOT NULL,
    seed bytea NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT status_lists_pkey PRIMARY KEY (environment, number),
    CONSTRAINT status_lists_environment_check CHECK (environment IN ('sandbox', 'live')),
    CONSTRAINT status_lists_seed_check CHECK (octet_length(seed) = 32)
  );
  GRANT SELECT, INSERT ON status_lists TO countersign_system;

  -- The places whose token is revoked. expires_at: when the token expires, after which its place says nothing.
  CREATE TABLE status_bits (
    environment text COLLATE "C" NOT NULL,
    list integer NOT NULL,
    index integer NOT NULL,
    expires_at timestamptz NOT NULL,
    CONSTRAINT status_bits_pkey PRIMARY KEY (environment, list, index),
    CONSTRAINT status_bits_environment_check CHECK (environment IN ('sandbox', 'live')),
    CONSTRAINT status_bits_index_check CHECK (index BETWEEN 0 AND 131071)
  );
  CREATE INDEX status_bits_expires_idx ON status_bits USING brin (expires_at);
  -- A revocation writes places of its own tokens, and reads none.
  GRANT INSERT ON status_bits TO countersign_app;
  GRANT SELECT, DELETE ON status_bits TO countersign_system;
`

/** Row-level security of a tenant table, which the erasure of a closed account reaches too. */
function tenant(table: string): string {
  return `
    ALTER TABLE ${table} ENABLE ROW LEVEL SECURITY;
    ALTER TABLE ${table} FORCE ROW LEVEL SECURITY;
    CREATE POLICY ${table}_tenant ON ${table} TO countersign_app USING (${SCOPE}) WITH CHECK (${SCOPE});
    SELECT admit_erasure('${table}');`
}
