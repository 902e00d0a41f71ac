import type { Knex } from 'knex'

const TENANT = `account_id = nullif(current_setting('app.account_id', true), '')
  AND environment = nullif(current_setting('app.environment', true), '')`

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- Standing schedules: one payment to one counterparty in each cycle. frequency: a word or a recurrence rule. anchor_at:
    -- occurrence 1. executed: how many rows schedule_cycles has, kept by what writes them under the lock of this row. ends_at:
    -- when the window of the last cycle closes, where missed cycles count. created_by, changed_by: a key or a user.
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

    -- A cycle that was executed: exactly one token has it, and a token has at most one. The row goes when the execution is
    -- reported as failed or not run.
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

    ${['schedules', 'schedule_cycles']
      .map(
        (table) => `
    ALTER TABLE ${table} ENABLE ROW LEVEL SECURITY;
    ALTER TABLE ${table} FORCE ROW LEVEL SECURITY;
    CREATE POLICY ${table}_tenant ON ${table} TO countersign_app USING (${TENANT}) WITH CHECK (${TENANT});
    SELECT admit_erasure('${table}');`,
      )
      .join('\n')}
    -- DELETE on schedules is for retention.
    GRANT SELECT, INSERT, UPDATE (status, executed, changed_by, changed_at), DELETE ON schedules TO countersign_app;
    GRANT SELECT, INSERT, DELETE ON schedule_cycles TO countersign_app;
  `)
}

export async function down(): Promise<void> {
  throw new Error('migrations only go forward: restore a backup instead')
}
