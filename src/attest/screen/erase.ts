// What the erasure of a claim takes of its screenings: what waits for a score gets none, what the file declared goes, and so
// do bytes that nobody else needs. The scores and the hash stay.

import type { Tx } from '#src/platform/db/database.ts'
import { dropJobs } from '#src/platform/jobs/backlog.ts'
import { type Doomed, takeMedia } from '../media/erase-rows.ts'

/**
 * Erases some screenings of a closed claim, in the order jobs, screenings, media. Attestations of the claim went before.
 * Answers how many, and the media whose bytes must go.
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
  // What is running finds its screening ended when it wants to settle, and leaves it as it is.
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
  // A statement after the locks: whoever refers to one of them has committed, or finds none to refer to.
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
