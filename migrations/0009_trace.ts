// Trace: traces with their texts, what a tripped canary locks, attributions, comparisons of models, and what an account
// shares of its traces.

import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(TRACES)
  await knex.raw(LOCKS)
  await knex.raw(ATTRIBUTIONS)
  await knex.raw(DIFFS)
  await knex.raw(SHARES)
}

export async function down(): Promise<void> {
  throw new Error('migrations only go forward: restore a backup instead')
}

const SCOPE = `account_id = (SELECT nullif(current_setting('app.account_id', true), ''))
      AND environment = (SELECT nullif(current_setting('app.environment', true), ''))`

const TRACES = `
  -- Canary readings, and the inferences that they were read from. source: 'client' for readings that a caller sent.
  -- model and the columns to token_facts belong to inferences. canary_set: NULL where the model took no readings.
  -- digest: canary_hash, base64url, over everything that the readings say. prompt_hash, completion_hash: base64url; a
  -- withheld completion has none. token_facts: log probabilities and readings of each window, and nothing of a
  -- withheld completion. text_until: until when its text is in trace_contents; NULL: it never was, or was erased.
  -- Nothing else of a row changes. tripped_families: families that reached their threshold, that of the kill switch
  -- where it names one, when the trace was stored; NULL: none. Whether they count is judged when they are read.
  -- cut_after: the tokens of the completion of an input that ended by its length; NULL: it ended by itself, or the
  -- row says it in finish_reason.
  CREATE TABLE traces (
    account_id text COLLATE "C" NOT NULL,
    environment text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    source text COLLATE "C" NOT NULL,
    agent_session_id text COLLATE "C",
    agent_id text COLLATE "C",
    model_version_id text COLLATE "C",
    runtime text COLLATE "C",
    canary_set text COLLATE "C",
    readings jsonb NOT NULL,
    reading_at timestamptz NOT NULL,
    tripped_families text[] COLLATE "C",
    cut_after integer,
    digest text COLLATE "C" NOT NULL,
    model text COLLATE "C",
    finish_reason text COLLATE "C",
    prompt_hash text COLLATE "C",
    completion_hash text COLLATE "C",
    prompt_tokens integer,
    completion_tokens integer,
    max_tokens integer,
    sampling jsonb,
    token_facts jsonb,
    text_until timestamptz,
    created_by text COLLATE "C" NOT NULL,
    created_at timestamptz NOT NULL,
    CONSTRAINT traces_pkey PRIMARY KEY (account_id, environment, id),
    CONSTRAINT traces_account_fkey FOREIGN KEY (account_id) REFERENCES accounts (id),
    CONSTRAINT traces_environment_check CHECK (environment IN ('sandbox', 'live')),
    CONSTRAINT traces_source_check CHECK (source IN ('client', 'server')),
    CONSTRAINT traces_canary_set_check CHECK (canary_set IS NOT NULL OR model IS NOT NULL),
    CONSTRAINT traces_digest_check CHECK (length(digest) = 43),
    CONSTRAINT traces_inference_check CHECK (num_nonnulls(model, finish_reason, prompt_hash, prompt_tokens,
      completion_tokens, max_tokens, sampling, token_facts) IN (0, 8)),
    -- A model elsewhere may answer with calls of tools, may refuse, and its server may filter its words.
    CONSTRAINT traces_finish_reason_check CHECK (finish_reason IN ('stop', 'length', 'canary_tripped', 'tool_calls',
      'refusal', 'content_filter')),
    CONSTRAINT traces_completion_check CHECK ((completion_hash IS NOT NULL) =
      (finish_reason IS NOT NULL AND finish_reason <> 'canary_tripped')),
    CONSTRAINT traces_tripped_families_check CHECK (cardinality(tripped_families) > 0),
    CONSTRAINT traces_cut_after_check CHECK (cut_after IS NULL OR (source = 'server' AND model IS NULL))
  );
  CREATE INDEX traces_session_idx ON traces (agent_session_id, account_id, environment, id)
    WHERE agent_session_id IS NOT NULL;
  CREATE INDEX traces_agent_idx ON traces (agent_id, account_id, environment, id) WHERE agent_id IS NOT NULL;
  CREATE INDEX traces_session_trips_idx ON traces (agent_session_id, account_id, environment, reading_at)
    WHERE tripped_families IS NOT NULL AND agent_session_id IS NOT NULL;
  CREATE INDEX traces_agent_trips_idx ON traces (agent_id, account_id, environment, reading_at)
    WHERE tripped_families IS NOT NULL AND agent_id IS NOT NULL;
  CREATE INDEX traces_finish_idx ON traces (finish_reason, account_id, environment, id) WHERE finish_reason IS NOT NULL;
  ${tenant('traces')}
  GRANT SELECT, INSERT, UPDATE (text_until), DELETE ON traces TO countersign_app;

  -- The texts that retain: 'text' keeps for 30 days: the input, its tokens and those of the completion, sealed.
  CREATE TABLE trace_contents (
    account_id text COLLATE "C" NOT NULL,
    environment text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    sealed_content bytea NOT NULL,
    created_at timestamptz NOT NULL,
    CONSTRAINT trace_contents_pkey PRIMARY KEY (account_id, environment, id),
    CONSTRAINT trace_contents_trace_fkey FOREIGN KEY (account_id, environment, id)
      REFERENCES traces (account_id, environment, id) ON DELETE CASCADE,
    CONSTRAINT trace_contents_environment_check CHECK (environment IN ('sandbox', 'live'))
  );
  ${tenant('trace_contents')}
  -- UPDATE is for a rotation of the master key, DELETE for retention.
  GRANT SELECT, INSERT, UPDATE (sealed_content), DELETE ON trace_contents TO countersign_app;
`

