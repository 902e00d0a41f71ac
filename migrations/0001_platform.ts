// The platform: roles, accounts and the erasure of closed ones, the backlog of jobs, signing keys, and what requests
// with an Idempotency-Key did.

import type { Knex } from 'knex'

// Every index but the primary keys begins with the column that queries search by, not with the scope that row-level
// security adds to every query: a planner without statistics (the first minutes of a new installation) takes an index
// that begins with the scope for look-ups by id, foreign key checks among them, and reads all rows of the account each
// time. An index that begins with the scope serves lists or retention, and is partial where its condition can keep it
// from look-ups.
export async function up(knex: Knex): Promise<void> {
  await knex.raw(ROLES)
  await knex.raw(ACCOUNTS)
  await knex.raw(ERASURE)
  await knex.raw(JOBS)
  await knex.raw(KEYS)
}

export async function down(): Promise<void> {
  throw new Error('migrations only go forward: restore a backup instead')
}

// The two roles that transactions assume. Roles belong to the cluster and not to this database, so another database of
// the same cluster may have made them already; the exception covers two that migrate at the same moment.
const ROLES = `
  DO $$
  DECLARE role_name text;
  BEGIN
    FOREACH role_name IN ARRAY ARRAY['countersign_app', 'countersign_system'] LOOP
      BEGIN
        IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = role_name) THEN
          EXECUTE format('CREATE ROLE %I NOLOGIN NOSUPERUSER NOBYPASSRLS NOINHERIT', role_name);
        END IF;
      EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL;
      END;
    END LOOP;
  END $$;

  REVOKE CREATE ON SCHEMA public FROM PUBLIC;
  GRANT USAGE ON SCHEMA public TO countersign_app, countersign_system;

  -- Dispatch measures the oldest transaction of any role. An owner that is no superuser may not grant this right: the
  -- metric is then absent until an administrator grants it (docs/operate.md). Before Postgres 16 the syntax is
  -- different.
  DO $$ BEGIN
    EXECUTE 'GRANT pg_read_all_stats TO countersign_system WITH INHERIT TRUE';
  EXCEPTION WHEN insufficient_privilege OR syntax_error THEN NULL;
  END $$;
`

// The policies compare with a setting behind a SELECT, whose value is unknown to the planner: it expects as many rows
// as accounts have on average. A bare setting is evaluated when the statement is planned. For an account that is newer
// than the statistics, those say that it has no rows, and the planner then reads all of its rows by the primary key
// where another index would find one.
const ACCOUNT = `(SELECT nullif(current_setting('app.account_id', true), ''))`
const SCOPE = `account_id = ${ACCOUNT}
      AND environment = (SELECT nullif(current_setting('app.environment', true), ''))`

const ACCOUNTS = `
  -- is_public: the keys of the account are published, so everything in it is deleted after a week. It is set when the
  -- account is made: a publishable key that somebody makes later must not condemn what the account has.
  -- closed_at, closed_by: when, and by which owner, the account was closed; it can be reopened for 30 days.
  -- reopened_at, suspension_ended_at: failures of an endpoint from before are no reason to disable it. erased_after:
  -- 30 days after the closure, or after the end of a suspension that came later. The detour over UTC makes the
  -- expression immutable. erased_at: nothing but this row is left.
  -- version: counts the changes of name, plan and products.
  CREATE TABLE accounts (
    id text COLLATE "C" NOT NULL,
    name text NOT NULL,
    plan text NOT NULL,
    products text[] NOT NULL,
    version integer NOT NULL DEFAULT 1,
    is_public boolean NOT NULL DEFAULT false,
    created_at timestamptz NOT NULL DEFAULT now(),
    suspended_at timestamptz,
    suspension_reason text,
    suspension_ended_at timestamptz,
    closed_at timestamptz,
    closed_by text COLLATE "C",
    reopened_at timestamptz,
    erased_after timestamptz GENERATED ALWAYS AS (CASE WHEN closed_at IS NOT NULL THEN
      (greatest(closed_at, suspension_ended_at) AT TIME ZONE 'UTC' + interval '30 days') AT TIME ZONE 'UTC' END) STORED,
    erased_at timestamptz,
    CONSTRAINT accounts_pkey PRIMARY KEY (id),
    CONSTRAINT accounts_plan_check CHECK (plan IN ('developer', 'growth', 'enterprise')),
    CONSTRAINT accounts_suspension_check CHECK ((suspended_at IS NULL) = (suspension_reason IS NULL)),
    CONSTRAINT accounts_erased_check CHECK (erased_at IS NULL OR closed_at IS NOT NULL)
  );
  CREATE INDEX accounts_closed_idx ON accounts (closed_at) WHERE closed_at IS NOT NULL AND erased_at IS NULL;
  -- Few accounts are suspended. The dispatcher lists them in every round.
  CREATE INDEX accounts_suspended_idx ON accounts (id) WHERE suspended_at IS NOT NULL;

  -- Jobs belong to an account. Those of mails that are sent before an account exists belong to this one. It is inserted
  -- before row-level security binds the owner.
  INSERT INTO accounts (id, name, plan, products) VALUES ('acc_service', 'The service itself', 'developer', '{}');

  ALTER TABLE accounts ENABLE ROW LEVEL SECURITY;
  ALTER TABLE accounts FORCE ROW LEVEL SECURITY;
  CREATE POLICY accounts_tenant ON accounts TO countersign_app USING (id = ${ACCOUNT}) WITH CHECK (id = ${ACCOUNT});
  CREATE POLICY accounts_system ON accounts TO countersign_system USING (true) WITH CHECK (true);
  CREATE POLICY accounts_erasure ON accounts TO CURRENT_USER
    USING (id = nullif(current_setting('app.account_id', true), ''));
  GRANT SELECT, UPDATE (name, plan, products, version, closed_at, closed_by, reopened_at) ON accounts TO countersign_app;
  -- UPDATE (closed_at, closed_by): a person who accepts an invite to another account may close their own account with
  -- it, in a transaction without a tenant.
  GRANT SELECT (id, name, plan, products, version, is_public, created_at, suspended_at, suspension_reason,
      suspension_ended_at, closed_at, erased_after, erased_at),
    INSERT (id, name, plan, products, is_public),
    UPDATE (plan, products, version, suspended_at, suspension_reason, suspension_ended_at, closed_at, closed_by)
    ON accounts TO countersign_system;
`

