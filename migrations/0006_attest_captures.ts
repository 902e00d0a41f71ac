// Attest, before a claim: media, the certificates that an account trusts, devices and what they prove, and capture
// sessions.

import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(MEDIA)
  await knex.raw(TRUST)
  await knex.raw(DEVICES)
  await knex.raw(CAPTURES)
}

export async function down(): Promise<void> {
  throw new Error('migrations only go forward: restore a backup instead')
}

const SCOPE = `account_id = (SELECT nullif(current_setting('app.account_id', true), ''))
      AND environment = (SELECT nullif(current_setting('app.environment', true), ''))`

const MEDIA = `
  -- One row per content: the same bytes are the same media id. The bytes themselves are in the blob store.
  -- stored: the bytes are there. erasing: the bytes are being deleted, and the row is not given for the same bytes
  -- until they are gone; erasing_since is the lease of the process that deletes. erased: the row is the rest of bytes
  -- that attestations still name by their hash.
  -- is_referenced: set by retention when a medium was old enough to go and an attestation kept it. Those are most
  -- media, and looking at each of them every hour would be most of the work.
  CREATE TABLE media (
    account_id text COLLATE "C" NOT NULL,
    environment text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    sha256 bytea NOT NULL,
    size bigint NOT NULL,
    content_type text NOT NULL,
    width integer,
    height integer,
    state text NOT NULL DEFAULT 'stored',
    is_referenced boolean NOT NULL DEFAULT false,
    created_at timestamptz NOT NULL DEFAULT now(),
    uploaded_at timestamptz NOT NULL DEFAULT now(),
    erasing_since timestamptz,
    erased_at timestamptz,
    CONSTRAINT media_pkey PRIMARY KEY (account_id, environment, id),
    CONSTRAINT media_account_fkey FOREIGN KEY (account_id) REFERENCES accounts (id),
    CONSTRAINT media_environment_check CHECK (environment IN ('sandbox', 'live')),
    CONSTRAINT media_sha256_check CHECK (octet_length(sha256) = 32),
    CONSTRAINT media_state_check CHECK (state IN ('stored', 'erasing', 'erased')),
    CONSTRAINT media_erasing_check CHECK ((state = 'erasing') = (erasing_since IS NOT NULL)),
    CONSTRAINT media_erased_check CHECK ((state = 'erased') = (erased_at IS NOT NULL))
  );
  -- Bytes that were erased may come again, as another medium.
  CREATE UNIQUE INDEX media_sha256_key ON media (sha256, account_id, environment) WHERE state <> 'erased';
  -- Both lead with the scope, and serve retention alone: their conditions keep them from every look-up by id.
  CREATE INDEX media_loose_idx ON media (account_id, environment, id) WHERE state = 'stored' AND NOT is_referenced;
  CREATE INDEX media_erasing_idx ON media (account_id, environment, id) WHERE state = 'erasing';
  ${tenant('media')}
  GRANT SELECT, INSERT, UPDATE, DELETE ON media TO countersign_app;
`

const TRUST = `
  -- Who may issue certificates to capture devices.
  CREATE TABLE root_cas (
    account_id text COLLATE "C" NOT NULL,
    environment text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    name text NOT NULL,
    certificate bytea NOT NULL,
    fingerprint bytea NOT NULL,
    subject text NOT NULL,
    not_before timestamptz NOT NULL,
    not_after timestamptz NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT root_cas_pkey PRIMARY KEY (account_id, environment, id),
    CONSTRAINT root_cas_fingerprint_key UNIQUE (fingerprint, account_id, environment),
    CONSTRAINT root_cas_account_fkey FOREIGN KEY (account_id) REFERENCES accounts (id),
    CONSTRAINT root_cas_environment_check CHECK (environment IN ('sandbox', 'live'))
  );
  ${tenant('root_cas')}
  GRANT SELECT, INSERT, DELETE ON root_cas TO countersign_app;

  -- Issuers of C2PA signatures that an account trusts beside those that the deployment names. They are apart from
  -- root_cas: an issuer of device certificates has no say over the signers of cameras and editors, nor the other way
  -- round.
  CREATE TABLE c2pa_anchors (
    account_id text COLLATE "C" NOT NULL,
    environment text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    name text NOT NULL,
    certificate bytea NOT NULL,
    fingerprint bytea NOT NULL,
    subject text NOT NULL,
    not_before timestamptz NOT NULL,
    not_after timestamptz NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT c2pa_anchors_pkey PRIMARY KEY (account_id, environment, id),
    CONSTRAINT c2pa_anchors_fingerprint_key UNIQUE (fingerprint, account_id, environment),
    CONSTRAINT c2pa_anchors_account_fkey FOREIGN KEY (account_id) REFERENCES accounts (id),
    CONSTRAINT c2pa_anchors_environment_check CHECK (environment IN ('sandbox', 'live'))
  );
  ${tenant('c2pa_anchors')}
  GRANT SELECT, INSERT, DELETE ON c2pa_anchors TO countersign_app;

  -- Keys that a vendor of devices no longer trusts. It belongs to the deployment: a list is the same for all tenants.
  -- entries: serial -> status. fetched_at: when the whole list was last fetched. attempted_at: when that was last
  -- tried, which is also the lease of the process that tries. applied_digest, applied_serials: the list by which
  -- earlier attestations were re-evaluated; NULL: none yet.
  CREATE TABLE revocation_lists (
    name text COLLATE "C" NOT NULL,
    url text COLLATE "C" NOT NULL,
    entries jsonb NOT NULL DEFAULT '{}',
    digest bytea,
    changed_at timestamptz,
    fetched_at timestamptz,
    attempted_at timestamptz NOT NULL,
    failure text,
    applied_digest bytea,
    applied_serials text[] COLLATE "C",
    CONSTRAINT revocation_lists_pkey PRIMARY KEY (name),
    CONSTRAINT revocation_lists_fetched_check CHECK ((fetched_at IS NULL) = (digest IS NULL))
  );
  GRANT SELECT, INSERT, UPDATE ON revocation_lists TO countersign_system;
`

