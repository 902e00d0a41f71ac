import type { Knex } from 'knex'

// The two roles that the doors assume inside a transaction. They belong to the cluster, not to this database, so another
// database of the same cluster may have made them already; the exception covers two that migrate at the same moment.
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    DO $$
    DECLARE role_name text;
    BEGIN
      FOREACH role_name IN ARRAY ARRAY['countersign_app', 'countersign_system'] LOOP
        BEGIN
          IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = role_name) THEN
            EXECUTE format('CREATE ROLE %I NOLOGIN NOSUPERUSER NOBYPASSRLS NOINHERIT', role_name);
          END IF;
        EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL;
        END;
      END LOOP;
    END $$;

    REVOKE CREATE ON SCHEMA public FROM PUBLIC;
    GRANT USAGE ON SCHEMA public TO countersign_app, countersign_system;

    CREATE TABLE accounts (
      id text COLLATE "C" NOT NULL,
      name text NOT NULL,
      plan text NOT NULL,
      products text[] NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now(),
      CONSTRAINT accounts_pkey PRIMARY KEY (id),
      CONSTRAINT accounts_plan_check CHECK (plan IN ('developer', 'growth', 'enterprise'))
    );

    CREATE TABLE api_keys (
      account_id text COLLATE "C" NOT NULL,
      environment text COLLATE "C" NOT NULL,
      id text COLLATE "C" NOT NULL,
      name text NOT NULL,
      hash bytea NOT NULL,
      prefix text NOT NULL,
      last4 text,
      scopes text[] NOT NULL,
      is_account_bearing boolean NOT NULL DEFAULT true,
      created_at timestamptz NOT NULL DEFAULT now(),
      expires_at timestamptz,
      revoked_at timestamptz,
      last_used_at timestamptz,
      CONSTRAINT api_keys_pkey PRIMARY KEY (account_id, environment, id),
      CONSTRAINT api_keys_hash_key UNIQUE (hash),
      CONSTRAINT api_keys_account_fkey FOREIGN KEY (account_id) REFERENCES accounts (id),
      CONSTRAINT api_keys_environment_check CHECK (environment IN ('sandbox', 'live')),
      CONSTRAINT api_keys_hash_check CHECK (octet_length(hash) = 32)
    );

    ALTER TABLE accounts ENABLE ROW LEVEL SECURITY;
    ALTER TABLE accounts FORCE ROW LEVEL SECURITY;
    CREATE POLICY accounts_tenant ON accounts TO countersign_app
      USING (id = nullif(current_setting('app.account_id', true), ''))
      WITH CHECK (id = nullif(current_setting('app.account_id', true), ''));
    CREATE POLICY accounts_system ON accounts TO countersign_system USING (true) WITH CHECK (true);
    GRANT SELECT ON accounts TO countersign_app;
    GRANT SELECT (id, name, plan, products, created_at), INSERT (id, name, plan, products) ON accounts TO countersign_system;

    ALTER TABLE api_keys ENABLE ROW LEVEL SECURITY;
    ALTER TABLE api_keys FORCE ROW LEVEL SECURITY;
    CREATE POLICY api_keys_tenant ON api_keys TO countersign_app
      USING (account_id = nullif(current_setting('app.account_id', true), '')
        AND environment = nullif(current_setting('app.environment', true), ''))
      WITH CHECK (account_id = nullif(current_setting('app.account_id', true), '')
        AND environment = nullif(current_setting('app.environment', true), ''));
    CREATE POLICY api_keys_system ON api_keys TO countersign_system USING (true) WITH CHECK (true);
    GRANT SELECT, INSERT, UPDATE ON api_keys TO countersign_app;
    GRANT SELECT (account_id, environment, id, hash, scopes, is_account_bearing, expires_at, revoked_at, last_used_at),
      UPDATE (last_used_at) ON api_keys TO countersign_system;
  `)
}

export async function down(): Promise<void> {
  throw new Error('migrations only go forward: restore a backup instead')
}
