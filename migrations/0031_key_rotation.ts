import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- created_by: the key or the user, or 'operator'; NULL for keys from before this was recorded. ip_allow: addresses and ranges
    -- in canonical form, NULL for every address. successor_id: what a rotation made; until grace_expires_at both work.
    ALTER TABLE api_keys
      ADD COLUMN created_by text COLLATE "C",
      ADD COLUMN ip_allow text[],
      ADD COLUMN successor_id text COLLATE "C",
      ADD COLUMN grace_expires_at timestamptz,
      ADD CONSTRAINT api_keys_ip_allow_check CHECK (cardinality(ip_allow) BETWEEN 1 AND 50),
      ADD CONSTRAINT api_keys_rotation_check CHECK ((successor_id IS NULL) = (grace_expires_at IS NULL)),
      ADD CONSTRAINT api_keys_successor_fkey FOREIGN KEY (account_id, environment, successor_id)
        REFERENCES api_keys (account_id, environment, id) DEFERRABLE INITIALLY DEFERRED;
    -- A key replaces one key, and finds it by this index.
    CREATE UNIQUE INDEX api_keys_successor_key ON api_keys (account_id, environment, successor_id)
      WHERE successor_id IS NOT NULL;
    GRANT SELECT (ip_allow, grace_expires_at) ON api_keys TO countersign_system;
  `)
}

export async function down(): Promise<void> {
  throw new Error('migrations only go forward: restore a backup instead')
}
