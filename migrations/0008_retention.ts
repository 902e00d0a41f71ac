import type { Knex } from 'knex'

// What it takes to forget on time, and to erase on demand so that hashes and results stay.
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- stored: the bytes are there. erasing: it is decided, the bytes are on their way out, and nobody gets this row for the
    -- same bytes again until they are gone; erasing_since is the lease of whoever does it. erased: the row is what is left
    -- of bytes that attestations still name by their hash.
    -- is_referenced is retention's own note, made when a medium was old enough to go and an attestation kept it: those are
    -- most, and looking at each of them every hour would be most of the work.
    ALTER TABLE media
      ADD COLUMN state text NOT NULL DEFAULT 'stored',
      ADD COLUMN uploaded_at timestamptz NOT NULL DEFAULT now(),
      ADD COLUMN is_referenced boolean NOT NULL DEFAULT false,
      ADD COLUMN erasing_since timestamptz,
      ADD COLUMN erased_at timestamptz,
      ADD CONSTRAINT media_state_check CHECK (state IN ('stored', 'erasing', 'erased')),
      ADD CONSTRAINT media_erasing_check CHECK ((state = 'erasing') = (erasing_since IS NOT NULL)),
      ADD CONSTRAINT media_erased_check CHECK ((state = 'erased') = (erased_at IS NOT NULL)),
      DROP CONSTRAINT media_sha256_key;
    -- Bytes that were erased may come again, as another medium.
    CREATE UNIQUE INDEX media_sha256_key ON media (sha256, account_id, environment) WHERE state <> 'erased';
    -- Both lead with the scope, and serve retention alone: their conditions keep them from every look-up by id.
    CREATE INDEX media_loose_idx ON media (account_id, environment, id) WHERE state = 'stored' AND NOT is_referenced;
    CREATE INDEX media_erasing_idx ON media (account_id, environment, id) WHERE state = 'erasing';

    -- erasing_since closes a claim to what would still come in; erased_at says that everything is gone.
    ALTER TABLE claims
      ADD COLUMN erasing_since timestamptz,
      ADD COLUMN erased_at timestamptz,
      ADD CONSTRAINT claims_erased_check CHECK (erased_at IS NULL OR erasing_since IS NOT NULL);
    CREATE INDEX claims_erasing_idx ON claims (account_id, environment, id)
      WHERE erasing_since IS NOT NULL AND erased_at IS NULL;
    ALTER TABLE attestations ADD COLUMN erased_at timestamptz;

    -- Deliveries outlive their events by two months, so they say themselves what kind of event it was.
    ALTER TABLE deliveries ADD COLUMN event_type text COLLATE "C", DROP CONSTRAINT deliveries_event_fkey;
    ALTER TABLE deliveries NO FORCE ROW LEVEL SECURITY;
    ALTER TABLE events NO FORCE ROW LEVEL SECURITY;
    UPDATE deliveries SET event_type = events.type FROM events
      WHERE events.account_id = deliveries.account_id AND events.environment = deliveries.environment
        AND events.id = deliveries.event_id;
    ALTER TABLE deliveries FORCE ROW LEVEL SECURITY, ALTER COLUMN event_type SET NOT NULL;
    ALTER TABLE events FORCE ROW LEVEL SECURITY;

    -- An account whose keys are published: what anybody put there goes after a week. A property of the account, said when it
    -- is made: one publishable key that somebody makes in an account must not condemn what is in it.
    ALTER TABLE accounts ADD COLUMN is_public boolean NOT NULL DEFAULT false;
    ALTER TABLE accounts NO FORCE ROW LEVEL SECURITY;
    UPDATE accounts SET is_public = true WHERE id = 'acc_sandbox';
    ALTER TABLE accounts FORCE ROW LEVEL SECURITY;
    GRANT SELECT (is_public), INSERT (is_public) ON accounts TO countersign_system;

    GRANT DELETE ON media, claims, attestations, batches, devices, capture_sessions, events, deliveries, delivery_attempts
      TO countersign_app;
  `)
}

export async function down(): Promise<void> {
  throw new Error('migrations only go forward: restore a backup instead')
}
