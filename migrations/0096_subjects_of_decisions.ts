import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- What an entry is about, and the rule that gave its answer: copies of what the entry says, for the filters of the list.
    -- A jti has a column and an index of its own.
    ALTER TABLE decisions ADD COLUMN subject_id text COLLATE "C",
      ADD COLUMN agent_id text COLLATE "C",
      ADD COLUMN agent_session_id text COLLATE "C",
      ADD COLUMN device_id text COLLATE "C",
      ADD COLUMN mandate_id text COLLATE "C",
      ADD COLUMN schedule_id text COLLATE "C",
      ADD COLUMN trace_id text COLLATE "C",
      ADD COLUMN matched_rule_id text COLLATE "C";
    -- Most entries are about a token, which decisions_jti_idx finds.
    CREATE INDEX decisions_subject_idx ON decisions (subject_id, account_id, environment, id)
      WHERE subject_id IS DISTINCT FROM jti;
    CREATE INDEX decisions_agent_idx ON decisions (agent_id, account_id, environment, id) WHERE agent_id IS NOT NULL;
    CREATE INDEX decisions_session_idx ON decisions (agent_session_id, account_id, environment, id)
      WHERE agent_session_id IS NOT NULL;
    CREATE INDEX decisions_device_idx ON decisions (device_id, account_id, environment, id) WHERE device_id IS NOT NULL;
    CREATE INDEX decisions_mandate_idx ON decisions (mandate_id, account_id, environment, id)
      WHERE mandate_id IS NOT NULL;
    CREATE INDEX decisions_schedule_idx ON decisions (schedule_id, account_id, environment, id)
      WHERE schedule_id IS NOT NULL;
    CREATE INDEX decisions_trace_idx ON decisions (trace_id, account_id, environment, id) WHERE trace_id IS NOT NULL;
    CREATE INDEX decisions_rule_idx ON decisions (matched_rule_id, account_id, environment, id)
      WHERE matched_rule_id IS NOT NULL;

    -- The list of issued tokens. What is revoked or still valid is little of all that is kept.
    CREATE INDEX intents_agent_idx ON intents (agent_id, account_id, environment, jti) WHERE agent_id IS NOT NULL;
    CREATE INDEX intents_revoked_idx ON intents (account_id, environment, jti) WHERE revoked_at IS NOT NULL;
    CREATE INDEX intents_expires_idx ON intents (account_id, environment, expires_at);

    -- The list of approvals by how they ended. What is pending has approvals_open_idx.
    CREATE INDEX approvals_outcome_idx ON approvals (outcome, account_id, environment, id) WHERE outcome IS NOT NULL;
    CREATE INDEX approvals_all_of_session_idx ON approvals (agent_session_id, account_id, environment, id);
    CREATE INDEX approvals_lapsed_idx ON approvals (account_id, environment, id) WHERE outcome IS NULL;
  `)
}

export async function down(): Promise<void> {
  throw new Error('migrations only go forward: restore a backup instead')
}
