import type { Knex } from 'knex'

// What accounts are counted for. An entry is inserted in the transaction of its effect; the process clock adds entries
// to the sums per day, once each, and retention deletes them later.
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- subject_id: what was counted (an attestation, a screening, a batch). units: as many as one statement counted; negative
    -- where they are given back. turn: 0 for the first count of a subject; each give-back and each later count has the next.
    -- at: its day in UTC is the day that it counts for. folded_at: when the sum of that day got it. No foreign key to accounts:
    -- it would be checked entry by entry, and the policy refuses every account but the transaction's own.
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
    -- For retention. Entries arrive in the order of their times, so that an index of block ranges finds old ones at next to
    -- no cost for the insert.
    CREATE INDEX usage_entries_at_idx ON usage_entries USING brin (at);

    -- The sums, from which statements are computed. Kept as long as the account.
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

    ${['usage_entries', 'usage_days']
      .map((table) =>
        policies(table, `${TENANT} AND environment = nullif(current_setting('app.environment', true), '')`),
      )
      .join('\n')}
    ${policies('account_notices', TENANT)}
    GRANT SELECT, INSERT, DELETE ON usage_entries TO countersign_app;
    GRANT SELECT, DELETE ON usage_days TO countersign_app;
    GRANT SELECT, DELETE, UPDATE (notified_at) ON account_notices TO countersign_app;
    -- The clock folds and purges for all accounts at once. An entry has counts and ids.
    GRANT SELECT, DELETE, UPDATE (folded_at) ON usage_entries TO countersign_system;
    GRANT SELECT, INSERT, UPDATE (units) ON usage_days TO countersign_system;
    GRANT SELECT, INSERT ON account_notices TO countersign_system;
    -- An owner lowers the plan.
    GRANT UPDATE (plan) ON accounts TO countersign_app;
  `)
}

const TENANT = `account_id = nullif(current_setting('app.account_id', true), '')`

function policies(table: string, condition: string): string {
  return `
    ALTER TABLE ${table} ENABLE ROW LEVEL SECURITY;
    ALTER TABLE ${table} FORCE ROW LEVEL SECURITY;
    CREATE POLICY ${table}_tenant ON ${table} TO countersign_app USING (${condition}) WITH CHECK (${condition});
    CREATE POLICY ${table}_system ON ${table} TO countersign_system USING (true) WITH CHECK (true);`
}

export async function down(): Promise<void> {
  throw new Error('migrations only go forward: restore a backup instead')
}
