import type { Knex } from 'knex'

const TENANT = `account_id = nullif(current_setting('app.account_id', true), '')
  AND environment = nullif(current_setting('app.environment', true), '')`

// The hash in three pieces of 20, 21 and 23 bits, each an index of its own. Distinct per tenant in its upper bits, so that an
// entry is eight bytes and no tenant's rows lie among another's; row-level security decides.
const BANDS = [
  { shift: 0, mask: 0xfffff },
  { shift: 20, mask: 0x1fffff },
  { shift: 41, mask: 0x7fffff },
]
const band = ({ shift, mask }: (typeof BANDS)[number], index: number) =>
  `band${index} bigint GENERATED ALWAYS AS
        (hashtextextended(account_id || environment, 0) # ((hash >> ${shift}) & ${mask})) STORED`

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- What an attestation's media is recognized by, and how far its comparison has got. due: it is to be hashed. hashed: it
    -- is to be compared. compared: its findings stand. recheck: an earlier one was hashed later, so its findings are to be
    -- made again. leased_until: whoever took the row is at it, or nobody should try before. attempts: how
    -- often it could not be had. starts: how often somebody began to hash it and was not heard of again. not_comparable: why there is no
    -- hash; the same bytes are found without one. band0 to band2 are
    -- what the hash is looked for by.
    CREATE TABLE fingerprints (
      account_id text COLLATE "C" NOT NULL,
      environment text COLLATE "C" NOT NULL,
      attestation_id text COLLATE "C" NOT NULL,
      claim_id text COLLATE "C" NOT NULL,
      media_id text COLLATE "C" NOT NULL,
      state text COLLATE "C" NOT NULL DEFAULT 'due',
      attempts integer NOT NULL DEFAULT 0,
      starts integer NOT NULL DEFAULT 0,
      leased_until timestamptz,
      hash bigint,
      not_comparable text COLLATE "C",
      exact_count integer NOT NULL DEFAULT 0,
      similar_count integer NOT NULL DEFAULT 0,
      ${BANDS.map(band).join(',\n      ')},
      -- Not the scope first, as elsewhere: without statistics a planner takes an index that begins with it for each probe of a
      -- search, and walks through all of the account's rows.
      CONSTRAINT fingerprints_pkey PRIMARY KEY (attestation_id, account_id, environment),
      CONSTRAINT fingerprints_account_fkey FOREIGN KEY (account_id) REFERENCES accounts (id),
      CONSTRAINT fingerprints_attestation_fkey FOREIGN KEY (account_id, environment, attestation_id)
        REFERENCES attestations (account_id, environment, id) ON DELETE CASCADE,
      CONSTRAINT fingerprints_environment_check CHECK (environment IN ('sandbox', 'live')),
      CONSTRAINT fingerprints_state_check CHECK (state IN ('due', 'hashed', 'compared', 'recheck')),
      CONSTRAINT fingerprints_hash_check
        CHECK (CASE WHEN state = 'due' THEN hash IS NULL AND not_comparable IS NULL
          ELSE (hash IS NULL) <> (not_comparable IS NULL) END)
    ) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.05);
    ${BANDS.map((_, index) => `CREATE INDEX fingerprints_band${index}_idx ON fingerprints (band${index}) WHERE hash IS NOT NULL;`).join('\n    ')}
    CREATE INDEX fingerprints_media_idx ON fingerprints (media_id, account_id, environment, attestation_id);
    CREATE INDEX fingerprints_claim_idx ON fingerprints (claim_id, account_id, environment, attestation_id);
    -- Leads with the scope and serves whoever looks for work: its condition keeps it from every look-up by id.
    CREATE INDEX fingerprints_waiting_idx ON fingerprints (account_id, environment, attestation_id)
      WHERE state <> 'compared';

    -- At most one finding per attestation and other claim, in the later of two attestations. distance_bits: 0 to 64; NULL
    -- when the bytes are the same.
    CREATE TABLE duplicate_findings (
      account_id text COLLATE "C" NOT NULL,
      environment text COLLATE "C" NOT NULL,
      attestation_id text COLLATE "C" NOT NULL,
      other_claim_id text COLLATE "C" NOT NULL,
      other_attestation_id text COLLATE "C" NOT NULL,
      distance_bits smallint,
      CONSTRAINT duplicate_findings_pkey PRIMARY KEY (account_id, environment, attestation_id, other_claim_id),
      CONSTRAINT duplicate_findings_account_fkey FOREIGN KEY (account_id) REFERENCES accounts (id),
      CONSTRAINT duplicate_findings_own_fkey FOREIGN KEY (attestation_id, account_id, environment)
        REFERENCES fingerprints (attestation_id, account_id, environment) ON DELETE CASCADE,
      CONSTRAINT duplicate_findings_other_fkey FOREIGN KEY (other_attestation_id, account_id, environment)
        REFERENCES fingerprints (attestation_id, account_id, environment) ON DELETE CASCADE,
      CONSTRAINT duplicate_findings_environment_check CHECK (environment IN ('sandbox', 'live')),
      CONSTRAINT duplicate_findings_order_check CHECK (other_attestation_id < attestation_id),
      CONSTRAINT duplicate_findings_distance_check CHECK (distance_bits BETWEEN 0 AND 64)
    );
    CREATE INDEX duplicate_findings_other_idx
      ON duplicate_findings (other_attestation_id, account_id, environment, attestation_id);

    ${['fingerprints', 'duplicate_findings']
      .map(
        (table) => `
    ALTER TABLE ${table} ENABLE ROW LEVEL SECURITY;
    ALTER TABLE ${table} FORCE ROW LEVEL SECURITY;
    CREATE POLICY ${table}_tenant ON ${table} TO countersign_app USING (${TENANT}) WITH CHECK (${TENANT});`,
      )
      .join('\n')}
    GRANT SELECT, INSERT, UPDATE, DELETE ON fingerprints TO countersign_app;
    GRANT SELECT, INSERT, DELETE ON duplicate_findings TO countersign_app;
    CREATE POLICY fingerprints_system ON fingerprints TO countersign_system USING (true) WITH CHECK (true);
    GRANT SELECT (account_id, environment, attestation_id, state, leased_until), UPDATE (leased_until)
      ON fingerprints TO countersign_system;

    -- What was evaluated before there were fingerprints.
    ALTER TABLE attestations NO FORCE ROW LEVEL SECURITY;
    ALTER TABLE fingerprints NO FORCE ROW LEVEL SECURITY;
    INSERT INTO fingerprints (account_id, environment, attestation_id, claim_id, media_id)
      SELECT account_id, environment, id, claim_id, media_id FROM attestations
      WHERE status = 'evaluated' AND erased_at IS NULL ORDER BY id;
    ALTER TABLE attestations FORCE ROW LEVEL SECURITY;
    ALTER TABLE fingerprints FORCE ROW LEVEL SECURITY;
  `)
}

export async function down(): Promise<void> {
  throw new Error('migrations only go forward: restore a backup instead')
}