// The erasure of a closed account deletes from every table, which neither role may. The owner of the tables does it in
// these functions. Row-level security binds the owner as well: to one account, which was closed 30 days ago.
const ERASURE = `
  -- Each migration calls it for each of its tenant tables.
  CREATE FUNCTION admit_erasure(target regclass) RETURNS void LANGUAGE plpgsql AS $$
  BEGIN
    EXECUTE format('CREATE POLICY %I ON %s TO CURRENT_USER USING (account_id = nullif(current_setting(%L, true), %L))',
      (SELECT relname FROM pg_class WHERE oid = target) || '_erasure', target, 'app.account_id', '');
  END $$;
  REVOKE ALL ON FUNCTION admit_erasure FROM PUBLIC;

  -- A suspended account is not erased: the operator has decided that it stays.
  CREATE FUNCTION require_closed(account text) RETURNS void LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
  BEGIN
    PERFORM set_config('app.account_id', account, true);
    PERFORM FROM accounts WHERE id = account AND erased_after <= now() AND erased_at IS NULL AND suspended_at IS NULL;
    IF NOT FOUND THEN
      RAISE EXCEPTION 'the account % was not closed 30 days ago, or is suspended', account;
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

  -- Whether an account has a row in one of some tables. The system role may read few tables, so the owner answers,
  -- bound to one account by the policies of the erasure. The setting is put back: the transaction has no tenant.
  CREATE FUNCTION has_rows(table_names text[], account text) RETURNS boolean
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
  DECLARE table_name text; found_one boolean;
  BEGIN
    PERFORM set_config('app.account_id', account, true);
    FOREACH table_name IN ARRAY table_names LOOP
      EXECUTE format('SELECT EXISTS (SELECT FROM %I WHERE account_id = $1)', table_name) INTO found_one USING account;
      EXIT WHEN found_one;
    END LOOP;
    PERFORM set_config('app.account_id', '', true);
    RETURN coalesce(found_one, false);
  END $$;

  REVOKE ALL ON FUNCTION require_closed, erase_closed_rows, finish_erasure, has_rows FROM PUBLIC;
  GRANT EXECUTE ON FUNCTION erase_closed_rows, finish_erasure, has_rows TO countersign_system;
`

