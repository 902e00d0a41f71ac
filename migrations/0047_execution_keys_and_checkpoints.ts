import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- An Idempotency-Key executes one token. execution_key is a digest of the principal and its key, so the same key of another
    -- principal is another one. Tokens that are executed without a key are in no index that their execution changes.
    CREATE UNIQUE INDEX intents_execution_key ON intents (execution_key, account_id, environment)
      WHERE execution_key IS NOT NULL;

    -- Retention thins out old checkpoints. The leaves, which they sign, stay.
    GRANT DELETE ON ledger_checkpoints TO countersign_system;
  `)
}

export async function down(): Promise<void> {
  throw new Error('migrations only go forward: restore a backup instead')
}
