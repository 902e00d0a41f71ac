import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- By which the search for duplicates reads the claims that show a picture, one entry of each. In the order of
    -- attestations it read all captures of its own claim to pass over them, at each further capture.
    CREATE INDEX fingerprints_showing_idx ON fingerprints (media_id, account_id, environment, claim_id, attestation_id);
    -- For later attestations, compared or not. No search is answered from it alone any more.
    CREATE INDEX fingerprints_later_idx ON fingerprints (media_id, account_id, environment, attestation_id);
    -- Last: from here on readers wait, too.
    DROP INDEX fingerprints_media_idx, fingerprints_compared_idx;
    ALTER INDEX fingerprints_later_idx RENAME TO fingerprints_media_idx;
  `)
}

export async function down(): Promise<void> {
  throw new Error('migrations only go forward: restore a backup instead')
}
