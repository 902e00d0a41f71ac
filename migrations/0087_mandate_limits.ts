import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- budget_max_count: executions in one period. instruments: the payment instruments that actions may name; null: any.
    ALTER TABLE mandates
      ADD COLUMN budget_max_count integer,
      ADD COLUMN not_before timestamptz,
      ADD COLUMN instruments text[] COLLATE "C",
      DROP CONSTRAINT mandates_budget_check,
      ADD CONSTRAINT mandates_budget_check CHECK ((budget_limit IS NULL) = (budget_currency IS NULL)
        AND (budget_limit IS NULL) = (budget_period IS NULL) AND budget_limit > 0
        AND budget_period IN ('total', 'day', 'week', 'month', 'year')
        AND (budget_max_count IS NULL OR (budget_limit IS NOT NULL AND budget_max_count > 0))),
      ADD CONSTRAINT mandates_not_before_check CHECK (not_before < expires_at),
      ADD CONSTRAINT mandates_instruments_check CHECK (cardinality(instruments) > 0);
    GRANT UPDATE (budget_max_count, not_before, instruments) ON mandates TO countersign_app;

    -- Executions in the period that were charged and not given back.
    ALTER TABLE mandate_spend ADD COLUMN executions integer NOT NULL DEFAULT 0,
      ADD CONSTRAINT mandate_spend_executions_check CHECK (executions >= 0);
    GRANT UPDATE (executions) ON mandate_spend TO countersign_app;

    -- As far as charges are kept. Row-level security would hide all rows from the owner.
    ALTER TABLE mandate_spend NO FORCE ROW LEVEL SECURITY;
    ALTER TABLE mandate_charges NO FORCE ROW LEVEL SECURITY;
    UPDATE mandate_spend spend SET executions = charged.executions FROM (
      SELECT account_id, environment, mandate_id, period_start, count(*) AS executions FROM mandate_charges
      WHERE released_at IS NULL GROUP BY account_id, environment, mandate_id, period_start) charged
    WHERE spend.account_id = charged.account_id AND spend.environment = charged.environment
      AND spend.mandate_id = charged.mandate_id AND spend.period_start = charged.period_start;
    ALTER TABLE mandate_charges FORCE ROW LEVEL SECURITY;
    ALTER TABLE mandate_spend FORCE ROW LEVEL SECURITY;
  `)
}

export async function down(): Promise<void> {
  throw new Error('migrations only go forward: restore a backup instead')
}
