import type { Knex } from 'knex'

const TENANT = `account_id = nullif(current_setting('app.account_id', true), '')
  AND environment = nullif(current_setting('app.environment', true), '')`

// Captures that are sent while they are recorded: their chunks, each with the time at which it was here.
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- stream_type: the content type of the chunks, said with the first one. stream_chunks, stream_bytes: how much has come, so
    -- that a limit needs no count. stream_media_id: what the chunks were put together to; from then on none is taken.
    -- stream_released_at: since when the bytes of the chunks are not kept beside that.
    ALTER TABLE capture_sessions
      ADD COLUMN stream_type text,
      ADD COLUMN stream_chunks integer NOT NULL DEFAULT 0,
      ADD COLUMN stream_bytes bigint NOT NULL DEFAULT 0,
      ADD COLUMN stream_media_id text COLLATE "C",
      ADD COLUMN stream_released_at timestamptz,
      ADD CONSTRAINT capture_sessions_stream_check CHECK (stream_chunks = 0 OR stream_type IS NOT NULL);
    CREATE INDEX capture_sessions_stream_idx ON capture_sessions (stream_media_id, account_id, environment)
      WHERE stream_media_id IS NOT NULL;
    CREATE INDEX capture_sessions_unreleased_idx ON capture_sessions (account_id, environment, id)
      WHERE stream_media_id IS NOT NULL AND stream_released_at IS NULL;

    -- The bytes are media of their own, found by sha256, until they are put together or nobody came for them.
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

    ALTER TABLE capture_chunks ENABLE ROW LEVEL SECURITY;
    ALTER TABLE capture_chunks FORCE ROW LEVEL SECURITY;
    CREATE POLICY capture_chunks_tenant ON capture_chunks TO countersign_app USING (${TENANT}) WITH CHECK (${TENANT});
    GRANT SELECT, INSERT, DELETE ON capture_chunks TO countersign_app;
  `)
}

export async function down(): Promise<void> {
  throw new Error('migrations only go forward: restore a backup instead')
}
