import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- Who leaves an account to accept an invite elsewhere leaves no invites behind: neither account is the transaction's
    -- tenant.
    GRANT UPDATE (revoked_at) ON invites TO countersign_system;
    -- A sandbox key reads these entries alone, in a log whose rows are mostly reads of live media.
    CREATE INDEX audit_entries_sandbox_idx ON audit_entries (account_id, id) WHERE environment = 'sandbox';
  `)
}

export async function down(): Promise<void> {
  throw new Error('migrations only go forward: restore a backup instead')
}
