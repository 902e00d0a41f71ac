import type { Knex } from 'knex'

const TENANT = `account_id = nullif(current_setting('app.account_id', true), '')
  AND environment = nullif(current_setting('app.environment', true), '')`

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- What a canary trip locked: an agent session, or an agent where the trip named no session. agent_id: the agent that the
    -- lock suspended, if the session belongs to one. It is locked until a human clears it.
    CREATE TABLE session_locks (
      account_id text COLLATE "C" NOT NULL,
      environment text COLLATE "C" NOT NULL,
      id text COLLATE "C" NOT NULL,
      agent_session_id text COLLATE "C",
      agent_id text COLLATE "C",
      trace_id text COLLATE "C",
      tripped_families text[] COLLATE "C" NOT NULL,
      source text COLLATE "C" NOT NULL,
      jti text COLLATE "C",
      matched_rule_id text COLLATE "C",
      created_at timestamptz NOT NULL,
      cleared_at timestamptz,
      cleared_by text COLLATE "C",
      note text,
      agent_unsuspended boolean,
      CONSTRAINT session_locks_pkey PRIMARY KEY (account_id, environment, id),
      CONSTRAINT session_locks_account_fkey FOREIGN KEY (account_id) REFERENCES accounts (id),
      CONSTRAINT session_locks_agent_fkey FOREIGN KEY (account_id, environment, agent_id)
        REFERENCES agents (account_id, environment, id) ON DELETE CASCADE,
      CONSTRAINT session_locks_environment_check CHECK (environment IN ('sandbox', 'live')),
      CONSTRAINT session_locks_subject_check CHECK (agent_session_id IS NOT NULL OR agent_id IS NOT NULL),
      CONSTRAINT session_locks_source_check CHECK (source IN ('verify', 'inference', 'check')),
      CONSTRAINT session_locks_cleared_check
        CHECK ((cleared_at IS NULL) = (cleared_by IS NULL) AND (cleared_at IS NULL) = (agent_unsuspended IS NULL))
    );
    -- However many trips there are at once, one session has one live lock, and one agent has one without a session.
    CREATE UNIQUE INDEX session_locks_live_session_key ON session_locks (agent_session_id, account_id, environment)
      WHERE cleared_at IS NULL AND agent_session_id IS NOT NULL;
    CREATE UNIQUE INDEX session_locks_live_agent_key ON session_locks (agent_id, account_id, environment)
      WHERE cleared_at IS NULL AND agent_session_id IS NULL;
    CREATE INDEX session_locks_live_agent_idx ON session_locks (agent_id, account_id, environment, id)
      WHERE cleared_at IS NULL;
    CREATE INDEX session_locks_session_idx ON session_locks (agent_session_id, account_id, environment, id);
    CREATE INDEX session_locks_agent_idx ON session_locks (agent_id, account_id, environment, id);

    -- One row for each account and environment that has set its kill switch. changed_by: the key or the user.
    CREATE TABLE kill_switches (
      account_id text COLLATE "C" NOT NULL,
      environment text COLLATE "C" NOT NULL,
      settings jsonb NOT NULL,
      changed_by text COLLATE "C" NOT NULL,
      changed_at timestamptz NOT NULL,
      CONSTRAINT kill_switches_pkey PRIMARY KEY (account_id, environment),
      CONSTRAINT kill_switches_account_fkey FOREIGN KEY (account_id) REFERENCES accounts (id),
      CONSTRAINT kill_switches_environment_check CHECK (environment IN ('sandbox', 'live'))
    );

    -- Canary readings, and later the inferences that they were read from. source: 'client' is what a caller sent. digest:
    -- canary_hash, base64url, over everything that the readings say. A row never changes.
    CREATE TABLE traces (
      account_id text COLLATE "C" NOT NULL,
      environment text COLLATE "C" NOT NULL,
      id text COLLATE "C" NOT NULL,
      source text COLLATE "C" NOT NULL,
      agent_session_id text COLLATE "C",
      agent_id text COLLATE "C",
      canary_set text COLLATE "C" NOT NULL,
      readings jsonb NOT NULL,
      reading_at timestamptz NOT NULL,
      model_version_id text COLLATE "C",
      runtime text COLLATE "C",
      digest text COLLATE "C" NOT NULL,
      created_by text COLLATE "C" NOT NULL,
      created_at timestamptz NOT NULL,
      CONSTRAINT traces_pkey PRIMARY KEY (account_id, environment, id),
      CONSTRAINT traces_account_fkey FOREIGN KEY (account_id) REFERENCES accounts (id),
      CONSTRAINT traces_environment_check CHECK (environment IN ('sandbox', 'live')),
      CONSTRAINT traces_source_check CHECK (source IN ('client', 'server')),
      CONSTRAINT traces_digest_check CHECK (length(digest) = 43)
    );
    CREATE INDEX traces_session_idx ON traces (agent_session_id, account_id, environment, id)
      WHERE agent_session_id IS NOT NULL;
    CREATE INDEX traces_agent_idx ON traces (agent_id, account_id, environment, id) WHERE agent_id IS NOT NULL;

    ${['session_locks', 'kill_switches', 'traces']
      .map(
        (table) => `
    ALTER TABLE ${table} ENABLE ROW LEVEL SECURITY;
    ALTER TABLE ${table} FORCE ROW LEVEL SECURITY;
    CREATE POLICY ${table}_tenant ON ${table} TO countersign_app USING (${TENANT}) WITH CHECK (${TENANT});
    SELECT admit_erasure('${table}');`,
      )
      .join('\n')}
    -- DELETE is for retention.
    GRANT SELECT, INSERT, UPDATE (cleared_at, cleared_by, note, agent_unsuspended), DELETE ON session_locks TO countersign_app;
    GRANT SELECT, INSERT, UPDATE, DELETE ON kill_switches TO countersign_app;
    GRANT SELECT, INSERT, DELETE ON traces TO countersign_app;
  `)
}

export async function down(): Promise<void> {
  throw new Error('migrations only go forward: restore a backup instead')
}
