import type { Knex } from 'knex'

const TENANT = `account_id = nullif(current_setting('app.account_id', true), '')
  AND environment = nullif(current_setting('app.environment', true), '')`

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- What an account shows of a trace to whoever has the token of a share. masks: what this share masks: ids of nodes, or
    -- neurons (a layer and a number) where scope_kind is model_version. masked_node_ids: what was masked of its graph when it was
    -- made, by it and by the shares before it. reveals: what of their place is shown. position: the order in which shares were
    -- made; what each masks first depends on it. mask_salt: orders the published names, and is never shown.
    -- shown_before: how many of its masked nodes an earlier share had shown.
    CREATE TABLE trace_shares (
      account_id text COLLATE "C" NOT NULL,
      environment text COLLATE "C" NOT NULL,
      id text COLLATE "C" NOT NULL,
      position bigint GENERATED ALWAYS AS IDENTITY,
      trace_id text COLLATE "C" NOT NULL,
      job_id text COLLATE "C",
      model_version_id text COLLATE "C",
      scope_kind text COLLATE "C" NOT NULL,
      masks text[] COLLATE "C" NOT NULL,
      masked_node_ids text[] COLLATE "C" NOT NULL,
      mask_rule jsonb,
      mask_salt bytea NOT NULL,
      reveals text[] COLLATE "C" NOT NULL,
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

    -- Each time that a share was looked at. network: the first three quarters of the address, or the /48 of an IPv6 one.
    -- request_id: of the granted person who looked.
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

    ${['trace_shares', 'share_views']
      .map(
        (table) => `
    ALTER TABLE ${table} ENABLE ROW LEVEL SECURITY;
    ALTER TABLE ${table} FORCE ROW LEVEL SECURITY;
    CREATE POLICY ${table}_tenant ON ${table} TO countersign_app USING (${TENANT}) WITH CHECK (${TENANT});
    SELECT admit_erasure('${table}');`,
      )
      .join('\n')}
    -- DELETE is for retention.
    GRANT SELECT, INSERT, UPDATE (revoked_at, revoked_by), DELETE ON trace_shares TO countersign_app;
    GRANT SELECT, INSERT, DELETE ON share_views TO countersign_app;
    -- A token names no account.
    CREATE POLICY trace_shares_system ON trace_shares TO countersign_system USING (true);
    GRANT SELECT (account_id, environment, id, token_hash) ON trace_shares TO countersign_system;
  `)
}

export async function down(): Promise<void> {
  throw new Error('migrations only go forward: restore a backup instead')
}
