import type { Knex } from 'knex'

const TENANT = `account_id = nullif(current_setting('app.account_id', true), '')
  AND environment = nullif(current_setting('app.environment', true), '')`

// Every index but the primary keys begins with what it is for, not with the scope that row-level security adds to every
// query: a planner without statistics (a fresh installation's first minutes) takes one that begins with the scope for
// look-ups by id, foreign key checks among them, and walks through all of the account's rows each time.
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- One row per content: the same bytes are the same media id. The bytes themselves are in the blob store.
    CREATE TABLE media (
      account_id text COLLATE "C" NOT NULL,
      environment text COLLATE "C" NOT NULL,
      id text COLLATE "C" NOT NULL,
      sha256 bytea NOT NULL,
      size bigint NOT NULL,
      content_type text NOT NULL,
      width integer,
      height integer,
      created_at timestamptz NOT NULL DEFAULT now(),
      CONSTRAINT media_pkey PRIMARY KEY (account_id, environment, id),
      CONSTRAINT media_sha256_key UNIQUE (sha256, account_id, environment),
      CONSTRAINT media_account_fkey FOREIGN KEY (account_id) REFERENCES accounts (id),
      CONSTRAINT media_environment_check CHECK (environment IN ('sandbox', 'live')),
      CONSTRAINT media_sha256_check CHECK (octet_length(sha256) = 32)
    );

    -- rejected: [{line, errors}] of the lines that were refused at accept. repeated: [[line, attestation id]] of the
    -- accepted lines whose submission was there already; their attestation is of whoever brought it first.
    CREATE TABLE batches (
      account_id text COLLATE "C" NOT NULL,
      environment text COLLATE "C" NOT NULL,
      id text COLLATE "C" NOT NULL,
      accepted integer NOT NULL,
      rejected jsonb NOT NULL,
      repeated jsonb NOT NULL DEFAULT '[]',
      created_at timestamptz NOT NULL DEFAULT now(),
      cancelled_at timestamptz,
      CONSTRAINT batches_pkey PRIMARY KEY (account_id, environment, id),
      CONSTRAINT batches_account_fkey FOREIGN KEY (account_id) REFERENCES accounts (id),
      CONSTRAINT batches_environment_check CHECK (environment IN ('sandbox', 'live'))
    );

    -- reference is the insurer's claim number. risk_score is the highest of the attestations', provenance the worst.
    CREATE TABLE claims (
      account_id text COLLATE "C" NOT NULL,
      environment text COLLATE "C" NOT NULL,
      id text COLLATE "C" NOT NULL,
      reference text COLLATE "C",
      line text,
      loss_lat double precision,
      loss_lng double precision,
      loss_at timestamptz,
      risk_status text NOT NULL DEFAULT 'pending',
      risk_score integer,
      provenance_status text,
      factor_codes text[] NOT NULL DEFAULT '{}',
      advisory_codes text[] NOT NULL DEFAULT '{}',
      created_at timestamptz NOT NULL DEFAULT now(),
      updated_at timestamptz NOT NULL DEFAULT now(),
      CONSTRAINT claims_pkey PRIMARY KEY (account_id, environment, id),
      CONSTRAINT claims_reference_key UNIQUE (reference, account_id, environment),
      CONSTRAINT claims_account_fkey FOREIGN KEY (account_id) REFERENCES accounts (id),
      CONSTRAINT claims_environment_check CHECK (environment IN ('sandbox', 'live')),
      CONSTRAINT claims_risk_status_check CHECK (risk_status IN ('pending', 'passed', 'review', 'failed')),
      CONSTRAINT claims_provenance_check
        CHECK (provenance_status IN ('verified', 'attested_unverified', 'unattested', 'broken'))
    );
    CREATE INDEX claims_risk_idx ON claims (risk_status, account_id, environment, id);

    -- submission: what was sent, as sent and parsed (bundle, signature, certificate chain, claim). result: the judgement.
    CREATE TABLE attestations (
      account_id text COLLATE "C" NOT NULL,
      environment text COLLATE "C" NOT NULL,
      id text COLLATE "C" NOT NULL,
      claim_id text COLLATE "C" NOT NULL,
      batch_id text COLLATE "C",
      batch_line integer,
      external_id text COLLATE "C",
      content_digest bytea NOT NULL,
      media_id text COLLATE "C" NOT NULL,
      device_id text COLLATE "C",
      submission jsonb NOT NULL,
      job_id uuid NOT NULL,
      status text NOT NULL DEFAULT 'queued',
      accepted_at timestamptz NOT NULL DEFAULT now(),
      evaluated_at timestamptz,
      risk_status text,
      risk_score integer,
      provenance_status text,
      hardware_tier text,
      rules_version text,
      factors jsonb,
      advisory_factors jsonb,
      observations jsonb,
      result_jws text,
      failure text,
      CONSTRAINT attestations_pkey PRIMARY KEY (account_id, environment, id),
      CONSTRAINT attestations_external_id_key UNIQUE (external_id, account_id, environment),
      CONSTRAINT attestations_batch_line_key UNIQUE (batch_id, account_id, environment, batch_line),
      CONSTRAINT attestations_account_fkey FOREIGN KEY (account_id) REFERENCES accounts (id),
      CONSTRAINT attestations_claim_fkey FOREIGN KEY (account_id, environment, claim_id)
        REFERENCES claims (account_id, environment, id),
      CONSTRAINT attestations_batch_fkey FOREIGN KEY (account_id, environment, batch_id)
        REFERENCES batches (account_id, environment, id),
      CONSTRAINT attestations_media_fkey FOREIGN KEY (account_id, environment, media_id)
        REFERENCES media (account_id, environment, id),
      CONSTRAINT attestations_environment_check CHECK (environment IN ('sandbox', 'live')),
      CONSTRAINT attestations_status_check CHECK (status IN ('queued', 'evaluated', 'failed', 'cancelled')),
      CONSTRAINT attestations_result_check CHECK ((status = 'evaluated') = (evaluated_at IS NOT NULL))
    );
    CREATE INDEX attestations_claim_idx ON attestations (claim_id, account_id, environment, id);
    CREATE INDEX attestations_media_idx ON attestations (media_id, account_id, environment);
    CREATE INDEX attestations_device_idx ON attestations (device_id, account_id, environment, id)
      WHERE device_id IS NOT NULL;

    ${['media', 'batches', 'claims', 'attestations']
      .map(
        (table) => `
    ALTER TABLE ${table} ENABLE ROW LEVEL SECURITY;
    ALTER TABLE ${table} FORCE ROW LEVEL SECURITY;
    CREATE POLICY ${table}_tenant ON ${table} TO countersign_app USING (${TENANT}) WITH CHECK (${TENANT});
    GRANT SELECT, INSERT, UPDATE ON ${table} TO countersign_app;`,
      )
      .join('\n')}
  `)
}

export async function down(): Promise<void> {
  throw new Error('migrations only go forward: restore a backup instead')
}
