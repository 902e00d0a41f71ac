import type { Knex } from 'knex'

const TENANT = `account_id = nullif(current_setting('app.account_id', true), '')
  AND environment = nullif(current_setting('app.environment', true), '')`

// As in 0017: the hash in three pieces of 20, 21 and 23 bits, each with an index of its own, distinct per tenant in the upper
// bits.
const BANDS = [
  { shift: 0, mask: 0xfffff },
  { shift: 20, mask: 0x1fffff },
  { shift: 41, mask: 0x7fffff },
]
const band = ({ shift, mask }: (typeof BANDS)[number], index: number) =>
  `band${index} bigint GENERATED ALWAYS AS
        (hashtextextended(account_id || environment, 0) # ((hash >> ${shift}) & ${mask})) STORED`

// The hash belongs to the media: a thousand captures of one photo are one row for each search. The columns that held it
// are dropped, so that a process of the version before fails and does not write a hash that no search finds.
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- not_comparable: why there is no hash. band0 to band2: what the searches look for.
    CREATE TABLE pictures (
      account_id text COLLATE "C" NOT NULL,
      environment text COLLATE "C" NOT NULL,
      media_id text COLLATE "C" NOT NULL,
      hash bigint,
      not_comparable text COLLATE "C",
      ${BANDS.map(band).join(',\n      ')},
      CONSTRAINT pictures_pkey PRIMARY KEY (media_id, account_id, environment),
      CONSTRAINT pictures_media_fkey FOREIGN KEY (account_id, environment, media_id)
        REFERENCES media (account_id, environment, id) ON DELETE CASCADE,
      CONSTRAINT pictures_environment_check CHECK (environment IN ('sandbox', 'live')),
      CONSTRAINT pictures_hash_check CHECK ((hash IS NULL) <> (not_comparable IS NULL))
    );
    ALTER TABLE pictures ENABLE ROW LEVEL SECURITY;
    CREATE POLICY pictures_tenant ON pictures TO countersign_app USING (${TENANT}) WITH CHECK (${TENANT});
    -- UPDATE of a column is what locking a row takes.
    GRANT SELECT, INSERT, DELETE, UPDATE (media_id) ON pictures TO countersign_app;

    -- Row-level security binds the owner too.
    ALTER TABLE fingerprints NO FORCE ROW LEVEL SECURITY;
    INSERT INTO pictures (account_id, environment, media_id, hash, not_comparable)
      SELECT DISTINCT ON (account_id, environment, media_id) account_id, environment, media_id, hash,
        CASE WHEN hash IS NULL THEN not_comparable END
      FROM fingerprints WHERE hash IS NOT NULL OR not_comparable <> 'failed'
      ORDER BY account_id, environment, media_id, hash NULLS LAST;
    ALTER TABLE pictures FORCE ROW LEVEL SECURITY;
    ${BANDS.map((_, index) => `CREATE INDEX pictures_band${index}_idx ON pictures (band${index}) WHERE hash IS NOT NULL;`).join('\n    ')}

    -- due: to be compared, and hashed before that if its media are not.
    ALTER TABLE fingerprints DROP CONSTRAINT fingerprints_state_check, DROP CONSTRAINT fingerprints_hash_check,
      DROP COLUMN band0, DROP COLUMN band1, DROP COLUMN band2;
    ALTER TABLE fingerprints DROP COLUMN hash, DROP COLUMN attempts, DROP COLUMN starts;
    UPDATE fingerprints SET state = 'due', not_comparable = NULL WHERE state = 'hashed';
    ALTER TABLE fingerprints FORCE ROW LEVEL SECURITY,
      ADD CONSTRAINT fingerprints_state_check CHECK (state IN ('due', 'compared', 'recheck')),
      ADD CONSTRAINT fingerprints_not_comparable_check CHECK (state <> 'due' OR not_comparable IS NULL);

    -- It answers which claims have shown a picture without reading the table. The second one finds those that a late
    -- comparison must have compared again.
    DROP INDEX fingerprints_media_idx, fingerprints_waiting_idx;
    CREATE INDEX fingerprints_media_idx ON fingerprints (media_id, account_id, environment, attestation_id) INCLUDE (claim_id);
    CREATE INDEX fingerprints_compared_idx ON fingerprints (media_id, account_id, environment, attestation_id)
      WHERE state = 'compared';

    -- The accounts of a finding are those of its two fingerprints. A foreign key beside these is checked row by row and
    -- refuses nothing more.
    ALTER TABLE duplicate_findings DROP CONSTRAINT duplicate_findings_account_fkey;
  `)
}

export async function down(): Promise<void> {
  throw new Error('migrations only go forward: restore a backup instead')
}
