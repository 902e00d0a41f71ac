import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- Retention looks for what has ended, hourly: sessions that nobody ends, and revocations for ever, are many and stay.
    CREATE INDEX agent_sessions_ended_idx ON agent_sessions (account_id, environment, ended_at) WHERE ended_at IS NOT NULL;
    CREATE INDEX agent_sessions_open_idx ON agent_sessions (agent_id, account_id, environment, id) WHERE ended_at IS NULL;
    CREATE INDEX revocations_expiry_idx ON revocations (account_id, environment, expires_at) WHERE expires_at IS NOT NULL;
    CREATE INDEX revocations_tokens_idx ON revocations (account_id, environment, id) WHERE scope = 'token';
  `)
}

export async function down(): Promise<void> {
  throw new Error('migrations only go forward: restore a backup instead')
}
