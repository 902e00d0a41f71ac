// Lock order: jobs, attestations, media, each by id. Every transaction locks in this order.

import { type Doomed, insertErasedCopies, lockStored, takeMedia } from '#src/attest/media/erase-rows.ts'
import type { Tx } from '#src/platform/db/database.ts'
import type { Scope } from '#src/platform/ids.ts'
import type { AttestationStatus } from './rows.ts'

/** The columns of an attestation that can hold a position. */
export interface Erasable {
  id: string
  mediaId: string
  submission: unknown
  factors: unknown
  advisoryFactors: unknown
  observations: unknown
}

/**
 * Closes the claim to new captures and deletes the place of its loss. false when it is already erased or does not
 * exist. FOR UPDATE waits for transactions that hold the claim FOR KEY SHARE: foreign keys, and screenings in
 * acceptance.
 */
export async function closeClaim(tx: Tx, id: string): Promise<boolean> {
  await tx.query('SELECT FROM claims WHERE id = $1 FOR UPDATE', [id])
  const rows = await tx.query(
    `UPDATE claims SET erasing_since = coalesce(erasing_since, now()), loss_lat = NULL, loss_lng = NULL
     WHERE id = $1 AND erased_at IS NULL RETURNING id`,
    [id],
  )
  return rows.length === 1
}

export async function markErased(tx: Tx, id: string): Promise<void> {
  await tx.query(
    `UPDATE claims SET erased_at = now(), updated_at = now()
     WHERE id = $1 AND erasing_since IS NOT NULL AND erased_at IS NULL`,
    [id],
  )
}

/** Claims whose erasure began a while ago and did not finish. */
export async function findUnfinishedClaims(tx: Tx, limit: number): Promise<string[]> {
  const rows = await tx.query<{ id: string }>(
    `SELECT id FROM claims WHERE erasing_since < now() - interval '5 minutes' AND erased_at IS NULL ORDER BY id LIMIT $1`,
    [limit],
  )
  return rows.map(({ id }) => id)
}

/** Attestations of the claim that still hold something to erase. */
export async function findErasable(
  tx: Tx,
  claimId: string,
  limit: number,
): Promise<{ id: string; jobId: string; status: AttestationStatus }[]> {
  return tx.query(
    `SELECT id, job_id AS "jobId", status FROM attestations WHERE claim_id = $1 AND erased_at IS NULL ORDER BY id LIMIT $2`,
    [claimId, limit],
  )
}

export async function lockErasable(tx: Tx, ids: readonly string[]): Promise<Erasable[]> {
  return tx.query<Erasable>(
    `SELECT id, media_id AS "mediaId", submission, factors, advisory_factors AS "advisoryFactors", observations
     FROM attestations WHERE id = ANY($1) AND erased_at IS NULL ORDER BY id FOR UPDATE`,
    [ids],
  )
}

/** Writes what remains of an attestation. One without a result never gets one: those are returned. */
export async function updateErased(tx: Tx, row: Erasable): Promise<{ id: string; batchId: string | null }[]> {
  const rows = await tx.query<{ id: string; batchId: string | null; status: AttestationStatus }>(
    `UPDATE attestations SET submission = $2, factors = $3, advisory_factors = $4, observations = $5, media_id = $6,
       facts = NULL, erased_at = now(), failure = NULL,
       status = CASE WHEN status = 'evaluated' THEN status ELSE 'cancelled' END
     WHERE id = $1 RETURNING id, batch_id AS "batchId", status`,
    [
      row.id,
      JSON.stringify(row.submission),
      jsonOf(row.factors),
      jsonOf(row.advisoryFactors),
      jsonOf(row.observations),
      row.mediaId,
    ],
  )
  return rows.filter(({ status }) => status === 'cancelled')
}

/**
 * Removes the media of the claim that no other claim needs. For media that another claim needs, inserts rows that hold
 * only the hash; the attestations of this claim refer to those from now on.
 */
export async function takeMediaOfClaim(
  tx: Tx,
  scope: Scope,
  { claimId, mediaIds }: { claimId: string; mediaIds: readonly string[] },
): Promise<{ taken: Doomed[]; copies: Map<string, string> }> {
  const stored = await lockStored(tx, mediaIds)
  // A statement after the locks: a transaction that referred to these media in another claim has committed, or finds no
  // media.
  const shared = await tx.query<{ id: string }>(
    'SELECT DISTINCT media_id AS id FROM attestations WHERE media_id = ANY($1) AND claim_id <> $2',
    [stored, claimId],
  )
  const copies = await insertErasedCopies(
    tx,
    scope,
    shared.map(({ id }) => id),
  )
  const alone = stored.filter((id) => !copies.has(id))
  return { taken: await takeMedia(tx, alone), copies }
}

export async function findMediaOfClaim(tx: Tx, claimId: string): Promise<string[]> {
  const rows = await tx.query<{ id: string }>('SELECT DISTINCT media_id AS id FROM attestations WHERE claim_id = $1', [
    claimId,
  ])
  return rows.map(({ id }) => id)
}

// SQL NULL, not the JSON value null.
function jsonOf(value: unknown): string | null {
  return value === null ? null : JSON.stringify(value)
}
