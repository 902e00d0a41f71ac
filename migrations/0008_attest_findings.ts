// Attest, what is found about attestations beside their own evaluation: screenings, duplicates, and re-evaluations by
// policies and facts that came later.

import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(SCREENINGS)
  await knex.raw(DUPLICATES)
  await knex.raw(REEVALUATIONS)
}

export async function down(): Promise<void> {
  throw new Error('migrations only go forward: restore a backup instead')
}

const SCOPE = `account_id = (SELECT nullif(current_setting('app.account_id', true), ''))
      AND environment = (SELECT nullif(current_setting('app.environment', true), ''))`

const SCREENINGS = `
  -- Thresholds that an account has set; without a row the defaults count. version: the number of the change, which a
  -- caller that replaces the settings names. changed_by: the key or the user.
  CREATE TABLE screening_settings (
    account_id text COLLATE "C" NOT NULL,
    environment text COLLATE "C" NOT NULL,
    thresholds jsonb NOT NULL,
    version integer NOT NULL DEFAULT 1,
    changed_by text COLLATE "C" NOT NULL,
    updated_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT screening_settings_pkey PRIMARY KEY (account_id, environment),
    CONSTRAINT screening_settings_account_fkey FOREIGN KEY (account_id) REFERENCES accounts (id),
    CONSTRAINT screening_settings_environment_check CHECK (environment IN ('sandbox', 'live'))
  );
  ${tenant('screening_settings')}
  GRANT SELECT, INSERT, UPDATE, DELETE ON screening_settings TO countersign_app;

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
  ${tenant('screening_batches')}
  GRANT SELECT, INSERT, UPDATE, DELETE ON screening_batches TO countersign_app;

  -- media_id is no foreign key: a screening does not keep its media, and names the bytes by their hash. A scored row
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
  -- Scores of a file in the order of their end: without it the latest score of a file that was screened 40,000 times
  -- is found by reading and sorting all of them, at each further screening of the file.
  CREATE INDEX screenings_latest_score_idx ON screenings (media_sha256, account_id, environment, completed_at, id)
    WHERE status = 'scored';
  -- Lines of batches without a score: a page of the list of batches counts them. A line that gets its score leaves
  -- the index.
  CREATE INDEX screenings_unscored_idx ON screenings (batch_id, status, account_id, environment)
    WHERE batch_id IS NOT NULL AND status <> 'scored';
  ${tenant('screenings')}
  GRANT SELECT, INSERT, UPDATE, DELETE ON screenings TO countersign_app;

  -- Each call to a detector: written before it and completed after it. A row without finished_at is a call whose
  -- process died, and that may have been paid for.
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
    CONSTRAINT screening_calls_screening_fkey FOREIGN KEY (account_id, environment, screening_id)
      REFERENCES screenings (account_id, environment, id) ON DELETE CASCADE,
    CONSTRAINT screening_calls_environment_check CHECK (environment IN ('sandbox', 'live')),
    CONSTRAINT screening_calls_finished_check CHECK ((finished_at IS NULL) = (outcome IS NULL))
  );
  CREATE INDEX screening_calls_open_idx ON screening_calls (media_sha256, account_id, environment)
    WHERE finished_at IS NULL;
  ${tenant('screening_calls')}
  GRANT SELECT, INSERT, UPDATE ON screening_calls TO countersign_app;
`

// A piece of the hash of a picture: where two hashes differ in six bits at most, one of their three pieces differs in
// two at most. The account and the environment are hashed into the upper bits, so that an entry of an index has eight
// bytes and no tenant's rows lie among another's; row-level security decides.
const band = (index: number, { shift, mask }: { shift: number; mask: number }) =>
  `band${index} bigint GENERATED ALWAYS AS
        (hashtextextended(account_id || environment, 0) # ((hash >> ${shift}) & ${mask})) STORED`

