// A transaction that adds a chunk, closes the stream or reads it as complete locks the session's row first, so the
// chunks that it has read don't change until it ends.

import type { Tx } from '#src/platform/db/database.ts'
import { conditionsOfRange, countOf, type TimeRange } from '#src/platform/db/id-ranges.ts'
import type { Scope } from '#src/platform/ids.ts'
import type { PurgeStep } from '#src/platform/retention.ts'
import { type Doomed, takeMedia } from '../media/erase-rows.ts'
import type { MediaType } from '../media/sniff.ts'

/** A session with the state of its stream. */
export interface StreamRow {
  id: string
  nonce: string
  deviceId: string | null
  claimReference: string | null
  issuedAt: Date
  expiresAt: Date
  consumedBy: string | null
  /** Null until the first chunk. */
  contentType: MediaType | null
  chunkCount: number
  totalBytes: number
  /** The media assembled from the chunks; if set, the stream is closed. */
  mediaId: string | null
}

export interface ChunkRow {
  index: number
  /** 64 lower-case hexadecimal digits. */
  sha256: string
  bytes: number
  /** Arrival time by Postgres's clock. */
  arrivedAt: Date
}

const STREAM = `id, nonce, device_id AS "deviceId", claim_reference AS "claimReference", issued_at AS "issuedAt", expires_at AS "expiresAt",
  consumed_by AS "consumedBy", stream_type AS "contentType", stream_chunks AS "chunkCount",
  stream_bytes AS "totalBytes", stream_media_id AS "mediaId"`
const CHUNK = `chunk_index AS index, encode(sha256, 'hex') AS sha256, size AS bytes, arrived_at AS "arrivedAt"`

export async function findStream(tx: Tx, id: string): Promise<StreamRow | undefined> {
  const [row] = await tx.query<StreamRow>(`SELECT ${STREAM} FROM capture_sessions WHERE id = $1`, [id])
  return row
}

export interface StreamFilter extends TimeRange {
  /** true: neither submitted nor assembled; false: one of both. */
  isOpen?: boolean | undefined
  deviceId?: string | undefined
}

/** Newest first. */
export async function findStreams(
  tx: Tx,
  scope: Scope,
  filter: StreamFilter,
  { before, limit }: { before: string | undefined; limit: number },
): Promise<StreamRow[]> {
  const { where, values } = conditionsOf(scope, filter)
  if (before !== undefined) where.push(`id < $${values.push(before)}`)
  return tx.adhoc<StreamRow>(
    `SELECT ${STREAM} FROM capture_sessions WHERE ${where.join(' AND ')} ORDER BY id DESC LIMIT $${values.push(limit)}`,
    values,
  )
}

export async function countStreams(tx: Tx, scope: Scope, filter: StreamFilter): Promise<number> {
  const { where, values } = conditionsOf(scope, filter)
  const [row] = await tx.adhoc<{ count: number }>(countOf(`capture_sessions WHERE ${where.join(' AND ')}`), values)
  return row?.count ?? 0
}

function conditionsOf({ environment }: Scope, { isOpen, deviceId, ...range }: StreamFilter) {
  const values: unknown[] = []
  const where = ['true', ...conditionsOfRange(values, { type: 'cap', environment, time: 'issued_at' }, range)]
  // The condition is written as in the indexes.
  if (isOpen !== undefined) where.push(`coalesce(consumed_by, stream_media_id) IS ${isOpen ? '' : 'NOT '}NULL`)
  if (deviceId !== undefined) where.push(`device_id = $${values.push(deviceId)}`)
  return { where, values }
}

export async function lockStream(tx: Tx, id: string): Promise<StreamRow | undefined> {
  const [row] = await tx.query<StreamRow>(`SELECT ${STREAM} FROM capture_sessions WHERE id = $1 FOR UPDATE`, [id])
  return row
}

export async function findChunk(tx: Tx, sessionId: string, index: number): Promise<ChunkRow | undefined> {
  const [row] = await tx.query<ChunkRow>(
    `SELECT ${CHUNK} FROM capture_chunks WHERE session_id = $1 AND chunk_index = $2`,
    [sessionId, index],
  )
  return row
}

/** Returns the chunks in the order of their index. */
export async function findChunks(tx: Tx, sessionId: string): Promise<ChunkRow[]> {
  return tx.query<ChunkRow>(`SELECT ${CHUNK} FROM capture_chunks WHERE session_id = $1 ORDER BY chunk_index`, [
    sessionId,
  ])
}

/** Adds a chunk to a stream whose row is locked. */
export async function insertChunk(
  tx: Tx,
  scope: Scope,
  sessionId: string,
  { index, sha256, bytes, contentType }: { index: number; sha256: string; bytes: number; contentType: MediaType },
): Promise<ChunkRow> {
  const [[row]] = await Promise.all([
    tx.query<ChunkRow>(
      `INSERT INTO capture_chunks (account_id, environment, session_id, chunk_index, sha256, size)
       VALUES ($1, $2, $3, $4, $5, $6) RETURNING ${CHUNK}`,
      [scope.accountId, scope.environment, sessionId, index, Buffer.from(sha256, 'hex'), bytes],
    ),
    tx.query(
      `UPDATE capture_sessions SET stream_type = $2, stream_chunks = stream_chunks + 1, stream_bytes = stream_bytes + $3
       WHERE id = $1`,
      [sessionId, contentType, bytes],
    ),
  ])
  if (row === undefined) throw new Error('a chunk that was just inserted is not there')
  return row
}

