// A re-evaluation is forgotten with its marks, which are as many as the attestations that it touched: those go first.

import { idsBefore } from '#src/platform/ids.ts'
import { deleteRows, type Step } from '#src/platform/retention.ts'

export const forgetReevaluations: Step = async (tx, { environment }, { before, limit }) => {
  const old = await tx.query<{ id: string }>(
    `SELECT id FROM reevaluations WHERE id < $1 AND created_at < $2 ORDER BY id LIMIT $3 FOR UPDATE SKIP LOCKED`,
    [idsBefore('ree', environment, before), before, limit],
  )
  let left = limit
  const empty: { id: string }[] = []
  for (const { id } of old) {
    const gone = await tx.query(
      `DELETE FROM reevaluation_marks WHERE reevaluation_id = $1 AND attestation_id = ANY(ARRAY(
         SELECT attestation_id FROM reevaluation_marks WHERE reevaluation_id = $1 LIMIT $2)) RETURNING 1`,
      [id, left],
    )
    left -= gone.length
    if (left <= 0) return limit
    empty.push({ id })
  }
  return (await deleteRows(tx, 'reevaluations', empty)) + limit - left
}