const LOCKS = `
  -- What a canary trip locked: an agent session, or an agent where the trip named no session. agent_id: the agent
  -- that the lock suspended, if the session belongs to one. It is locked until a human clears it.
  CREATE TABLE session_locks (
    account_id text COLLATE "C" NOT NULL,
    environment text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    agent_session_id text COLLATE "C",
    agent_id text COLLATE "C",
    trace_id text COLLATE "C",
    tripped_families text[] COLLATE "C" NOT NULL,
    source text COLLATE "C" NOT NULL,
    jti text COLLATE "C",
    matched_rule_id text COLLATE "C",
    created_at timestamptz NOT NULL,
    cleared_at timestamptz,
    cleared_by text COLLATE "C",
    note text,
    agent_unsuspended boolean,
    CONSTRAINT session_locks_pkey PRIMARY KEY (account_id, environment, id),
    CONSTRAINT session_locks_account_fkey FOREIGN KEY (account_id) REFERENCES accounts (id),
    CONSTRAINT session_locks_agent_fkey FOREIGN KEY (account_id, environment, agent_id)
      REFERENCES agents (account_id, environment, id) ON DELETE CASCADE,
    CONSTRAINT session_locks_environment_check CHECK (environment IN ('sandbox', 'live')),
    CONSTRAINT session_locks_subject_check CHECK (agent_session_id IS NOT NULL OR agent_id IS NOT NULL),
    CONSTRAINT session_locks_source_check CHECK (source IN ('verify', 'inference', 'check')),
    CONSTRAINT session_locks_cleared_check
      CHECK ((cleared_at IS NULL) = (cleared_by IS NULL) AND (cleared_at IS NULL) = (agent_unsuspended IS NULL))
  );
  -- However many trips there are at once, one session has one live lock, and one agent has one without a session.
  CREATE UNIQUE INDEX session_locks_live_session_key ON session_locks (agent_session_id, account_id, environment)
    WHERE cleared_at IS NULL AND agent_session_id IS NOT NULL;
  CREATE UNIQUE INDEX session_locks_live_agent_key ON session_locks (agent_id, account_id, environment)
    WHERE cleared_at IS NULL AND agent_session_id IS NULL;
  CREATE INDEX session_locks_live_agent_idx ON session_locks (agent_id, account_id, environment, id)
    WHERE cleared_at IS NULL;
  CREATE INDEX session_locks_session_idx ON session_locks (agent_session_id, account_id, environment, id);
  CREATE INDEX session_locks_agent_idx ON session_locks (agent_id, account_id, environment, id);
  CREATE INDEX session_locks_live_idx ON session_locks (id, account_id, environment) WHERE cleared_at IS NULL;
  CREATE INDEX session_locks_live_of_account_idx ON session_locks (account_id, environment) WHERE cleared_at IS NULL;
  ${tenant('session_locks')}
  -- DELETE is for retention.
  GRANT SELECT, INSERT, UPDATE (cleared_at, cleared_by, note, agent_unsuspended), DELETE
    ON session_locks TO countersign_app;

  -- One row for each account and environment that has set its kill switch. version: the number of the change, which a
  -- caller that replaces the settings names. changed_by: the key or the user.
  CREATE TABLE kill_switches (
    account_id text COLLATE "C" NOT NULL,
    environment text COLLATE "C" NOT NULL,
    settings jsonb NOT NULL,
    version integer NOT NULL DEFAULT 1,
    changed_by text COLLATE "C" NOT NULL,
    changed_at timestamptz NOT NULL,
    CONSTRAINT kill_switches_pkey PRIMARY KEY (account_id, environment),
    CONSTRAINT kill_switches_account_fkey FOREIGN KEY (account_id) REFERENCES accounts (id),
    CONSTRAINT kill_switches_environment_check CHECK (environment IN ('sandbox', 'live'))
  );
  ${tenant('kill_switches')}
  GRANT SELECT, INSERT, UPDATE, DELETE ON kill_switches TO countersign_app;
`

