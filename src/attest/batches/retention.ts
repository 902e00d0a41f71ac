import { idsBefore } from '#src/platform/ids.ts'
import type { Step } from '#src/platform/retention.ts'

/** Batches of which no attestation is left. */
export const forgetBatches: Step = async (tx, { environment }, { before, limit }) => {
  const gone = await tx.query(
    `DELETE FROM batches WHERE id IN (
       SELECT id FROM batches WHERE id < $1 AND created_at < $2
         AND NOT EXISTS (SELECT FROM attestations WHERE attestations.batch_id = batches.id OFFSET 0)
       ORDER BY id LIMIT $3 FOR UPDATE SKIP LOCKED)
     RETURNING id`,
    [idsBefore('bat', environment, before), before, limit],
  )
  return gone.length
}
