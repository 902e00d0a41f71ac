import type { Knex } from 'knex'

const TENANT = `account_id = nullif(current_setting('app.account_id', true), '')
  AND environment = nullif(current_setting('app.environment', true), '')`

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- Prompts that an account compares models with. sealed_prompts: their canonical JSON, of which sha256 is the hash.
    CREATE TABLE eval_sets (
      account_id text COLLATE "C" NOT NULL,
      environment text COLLATE "C" NOT NULL,
      id text COLLATE "C" NOT NULL,
      name text NOT NULL,
      prompts integer NOT NULL,
      sha256 bytea NOT NULL,
      sealed_prompts bytea NOT NULL,
      created_by text COLLATE "C" NOT NULL,
      created_at timestamptz NOT NULL,
      CONSTRAINT eval_sets_pkey PRIMARY KEY (account_id, environment, id),
      CONSTRAINT eval_sets_account_fkey FOREIGN KEY (account_id) REFERENCES accounts (id),
      CONSTRAINT eval_sets_environment_check CHECK (environment IN ('sandbox', 'live')),
      CONSTRAINT eval_sets_sha256_check CHECK (length(sha256) = 32)
    );

    -- Two model versions compared. eval_set: the name of a set of the service, or the id of one of the account, which may
    -- be deleted meanwhile. report: canonical JSON, of which report_hash is the hash; text, so that no byte of it changes.
    CREATE TABLE model_diffs (
      account_id text COLLATE "C" NOT NULL,
      environment text COLLATE "C" NOT NULL,
      id text COLLATE "C" NOT NULL,
      state text COLLATE "C" NOT NULL DEFAULT 'queued',
      base_model text COLLATE "C" NOT NULL,
      target_model text COLLATE "C" NOT NULL,
      eval_set text COLLATE "C" NOT NULL,
      thresholds jsonb NOT NULL,
      seed bigint NOT NULL,
      job_id uuid NOT NULL,
      prompts integer NOT NULL,
      prompts_done integer NOT NULL DEFAULT 0,
      pass boolean,
      verdict text COLLATE "C",
      families_drifted text[] COLLATE "C",
      report text,
      report_hash bytea,
      failure_code text COLLATE "C",
      failure text,
      created_by text COLLATE "C" NOT NULL,
      created_at timestamptz NOT NULL,
      started_at timestamptz,
      finished_at timestamptz,
      CONSTRAINT model_diffs_pkey PRIMARY KEY (account_id, environment, id),
      CONSTRAINT model_diffs_account_fkey FOREIGN KEY (account_id) REFERENCES accounts (id),
      CONSTRAINT model_diffs_environment_check CHECK (environment IN ('sandbox', 'live')),
      CONSTRAINT model_diffs_state_check CHECK (state IN ('queued', 'running', 'succeeded', 'failed', 'cancelled')),
      CONSTRAINT model_diffs_report_check CHECK (
        (state = 'succeeded') = (report IS NOT NULL) AND (report IS NULL) = (report_hash IS NULL)
        AND (report IS NULL) = (verdict IS NULL) AND (report IS NULL) = (pass IS NULL)
        AND (report IS NULL) = (families_drifted IS NULL)
      ),
      CONSTRAINT model_diffs_failure_check CHECK ((state = 'failed') = (failure_code IS NOT NULL))
    );
    CREATE INDEX model_diffs_open_idx ON model_diffs (account_id, environment, id) WHERE state IN ('queued', 'running');

    -- How far a running diff has come, so that a worker that takes it over continues there. neurons: float64, little-endian.
    CREATE TABLE diff_checkpoints (
      account_id text COLLATE "C" NOT NULL,
      environment text COLLATE "C" NOT NULL,
      diff_id text COLLATE "C" NOT NULL,
      done integer NOT NULL,
      measures jsonb NOT NULL,
      neurons bytea NOT NULL,
      CONSTRAINT diff_checkpoints_pkey PRIMARY KEY (account_id, environment, diff_id),
      CONSTRAINT diff_checkpoints_diff_fkey FOREIGN KEY (account_id, environment, diff_id)
        REFERENCES model_diffs (account_id, environment, id) ON DELETE CASCADE,
      CONSTRAINT diff_checkpoints_environment_check CHECK (environment IN ('sandbox', 'live'))
    );

    ${['eval_sets', 'model_diffs', 'diff_checkpoints']
      .map(
        (table) => `
    ALTER TABLE ${table} ENABLE ROW LEVEL SECURITY;
    ALTER TABLE ${table} FORCE ROW LEVEL SECURITY;
    CREATE POLICY ${table}_tenant ON ${table} TO countersign_app USING (${TENANT}) WITH CHECK (${TENANT});
    SELECT admit_erasure('${table}');`,
      )
      .join('\n')}
    -- The key rotation seals prompts again.
    GRANT SELECT, INSERT, DELETE, UPDATE (sealed_prompts) ON eval_sets TO countersign_app;
    GRANT SELECT, INSERT, DELETE,
      UPDATE (state, prompts_done, pass, verdict, families_drifted, report, report_hash, failure_code, failure, started_at, finished_at)
      ON model_diffs TO countersign_app;
    GRANT SELECT, INSERT, UPDATE (done, measures, neurons), DELETE ON diff_checkpoints TO countersign_app;
  `)
}

export async function down(): Promise<void> {
  throw new Error('migrations only go forward: restore a backup instead')
}
