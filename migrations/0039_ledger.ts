import type { Knex } from 'knex'

const SCOPE = `account_id = nullif(current_setting('app.account_id', true), '')
  AND environment = nullif(current_setting('app.environment', true), '')`

// The decision ledger: entries, and the Merkle log (RFC 6962) of their hashes per account and environment. No foreign keys to
// accounts: they would be checked row by row, and the policies refuse every account but the transaction's own.
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- entry: canonical JSON (RFC 8785), as it was hashed. The other columns are copies for look-ups.
    CREATE TABLE decisions (
      account_id text COLLATE "C" NOT NULL,
      environment text COLLATE "C" NOT NULL,
      id text COLLATE "C" NOT NULL,
      kind text COLLATE "C" NOT NULL,
      at timestamptz NOT NULL,
      reason text COLLATE "C",
      jti text COLLATE "C",
      entry text NOT NULL,
      entry_sha256 bytea NOT NULL,
      CONSTRAINT decisions_pkey PRIMARY KEY (account_id, environment, id),
      CONSTRAINT decisions_environment_check CHECK (environment IN ('sandbox', 'live')),
      CONSTRAINT decisions_sha256_check CHECK (octet_length(entry_sha256) = 32)
    );
    CREATE INDEX decisions_kind_idx ON decisions (kind, account_id, environment, id);
    CREATE INDEX decisions_reason_idx ON decisions (reason, account_id, environment, id) WHERE reason IS NOT NULL;
    CREATE INDEX decisions_jti_idx ON decisions (jti, account_id, environment, id) WHERE jti IS NOT NULL;

    -- What explain and replay read. The entry has the hash of what is sealed.
    CREATE TABLE decision_facts (
      account_id text COLLATE "C" NOT NULL,
      environment text COLLATE "C" NOT NULL,
      decision_id text COLLATE "C" NOT NULL,
      sealed_facts bytea NOT NULL,
      CONSTRAINT decision_facts_pkey PRIMARY KEY (account_id, environment, decision_id),
      CONSTRAINT decision_facts_environment_check CHECK (environment IN ('sandbox', 'live'))
    );

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

    -- The leaves, permanently. leaf_sha256: SHA-256 of 0x00 and the entry's hash. The key on decision_id appends each entry once.
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

    -- Roots of complete subtrees of 256, 65,536, ... leaves (level 1, 2, ...), so that a proof reads a few hundred hashes.
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

    -- The state of each log. frontier_sha256: the roots of the complete subtrees that make up the tree, the largest first, one
    -- for each bit of size: an append needs nothing else of the tree. checkpoint_*: of the newest checkpoint.
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

    -- Signed statements of size and root. jws has them too, with the account and the environment.
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

    ${[
      'decisions',
      'decision_facts',
      'ledger_pending',
      'ledger_leaves',
      'ledger_nodes',
      'ledger_heads',
      'ledger_checkpoints',
    ]
      .map(
        (table) => `
    ALTER TABLE ${table} ENABLE ROW LEVEL SECURITY;
    ALTER TABLE ${table} FORCE ROW LEVEL SECURITY;
    CREATE POLICY ${table}_tenant ON ${table} TO countersign_app USING (${SCOPE}) WITH CHECK (${SCOPE});
    CREATE POLICY ${table}_system ON ${table} TO countersign_system USING (true) WITH CHECK (true);
    SELECT admit_erasure('${table}');`,
      )
      .join('\n')}

    -- Requests only add. UPDATE of the sealed facts is for a rotation of the master key: other facts don't have the entry's hash.
    GRANT SELECT, INSERT ON decisions, decision_facts, ledger_pending TO countersign_app;
    GRANT UPDATE (sealed_facts) ON decision_facts TO countersign_app;
    GRANT SELECT ON ledger_leaves, ledger_nodes, ledger_heads, ledger_checkpoints TO countersign_app;
    -- The process sequence reads hashes and ids of all accounts at once, and nothing else of an entry. Retention deletes.
    GRANT SELECT (account_id, environment, id, kind, at), DELETE ON decisions TO countersign_system;
    GRANT SELECT (account_id, environment, decision_id), DELETE ON decision_facts TO countersign_system;
    GRANT SELECT, DELETE ON ledger_pending TO countersign_system;
    GRANT SELECT, INSERT ON ledger_leaves, ledger_nodes, ledger_checkpoints TO countersign_system;
    GRANT SELECT, INSERT, UPDATE (size, frontier_sha256, grown_at, checkpoint_size, checkpoint_at) ON ledger_heads
      TO countersign_system;

    -- The order in which the pull API shows events: given after their commit, by the process sequence.
    ALTER TABLE events ADD COLUMN position bigint;
    CREATE UNIQUE INDEX events_position_key ON events (account_id, environment, position) WHERE position IS NOT NULL;
    CREATE INDEX events_unpositioned_idx ON events (account_id, environment, id) WHERE position IS NULL;
    CREATE TABLE event_heads (
      account_id text COLLATE "C" NOT NULL,
      environment text COLLATE "C" NOT NULL,
      position bigint NOT NULL,
      CONSTRAINT event_heads_pkey PRIMARY KEY (account_id, environment),
      CONSTRAINT event_heads_environment_check CHECK (environment IN ('sandbox', 'live')),
      CONSTRAINT event_heads_position_check CHECK (position > 0)
    ) WITH (fillfactor = 50);
    ALTER TABLE event_heads ENABLE ROW LEVEL SECURITY;
    ALTER TABLE event_heads FORCE ROW LEVEL SECURITY;
    CREATE POLICY event_heads_tenant ON event_heads TO countersign_app USING (${SCOPE}) WITH CHECK (${SCOPE});
    CREATE POLICY event_heads_system ON event_heads TO countersign_system USING (true) WITH CHECK (true);
    SELECT admit_erasure('event_heads');
    GRANT SELECT ON event_heads TO countersign_app;
    GRANT SELECT, INSERT, UPDATE (position) ON event_heads TO countersign_system;
    -- Of an event, the process sequence sees its id and its time.
    CREATE POLICY events_system ON events TO countersign_system USING (true) WITH CHECK (true);
    GRANT SELECT (account_id, environment, id, created_at, position), UPDATE (position) ON events TO countersign_system;
  `)
}

export async function down(): Promise<void> {
  throw new Error('migrations only go forward: restore a backup instead')
}
