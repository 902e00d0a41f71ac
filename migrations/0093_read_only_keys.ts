import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- A key that changes nothing, whatever its scopes.
    ALTER TABLE api_keys ADD COLUMN read_only boolean NOT NULL DEFAULT false;
    GRANT SELECT (read_only) ON api_keys TO countersign_system;

    -- An account gives itself another name.
    GRANT UPDATE (name) ON accounts TO countersign_app;

    -- Callers wait for the end of exports and recoveries.
    CREATE POLICY account_exports_system ON account_exports TO countersign_system USING (true);
    GRANT SELECT (account_id, id, state) ON account_exports TO countersign_system;
    CREATE POLICY webhook_recoveries_system ON webhook_recoveries TO countersign_system USING (true);
    GRANT SELECT (account_id, environment, id, status) ON webhook_recoveries TO countersign_system;

    -- What an event is about, beside its claim, which has a column of its own (events_claim_idx). A column for the same
    -- reason: row-level security keeps an index over the expression from being used. The first that the event has counts:
    -- what is narrower stands before what is wider.
    ALTER TABLE events ADD COLUMN subject_id text COLLATE "C" GENERATED ALWAYS AS (coalesce(
      data ->> 'case_id', data ->> 'attestation_id', data ->> 'screening_id', data ->> 'agent_session_id',
      data ->> 'agent_id', data ->> 'jti', data ->> 'device_id', data ->> 'trace_id', data ->> 'diff_id',
      data ->> 'webhook_endpoint_id')) STORED;
    CREATE INDEX events_subject_idx ON events (subject_id, account_id, environment, id) WHERE subject_id IS NOT NULL;
  `)
}

export async function down(): Promise<void> {
  throw new Error('migrations only go forward: restore a backup instead')
}
