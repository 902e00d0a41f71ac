import type { Knex } from 'knex'

const TENANT = `account_id = nullif(current_setting('app.account_id', true), '')
  AND environment = nullif(current_setting('app.environment', true), '')`

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- What an account has set of its own; without a row the defaults count.
    CREATE TABLE screening_settings (
      account_id text COLLATE "C" NOT NULL,
      environment text COLLATE "C" NOT NULL,
      thresholds jsonb NOT NULL,
      updated_at timestamptz NOT NULL DEFAULT now(),
      CONSTRAINT screening_settings_pkey PRIMARY KEY (account_id, environment),
      CONSTRAINT screening_settings_account_fkey FOREIGN KEY (account_id) REFERENCES accounts (id),
      CONSTRAINT screening_settings_environment_check CHECK (environment IN ('sandbox', 'live'))
    );

    CREATE TABLE screening_batches (
      account_id text COLLATE "C" NOT NULL,
      environment text COLLATE "C" NOT NULL,
      id text COLLATE "C" NOT NULL,
      accepted integer NOT NULL,
      rejected jsonb NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now(),
      CONSTRAINT screening_batches_pkey PRIMARY KEY (account_id, environment, id),
      CONSTRAINT screening_batches_account_fkey FOREIGN KEY (account_id) REFERENCES accounts (id),
      CONSTRAINT screening_batches_environment_check CHECK (environment IN ('sandbox', 'live'))
    );

    -- media_id is no foreign key: a screening does not keep its media, and says by their hash what it was about. A scored row
    -- is also the cache: the same bytes are not paid for twice for one detector and version.
    CREATE TABLE screenings (
      account_id text COLLATE "C" NOT NULL,
      environment text COLLATE "C" NOT NULL,
      id text COLLATE "C" NOT NULL,
      claim_id text COLLATE "C",
      batch_id text COLLATE "C",
      batch_line integer,
      media_id text COLLATE "C" NOT NULL,
      media_sha256 bytea NOT NULL,
      job_id uuid NOT NULL,
      status text COLLATE "C" NOT NULL DEFAULT 'queued',
      reason text COLLATE "C",
      detector text COLLATE "C",
      detector_version text COLLATE "C",
      thresholds jsonb,
      genai_score double precision,
      deepfake_score double precision,
      models jsonb NOT NULL DEFAULT '[]',
      factors jsonb NOT NULL DEFAULT '[]',
      factor_codes text[] NOT NULL DEFAULT '{}',
      observations jsonb NOT NULL DEFAULT '[]',
      is_cached boolean NOT NULL DEFAULT false,
      created_at timestamptz NOT NULL DEFAULT now(),
      completed_at timestamptz,
      erased_at timestamptz,
      CONSTRAINT screenings_pkey PRIMARY KEY (account_id, environment, id),
      CONSTRAINT screenings_batch_line_key UNIQUE (batch_id, batch_line, account_id, environment),
      CONSTRAINT screenings_account_fkey FOREIGN KEY (account_id) REFERENCES accounts (id),
      CONSTRAINT screenings_claim_fkey FOREIGN KEY (account_id, environment, claim_id)
        REFERENCES claims (account_id, environment, id),
      CONSTRAINT screenings_batch_fkey FOREIGN KEY (account_id, environment, batch_id)
        REFERENCES screening_batches (account_id, environment, id),
      CONSTRAINT screenings_environment_check CHECK (environment IN ('sandbox', 'live')),
      CONSTRAINT screenings_status_check CHECK (status IN ('queued', 'scored', 'unavailable', 'unsupported')),
      CONSTRAINT screenings_digest_check CHECK (octet_length(media_sha256) = 32),
      CONSTRAINT screenings_completed_check CHECK ((status = 'queued') = (completed_at IS NULL)),
      CONSTRAINT screenings_reason_check CHECK ((reason IS NULL) = (status IN ('queued', 'scored'))),
      -- What is not scored has no number, and a number is a share.
      CONSTRAINT screenings_score_check
        CHECK ((status = 'scored') = (genai_score IS NOT NULL OR deepfake_score IS NOT NULL)),
      CONSTRAINT screenings_genai_check CHECK (genai_score BETWEEN 0 AND 1),
      CONSTRAINT screenings_deepfake_check CHECK (deepfake_score BETWEEN 0 AND 1),
      CONSTRAINT screenings_detector_check CHECK (status <> 'scored'
        OR (detector IS NOT NULL AND detector_version IS NOT NULL AND thresholds IS NOT NULL))
    );
    CREATE INDEX screenings_claim_idx ON screenings (claim_id, account_id, environment, id) WHERE claim_id IS NOT NULL;
    CREATE INDEX screenings_media_idx ON screenings (media_id, account_id, environment, id);
    CREATE INDEX screenings_scored_idx ON screenings (media_sha256, account_id, environment, id) WHERE status = 'scored';

    -- Each call to a detector: written before it and completed after it. One without finished_at is a call whose process
    -- died, and that may have been paid for.
    CREATE TABLE screening_calls (
      account_id text COLLATE "C" NOT NULL,
      environment text COLLATE "C" NOT NULL,
      screening_id text COLLATE "C" NOT NULL,
      seq integer NOT NULL,
      media_sha256 bytea NOT NULL,
      detector text COLLATE "C" NOT NULL,
      detector_version text COLLATE "C" NOT NULL,
      started_at timestamptz NOT NULL DEFAULT now(),
      finished_at timestamptz,
      outcome text COLLATE "C",
      duration_ms integer,
      vendor_id text,
      CONSTRAINT screening_calls_pkey PRIMARY KEY (account_id, environment, screening_id, seq),
      CONSTRAINT screening_calls_account_fkey FOREIGN KEY (account_id) REFERENCES accounts (id),
      CONSTRAINT screening_calls_screening_fkey FOREIGN KEY (account_id, environment, screening_id)
        REFERENCES screenings (account_id, environment, id) ON DELETE CASCADE,
      CONSTRAINT screening_calls_environment_check CHECK (environment IN ('sandbox', 'live')),
      CONSTRAINT screening_calls_finished_check CHECK ((finished_at IS NULL) = (outcome IS NULL))
    );
    CREATE INDEX screening_calls_open_idx ON screening_calls (media_sha256, account_id, environment)
      WHERE finished_at IS NULL;

    ${['screening_settings', 'screening_batches', 'screenings', 'screening_calls']
      .map(
        (table) => `
    ALTER TABLE ${table} ENABLE ROW LEVEL SECURITY;
    ALTER TABLE ${table} FORCE ROW LEVEL SECURITY;
    CREATE POLICY ${table}_tenant ON ${table} TO countersign_app USING (${TENANT}) WITH CHECK (${TENANT});`,
      )
      .join('\n')}
    GRANT SELECT, INSERT, UPDATE, DELETE ON screening_settings TO countersign_app;
    GRANT SELECT, INSERT, UPDATE, DELETE ON screening_batches TO countersign_app;
    GRANT SELECT, INSERT, UPDATE, DELETE ON screenings TO countersign_app;
    GRANT SELECT, INSERT, UPDATE ON screening_calls TO countersign_app;
  `)
}

export async function down(): Promise<void> {
  throw new Error('migrations only go forward: restore a backup instead')
}
