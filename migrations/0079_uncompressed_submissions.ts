import type { Knex } from 'knex'

// Without lz4, Postgres compresses by pglz: 45 of the 95 ms in which it stores the 2.4 MB of a video with 10,000 chunks, for two
// fifths less room. Most submissions are shorter than 2 KB, and those are not compressed at all.
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    DO $$
    BEGIN
      IF 'lz4' <> ALL ((SELECT enumvals FROM pg_settings WHERE name = 'default_toast_compression')::text[]) THEN
        ALTER TABLE attestations ALTER COLUMN submission SET STORAGE EXTERNAL;
      END IF;
    END
    $$;
  `)
}

export async function down(): Promise<void> {
  throw new Error('migrations only go forward: restore a backup instead')
}
