import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- What begins with a text, in one account. The indexes of the unique keys begin with the text: between two of its bounds
    -- stand the rows of all accounts.
    CREATE INDEX claims_reference_prefix_idx ON claims (account_id, environment, reference) WHERE reference IS NOT NULL;
    CREATE INDEX attestations_external_id_prefix_idx ON attestations (account_id, environment, external_id)
      WHERE external_id IS NOT NULL;
    -- An index on lower(name) could not be searched: lower() is not leakproof, so that row-level security comes first.
    ALTER TABLE agents ADD COLUMN name_lower text COLLATE "C" NOT NULL GENERATED ALWAYS AS (lower(name)) STORED;
    CREATE INDEX agents_name_prefix_idx ON agents (account_id, environment, name_lower, id);

    -- What waits for people. Each holds only the rows that wait.
    CREATE INDEX cases_waiting_idx ON cases (account_id, environment, assignee) INCLUDE (due_at) WHERE closed_at IS NULL;
    CREATE INDEX jobs_dead_account_idx ON jobs (account_id, environment, queue) WHERE state = 'dead';
    CREATE INDEX session_locks_live_of_account_idx ON session_locks (account_id, environment) WHERE cleared_at IS NULL;
    CREATE INDEX agent_suspensions_account_idx ON agent_suspensions (account_id, environment, agent_id, held_by);
    CREATE INDEX devices_expiring_idx ON devices (account_id, environment, not_after) WHERE revoked_at IS NULL;

    -- Cases by the time of their end.
    CREATE INDEX cases_closed_idx ON cases (account_id, environment, closed_at) INCLUDE (claim_id, state, reason_code)
      WHERE closed_at IS NOT NULL;

    -- With the reason, so that decisions are counted by it without their entries.
    CREATE INDEX decisions_kind_reason_idx ON decisions (kind, account_id, environment, id) INCLUDE (reason);
    DROP INDEX decisions_kind_idx;
  `)
}

export async function down(): Promise<void> {
  throw new Error('migrations only go forward: restore a backup instead')
}
