// For accounts whose keys are published: others keep their claims until they erase them.

import { idsBefore } from '#src/platform/ids.ts'
import { deleteRows, type Step } from '#src/platform/retention.ts'

export const forgetAttestations: Step = async (tx, { environment }, { before, limit }) => {
  const old = await tx.query<{ id: string; mediaId: string }>(
    `SELECT id, media_id AS "mediaId" FROM attestations WHERE id < $1 AND accepted_at < $2 ORDER BY id LIMIT $3`,
    [idsBefore('att', environment, before), before, limit],
  )
  // Retention had noted that they were needed, and looks at them again.
  await tx.query('UPDATE media SET is_referenced = false WHERE id = ANY($1) AND is_referenced', [
    [...new Set(old.map(({ mediaId }) => mediaId))],
  ])
  return deleteRows(tx, 'attestations', old)
}

export const forgetClaims: Step = async (tx, { environment }, { before, limit }) =>
  deleteRows(
    tx,
    'claims',
    await tx.query(
      `SELECT id FROM claims WHERE id < $1 AND created_at < $2
         AND NOT EXISTS (SELECT FROM attestations WHERE attestations.claim_id = claims.id OFFSET 0)
         AND NOT EXISTS (SELECT FROM cases WHERE cases.claim_id = claims.id OFFSET 0)
       ORDER BY id LIMIT $3 FOR UPDATE SKIP LOCKED`,
      [idsBefore('clm', environment, before), before, limit],
    ),
  )