export async function closeStream(tx: Tx, id: string, mediaId: string): Promise<void> {
  await tx.query('UPDATE capture_sessions SET stream_media_id = $2 WHERE id = $1', [id, mediaId])
}

/** Assembled streams whose chunks are still stored separately. */
export async function findUnreleased(tx: Tx, limit: number): Promise<string[]> {
  const rows = await tx.query<{ id: string }>(
    `SELECT id FROM capture_sessions WHERE stream_media_id IS NOT NULL AND stream_released_at IS NULL
     ORDER BY id LIMIT $1`,
    [limit],
  )
  return rows.map(({ id }) => id)
}

/** Takes the remaining chunks of captures: those assembled to their media, and those sent under their nonces. */
export async function takeChunksOf(
  tx: Tx,
  captures: readonly { mediaId: string; submission: unknown }[],
): Promise<Doomed[]> {
  const rows = await tx.query<{ id: string }>(
    `SELECT id FROM capture_sessions WHERE stream_media_id = ANY($1::text[]) AND stream_released_at IS NULL
     UNION SELECT id FROM capture_sessions WHERE nonce = ANY($2::text[]) AND stream_chunks > 0 AND stream_released_at IS NULL`,
    [captures.map(({ mediaId }) => mediaId), captures.flatMap(({ submission }) => nonceOf(submission) ?? [])],
  )
  return releaseChunks(
    tx,
    rows.map(({ id }) => id),
  )
}

/**
 * Marks the bytes of these sessions' chunks for erasure, except those that are needed elsewhere: by an attestation, as
 * the assembled media of a stream, or as a chunk with the same bytes in an open stream (two recordings of one phone can
 * begin alike). The rows of the chunks stay, because their arrival times are evaluated.
 */
export async function releaseChunks(tx: Tx, sessionIds: readonly string[]): Promise<Doomed[]> {
  if (sessionIds.length === 0) return []
  const locked = await tx.query<{ id: string }>(
    `SELECT id FROM media WHERE id = ANY(ARRAY(
       SELECT m.id FROM capture_chunks c
       CROSS JOIN LATERAL (SELECT id FROM media WHERE sha256 = c.sha256 AND state = 'stored' LIMIT 1) m
       WHERE c.session_id = ANY($1)
     )) AND state = 'stored' ORDER BY id FOR UPDATE`,
    [sessionIds],
  )
  const ids = locked.map(({ id }) => id)
  await tx.query('UPDATE capture_sessions SET stream_released_at = now() WHERE id = ANY($1)', [sessionIds])
  // Statements after the locks: a transaction that came to need one of them has committed, or waits and finds none.
  const needed = await tx.query<{ id: string }>(
    `SELECT wanted.id FROM unnest($1::text[]) AS wanted (id)
     WHERE EXISTS (SELECT FROM attestations WHERE attestations.media_id = wanted.id OFFSET 0)
       OR EXISTS (SELECT FROM capture_sessions WHERE stream_media_id = wanted.id OFFSET 0)
       OR EXISTS (SELECT FROM media CROSS JOIN LATERAL (
            SELECT session_id FROM capture_chunks WHERE capture_chunks.sha256 = media.sha256
              AND capture_chunks.session_id <> ALL($2) OFFSET 0
          ) AS other CROSS JOIN LATERAL (
            SELECT FROM capture_sessions WHERE capture_sessions.id = other.session_id AND stream_media_id IS NULL LIMIT 1
          ) AS open WHERE media.id = wanted.id OFFSET 0)`,
    [ids, sessionIds],
  )
  const kept = new Set(needed.map(({ id }) => id))
  return takeMedia(
    tx,
    ids.filter((id) => !kept.has(id)),
  )
}

function nonceOf(submission: unknown): string | undefined {
  const { bundle } = submission as { bundle?: { session_nonce?: unknown } }
  return typeof bundle?.session_nonce === 'string' ? bundle.session_nonce : undefined
}

/** Deletes old chunks of streams that were never assembled. Their bytes are unreferenced media. */
export const purgeChunks: PurgeStep = async (tx, _scope, { before, limit }) => {
  const gone = await tx.query(
    `DELETE FROM capture_chunks WHERE ctid = ANY(ARRAY(
       SELECT ctid FROM capture_chunks WHERE arrived_at < $1
         AND EXISTS (SELECT FROM capture_sessions WHERE capture_sessions.id = capture_chunks.session_id
           AND stream_media_id IS NULL OFFSET 0)
       ORDER BY arrived_at LIMIT $2))
     RETURNING 1`,
    [before, limit],
  )
  return gone.length
}
