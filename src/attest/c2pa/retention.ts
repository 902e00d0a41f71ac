import { idsBefore } from '#src/platform/ids.ts'
import { deleteRows, type Step } from '#src/platform/retention.ts'

/** For accounts whose keys are published: others keep theirs until they delete them. */
export const forgetC2paAnchors: Step = async (tx, { environment }, { before, limit }) =>
  deleteRows(
    tx,
    'c2pa_anchors',
    await tx.query(`SELECT id FROM c2pa_anchors WHERE id < $1 AND created_at < $2 ORDER BY id LIMIT $3`, [
      idsBefore('cpa', environment, before),
      before,
      limit,
    ]),
  )
