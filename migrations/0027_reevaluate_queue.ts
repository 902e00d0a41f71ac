import type { Knex } from 'knex'

// Re-evaluations become jobs of the queue reevaluate.
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- job_id: the job that searches the attestations. NULL when the version before made the row. failed_at: that job is dead.
    ALTER TABLE reevaluations ADD COLUMN job_id uuid, ADD COLUMN failed_at timestamptz;
    GRANT SELECT (job_id) ON reevaluations TO countersign_system;

    -- Row-level security binds the owner too.
    ALTER TABLE reevaluations NO FORCE ROW LEVEL SECURITY;
    ALTER TABLE jobs NO FORCE ROW LEVEL SECURITY;
    UPDATE reevaluations SET job_id = gen_random_uuid() WHERE finished_at IS NULL;
    INSERT INTO jobs (id, queue, lane, priority, account_id, environment, payload)
      SELECT job_id, 'reevaluate', account_id, 0, account_id, environment, jsonb_build_object('reevaluationId', id)
      FROM reevaluations WHERE finished_at IS NULL ORDER BY created_at;
    ALTER TABLE jobs FORCE ROW LEVEL SECURITY;
    ALTER TABLE reevaluations FORCE ROW LEVEL SECURITY;
  `)
}

export async function down(): Promise<void> {
  throw new Error('migrations only go forward: restore a backup instead')
}
