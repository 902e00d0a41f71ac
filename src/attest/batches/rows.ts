import type { Tx } from '#src/platform/db/database.ts'
import { boundsOfRange, countOf, type TimeRange } from '#src/platform/db/id-ranges.ts'
import type { Rejection } from '#src/platform/http/bulk.ts'
import type { Scope } from '#src/platform/ids.ts'
import { RUNNING } from '#src/platform/jobs/backlog.ts'
import type { OpenCapture } from '../claims/cancelled-rows.ts'
import type { AttestationRow, AttestationStatus } from '../claims/rows.ts'
import type { RiskStatus } from '../factors/judge.ts'

export interface BatchSummary {
  id: string
  accepted: number
  rejectedCount: number
  /** Accepted lines whose submission already existed. */
  repeatedCount: number
  createdAt: Date
  cancelledAt: Date | null
}

// LIMIT 1 forces a lookup by id: a planner without statistics would scan all attestations of the account once per page,
// or even once per row.
const ATTESTATION_OF = (id: string) =>
  `CROSS JOIN LATERAL (SELECT * FROM attestations WHERE attestations.id = ${id} LIMIT 1) AS attestations`

const SUMMARY = `id, accepted, jsonb_array_length(rejected) AS "rejectedCount",
  jsonb_array_length(repeated) AS "repeatedCount", created_at AS "createdAt", cancelled_at AS "cancelledAt"`

/**
 * Until the transaction ends, no other batch of this account and environment is accepted: two batches that lock the
 * same claims chunk by chunk in different orders would deadlock. false when another one holds the lock: retry in a new
 * transaction, because waiting in this one would hold a connection that single calls need.
 */
export async function tryLockBatches(tx: Tx, { accountId, environment }: Scope): Promise<boolean> {
  const [row] = await tx.query<{ isLocked: boolean }>(
    'SELECT pg_try_advisory_xact_lock(hashtextextended($1, 0)) AS "isLocked"',
    [`batches ${accountId} ${environment}`],
  )
  return row?.isLocked === true
}

/** Inserted before its attestations, which refer to it; `completeBatch` adds the counts. */
export async function insertBatch(tx: Tx, scope: Scope, batch: { id: string; createdAt: Date }): Promise<void> {
  await tx.query(
    `INSERT INTO batches (account_id, environment, id, accepted, rejected, created_at) VALUES ($1, $2, $3, 0, '[]', $4)`,
    [scope.accountId, scope.environment, batch.id, batch.createdAt],
  )
}

export async function completeBatch(
  tx: Tx,
  id: string,
  outcome: {
    accepted: number
    rejected: readonly Rejection[]
    repeated: readonly [line: number, attestationId: string][]
  },
): Promise<void> {
  await tx.query('UPDATE batches SET accepted = $2, rejected = $3, repeated = $4 WHERE id = $1', [
    id,
    outcome.accepted,
    JSON.stringify(outcome.rejected),
    JSON.stringify(outcome.repeated),
  ])
}

export async function findBatch(tx: Tx, id: string): Promise<BatchSummary | undefined> {
  const [row] = await tx.query<BatchSummary>(`SELECT ${SUMMARY} FROM batches WHERE id = $1`, [id])
  return row
}

/** Rejected lines after the first `after` of them, by line, each with its place among them. */
export async function findRejected(
  tx: Tx,
  id: string,
  { after, limit }: { after: number; limit: number | null },
): Promise<{ rejection: Rejection; place: string }[]> {
  return tx.query(
    `SELECT rejection, place FROM batches CROSS JOIN jsonb_array_elements(rejected) WITH ORDINALITY AS one (rejection, place)
     WHERE batches.id = $1 AND place > $2 ORDER BY place LIMIT $3`,
    [id, after, limit],
  )
}

export interface BatchFilter extends TimeRange {}

const MATCHES = `id >= $1 AND id < $2
  AND ($3::timestamptz IS NULL OR created_at >= $3) AND ($4::timestamptz IS NULL OR created_at < $4)`

function valuesOf({ environment }: Scope, { from, to }: BatchFilter, before?: string) {
  return [...boundsOfRange({ type: 'bat', environment }, { from, to }, before), from ?? null, to ?? null]
}

/** Newest first. */
export async function findBatches(
  tx: Tx,
  scope: Scope,
  filter: BatchFilter,
  { before, limit }: { before: string | undefined; limit: number },
): Promise<BatchSummary[]> {
  return tx.query(`SELECT ${SUMMARY} FROM batches WHERE ${MATCHES} ORDER BY id DESC LIMIT $5`, [
    ...valuesOf(scope, filter, before),
    limit,
  ])
}

export async function countBatches(tx: Tx, scope: Scope, filter: BatchFilter): Promise<number> {
  const [row] = await tx.query<{ count: number }>(countOf(`batches WHERE ${MATCHES}`), valuesOf(scope, filter))
  return row?.count ?? 0
}

export interface LineCount {
  status: AttestationStatus
  riskStatus: RiskStatus | null
  lines: number
  /** Of these, evaluated since the requested time. */
  recent: number
}

