// Authorize, clinician orders: the exclusion lists LEIE and SAM, and what prescribers were found on them.

import type { Knex } from 'knex'

const SCOPE = `account_id = (SELECT nullif(current_setting('app.account_id', true), ''))
      AND environment = (SELECT nullif(current_setting('app.environment', true), ''))`

const TABLES = [
  'exclusion_imports',
  'exclusion_pointers',
  'exclusion_screenings',
  'exclusion_changes',
  'exclusion_reviews',
]

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- The secret of the keys that prescribers and rows of lists are compared by: one row. A rotation of the master key seals it
    -- again, and the keys stay the same.
    CREATE TABLE exclusion_secrets (
      id text COLLATE "C" NOT NULL,
      sealed_secret bytea NOT NULL,
      CONSTRAINT exclusion_secrets_pkey PRIMARY KEY (id),
      CONSTRAINT exclusion_secrets_id_check CHECK (id = 'match')
    );
    GRANT SELECT, INSERT, UPDATE (sealed_secret) ON exclusion_secrets TO countersign_system;

    -- The content of a list: published, and the same for each account whose pointer names it. A row and its entries are derived
    -- from the bytes alone and never change. kind: a full list, or a monthly supplement of LEIE merged with base_id.
    CREATE TABLE exclusion_files (
      id bigint GENERATED ALWAYS AS IDENTITY,
      list text COLLATE "C" NOT NULL,
      kind text COLLATE "C" NOT NULL,
      sha256 bytea NOT NULL,
      base_id bigint,
      rows integer NOT NULL,
      newest_on date,
      created_at timestamptz NOT NULL DEFAULT now(),
      CONSTRAINT exclusion_files_pkey PRIMARY KEY (id),
      CONSTRAINT exclusion_files_content_key UNIQUE NULLS NOT DISTINCT (sha256, list, kind, base_id),
      CONSTRAINT exclusion_files_base_fkey FOREIGN KEY (base_id) REFERENCES exclusion_files (id),
      CONSTRAINT exclusion_files_list_check CHECK (list IN ('leie', 'sam')),
      CONSTRAINT exclusion_files_kind_check CHECK (kind = 'full' OR (list = 'leie' AND kind IN ('excl', 'rein'))),
      CONSTRAINT exclusion_files_base_check CHECK ((kind = 'full') = (base_id IS NULL)),
      CONSTRAINT exclusion_files_sha256_check CHECK (octet_length(sha256) = 32),
      CONSTRAINT exclusion_files_rows_check CHECK (rows > 0)
    );
    CREATE INDEX exclusion_files_base_idx ON exclusion_files (base_id) WHERE base_id IS NOT NULL;

    -- One row of a list. row_hash: SHA-256 of its columns. identity: what a reinstatement is recognized by. match_full, match_name,
    -- match_state: keyed hashes, compared with those of prescribers. ended_on: the first day on which it excludes no more.
    CREATE TABLE exclusion_entries (
      file_id bigint NOT NULL,
      row_number integer NOT NULL,
      row_hash bytea NOT NULL,
      identity bytea,
      npi text COLLATE "C",
      match_full bytea,
      match_name bytea,
      match_state bytea,
      started_on date,
      ended_on date,
      waived_in text COLLATE "C",
      waived_on date,
      CONSTRAINT exclusion_entries_pkey PRIMARY KEY (file_id, row_number),
      CONSTRAINT exclusion_entries_file_fkey FOREIGN KEY (file_id) REFERENCES exclusion_files (id) ON DELETE CASCADE,
      CONSTRAINT exclusion_entries_hash_check CHECK (octet_length(row_hash) = 32),
      CONSTRAINT exclusion_entries_npi_check CHECK (npi ~ '^[0-9]{10}$' AND npi <> '0000000000')
    );
    CREATE INDEX exclusion_entries_npi_idx ON exclusion_entries (npi, file_id) WHERE npi IS NOT NULL;
    CREATE INDEX exclusion_entries_full_idx ON exclusion_entries (match_full, file_id) WHERE match_full IS NOT NULL;
    CREATE INDEX exclusion_entries_name_idx ON exclusion_entries (match_name, file_id) WHERE match_name IS NOT NULL;
    CREATE INDEX exclusion_entries_state_idx ON exclusion_entries (match_state, file_id) WHERE match_state IS NOT NULL;
    -- The files are read through pointers, and have nothing of an account.
    GRANT SELECT, INSERT ON exclusion_files, exclusion_entries TO countersign_app;
    GRANT SELECT, DELETE ON exclusion_files TO countersign_system;

    -- An upload of a list. rows: of the list after the import. list_date: of the file's name or its newest entry. requested_by: a key,
    -- a user or the operator. Its bytes stay in the store; file_id is NULL once the entries are deleted.
    CREATE TABLE exclusion_imports (
      account_id text COLLATE "C" NOT NULL,
      environment text COLLATE "C" NOT NULL,
      id text COLLATE "C" NOT NULL,
      list text COLLATE "C" NOT NULL,
      kind text COLLATE "C" NOT NULL,
      file_name text,
      sha256 bytea NOT NULL,
      size bigint NOT NULL,
      is_forced boolean NOT NULL,
      status text COLLATE "C" NOT NULL DEFAULT 'queued',
      failure_code text COLLATE "C",
      failure_detail text,
      file_id bigint,
      rows integer,
      list_date date,
      requested_by text COLLATE "C" NOT NULL,
      created_at timestamptz NOT NULL,
      finished_at timestamptz,
      CONSTRAINT exclusion_imports_pkey PRIMARY KEY (account_id, environment, id),
      CONSTRAINT exclusion_imports_account_fkey FOREIGN KEY (account_id) REFERENCES accounts (id),
      CONSTRAINT exclusion_imports_file_fkey FOREIGN KEY (file_id) REFERENCES exclusion_files (id) ON DELETE SET NULL,
      CONSTRAINT exclusion_imports_environment_check CHECK (environment IN ('sandbox', 'live')),
      CONSTRAINT exclusion_imports_list_check CHECK (list IN ('leie', 'sam')),
      CONSTRAINT exclusion_imports_status_check CHECK (status IN ('queued', 'running', 'succeeded', 'failed')),
      CONSTRAINT exclusion_imports_succeeded_check CHECK (status <> 'succeeded' OR (rows IS NOT NULL AND list_date IS NOT NULL))
    );
    CREATE INDEX exclusion_imports_file_idx ON exclusion_imports (file_id) WHERE file_id IS NOT NULL;
    CREATE INDEX exclusion_imports_sha256_idx ON exclusion_imports (sha256, account_id, environment);

    -- The file that is in force. Rows of the service's own account are the operator's, for accounts without a row of their own.
    CREATE TABLE exclusion_pointers (
      account_id text COLLATE "C" NOT NULL,
      environment text COLLATE "C" NOT NULL,
      list text COLLATE "C" NOT NULL,
      file_id bigint NOT NULL,
      list_date date NOT NULL,
      import_id text COLLATE "C" NOT NULL,
      changed_at timestamptz NOT NULL,
      CONSTRAINT exclusion_pointers_pkey PRIMARY KEY (account_id, environment, list),
      CONSTRAINT exclusion_pointers_import_fkey FOREIGN KEY (account_id, environment, import_id)
        REFERENCES exclusion_imports (account_id, environment, id),
      CONSTRAINT exclusion_pointers_file_fkey FOREIGN KEY (file_id) REFERENCES exclusion_files (id)
    );
    CREATE INDEX exclusion_pointers_import_idx ON exclusion_pointers (import_id, account_id, environment);
    CREATE INDEX exclusion_pointers_file_idx ON exclusion_pointers (file_id);

    -- A comparison of all prescribers with the lists in force. cause: the list that was imported, or prescribers who changed.
    CREATE TABLE exclusion_screenings (
      account_id text COLLATE "C" NOT NULL,
      environment text COLLATE "C" NOT NULL,
      id text COLLATE "C" NOT NULL,
      cause text COLLATE "C" NOT NULL,
      status text COLLATE "C" NOT NULL DEFAULT 'queued',
      failure_detail text,
      screened integer NOT NULL DEFAULT 0,
      changed integer NOT NULL DEFAULT 0,
      created_at timestamptz NOT NULL,
      finished_at timestamptz,
      CONSTRAINT exclusion_screenings_pkey PRIMARY KEY (account_id, environment, id),
      CONSTRAINT exclusion_screenings_account_fkey FOREIGN KEY (account_id) REFERENCES accounts (id),
      CONSTRAINT exclusion_screenings_environment_check CHECK (environment IN ('sandbox', 'live')),
      CONSTRAINT exclusion_screenings_cause_check CHECK (cause IN ('leie', 'sam', 'prescribers')),
      CONSTRAINT exclusion_screenings_status_check CHECK (status IN ('queued', 'running', 'succeeded', 'failed'))
    );
    -- One that has not begun reads everything that changed before.
    CREATE UNIQUE INDEX exclusion_screenings_queued_key ON exclusion_screenings (account_id, environment, cause)
      WHERE status = 'queued';

    -- What a screening found to differ from the one before. evidence: list, row hash, list date and kind of match.
    CREATE TABLE exclusion_changes (
      account_id text COLLATE "C" NOT NULL,
      environment text COLLATE "C" NOT NULL,
      screening_id text COLLATE "C" NOT NULL,
      prescriber_id text COLLATE "C" NOT NULL,
      status_before text COLLATE "C" NOT NULL,
      status text COLLATE "C" NOT NULL,
      evidence jsonb NOT NULL,
      changed_at timestamptz NOT NULL,
      CONSTRAINT exclusion_changes_pkey PRIMARY KEY (screening_id, account_id, environment, prescriber_id),
      CONSTRAINT exclusion_changes_screening_fkey FOREIGN KEY (account_id, environment, screening_id)
        REFERENCES exclusion_screenings (account_id, environment, id) ON DELETE CASCADE,
      CONSTRAINT exclusion_changes_status_check CHECK (status IN ('clear', 'review', 'excluded')
        AND status_before IN ('clear', 'review', 'excluded') AND status <> status_before)
    );
    CREATE INDEX exclusion_changes_prescriber_idx ON exclusion_changes (prescriber_id, account_id, environment, screening_id);

    -- A row of a list that may be the prescriber's, and what a person decided. The decision holds for the row in later files too.
    CREATE TABLE exclusion_reviews (
      account_id text COLLATE "C" NOT NULL,
      environment text COLLATE "C" NOT NULL,
      id text COLLATE "C" NOT NULL,
      prescriber_id text COLLATE "C" NOT NULL,
      list text COLLATE "C" NOT NULL,
      row_hash bytea NOT NULL,
      list_date date NOT NULL,
      matched_on text COLLATE "C" NOT NULL,
      status text COLLATE "C" NOT NULL DEFAULT 'open',
      reason text,
      decided_by text COLLATE "C",
      decided_at timestamptz,
      created_at timestamptz NOT NULL,
      CONSTRAINT exclusion_reviews_pkey PRIMARY KEY (account_id, environment, id),
      CONSTRAINT exclusion_reviews_row_key UNIQUE (prescriber_id, account_id, environment, list, row_hash),
      CONSTRAINT exclusion_reviews_account_fkey FOREIGN KEY (account_id) REFERENCES accounts (id),
      CONSTRAINT exclusion_reviews_environment_check CHECK (environment IN ('sandbox', 'live')),
      CONSTRAINT exclusion_reviews_list_check CHECK (list IN ('leie', 'sam')),
      CONSTRAINT exclusion_reviews_status_check CHECK (status IN ('open', 'cleared', 'confirmed')),
      CONSTRAINT exclusion_reviews_decided_check CHECK ((status = 'open') = (decided_at IS NULL)
        AND (status = 'open') = (decided_by IS NULL) AND (status = 'open') = (reason IS NULL))
    );

    ${TABLES.map(
      (table) => `
    ALTER TABLE ${table} ENABLE ROW LEVEL SECURITY;
    ALTER TABLE ${table} FORCE ROW LEVEL SECURITY;
    CREATE POLICY ${table}_tenant ON ${table} TO countersign_app USING (${SCOPE}) WITH CHECK (${SCOPE});
    SELECT admit_erasure('${table}');`,
    ).join('\n')}
    CREATE POLICY exclusion_pointers_operator ON exclusion_pointers FOR SELECT TO countersign_app USING (account_id = 'acc_service');
    CREATE POLICY exclusion_pointers_system ON exclusion_pointers FOR SELECT TO countersign_system USING (true);
    CREATE POLICY exclusion_imports_system ON exclusion_imports FOR SELECT TO countersign_system USING (true);
    CREATE POLICY exclusion_screenings_system ON exclusion_screenings FOR SELECT TO countersign_system USING (true);
    CREATE POLICY prescribers_system ON prescribers FOR SELECT TO countersign_system USING (true);
    GRANT SELECT, INSERT, DELETE, UPDATE (status, failure_code, failure_detail, file_id, rows, list_date, finished_at)
      ON exclusion_imports TO countersign_app;
    GRANT SELECT, INSERT, UPDATE (file_id, list_date, import_id, changed_at) ON exclusion_pointers TO countersign_app;
    GRANT SELECT, INSERT, DELETE, UPDATE (status, failure_detail, screened, changed, finished_at) ON exclusion_screenings TO countersign_app;
    GRANT SELECT, INSERT ON exclusion_changes TO countersign_app;
    GRANT SELECT, INSERT, UPDATE (status, reason, decided_by, decided_at) ON exclusion_reviews TO countersign_app;
    -- Waiting callers, files that no row names, and accounts to screen.
    GRANT SELECT (account_id, environment, id, status) ON exclusion_imports TO countersign_system;
    GRANT SELECT (account_id, environment, list, file_id, changed_at) ON exclusion_pointers TO countersign_system;
    GRANT SELECT (account_id, environment, created_at) ON exclusion_screenings TO countersign_system;
    GRANT SELECT (account_id, environment, updated_at) ON prescribers TO countersign_system;
  `)
}

export async function down(): Promise<void> {
  throw new Error('migrations only go forward: restore a backup instead')
}
