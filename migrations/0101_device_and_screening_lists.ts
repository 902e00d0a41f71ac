import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- The filters and the order of the list of devices. An old fleet expires first: its newest devices are read last.
    CREATE INDEX devices_expiry_idx ON devices (account_id, environment, not_after, id) INCLUDE (revoked_at);
    CREATE INDEX devices_revoked_idx ON devices (account_id, environment, id) WHERE revoked_at IS NOT NULL;
    CREATE INDEX devices_tier_idx ON devices (hardware_tier, account_id, environment, id);

    -- The list of capture sessions: by device, and by whether they were used.
    DROP INDEX capture_sessions_device_idx;
    CREATE INDEX capture_sessions_device_idx ON capture_sessions (device_id, account_id, environment, id)
      WHERE device_id IS NOT NULL;
    CREATE INDEX capture_sessions_open_idx ON capture_sessions (account_id, environment, id)
      WHERE coalesce(consumed_by, stream_media_id) IS NULL;
    CREATE INDEX capture_sessions_closed_idx ON capture_sessions (account_id, environment, id)
      WHERE coalesce(consumed_by, stream_media_id) IS NOT NULL;

    -- The claims that show a medium, newest first, whatever the number of their captures.
    DROP INDEX attestations_media_idx;
    CREATE INDEX attestations_media_idx ON attestations (media_id, account_id, environment, claim_id);

    -- What a page of batches counts: the lines that have no score. One that gets its score leaves the index.
    CREATE INDEX screenings_unscored_idx ON screenings (batch_id, status, account_id, environment)
      WHERE batch_id IS NOT NULL AND status <> 'scored';
  `)
}

export async function down(): Promise<void> {
  throw new Error('migrations only go forward: restore a backup instead')
}
