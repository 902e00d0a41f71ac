// Fingerprints and findings. A fingerprint that is not compared has a job of the queue compare.

import type { Tx } from '#src/platform/db/database.ts'
import type { Scope } from '#src/platform/ids.ts'
import { enqueue } from '#src/platform/jobs/backlog.ts'
import { deleteUnreferencedPictures } from './picture-rows.ts'
import type { Found, Other, Searched } from './search.ts'

export type NotComparable =
  | 'video'
  | 'no_decoder'
  | 'too_large'
  | 'unreadable'
  | 'timeout'
  | 'crashed'
  | 'flat'
  /** Its job is dead: an operator can redrive it. */
  | 'failed'
export type FingerprintState = 'due' | 'compared' | 'recheck'

export interface Evaluated {
  attestationId: string
  traceparent?: string | undefined
}

/** Queues evaluated attestations for hashing and comparison; does nothing for those already marked. */
export async function insertFingerprints(tx: Tx, scope: Scope, evaluated: readonly Evaluated[]): Promise<void> {
  if (evaluated.length === 0) return
  // Sent together. A job without a row does nothing.
  await Promise.all([
    tx.query(
      // One primary key lookup each: with an array the planner scans all attestations of the account. The array stands
      // in a subquery: see settleAll of the backlog.
      `INSERT INTO fingerprints (account_id, environment, attestation_id, claim_id, media_id)
       SELECT $1, $2, judged.id, claim_id, media_id FROM unnest((SELECT $3::text[])) AS judged (id)
       CROSS JOIN LATERAL (SELECT claim_id, media_id, erased_at FROM attestations WHERE id = judged.id LIMIT 1) AS known
       WHERE erased_at IS NULL
       ON CONFLICT ON CONSTRAINT fingerprints_pkey DO NOTHING`,
      [scope.accountId, scope.environment, evaluated.map(({ attestationId }) => attestationId)],
    ),
    enqueue(
      tx,
      'compare',
      scope,
      evaluated.map(({ attestationId, traceparent }) => ({ payload: { attestationId }, traceparent })),
    ),
  ])
}

// Results of one upload come out of order within seconds, and each late one has others compared again. What waits this
// long is compared once for all of them.
const RECHECK_AFTER_MS = 10_000

/** Jobs that no caller waits for: each is a trace of its own. */
async function enqueueBulk(tx: Tx, scope: Scope, attestationIds: readonly string[], delayMs = 0): Promise<void> {
  await enqueue(
    tx,
    'compare',
    scope,
    attestationIds.map((attestationId) => ({ payload: { attestationId }, priority: 'bulk', delayMs })),
  )
}

/**
 * Deletes the fingerprints of the attestations, the hashes that only they need, and every finding that names one of
 * them.
 */
export async function eraseFingerprints(tx: Tx, scope: Scope, attestationIds: readonly string[]): Promise<void> {
  const findNaming = () =>
    tx.query<{ id: string; exactCount: number; similarCount: number }>(
      `SELECT attestation_id AS id, count(*) FILTER (WHERE distance_bits IS NULL) AS "exactCount",
         count(*) FILTER (WHERE distance_bits IS NOT NULL) AS "similarCount"
       FROM duplicate_findings WHERE other_attestation_id = ANY($1) GROUP BY 1 ORDER BY 1`,
      [attestationIds],
    )
  const naming = await findNaming()
  await lockFingerprints(tx, [...attestationIds, ...naming.map(({ id }) => id)])
  // Once more: a comparison that held a lock has stored its findings.
  const touched = await findNaming()
  const erased = await tx.query<{ mediaId: string }>(
    'DELETE FROM fingerprints WHERE attestation_id = ANY($1) RETURNING media_id AS "mediaId"',
    [attestationIds],
  )
  // Count one less now and recheck: another finding may take the place of the deleted one.
  for (const { id, exactCount, similarCount } of touched) {
    await tx.query(
      `UPDATE fingerprints SET exact_count = greatest(0, exact_count - $2), similar_count = greatest(0, similar_count - $3)
       WHERE attestation_id = $1`,
      [id, exactCount, similarCount],
    )
  }
  await recheck(
    tx,
    scope,
    touched.map(({ id }) => id),
  )
  await deleteUnreferencedPictures(tx, [...new Set(erased.map(({ mediaId }) => mediaId))])
}

