// Attest: claims, the attestations of their captures with earlier results, and the cases that people decide.

import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(CLAIMS)
  await knex.raw(ATTESTATIONS)
  await knex.raw(CASES)
}

export async function down(): Promise<void> {
  throw new Error('migrations only go forward: restore a backup instead')
}

const SCOPE = `account_id = (SELECT nullif(current_setting('app.account_id', true), ''))
      AND environment = (SELECT nullif(current_setting('app.environment', true), ''))`

const CLAIMS = `
  -- reference: the insurer's claim number. risk_score is the highest of the attestations', provenance_status the worst.
  -- erasing_since closes a claim to new captures; erased_at says that everything is gone.
  -- A row changes soon after it was written: the room on its page makes its new version need no entry in any index (a
  -- heap-only tuple).
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
    erasing_since timestamptz,
    erased_at timestamptz,
    CONSTRAINT claims_pkey PRIMARY KEY (account_id, environment, id),
    CONSTRAINT claims_reference_key UNIQUE (reference, account_id, environment),
    CONSTRAINT claims_account_fkey FOREIGN KEY (account_id) REFERENCES accounts (id),
    CONSTRAINT claims_environment_check CHECK (environment IN ('sandbox', 'live')),
    CONSTRAINT claims_risk_status_check CHECK (risk_status IN ('pending', 'passed', 'review', 'failed')),
    CONSTRAINT claims_provenance_check
      CHECK (provenance_status IN ('verified', 'attested_unverified', 'unattested', 'broken')),
    CONSTRAINT claims_erased_check CHECK (erased_at IS NULL OR erasing_since IS NOT NULL)
  ) WITH (fillfactor = 70);
  -- The orders and filters of the list of claims.
  CREATE INDEX claims_risk_idx ON claims (risk_status, account_id, environment, id);
  CREATE INDEX claims_score_order_idx ON claims (account_id, environment, risk_score, id) WHERE risk_score IS NOT NULL;
  CREATE INDEX claims_update_order_idx ON claims (account_id, environment, updated_at, id);
  CREATE INDEX claims_provenance_idx ON claims (provenance_status, account_id, environment, id)
    WHERE provenance_status IS NOT NULL;
  CREATE INDEX claims_line_idx ON claims (line, account_id, environment, id) WHERE line IS NOT NULL;
  -- References of one account that begin with a text. Between two bounds of a text the index of the unique key has
  -- the rows of all accounts.
  CREATE INDEX claims_reference_prefix_idx ON claims (account_id, environment, reference) WHERE reference IS NOT NULL;
  CREATE INDEX claims_erasing_idx ON claims (account_id, environment, id)
    WHERE erasing_since IS NOT NULL AND erased_at IS NULL;
  ${tenant('claims')}
  GRANT SELECT, INSERT, UPDATE, DELETE ON claims TO countersign_app;

  -- rejected: [{line, errors}] of the lines that were refused at accept. repeated: [[line, attestation id]] of the
  -- accepted lines whose submission was there already.
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
  ${tenant('batches')}
  GRANT SELECT, INSERT, UPDATE, DELETE ON batches TO countersign_app;
`

