import type { Knex } from 'knex'

const TENANT = `account_id = nullif(current_setting('app.account_id', true), '')
  AND environment = nullif(current_setting('app.environment', true), '')`

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- dedup_key makes an event happen once: '<type>:<subject>' where the specification allows one, NULL where it may repeat.
    -- It leads its index: with the account first, a table without statistics yet (a fresh installation's first minutes)
    -- takes this index for look-ups by id, foreign key checks among them, and reads all events of the account each time.
    CREATE TABLE events (
      account_id text COLLATE "C" NOT NULL,
      environment text COLLATE "C" NOT NULL,
      id text COLLATE "C" NOT NULL,
      type text COLLATE "C" NOT NULL,
      dedup_key text COLLATE "C",
      data jsonb NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now(),
      CONSTRAINT events_pkey PRIMARY KEY (account_id, environment, id),
      CONSTRAINT events_dedup_key UNIQUE (dedup_key, account_id, environment),
      CONSTRAINT events_account_fkey FOREIGN KEY (account_id) REFERENCES accounts (id),
      CONSTRAINT events_environment_check CHECK (environment IN ('sandbox', 'live'))
    );

    CREATE TABLE webhook_endpoints (
      account_id text COLLATE "C" NOT NULL,
      environment text COLLATE "C" NOT NULL,
      id text COLLATE "C" NOT NULL,
      url text NOT NULL,
      event_types text[] NOT NULL,
      sealed_secret bytea NOT NULL,
      status text NOT NULL DEFAULT 'enabled',
      disabled_reason text,
      consecutive_failures integer NOT NULL DEFAULT 0,
      last_success_at timestamptz,
      first_failure_at timestamptz,
      created_at timestamptz NOT NULL DEFAULT now(),
      deleted_at timestamptz,
      CONSTRAINT webhook_endpoints_pkey PRIMARY KEY (account_id, environment, id),
      CONSTRAINT webhook_endpoints_account_fkey FOREIGN KEY (account_id) REFERENCES accounts (id),
      CONSTRAINT webhook_endpoints_environment_check CHECK (environment IN ('sandbox', 'live')),
      CONSTRAINT webhook_endpoints_status_check CHECK (status IN ('enabled', 'disabled'))
    );

    CREATE TABLE deliveries (
      account_id text COLLATE "C" NOT NULL,
      environment text COLLATE "C" NOT NULL,
      id text COLLATE "C" NOT NULL,
      endpoint_id text COLLATE "C" NOT NULL,
      event_id text COLLATE "C" NOT NULL,
      status text NOT NULL DEFAULT 'pending',
      attempts integer NOT NULL DEFAULT 0,
      job_id uuid NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now(),
      next_attempt_at timestamptz,
      delivered_at timestamptz,
      CONSTRAINT deliveries_pkey PRIMARY KEY (account_id, environment, id),
      CONSTRAINT deliveries_event_key UNIQUE (event_id, endpoint_id, account_id, environment),
      CONSTRAINT deliveries_account_fkey FOREIGN KEY (account_id) REFERENCES accounts (id),
      CONSTRAINT deliveries_endpoint_fkey FOREIGN KEY (account_id, environment, endpoint_id)
        REFERENCES webhook_endpoints (account_id, environment, id),
      CONSTRAINT deliveries_event_fkey FOREIGN KEY (account_id, environment, event_id)
        REFERENCES events (account_id, environment, id),
      CONSTRAINT deliveries_environment_check CHECK (environment IN ('sandbox', 'live')),
      CONSTRAINT deliveries_status_check CHECK (status IN ('pending', 'delivered', 'failed', 'cancelled'))
    );
    CREATE INDEX deliveries_endpoint_idx ON deliveries (endpoint_id, account_id, environment, id);

    -- One row per attempt, written before the call and completed after it: a row without finished_at is a call whose
    -- process died, and its receiver may have seen it.
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
      CONSTRAINT delivery_attempts_pkey PRIMARY KEY (account_id, environment, delivery_id, attempt),
      CONSTRAINT delivery_attempts_account_fkey FOREIGN KEY (account_id) REFERENCES accounts (id),
      CONSTRAINT delivery_attempts_delivery_fkey FOREIGN KEY (account_id, environment, delivery_id)
        REFERENCES deliveries (account_id, environment, id),
      CONSTRAINT delivery_attempts_environment_check CHECK (environment IN ('sandbox', 'live'))
    );

    ${['events', 'webhook_endpoints', 'deliveries', 'delivery_attempts']
      .map(
        (table) => `
    ALTER TABLE ${table} ENABLE ROW LEVEL SECURITY;
    ALTER TABLE ${table} FORCE ROW LEVEL SECURITY;
    CREATE POLICY ${table}_tenant ON ${table} TO countersign_app USING (${TENANT}) WITH CHECK (${TENANT});`,
      )
      .join('\n')}
    GRANT SELECT, INSERT ON events TO countersign_app;
    GRANT SELECT, INSERT, UPDATE ON webhook_endpoints, deliveries, delivery_attempts TO countersign_app;
  `)
}

export async function down(): Promise<void> {
  throw new Error('migrations only go forward: restore a backup instead')
}
