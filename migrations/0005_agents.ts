// Agents, the causes that suspend them, and their sessions.

import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- Software that acts for somebody. name_lower is a column: an index on lower(name) could not be searched, because
    -- lower() is not leakproof and row-level security comes first. owner: who answers for it, in the account's own
    -- words. public_key: a JWK. version: counts the changes that PATCH makes. created_by: the key or the user.
    CREATE TABLE agents (
      account_id text COLLATE "C" NOT NULL,
      environment text COLLATE "C" NOT NULL,
      id text COLLATE "C" NOT NULL,
      name text NOT NULL,
      name_lower text COLLATE "C" NOT NULL GENERATED ALWAYS AS (lower(name)) STORED,
      owner text COLLATE "C" NOT NULL,
      public_key jsonb,
      metadata jsonb NOT NULL DEFAULT '{}',
      version integer NOT NULL DEFAULT 1,
      created_by text COLLATE "C" NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now(),
      updated_at timestamptz NOT NULL DEFAULT now(),
      CONSTRAINT agents_pkey PRIMARY KEY (account_id, environment, id),
      CONSTRAINT agents_account_fkey FOREIGN KEY (account_id) REFERENCES accounts (id),
      CONSTRAINT agents_environment_check CHECK (environment IN ('sandbox', 'live'))
    );
    CREATE INDEX agents_owner_idx ON agents (owner, account_id, environment, id);
    CREATE INDEX agents_name_prefix_idx ON agents (account_id, environment, name_lower, id);
    ${tenant('agents')}
    -- DELETE is for retention.
    GRANT SELECT, INSERT, UPDATE (name, owner, public_key, metadata, version, updated_at), DELETE
      ON agents TO countersign_app;

    -- Why an agent is suspended: one row for each cause that holds, none while the agent is active. held_by: 'manual',
    -- 'retired', which is never lifted, or the id of a session lock. Each cause is lifted alone.
    CREATE TABLE agent_suspensions (
      account_id text COLLATE "C" NOT NULL,
      environment text COLLATE "C" NOT NULL,
      agent_id text COLLATE "C" NOT NULL,
      held_by text COLLATE "C" NOT NULL,
      reason text,
      suspended_by text COLLATE "C",
      suspended_at timestamptz NOT NULL,
      CONSTRAINT agent_suspensions_pkey PRIMARY KEY (agent_id, held_by, account_id, environment),
      CONSTRAINT agent_suspensions_agent_fkey FOREIGN KEY (account_id, environment, agent_id)
        REFERENCES agents (account_id, environment, id) ON DELETE CASCADE,
      CONSTRAINT agent_suspensions_environment_check CHECK (environment IN ('sandbox', 'live')),
      CONSTRAINT agent_suspensions_held_by_check CHECK (held_by IN ('manual', 'retired') OR held_by LIKE 'lck\\_%')
    );
    CREATE INDEX agent_suspensions_retired_idx ON agent_suspensions (account_id, environment, agent_id)
      WHERE held_by = 'retired';
    CREATE INDEX agent_suspensions_account_idx ON agent_suspensions (account_id, environment, agent_id, held_by);
    ${tenant('agent_suspensions')}
    GRANT SELECT, INSERT, DELETE ON agent_suspensions TO countersign_app;

    -- One run of an agent. Callers may also name sessions of their own, which have no row here.
    CREATE TABLE agent_sessions (
      account_id text COLLATE "C" NOT NULL,
      environment text COLLATE "C" NOT NULL,
      id text COLLATE "C" NOT NULL,
      agent_id text COLLATE "C" NOT NULL,
      metadata jsonb NOT NULL DEFAULT '{}',
      created_by text COLLATE "C" NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now(),
      ended_by text COLLATE "C",
      ended_at timestamptz,
      CONSTRAINT agent_sessions_pkey PRIMARY KEY (account_id, environment, id),
      CONSTRAINT agent_sessions_agent_fkey FOREIGN KEY (account_id, environment, agent_id)
        REFERENCES agents (account_id, environment, id) ON DELETE CASCADE,
      CONSTRAINT agent_sessions_environment_check CHECK (environment IN ('sandbox', 'live')),
      CONSTRAINT agent_sessions_ended_check CHECK ((ended_at IS NULL) = (ended_by IS NULL))
    );
    CREATE INDEX agent_sessions_agent_idx ON agent_sessions (agent_id, account_id, environment, id);
    CREATE INDEX agent_sessions_open_idx ON agent_sessions (agent_id, account_id, environment, id) WHERE ended_at IS NULL;
    -- Retention looks for ended sessions every hour. Sessions that nobody ends are many, and stay.
    CREATE INDEX agent_sessions_ended_idx ON agent_sessions (account_id, environment, ended_at)
      WHERE ended_at IS NOT NULL;
    -- The sessions of all agents, newest first, by their status.
    CREATE INDEX agent_sessions_all_open_idx ON agent_sessions (account_id, environment, id) WHERE ended_at IS NULL;
    CREATE INDEX agent_sessions_all_ended_idx ON agent_sessions (account_id, environment, id) WHERE ended_at IS NOT NULL;
    ${tenant('agent_sessions')}
    -- DELETE is for retention.
    GRANT SELECT, INSERT, UPDATE (ended_by, ended_at), DELETE ON agent_sessions TO countersign_app;
  `)
}

export async function down(): Promise<void> {
  throw new Error('migrations only go forward: restore a backup instead')
}

const SCOPE = `account_id = (SELECT nullif(current_setting('app.account_id', true), ''))
      AND environment = (SELECT nullif(current_setting('app.environment', true), ''))`

/** Row-level security of a tenant table, which the erasure of a closed account reaches too. */
function tenant(table: string): string {
  return `
    ALTER TABLE ${table} ENABLE ROW LEVEL SECURITY;
    ALTER TABLE ${table} FORCE ROW LEVEL SECURITY;
    CREATE POLICY ${table}_tenant ON ${table} TO countersign_app USING (${SCOPE}) WITH CHECK (${SCOPE});
    SELECT admit_erasure('${table}');`
}
