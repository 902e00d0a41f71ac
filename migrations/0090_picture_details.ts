import type { Knex } from 'knex'

// The greys of each picture, by which a match of its hash is confirmed. The hash is made from the same greys now, so pictures that
// were hashed before are read once more, and all that show them are compared anew, after what is new. A process of the version
// before writes no greys, and so fails until it is replaced.
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- Row-level security binds the owner too.
    ALTER TABLE jobs NO FORCE ROW LEVEL SECURITY;
    ALTER TABLE fingerprints NO FORCE ROW LEVEL SECURITY;
    ALTER TABLE pictures NO FORCE ROW LEVEL SECURITY;
    -- The others have a job that waits.
    INSERT INTO jobs (id, queue, lane, priority, account_id, environment, payload)
      SELECT gen_random_uuid(), 'compare', f.account_id, 1, f.account_id, f.environment,
        jsonb_build_object('attestationId', f.attestation_id)
      FROM fingerprints f JOIN pictures p USING (media_id, account_id, environment)
      WHERE f.state = 'compared' AND p.hash IS NOT NULL ORDER BY f.attestation_id;
    -- due: as of attestations that were never compared, so that those which show the same picture are compared after all of them.
    UPDATE fingerprints f SET state = 'due', not_comparable = NULL, leased_until = 'infinity'
      FROM pictures p WHERE p.media_id = f.media_id AND p.account_id = f.account_id AND p.environment = f.environment
        AND p.hash IS NOT NULL;
    DELETE FROM pictures WHERE hash IS NOT NULL;
    ALTER TABLE pictures FORCE ROW LEVEL SECURITY;
    ALTER TABLE fingerprints FORCE ROW LEVEL SECURITY;
    ALTER TABLE jobs FORCE ROW LEVEL SECURITY;

    ALTER TABLE pictures ADD COLUMN detail bytea,
      ADD CONSTRAINT pictures_detail_check CHECK ((hash IS NULL) = (detail IS NULL));
    -- The greys stand beside the table: searches read its rows, and only the greys of matches.
    ALTER TABLE pictures SET (toast_tuple_target = 128);
  `)
}

export async function down(): Promise<void> {
  throw new Error('migrations only go forward: restore a backup instead')
}
