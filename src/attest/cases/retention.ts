// For accounts whose keys are published: elsewhere a case lives as long as its claim.

import { idsBefore } from '#src/platform/ids.ts'
import { deleteRows, type Step } from '#src/platform/retention.ts'

/** Cases with their histories. */
export const forgetCases: Step = async (tx, { environment }, { before, limit }) =>
  deleteRows(
    tx,
    'cases',
    await tx.query(`SELECT id FROM cases WHERE id < $1 AND created_at < $2 ORDER BY id LIMIT $3`, [
      idsBefore('cas', environment, before),
      before,
      limit,
    ]),
  )