const ATTESTATIONS = `
  -- submission: what was sent, as sent and parsed (bundle, signature, certificate chain, claim). video_chunks: the
  -- chunks of a long video as text: in a jsonb value Postgres would parse and write their 2.4 MB at each use.
  -- cancelled_external_id: the name that a cancelled capture had; external_id itself is free for another submission.
  -- facts: everything that the result was judged on, so that it can be judged again without the photo; erased with
  -- the claim. Its type is json: jsonb refuses what a photo may say of itself, such as a NUL. policy_version: 0 is
  -- the decided defaults. signer_id: the device whose key signed, where that is not the device that the bundle names.
  -- A row is written once and changed once, soon after: see claims for the fillfactor.
  -- attestations_claim_fkey is deferrable for batches, which insert their attestations before they lock and write
  -- their claims. For all other transactions it is checked at once.
  CREATE TABLE attestations (
    account_id text COLLATE "C" NOT NULL,
    environment text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    claim_id text COLLATE "C" NOT NULL,
    batch_id text COLLATE "C",
    batch_line integer,
    external_id text COLLATE "C",
    cancelled_external_id text COLLATE "C",
    content_digest bytea NOT NULL,
    media_id text COLLATE "C" NOT NULL,
    device_id text COLLATE "C",
    signer_id text COLLATE "C",
    submission jsonb NOT NULL,
    video_chunks text,
    job_id uuid NOT NULL,
    status text NOT NULL DEFAULT 'queued',
    accepted_at timestamptz NOT NULL DEFAULT now(),
    evaluated_at timestamptz,
    facts json,
    policy_version integer,
    rules_version text,
    risk_status text,
    risk_score integer,
    provenance_status text,
    hardware_tier text,
    factors jsonb,
    advisory_factors jsonb,
    observations jsonb,
    result_jws text,
    failure text,
    erased_at timestamptz,
    CONSTRAINT attestations_pkey PRIMARY KEY (account_id, environment, id),
    CONSTRAINT attestations_external_id_key UNIQUE (external_id, account_id, environment),
    CONSTRAINT attestations_batch_line_key UNIQUE (batch_id, account_id, environment, batch_line),
    CONSTRAINT attestations_claim_fkey FOREIGN KEY (account_id, environment, claim_id)
      REFERENCES claims (account_id, environment, id) DEFERRABLE INITIALLY IMMEDIATE,
    CONSTRAINT attestations_batch_fkey FOREIGN KEY (account_id, environment, batch_id)
      REFERENCES batches (account_id, environment, id),
    CONSTRAINT attestations_media_fkey FOREIGN KEY (account_id, environment, media_id)
      REFERENCES media (account_id, environment, id),
    CONSTRAINT attestations_environment_check CHECK (environment IN ('sandbox', 'live')),
    CONSTRAINT attestations_status_check CHECK (status IN ('queued', 'evaluated', 'failed', 'cancelled')),
    CONSTRAINT attestations_result_check CHECK ((status = 'evaluated') = (evaluated_at IS NOT NULL))
  ) WITH (fillfactor = 50);
  CREATE INDEX attestations_claim_idx ON attestations (claim_id, account_id, environment, id);
  -- The claims that show a medium, newest first, whatever the number of their captures.
  CREATE INDEX attestations_media_idx ON attestations (media_id, account_id, environment, claim_id);
  CREATE INDEX attestations_device_idx ON attestations (device_id, account_id, environment, id)
    WHERE device_id IS NOT NULL;
  CREATE INDEX attestations_signer_idx ON attestations (signer_id, account_id, environment, id)
    WHERE signer_id IS NOT NULL;
  -- Lines of batches without a result: the list of batches counts them, and the others are the rest.
  CREATE INDEX attestations_batch_open_idx ON attestations (batch_id, account_id, environment, status)
    WHERE batch_id IS NOT NULL AND status <> 'evaluated';
  -- External ids of one account that begin with a text: see claims_reference_prefix_idx.
  CREATE INDEX attestations_external_id_prefix_idx ON attestations (account_id, environment, external_id)
    WHERE external_id IS NOT NULL;

  -- lz4 takes a fifth of the time of pglz for a tenth more room, where Postgres was built with it. Without it,
  -- submissions are stored as they are: pglz is half of the 95 ms in which Postgres stores the 2.4 MB of a video with
  -- 10,000 chunks. A submission of a photo without hardware evidence has 1.8 KB, and nothing below 2 KB is
  -- compressed.
  DO $$
  BEGIN
    IF 'lz4' = ANY ((SELECT enumvals FROM pg_settings WHERE name = 'default_toast_compression')::text[]) THEN
      ALTER TABLE attestations ALTER COLUMN submission SET COMPRESSION lz4, ALTER COLUMN video_chunks SET COMPRESSION lz4,
        ALTER COLUMN facts SET COMPRESSION lz4, ALTER COLUMN factors SET COMPRESSION lz4,
        ALTER COLUMN advisory_factors SET COMPRESSION lz4, ALTER COLUMN observations SET COMPRESSION lz4,
        ALTER COLUMN result_jws SET COMPRESSION lz4;
    ELSE
      ALTER TABLE attestations ALTER COLUMN submission SET STORAGE EXTERNAL,
        ALTER COLUMN video_chunks SET STORAGE EXTERNAL;
    END IF;
  END $$;
  ${tenant('attestations')}
  GRANT SELECT, INSERT, UPDATE, DELETE ON attestations TO countersign_app;

  -- The results that later ones replaced. It has no factors beside the signed record, which has them.
  CREATE TABLE attestation_results (
    account_id text COLLATE "C" NOT NULL,
    environment text COLLATE "C" NOT NULL,
    attestation_id text COLLATE "C" NOT NULL,
    seq integer NOT NULL,
    evaluated_at timestamptz NOT NULL,
    replaced_at timestamptz NOT NULL DEFAULT now(),
    replaced_for text[] COLLATE "C" NOT NULL,
    risk_status text NOT NULL,
    risk_score integer NOT NULL,
    provenance_status text NOT NULL,
    hardware_tier text NOT NULL,
    rules_version text NOT NULL,
    policy_version integer NOT NULL,
    result_jws text NOT NULL,
    CONSTRAINT attestation_results_pkey PRIMARY KEY (attestation_id, seq, account_id, environment),
    CONSTRAINT attestation_results_attestation_fkey FOREIGN KEY (account_id, environment, attestation_id)
      REFERENCES attestations (account_id, environment, id) ON DELETE CASCADE,
    CONSTRAINT attestation_results_environment_check CHECK (environment IN ('sandbox', 'live'))
  );
  ${tenant('attestation_results')}
  GRANT SELECT, INSERT ON attestation_results TO countersign_app;
`