const JOBS = `
  -- The durable backlog of every queue. Small and hot: settled rows leave after a day, and autovacuum runs early,
  -- because a skip-locked queue slows down with its dead rows. traceparent: the W3C trace context of the span that
  -- wrote the job, NULL unless that was traced; the job may be written, dispatched and run by three processes.
  CREATE TABLE jobs (
    id uuid NOT NULL,
    queue text COLLATE "C" NOT NULL,
    lane text COLLATE "C" NOT NULL,
    priority smallint NOT NULL,
    account_id text COLLATE "C" NOT NULL,
    environment text COLLATE "C" NOT NULL,
    payload jsonb NOT NULL,
    traceparent text COLLATE "C",
    state text COLLATE "C" NOT NULL DEFAULT 'queued',
    run_at timestamptz NOT NULL DEFAULT now(),
    dispatches integer NOT NULL DEFAULT 0,
    attempts integer NOT NULL DEFAULT 0,
    fence integer NOT NULL DEFAULT 0,
    lease_until timestamptz,
    last_error text,
    created_at timestamptz NOT NULL DEFAULT now(),
    dispatched_at timestamptz,
    started_at timestamptz,
    settled_at timestamptz,
    CONSTRAINT jobs_pkey PRIMARY KEY (id),
    CONSTRAINT jobs_account_fkey FOREIGN KEY (account_id) REFERENCES accounts (id),
    CONSTRAINT jobs_environment_check CHECK (environment IN ('sandbox', 'live')),
    CONSTRAINT jobs_state_check CHECK (state IN ('queued', 'dispatched', 'succeeded', 'dead', 'cancelled')),
    CONSTRAINT jobs_priority_check CHECK (priority IN (0, 1))
  ) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000,
    autovacuum_analyze_scale_factor = 0.05, autovacuum_vacuum_cost_delay = 0);
  CREATE INDEX jobs_due_idx ON jobs (queue, lane, priority, run_at) WHERE state = 'queued';
  CREATE INDEX jobs_in_flight_idx ON jobs (queue, lane) WHERE state = 'dispatched';
  CREATE INDEX jobs_dead_idx ON jobs (queue, settled_at) WHERE state = 'dead';
  -- The overview of an account counts its dead jobs.
  CREATE INDEX jobs_dead_account_idx ON jobs (account_id, environment, queue) WHERE state = 'dead';
  CREATE INDEX jobs_settled_idx ON jobs (settled_at) WHERE state IN ('succeeded', 'cancelled');
  -- Jobs that wait for the reopening of their account: see src/platform/jobs/hold.ts. No other statement matches its
  -- condition, so it may begin with the account.
  CREATE INDEX jobs_held_idx ON jobs (account_id)
    WHERE state = 'queued' AND run_at > timestamptz '2100-01-01 00:00:00+00';
  ${tenant('jobs')}
  CREATE POLICY jobs_system ON jobs TO countersign_system USING (true) WITH CHECK (true);
  -- A job of the queue deliver is deleted when it succeeds: its delivery and the attempts say what was done.
  GRANT SELECT, INSERT, UPDATE, DELETE ON jobs TO countersign_app;
  GRANT SELECT, INSERT (id, queue, lane, priority, account_id, environment, payload, traceparent, run_at), UPDATE
    (state, run_at, dispatches, attempts, fence, lease_until, last_error, dispatched_at, started_at, settled_at),
    DELETE ON jobs TO countersign_system;

  -- What applies to the queued jobs of one lane; a lane without a row has no limits of its own. held_until: no job is
  -- dispatched before. is_trial: from then on one at a time, until the lane is released. per_second, burst: a token
  -- bucket of dispatched jobs. The jobs keep their due times, so a hold writes one row, however many jobs wait.
  CREATE TABLE job_lanes (
    account_id text COLLATE "C" NOT NULL,
    environment text COLLATE "C" NOT NULL,
    queue text COLLATE "C" NOT NULL,
    lane text COLLATE "C" NOT NULL,
    held_until timestamptz,
    is_trial boolean NOT NULL DEFAULT false,
    most_in_flight integer,
    per_second double precision,
    burst double precision,
    tokens double precision,
    tokens_at timestamptz,
    CONSTRAINT job_lanes_pkey PRIMARY KEY (lane, queue, account_id, environment),
    CONSTRAINT job_lanes_account_fkey FOREIGN KEY (account_id) REFERENCES accounts (id),
    CONSTRAINT job_lanes_environment_check CHECK (environment IN ('sandbox', 'live')),
    CONSTRAINT job_lanes_most_check CHECK (most_in_flight > 0),
    CONSTRAINT job_lanes_rate_check CHECK (per_second > 0 AND burst >= 1),
    CONSTRAINT job_lanes_bucket_check CHECK ((per_second IS NULL) = (burst IS NULL)
      AND (per_second IS NULL) = (tokens IS NULL) AND (per_second IS NULL) = (tokens_at IS NULL))
  ) WITH (fillfactor = 50);
  ${tenant('job_lanes')}
  CREATE POLICY job_lanes_system ON job_lanes TO countersign_system USING (true) WITH CHECK (true);
  GRANT SELECT, INSERT, UPDATE, DELETE ON job_lanes TO countersign_app;
  GRANT SELECT, UPDATE (tokens, tokens_at) ON job_lanes TO countersign_system;

  -- Queues that operators paused. It belongs to the deployment and has no tenant.
  CREATE TABLE queues (
    queue text COLLATE "C" NOT NULL,
    paused_at timestamptz,
    CONSTRAINT queues_pkey PRIMARY KEY (queue)
  );
  GRANT SELECT, INSERT, UPDATE ON queues TO countersign_system;

  -- Worker processes that are alive. It belongs to the deployment and has no tenant.
  CREATE TABLE workers (
    id uuid NOT NULL,
    queue text COLLATE "C" NOT NULL,
    concurrency integer NOT NULL,
    heartbeat_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT workers_pkey PRIMARY KEY (id),
    CONSTRAINT workers_concurrency_check CHECK (concurrency > 0)
  );
  GRANT SELECT, INSERT, UPDATE, DELETE ON workers TO countersign_system;
`

