import type { Knex } from 'knex'

// A capture that was cancelled before it was evaluated counts as never submitted.
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- The name that a cancelled capture had: external_id itself is free for whoever submits it again.
    ALTER TABLE attestations ADD COLUMN cancelled_external_id text COLLATE "C";
    -- A worker may have used a counter of App Attest for a capture before it was cancelled.
    GRANT DELETE ON assertion_counters TO countersign_app;
    CREATE INDEX assertion_counters_attestation_idx ON assertion_counters (attestation_id, account_id, environment);
    -- A submission is kept as 202, and as 200 once its caller was told the result.
    GRANT UPDATE (status) ON idempotency_keys TO countersign_app;

    -- What was cancelled so far; what was erased with its claim keeps its name and its nonce.
    ALTER TABLE attestations NO FORCE ROW LEVEL SECURITY;
    ALTER TABLE capture_sessions NO FORCE ROW LEVEL SECURITY;
    UPDATE capture_sessions SET consumed_by = NULL, consumed_at = NULL FROM attestations a
      WHERE a.account_id = capture_sessions.account_id AND a.environment = capture_sessions.environment
        AND a.id = capture_sessions.consumed_by AND a.status = 'cancelled' AND a.erased_at IS NULL;
    UPDATE attestations SET cancelled_external_id = external_id, external_id = NULL
      WHERE status = 'cancelled' AND erased_at IS NULL AND external_id IS NOT NULL;
    ALTER TABLE attestations FORCE ROW LEVEL SECURITY;
    ALTER TABLE capture_sessions FORCE ROW LEVEL SECURITY;
  `)
}

export async function down(): Promise<void> {
  throw new Error('migrations only go forward: restore a backup instead')
}
