import type { Knex } from 'knex'

// The chunks of a long video as text: as a part of `submission`, Postgres parsed and wrote their 2.4 MB at each use. Without
// lz4 they are not compressed, see migration 0079.
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    ALTER TABLE attestations ADD COLUMN video_chunks text;
    DO $$
    BEGIN
      IF 'lz4' = ANY ((SELECT enumvals FROM pg_settings WHERE name = 'default_toast_compression')::text[]) THEN
        ALTER TABLE attestations ALTER COLUMN video_chunks SET COMPRESSION lz4;
      ELSE
        ALTER TABLE attestations ALTER COLUMN video_chunks SET STORAGE EXTERNAL;
      END IF;
    END
    $$;
  `)
}

export async function down(): Promise<void> {
  throw new Error('migrations only go forward: restore a backup instead')
}
