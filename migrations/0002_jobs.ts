import type { Knex } from 'knex'

// The durable backlog of every queue. Small and hot: settled rows leave after a day, and autovacuum runs early, because
// a skip-locked queue slows down with its dead rows. No index on the account: accounts are not deleted, and without
// statistics the planner would take it for a look-up by id under row-level security.
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE jobs (
      id uuid NOT NULL,
      queue text COLLATE "C" NOT NULL,
      lane text COLLATE "C" NOT NULL,
      priority smallint NOT NULL,
      account_id text COLLATE "C" NOT NULL,
      environment text COLLATE "C" NOT NULL,
      payload jsonb NOT NULL,
      state text COLLATE "C" NOT NULL DEFAULT 'queued',
      run_at timestamptz NOT NULL DEFAULT now(),
      dispatches integer NOT NULL DEFAULT 0,
      attempts integer NOT NULL DEFAULT 0,
      fence integer NOT NULL DEFAULT 0,
      lease_until timestamptz,
      last_error text,
      created_at timestamptz NOT NULL DEFAULT now(),
      dispatched_at timestamptz,
      started_at timestamptz,
      settled_at timestamptz,
      CONSTRAINT jobs_pkey PRIMARY KEY (id),
      CONSTRAINT jobs_account_fkey FOREIGN KEY (account_id) REFERENCES accounts (id),
      CONSTRAINT jobs_state_check CHECK (state IN ('queued', 'dispatched', 'running', 'succeeded', 'dead', 'cancelled')),
      CONSTRAINT jobs_priority_check CHECK (priority IN (0, 1)),
      CONSTRAINT jobs_environment_check CHECK (environment IN ('sandbox', 'live'))
    ) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000,
      autovacuum_analyze_scale_factor = 0.05, autovacuum_vacuum_cost_delay = 0);

    CREATE INDEX jobs_due_idx ON jobs (queue, lane, priority, run_at) WHERE state = 'queued';
    CREATE INDEX jobs_in_flight_idx ON jobs (queue, lane) WHERE state IN ('dispatched', 'running');
    CREATE INDEX jobs_dead_idx ON jobs (queue, settled_at) WHERE state = 'dead';
    CREATE INDEX jobs_settled_idx ON jobs (settled_at) WHERE state IN ('succeeded', 'cancelled');

    ALTER TABLE jobs ENABLE ROW LEVEL SECURITY;
    ALTER TABLE jobs FORCE ROW LEVEL SECURITY;
    CREATE POLICY jobs_tenant ON jobs TO countersign_app
      USING (account_id = nullif(current_setting('app.account_id', true), '')
        AND environment = nullif(current_setting('app.environment', true), ''))
      WITH CHECK (account_id = nullif(current_setting('app.account_id', true), '')
        AND environment = nullif(current_setting('app.environment', true), ''));
    CREATE POLICY jobs_system ON jobs TO countersign_system USING (true) WITH CHECK (true);
    GRANT SELECT, INSERT, UPDATE ON jobs TO countersign_app;
    GRANT SELECT, DELETE, UPDATE (state, run_at, dispatches, attempts, fence, lease_until, last_error, dispatched_at,
      started_at, settled_at) ON jobs TO countersign_system;

    -- What operators say of a queue, and which worker processes are alive. No tenant: both belong to the deployment.
    CREATE TABLE queues (
      queue text COLLATE "C" NOT NULL,
      paused_at timestamptz,
      CONSTRAINT queues_pkey PRIMARY KEY (queue)
    );
    CREATE TABLE workers (
      id uuid NOT NULL,
      queue text COLLATE "C" NOT NULL,
      concurrency integer NOT NULL,
      heartbeat_at timestamptz NOT NULL DEFAULT now(),
      CONSTRAINT workers_pkey PRIMARY KEY (id),
      CONSTRAINT workers_concurrency_check CHECK (concurrency > 0)
    );
    GRANT SELECT, INSERT, UPDATE ON queues TO countersign_system;
    GRANT SELECT, INSERT, UPDATE, DELETE ON workers TO countersign_system;
  `)
}

export async function down(): Promise<void> {
  throw new Error('migrations only go forward: restore a backup instead')
}
