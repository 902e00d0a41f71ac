// Events and their delivery: the outbox, the readers of the pull API, webhook endpoints and the log of attempts.

import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(EVENTS)
  await knex.raw(DELIVERIES)
}

export async function down(): Promise<void> {
  throw new Error('migrations only go forward: restore a backup instead')
}

const SCOPE = `account_id = (SELECT nullif(current_setting('app.account_id', true), ''))
      AND environment = (SELECT nullif(current_setting('app.environment', true), ''))`

const EVENTS = `
  -- dedup_key makes an event happen once: '<type>:<subject>' where the specification allows one, NULL where it may
  -- repeat. position: the order in which the pull API shows events; the process sequence gives it after their commit.
  -- claim_id, subject_id: what the event is about. subject_id is the first that the event has; the narrower stand
  -- before the wider. They are columns and not indexes over the expressions: row-level security keeps an index from
  -- being used with an operator that is not leakproof, as those of jsonb are not.
  CREATE TABLE events (
    account_id text COLLATE "C" NOT NULL,
    environment text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    type text COLLATE "C" NOT NULL,
    dedup_key text COLLATE "C",
    data jsonb NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    position bigint,
    claim_id text COLLATE "C" GENERATED ALWAYS AS (data ->> 'claim_id') STORED,
    subject_id text COLLATE "C" GENERATED ALWAYS AS (coalesce(
      data ->> 'case_id', data ->> 'attestation_id', data ->> 'screening_id', data ->> 'agent_session_id',
      data ->> 'agent_id', data ->> 'jti', data ->> 'device_id', data ->> 'trace_id', data ->> 'diff_id',
      data ->> 'webhook_endpoint_id')) STORED,
    CONSTRAINT events_pkey PRIMARY KEY (account_id, environment, id),
    CONSTRAINT events_dedup_key UNIQUE (dedup_key, account_id, environment),
    CONSTRAINT events_account_fkey FOREIGN KEY (account_id) REFERENCES accounts (id),
    CONSTRAINT events_environment_check CHECK (environment IN ('sandbox', 'live'))
  );
  CREATE INDEX events_claim_idx ON events (claim_id, account_id, environment, id) WHERE claim_id IS NOT NULL;
  CREATE INDEX events_subject_idx ON events (subject_id, account_id, environment, id) WHERE subject_id IS NOT NULL;
  CREATE UNIQUE INDEX events_position_key ON events (account_id, environment, position) WHERE position IS NOT NULL;
  CREATE INDEX events_unpositioned_idx ON events (account_id, environment, id) WHERE position IS NULL;
  -- A reader that wants few types must not read all events.
  CREATE INDEX events_type_position_idx ON events (type, account_id, environment, position) WHERE position IS NOT NULL;
  ${tenant('events')}
  CREATE POLICY events_system ON events TO countersign_system USING (true) WITH CHECK (true);
  GRANT SELECT, INSERT, DELETE ON events TO countersign_app;
  -- The process sequence sees the id and the time of an event.
  GRANT SELECT (account_id, environment, id, created_at, position), UPDATE (position) ON events TO countersign_system;

  -- position: the last that an event was given. purged_position: the highest that retention has deleted; a reader
  -- that has not read so far has missed events, and is told.
  CREATE TABLE event_heads (
    account_id text COLLATE "C" NOT NULL,
    environment text COLLATE "C" NOT NULL,
    position bigint NOT NULL,
    purged_position bigint NOT NULL DEFAULT 0,
    CONSTRAINT event_heads_pkey PRIMARY KEY (account_id, environment),
    CONSTRAINT event_heads_environment_check CHECK (environment IN ('sandbox', 'live')),
    CONSTRAINT event_heads_position_check CHECK (position > 0)
  ) WITH (fillfactor = 50);
  ${tenant('event_heads')}
  CREATE POLICY event_heads_system ON event_heads TO countersign_system USING (true) WITH CHECK (true);
  GRANT SELECT, UPDATE (purged_position) ON event_heads TO countersign_app;
  GRANT SELECT, INSERT, UPDATE (position) ON event_heads TO countersign_system;

  -- How far a named reader of the pull API has come. given_position: the last position that it was given. A position
  -- beyond it is not acknowledged: the consumer has not read the events between.
  CREATE TABLE event_consumers (
    account_id text COLLATE "C" NOT NULL,
    environment text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    position bigint NOT NULL,
    given_position bigint NOT NULL DEFAULT 0,
    version integer NOT NULL DEFAULT 1,
    created_at timestamptz NOT NULL DEFAULT now(),
    acknowledged_at timestamptz,
    CONSTRAINT event_consumers_pkey PRIMARY KEY (account_id, environment, name),
    CONSTRAINT event_consumers_account_fkey FOREIGN KEY (account_id) REFERENCES accounts (id),
    CONSTRAINT event_consumers_environment_check CHECK (environment IN ('sandbox', 'live')),
    CONSTRAINT event_consumers_position_check CHECK (position >= 0)
  ) WITH (fillfactor = 50);
  ${tenant('event_consumers')}
  GRANT SELECT, INSERT, UPDATE (position, given_position, version, acknowledged_at), DELETE
    ON event_consumers TO countersign_app;
`

