// Calls to a detector: a row before each call, its end afterwards, and the lookups that avoid a call.

import type { Tx } from '#src/platform/db/database.ts'
import type { Scope } from '#src/platform/ids.ts'
import type { ModelScore } from './detectors/detector.ts'

export interface Asked {
  screeningId: string
  mediaSha256: Buffer
  detector: string
  version: string
}

export interface KnownScores {
  genai: number | null
  deepfake: number | null
  models: ModelScore[]
}

/**
 * The condition of a score by the same detector. The planner doesn't look into CASE: knowing how few rows have one detector, it would
 * read and sort all scores of a file that was screened thousands of times, instead of beginning with the latest.
 */
const isBy = (detector: string, version: string) =>
  `CASE detector WHEN ${detector} THEN detector_version = ${version} ELSE false END`

// After this time a call has ended, or its process has.
const CALL_LASTS = `interval '60 seconds'`

/** Until the transaction ends, no other one decides about a call for these bytes. */
export async function lockBytes(tx: Tx, { accountId, environment }: Scope, { mediaSha256 }: Asked): Promise<void> {
  await tx.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [
    `screen ${accountId} ${environment} ${mediaSha256.toString('hex')}`,
  ])
}

export async function findKnownScores(tx: Tx, asked: Asked): Promise<KnownScores | undefined> {
  const [row] = await tx.query<KnownScores>(
    `SELECT genai_score AS genai, deepfake_score AS deepfake, models FROM screenings
     WHERE media_sha256 = $1 AND status = 'scored' AND ${isBy('$2', '$3')}
     ORDER BY completed_at DESC, id DESC LIMIT 1`,
    [asked.mediaSha256, asked.detector, asked.version],
  )
  return row
}

/** The same for several files at once; those without scores are left out. Digests must be distinct. */
export async function findScoresOf(
  tx: Tx,
  digests: readonly Buffer[],
  { name, version }: { name: string; version: string },
): Promise<(KnownScores & { sha256: string })[]> {
  if (digests.length === 0) return []
  return tx.query<KnownScores & { sha256: string }>(
    // The array stands in a subquery: see settleAll of the backlog.
    `SELECT encode(asked.digest, 'hex') AS sha256, known.* FROM unnest((SELECT $1::bytea[])) AS asked (digest)
     CROSS JOIN LATERAL (SELECT genai_score AS genai, deepfake_score AS deepfake, models FROM screenings
       WHERE media_sha256 = asked.digest AND status = 'scored' AND ${isBy('$2', '$3')}
       ORDER BY completed_at DESC, id DESC LIMIT 1) AS known`,
    [digests, name, version],
  )
}

/** Whether another screening is asking about the same bytes now. */
export async function isBeingAsked(tx: Tx, asked: Asked): Promise<boolean> {
  const rows = await tx.query(
    `SELECT FROM screening_calls WHERE media_sha256 = $1 AND finished_at IS NULL AND detector = $2
       AND detector_version = $3 AND screening_id <> $4 AND started_at > now() - ${CALL_LASTS} LIMIT 1`,
    [asked.mediaSha256, asked.detector, asked.version, asked.screeningId],
  )
  return rows.length > 0
}

/** Writes the row of a call that is about to be made; returns its number. */
export async function beginCall(tx: Tx, scope: Scope, asked: Asked): Promise<number> {
  const [row] = await tx.query<{ seq: number }>(
    `INSERT INTO screening_calls (account_id, environment, screening_id, seq, media_sha256, detector, detector_version)
     SELECT $1, $2, $3, coalesce(max(seq), 0) + 1, $4, $5, $6 FROM screening_calls WHERE screening_id = $3
     RETURNING seq`,
    [scope.accountId, scope.environment, asked.screeningId, asked.mediaSha256, asked.detector, asked.version],
  )
  if (row === undefined) throw new Error('a call has no number')
  return row.seq
}

export interface CallResult {
  outcome: string
  durationMs: number
  vendorId?: string | null
}

export async function finishCall(
  tx: Tx,
  { screeningId, seq }: { screeningId: string; seq: number },
  { outcome, durationMs, vendorId = null }: CallResult,
): Promise<void> {
  await tx.query(
    `UPDATE screening_calls SET finished_at = now(), outcome = $3, duration_ms = $4, vendor_id = $5
     WHERE screening_id = $1 AND seq = $2 AND finished_at IS NULL`,
    [screeningId, seq, outcome, Math.round(durationMs), vendorId],
  )
}