const CASES = `
  -- version counts the entries of the history: each change makes one, so a caller that read an older version can be
  -- refused. reason_code: the one of the last transition. fraud_actor: the first of the two people who must name a
  -- suspected fraud. fraud_key_id: the key through which they did; NULL: their own session. The review's clock runs
  -- while the case is open, the decision's afterwards; due_at is the one that counts. paused_at: since when the
  -- decision's clock stands still. claim_changed_at: when the claim of a closed case changed: such a case stays
  -- closed until somebody reopens it, and must be found.
  CREATE TABLE cases (
    account_id text COLLATE "C" NOT NULL,
    environment text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    claim_id text COLLATE "C" NOT NULL,
    state text COLLATE "C" NOT NULL DEFAULT 'open',
    reason_code text COLLATE "C",
    assignee text COLLATE "C",
    priority text COLLATE "C" NOT NULL DEFAULT 'normal',
    version integer NOT NULL DEFAULT 1,
    fraud_actor text COLLATE "C",
    fraud_key_id text COLLATE "C",
    review_due_at timestamptz NOT NULL,
    decision_due_at timestamptz NOT NULL,
    due_at timestamptz,
    paused_at timestamptz,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    closed_at timestamptz,
    claim_changed_at timestamptz,
    CONSTRAINT cases_pkey PRIMARY KEY (account_id, environment, id),
    CONSTRAINT cases_claim_fkey FOREIGN KEY (account_id, environment, claim_id)
      REFERENCES claims (account_id, environment, id),
    CONSTRAINT cases_environment_check CHECK (environment IN ('sandbox', 'live')),
    CONSTRAINT cases_state_check CHECK (state IN
      ('open', 'in_review', 'info_requested', 'escalated', 'approved', 'denied', 'withdrawn', 'closed_undecided')),
    CONSTRAINT cases_priority_check CHECK (priority IN ('low', 'normal', 'high', 'urgent')),
    CONSTRAINT cases_paused_check CHECK ((state = 'info_requested') = (paused_at IS NOT NULL)),
    CONSTRAINT cases_closed_check
      CHECK ((state IN ('approved', 'denied', 'withdrawn', 'closed_undecided')) = (closed_at IS NOT NULL)),
    CONSTRAINT cases_due_check CHECK (due_at IS NOT DISTINCT FROM
      CASE WHEN closed_at IS NOT NULL THEN NULL WHEN state = 'open' THEN review_due_at ELSE decision_due_at END),
    CONSTRAINT cases_reason_check CHECK (closed_at IS NULL OR reason_code IS NOT NULL),
    CONSTRAINT cases_claim_changed_check CHECK (claim_changed_at IS NULL OR closed_at IS NOT NULL)
  );
  CREATE UNIQUE INDEX cases_open_claim_key ON cases (claim_id, account_id, environment) WHERE closed_at IS NULL;
  CREATE INDEX cases_claim_idx ON cases (claim_id, account_id, environment, id);
  -- The orders and filters of the list of cases.
  CREATE INDEX cases_assignee_idx ON cases (assignee, account_id, environment, id) WHERE assignee IS NOT NULL;
  CREATE INDEX cases_unassigned_idx ON cases (account_id, environment, id) WHERE assignee IS NULL;
  CREATE INDEX cases_state_idx ON cases (state, account_id, environment, id);
  CREATE INDEX cases_priority_idx ON cases (priority, account_id, environment, id);
  CREATE INDEX cases_reason_idx ON cases (reason_code, account_id, environment, id) WHERE reason_code IS NOT NULL;
  CREATE INDEX cases_due_order_idx ON cases (account_id, environment, due_at, id) WHERE due_at IS NOT NULL;
  CREATE INDEX cases_claim_changed_idx ON cases (account_id, environment, id) WHERE claim_changed_at IS NOT NULL;
  CREATE INDEX cases_of_open_claims_idx ON cases (account_id, environment, claim_id) WHERE closed_at IS NULL;
  -- Open cases that wait for people.
  CREATE INDEX cases_waiting_idx ON cases (account_id, environment, assignee) INCLUDE (due_at) WHERE closed_at IS NULL;
  -- Analytics by the time of the end.
  CREATE INDEX cases_closed_idx ON cases (account_id, environment, closed_at)
    INCLUDE (claim_id, state, reason_code) WHERE closed_at IS NOT NULL;
  ${tenant('cases')}
  GRANT SELECT, INSERT, UPDATE, DELETE ON cases TO countersign_app;

  -- The history of a case, which only grows. key_id: the API key that was used. actor: the person that the key named,
  -- NULL for what the service did by itself.
  CREATE TABLE case_entries (
    account_id text COLLATE "C" NOT NULL,
    environment text COLLATE "C" NOT NULL,
    case_id text COLLATE "C" NOT NULL,
    seq integer NOT NULL,
    kind text COLLATE "C" NOT NULL,
    actor text COLLATE "C",
    key_id text COLLATE "C",
    from_state text COLLATE "C",
    to_state text COLLATE "C",
    reason_code text COLLATE "C",
    note text,
    note_erased_at timestamptz,
    changes jsonb,
    at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT case_entries_pkey PRIMARY KEY (account_id, environment, case_id, seq),
    CONSTRAINT case_entries_case_fkey FOREIGN KEY (account_id, environment, case_id)
      REFERENCES cases (account_id, environment, id) ON DELETE CASCADE,
    CONSTRAINT case_entries_environment_check CHECK (environment IN ('sandbox', 'live')),
    CONSTRAINT case_entries_kind_check
      CHECK (kind IN ('opened', 'escalated', 'proposed', 'transitioned', 'noted', 'changed')),
    CONSTRAINT case_entries_erased_check CHECK (note IS NULL OR note_erased_at IS NULL)
  );
  ${tenant('case_entries')}
  -- An entry never changes, except that its note is erased with the claim that it speaks of.
  CREATE POLICY case_entries_erasing ON case_entries AS RESTRICTIVE FOR UPDATE TO countersign_app
    USING (note IS NOT NULL) WITH CHECK (note IS NULL AND note_erased_at IS NOT NULL);
  GRANT SELECT, INSERT, UPDATE (note, note_erased_at) ON case_entries TO countersign_app;
`

/** Row-level security of a tenant table, which the erasure of a closed account reaches too. */
function tenant(table: string): string {
  return `
    ALTER TABLE ${table} ENABLE ROW LEVEL SECURITY;
    ALTER TABLE ${table} FORCE ROW LEVEL SECURITY;
    CREATE POLICY ${table}_tenant ON ${table} TO countersign_app USING (${SCOPE}) WITH CHECK (${SCOPE});
    SELECT admit_erasure('${table}');`
}