/** The accepted lines by state, repeated ones included. */
export async function countLines(tx: Tx, id: string, recentSince: Date): Promise<LineCount[]> {
  return tx.query<LineCount>(
    `SELECT status, risk_status AS "riskStatus", count(*) AS lines, count(*) FILTER (WHERE evaluated_at >= $2) AS recent
     FROM (
       SELECT status, risk_status, evaluated_at FROM attestations WHERE batch_id = $1
       UNION ALL
       SELECT status, risk_status, evaluated_at
       FROM batches CROSS JOIN jsonb_array_elements(repeated) AS repeat ${ATTESTATION_OF('repeat ->> 1')}
       WHERE batches.id = $1
     ) AS lines
     GROUP BY status, risk_status`,
    [id, recentSince],
  )
}

export interface UnfinishedCount {
  batchId: string
  status: Exclude<AttestationStatus, 'evaluated'>
  lines: number
}

/** The accepted lines of batches without a result, by status, repeated ones included. The index has these alone. */
export async function countUnfinished(tx: Tx, ids: readonly string[]): Promise<UnfinishedCount[]> {
  return tx.query<UnfinishedCount>(
    `SELECT wanted.id AS "batchId", status, count(*)::int AS lines
     FROM unnest($1::text[]) AS wanted (id) CROSS JOIN LATERAL (
       SELECT status FROM attestations
       WHERE batch_id = wanted.id AND batch_id IS NOT NULL AND status <> 'evaluated'
       UNION ALL
       SELECT status FROM batches CROSS JOIN jsonb_array_elements(repeated) AS repeat ${ATTESTATION_OF('repeat ->> 1')}
       WHERE batches.id = wanted.id AND status <> 'evaluated'
     ) AS lines
     GROUP BY 1, 2`,
    [ids],
  )
}

/**
 * Own lines that a worker is evaluating, by batch. The query starts at the jobs in flight: they are few, whatever the
 * size of a batch.
 */
export async function countRunning(tx: Tx, scope: Scope, ids: readonly string[]): Promise<Map<string, number>> {
  const rows = await tx.query<{ id: string; count: number }>(
    `SELECT batch_id AS id, count(*)::int AS count
     FROM jobs ${ATTESTATION_OF("payload ->> 'attestationId'")}
     WHERE queue = 'attest' AND lane = $2 AND ${RUNNING} AND batch_id = ANY($1::text[]) AND status = 'queued'
     GROUP BY batch_id`,
    [ids, scope.accountId],
  )
  return new Map(rows.map(({ id, count }) => [id, count]))
}

/** The job of a line that is not settled: a late one, since jobs run in their order. */
export async function findOpenJob(tx: Tx, id: string): Promise<string | undefined> {
  const [row] = await tx.query<{ jobId: string }>(
    `(SELECT job_id AS "jobId" FROM attestations WHERE batch_id = $1 AND status = 'queued' ORDER BY batch_line DESC LIMIT 1)
     UNION ALL
     (SELECT job_id FROM batches CROSS JOIN jsonb_array_elements(repeated) AS repeat ${ATTESTATION_OF('repeat ->> 1')}
      WHERE batches.id = $1 AND status = 'queued' LIMIT 1)
     LIMIT 1`,
    [id],
  )
  return row?.jobId
}

export interface LineRow extends AttestationRow {
  line: number
  isRepeat: boolean
}

const ATTESTATION = `attestations.id, claim_id AS "claimId", batch_id AS "batchId", batch_line AS "batchLine",
  coalesce(external_id, cancelled_external_id) AS "externalId", media_id AS "mediaId", device_id AS "deviceId", job_id AS "jobId", status,
  accepted_at AS "acceptedAt", evaluated_at AS "evaluatedAt", risk_status AS "riskStatus", risk_score AS "riskScore",
  provenance_status AS "provenanceStatus", hardware_tier AS "hardwareTier", rules_version AS "rulesVersion", factors,
  advisory_factors AS "advisoryFactors", observations, result_jws AS "resultJws", failure, erased_at AS "erasedAt"`

/** Accepted lines after `afterLine`, in input order. */
export async function findLines(tx: Tx, id: string, afterLine: number, limit: number): Promise<LineRow[]> {
  return tx.query<LineRow>(
    `(SELECT batch_line AS line, false AS "isRepeat", ${ATTESTATION}
      FROM attestations WHERE batch_id = $1 AND batch_line > $2 ORDER BY batch_line LIMIT $3)
     UNION ALL
     (SELECT line, true, ${ATTESTATION}
      FROM (
        SELECT (repeat ->> 0)::int AS line, repeat ->> 1 AS repeated_id
        FROM batches CROSS JOIN jsonb_array_elements(repeated) AS repeat
        WHERE batches.id = $1 AND (repeat ->> 0)::int > $2 ORDER BY line LIMIT $3
      ) AS repeats ${ATTESTATION_OF('repeated_id')})
     ORDER BY line LIMIT $3`,
    [id, afterLine, limit],
  )
}

/** The batch's own lines that are not settled, in the order of their jobs. */
export async function findOpenCaptures(tx: Tx, id: string): Promise<OpenCapture[]> {
  return tx.query<OpenCapture>(
    `SELECT id, job_id AS "jobId" FROM attestations WHERE batch_id = $1 AND status = 'queued' ORDER BY job_id`,
    [id],
  )
}

/** Marks the batch as cancelled; the first time is kept. */
export async function markCancelled(tx: Tx, id: string, now: Date): Promise<void> {
  await tx.query('UPDATE batches SET cancelled_at = coalesce(cancelled_at, $2) WHERE id = $1', [id, now])
}
