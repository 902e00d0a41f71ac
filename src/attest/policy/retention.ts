// For accounts whose keys are published: what anybody set there must not weigh on others for ever. Elsewhere a version stays.

import type { Step } from '#src/platform/retention.ts'

export const forgetPolicies: Step = async (tx, _scope, { before, limit }) => {
  const gone = await tx.query(
    `DELETE FROM risk_policies WHERE version = ANY(ARRAY(
       SELECT version FROM risk_policies WHERE created_at < $1 ORDER BY version LIMIT $2)) RETURNING 1`,
    [before, limit],
  )
  return gone.length
}
