// Authorize, clinician orders: who may prescribe, what is known of them, and the account's rules.

import type { Knex } from 'knex'

const SCOPE = `account_id = (SELECT nullif(current_setting('app.account_id', true), ''))
      AND environment = (SELECT nullif(current_setting('app.environment', true), ''))`

const TABLES = [
  'prescribers',
  'prescriber_facts',
  'clinical_policies',
  'clinical_formulary_versions',
  'clinical_formulary',
]

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- A user who orders: one user and one NPI each. sealed_person: names and birth date. match_full, match_name, match_states: keyed
    -- hashes that are compared with exclusion lists; match_full is NULL without a birth date, match_states has one for each state
    -- of a licence. There is no column for the tier: it follows from the facts and the clock. version: counts changes of the
    -- person and suspensions.
    CREATE TABLE prescribers (
      account_id text COLLATE "C" NOT NULL,
      environment text COLLATE "C" NOT NULL,
      id text COLLATE "C" NOT NULL,
      user_id text COLLATE "C" NOT NULL,
      npi text COLLATE "C" NOT NULL,
      sealed_person bytea NOT NULL,
      match_full bytea,
      match_name bytea NOT NULL,
      match_states bytea[] NOT NULL,
      suspended_at timestamptz,
      suspended_by text COLLATE "C",
      suspended_reason text,
      version integer NOT NULL DEFAULT 1,
      created_by text COLLATE "C" NOT NULL,
      created_at timestamptz NOT NULL,
      updated_at timestamptz NOT NULL,
      CONSTRAINT prescribers_pkey PRIMARY KEY (account_id, environment, id),
      CONSTRAINT prescribers_user_key UNIQUE (user_id, account_id, environment),
      CONSTRAINT prescribers_npi_key UNIQUE (npi, account_id, environment),
      CONSTRAINT prescribers_user_fkey FOREIGN KEY (account_id, user_id) REFERENCES users (account_id, id),
      CONSTRAINT prescribers_environment_check CHECK (environment IN ('sandbox', 'live')),
      CONSTRAINT prescribers_npi_check CHECK (npi ~ '^[12][0-9]{9}$'),
      CONSTRAINT prescribers_suspended_check CHECK ((suspended_at IS NULL) = (suspended_by IS NULL)
        AND (suspended_at IS NULL) = (suspended_reason IS NULL))
    );

    -- What was checked about a prescriber. number: of the licence or the registration. entered_by: the key or the user;
    -- confirmed_by: the user whose passkey confirmed it. The terms of a fact never change.
    CREATE TABLE prescriber_facts (
      account_id text COLLATE "C" NOT NULL,
      environment text COLLATE "C" NOT NULL,
      id text COLLATE "C" NOT NULL,
      prescriber_id text COLLATE "C" NOT NULL,
      kind text COLLATE "C" NOT NULL,
      method text COLLATE "C",
      state text COLLATE "C",
      number text COLLATE "C",
      schedules text[] COLLATE "C",
      expires_at timestamptz,
      entered_by text COLLATE "C" NOT NULL,
      entered_at timestamptz NOT NULL,
      confirmed_by text COLLATE "C",
      confirmed_passkey_id text COLLATE "C",
      confirmed_at timestamptz,
      ended_by text COLLATE "C",
      ended_at timestamptz,
      ended_reason text,
      CONSTRAINT prescriber_facts_pkey PRIMARY KEY (account_id, environment, id),
      CONSTRAINT prescriber_facts_prescriber_fkey FOREIGN KEY (account_id, environment, prescriber_id)
        REFERENCES prescribers (account_id, environment, id) ON DELETE CASCADE,
      CONSTRAINT prescriber_facts_environment_check CHECK (environment IN ('sandbox', 'live')),
      CONSTRAINT prescriber_facts_kind_check CHECK (
        (kind = 'identity' AND method IS NOT NULL AND state IS NULL AND number IS NULL AND schedules IS NULL)
        OR (kind = 'licence' AND method IS NULL AND state IS NOT NULL AND number IS NOT NULL AND schedules IS NULL
          AND expires_at IS NOT NULL)
        OR (kind = 'dea' AND method IS NULL AND state IS NULL AND number IS NOT NULL AND cardinality(schedules) > 0
          AND expires_at IS NOT NULL)),
      CONSTRAINT prescriber_facts_confirmed_check CHECK ((confirmed_at IS NULL) = (confirmed_by IS NULL)
        AND (confirmed_at IS NULL) = (confirmed_passkey_id IS NULL) AND confirmed_by <> entered_by),
      CONSTRAINT prescriber_facts_ended_check CHECK ((ended_at IS NULL) = (ended_by IS NULL)
        AND (ended_at IS NULL) = (ended_reason IS NULL))
    );
    CREATE INDEX prescriber_facts_prescriber_idx ON prescriber_facts (prescriber_id, account_id, environment, id);

    -- Each change of the clinical policy is a version, and none ever changes. digest: SHA-256 of the document's canonical JSON.
    CREATE TABLE clinical_policies (
      account_id text COLLATE "C" NOT NULL,
      environment text COLLATE "C" NOT NULL,
      version integer NOT NULL,
      document jsonb NOT NULL,
      digest bytea NOT NULL,
      changed_by text COLLATE "C" NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now(),
      CONSTRAINT clinical_policies_pkey PRIMARY KEY (account_id, environment, version),
      CONSTRAINT clinical_policies_account_fkey FOREIGN KEY (account_id) REFERENCES accounts (id),
      CONSTRAINT clinical_policies_environment_check CHECK (environment IN ('sandbox', 'live')),
      CONSTRAINT clinical_policies_version_check CHECK (version > 0),
      CONSTRAINT clinical_policies_digest_check CHECK (octet_length(digest) = 32)
    );

    -- The formulary as it was last replaced, one row for each concept of RxNorm, and who replaced it when.
    CREATE TABLE clinical_formulary_versions (
      account_id text COLLATE "C" NOT NULL,
      environment text COLLATE "C" NOT NULL,
      version integer NOT NULL,
      digest bytea NOT NULL,
      entries integer NOT NULL,
      changed_by text COLLATE "C" NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now(),
      CONSTRAINT clinical_formulary_versions_pkey PRIMARY KEY (account_id, environment, version),
      CONSTRAINT clinical_formulary_versions_account_fkey FOREIGN KEY (account_id) REFERENCES accounts (id),
      CONSTRAINT clinical_formulary_versions_environment_check CHECK (environment IN ('sandbox', 'live')),
      CONSTRAINT clinical_formulary_versions_digest_check CHECK (octet_length(digest) = 32)
    );
    CREATE TABLE clinical_formulary (
      account_id text COLLATE "C" NOT NULL,
      environment text COLLATE "C" NOT NULL,
      rxcui text COLLATE "C" NOT NULL,
      schedule text COLLATE "C" NOT NULL,
      CONSTRAINT clinical_formulary_pkey PRIMARY KEY (rxcui, account_id, environment),
      CONSTRAINT clinical_formulary_account_fkey FOREIGN KEY (account_id) REFERENCES accounts (id),
      CONSTRAINT clinical_formulary_environment_check CHECK (environment IN ('sandbox', 'live')),
      CONSTRAINT clinical_formulary_schedule_check CHECK (schedule IN ('none', 'I', 'II', 'III', 'IV', 'V'))
    );
    CREATE INDEX clinical_formulary_account_idx ON clinical_formulary (account_id, environment, rxcui);

    ${TABLES.map(
      (table) => `
    ALTER TABLE ${table} ENABLE ROW LEVEL SECURITY;
    ALTER TABLE ${table} FORCE ROW LEVEL SECURITY;
    CREATE POLICY ${table}_tenant ON ${table} TO countersign_app USING (${SCOPE}) WITH CHECK (${SCOPE});
    SELECT admit_erasure('${table}');`,
    ).join('\n')}
    GRANT SELECT, INSERT, UPDATE (npi, sealed_person, match_full, match_name, match_states, suspended_at, suspended_by,
      suspended_reason, version, updated_at) ON prescribers TO countersign_app;
    GRANT SELECT, INSERT, UPDATE (entered_by, entered_at, confirmed_by, confirmed_passkey_id, confirmed_at, ended_by, ended_at, ended_reason)
      ON prescriber_facts TO countersign_app;
    GRANT SELECT, INSERT ON clinical_policies, clinical_formulary_versions TO countersign_app;
    GRANT SELECT, INSERT, DELETE ON clinical_formulary TO countersign_app;
  `)
}

export async function down(): Promise<void> {
  throw new Error('migrations only go forward: restore a backup instead')
}
