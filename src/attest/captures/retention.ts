import { idsBefore } from '#src/platform/ids.ts'
import { deleteRows, type Step } from '#src/platform/retention.ts'

/**
 * Nonces that expired before then. One whose capture still waits for its judgement stays: without it, the capture would be
 * judged as a replay.
 */
export const forgetSessions: Step = async (tx, { environment }, { before, limit }) =>
  deleteRows(
    tx,
    'capture_sessions',
    await tx.query(
      `SELECT id FROM capture_sessions WHERE id < $1 AND expires_at < $2
         AND NOT EXISTS (SELECT FROM attestations WHERE attestations.id = capture_sessions.consumed_by
           AND attestations.status IN ('queued', 'failed') OFFSET 0)
       ORDER BY id LIMIT $3`,
      [idsBefore('cap', environment, before), before, limit],
    ),
  )
