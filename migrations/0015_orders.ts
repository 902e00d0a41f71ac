// Authorize, clinician orders: the orders themselves, their signatures, and the incident report of each day.

import type { Knex } from 'knex'

const SCOPE = `account_id = (SELECT nullif(current_setting('app.account_id', true), ''))
      AND environment = (SELECT nullif(current_setting('app.environment', true), ''))`

const TABLES = ['orders', 'order_signatures', 'clinical_incident_reports']

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- What a prescriber orders. sealed_content: patient, medication, quantity, directions and payload, and the resource as it came.
    -- order_hash: SHA-256 of everything that is signed. payload_hash: of the payload alone, for tokens. status: of the last act;
    -- an open order whose expires_at is past is expired, and no job says so. version: counts all changes; revision: counts edits,
    -- each of which voids the signatures. decision_id: the decision that executed the order.
    CREATE TABLE orders (
      account_id text COLLATE "C" NOT NULL,
      environment text COLLATE "C" NOT NULL,
      id text COLLATE "C" NOT NULL,
      prescriber_id text COLLATE "C" NOT NULL,
      sealed_content bytea NOT NULL,
      order_hash bytea NOT NULL,
      payload_hash bytea,
      schedule text COLLATE "C" NOT NULL,
      schedule_source text COLLATE "C" NOT NULL,
      refills integer NOT NULL,
      us_state text COLLATE "C",
      status text COLLATE "C" NOT NULL DEFAULT 'draft',
      version integer NOT NULL DEFAULT 1,
      revision integer NOT NULL DEFAULT 1,
      authorized_at timestamptz,
      expires_at timestamptz NOT NULL,
      ended_by text COLLATE "C",
      ended_at timestamptz,
      ended_reason text COLLATE "C",
      decision_id text COLLATE "C",
      created_by text COLLATE "C" NOT NULL,
      created_at timestamptz NOT NULL,
      updated_at timestamptz NOT NULL,
      CONSTRAINT orders_pkey PRIMARY KEY (account_id, environment, id),
      CONSTRAINT orders_prescriber_fkey FOREIGN KEY (account_id, environment, prescriber_id)
        REFERENCES prescribers (account_id, environment, id),
      CONSTRAINT orders_environment_check CHECK (environment IN ('sandbox', 'live')),
      CONSTRAINT orders_hash_check CHECK (octet_length(order_hash) = 32 AND octet_length(payload_hash) = 32),
      CONSTRAINT orders_schedule_check CHECK (schedule IN ('none', 'I', 'II', 'III', 'IV', 'V')
        AND schedule_source IN ('request', 'formulary', 'table')),
      CONSTRAINT orders_refills_check CHECK (refills >= 0),
      CONSTRAINT orders_status_check CHECK (status IN ('draft', 'pending_cosign', 'authorized', 'executed', 'declined', 'cancelled')),
      CONSTRAINT orders_authorized_check CHECK (status NOT IN ('authorized', 'executed') OR authorized_at IS NOT NULL),
      CONSTRAINT orders_ended_check CHECK ((status IN ('executed', 'declined', 'cancelled')) = (ended_at IS NOT NULL)
        AND (status = 'executed') = (decision_id IS NOT NULL))
    );
    CREATE INDEX orders_prescriber_idx ON orders (prescriber_id, account_id, environment, id);

    -- Who signed which content: revision and order_hash are those of the order then. passkey_id is NULL where the signed-in person
    -- confirmed without a passkey. statement_version: of the statement that the signer saw (21 CFR 1311.140(a)(3)).
    CREATE TABLE order_signatures (
      account_id text COLLATE "C" NOT NULL,
      environment text COLLATE "C" NOT NULL,
      order_id text COLLATE "C" NOT NULL,
      revision integer NOT NULL,
      act text COLLATE "C" NOT NULL,
      order_hash bytea NOT NULL,
      prescriber_id text COLLATE "C" NOT NULL,
      user_id text COLLATE "C" NOT NULL,
      passkey_id text COLLATE "C",
      statement_version text COLLATE "C" NOT NULL,
      signed_at timestamptz NOT NULL,
      voided_at timestamptz,
      CONSTRAINT order_signatures_pkey PRIMARY KEY (account_id, environment, order_id, revision, act),
      CONSTRAINT order_signatures_order_fkey FOREIGN KEY (account_id, environment, order_id)
        REFERENCES orders (account_id, environment, id) ON DELETE CASCADE,
      CONSTRAINT order_signatures_prescriber_fkey FOREIGN KEY (account_id, environment, prescriber_id)
        REFERENCES prescribers (account_id, environment, id),
      CONSTRAINT order_signatures_environment_check CHECK (environment IN ('sandbox', 'live')),
      CONSTRAINT order_signatures_act_check CHECK (act IN ('sign', 'cosign')),
      CONSTRAINT order_signatures_hash_check CHECK (octet_length(order_hash) = 32)
    );
    CREATE INDEX order_signatures_prescriber_idx ON order_signatures (prescriber_id, account_id, environment, order_id);

    -- What happened on one day in UTC that 21 CFR 1311.150 asks to look at, also where nothing did. Ids and counts only.
    CREATE TABLE clinical_incident_reports (
      account_id text COLLATE "C" NOT NULL,
      environment text COLLATE "C" NOT NULL,
      day date NOT NULL,
      report jsonb NOT NULL,
      created_at timestamptz NOT NULL,
      CONSTRAINT clinical_incident_reports_pkey PRIMARY KEY (account_id, environment, day),
      CONSTRAINT clinical_incident_reports_account_fkey FOREIGN KEY (account_id) REFERENCES accounts (id),
      CONSTRAINT clinical_incident_reports_environment_check CHECK (environment IN ('sandbox', 'live'))
    );

    ${TABLES.map(
      (table) => `
    ALTER TABLE ${table} ENABLE ROW LEVEL SECURITY;
    ALTER TABLE ${table} FORCE ROW LEVEL SECURITY;
    CREATE POLICY ${table}_tenant ON ${table} TO countersign_app USING (${SCOPE}) WITH CHECK (${SCOPE});
    SELECT admit_erasure('${table}');`,
    ).join('\n')}
    CREATE POLICY clinical_incident_reports_system ON clinical_incident_reports FOR SELECT TO countersign_system USING (true);
    GRANT SELECT, INSERT, DELETE, UPDATE (sealed_content, order_hash, payload_hash, schedule, schedule_source, refills,
      us_state, status, version, revision, authorized_at, ended_by, ended_at, ended_reason, decision_id, updated_at) ON orders TO countersign_app;
    GRANT SELECT, INSERT, DELETE, UPDATE (voided_at) ON order_signatures TO countersign_app;
    GRANT SELECT, INSERT, DELETE ON clinical_incident_reports TO countersign_app;
    -- Which accounts have a report of a day.
    GRANT SELECT (account_id, environment, day) ON clinical_incident_reports TO countersign_system;
  `)
}

export async function down(): Promise<void> {
  throw new Error('migrations only go forward: restore a backup instead')
}
