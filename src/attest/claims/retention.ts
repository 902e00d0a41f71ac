// For accounts whose keys are published: others keep their claims until they erase them.

import { idsBefore } from '#src/platform/ids.ts'
import type { Step } from '#src/platform/retention.ts'

export const forgetAttestations: Step = async (tx, { environment }, { before, limit }) => {
  const gone = await tx.query<{ mediaId: string }>(
    `DELETE FROM attestations WHERE id IN (
       SELECT id FROM attestations WHERE id < $1 AND accepted_at < $2 ORDER BY id LIMIT $3)
     RETURNING media_id AS "mediaId"`,
    [idsBefore('att', environment, before), before, limit],
  )
  // Retention had noted that they were needed, and looks at them again.
  await tx.query('UPDATE media SET is_referenced = false WHERE id = ANY($1) AND is_referenced', [
    [...new Set(gone.map(({ mediaId }) => mediaId))],
  ])
  return gone.length
}

export const forgetClaims: Step = async (tx, { environment }, { before, limit }) => {
  const gone = await tx.query(
    `DELETE FROM claims WHERE id IN (
       SELECT id FROM claims WHERE id < $1 AND created_at < $2
         AND NOT EXISTS (SELECT FROM attestations WHERE attestations.claim_id = claims.id OFFSET 0)
       ORDER BY id LIMIT $3 FOR UPDATE SKIP LOCKED)
     RETURNING id`,
    [idsBefore('clm', environment, before), before, limit],
  )
  return gone.length
}