export interface Comparing extends Searched {
  /** 16 hexadecimal digits. */
  hash: string | null
  /** Why there is no hash; null when there is one. */
  notComparable: NotComparable | null
  state: Exclude<FingerprintState, 'compared'>
}

/**
 * Locks a fingerprint whose media are hashed until the transaction ends; undefined when they are not, or it is compared
 * already, or gone.
 */
export async function lockHashed(tx: Tx, attestationId: string): Promise<Comparing | undefined> {
  const [row] = await tx.query<Comparing>(
    `SELECT f.attestation_id AS "attestationId", f.claim_id AS "claimId", f.media_id AS "mediaId", f.state,
       lpad(to_hex(p.hash), 16, '0') AS hash, p.not_comparable AS "notComparable"
     FROM fingerprints f
     CROSS JOIN LATERAL (SELECT hash, not_comparable FROM pictures WHERE media_id = f.media_id LIMIT 1) p
     WHERE f.attestation_id = $1 AND f.state <> 'compared' FOR NO KEY UPDATE OF f`,
    [attestationId],
  )
  return row
}

/** Locks a fingerprint that is not compared yet, for a search of the same bytes alone; undefined as above. */
export async function lockWaiting(
  tx: Tx,
  attestationId: string,
): Promise<Omit<Comparing, 'hash' | 'notComparable'> | undefined> {
  const [row] = await tx.query<Omit<Comparing, 'hash' | 'notComparable'>>(
    `SELECT attestation_id AS "attestationId", claim_id AS "claimId", media_id AS "mediaId", state
     FROM fingerprints WHERE attestation_id = $1 AND state <> 'compared' FOR NO KEY UPDATE`,
    [attestationId],
  )
  return row
}

// Every transaction locks fingerprints from the latest to the earliest: the foreign keys of a comparison's findings lock
// earlier ones than its own.
async function lockFingerprints(tx: Tx, attestationIds: readonly string[]): Promise<void> {
  await tx.query('SELECT FROM fingerprints WHERE attestation_id = ANY($1) ORDER BY attestation_id DESC FOR UPDATE', [
    attestationIds,
  ])
}

/**
 * Queues attestations for a new comparison. A waiting attestation already has a job that has not compared yet, so an
 * attestation has one pending job at most. An attestation whose comparison failed starts anew: it may have no hash.
 */
export async function recheck(tx: Tx, scope: Scope, attestationIds: readonly string[]): Promise<void> {
  if (attestationIds.length === 0) return
  // Waits for a comparison that is under way; the next statement sees its result.
  await tx.query(
    'SELECT FROM fingerprints WHERE attestation_id = ANY($1) ORDER BY attestation_id DESC FOR NO KEY UPDATE',
    [attestationIds],
  )
  const rows = await tx.query<{ id: string }>(
    `UPDATE fingerprints SET state = CASE WHEN not_comparable = 'failed' THEN 'due' ELSE 'recheck' END,
       not_comparable = nullif(not_comparable, 'failed')
     WHERE attestation_id = ANY($1) AND state = 'compared' RETURNING attestation_id AS id`,
    [attestationIds],
  )
  await enqueueBulk(
    tx,
    scope,
    rows.map(({ id }) => id),
    RECHECK_AFTER_MS,
  )
}

/** Replaces an attestation's findings, which ends its comparison. */
export async function storeFindings(
  tx: Tx,
  scope: Scope,
  { attestationId, notComparable }: Pick<Comparing, 'attestationId' | 'notComparable'>,
  { findings, exactCount, similarCount }: Found,
): Promise<void> {
  await Promise.all([
    tx.query('DELETE FROM duplicate_findings WHERE attestation_id = $1', [attestationId]),
    insertFindings(tx, scope, attestationId, findings),
    tx.query(
      `UPDATE fingerprints SET state = 'compared', exact_count = $2, similar_count = $3, not_comparable = $4
       WHERE attestation_id = $1`,
      [attestationId, exactCount, similarCount, notComparable],
    ),
  ])
}

