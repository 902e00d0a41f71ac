// A capture that was cancelled before it was evaluated counts as never submitted: its name, its nonce and its counter are
// free again, and its claim states nothing that only it has stated. It may be submitted again, or tried again itself.

import type { Tx } from '#src/platform/db/database.ts'
import { freeNonces } from '../captures/rows.ts'
import type { NewClaim } from './claim-rows.ts'

interface Cancelled {
  id: string
  claimId: string
  nonce: string | null
}

/** Ends the captures of a batch whose jobs will not run. Answers their claims. */
export async function cancelCaptures(tx: Tx, batchId: string, jobIds: readonly string[]): Promise<string[]> {
  const cancelled = await tx.query<Cancelled>(
    `UPDATE attestations SET status = 'cancelled', cancelled_external_id = external_id, external_id = NULL
     WHERE batch_id = $1 AND job_id = ANY($2::uuid[]) AND status = 'queued'
     RETURNING id, claim_id AS "claimId", submission #>> '{bundle,session_nonce}' AS nonce`,
    [batchId, jobIds],
  )
  if (cancelled.length === 0) return []
  await Promise.all([
    freeNonces(
      tx,
      cancelled.flatMap(({ id, nonce }) => (nonce === null ? [] : [{ nonce, attestationId: id }])),
    ),
    // Of those that a worker had begun with.
    tx.query('DELETE FROM assertion_counters WHERE attestation_id = ANY($1::text[])', [cancelled.map(({ id }) => id)]),
  ])
  return [...new Set(cancelled.map(({ claimId }) => claimId))]
}

/**
 * What the first capture states of a claim stays: a claim of which nothing but cancelled captures is left states nothing. The
 * last thing of its transaction. Waits for no claim: whoever has one adds a capture to it or settles one, so something is left;
 * and one that adds a capture may wait for a name that this transaction frees.
 */
export async function resetClaims(tx: Tx, claimIds: readonly string[]): Promise<void> {
  if (claimIds.length === 0) return
  const free = await tx.query<{ id: string }>(
    `SELECT id FROM claims WHERE id = ANY((SELECT $1::text[])::text[])
       AND (line IS NOT NULL OR loss_lat IS NOT NULL OR loss_lng IS NOT NULL OR loss_at IS NOT NULL)
     FOR NO KEY UPDATE SKIP LOCKED`,
    [claimIds],
  )
  // A statement after the locks: it sees the captures of whoever had the claims before.
  await tx.query(
    `UPDATE claims SET line = NULL, loss_lat = NULL, loss_lng = NULL, loss_at = NULL
     WHERE id = ANY((SELECT $1::text[])::text[])
       AND NOT EXISTS (SELECT FROM attestations WHERE claim_id = claims.id AND status <> 'cancelled' OFFSET 0)`,
    [free.map(({ id }) => id)],
  )
}

/** Whether the capture is not cancelled, and it stays so until the transaction ends. */
export async function holdUncancelled(tx: Tx, id: string): Promise<boolean> {
  const rows = await tx.query(`SELECT FROM attestations WHERE id = $1 AND status <> 'cancelled' FOR SHARE`, [id])
  return rows.length === 1
}

/** Adds to a claim what it does not state. false when it takes no captures any more; else it does until the transaction ends. */
export async function restateClaim(tx: Tx, stated: NewClaim): Promise<boolean> {
  const rows = await tx.query(
    `UPDATE claims SET line = coalesce(line, $2), loss_lat = coalesce(loss_lat, $3), loss_lng = coalesce(loss_lng, $4),
       loss_at = coalesce(loss_at, $5)
     WHERE id = $1 AND erasing_since IS NULL RETURNING 1`,
    [stated.id, stated.line, stated.lossLat, stated.lossLng, stated.lossAt],
  )
  return rows.length === 1
}

/**
 * Queues a cancelled capture under another job, as if it was submitted now. false when it is not cancelled any more.
 * @throws unique_violation when its name was given to another submission.
 */
export async function queueCancelled(tx: Tx, id: string, jobId: string): Promise<boolean> {
  const rows = await tx.query(
    `UPDATE attestations SET status = 'queued', job_id = $2, accepted_at = now(), external_id = cancelled_external_id,
       cancelled_external_id = NULL
     WHERE id = $1 AND status = 'cancelled' AND erased_at IS NULL RETURNING 1`,
    [id, jobId],
  )
  return rows.length === 1
}
