import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- The jobs that wait for the reopening of their account: see src/platform/jobs/hold.ts. Other statements never match
    -- its condition.
    CREATE INDEX jobs_held_idx ON jobs (account_id) WHERE state = 'queued' AND run_at > timestamptz '2100-01-01 00:00:00+00';

    -- As suspension_ended_at: an endpoint's failures from before the closure are no reason to disable it.
    ALTER TABLE accounts ADD COLUMN reopened_at timestamptz;
    GRANT UPDATE (reopened_at) ON accounts TO countersign_app;

    -- A suspended account is not erased: the operator has decided that it stays as it is.
    CREATE OR REPLACE FUNCTION require_closed(account text) RETURNS void LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
    BEGIN
      PERFORM set_config('app.account_id', account, true);
      PERFORM FROM accounts WHERE id = account AND closed_at <= now() - interval '30 days' AND erased_at IS NULL
        AND suspended_at IS NULL;
      IF NOT FOUND THEN
        RAISE EXCEPTION 'the account % was not closed 30 days ago, or is suspended', account;
      END IF;
    END $$;
  `)
}

export async function down(): Promise<void> {
  throw new Error('migrations only go forward: restore a backup instead')
}
