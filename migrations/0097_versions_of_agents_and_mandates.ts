import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- version: counts the changes of what can be changed by PATCH.
    ALTER TABLE agents ADD COLUMN version integer NOT NULL DEFAULT 1;
    GRANT UPDATE (version) ON agents TO countersign_app;
    ALTER TABLE mandates ADD COLUMN version integer NOT NULL DEFAULT 1;
    GRANT UPDATE (version) ON mandates TO countersign_app;

    -- 'retired' is a cause that is never lifted.
    ALTER TABLE agent_suspensions DROP CONSTRAINT agent_suspensions_held_by_check,
      ADD CONSTRAINT agent_suspensions_held_by_check CHECK (held_by IN ('manual', 'retired') OR held_by LIKE 'lck\\_%');
    CREATE INDEX agent_suspensions_retired_idx ON agent_suspensions (account_id, environment, agent_id)
      WHERE held_by = 'retired';

    -- The sessions of all agents, newest first, by their status.
    CREATE INDEX agent_sessions_all_open_idx ON agent_sessions (account_id, environment, id) WHERE ended_at IS NULL;
    CREATE INDEX agent_sessions_all_ended_idx ON agent_sessions (account_id, environment, id) WHERE ended_at IS NOT NULL;

    -- What was charged to a mandate, by day.
    CREATE INDEX mandate_charges_mandate_idx ON mandate_charges (mandate_id, account_id, environment, charged_at);
  `)
}

export async function down(): Promise<void> {
  throw new Error('migrations only go forward: restore a backup instead')
}
