import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- In the order of their end: without it the latest score of a file that was screened 40,000 times is found by reading
    -- and sorting all of them, at each further screening of the file.
    CREATE INDEX screenings_latest_score_idx ON screenings (media_sha256, account_id, environment, completed_at, id)
      WHERE status = 'scored';
    DROP INDEX screenings_scored_idx;
  `)
}

export async function down(): Promise<void> {
  throw new Error('migrations only go forward: restore a backup instead')
}
