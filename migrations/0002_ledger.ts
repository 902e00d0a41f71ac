// The decision ledger: entries, and the Merkle log (RFC 6962) of their hashes per account and environment.

import type { Knex } from 'knex'

// No foreign keys to accounts: they would be checked row by row, and the policies refuse every account but the
// transaction's own.
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- entry: canonical JSON (RFC 8785), exactly as it was hashed. The other columns are copies of its members for
    -- look-ups and for the filters of the list.
    CREATE TABLE decisions (
      account_id text COLLATE "C" NOT NULL,
      environment text COLLATE "C" NOT NULL,
      id text COLLATE "C" NOT NULL,
      kind text COLLATE "C" NOT NULL,
      at timestamptz NOT NULL,
      reason text COLLATE "C",
      jti text COLLATE "C",
      subject_id text COLLATE "C",
      agent_id text COLLATE "C",
      agent_session_id text COLLATE "C",
      device_id text COLLATE "C",
      mandate_id text COLLATE "C",
      schedule_id text COLLATE "C",
      trace_id text COLLATE "C",
      matched_rule_id text COLLATE "C",
      entry text NOT NULL,
      entry_sha256 bytea NOT NULL,
      CONSTRAINT decisions_pkey PRIMARY KEY (account_id, environment, id),
      CONSTRAINT decisions_environment_check CHECK (environment IN ('sandbox', 'live')),
      CONSTRAINT decisions_sha256_check CHECK (octet_length(entry_sha256) = 32)
    );
    -- It includes the reason, so that decisions are counted by reason without their entries.
    CREATE INDEX decisions_kind_reason_idx ON decisions (kind, account_id, environment, id) INCLUDE (reason);
    CREATE INDEX decisions_reason_idx ON decisions (reason, account_id, environment, id) WHERE reason IS NOT NULL;
    CREATE INDEX decisions_jti_idx ON decisions (jti, account_id, environment, id) WHERE jti IS NOT NULL;
    -- What became of a token or an approval, for reports. A token that is polled has thousands of other entries.
    CREATE INDEX decisions_ended_idx ON decisions (jti, kind, account_id, environment, id)
      WHERE kind IN ('execute', 'outcome', 'approval_decision');
    -- Most entries are about a token, which decisions_jti_idx finds.
    CREATE INDEX decisions_subject_idx ON decisions (subject_id, account_id, environment, id)
      WHERE subject_id IS DISTINCT FROM jti;
    CREATE INDEX decisions_agent_idx ON decisions (agent_id, account_id, environment, id) WHERE agent_id IS NOT NULL;
    CREATE INDEX decisions_session_idx ON decisions (agent_session_id, account_id, environment, id)
      WHERE agent_session_id IS NOT NULL;
    CREATE INDEX decisions_device_idx ON decisions (device_id, account_id, environment, id) WHERE device_id IS NOT NULL;
    CREATE INDEX decisions_mandate_idx ON decisions (mandate_id, account_id, environment, id)
      WHERE mandate_id IS NOT NULL;
    CREATE INDEX decisions_schedule_idx ON decisions (schedule_id, account_id, environment, id)
      WHERE schedule_id IS NOT NULL;
    CREATE INDEX decisions_trace_idx ON decisions (trace_id, account_id, environment, id) WHERE trace_id IS NOT NULL;
    CREATE INDEX decisions_rule_idx ON decisions (matched_rule_id, account_id, environment, id)
      WHERE matched_rule_id IS NOT NULL;
    ${tenant('decisions')}
    CREATE POLICY decisions_system ON decisions TO countersign_system USING (true) WITH CHECK (true);
    GRANT SELECT, INSERT ON decisions TO countersign_app;
    -- The process sequence reads hashes and ids of all accounts at once, and nothing else of an entry. Retention deletes.
    GRANT SELECT (account_id, environment, id, kind, at), DELETE ON decisions TO countersign_system;

    -- Facts that explain and replay read. The entry has the hash of their plain text.
    CREATE TABLE decision_facts (
      account_id text COLLATE "C" NOT NULL,
      environment text COLLATE "C" NOT NULL,
      decision_id text COLLATE "C" NOT NULL,
      sealed_facts bytea NOT NULL,
      CONSTRAINT decision_facts_pkey PRIMARY KEY (account_id, environment, decision_id),
      CONSTRAINT decision_facts_environment_check CHECK (environment IN ('sandbox', 'live'))
    );
    ${tenant('decision_facts')}
    CREATE POLICY decision_facts_system ON decision_facts TO countersign_system USING (true) WITH CHECK (true);
    -- UPDATE is for a rotation of the master key: other facts would not match the hash in the entry.
    GRANT SELECT, INSERT, UPDATE (sealed_facts) ON decision_facts TO countersign_app;
    GRANT SELECT (account_id, environment, decision_id), DELETE ON decision_facts TO countersign_system;

    -- Entries without a leaf. A row lives for about a second, so the table stays small and is vacuumed early.
    CREATE TABLE ledger_pending (
      account_id text COLLATE "C" NOT NULL,
      environment text COLLATE "C" NOT NULL,
      decision_id text COLLATE "C" NOT NULL,
      entry_sha256 bytea NOT NULL,
      added_at timestamptz NOT NULL DEFAULT clock_timestamp(),
      CONSTRAINT ledger_pending_pkey PRIMARY KEY (account_id, environment, decision_id),
      CONSTRAINT ledger_pending_environment_check CHECK (environment IN ('sandbox', 'live'))
    ) WITH (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000,
      autovacuum_analyze_scale_factor = 0.05, autovacuum_vacuum_cost_delay = 0);
    ${tenant('ledger_pending')}
    CREATE POLICY ledger_pending_system ON ledger_pending TO countersign_system USING (true) WITH CHECK (true);
    GRANT SELECT, INSERT ON ledger_pending TO countersign_app;
    GRANT SELECT, DELETE ON ledger_pending TO countersign_system;

    -- The leaves, which are never deleted. leaf_sha256: SHA-256 of 0x00 and the hash of the entry. The key on decision_id
    -- appends each entry once.
    CREATE TABLE ledger_leaves (
      account_id text COLLATE "C" NOT NULL,
      environment text COLLATE "C" NOT NULL,
      position bigint NOT NULL,
      leaf_sha256 bytea NOT NULL,
      decision_id text COLLATE "C" NOT NULL,
      CONSTRAINT ledger_leaves_pkey PRIMARY KEY (account_id, environment, position),
      CONSTRAINT ledger_leaves_decision_key UNIQUE (decision_id, account_id, environment),
      CONSTRAINT ledger_leaves_environment_check CHECK (environment IN ('sandbox', 'live')),
      CONSTRAINT ledger_leaves_position_check CHECK (position >= 0),
      CONSTRAINT ledger_leaves_sha256_check CHECK (octet_length(leaf_sha256) = 32)
    );
    ${tenant('ledger_leaves')}
    CREATE POLICY ledger_leaves_system ON ledger_leaves TO countersign_system USING (true) WITH CHECK (true);
    GRANT SELECT ON ledger_leaves TO countersign_app;
    GRANT SELECT, INSERT ON ledger_leaves TO countersign_system;

    -- Roots of complete subtrees of 256, 65,536, ... leaves (level 1, 2, ...), so that a proof reads a few hundred
    -- hashes.
    CREATE TABLE ledger_nodes (
      account_id text COLLATE "C" NOT NULL,
      environment text COLLATE "C" NOT NULL,
      level smallint NOT NULL,
      position bigint NOT NULL,
      node_sha256 bytea NOT NULL,
      CONSTRAINT ledger_nodes_pkey PRIMARY KEY (account_id, environment, level, position),
      CONSTRAINT ledger_nodes_environment_check CHECK (environment IN ('sandbox', 'live')),
      CONSTRAINT ledger_nodes_level_check CHECK (level BETWEEN 1 AND 6),
      CONSTRAINT ledger_nodes_sha256_check CHECK (octet_length(node_sha256) = 32)
    );
    ${tenant('ledger_nodes')}
    CREATE POLICY ledger_nodes_system ON ledger_nodes TO countersign_system USING (true) WITH CHECK (true);
    GRANT SELECT ON ledger_nodes TO countersign_app;
    GRANT SELECT, INSERT ON ledger_nodes TO countersign_system;

    -- The state of each log. frontier_sha256: the roots of the complete subtrees that make up the tree, the largest
    -- first, one for each bit of size: an append needs nothing else of the tree. checkpoint_size, checkpoint_at: the
    -- newest checkpoint.
    CREATE TABLE ledger_heads (
      account_id text COLLATE "C" NOT NULL,
      environment text COLLATE "C" NOT NULL,
      size bigint NOT NULL,
      frontier_sha256 bytea NOT NULL,
      grown_at timestamptz NOT NULL,
      checkpoint_size bigint NOT NULL DEFAULT 0,
      checkpoint_at timestamptz NOT NULL DEFAULT '-infinity',
      CONSTRAINT ledger_heads_pkey PRIMARY KEY (account_id, environment),
      CONSTRAINT ledger_heads_environment_check CHECK (environment IN ('sandbox', 'live')),
      CONSTRAINT ledger_heads_size_check CHECK (size > 0 AND checkpoint_size BETWEEN 0 AND size),
      CONSTRAINT ledger_heads_frontier_check CHECK (octet_length(frontier_sha256) = 32 * bit_count(int8send(size)))
    ) WITH (fillfactor = 50);
    CREATE INDEX ledger_heads_unsigned_idx ON ledger_heads (checkpoint_at) WHERE size > checkpoint_size;
    ${tenant('ledger_heads')}
    CREATE POLICY ledger_heads_system ON ledger_heads TO countersign_system USING (true) WITH CHECK (true);
    GRANT SELECT ON ledger_heads TO countersign_app;
    GRANT SELECT, INSERT, UPDATE (size, frontier_sha256, grown_at, checkpoint_size, checkpoint_at)
      ON ledger_heads TO countersign_system;

    -- Signed statements of size and root. The signed text has both too, with the account and the environment.
    CREATE TABLE ledger_checkpoints (
      account_id text COLLATE "C" NOT NULL,
      environment text COLLATE "C" NOT NULL,
      size bigint NOT NULL,
      root_sha256 bytea NOT NULL,
      at timestamptz NOT NULL,
      jws text NOT NULL,
      CONSTRAINT ledger_checkpoints_pkey PRIMARY KEY (account_id, environment, size),
      CONSTRAINT ledger_checkpoints_environment_check CHECK (environment IN ('sandbox', 'live')),
      CONSTRAINT ledger_checkpoints_size_check CHECK (size > 0),
      CONSTRAINT ledger_checkpoints_sha256_check CHECK (octet_length(root_sha256) = 32)
    );
    ${tenant('ledger_checkpoints')}
    CREATE POLICY ledger_checkpoints_system ON ledger_checkpoints TO countersign_system USING (true) WITH CHECK (true);
    GRANT SELECT ON ledger_checkpoints TO countersign_app;
    -- Retention thins out old checkpoints. The leaves, which they sign, stay.
    GRANT SELECT, INSERT, DELETE ON ledger_checkpoints TO countersign_system;
  `)
}

export async function down(): Promise<void> {
  throw new Error('migrations only go forward: restore a backup instead')
}

const SCOPE = `account_id = (SELECT nullif(current_setting('app.account_id', true), ''))
      AND environment = (SELECT nullif(current_setting('app.environment', true), ''))`

/** Row-level security of a tenant table, which the system role reads across accounts by the grants it has. */
function tenant(table: string): string {
  return `
    ALTER TABLE ${table} ENABLE ROW LEVEL SECURITY;
    ALTER TABLE ${table} FORCE ROW LEVEL SECURITY;
    CREATE POLICY ${table}_tenant ON ${table} TO countersign_app USING (${SCOPE}) WITH CHECK (${SCOPE});
    SELECT admit_erasure('${table}');`
}
