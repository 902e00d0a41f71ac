import type { Knex } from 'knex'

const TENANT = `account_id = nullif(current_setting('app.account_id', true), '')
  AND environment = nullif(current_setting('app.environment', true), '')`

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
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

    ALTER TABLE job_lanes ENABLE ROW LEVEL SECURITY;
    ALTER TABLE job_lanes FORCE ROW LEVEL SECURITY;
    CREATE POLICY job_lanes_tenant ON job_lanes TO countersign_app USING (${TENANT}) WITH CHECK (${TENANT});
    CREATE POLICY job_lanes_system ON job_lanes TO countersign_system USING (true) WITH CHECK (true);
    SELECT admit_erasure('job_lanes');
    GRANT SELECT, INSERT, UPDATE, DELETE ON job_lanes TO countersign_app;
    GRANT SELECT, UPDATE (tokens, tokens_at) ON job_lanes TO countersign_system;
  `)
}

export async function down(): Promise<void> {
  throw new Error('migrations only go forward: restore a backup instead')
}
