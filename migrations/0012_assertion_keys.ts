import type { Knex } from 'knex'

// A device that is attested again may have a new App Attest key, which counts from one: a counter belongs to its key.
// key_digest: SHA-256 of the key's SubjectPublicKeyInfo.
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    ALTER TABLE assertion_counters ADD COLUMN key_digest bytea NOT NULL;
    ALTER TABLE assertion_counters
      DROP CONSTRAINT assertion_counters_pkey,
      ADD CONSTRAINT assertion_counters_pkey PRIMARY KEY (device_id, key_digest, counter, account_id, environment),
      ADD CONSTRAINT assertion_counters_digest_check CHECK (octet_length(key_digest) = 32);
  `)
}

export async function down(): Promise<void> {
  throw new Error('migrations only go forward: restore a backup instead')
}