const ATTRIBUTIONS = `
  -- Attributions: what made a model say a token of a trace. request: the request, with all defaults. sealed_input: the
  -- input again, where the trace keeps hashes alone; NULL when the job has ended. summary: the graph in numbers.
  -- queue_job_id: its job in the backlog.
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
  CREATE INDEX trace_jobs_state_idx ON trace_jobs (state, account_id, environment, id);
  ${tenant('trace_jobs')}
  CREATE POLICY trace_jobs_system ON trace_jobs TO countersign_system USING (true);
  -- DELETE is for retention.
  GRANT SELECT, INSERT, UPDATE (sealed_input, state, progress, failure_code, failure_detail, summary, manifest_hash,
    manifest_bytes, manifest_until, started_at, finished_at), DELETE ON trace_jobs TO countersign_app;
  -- Callers wait for the end of an attribution.
  GRANT SELECT (account_id, environment, id, state) ON trace_jobs TO countersign_system;

  -- The manifest of a job that succeeded: RFC 8785 bytes, compressed and sealed, since they have the text of the
  -- prompt.
  CREATE TABLE trace_manifests (
    account_id text COLLATE "C" NOT NULL,
    environment text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    sealed_manifest bytea NOT NULL,
    created_at timestamptz NOT NULL,
    CONSTRAINT trace_manifests_pkey PRIMARY KEY (account_id, environment, id),
    CONSTRAINT trace_manifests_job_fkey FOREIGN KEY (account_id, environment, id)
      REFERENCES trace_jobs (account_id, environment, id) ON DELETE CASCADE,
    CONSTRAINT trace_manifests_environment_check CHECK (environment IN ('sandbox', 'live'))
  );
  ALTER TABLE trace_manifests ALTER COLUMN sealed_manifest SET STORAGE EXTERNAL;
  ${tenant('trace_manifests')}
  -- UPDATE is for a rotation of the master key.
  GRANT SELECT, INSERT, UPDATE (sealed_manifest), DELETE ON trace_manifests TO countersign_app;
`

const DIFFS = `
  -- Prompts that an account compares models with. sealed_prompts: their canonical JSON, which sha256 is the hash of.
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
  ${tenant('eval_sets')}
  -- UPDATE is for a rotation of the master key.
  GRANT SELECT, INSERT, UPDATE (sealed_prompts), DELETE ON eval_sets TO countersign_app;

  -- Two model versions compared. eval_set: the name of a set of the service, or the id of a set of the account, which
  -- may be deleted meanwhile. report: canonical JSON, which report_hash is the hash of; its type is text, so that no
  -- byte of it changes.
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
  -- Lists by a status that few rows have.
  CREATE INDEX model_diffs_state_idx ON model_diffs (state, account_id, environment, id);
  CREATE INDEX model_diffs_verdict_idx ON model_diffs (verdict, account_id, environment, id) WHERE verdict IS NOT NULL;
  ${tenant('model_diffs')}
  CREATE POLICY model_diffs_system ON model_diffs TO countersign_system USING (true);
  GRANT SELECT, INSERT, UPDATE (state, prompts_done, pass, verdict, families_drifted, report, report_hash,
    failure_code, failure, started_at, finished_at), DELETE ON model_diffs TO countersign_app;
  -- Callers wait for the end of a diff.
  GRANT SELECT (account_id, environment, id, state) ON model_diffs TO countersign_system;

  -- How far a running diff has come, so that a worker that takes it over continues there. neurons: float64,
  -- little-endian.
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
  ${tenant('diff_checkpoints')}
  GRANT SELECT, INSERT, UPDATE (done, measures, neurons), DELETE ON diff_checkpoints TO countersign_app;
`

