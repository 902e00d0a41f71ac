import type { Knex } from 'knex'

const TENANT = `account_id = nullif(current_setting('app.account_id', true), '')
  AND environment = nullif(current_setting('app.environment', true), '')`

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- An inference is a trace too. canary_set is null where the model took no readings. prompt_hash, completion_hash: base64url;
    -- a withheld completion has none. token_facts: log probabilities and readings of each window, and nothing of a withheld
    -- completion. text_until: until when its text is in trace_contents; null: it never was.
    ALTER TABLE traces ALTER COLUMN canary_set DROP NOT NULL;
    ALTER TABLE traces
      ADD COLUMN model text COLLATE "C",
      ADD COLUMN finish_reason text COLLATE "C",
      ADD COLUMN prompt_hash text COLLATE "C",
      ADD COLUMN completion_hash text COLLATE "C",
      ADD COLUMN prompt_tokens integer,
      ADD COLUMN completion_tokens integer,
      ADD COLUMN max_tokens integer,
      ADD COLUMN sampling jsonb,
      ADD COLUMN token_facts jsonb,
      ADD COLUMN text_until timestamptz,
      ADD CONSTRAINT traces_finish_reason_check CHECK (finish_reason IN ('stop', 'length', 'canary_tripped')),
      ADD CONSTRAINT traces_inference_check CHECK (num_nonnulls(model, finish_reason, prompt_hash, prompt_tokens,
        completion_tokens, max_tokens, sampling, token_facts) IN (0, 8)),
      ADD CONSTRAINT traces_completion_check CHECK ((completion_hash IS NOT NULL) =
        (finish_reason IS NOT NULL AND finish_reason <> 'canary_tripped')),
      ADD CONSTRAINT traces_canary_set_check CHECK (canary_set IS NOT NULL OR model IS NOT NULL);

    -- What retain: 'text' keeps for 30 days: the input, its tokens and those of the completion, sealed.
    CREATE TABLE trace_contents (
      account_id text COLLATE "C" NOT NULL,
      environment text COLLATE "C" NOT NULL,
      id text COLLATE "C" NOT NULL,
      sealed_content bytea NOT NULL,
      created_at timestamptz NOT NULL,
      CONSTRAINT trace_contents_pkey PRIMARY KEY (account_id, environment, id),
      CONSTRAINT trace_contents_account_fkey FOREIGN KEY (account_id) REFERENCES accounts (id),
      CONSTRAINT trace_contents_trace_fkey FOREIGN KEY (account_id, environment, id)
        REFERENCES traces (account_id, environment, id) ON DELETE CASCADE,
      CONSTRAINT trace_contents_environment_check CHECK (environment IN ('sandbox', 'live'))
    );
    ALTER TABLE trace_contents ENABLE ROW LEVEL SECURITY;
    ALTER TABLE trace_contents FORCE ROW LEVEL SECURITY;
    CREATE POLICY trace_contents_tenant ON trace_contents TO countersign_app USING (${TENANT}) WITH CHECK (${TENANT});
    SELECT admit_erasure('trace_contents');
    -- UPDATE: a rotation of the master key. DELETE: retention.
    GRANT SELECT, INSERT, DELETE, UPDATE (sealed_content) ON trace_contents TO countersign_app;
  `)
}

export async function down(): Promise<void> {
  throw new Error('migrations only go forward: restore a backup instead')
}
