import type { Knex } from 'knex'

const TENANT = `account_id = nullif(current_setting('app.account_id', true), '')
  AND environment = nullif(current_setting('app.environment', true), '')`

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- What people are asked to approve before an action may run. rules: [{rule_id, rule_hash, min_approvals, roles}], as they were
    -- when it was asked for. sealed_description and sealed_payload: the action itself, whose hashes stand beside them.
    -- excluded_ids: users who can't decide it. outcome: what ended it; that it has expired is in no column, but follows from
    -- expires_at. is_told: whether its end is in an event and in the ledger.
    -- No foreign key to accounts or intents: it is written while a token is authorized or verified, and the check would lock them.
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
    ALTER TABLE approvals ENABLE ROW LEVEL SECURITY;
    ALTER TABLE approvals FORCE ROW LEVEL SECURITY;
    CREATE POLICY approvals_tenant ON approvals TO countersign_app USING (${TENANT}) WITH CHECK (${TENANT});
    CREATE POLICY approvals_system ON approvals TO countersign_system USING (true);
    GRANT SELECT, INSERT, DELETE, UPDATE (outcome, decided_at, is_told, sealed_description, sealed_payload)
      ON approvals TO countersign_app;
    -- The clock finds what has expired, and web what its callers wait for, in all accounts with one statement.
    GRANT SELECT (account_id, environment, id, expires_at, outcome, decided_at, is_told) ON approvals TO countersign_system;
    SELECT admit_erasure('approvals');

    -- What people decided, one row for each person. via: how they did so. actor_id: the user, or the key that spoke for them.
    -- key_root_id: the first key of the rotations that led to that key. passkey_id: with which the person signed the action.
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
    ALTER TABLE approval_votes ENABLE ROW LEVEL SECURITY;
    ALTER TABLE approval_votes FORCE ROW LEVEL SECURITY;
    CREATE POLICY approval_votes_tenant ON approval_votes TO countersign_app USING (${TENANT}) WITH CHECK (${TENANT});
    GRANT SELECT, INSERT, DELETE ON approval_votes TO countersign_app;
    SELECT admit_erasure('approval_votes');

    -- When a removed user became a member again. Their votes of before count no more, in either environment.
    ALTER TABLE users ADD COLUMN reactivated_at timestamptz;
    GRANT UPDATE (reactivated_at) ON users TO countersign_system;
  `)
}

export async function down(): Promise<void> {
  throw new Error('migrations only go forward: restore a backup instead')
}
