import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- The limits of an endpoint are those of its lane, and hold for the direct lane beside it too.
    ALTER TABLE job_lanes NO FORCE ROW LEVEL SECURITY;
    DELETE FROM job_lanes WHERE queue = 'deliver' AND lane LIKE 'whe\\_% direct';
    ALTER TABLE job_lanes FORCE ROW LEVEL SECURITY;

    -- Set while the status is 'cancelled', as failed_at is: an index on the status would make each end of a delivery write to
    -- every index.
    ALTER TABLE deliveries ADD COLUMN cancelled_at timestamptz;
    ALTER TABLE deliveries NO FORCE ROW LEVEL SECURITY;
    UPDATE deliveries SET cancelled_at = now() WHERE status = 'cancelled';
    ALTER TABLE deliveries FORCE ROW LEVEL SECURITY;
    CREATE INDEX deliveries_cancelled_idx ON deliveries (endpoint_id, account_id, environment, id) WHERE cancelled_at IS NOT NULL;
    CREATE INDEX deliveries_all_cancelled_idx ON deliveries (account_id, environment, id) WHERE cancelled_at IS NOT NULL;
  `)
}

export async function down(): Promise<void> {
  throw new Error('migrations only go forward: restore a backup instead')
}