const DEVICES = `
  -- spki_digest: SHA-256 of the public key's SubjectPublicKeyInfo. One key is one device, for ever: a revoked key
  -- can't come back under a new id.
  -- former_chains: chains that renewals replaced, newest first: the certificates of each as base64 of DER, leaf
  -- first, with commas between them. Captures from before a renewal may arrive after it.
  -- hardware: the last verdict over evidence, with its facts; NULL until some was sent. attestation_serials:
  -- certificates of that evidence as revocation lists name them, so that a list of today speaks about evidence of
  -- last year. past_serials: the same for evidence that newer evidence replaced: captures were judged by it.
  -- attest_key: the App Attest key (SubjectPublicKeyInfo) that signs one assertion per capture; attest_counter: its
  -- counter when it was enrolled.
  CREATE TABLE devices (
    account_id text COLLATE "C" NOT NULL,
    environment text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    name text,
    spki bytea NOT NULL,
    spki_digest bytea NOT NULL,
    certificate_chain bytea[] NOT NULL,
    former_chains text[] NOT NULL DEFAULT '{}',
    certificate_subject text NOT NULL,
    not_before timestamptz NOT NULL,
    not_after timestamptz NOT NULL,
    hardware_tier text NOT NULL DEFAULT 'none',
    hardware jsonb,
    attestation_serials text[] COLLATE "C" NOT NULL DEFAULT '{}',
    past_serials text[] COLLATE "C" NOT NULL DEFAULT '{}',
    attest_key bytea,
    attest_counter bigint,
    enrolled_at timestamptz NOT NULL DEFAULT now(),
    revoked_at timestamptz,
    revoke_effective_at timestamptz,
    revoke_reason text,
    CONSTRAINT devices_pkey PRIMARY KEY (account_id, environment, id),
    CONSTRAINT devices_spki_key UNIQUE (spki_digest, account_id, environment),
    CONSTRAINT devices_account_fkey FOREIGN KEY (account_id) REFERENCES accounts (id),
    CONSTRAINT devices_environment_check CHECK (environment IN ('sandbox', 'live')),
    CONSTRAINT devices_tier_check CHECK (hardware_tier IN ('none', 'software', 'tee', 'strongbox', 'secure_enclave')),
    CONSTRAINT devices_revoked_check CHECK ((revoked_at IS NULL) = (revoke_effective_at IS NULL)),
    CONSTRAINT devices_attest_check CHECK ((attest_key IS NULL) = (attest_counter IS NULL)),
    CONSTRAINT devices_proven_check CHECK (hardware_tier = 'none' OR hardware IS NOT NULL)
  );
  -- The filters and the order of the list of devices. An old fleet expires first: its newest devices are read last.
  CREATE INDEX devices_expiry_idx ON devices (account_id, environment, not_after, id) INCLUDE (revoked_at);
  CREATE INDEX devices_revoked_idx ON devices (account_id, environment, id) WHERE revoked_at IS NOT NULL;
  CREATE INDEX devices_tier_idx ON devices (hardware_tier, account_id, environment, id);
  -- Devices whose certificate expires soon, for the overview of an account.
  CREATE INDEX devices_expiring_idx ON devices (account_id, environment, not_after) WHERE revoked_at IS NULL;
  ${tenant('devices')}
  GRANT SELECT, INSERT, UPDATE, DELETE ON devices TO countersign_app;

  -- The history of a device, which only grows. actor: the person that the key named; NULL where it named none.
  -- detail: what the entry says of the device (tiers before and after, until when a certificate is valid).
  CREATE TABLE device_entries (
    account_id text COLLATE "C" NOT NULL,
    environment text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    device_id text COLLATE "C" NOT NULL,
    kind text COLLATE "C" NOT NULL,
    actor text COLLATE "C",
    key_id text COLLATE "C",
    reason text,
    detail jsonb NOT NULL DEFAULT '{}',
    at timestamptz NOT NULL,
    CONSTRAINT device_entries_pkey PRIMARY KEY (account_id, environment, id),
    CONSTRAINT device_entries_device_fkey FOREIGN KEY (account_id, environment, device_id)
      REFERENCES devices (account_id, environment, id) ON DELETE CASCADE,
    CONSTRAINT device_entries_environment_check CHECK (environment IN ('sandbox', 'live')),
    CONSTRAINT device_entries_kind_check CHECK (kind IN ('enrolled', 'renewed', 'attested', 'revoked'))
  );
  CREATE INDEX device_entries_device_idx ON device_entries (device_id, account_id, environment, id);
  ${tenant('device_entries')}
  GRANT SELECT, INSERT ON device_entries TO countersign_app;

  -- Challenges that evidence of hardware answers. consumed_by: the device whose evidence answered it. One guarded
  -- UPDATE consumes it, so that only one wins.
  CREATE TABLE device_challenges (
    account_id text COLLATE "C" NOT NULL,
    environment text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    challenge text COLLATE "C" NOT NULL,
    issued_at timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz NOT NULL,
    consumed_by text COLLATE "C",
    consumed_at timestamptz,
    CONSTRAINT device_challenges_pkey PRIMARY KEY (account_id, environment, id),
    CONSTRAINT device_challenges_challenge_key UNIQUE (challenge, account_id, environment),
    CONSTRAINT device_challenges_account_fkey FOREIGN KEY (account_id) REFERENCES accounts (id),
    CONSTRAINT device_challenges_environment_check CHECK (environment IN ('sandbox', 'live')),
    CONSTRAINT device_challenges_consumed_check CHECK ((consumed_by IS NULL) = (consumed_at IS NULL))
  );
  ${tenant('device_challenges')}
  GRANT SELECT, INSERT, UPDATE, DELETE ON device_challenges TO countersign_app;

  -- The counters of App Attest that captures used. A capture that inserts the row has the counter; a second one with
  -- the same counter is a replay. key_digest: SHA-256 of the key's SubjectPublicKeyInfo. A device that is attested
  -- again may have a new key, which counts from one: a counter belongs to its key.
  CREATE TABLE assertion_counters (
    account_id text COLLATE "C" NOT NULL,
    environment text COLLATE "C" NOT NULL,
    device_id text COLLATE "C" NOT NULL,
    key_digest bytea NOT NULL,
    counter bigint NOT NULL,
    attestation_id text COLLATE "C" NOT NULL,
    used_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT assertion_counters_pkey PRIMARY KEY (device_id, key_digest, counter, account_id, environment),
    CONSTRAINT assertion_counters_device_fkey FOREIGN KEY (account_id, environment, device_id)
      REFERENCES devices (account_id, environment, id) ON DELETE CASCADE,
    CONSTRAINT assertion_counters_environment_check CHECK (environment IN ('sandbox', 'live')),
    CONSTRAINT assertion_counters_counter_check CHECK (counter BETWEEN 0 AND 4294967295),
    CONSTRAINT assertion_counters_digest_check CHECK (octet_length(key_digest) = 32)
  );
  CREATE INDEX assertion_counters_attestation_idx ON assertion_counters (attestation_id, account_id, environment);
  ${tenant('assertion_counters')}
  -- DELETE: a worker may have used a counter for a capture before it was cancelled, and a cancelled capture counts as
  -- never submitted.
  GRANT SELECT, INSERT, DELETE ON assertion_counters TO countersign_app;
`

