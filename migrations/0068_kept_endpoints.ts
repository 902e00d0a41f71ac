import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- Each event reads the endpoints of its account. Those that were deleted are many where a test run makes its own, and
    -- retention deletes them when their log is gone.
    CREATE INDEX webhook_endpoints_kept_idx ON webhook_endpoints (account_id, environment, id) WHERE deleted_at IS NULL;
    GRANT DELETE ON webhook_endpoints TO countersign_app;

    -- What a person asks for has a lane of its own, which the limits of the endpoint did not reach.
    INSERT INTO job_lanes (account_id, environment, queue, lane, per_second, burst, tokens, tokens_at, most_in_flight)
    SELECT account_id, environment, queue, lane || ' direct', per_second, burst, tokens, tokens_at, most_in_flight
    FROM job_lanes
    WHERE queue = 'deliver' AND lane LIKE 'whe\\_%' AND lane NOT LIKE '% direct'
      AND (per_second IS NOT NULL OR most_in_flight IS NOT NULL)
    ON CONFLICT DO NOTHING;
  `)
}

export async function down(): Promise<void> {
  throw new Error('migrations only go forward: restore a backup instead')
}
