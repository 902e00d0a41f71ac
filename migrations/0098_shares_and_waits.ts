import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- What people call a share. Its name and its end can be changed.
    ALTER TABLE trace_shares ADD COLUMN name text;
    GRANT UPDATE (name, expires_at) ON trace_shares TO countersign_app;

    -- Callers wait for the end of attributions and diffs.
    CREATE POLICY trace_jobs_system ON trace_jobs TO countersign_system USING (true);
    GRANT SELECT (account_id, environment, id, state) ON trace_jobs TO countersign_system;
    CREATE POLICY model_diffs_system ON model_diffs TO countersign_system USING (true);
    GRANT SELECT (account_id, environment, id, state) ON model_diffs TO countersign_system;

    -- Lists by a status that few rows have.
    CREATE INDEX trace_jobs_state_idx ON trace_jobs (state, account_id, environment, id);
    CREATE INDEX model_diffs_state_idx ON model_diffs (state, account_id, environment, id);
    CREATE INDEX model_diffs_verdict_idx ON model_diffs (verdict, account_id, environment, id) WHERE verdict IS NOT NULL;
    CREATE INDEX session_locks_live_idx ON session_locks (id, account_id, environment) WHERE cleared_at IS NULL;
    CREATE INDEX disclosure_requests_status_idx ON disclosure_requests (status, account_id, environment, id);
    CREATE INDEX trace_shares_ending_idx ON trace_shares (expires_at, account_id, environment, id) WHERE revoked_at IS NULL;
    CREATE INDEX traces_finish_idx ON traces (finish_reason, account_id, environment, id) WHERE finish_reason IS NOT NULL;
  `)
}

export async function down(): Promise<void> {
  throw new Error('migrations only go forward: restore a backup instead')
}
