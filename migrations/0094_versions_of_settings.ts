import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- The number of the change, which a caller that replaces the settings names. What is stored is a first version.
    ALTER TABLE kill_switches ADD COLUMN version integer NOT NULL DEFAULT 1;
    -- changed_by: the key or the user; null for what was stored before the column.
    ALTER TABLE screening_settings ADD COLUMN version integer NOT NULL DEFAULT 1,
      ADD COLUMN changed_by text COLLATE "C";
  `)
}

export async function down(): Promise<void> {
  throw new Error('migrations only go forward: restore a backup instead')
}
