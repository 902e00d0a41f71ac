import type { Knex } from 'knex'

const TENANT = `account_id = nullif(current_setting('app.account_id', true), '')
  AND environment = nullif(current_setting('app.environment', true), '')`

// What the server itself verified of a device's hardware, and what that takes: challenges of ours, the counters that
// assertions used up, and the vendors' lists of keys that are not to be trusted any more.
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- hardware: the last verdict over evidence, with its facts; NULL until some was sent. attestation_serials: certificates
    -- of that evidence as revocation lists name them, so that a list of today speaks about evidence of last year.
    -- attest_key: the App Attest key (SubjectPublicKeyInfo) that signs one assertion per capture; attest_counter: what its
    -- counter was at that time.
    ALTER TABLE devices
      ADD COLUMN hardware jsonb,
      ADD COLUMN attestation_serials text[] COLLATE "C" NOT NULL DEFAULT '{}',
      ADD COLUMN attest_key bytea,
      ADD COLUMN attest_counter bigint,
      ADD CONSTRAINT devices_attest_check CHECK ((attest_key IS NULL) = (attest_counter IS NULL)),
      ADD CONSTRAINT devices_proven_check CHECK (hardware_tier = 'none' OR hardware IS NOT NULL);

    -- consumed_by: the device whose evidence answered it. One guarded UPDATE consumes it, so of two only one wins.
    CREATE TABLE device_challenges (
      account_id text COLLATE "C" NOT NULL,
      environment text COLLATE "C" NOT NULL,
      id text COLLATE "C" NOT NULL,
      challenge text COLLATE "C" NOT NULL,
      issued_at timestamptz NOT NULL DEFAULT now(),
      expires_at timestamptz NOT NULL,
      consumed_by text COLLATE "C",
      consumed_at timestamptz,
      CONSTRAINT device_challenges_pkey PRIMARY KEY (account_id, environment, id),
      CONSTRAINT device_challenges_challenge_key UNIQUE (challenge, account_id, environment),
      CONSTRAINT device_challenges_account_fkey FOREIGN KEY (account_id) REFERENCES accounts (id),
      CONSTRAINT device_challenges_environment_check CHECK (environment IN ('sandbox', 'live')),
      CONSTRAINT device_challenges_consumed_check CHECK ((consumed_by IS NULL) = (consumed_at IS NULL))
    );

    -- Which capture used a counter of a device. Whoever inserts the row has it; a second capture with the same one is a replay.
    CREATE TABLE assertion_counters (
      account_id text COLLATE "C" NOT NULL,
      environment text COLLATE "C" NOT NULL,
      device_id text COLLATE "C" NOT NULL,
      counter bigint NOT NULL,
      attestation_id text COLLATE "C" NOT NULL,
      used_at timestamptz NOT NULL DEFAULT now(),
      CONSTRAINT assertion_counters_pkey PRIMARY KEY (device_id, counter, account_id, environment),
      CONSTRAINT assertion_counters_device_fkey FOREIGN KEY (account_id, environment, device_id)
        REFERENCES devices (account_id, environment, id) ON DELETE CASCADE,
      CONSTRAINT assertion_counters_environment_check CHECK (environment IN ('sandbox', 'live')),
      CONSTRAINT assertion_counters_counter_check CHECK (counter BETWEEN 0 AND 4294967295)
    );

    ${['device_challenges', 'assertion_counters']
      .map(
        (table) => `
    ALTER TABLE ${table} ENABLE ROW LEVEL SECURITY;
    ALTER TABLE ${table} FORCE ROW LEVEL SECURITY;
    CREATE POLICY ${table}_tenant ON ${table} TO countersign_app USING (${TENANT}) WITH CHECK (${TENANT});`,
      )
      .join('\n')}
    GRANT SELECT, INSERT, UPDATE, DELETE ON device_challenges TO countersign_app;
    GRANT SELECT, INSERT ON assertion_counters TO countersign_app;

    -- Deployment-wide: what a vendor publishes is the same for all tenants. fetched_at: when the list was last had whole;
    -- attempted_at: when that was last tried, which is also the lease of whoever tries. entries: serial -> status.
    CREATE TABLE revocation_lists (
      name text COLLATE "C" NOT NULL,
      url text COLLATE "C" NOT NULL,
      entries jsonb NOT NULL DEFAULT '{}',
      digest bytea,
      changed_at timestamptz,
      fetched_at timestamptz,
      attempted_at timestamptz NOT NULL,
      failure text,
      CONSTRAINT revocation_lists_pkey PRIMARY KEY (name),
      CONSTRAINT revocation_lists_fetched_check CHECK ((fetched_at IS NULL) = (digest IS NULL))
    );
    GRANT SELECT, INSERT, UPDATE ON revocation_lists TO countersign_system;
  `)
}

export async function down(): Promise<void> {
  throw new Error('migrations only go forward: restore a backup instead')
}
