import type { Knex } from 'knex'

// Comparisons become jobs of the queue compare. leased_until: 'infinity' says that the row has a job. The columns attempts and
// starts are no longer read; they and other values of leased_until are for processes of the version before, which go on working
// during an upgrade.
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- failed: the job of the comparison is dead. There may be a hash, by which other attestations find it.
    ALTER TABLE fingerprints DROP CONSTRAINT fingerprints_hash_check, ADD CONSTRAINT fingerprints_hash_check
      CHECK (CASE WHEN state = 'due' THEN hash IS NULL AND not_comparable IS NULL
        WHEN not_comparable = 'failed' THEN true
        ELSE (hash IS NULL) <> (not_comparable IS NULL) END);

    -- Row-level security binds the owner too.
    ALTER TABLE fingerprints NO FORCE ROW LEVEL SECURITY;
    ALTER TABLE jobs NO FORCE ROW LEVEL SECURITY;
    -- As bulk: new attestations are compared before the past.
    INSERT INTO jobs (id, queue, lane, priority, account_id, environment, payload)
      SELECT gen_random_uuid(), 'compare', account_id, 1, account_id, environment,
        jsonb_build_object('attestationId', attestation_id)
      FROM fingerprints WHERE state <> 'compared' ORDER BY attestation_id;
    UPDATE fingerprints SET leased_until = 'infinity' WHERE state <> 'compared';
    ALTER TABLE jobs FORCE ROW LEVEL SECURITY;
    ALTER TABLE fingerprints FORCE ROW LEVEL SECURITY;

    -- Empty but for rows that the version before has written.
    CREATE INDEX fingerprints_unqueued_idx ON fingerprints (account_id, environment, attestation_id)
      WHERE state <> 'compared' AND leased_until IS DISTINCT FROM 'infinity';
  `)
}

export async function down(): Promise<void> {
  throw new Error('migrations only go forward: restore a backup instead')
}