const DUPLICATES = `
  -- What media look like, to recognize them. A thousand captures of one photo are one row for each search.
  -- not_comparable: why there is no hash. band0 to band2: pieces of 20, 21 and 23 bits, which the searches look for.
  -- detail: the greys of the picture, by which a match of its hash is confirmed. They are kept beside the table:
  -- searches read its rows, and only the greys of matches.
  CREATE TABLE pictures (
    account_id text COLLATE "C" NOT NULL,
    environment text COLLATE "C" NOT NULL,
    media_id text COLLATE "C" NOT NULL,
    hash bigint,
    not_comparable text COLLATE "C",
    ${band(0, { shift: 0, mask: 0xfffff })},
    ${band(1, { shift: 20, mask: 0x1fffff })},
    ${band(2, { shift: 41, mask: 0x7fffff })},
    detail bytea,
    CONSTRAINT pictures_pkey PRIMARY KEY (media_id, account_id, environment),
    CONSTRAINT pictures_media_fkey FOREIGN KEY (account_id, environment, media_id)
      REFERENCES media (account_id, environment, id) ON DELETE CASCADE,
    CONSTRAINT pictures_environment_check CHECK (environment IN ('sandbox', 'live')),
    CONSTRAINT pictures_hash_check CHECK ((hash IS NULL) <> (not_comparable IS NULL)),
    CONSTRAINT pictures_detail_check CHECK ((hash IS NULL) = (detail IS NULL))
  ) WITH (toast_tuple_target = 128);
  CREATE INDEX pictures_band0_idx ON pictures (band0) WHERE hash IS NOT NULL;
  CREATE INDEX pictures_band1_idx ON pictures (band1) WHERE hash IS NOT NULL;
  CREATE INDEX pictures_band2_idx ON pictures (band2) WHERE hash IS NOT NULL;
  ${tenant('pictures')}
  -- UPDATE of a column is what locking a row takes.
  GRANT SELECT, INSERT, UPDATE (media_id), DELETE ON pictures TO countersign_app;

  -- How far the comparison of an attestation has got. due: to be compared, and hashed before that if its media are
  -- not. compared: its findings stand. recheck: an earlier attestation was hashed later, so its findings are to be
  -- made again. not_comparable: why there is no hash; the same bytes are found without one. 'failed': the job of the
  -- comparison is dead.
  CREATE TABLE fingerprints (
    account_id text COLLATE "C" NOT NULL,
    environment text COLLATE "C" NOT NULL,
    attestation_id text COLLATE "C" NOT NULL,
    claim_id text COLLATE "C" NOT NULL,
    media_id text COLLATE "C" NOT NULL,
    state text COLLATE "C" NOT NULL DEFAULT 'due',
    not_comparable text COLLATE "C",
    exact_count integer NOT NULL DEFAULT 0,
    similar_count integer NOT NULL DEFAULT 0,
    -- The scope is not first, unlike in other primary keys: without statistics a planner takes an index that begins
    -- with it for each probe of a search, and walks through all of the account's rows.
    CONSTRAINT fingerprints_pkey PRIMARY KEY (attestation_id, account_id, environment),
    CONSTRAINT fingerprints_attestation_fkey FOREIGN KEY (account_id, environment, attestation_id)
      REFERENCES attestations (account_id, environment, id) ON DELETE CASCADE,
    CONSTRAINT fingerprints_environment_check CHECK (environment IN ('sandbox', 'live')),
    CONSTRAINT fingerprints_state_check CHECK (state IN ('due', 'compared', 'recheck')),
    CONSTRAINT fingerprints_not_comparable_check CHECK (state <> 'due' OR not_comparable IS NULL)
  ) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.05);
  CREATE INDEX fingerprints_claim_idx ON fingerprints (claim_id, account_id, environment, attestation_id);
  -- The search for duplicates reads the claims that show a picture, one entry of each. In the order of attestations
  -- it would read all captures of its own claim to pass over them, at each further capture.
  CREATE INDEX fingerprints_showing_idx ON fingerprints (media_id, account_id, environment, claim_id, attestation_id);
  -- For later attestations of the same medium, compared or not.
  CREATE INDEX fingerprints_media_idx ON fingerprints (media_id, account_id, environment, attestation_id);
  ${tenant('fingerprints')}
  GRANT SELECT, INSERT, UPDATE, DELETE ON fingerprints TO countersign_app;

  -- At most one finding per attestation and other claim, in the later of two attestations. distance_bits: 0 to 64; NULL
  -- when the bytes are the same.
  CREATE TABLE duplicate_findings (
    account_id text COLLATE "C" NOT NULL,
    environment text COLLATE "C" NOT NULL,
    attestation_id text COLLATE "C" NOT NULL,
    other_claim_id text COLLATE "C" NOT NULL,
    other_attestation_id text COLLATE "C" NOT NULL,
    distance_bits smallint,
    CONSTRAINT duplicate_findings_pkey PRIMARY KEY (account_id, environment, attestation_id, other_claim_id),
    CONSTRAINT duplicate_findings_own_fkey FOREIGN KEY (attestation_id, account_id, environment)
      REFERENCES fingerprints (attestation_id, account_id, environment) ON DELETE CASCADE,
    CONSTRAINT duplicate_findings_other_fkey FOREIGN KEY (other_attestation_id, account_id, environment)
      REFERENCES fingerprints (attestation_id, account_id, environment) ON DELETE CASCADE,
    CONSTRAINT duplicate_findings_environment_check CHECK (environment IN ('sandbox', 'live')),
    CONSTRAINT duplicate_findings_order_check CHECK (other_attestation_id < attestation_id),
    CONSTRAINT duplicate_findings_distance_check CHECK (distance_bits BETWEEN 0 AND 64)
  );
  CREATE INDEX duplicate_findings_other_idx
    ON duplicate_findings (other_attestation_id, account_id, environment, attestation_id);
  ${tenant('duplicate_findings')}
  GRANT SELECT, INSERT, DELETE ON duplicate_findings TO countersign_app;
`

