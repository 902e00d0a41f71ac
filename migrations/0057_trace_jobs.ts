import type { Knex } from 'knex'

const TENANT = `account_id = nullif(current_setting('app.account_id', true), '')
  AND environment = nullif(current_setting('app.environment', true), '')`

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- Attributions: what made a model say a token of a trace. request: what was asked, with all defaults. sealed_input: the
    -- input again, where the trace keeps hashes alone; gone when the job has ended. summary: of the graph. queue_job_id: its
    -- job in the backlog.
    CREATE TABLE trace_jobs (
      account_id text COLLATE "C" NOT NULL,
      environment text COLLATE "C" NOT NULL,
      id text COLLATE "C" NOT NULL,
      trace_id text COLLATE "C" NOT NULL,
      model_version_id text COLLATE "C" NOT NULL,
      method text COLLATE "C" NOT NULL,
      request jsonb NOT NULL,
      sealed_input bytea,
      state text COLLATE "C" NOT NULL DEFAULT 'queued',
      progress real NOT NULL DEFAULT 0,
      failure_code text COLLATE "C",
      failure_detail text,
      summary jsonb,
      manifest_hash text COLLATE "C",
      manifest_bytes integer,
      manifest_until timestamptz,
      queue_job_id uuid NOT NULL,
      created_by text COLLATE "C" NOT NULL,
      created_at timestamptz NOT NULL,
      started_at timestamptz,
      finished_at timestamptz,
      CONSTRAINT trace_jobs_pkey PRIMARY KEY (account_id, environment, id),
      CONSTRAINT trace_jobs_account_fkey FOREIGN KEY (account_id) REFERENCES accounts (id),
      CONSTRAINT trace_jobs_trace_fkey FOREIGN KEY (account_id, environment, trace_id)
        REFERENCES traces (account_id, environment, id) ON DELETE CASCADE,
      CONSTRAINT trace_jobs_environment_check CHECK (environment IN ('sandbox', 'live')),
      CONSTRAINT trace_jobs_state_check CHECK (state IN ('queued', 'running', 'succeeded', 'failed', 'cancelled')),
      CONSTRAINT trace_jobs_method_check CHECK (method IN ('exact', 'grad_x_act', 'ablation')),
      CONSTRAINT trace_jobs_progress_check CHECK (progress BETWEEN 0 AND 1),
      CONSTRAINT trace_jobs_succeeded_check CHECK ((state = 'succeeded') = (manifest_hash IS NOT NULL)
        AND num_nonnulls(summary, manifest_hash, manifest_bytes, manifest_until) IN (0, 4)),
      CONSTRAINT trace_jobs_failed_check CHECK ((state = 'failed') = (failure_code IS NOT NULL)),
      CONSTRAINT trace_jobs_finished_check
        CHECK ((state IN ('succeeded', 'failed', 'cancelled')) = (finished_at IS NOT NULL)),
      CONSTRAINT trace_jobs_input_check CHECK (finished_at IS NULL OR sealed_input IS NULL)
    );
    CREATE INDEX trace_jobs_trace_idx ON trace_jobs (trace_id, account_id, environment, id);
    CREATE INDEX trace_jobs_open_idx ON trace_jobs (account_id, environment) WHERE state IN ('queued', 'running');

    -- The manifest of a job that succeeded: RFC 8785 bytes, compressed and sealed, since they have the text of the prompt.
    CREATE TABLE trace_manifests (
      account_id text COLLATE "C" NOT NULL,
      environment text COLLATE "C" NOT NULL,
      id text COLLATE "C" NOT NULL,
      sealed_manifest bytea NOT NULL,
      created_at timestamptz NOT NULL,
      CONSTRAINT trace_manifests_pkey PRIMARY KEY (account_id, environment, id),
      CONSTRAINT trace_manifests_account_fkey FOREIGN KEY (account_id) REFERENCES accounts (id),
      CONSTRAINT trace_manifests_job_fkey FOREIGN KEY (account_id, environment, id)
        REFERENCES trace_jobs (account_id, environment, id) ON DELETE CASCADE,
      CONSTRAINT trace_manifests_environment_check CHECK (environment IN ('sandbox', 'live'))
    );
    -- It is compressed already.
    ALTER TABLE trace_manifests ALTER COLUMN sealed_manifest SET STORAGE EXTERNAL;

    ${['trace_jobs', 'trace_manifests']
      .map(
        (table) => `
    ALTER TABLE ${table} ENABLE ROW LEVEL SECURITY;
    ALTER TABLE ${table} FORCE ROW LEVEL SECURITY;
    CREATE POLICY ${table}_tenant ON ${table} TO countersign_app USING (${TENANT}) WITH CHECK (${TENANT});
    SELECT admit_erasure('${table}');`,
      )
      .join('\n')}
    -- DELETE is for retention.
    GRANT SELECT, INSERT, DELETE, UPDATE (sealed_input, state, progress, failure_code, failure_detail, summary,
      manifest_hash, manifest_bytes, manifest_until, started_at, finished_at) ON trace_jobs TO countersign_app;
    -- UPDATE: a rotation of the master key.
    GRANT SELECT, INSERT, DELETE, UPDATE (sealed_manifest) ON trace_manifests TO countersign_app;
  `)
}

export async function down(): Promise<void> {
  throw new Error('migrations only go forward: restore a backup instead')
}
