import type { Knex } from 'knex'

const TENANT = `account_id = nullif(current_setting('app.account_id', true), '')
  AND environment = nullif(current_setting('app.environment', true), '')`

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- The highest position that retention has deleted: a reader that has not read so far has missed events, and is told.
    -- Until now nothing but the head says what was deleted.
    ALTER TABLE event_heads ADD COLUMN purged_position bigint NOT NULL DEFAULT 0;
    ALTER TABLE event_heads NO FORCE ROW LEVEL SECURITY;
    ALTER TABLE events NO FORCE ROW LEVEL SECURITY;
    UPDATE event_heads SET purged_position = coalesce((SELECT min(events.position) - 1 FROM events
      WHERE events.account_id = event_heads.account_id AND events.environment = event_heads.environment),
      event_heads.position);
    ALTER TABLE event_heads FORCE ROW LEVEL SECURITY;
    ALTER TABLE events FORCE ROW LEVEL SECURITY;
    GRANT UPDATE (purged_position) ON event_heads TO countersign_app;

    -- A reader that wants few types must not read all events.
    CREATE INDEX events_type_position_idx ON events (type, account_id, environment, position) WHERE position IS NOT NULL;

    -- How far a named reader of the pull API has come.
    CREATE TABLE event_consumers (
      account_id text COLLATE "C" NOT NULL,
      environment text COLLATE "C" NOT NULL,
      name text COLLATE "C" NOT NULL,
      position bigint NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now(),
      acknowledged_at timestamptz,
      CONSTRAINT event_consumers_pkey PRIMARY KEY (account_id, environment, name),
      CONSTRAINT event_consumers_account_fkey FOREIGN KEY (account_id) REFERENCES accounts (id),
      CONSTRAINT event_consumers_environment_check CHECK (environment IN ('sandbox', 'live')),
      CONSTRAINT event_consumers_position_check CHECK (position >= 0)
    ) WITH (fillfactor = 50);

    -- Attempts by endpoint and hour, counted in buckets of how long they took. kind: arrival (from the delivery's row to the
    -- 2xx), answer (of a 2xx), failed (of every other attempt). shard: processes count in rows of their own, so that none
    -- waits for the lock of another.
    CREATE TABLE endpoint_statistics (
      account_id text COLLATE "C" NOT NULL,
      environment text COLLATE "C" NOT NULL,
      endpoint_id text COLLATE "C" NOT NULL,
      hour timestamptz NOT NULL,
      shard smallint NOT NULL,
      kind text COLLATE "C" NOT NULL,
      bucket smallint NOT NULL,
      count integer NOT NULL,
      CONSTRAINT endpoint_statistics_pkey PRIMARY KEY (account_id, environment, endpoint_id, hour, shard, kind, bucket),
      CONSTRAINT endpoint_statistics_environment_check CHECK (environment IN ('sandbox', 'live')),
      CONSTRAINT endpoint_statistics_kind_check CHECK (kind IN ('arrival', 'answer', 'failed'))
    ) WITH (fillfactor = 50);

    ${['event_consumers', 'endpoint_statistics']
      .map(
        (table) => `
    ALTER TABLE ${table} ENABLE ROW LEVEL SECURITY;
    ALTER TABLE ${table} FORCE ROW LEVEL SECURITY;
    CREATE POLICY ${table}_tenant ON ${table} TO countersign_app USING (${TENANT}) WITH CHECK (${TENANT});
    SELECT admit_erasure('${table}');`,
      )
      .join('\n')}
    GRANT SELECT, INSERT, UPDATE (position, acknowledged_at), DELETE ON event_consumers TO countersign_app;
    GRANT SELECT, INSERT, UPDATE (count), DELETE ON endpoint_statistics TO countersign_app;
  `)
}

export async function down(): Promise<void> {
  throw new Error('migrations only go forward: restore a backup instead')
}