/** Replaces the findings of the same bytes when there will be no other comparison. Similar pictures stay. */
export async function storeExactFindings(
  tx: Tx,
  scope: Scope,
  attestationId: string,
  { findings, exactCount }: Found,
): Promise<void> {
  await Promise.all([
    tx.query(
      `DELETE FROM duplicate_findings WHERE attestation_id = $1 AND (distance_bits IS NULL OR other_claim_id = ANY($2))`,
      [attestationId, findings.map(({ claimId }) => claimId)],
    ),
    insertFindings(tx, scope, attestationId, findings),
    tx.query(
      `UPDATE fingerprints SET state = 'compared', exact_count = $2, not_comparable = coalesce(not_comparable,
         (SELECT not_comparable FROM pictures WHERE media_id = fingerprints.media_id), 'failed')
       WHERE attestation_id = $1`,
      [attestationId, exactCount],
    ),
  ])
}

async function insertFindings(tx: Tx, scope: Scope, attestationId: string, findings: readonly Other[]): Promise<void> {
  if (findings.length === 0) return
  await tx.query(
    `INSERT INTO duplicate_findings
       (account_id, environment, attestation_id, other_claim_id, other_attestation_id, distance_bits)
     SELECT $1, $2, $3, * FROM unnest($4::text[], $5::text[], $6::smallint[])`,
    [
      scope.accountId,
      scope.environment,
      attestationId,
      findings.map(({ claimId }) => claimId),
      findings.map(({ attestationId: other }) => other),
      findings.map(({ distanceBits }) => distanceBits),
    ],
  )
}

/** Undoes what a dead job wrote: the attestation waits again. */
export async function reopenFingerprint(tx: Tx, attestationId: string): Promise<void> {
  await tx.query(
    `UPDATE fingerprints SET state = 'due', not_comparable = NULL
     WHERE attestation_id = $1 AND not_comparable = 'failed'`,
    [attestationId],
  )
}

/** Another claim's attestation with its picture. */
export type ShownOther = Other & { mediaId: string }

export interface ComparedRow {
  attestationId: string
  mediaId: string
  state: FingerprintState
  notComparable: NotComparable | null
  exactCount: number
  similarCount: number
  /** Nearest first. */
  earlier: ShownOther[]
  /** Attestations whose findings name this one, oldest first. */
  later: ShownOther[]
}

/** The findings of a claim's attestations, newest first. */
export async function findCompared(
  tx: Tx,
  claimId: string,
  { before, limit, named }: { before: string | undefined; limit: number; named: number },
): Promise<ComparedRow[]> {
  return tx.query<ComparedRow>(
    `SELECT attestation_id AS "attestationId", media_id AS "mediaId", state, not_comparable AS "notComparable",
       exact_count AS "exactCount", similar_count AS "similarCount",
       coalesce((SELECT jsonb_agg(jsonb_build_object('claimId', other_claim_id, 'attestationId', other_attestation_id,
           'mediaId', theirs.media_id, 'distanceBits', distance_bits) ORDER BY distance_bits NULLS FIRST, other_attestation_id)
         FROM duplicate_findings d
         CROSS JOIN LATERAL (SELECT media_id FROM fingerprints WHERE attestation_id = d.other_attestation_id LIMIT 1) theirs
         WHERE d.attestation_id = f.attestation_id), '[]') AS earlier,
       coalesce((SELECT jsonb_agg(jsonb_build_object('claimId', claim_id, 'attestationId', attestation_id,
           'mediaId', media_id, 'distanceBits', distance_bits) ORDER BY attestation_id)
         FROM (SELECT d.attestation_id, d.distance_bits, theirs.claim_id, theirs.media_id FROM duplicate_findings d
           CROSS JOIN LATERAL (SELECT claim_id, media_id FROM fingerprints WHERE attestation_id = d.attestation_id LIMIT 1) theirs
           WHERE d.other_attestation_id = f.attestation_id ORDER BY d.attestation_id LIMIT $4) AS named), '[]') AS later
     FROM fingerprints f WHERE claim_id = $1 AND ($2::text IS NULL OR attestation_id < $2)
     ORDER BY attestation_id DESC LIMIT $3`,
    [claimId, before ?? null, limit, named],
  )
}

export async function isClaim(tx: Tx, id: string): Promise<boolean> {
  return (await tx.query('SELECT 1 FROM claims WHERE id = $1', [id])).length === 1
}
