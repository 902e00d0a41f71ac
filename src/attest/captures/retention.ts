import type { Database } from '#src/platform/db/database.ts'
import { idsBefore, type Scope } from '#src/platform/ids.ts'
import { deleteRows, type Step } from '#src/platform/retention.ts'
import type { Eraser } from '../media/erase.ts'
import { findUnreleased, releaseChunks } from './stream-rows.ts'

/**
 * Nonces that expired before then. One whose capture still waits for its judgement stays: without it, the capture would be
 * judged as a replay.
 */
export const forgetSessions: Step = async (tx, { environment }, { before, limit }) =>
  deleteRows(
    tx,
    'capture_sessions',
    await tx.query(
      `SELECT id FROM capture_sessions WHERE id < $1 AND expires_at < $2
         AND NOT EXISTS (SELECT FROM attestations WHERE attestations.id = capture_sessions.consumed_by
           AND attestations.status IN ('queued', 'failed') OFFSET 0)
       ORDER BY id LIMIT $3`,
      [idsBefore('cap', environment, before), before, limit],
    ),
  )

/** Chunks that arrived before then of streams that nobody put together. Their bytes are media that nobody refers to. */
export const forgetChunks: Step = async (tx, _scope, { before, limit }) => {
  const gone = await tx.query(
    `DELETE FROM capture_chunks WHERE (session_id, chunk_index) IN (
       SELECT session_id, chunk_index FROM capture_chunks WHERE arrived_at < $1
         AND EXISTS (SELECT FROM capture_sessions WHERE capture_sessions.id = capture_chunks.session_id
           AND stream_media_id IS NULL OFFSET 0)
       ORDER BY arrived_at LIMIT $2)
     RETURNING 1`,
    [before, limit],
  )
  return gone.length
}

const STREAMS_OF_A_ROUND = 100

/** Erases the bytes of chunks that were put together to one file. Answers of how many streams. */
export async function releaseStreams(
  { db, eraser }: { db: Pick<Database, 'tenant'>; eraser: Pick<Eraser, 'eraseTaken'> },
  scope: Scope,
  signal: AbortSignal,
): Promise<number> {
  const ids = await db.tenant(scope, (tx) => findUnreleased(tx, STREAMS_OF_A_ROUND))
  let released = 0
  for (const id of ids) {
    if (signal.aborted) break
    await eraser.eraseTaken(scope, await db.tenant(scope, (tx) => releaseChunks(tx, [id])))
    released += 1
  }
  return released
}
