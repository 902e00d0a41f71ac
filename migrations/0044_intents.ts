import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- One row per issued token. token_sha256: of the exact string; every signature has a second valid form. The hashes are
    -- those that the token carries. sealed_facts: what authorize knew of the action (JSON). sealed_token: the token itself, where
    -- a request with an Idempotency-Key may ask for it again, until it expires. status_list and status_index: where
    -- the public status list has its bits. executed_by: the key or user whose verify executed it, execution_key: that request's
    -- Idempotency-Key.
    -- No foreign key to accounts: a token is issued to a principal of the account, and the check would lock its row.
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
    -- A token is executed, gets its outcome, loses its sealed string: each change fits in the page of its row, and changes
    -- no indexed column but the last.
    ) WITH (fillfactor = 70);
    -- For revocations, which end every unexpired token of their session or device.
    CREATE INDEX intents_session_idx ON intents (agent_session_id, account_id, environment, expires_at);
    CREATE INDEX intents_device_idx ON intents (device_id, account_id, environment, expires_at);
    CREATE INDEX intents_sealed_idx ON intents (expires_at, account_id, environment) WHERE sealed_token IS NOT NULL;
    ALTER TABLE intents ENABLE ROW LEVEL SECURITY;
    ALTER TABLE intents FORCE ROW LEVEL SECURITY;
    CREATE POLICY intents_tenant ON intents TO countersign_app USING (${TENANT}) WITH CHECK (${TENANT});
    GRANT SELECT, INSERT, DELETE, UPDATE (sealed_facts, sealed_token, executed_at, executed_by, execution_key, outcome,
      outcome_at, revocation_id, revoked_scope, revoked_at) ON intents TO countersign_app;
    SELECT admit_erasure('intents');

    -- What ends tokens before they expire. subject_id: the jti, agent session or device. expires_at: until when new tokens are
    -- refused; issued ones stay revoked. ended_count: the tokens that ended with it.
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
    ALTER TABLE revocations ENABLE ROW LEVEL SECURITY;
    ALTER TABLE revocations FORCE ROW LEVEL SECURITY;
    CREATE POLICY revocations_tenant ON revocations TO countersign_app USING (${TENANT}) WITH CHECK (${TENANT});
    GRANT SELECT, INSERT, DELETE ON revocations TO countersign_app;
    SELECT admit_erasure('revocations');

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
    ALTER TABLE stops ENABLE ROW LEVEL SECURITY;
    ALTER TABLE stops FORCE ROW LEVEL SECURITY;
    CREATE POLICY stops_tenant ON stops TO countersign_app USING (${TENANT}) WITH CHECK (${TENANT});
    GRANT SELECT, INSERT, DELETE, UPDATE (resumed_by, resumed_at) ON stops TO countersign_app;
    SELECT admit_erasure('stops');

    -- The public status lists. They belong to no tenant: a list has tokens of every account of its environment, in an order
    -- that says nothing of who issued when. seed: of the order of this list. Processes draw blocks of 256 places.
    CREATE SEQUENCE status_blocks_sandbox MINVALUE 0;
    CREATE SEQUENCE status_blocks_live MINVALUE 0;
    CREATE TABLE status_lists (
      environment text COLLATE "C" NOT NULL,
      number integer NOT NULL,
      seed bytea NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now(),
      CONSTRAINT status_lists_pkey PRIMARY KEY (environment, number),
      CONSTRAINT status_lists_environment_check CHECK (environment IN ('sandbox', 'live')),
      CONSTRAINT status_lists_seed_check CHECK (octet_length(seed) = 32)
    );
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
    GRANT USAGE ON SEQUENCE status_blocks_sandbox, status_blocks_live TO countersign_system;
    GRANT SELECT, INSERT ON status_lists TO countersign_system;
    -- A revocation writes places of its own tokens, and reads none.
    GRANT INSERT ON status_bits TO countersign_app;
    GRANT SELECT, DELETE ON status_bits TO countersign_system;
  `)
}

const TENANT = `account_id = nullif(current_setting('app.account_id', true), '')
  AND environment = nullif(current_setting('app.environment', true), '')`

export async function down(): Promise<void> {
  throw new Error('migrations only go forward: restore a backup instead')
}
