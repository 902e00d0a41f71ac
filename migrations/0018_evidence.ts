import type { Knex } from 'knex'

const TENANT = `account_id = nullif(current_setting('app.account_id', true), '')
  AND environment = nullif(current_setting('app.environment', true), '')`

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- What happened to a claim is asked for by its id. A column and not an index over the expression: row-level security
    -- keeps an index from being used with an operator that is not marked leakproof, and that of jsonb is not.
    ALTER TABLE events ADD COLUMN claim_id text COLLATE "C" GENERATED ALWAYS AS (data ->> 'claim_id') STORED;
    CREATE INDEX events_claim_idx ON events (claim_id, account_id, environment, id) WHERE claim_id IS NOT NULL;

    -- The history of a device, which only grows. actor: who the key said it was; NULL where it said nobody. detail: what
    -- of the device the entry is about (tiers before and after, until when a certificate is valid).
    CREATE TABLE device_entries (
      account_id text COLLATE "C" NOT NULL,
      environment text COLLATE "C" NOT NULL,
      id text COLLATE "C" NOT NULL,
      device_id text COLLATE "C" NOT NULL,
      kind text COLLATE "C" NOT NULL,
      actor text COLLATE "C",
      key_id text COLLATE "C",
      reason text,
      detail jsonb NOT NULL DEFAULT '{}',
      at timestamptz NOT NULL,
      CONSTRAINT device_entries_pkey PRIMARY KEY (account_id, environment, id),
      CONSTRAINT device_entries_account_fkey FOREIGN KEY (account_id) REFERENCES accounts (id),
      CONSTRAINT device_entries_device_fkey FOREIGN KEY (account_id, environment, device_id)
        REFERENCES devices (account_id, environment, id) ON DELETE CASCADE,
      CONSTRAINT device_entries_environment_check CHECK (environment IN ('sandbox', 'live')),
      CONSTRAINT device_entries_kind_check CHECK (kind IN ('enrolled', 'renewed', 'attested', 'revoked'))
    );
    CREATE INDEX device_entries_device_idx ON device_entries (device_id, account_id, environment, id);

    ALTER TABLE device_entries ENABLE ROW LEVEL SECURITY;
    ALTER TABLE device_entries FORCE ROW LEVEL SECURITY;
    CREATE POLICY device_entries_tenant ON device_entries TO countersign_app USING (${TENANT}) WITH CHECK (${TENANT});
    GRANT SELECT, INSERT ON device_entries TO countersign_app;
  `)
}

export async function down(): Promise<void> {
  throw new Error('migrations only go forward: restore a backup instead')
}
