import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- sealed_previous_secret: the secret before the last rotation; it signs beside the new one until
    -- previous_secret_expires_at. max_per_second: deliveries a second, NULL for no limit of its own. max_concurrency: its
    -- deliveries in flight. disabled_reason: gone, failing or manual.
    ALTER TABLE webhook_endpoints
      ADD COLUMN description text NOT NULL DEFAULT '',
      ADD COLUMN metadata jsonb NOT NULL DEFAULT '{}',
      ADD COLUMN max_per_second integer,
      ADD COLUMN max_concurrency smallint NOT NULL DEFAULT 8,
      ADD COLUMN disabled_at timestamptz,
      ADD COLUMN sealed_previous_secret bytea,
      ADD COLUMN previous_secret_expires_at timestamptz,
      ADD COLUMN secret_rotated_at timestamptz,
      ADD CONSTRAINT webhook_endpoints_rate_check CHECK (max_per_second BETWEEN 1 AND 1000),
      ADD CONSTRAINT webhook_endpoints_concurrency_check CHECK (max_concurrency BETWEEN 1 AND 8),
      ADD CONSTRAINT webhook_endpoints_previous_check
        CHECK ((sealed_previous_secret IS NULL) = (previous_secret_expires_at IS NULL));
  `)
}

export async function down(): Promise<void> {
  throw new Error('migrations only go forward: restore a backup instead')
}
