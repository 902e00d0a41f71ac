import type { Knex } from 'knex'

const TENANT = `account_id = nullif(current_setting('app.account_id', true), '')
  AND environment = nullif(current_setting('app.environment', true), '')`

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- People who ask to see what a share masks. sealed_person: their address and purpose; erased when the request has ended for a
    -- while. code_hash, grant_hash: SHA-256 of tokens, which are HMACs of the id and a nonce. The mailed code follows from the first,
    -- the second is what a granted person has. ends_at: of the code, then of the share, then of the grant. That it has ended
    -- follows from the time; the clock writes it down later.
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
      CONSTRAINT disclosure_requests_ended_check CHECK ((ended_at IS NULL) = (status IN ('unverified', 'pending', 'granted'))),
      CONSTRAINT disclosure_requests_grant_check CHECK ((status = 'granted') = (grant_hash IS NOT NULL)),
      CONSTRAINT disclosure_requests_tries_check CHECK (tries_left >= 0)
    );
    CREATE INDEX disclosure_requests_share_idx ON disclosure_requests (share_id, account_id, environment, id);
    CREATE INDEX disclosure_requests_ending_idx ON disclosure_requests (ends_at) WHERE status IN ('pending', 'granted');
    ALTER TABLE disclosure_requests ENABLE ROW LEVEL SECURITY;
    ALTER TABLE disclosure_requests FORCE ROW LEVEL SECURITY;
    CREATE POLICY disclosure_requests_tenant ON disclosure_requests TO countersign_app USING (${TENANT}) WITH CHECK (${TENANT});
    SELECT admit_erasure('disclosure_requests');
    GRANT SELECT, INSERT, DELETE, UPDATE (status, sealed_person, tries_left, grant_nonce, grant_hash, verified_at, decided_at,
      decided_by, ends_at, ended_at) ON disclosure_requests TO countersign_app;
    -- The token of a grant names no account, and the clock finds what has ended in all accounts with one statement.
    CREATE POLICY disclosure_requests_system ON disclosure_requests TO countersign_system USING (true);
    GRANT SELECT (account_id, environment, id, share_id, status, grant_hash, ends_at) ON disclosure_requests TO countersign_system;
  `)
}

export async function down(): Promise<void> {
  throw new Error('migrations only go forward: restore a backup instead')
}