const REEVALUATIONS = `
  -- What an insurer demands of captures. Each change is a version of its own, and none ever changes. key_id: the API
  -- key.
  CREATE TABLE risk_policies (
    account_id text COLLATE "C" NOT NULL,
    environment text COLLATE "C" NOT NULL,
    version integer NOT NULL,
    policy jsonb NOT NULL,
    key_id text COLLATE "C" NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT risk_policies_pkey PRIMARY KEY (account_id, environment, version),
    CONSTRAINT risk_policies_account_fkey FOREIGN KEY (account_id) REFERENCES accounts (id),
    CONSTRAINT risk_policies_environment_check CHECK (environment IN ('sandbox', 'live')),
    CONSTRAINT risk_policies_version_check CHECK (version > 0)
  );
  ${tenant('risk_policies')}
  -- DELETE is for accounts whose keys are published: what anybody set there is deleted.
  GRANT SELECT, INSERT, DELETE ON risk_policies TO countersign_app;

  -- A cause to judge attestations again. key: what makes two causes the same one. seen_at: when its job first saw it;
  -- evaluations that ran by then may not know the cause, and are waited for.
  -- cursor: the attestation that the search has reached; walked_at: it has ended. job_id: the job that searches;
  -- failed_at: that job is dead.
  CREATE TABLE reevaluations (
    account_id text COLLATE "C" NOT NULL,
    environment text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    cause text COLLATE "C" NOT NULL,
    key text COLLATE "C" NOT NULL,
    subject jsonb NOT NULL,
    job_id uuid NOT NULL,
    looked integer NOT NULL DEFAULT 0,
    cursor text COLLATE "C",
    counts jsonb,
    created_at timestamptz NOT NULL DEFAULT now(),
    seen_at timestamptz,
    walked_at timestamptz,
    failed_at timestamptz,
    finished_at timestamptz,
    CONSTRAINT reevaluations_pkey PRIMARY KEY (account_id, environment, id),
    CONSTRAINT reevaluations_key_key UNIQUE (key, account_id, environment),
    CONSTRAINT reevaluations_account_fkey FOREIGN KEY (account_id) REFERENCES accounts (id),
    CONSTRAINT reevaluations_environment_check CHECK (environment IN ('sandbox', 'live')),
    CONSTRAINT reevaluations_cause_check CHECK (cause IN
      ('device_revoked', 'revocation_list', 'policy_changed', 'screening', 'requested'))
  );
  ${tenant('reevaluations')}
  GRANT SELECT, INSERT, UPDATE, DELETE ON reevaluations TO countersign_app;

  -- Attestations to judge again, once per cause. outcome: NULL until it was judged.
  CREATE TABLE reevaluation_marks (
    account_id text COLLATE "C" NOT NULL,
    environment text COLLATE "C" NOT NULL,
    attestation_id text COLLATE "C" NOT NULL,
    reevaluation_id text COLLATE "C" NOT NULL,
    outcome text COLLATE "C",
    CONSTRAINT reevaluation_marks_pkey PRIMARY KEY (attestation_id, reevaluation_id, account_id, environment),
    CONSTRAINT reevaluation_marks_attestation_fkey FOREIGN KEY (account_id, environment, attestation_id)
      REFERENCES attestations (account_id, environment, id) ON DELETE CASCADE,
    CONSTRAINT reevaluation_marks_reevaluation_fkey FOREIGN KEY (account_id, environment, reevaluation_id)
      REFERENCES reevaluations (account_id, environment, id) ON DELETE CASCADE,
    CONSTRAINT reevaluation_marks_environment_check CHECK (environment IN ('sandbox', 'live')),
    CONSTRAINT reevaluation_marks_outcome_check CHECK (outcome IN ('changed', 'unchanged', 'failed', 'skipped'))
  );
  CREATE INDEX reevaluation_marks_outcome_idx ON reevaluation_marks (reevaluation_id, outcome, account_id, environment);
  ${tenant('reevaluation_marks')}
  GRANT SELECT, INSERT, UPDATE, DELETE ON reevaluation_marks TO countersign_app;
`

/** Row-level security of a tenant table, which the erasure of a closed account reaches too. */
function tenant(table: string): string {
  return `
    ALTER TABLE ${table} ENABLE ROW LEVEL SECURITY;
    ALTER TABLE ${table} FORCE ROW LEVEL SECURITY;
    CREATE POLICY ${table}_tenant ON ${table} TO countersign_app USING (${SCOPE}) WITH CHECK (${SCOPE});
    SELECT admit_erasure('${table}');`
}
