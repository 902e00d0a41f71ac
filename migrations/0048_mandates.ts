import type { Knex } from 'knex'

const TENANT = `account_id = nullif(current_setting('app.account_id', true), '')
  AND environment = nullif(current_setting('app.environment', true), '')`

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- What somebody lets an agent do. path: the mandate's ancestors, root first, and itself. principal: for whom the agent acts.
    -- constraints and pointers: JSON. started_on: the calendar date of the creation in the mandate's zone, from which a total
    -- budget counts. created_by, revoked_by: the key or the user. There is no column for the state: it follows from the others
    -- and the clock.
    -- No foreign key to agents: the row stays when the agent is gone, and the check would lock the agent's row.
    CREATE TABLE mandates (
      account_id text COLLATE "C" NOT NULL,
      environment text COLLATE "C" NOT NULL,
      id text COLLATE "C" NOT NULL,
      parent_id text COLLATE "C",
      path text[] COLLATE "C" NOT NULL,
      agent_id text COLLATE "C",
      principal text NOT NULL,
      description text NOT NULL,
      timezone text COLLATE "C" NOT NULL,
      constraints jsonb NOT NULL,
      pointers jsonb NOT NULL,
      budget_limit numeric(20, 4),
      budget_currency text COLLATE "C",
      budget_period text COLLATE "C",
      started_on date NOT NULL,
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
      CONSTRAINT mandates_budget_check CHECK ((budget_limit IS NULL) = (budget_currency IS NULL)
        AND (budget_limit IS NULL) = (budget_period IS NULL) AND budget_limit > 0
        AND budget_period IN ('total', 'day', 'month')),
      CONSTRAINT mandates_expires_check CHECK (expires_at <= created_at + interval '366 days'),
      CONSTRAINT mandates_heartbeat_check CHECK (
        (heartbeat_interval_seconds IS NULL) = (heartbeat_window_seconds IS NULL)
        AND (heartbeat_interval_seconds IS NULL) = (last_check_in_at IS NULL)),
      CONSTRAINT mandates_revoked_check CHECK ((revoked_at IS NULL) = (revoked_by IS NULL)
        AND (revoked_at IS NULL) = (revoked_reason IS NULL))
    -- Check-ins change no indexed column, and fit in the page of their row.
    ) WITH (fillfactor = 80);
    CREATE INDEX mandates_parent_idx ON mandates (parent_id, account_id, environment, id) WHERE parent_id IS NOT NULL;
    CREATE INDEX mandates_agent_idx ON mandates (agent_id, account_id, environment, id) WHERE agent_id IS NOT NULL;

    -- What was spent in a period of a budget. period_start: a calendar date in the mandate's zone.
    -- No foreign keys here and below: charges are made under the locks of their mandates, and a check would be one look-up more
    -- for each.
    CREATE TABLE mandate_spend (
      account_id text COLLATE "C" NOT NULL,
      environment text COLLATE "C" NOT NULL,
      mandate_id text COLLATE "C" NOT NULL,
      period_start date NOT NULL,
      spent numeric(20, 4) NOT NULL,
      CONSTRAINT mandate_spend_pkey PRIMARY KEY (account_id, environment, mandate_id, period_start),
      CONSTRAINT mandate_spend_environment_check CHECK (environment IN ('sandbox', 'live')),
      CONSTRAINT mandate_spend_spent_check CHECK (spent >= 0)
    ) WITH (fillfactor = 50);

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

    ${['mandates', 'mandate_spend', 'mandate_charges']
      .map(
        (table) => `
    ALTER TABLE ${table} ENABLE ROW LEVEL SECURITY;
    ALTER TABLE ${table} FORCE ROW LEVEL SECURITY;
    CREATE POLICY ${table}_tenant ON ${table} TO countersign_app USING (${TENANT}) WITH CHECK (${TENANT});
    SELECT admit_erasure('${table}');`,
      )
      .join('\n')}
    -- DELETE is for retention.
    GRANT SELECT, INSERT, DELETE, UPDATE (agent_id, constraints, budget_limit, budget_currency, budget_period, expires_at,
      heartbeat_interval_seconds, heartbeat_window_seconds, last_check_in_at, revoked_at, revoked_by, revoked_reason,
      updated_at) ON mandates TO countersign_app;
    GRANT SELECT, INSERT, DELETE, UPDATE (spent) ON mandate_spend TO countersign_app;
    GRANT SELECT, INSERT, DELETE, UPDATE (released_at) ON mandate_charges TO countersign_app;
  `)
}

export async function down(): Promise<void> {
  throw new Error('migrations only go forward: restore a backup instead')
}
