import { idsBefore } from '#src/platform/ids.ts'
import type { Step } from '#src/platform/retention.ts'

/**
 * Nonces that expired before then. One whose capture still waits for its judgement stays: without it, the capture would be
 * judged as a replay.
 */
export const forgetSessions: Step = async (tx, { environment }, { before, limit }) => {
  const gone = await tx.query(
    `DELETE FROM capture_sessions WHERE id IN (
       SELECT id FROM capture_sessions WHERE id < $1 AND expires_at < $2
         AND NOT EXISTS (SELECT FROM attestations WHERE attestations.id = capture_sessions.consumed_by
           AND attestations.status IN ('queued', 'failed') OFFSET 0)
       ORDER BY id LIMIT $3)
     RETURNING id`,
    [idsBefore('cap', environment, before), before, limit],
  )
  return gone.length
}