const SHARES = `
  -- What an account shows of a trace to the holder of a share token. name: what people call it. position: the order
  -- in which shares were made; what each masks first depends on it. masks: what this share masks: ids of nodes, or
  -- neurons (a layer and a number) where scope_kind is model_version. masked_node_ids: what was masked of its graph
  -- when it was made, by it and by the shares before it. reveals: what it shows of the place of masked nodes.
  -- reveals_prompt: it shows what its graph says of single positions, by which a person with the file of the model
  -- finds the prompt. mask_salt: orders the published names, and is never shown. shown_before: how many of its masked
  -- nodes an earlier share had shown.
  CREATE TABLE trace_shares (
    account_id text COLLATE "C" NOT NULL,
    environment text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    position bigint GENERATED BY DEFAULT AS IDENTITY,
    name text,
    trace_id text COLLATE "C" NOT NULL,
    job_id text COLLATE "C",
    model_version_id text COLLATE "C",
    scope_kind text COLLATE "C" NOT NULL,
    masks text[] COLLATE "C" NOT NULL,
    masked_node_ids text[] COLLATE "C" NOT NULL,
    mask_rule jsonb,
    mask_salt bytea NOT NULL,
    reveals text[] COLLATE "C" NOT NULL,
    reveals_prompt boolean NOT NULL DEFAULT false,
    disclosure_mode text COLLATE "C" NOT NULL,
    shown_before integer NOT NULL,
    token_hash bytea NOT NULL,
    created_by text COLLATE "C" NOT NULL,
    created_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL,
    revoked_at timestamptz,
    revoked_by text COLLATE "C",
    CONSTRAINT trace_shares_pkey PRIMARY KEY (account_id, environment, id),
    CONSTRAINT trace_shares_token_key UNIQUE (token_hash),
    CONSTRAINT trace_shares_account_fkey FOREIGN KEY (account_id) REFERENCES accounts (id),
    CONSTRAINT trace_shares_environment_check CHECK (environment IN ('sandbox', 'live')),
    CONSTRAINT trace_shares_scope_check CHECK (scope_kind IN ('trace', 'model_version')),
    CONSTRAINT trace_shares_version_check CHECK (scope_kind = 'trace' OR model_version_id IS NOT NULL),
    CONSTRAINT trace_shares_mode_check CHECK (disclosure_mode IN ('manual', 'auto')),
    CONSTRAINT trace_shares_masks_check CHECK (job_id IS NOT NULL OR cardinality(masks) = 0),
    CONSTRAINT trace_shares_reveals_check CHECK (reveals <@ ARRAY['layer', 'position']),
    CONSTRAINT trace_shares_hash_check CHECK (octet_length(token_hash) = 32 AND octet_length(mask_salt) = 16),
    CONSTRAINT trace_shares_revoked_check CHECK ((revoked_at IS NULL) = (revoked_by IS NULL))
  );
  CREATE INDEX trace_shares_trace_idx ON trace_shares (trace_id, account_id, environment, position);
  CREATE INDEX trace_shares_version_idx ON trace_shares (model_version_id, account_id, environment, position)
    WHERE scope_kind = 'model_version';
  CREATE INDEX trace_shares_ending_idx ON trace_shares (expires_at, account_id, environment, id)
    WHERE revoked_at IS NULL;
  ${tenant('trace_shares')}
  CREATE POLICY trace_shares_system ON trace_shares TO countersign_system USING (true);
  -- DELETE is for retention.
  GRANT SELECT, INSERT, UPDATE (name, expires_at, revoked_at, revoked_by), DELETE ON trace_shares TO countersign_app;
  -- A token names no account.
  GRANT SELECT (account_id, environment, id, token_hash) ON trace_shares TO countersign_system;

  -- Each view of a share. network: the first three quarters of the address, or the /48 of an IPv6 one. request_id: the
  -- disclosure request of a granted person.
  CREATE TABLE share_views (
    account_id text COLLATE "C" NOT NULL,
    environment text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    share_id text COLLATE "C" NOT NULL,
    request_id text COLLATE "C",
    network text COLLATE "C" NOT NULL,
    has_graph boolean NOT NULL,
    masked_nodes integer NOT NULL,
    disclosed_nodes integer NOT NULL,
    viewed_at timestamptz NOT NULL,
    CONSTRAINT share_views_pkey PRIMARY KEY (account_id, environment, id),
    CONSTRAINT share_views_share_fkey FOREIGN KEY (account_id, environment, share_id)
      REFERENCES trace_shares (account_id, environment, id) ON DELETE CASCADE,
    CONSTRAINT share_views_environment_check CHECK (environment IN ('sandbox', 'live'))
  );
  CREATE INDEX share_views_share_idx ON share_views (share_id, account_id, environment, id);
  ${tenant('share_views')}
  GRANT SELECT, INSERT, DELETE ON share_views TO countersign_app;

  -- People who ask to see what a share masks. sealed_person: their address and purpose; erased when the request has
  -- ended for a while. code_hash, grant_hash: SHA-256 of tokens, which are HMACs of the id and a nonce. The mailed
  -- code follows from the first, a granted person has the second. ends_at: the end of the code, then of the share,
  -- then of the grant. That it has ended follows from the time; the clock writes it down later.
  CREATE TABLE disclosure_requests (
    account_id text COLLATE "C" NOT NULL,
    environment text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    share_id text COLLATE "C" NOT NULL,
    status text COLLATE "C" NOT NULL,
    sealed_person bytea,
    code_nonce bytea NOT NULL,
    code_hash bytea NOT NULL,
    tries_left smallint NOT NULL,
    grant_nonce bytea,
    grant_hash bytea,
    created_at timestamptz NOT NULL,
    verified_at timestamptz,
    decided_at timestamptz,
    decided_by text COLLATE "C",
    ends_at timestamptz NOT NULL,
    ended_at timestamptz,
    CONSTRAINT disclosure_requests_pkey PRIMARY KEY (account_id, environment, id),
    CONSTRAINT disclosure_requests_grant_key UNIQUE (grant_hash),
    CONSTRAINT disclosure_requests_share_fkey FOREIGN KEY (account_id, environment, share_id)
      REFERENCES trace_shares (account_id, environment, id) ON DELETE CASCADE,
    CONSTRAINT disclosure_requests_environment_check CHECK (environment IN ('sandbox', 'live')),
    CONSTRAINT disclosure_requests_status_check
      CHECK (status IN ('unverified', 'pending', 'granted', 'denied', 'revoked', 'expired')),
    CONSTRAINT disclosure_requests_ended_check CHECK ((ended_at IS NULL) = (status IN ('unverified', 'pending',
      'granted'))),
    CONSTRAINT disclosure_requests_grant_check CHECK ((status = 'granted') = (grant_hash IS NOT NULL)),
    CONSTRAINT disclosure_requests_tries_check CHECK (tries_left >= 0)
  );
  CREATE INDEX disclosure_requests_share_idx ON disclosure_requests (share_id, account_id, environment, id);
  CREATE INDEX disclosure_requests_ending_idx ON disclosure_requests (ends_at) WHERE status IN ('pending', 'granted');
  CREATE INDEX disclosure_requests_status_idx ON disclosure_requests (status, account_id, environment, id);
  ${tenant('disclosure_requests')}
  CREATE POLICY disclosure_requests_system ON disclosure_requests TO countersign_system USING (true);
  GRANT SELECT, INSERT, UPDATE (status, sealed_person, tries_left, grant_nonce, grant_hash, verified_at, decided_at,
    decided_by, ends_at, ended_at), DELETE ON disclosure_requests TO countersign_app;
  -- The token of a grant names no account, and the clock finds what has ended in all accounts with one statement.
  GRANT SELECT (account_id, environment, id, share_id, status, grant_hash, ends_at)
    ON disclosure_requests TO countersign_system;
`

/** Row-level security of a tenant table, which the erasure of a closed account reaches too. */
function tenant(table: string): string {
  return `
    ALTER TABLE ${table} ENABLE ROW LEVEL SECURITY;
    ALTER TABLE ${table} FORCE ROW LEVEL SECURITY;
    CREATE POLICY ${table}_tenant ON ${table} TO countersign_app USING (${SCOPE}) WITH CHECK (${SCOPE});
    SELECT admit_erasure('${table}');`
}
