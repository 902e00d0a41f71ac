// Erases the screenings of a claim: queued ones get no score, declared observations are deleted, and so are bytes that
// nothing else needs. Scores and hashes stay.

import type { Tx } from '#src/platform/db/database.ts'
import { dropJobs } from '#src/platform/jobs/backlog.ts'
import { type Doomed, takeMedia } from '../media/erase-rows.ts'

/**
 * Erases some screenings of a closed claim; lock order: jobs, screenings, media. The claim's attestations were erased
 * before. Returns how many, and the media whose bytes must be deleted.
 */
export async function eraseScreenings(
  tx: Tx,
  claimId: string,
  limit: number,
): Promise<{ count: number; taken: Doomed[] }> {
  const found = await tx.query<{ id: string; jobId: string; mediaId: string; status: string }>(
    `SELECT id, job_id AS "jobId", media_id AS "mediaId", status FROM screenings
     WHERE claim_id = $1 AND erased_at IS NULL ORDER BY id LIMIT $2`,
    [claimId, limit],
  )
  if (found.length === 0) return { count: 0, taken: [] }
  // A running job finds its screening ended when it settles, and leaves it as it is.
  await dropJobs(
    tx,
    found.filter(({ status }) => status === 'queued' || status === 'unavailable').map(({ jobId }) => jobId),
  )
  await tx.query(
    `UPDATE screenings SET erased_at = now(), observations = '[]',
       status = CASE WHEN status = 'queued' THEN 'unavailable' ELSE status END,
       reason = CASE WHEN status = 'queued' THEN 'erased' ELSE reason END,
       completed_at = coalesce(completed_at, now())
     WHERE id = ANY($1) AND erased_at IS NULL`,
    [found.map(({ id }) => id)],
  )
  return {
    count: found.length,
    taken: await takeLooseMedia(tx, claimId, [...new Set(found.map((one) => one.mediaId))]),
  }
}

async function takeLooseMedia(tx: Tx, claimId: string, mediaIds: readonly string[]): Promise<Doomed[]> {
  const stored = await tx.query<{ id: string }>(
    `SELECT id FROM media WHERE id = ANY($1) AND state = 'stored' ORDER BY id FOR UPDATE`,
    [mediaIds],
  )
  const ids = stored.map(({ id }) => id)
  // A statement after the locks: a transaction that refers to these media has committed, or finds no media.
  const needed = await tx.query<{ id: string }>(
    `SELECT media_id AS id FROM attestations WHERE media_id = ANY($1)
     UNION SELECT media_id FROM screenings WHERE media_id = ANY($1) AND claim_id <> $2 AND erased_at IS NULL`,
    [ids, claimId],
  )
  const kept = new Set(needed.map(({ id }) => id))
  return takeMedia(
    tx,
    ids.filter((id) => !kept.has(id)),
  )
}
