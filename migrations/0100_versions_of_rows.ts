import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- The number of the last change of what a caller can change, which If-Match names. The rows that are there are a first version.
    ALTER TABLE webhook_endpoints ADD COLUMN version integer NOT NULL DEFAULT 1;
    ALTER TABLE api_keys ADD COLUMN version integer NOT NULL DEFAULT 1;
    -- Its name, plan and products.
    ALTER TABLE accounts ADD COLUMN version integer NOT NULL DEFAULT 1;
    ALTER TABLE event_consumers ADD COLUMN version integer NOT NULL DEFAULT 1;
    GRANT UPDATE (version) ON accounts, event_consumers TO countersign_app;
    GRANT SELECT (version), UPDATE (version) ON accounts TO countersign_system;
  `)
}

export async function down(): Promise<void> {
  throw new Error('migrations only go forward: restore a backup instead')
}
