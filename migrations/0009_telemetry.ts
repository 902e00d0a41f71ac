import type { Knex } from 'knex'

// Where a job comes from, for traces: the W3C traceparent of the span that wrote it, NULL unless that was traced. Each job
// may be written, dispatched and run by another process, and only the row goes with it from the first to the last.
export async function up(knex: Knex): Promise<void> {
  await knex.raw('ALTER TABLE jobs ADD COLUMN traceparent text COLLATE "C"')
  // Dispatch measures the oldest transaction, whoever holds it. An owner that is no superuser may not give this right
  // away: then the metric is absent until an administrator does (docs/operate.md). Before Postgres 16 the words are others.
  await knex.raw(`
    DO $$ BEGIN
      EXECUTE 'GRANT pg_read_all_stats TO countersign_system WITH INHERIT TRUE';
    EXCEPTION WHEN insufficient_privilege OR syntax_error THEN NULL;
    END $$
  `)
}

export async function down(): Promise<void> {
  throw new Error('migrations only go forward: restore a backup instead')
}
