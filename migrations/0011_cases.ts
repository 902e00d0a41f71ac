import type { Knex } from 'knex'

const TENANT = `account_id = nullif(current_setting('app.account_id', true), '')
  AND environment = nullif(current_setting('app.environment', true), '')`

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- version counts the entries of the history: each change makes one, and whoever read an older version can be told so.
    -- reason_code is the one of the last transition. fraud_actor is the first of the two who must name a suspected fraud.
    -- The review's clock runs while the case is open, the decision's afterwards; due_at is the one that counts. paused_at:
    -- since when the decision's clock stands still.
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
      review_due_at timestamptz NOT NULL,
      decision_due_at timestamptz NOT NULL,
      due_at timestamptz,
      paused_at timestamptz,
      created_at timestamptz NOT NULL DEFAULT now(),
      updated_at timestamptz NOT NULL DEFAULT now(),
      closed_at timestamptz,
      CONSTRAINT cases_pkey PRIMARY KEY (account_id, environment, id),
      CONSTRAINT cases_account_fkey FOREIGN KEY (account_id) REFERENCES accounts (id),
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
      CONSTRAINT cases_reason_check CHECK (closed_at IS NULL OR reason_code IS NOT NULL)
    );
    CREATE UNIQUE INDEX cases_open_claim_key ON cases (claim_id, account_id, environment) WHERE closed_at IS NULL;
    CREATE INDEX cases_claim_idx ON cases (claim_id, account_id, environment, id);
    CREATE INDEX cases_assignee_idx ON cases (assignee, account_id, environment, id) WHERE assignee IS NOT NULL;
    CREATE INDEX cases_state_idx ON cases (state, account_id, environment, id);
    CREATE INDEX cases_due_idx ON cases (due_at, account_id, environment) WHERE due_at IS NOT NULL;

    -- The history of a case, which only grows. key_id: by which API key; actor: who that key said it was, NULL for what
    -- the service did by itself.
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
      CONSTRAINT case_entries_account_fkey FOREIGN KEY (account_id) REFERENCES accounts (id),
      CONSTRAINT case_entries_case_fkey FOREIGN KEY (account_id, environment, case_id)
        REFERENCES cases (account_id, environment, id) ON DELETE CASCADE,
      CONSTRAINT case_entries_environment_check CHECK (environment IN ('sandbox', 'live')),
      CONSTRAINT case_entries_kind_check
        CHECK (kind IN ('opened', 'escalated', 'proposed', 'transitioned', 'noted', 'changed')),
      CONSTRAINT case_entries_erased_check CHECK (note IS NULL OR note_erased_at IS NULL)
    );

    ${['cases', 'case_entries']
      .map(
        (table) => `
    ALTER TABLE ${table} ENABLE ROW LEVEL SECURITY;
    ALTER TABLE ${table} FORCE ROW LEVEL SECURITY;
    CREATE POLICY ${table}_tenant ON ${table} TO countersign_app USING (${TENANT}) WITH CHECK (${TENANT});`,
      )
      .join('\n')}
    GRANT SELECT, INSERT, UPDATE, DELETE ON cases TO countersign_app;
    -- Of an entry nothing changes but that its note goes, with the claim that it speaks of.
    GRANT SELECT, INSERT, UPDATE (note, note_erased_at) ON case_entries TO countersign_app;
    CREATE POLICY case_entries_erasing ON case_entries AS RESTRICTIVE FOR UPDATE TO countersign_app
      USING (note IS NOT NULL) WITH CHECK (note IS NULL AND note_erased_at IS NOT NULL);
  `)
}

export async function down(): Promise<void> {
  throw new Error('migrations only go forward: restore a backup instead')
}
