import type { Knex } from 'knex'

// Of an account, whatever the environment.
const TENANT = `account_id = nullif(current_setting('app.account_id', true), '')`

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- The log is read by one of these at a time. Reads of media are most of its rows, and one action alone may be rare.
    CREATE INDEX audit_entries_action_idx ON audit_entries (account_id, action, id);
    CREATE INDEX audit_entries_actor_idx ON audit_entries (actor_id, account_id, id);
    CREATE INDEX audit_entries_subject_idx ON audit_entries (subject_id, account_id, id) WHERE subject_id IS NOT NULL;
    -- Retention runs in the system role: a request can't delete what it did.
    GRANT SELECT (account_id, id, at, environment), DELETE ON audit_entries TO countersign_system;

    -- Archives of everything that an account has. sha256: of the archive, by which the store keeps it beside the media of
    -- the live environment.
    CREATE TABLE account_exports (
      account_id text COLLATE "C" NOT NULL,
      id text COLLATE "C" NOT NULL,
      state text COLLATE "C" NOT NULL DEFAULT 'queued',
      includes_media boolean NOT NULL,
      requested_by text COLLATE "C" NOT NULL,
      job_id uuid NOT NULL,
      files_done integer NOT NULL DEFAULT 0,
      rows_done bigint NOT NULL DEFAULT 0,
      size bigint,
      sha256 bytea,
      failure text,
      created_at timestamptz NOT NULL DEFAULT now(),
      finished_at timestamptz,
      expires_at timestamptz,
      CONSTRAINT account_exports_pkey PRIMARY KEY (account_id, id),
      CONSTRAINT account_exports_account_fkey FOREIGN KEY (account_id) REFERENCES accounts (id),
      CONSTRAINT account_exports_state_check CHECK (state IN ('queued', 'running', 'ready', 'failed', 'expired')),
      CONSTRAINT account_exports_sha256_check CHECK (octet_length(sha256) = 32),
      CONSTRAINT account_exports_ready_check CHECK (state <> 'ready' OR (sha256 IS NOT NULL AND expires_at IS NOT NULL))
    );
    -- One at a time.
    CREATE UNIQUE INDEX account_exports_unfinished_key ON account_exports (account_id) WHERE state IN ('queued', 'running');
    ALTER TABLE account_exports ENABLE ROW LEVEL SECURITY;
    ALTER TABLE account_exports FORCE ROW LEVEL SECURITY;
    CREATE POLICY account_exports_tenant ON account_exports TO countersign_app USING (${TENANT}) WITH CHECK (${TENANT});
    GRANT SELECT, INSERT, UPDATE ON account_exports TO countersign_app;

    GRANT UPDATE (products) ON accounts TO countersign_app;
  `)
}

export async function down(): Promise<void> {
  throw new Error('migrations only go forward: restore a backup instead')
}
