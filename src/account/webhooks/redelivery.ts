// Sends deliveries again: the same row, whose schedule begins anew, with a job of its own. Its log goes on.

import type { Tx } from '#src/platform/db/database.ts'
import { newJobId, type Scope } from '#src/platform/ids.ts'
import { dropJobs, enqueue } from '#src/platform/jobs/backlog.ts'
import { laneOf } from './circuit.ts'

/** A delivery with more is not sent again: its log is read whole, with 16 KiB of each answer. */
export const MAX_RESENT_ATTEMPTS = 50

/**
 * @param deliveries Locked by this transaction, and without a job that may still run.
 * @param isDirect A person asked for this one: it goes first, also while the circuit of its endpoint is open. Others go
 * behind what is sent for the first time.
 */
export async function sendAgain(
  tx: Tx,
  scope: Scope,
  deliveries: readonly { id: string; endpointId: string }[],
  { isDirect }: { isDirect: boolean },
): Promise<void> {
  if (deliveries.length === 0) return
  const jobIds = deliveries.map(() => newJobId())
  const ids = deliveries.map(({ id }) => id)
  const old = await tx.query<{ jobId: string }>('SELECT job_id AS "jobId" FROM deliveries WHERE id = ANY($1::text[])', [
    ids,
  ])
  // A dead job that is redriven later would attempt the delivery beside its new job.
  await dropJobs(
    tx,
    old.map(({ jobId }) => jobId),
  )
  await tx.query(
    `UPDATE deliveries SET status = 'pending', failed_at = NULL, cancelled_at = NULL, next_attempt_at = now(),
       earlier_attempts = attempts, is_direct = $3, job_id = again.job_id
     FROM unnest($1::text[], $2::uuid[]) AS again (id, job_id)
     WHERE deliveries.id = again.id AND deliveries.id = ANY((SELECT $1::text[])::text[])`,
    [ids, jobIds, isDirect],
  )
  await enqueue(
    tx,
    'deliver',
    scope,
    deliveries.map(({ id, endpointId }, index) => ({
      id: jobIds[index] ?? '',
      payload: { deliveryId: id },
      lane: laneOf(endpointId, { isDirect }),
      priority: isDirect ? ('interactive' as const) : ('bulk' as const),
    })),
  )
}
