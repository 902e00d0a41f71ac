import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- The log is read by one of these at a time. Reads of media are most of its rows, and one action alone may be rare.
    CREATE INDEX audit_entries_action_idx ON audit_entries (account_id, action, id);
    CREATE INDEX audit_entries_actor_idx ON audit_entries (actor_id, account_id, id);
    CREATE INDEX audit_entries_subject_idx ON audit_entries (subject_id, account_id, id) WHERE subject_id IS NOT NULL;
    -- Retention runs in the system role: a request can't delete what it did.
    GRANT SELECT (account_id, id, at, environment), DELETE ON audit_entries TO countersign_system;

    GRANT UPDATE (products) ON accounts TO countersign_app;
  `)
}

export async function down(): Promise<void> {
  throw new Error('migrations only go forward: restore a backup instead')
}