const KEYS = `
  -- Keys of the deployment, not of a tenant: token keys retire when the last token has expired, record keys stay
  -- published for ever, because a signed result must verify years later. Private halves are sealed under MASTER_KEY.
  -- revoked_at, doubted_since: the key was compromised; what it signed since is not to be trusted.
  CREATE TABLE signing_keys (
    kid text COLLATE "C" NOT NULL,
    environment text COLLATE "C" NOT NULL,
    family text COLLATE "C" NOT NULL,
    public_jwk jsonb NOT NULL,
    sealed_private_key bytea NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    active_from timestamptz NOT NULL DEFAULT now(),
    retired_at timestamptz,
    revoked_at timestamptz,
    doubted_since timestamptz,
    CONSTRAINT signing_keys_pkey PRIMARY KEY (kid),
    CONSTRAINT signing_keys_environment_check CHECK (environment IN ('sandbox', 'live')),
    CONSTRAINT signing_keys_family_check CHECK (family IN ('token', 'record')),
    CONSTRAINT signing_keys_revocation_check CHECK ((revoked_at IS NULL) = (doubted_since IS NULL))
  );
  GRANT SELECT, INSERT, UPDATE (sealed_private_key, active_from, retired_at, revoked_at, doubted_since)
    ON signing_keys TO countersign_system;

  -- What a request with an Idempotency-Key did: a row in the transaction of its effect, so that neither is there
  -- without the other. It never has what was answered. Rows live for a day, and autovacuum runs early because as many
  -- leave as come. No foreign key to accounts: it would need an index of its own, and the rows of an account are gone
  -- in a day.
  CREATE TABLE idempotency_keys (
    account_id text COLLATE "C" NOT NULL,
    environment text COLLATE "C" NOT NULL,
    -- SHA-256 of what the caller sent: of one size whatever that was.
    key_digest bytea NOT NULL,
    -- Method and pattern, such as 'POST /v1/media'.
    route text COLLATE "C" NOT NULL,
    -- SHA-256 of method, path and body.
    fingerprint bytea NOT NULL,
    status smallint NOT NULL,
    -- Which rows a replay shows, as the route spells it; NULL where doing it again is the replay.
    subject text COLLATE "C",
    created_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT idempotency_keys_pkey PRIMARY KEY (key_digest, route, account_id, environment),
    CONSTRAINT idempotency_keys_environment_check CHECK (environment IN ('sandbox', 'live')),
    CONSTRAINT idempotency_keys_digests_check CHECK (octet_length(key_digest) = 32 AND octet_length(fingerprint) = 32),
    CONSTRAINT idempotency_keys_status_check CHECK (status BETWEEN 200 AND 299)
  ) WITH (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 1000);
  CREATE INDEX idempotency_keys_created_idx ON idempotency_keys (created_at);
  ${tenant('idempotency_keys')}
  CREATE POLICY idempotency_keys_system ON idempotency_keys TO countersign_system USING (true) WITH CHECK (true);
  -- A submission is stored as 202, and as 200 once its caller was told the result.
  GRANT SELECT, INSERT, UPDATE (status) ON idempotency_keys TO countersign_app;
  GRANT SELECT (account_id, environment, key_digest, route, created_at), DELETE
    ON idempotency_keys TO countersign_system;
`

/** Row-level security of a tenant table, which the erasure of a closed account reaches too. */
function tenant(table: string): string {
  return `
    ALTER TABLE ${table} ENABLE ROW LEVEL SECURITY;
    ALTER TABLE ${table} FORCE ROW LEVEL SECURITY;
    CREATE POLICY ${table}_tenant ON ${table} TO countersign_app USING (${SCOPE}) WITH CHECK (${SCOPE});
    SELECT admit_erasure('${table}');`
}
