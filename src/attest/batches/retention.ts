import { idsBefore } from '#src/platform/ids.ts'
import { deleteRows, type Step } from '#src/platform/retention.ts'

/** Batches of which no attestation is left. */
export const forgetBatches: Step = async (tx, { environment }, { before, limit }) =>
  deleteRows(
    tx,
    'batches',
    await tx.query(
      `SELECT id FROM batches WHERE id < $1 AND created_at < $2
         AND NOT EXISTS (SELECT FROM attestations WHERE attestations.batch_id = batches.id OFFSET 0)
       ORDER BY id LIMIT $3 FOR UPDATE SKIP LOCKED`,
      [idsBefore('bat', environment, before), before, limit],
    ),
  )
