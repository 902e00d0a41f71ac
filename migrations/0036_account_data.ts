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

    -- closed_at: by an owner (closed_by, a user); it can be undone for 30 days. erased_at: nothing else of it is left.
    ALTER TABLE accounts ADD COLUMN closed_at timestamptz, ADD COLUMN closed_by text COLLATE "C",
      ADD COLUMN erased_at timestamptz,
      ADD CONSTRAINT accounts_erased_check CHECK (erased_at IS NULL OR closed_at IS NOT NULL);
    CREATE INDEX accounts_closed_idx ON accounts (closed_at) WHERE closed_at IS NOT NULL AND erased_at IS NULL;
    GRANT UPDATE (products, closed_at, closed_by) ON accounts TO countersign_app;
    GRANT SELECT (closed_at, erased_at) ON accounts TO countersign_system;

    -- The erasure of a closed account deletes from every table, which neither role may. The owner of the tables does it
    -- in the two functions below, and is bound by row-level security as well: to one account, which was closed 30 days ago.
    CREATE FUNCTION admit_erasure(target regclass) RETURNS void LANGUAGE plpgsql AS $$
    BEGIN
      EXECUTE format('CREATE POLICY %I ON %s TO CURRENT_USER USING (account_id = nullif(current_setting(%L, true), %L))',
        (SELECT relname FROM pg_class WHERE oid = target) || '_erasure', target, 'app.account_id', '');
    END $$;
    REVOKE ALL ON FUNCTION admit_erasure FROM PUBLIC;
    DO $$
    DECLARE target regclass;
    BEGIN
      FOR target IN
        SELECT c.oid::regclass FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'account_id'
        WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND c.relrowsecurity
      LOOP
        PERFORM admit_erasure(target);
      END LOOP;
    END $$;
    CREATE POLICY accounts_erasure ON accounts TO CURRENT_USER USING (id = nullif(current_setting('app.account_id', true), ''));

    CREATE FUNCTION require_closed(account text) RETURNS void LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
    BEGIN
      PERFORM set_config('app.account_id', account, true);
      PERFORM FROM accounts WHERE id = account AND closed_at <= now() - interval '30 days' AND erased_at IS NULL;
      IF NOT FOUND THEN
        RAISE EXCEPTION 'the account % was not closed 30 days ago', account;
      END IF;
    END $$;
    CREATE FUNCTION erase_closed_rows(table_name text, account text, max_rows integer) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
    DECLARE gone bigint;
    BEGIN
      PERFORM require_closed(account);
      EXECUTE format('DELETE FROM %1$I WHERE ctid = ANY(ARRAY(SELECT ctid FROM %1$I WHERE account_id = $1 LIMIT $2))',
        table_name) USING account, max_rows;
      GET DIAGNOSTICS gone = ROW_COUNT;
      RETURN gone;
    END $$;
    CREATE FUNCTION finish_erasure(account text) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
    BEGIN
      PERFORM require_closed(account);
      UPDATE accounts SET name = 'Erased account', products = '{}', closed_by = NULL, erased_at = now() WHERE id = account;
    END $$;
    REVOKE ALL ON FUNCTION require_closed, erase_closed_rows, finish_erasure FROM PUBLIC;
    GRANT EXECUTE ON FUNCTION erase_closed_rows, finish_erasure TO countersign_system;
  `)
}

export async function down(): Promise<void> {
  throw new Error('migrations only go forward: restore a backup instead')
}
