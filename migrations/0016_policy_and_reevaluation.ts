import type { Knex } from 'knex'

const TENANT = `account_id = nullif(current_setting('app.account_id', true), '')
  AND environment = nullif(current_setting('app.environment', true), '')`

// What an insurer asks of captures, and what it takes to judge an attestation again when something became known later.
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- Each change is a version of its own, and none ever changes. key_id: by which API key.
    CREATE TABLE risk_policies (
      account_id text COLLATE "C" NOT NULL,
      environment text COLLATE "C" NOT NULL,
      version integer NOT NULL,
      policy jsonb NOT NULL,
      key_id text COLLATE "C" NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now(),
      CONSTRAINT risk_policies_pkey PRIMARY KEY (account_id, environment, version),
      CONSTRAINT risk_policies_account_fkey FOREIGN KEY (account_id) REFERENCES accounts (id),
      CONSTRAINT risk_policies_environment_check CHECK (environment IN ('sandbox', 'live')),
      CONSTRAINT risk_policies_version_check CHECK (version > 0)
    );

    -- facts: everything that the result was judged on, so that it can be judged again without the photo. Of type json: as
    -- jsonb it would refuse what a photo may say of itself, such as a NUL. Erased with the claim. policy_version: 0 is the
    -- decided defaults. signer_id: the device whose key signed, where that is not the device that the bundle names.
    ALTER TABLE attestations
      ADD COLUMN facts json,
      ADD COLUMN policy_version integer,
      ADD COLUMN signer_id text COLLATE "C";
    CREATE INDEX attestations_signer_idx ON attestations (signer_id, account_id, environment, id)
      WHERE signer_id IS NOT NULL;

    -- The results that later ones replaced. No factors beside the signed record, which has them.
    CREATE TABLE attestation_results (
      account_id text COLLATE "C" NOT NULL,
      environment text COLLATE "C" NOT NULL,
      attestation_id text COLLATE "C" NOT NULL,
      seq integer NOT NULL,
      evaluated_at timestamptz NOT NULL,
      replaced_at timestamptz NOT NULL DEFAULT now(),
      replaced_for text[] COLLATE "C" NOT NULL,
      risk_status text NOT NULL,
      risk_score integer NOT NULL,
      provenance_status text NOT NULL,
      hardware_tier text NOT NULL,
      rules_version text NOT NULL,
      policy_version integer,
      result_jws text NOT NULL,
      CONSTRAINT attestation_results_pkey PRIMARY KEY (attestation_id, seq, account_id, environment),
      CONSTRAINT attestation_results_attestation_fkey FOREIGN KEY (account_id, environment, attestation_id)
        REFERENCES attestations (account_id, environment, id) ON DELETE CASCADE,
      CONSTRAINT attestation_results_environment_check CHECK (environment IN ('sandbox', 'live'))
    );

    -- A cause to judge attestations again. key: what makes it one and the same. seen_at: when clock first saw it; what ran by then may not know the cause, and is
    -- waited for. cursor: the attestation that the walk has come to; walked_at: it is at its end.
    CREATE TABLE reevaluations (
      account_id text COLLATE "C" NOT NULL,
      environment text COLLATE "C" NOT NULL,
      id text COLLATE "C" NOT NULL,
      cause text COLLATE "C" NOT NULL,
      key text COLLATE "C" NOT NULL,
      subject jsonb NOT NULL,
      looked integer NOT NULL DEFAULT 0,
      cursor text COLLATE "C",
      counts jsonb,
      created_at timestamptz NOT NULL DEFAULT now(),
      seen_at timestamptz,
      walked_at timestamptz,
      finished_at timestamptz,
      CONSTRAINT reevaluations_pkey PRIMARY KEY (account_id, environment, id),
      CONSTRAINT reevaluations_key_key UNIQUE (key, account_id, environment),
      CONSTRAINT reevaluations_account_fkey FOREIGN KEY (account_id) REFERENCES accounts (id),
      CONSTRAINT reevaluations_environment_check CHECK (environment IN ('sandbox', 'live')),
      CONSTRAINT reevaluations_cause_check CHECK (cause IN
        ('device_revoked', 'revocation_list', 'policy_changed', 'screening', 'requested'))
    );
    CREATE INDEX reevaluations_open_idx ON reevaluations (created_at) WHERE finished_at IS NULL;

    -- What is to be judged again, once per cause. outcome: NULL until it was.
    CREATE TABLE reevaluation_marks (
      account_id text COLLATE "C" NOT NULL,
      environment text COLLATE "C" NOT NULL,
      attestation_id text COLLATE "C" NOT NULL,
      reevaluation_id text COLLATE "C" NOT NULL,
      outcome text COLLATE "C",
      CONSTRAINT reevaluation_marks_pkey PRIMARY KEY (attestation_id, reevaluation_id, account_id, environment),
      CONSTRAINT reevaluation_marks_attestation_fkey FOREIGN KEY (account_id, environment, attestation_id)
        REFERENCES attestations (account_id, environment, id) ON DELETE CASCADE,
      CONSTRAINT reevaluation_marks_reevaluation_fkey FOREIGN KEY (account_id, environment, reevaluation_id)
        REFERENCES reevaluations (account_id, environment, id) ON DELETE CASCADE,
      CONSTRAINT reevaluation_marks_environment_check CHECK (environment IN ('sandbox', 'live')),
      CONSTRAINT reevaluation_marks_outcome_check CHECK (outcome IN ('changed', 'unchanged', 'failed', 'skipped'))
    );
    CREATE INDEX reevaluation_marks_outcome_idx
      ON reevaluation_marks (reevaluation_id, outcome, account_id, environment);

    ${['risk_policies', 'attestation_results', 'reevaluations', 'reevaluation_marks']
      .map(
        (table) => `
    ALTER TABLE ${table} ENABLE ROW LEVEL SECURITY;
    ALTER TABLE ${table} FORCE ROW LEVEL SECURITY;
    CREATE POLICY ${table}_tenant ON ${table} TO countersign_app USING (${TENANT}) WITH CHECK (${TENANT});`,
      )
      .join('\n')}
    -- DELETE is for accounts whose keys are published: what anybody set there goes.
    GRANT SELECT, INSERT, DELETE ON risk_policies TO countersign_app;
    GRANT SELECT, INSERT ON attestation_results TO countersign_app;
    GRANT SELECT, INSERT, UPDATE, DELETE ON reevaluations, reevaluation_marks TO countersign_app;
    -- Whose causes are open is asked before any tenant's door is opened.
    CREATE POLICY reevaluations_system ON reevaluations TO countersign_system USING (true);
    GRANT SELECT (account_id, environment, id, created_at, walked_at, finished_at) ON reevaluations TO countersign_system;

    -- Of evidence that newer evidence replaced: captures were judged by it.
    ALTER TABLE devices ADD COLUMN past_serials text[] COLLATE "C" NOT NULL DEFAULT '{}';

    -- The list that what was judged before it has been judged again by. NULL: none yet.
    ALTER TABLE revocation_lists ADD COLUMN applied_digest bytea, ADD COLUMN applied_serials text[] COLLATE "C";
  `)
}

export async function down(): Promise<void> {
  throw new Error('migrations only go forward: restore a backup instead')
}
