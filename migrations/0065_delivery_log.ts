import type { Knex } from 'knex'

const TENANT = `account_id = nullif(current_setting('app.account_id', true), '')
  AND environment = nullif(current_setting('app.environment', true), '')`

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- The circuit of an endpoint. circuit_failures: in a row since circuit_since. While circuit_opened_at is set, only the
    -- delivery circuit_probe_id is attempted, and none before circuit_until. circuit_openings: without a success between.
    ALTER TABLE webhook_endpoints
      ADD COLUMN circuit_failures integer NOT NULL DEFAULT 0,
      ADD COLUMN circuit_since timestamptz,
      ADD COLUMN circuit_opened_at timestamptz,
      ADD COLUMN circuit_openings integer NOT NULL DEFAULT 0,
      ADD COLUMN circuit_until timestamptz,
      ADD COLUMN circuit_probe_id text COLLATE "C",
      ADD COLUMN circuit_probe_at timestamptz;

    -- earlier_attempts: before the delivery was sent again; the schedule counts from there. is_direct: a person asked for
    -- it, so that an open circuit does not park it. failed_at is set while the status is 'failed': an index on the status
    -- would make each end of a delivery write to every index.
    ALTER TABLE deliveries
      ADD COLUMN earlier_attempts integer NOT NULL DEFAULT 0,
      ADD COLUMN is_direct boolean NOT NULL DEFAULT false,
      ADD COLUMN failed_at timestamptz;
    ALTER TABLE deliveries NO FORCE ROW LEVEL SECURITY;
    UPDATE deliveries SET failed_at = now() WHERE status = 'failed';
    ALTER TABLE deliveries FORCE ROW LEVEL SECURITY;
    CREATE INDEX deliveries_failed_idx ON deliveries (endpoint_id, account_id, environment, id) WHERE failed_at IS NOT NULL;
    CREATE INDEX deliveries_all_failed_idx ON deliveries (account_id, environment, id) WHERE failed_at IS NOT NULL;

    -- detail: what the log shows of an attempt besides its times (AttemptDetail in attempt-log.ts). The body that was sent is
    -- the event's. response_body: its first 16 KiB.
    ALTER TABLE delivery_attempts ADD COLUMN detail jsonb, ADD COLUMN response_body bytea;

    DO $$
    BEGIN
      IF 'lz4' = ANY ((SELECT enumvals FROM pg_settings WHERE name = 'default_toast_compression')::text[]) THEN
        ALTER TABLE delivery_attempts ALTER COLUMN detail SET COMPRESSION lz4, ALTER COLUMN response_body SET COMPRESSION lz4;
      END IF;
    END
    $$;

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

    ALTER TABLE webhook_recoveries ENABLE ROW LEVEL SECURITY;
    ALTER TABLE webhook_recoveries FORCE ROW LEVEL SECURITY;
    CREATE POLICY webhook_recoveries_tenant ON webhook_recoveries TO countersign_app USING (${TENANT}) WITH CHECK (${TENANT});
    SELECT admit_erasure('webhook_recoveries');
    GRANT SELECT, INSERT, UPDATE, DELETE ON webhook_recoveries TO countersign_app;
  `)
}

export async function down(): Promise<void> {
  throw new Error('migrations only go forward: restore a backup instead')
}
