// A capture that was cancelled before its evaluation counts as never submitted: its external id, nonce and counter are
// free again, and its claim loses what only this capture stated. It may be submitted again, or retried.

import { giveBackLines } from '#src/account/usage/meter.ts'
import type { Tx } from '#src/platform/db/database.ts'
import type { Scope } from '#src/platform/ids.ts'
import { freeNonces } from '../captures/rows.ts'
import type { NewClaim } from './claim-rows.ts'

interface Cancelled {
  id: string
  claimId: string
  nonce: string | null
}

export interface OpenCapture {
  id: string
  jobId: string
}

/** Cancels captures of a batch whose jobs will not run. Returns the ids of their claims. */
export async function cancelCaptures(
  tx: Tx,
  scope: Scope,
  { batchId, captures }: { batchId: string; captures: readonly OpenCapture[] },
): Promise<string[]> {
  const cancelled = await tx.query<Cancelled>(
    // The query searches by id: by batch, each step of a long one would read all its lines. A retried capture has
    // another job.
    `UPDATE attestations SET status = 'cancelled', cancelled_external_id = external_id, external_id = NULL
     WHERE id = ANY((SELECT $1::text[])::text[]) AND job_id = ANY((SELECT $2::uuid[])::uuid[]) AND status = 'queued'
     RETURNING id, claim_id AS "claimId", submission #>> '{bundle,session_nonce}' AS nonce`,
    [captures.map(({ id }) => id), captures.map(({ jobId }) => jobId)],
  )
  if (cancelled.length === 0) return []
  await Promise.all([
    freeNonces(
      tx,
      cancelled.flatMap(({ id, nonce }) => (nonce === null ? [] : [{ nonce, attestationId: id }])),
    ),
    giveBackLines(
      tx,
      scope,
      'attest',
      cancelled.map(({ id }) => ({ id, batchId })),
    ),
    // Captures whose evaluation a worker had begun hold counters.
    tx.query('DELETE FROM assertion_counters WHERE attestation_id = ANY($1::text[])', [cancelled.map(({ id }) => id)]),
  ])
  return [...new Set(cancelled.map(({ claimId }) => claimId))]
}

/**
 * Clears what a claim states when only cancelled captures are left in it; otherwise the statements of its first capture
 * stay. Run it last in the transaction. It skips locked claims: a transaction that holds one adds a capture to it or
 * settles one, so the claim is not empty, and one that adds a capture may wait for an external id that this transaction
 * frees.
 */
export async function resetClaims(tx: Tx, claimIds: readonly string[]): Promise<void> {
  if (claimIds.length === 0) return
  const free = await tx.query<{ id: string }>(
    `SELECT id FROM claims WHERE id = ANY((SELECT $1::text[])::text[])
       AND (line IS NOT NULL OR loss_lat IS NOT NULL OR loss_lng IS NOT NULL OR loss_at IS NOT NULL)
     FOR NO KEY UPDATE SKIP LOCKED`,
    [claimIds],
  )
  // A statement after the locks, so that it sees captures committed by earlier holders of the locks.
  await tx.query(
    `UPDATE claims SET line = NULL, loss_lat = NULL, loss_lng = NULL, loss_at = NULL
     WHERE id = ANY((SELECT $1::text[])::text[])
       AND NOT EXISTS (SELECT FROM attestations WHERE claim_id = claims.id AND status <> 'cancelled' OFFSET 0)`,
    [free.map(({ id }) => id)],
  )
}

/** Whether the capture is not cancelled. It stays so until the transaction ends. */
export async function holdUncancelled(tx: Tx, id: string): Promise<boolean> {
  const rows = await tx.query(`SELECT FROM attestations WHERE id = $1 AND status <> 'cancelled' FOR SHARE`, [id])
  return rows.length === 1
}

/**
 * Adds what the claim does not state yet. false when it accepts no captures; if true, it stays open until the
 * transaction ends.
 */
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
 * Queues a cancelled capture under a new job, as if it was submitted now. false when it is no longer cancelled.
 * @throws unique_violation when its external id now names another submission.
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
