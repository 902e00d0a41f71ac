import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- The key through which the person in fraud_actor named the fraud; null: that person's own session.
    ALTER TABLE cases ADD COLUMN fraud_key_id text COLLATE "C";
    ALTER TABLE cases NO FORCE ROW LEVEL SECURITY;
    ALTER TABLE case_entries NO FORCE ROW LEVEL SECURITY;
    UPDATE cases SET fraud_key_id = (SELECT key_id FROM case_entries entry
      WHERE entry.account_id = cases.account_id AND entry.environment = cases.environment AND entry.case_id = cases.id
        AND entry.actor = cases.fraud_actor AND entry.kind IN ('proposed', 'transitioned') ORDER BY seq DESC LIMIT 1)
      WHERE fraud_actor IS NOT NULL;
    ALTER TABLE case_entries FORCE ROW LEVEL SECURITY;
    ALTER TABLE cases FORCE ROW LEVEL SECURITY;

    -- The orders and filters of the list of cases.
    DROP INDEX cases_due_idx;
    CREATE INDEX cases_due_order_idx ON cases (account_id, environment, due_at, id) WHERE due_at IS NOT NULL;
    CREATE INDEX cases_priority_idx ON cases (priority, account_id, environment, id);
    CREATE INDEX cases_reason_idx ON cases (reason_code, account_id, environment, id) WHERE reason_code IS NOT NULL;
    CREATE INDEX cases_unassigned_idx ON cases (account_id, environment, id) WHERE assignee IS NULL;
    CREATE INDEX cases_of_open_claims_idx ON cases (account_id, environment, claim_id) WHERE closed_at IS NULL;

    -- The orders and filters of the list of claims.
    CREATE INDEX claims_score_order_idx ON claims (account_id, environment, risk_score, id) WHERE risk_score IS NOT NULL;
    CREATE INDEX claims_update_order_idx ON claims (account_id, environment, updated_at, id);
    CREATE INDEX claims_provenance_idx ON claims (provenance_status, account_id, environment, id)
      WHERE provenance_status IS NOT NULL;
    CREATE INDEX claims_line_idx ON claims (line, account_id, environment, id) WHERE line IS NOT NULL;

    -- Lines of batches without a result: the list of batches counts them, and the others are the rest.
    CREATE INDEX attestations_batch_open_idx ON attestations (batch_id, account_id, environment, status)
      WHERE batch_id IS NOT NULL AND status <> 'evaluated';
  `)
}

export async function down(): Promise<void> {
  throw new Error('migrations only go forward: restore a backup instead')
}