const CAPTURES = `
  -- consumed_by: the attestation that used the nonce; one guarded UPDATE consumes it, so that only one wins.
  -- stream_*: a capture that is sent while it is recorded. stream_type: the content type of the chunks, given with
  -- the first one. stream_chunks, stream_bytes: how much has arrived, so that a limit needs no count.
  -- stream_media_id: the medium that the chunks were put together to; from then on none is taken. stream_released_at:
  -- since when the bytes of the chunks are not kept beside it.
  CREATE TABLE capture_sessions (
    account_id text COLLATE "C" NOT NULL,
    environment text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    nonce text COLLATE "C" NOT NULL,
    device_id text COLLATE "C",
    claim_reference text,
    issued_at timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz NOT NULL,
    consumed_by text COLLATE "C",
    consumed_at timestamptz,
    stream_type text,
    stream_chunks integer NOT NULL DEFAULT 0,
    stream_bytes bigint NOT NULL DEFAULT 0,
    stream_media_id text COLLATE "C",
    stream_released_at timestamptz,
    CONSTRAINT capture_sessions_pkey PRIMARY KEY (account_id, environment, id),
    CONSTRAINT capture_sessions_nonce_key UNIQUE (nonce, account_id, environment),
    CONSTRAINT capture_sessions_account_fkey FOREIGN KEY (account_id) REFERENCES accounts (id),
    CONSTRAINT capture_sessions_device_fkey FOREIGN KEY (account_id, environment, device_id)
      REFERENCES devices (account_id, environment, id),
    CONSTRAINT capture_sessions_environment_check CHECK (environment IN ('sandbox', 'live')),
    CONSTRAINT capture_sessions_stream_check CHECK (stream_chunks = 0 OR stream_type IS NOT NULL)
  );
  -- The list of capture sessions: by device, and by whether they were used.
  CREATE INDEX capture_sessions_device_idx ON capture_sessions (device_id, account_id, environment, id)
    WHERE device_id IS NOT NULL;
  CREATE INDEX capture_sessions_open_idx ON capture_sessions (account_id, environment, id)
    WHERE coalesce(consumed_by, stream_media_id) IS NULL;
  CREATE INDEX capture_sessions_closed_idx ON capture_sessions (account_id, environment, id)
    WHERE coalesce(consumed_by, stream_media_id) IS NOT NULL;
  CREATE INDEX capture_sessions_stream_idx ON capture_sessions (stream_media_id, account_id, environment)
    WHERE stream_media_id IS NOT NULL;
  -- Retention releases chunks.
  CREATE INDEX capture_sessions_unreleased_idx ON capture_sessions (account_id, environment, id)
    WHERE stream_media_id IS NOT NULL AND stream_released_at IS NULL;
  ${tenant('capture_sessions')}
  GRANT SELECT, INSERT, UPDATE, DELETE ON capture_sessions TO countersign_app;

  -- The chunks of a capture, each with the time of its arrival. The bytes are media of their own, found by sha256,
  -- until they are put together or nobody came for them.
  CREATE TABLE capture_chunks (
    account_id text COLLATE "C" NOT NULL,
    environment text COLLATE "C" NOT NULL,
    session_id text COLLATE "C" NOT NULL,
    chunk_index integer NOT NULL,
    sha256 bytea NOT NULL,
    size bigint NOT NULL,
    arrived_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT capture_chunks_pkey PRIMARY KEY (session_id, chunk_index, account_id, environment),
    CONSTRAINT capture_chunks_session_fkey FOREIGN KEY (account_id, environment, session_id)
      REFERENCES capture_sessions (account_id, environment, id) ON DELETE CASCADE,
    CONSTRAINT capture_chunks_environment_check CHECK (environment IN ('sandbox', 'live')),
    CONSTRAINT capture_chunks_sha256_check CHECK (octet_length(sha256) = 32),
    CONSTRAINT capture_chunks_index_check CHECK (chunk_index BETWEEN 0 AND 9999)
  );
  CREATE INDEX capture_chunks_sha256_idx ON capture_chunks (sha256, account_id, environment);
  CREATE INDEX capture_chunks_arrival_idx ON capture_chunks (account_id, environment, arrived_at);
  ${tenant('capture_chunks')}
  GRANT SELECT, INSERT, DELETE ON capture_chunks TO countersign_app;
`

/** Row-level security of a tenant table, which the erasure of a closed account reaches too. */
function tenant(table: string): string {
  return `
    ALTER TABLE ${table} ENABLE ROW LEVEL SECURITY;
    ALTER TABLE ${table} FORCE ROW LEVEL SECURITY;
    CREATE POLICY ${table}_tenant ON ${table} TO countersign_app USING (${SCOPE}) WITH CHECK (${SCOPE});
    SELECT admit_erasure('${table}');`
}