const DELIVERIES = `
  -- description, metadata: the account's own. max_per_second: deliveries a second, NULL for no limit of its own.
  -- max_concurrency: its deliveries in flight. disabled_reason: gone, failing or manual. version: counts the changes,
  -- for If-Match.
  -- sealed_previous_secret: the secret before the last rotation; it signs beside the new one until
  -- previous_secret_expires_at.
  -- circuit_failures: in a row since circuit_since. While circuit_opened_at is set, only the delivery
  -- circuit_probe_id is attempted, and none before circuit_until. circuit_openings: without a success between.
  CREATE TABLE webhook_endpoints (
    account_id text COLLATE "C" NOT NULL,
    environment text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    url text NOT NULL,
    description text NOT NULL DEFAULT '',
    metadata jsonb NOT NULL DEFAULT '{}',
    version integer NOT NULL DEFAULT 1,
    event_types text[] NOT NULL,
    max_per_second integer,
    max_concurrency smallint NOT NULL DEFAULT 8,
    sealed_secret bytea NOT NULL,
    sealed_previous_secret bytea,
    previous_secret_expires_at timestamptz,
    secret_rotated_at timestamptz,
    status text NOT NULL DEFAULT 'enabled',
    disabled_reason text,
    disabled_at timestamptz,
    consecutive_failures integer NOT NULL DEFAULT 0,
    last_success_at timestamptz,
    first_failure_at timestamptz,
    circuit_failures integer NOT NULL DEFAULT 0,
    circuit_since timestamptz,
    circuit_opened_at timestamptz,
    circuit_openings integer NOT NULL DEFAULT 0,
    circuit_until timestamptz,
    circuit_probe_id text COLLATE "C",
    circuit_probe_at timestamptz,
    created_at timestamptz NOT NULL DEFAULT now(),
    deleted_at timestamptz,
    CONSTRAINT webhook_endpoints_pkey PRIMARY KEY (account_id, environment, id),
    CONSTRAINT webhook_endpoints_account_fkey FOREIGN KEY (account_id) REFERENCES accounts (id),
    CONSTRAINT webhook_endpoints_environment_check CHECK (environment IN ('sandbox', 'live')),
    CONSTRAINT webhook_endpoints_status_check CHECK (status IN ('enabled', 'disabled')),
    CONSTRAINT webhook_endpoints_rate_check CHECK (max_per_second BETWEEN 1 AND 1000),
    CONSTRAINT webhook_endpoints_previous_check
      CHECK ((sealed_previous_secret IS NULL) = (previous_secret_expires_at IS NULL)),
    CONSTRAINT webhook_endpoints_concurrency_check CHECK (max_concurrency BETWEEN 1 AND 32)
  );
  -- Each event reads the endpoints of its account. Deleted ones are many where a test run makes its own; retention
  -- deletes them when their log is gone.
  CREATE INDEX webhook_endpoints_kept_idx ON webhook_endpoints (account_id, environment, id) WHERE deleted_at IS NULL;
  ${tenant('webhook_endpoints')}
  GRANT SELECT, INSERT, UPDATE, DELETE ON webhook_endpoints TO countersign_app;

  -- event_type is a copy: deliveries outlive their events by two months, which is also why they have no key to them.
  -- attempts, earlier_attempts: all, and those before the delivery was sent again; the schedule counts from there.
  -- is_direct: a person asked for it, so an open circuit does not park it. attempt_started_at: an attempt is in
  -- flight since. interrupted_at: the start of an attempt whose process died, from which the next attempt writes its
  -- row. failed_at, cancelled_at are set while the status is the one of their name: an index on the status would make
  -- each end of a delivery write to every index. A row changes soon after it was written: the room on its page makes
  -- its new version need no entry in any index (a heap-only tuple).
  CREATE TABLE deliveries (
    account_id text COLLATE "C" NOT NULL,
    environment text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    endpoint_id text COLLATE "C" NOT NULL,
    event_id text COLLATE "C" NOT NULL,
    event_type text COLLATE "C" NOT NULL,
    is_direct boolean NOT NULL DEFAULT false,
    job_id uuid NOT NULL,
    status text NOT NULL DEFAULT 'pending',
    attempts integer NOT NULL DEFAULT 0,
    earlier_attempts integer NOT NULL DEFAULT 0,
    created_at timestamptz NOT NULL DEFAULT now(),
    next_attempt_at timestamptz,
    attempt_started_at timestamptz,
    interrupted_at timestamptz,
    delivered_at timestamptz,
    failed_at timestamptz,
    cancelled_at timestamptz,
    CONSTRAINT deliveries_pkey PRIMARY KEY (account_id, environment, id),
    CONSTRAINT deliveries_event_key UNIQUE (event_id, endpoint_id, account_id, environment),
    CONSTRAINT deliveries_endpoint_fkey FOREIGN KEY (account_id, environment, endpoint_id)
      REFERENCES webhook_endpoints (account_id, environment, id),
    CONSTRAINT deliveries_environment_check CHECK (environment IN ('sandbox', 'live')),
    CONSTRAINT deliveries_status_check CHECK (status IN ('pending', 'delivered', 'failed', 'cancelled'))
  ) WITH (fillfactor = 60);
  CREATE INDEX deliveries_endpoint_idx ON deliveries (endpoint_id, account_id, environment, id);
  CREATE INDEX deliveries_failed_idx ON deliveries (endpoint_id, account_id, environment, id)
    WHERE failed_at IS NOT NULL;
  CREATE INDEX deliveries_all_failed_idx ON deliveries (account_id, environment, id) WHERE failed_at IS NOT NULL;
  CREATE INDEX deliveries_cancelled_idx ON deliveries (endpoint_id, account_id, environment, id)
    WHERE cancelled_at IS NOT NULL;
  CREATE INDEX deliveries_all_cancelled_idx ON deliveries (account_id, environment, id) WHERE cancelled_at IS NOT NULL;
  ${tenant('deliveries')}
  GRANT SELECT, INSERT, UPDATE, DELETE ON deliveries TO countersign_app;

  -- One row per attempt, written once, when the attempt has ended. finished_at: NULL for a call whose process died;
  -- its receiver may have seen it. detail: what the log shows of an attempt besides its times (AttemptDetail in
  -- attempt-log.ts). The body that was sent is the event's. response_body: its first 16 KiB.
  -- No foreign key to deliveries: each statement that writes an attempt takes its keys from the delivery's row, which
  -- it changes or locks. The check would lock that row a second time, and write this to the log.
  CREATE TABLE delivery_attempts (
    account_id text COLLATE "C" NOT NULL,
    environment text COLLATE "C" NOT NULL,
    delivery_id text COLLATE "C" NOT NULL,
    attempt integer NOT NULL,
    started_at timestamptz NOT NULL DEFAULT now(),
    finished_at timestamptz,
    response_status integer,
    error text,
    duration_ms integer,
    detail jsonb,
    response_body bytea,
    CONSTRAINT delivery_attempts_pkey PRIMARY KEY (account_id, environment, delivery_id, attempt),
    CONSTRAINT delivery_attempts_environment_check CHECK (environment IN ('sandbox', 'live'))
  ) WITH (fillfactor = 60);
  ${tenant('delivery_attempts')}
  GRANT SELECT, INSERT, UPDATE, DELETE ON delivery_attempts TO countersign_app;

  -- lz4 takes a fifth of the time of pglz for a tenth more room, where Postgres was built with it.
  DO $$
  BEGIN
    IF 'lz4' = ANY ((SELECT enumvals FROM pg_settings WHERE name = 'default_toast_compression')::text[]) THEN
      ALTER TABLE events ALTER COLUMN data SET COMPRESSION lz4;
      ALTER TABLE delivery_attempts ALTER COLUMN detail SET COMPRESSION lz4,
        ALTER COLUMN response_body SET COMPRESSION lz4;
    END IF;
  END $$;

  -- Attempts by endpoint and hour, counted in buckets of how long they took. kind: arrival (from the delivery's row
  -- to the 2xx), answer (of a 2xx), failed (of every other attempt). shard: processes count in rows of their own, so
  -- that none waits for the lock of another.
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
  ${tenant('endpoint_statistics')}
  GRANT SELECT, INSERT, UPDATE (count), DELETE ON endpoint_statistics TO countersign_app;

  -- A walk over old deliveries or events that sends again what did not arrive. cursor: the id that the walk has passed.
  CREATE TABLE webhook_recoveries (
    account_id text COLLATE "C" NOT NULL,
    environment text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    endpoint_id text COLLATE "C" NOT NULL,
    which text COLLATE "C" NOT NULL,
    since timestamptz NOT NULL,
    until timestamptz NOT NULL,
    status text COLLATE "C" NOT NULL DEFAULT 'running',
    cursor text COLLATE "C" NOT NULL,
    examined bigint NOT NULL DEFAULT 0,
    sent bigint NOT NULL DEFAULT 0,
    job_id uuid NOT NULL,
    created_by text COLLATE "C" NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    finished_at timestamptz,
    CONSTRAINT webhook_recoveries_pkey PRIMARY KEY (account_id, environment, id),
    CONSTRAINT webhook_recoveries_endpoint_fkey FOREIGN KEY (account_id, environment, endpoint_id)
      REFERENCES webhook_endpoints (account_id, environment, id),
    CONSTRAINT webhook_recoveries_environment_check CHECK (environment IN ('sandbox', 'live')),
    CONSTRAINT webhook_recoveries_which_check CHECK (which IN ('failed', 'missing')),
    CONSTRAINT webhook_recoveries_status_check CHECK (status IN ('running', 'finished', 'cancelled', 'failed')),
    CONSTRAINT webhook_recoveries_finished_check CHECK ((status = 'running') = (finished_at IS NULL))
  );
  CREATE INDEX webhook_recoveries_endpoint_idx ON webhook_recoveries (endpoint_id, account_id, environment, id);
  -- Two walks of one kind over one endpoint would send everything twice.
  CREATE UNIQUE INDEX webhook_recoveries_running_key ON webhook_recoveries (endpoint_id, which, account_id, environment)
    WHERE status = 'running';
  ${tenant('webhook_recoveries')}
  CREATE POLICY webhook_recoveries_system ON webhook_recoveries TO countersign_system USING (true);
  GRANT SELECT, INSERT, UPDATE, DELETE ON webhook_recoveries TO countersign_app;
  -- Callers wait for the end of a recovery.
  GRANT SELECT (account_id, environment, id, status) ON webhook_recoveries TO countersign_system;
`

/** Row-level security of a tenant table, which the erasure of a closed account reaches too. */
function tenant(table: string): string {
  return `
    ALTER TABLE ${table} ENABLE ROW LEVEL SECURITY;
    ALTER TABLE ${table} FORCE ROW LEVEL SECURITY;
    CREATE POLICY ${table}_tenant ON ${table} TO countersign_app USING (${SCOPE}) WITH CHECK (${SCOPE});
    SELECT admit_erasure('${table}');`
}
