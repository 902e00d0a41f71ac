import type { Tx } from '#src/platform/db/database.ts'
import { boundsOfRange, type TimeRange } from '#src/platform/db/id-ranges.ts'
import type { Scope } from '#src/platform/ids.ts'
import { idsBefore, newJobId } from '#src/platform/ids.ts'
import { enqueue, RUNNING } from '#src/platform/jobs/backlog.ts'
import { deleteRows, type PurgeStep } from '#src/platform/retention.ts'
import type { Counts } from './mark-rows.ts'
import type { Cause } from './request.ts'

export type CauseName = Cause['cause']

export interface ReevaluationRow {
  id: string
  cause: CauseName
  /** The members of its `Cause`. */
  subject: Record<string, unknown>
  /** Attestations that the walk has examined. */
  looked: number
  cursor: string | null
  /** The counts at its end. */
  counts: Counts | null
  createdAt: Date
  seenAt: Date | null
  walkedAt: Date | null
  finishedAt: Date | null
  /** When its job became dead. */
  failedAt: Date | null
  /** The job that searches. */
  jobId: string
}

const REEVALUATION = `id, cause, subject, looked, cursor, counts, created_at AS "createdAt", seen_at AS "seenAt",
  walked_at AS "walkedAt", finished_at AS "finishedAt", failed_at AS "failedAt", job_id AS "jobId"`

/** Searches the attestations of a re-evaluation, and finishes it: before the jobs of the attestations. */
export async function enqueueWalk(tx: Tx, scope: Scope, reevaluationId: string, id: string): Promise<void> {
  await enqueue(tx, 'reevaluate', scope, [{ id, payload: { reevaluationId } }])
}

/** Locks a re-evaluation that has not ended; undefined when it has. */
export async function lockOpen(tx: Tx, id: string): Promise<ReevaluationRow | undefined> {
  const [row] = await tx.query<ReevaluationRow>(
    `SELECT ${REEVALUATION} FROM reevaluations WHERE id = $1 AND finished_at IS NULL FOR UPDATE`,
    [id],
  )
  return row
}

/** Reopens re-evaluations whose attestations are retried. Those that had ended get another job to finish them. */
export async function reopenReevaluations(tx: Tx, scope: Scope, ids: readonly string[]): Promise<void> {
  // Waits for a job that is finishing one of them; the next statement sees its result.
  await tx.query('SELECT 1 FROM reevaluations WHERE id = ANY($1) ORDER BY id FOR UPDATE', [ids])
  for (const id of ids) {
    const jobId = newJobId()
    const ended = await tx.query(
      'UPDATE reevaluations SET finished_at = NULL, job_id = $2 WHERE id = $1 AND finished_at IS NOT NULL RETURNING 1',
      [id, jobId],
    )
    if (ended.length > 0) await enqueueWalk(tx, scope, id, jobId)
  }
}

/** Records whether the re-evaluation's job is dead: nothing else will continue it. */
export async function markReevaluationFailed(tx: Tx, id: string, isFailed: boolean): Promise<void> {
  await tx.query(
    'UPDATE reevaluations SET failed_at = CASE WHEN $2 THEN now() END WHERE id = $1 AND finished_at IS NULL',
    [id, isFailed],
  )
}

export async function markSeen(tx: Tx, id: string): Promise<void> {
  await tx.query('UPDATE reevaluations SET seen_at = now() WHERE id = $1 AND seen_at IS NULL', [id])
}

/**
 * Whether every evaluation has ended that was running when the cause was first seen, or started within `graceSeconds`
 * after it: such a job may have read the state before the cause.
 */
export async function isSettled(tx: Tx, scope: Scope, id: string, graceSeconds: number): Promise<boolean> {
  const [row] = await tx.query<{ isSettled: boolean }>(
    `SELECT r.seen_at + make_interval(secs => $2) <= now() AND NOT EXISTS (
       SELECT FROM jobs WHERE queue IN ('attest', 'reevaluate') AND lane = $3 AND ${RUNNING}
         AND payload ? 'attestationId' AND started_at < r.seen_at + make_interval(secs => $2)) AS "isSettled"
     FROM reevaluations r WHERE r.id = $1`,
    [id, graceSeconds, scope.accountId],
  )
  return row?.isSettled === true
}

/** Advances a search from where it was read. False when it has moved since: then nothing is written. */
export async function moveOn(
  tx: Tx,
  { id, cursor: from }: Pick<ReevaluationRow, 'id' | 'cursor'>,
  { cursor, looked, isAtEnd }: { cursor: string | null; looked: number; isAtEnd: boolean },
): Promise<boolean> {
  const rows = await tx.query(
    `UPDATE reevaluations SET cursor = $3, looked = looked + $4, walked_at = CASE WHEN $5 THEN now() END
     WHERE id = $1 AND cursor IS NOT DISTINCT FROM $2 AND walked_at IS NULL AND finished_at IS NULL RETURNING 1`,
    [id, from, cursor, looked, isAtEnd],
  )
  return rows.length === 1
}

export async function markFinished(tx: Tx, id: string, counts: Counts): Promise<void> {
  await tx.query('UPDATE reevaluations SET finished_at = now(), counts = $2 WHERE id = $1', [
    id,
    JSON.stringify(counts),
  ])
}

export async function findReevaluation(tx: Tx, id: string): Promise<ReevaluationRow | undefined> {
  const [row] = await tx.query<ReevaluationRow>(`SELECT ${REEVALUATION} FROM reevaluations WHERE id = $1`, [id])
  return row
}

interface ReevaluationFilter extends TimeRange {
  causes?: readonly string[] | undefined
}

/** Newest first. */
export async function findReevaluations(
  tx: Tx,
  { environment }: Scope,
  { causes, from, to }: ReevaluationFilter,
  { before, limit }: { before: string | undefined; limit: number },
): Promise<ReevaluationRow[]> {
  return tx.query<ReevaluationRow>(
    `SELECT ${REEVALUATION} FROM reevaluations
     WHERE id >= $1 AND id < $2 AND ($3::text[] IS NULL OR cause = ANY($3))
       AND ($4::timestamptz IS NULL OR created_at >= $4) AND ($5::timestamptz IS NULL OR created_at < $5)
     ORDER BY id DESC LIMIT $6`,
    [
      ...boundsOfRange({ type: 'ree', environment }, { from, to }, before),
      causes ?? null,
      from ?? null,
      to ?? null,
      limit,
    ],
  )
}

/** Deletes old re-evaluations. Their marks, as many as the affected attestations, are deleted first. */
export const purgeReevaluations: PurgeStep = async (tx, { environment }, { before, limit }) => {
  const old = await tx.query<{ id: string }>(
    `SELECT id FROM reevaluations WHERE id < $1 AND created_at < $2 ORDER BY id LIMIT $3 FOR UPDATE SKIP LOCKED`,
    [idsBefore('ree', environment, before), before, limit],
  )
  let left = limit
  const empty: { id: string }[] = []
  for (const { id } of old) {
    const gone = await tx.query(
      `DELETE FROM reevaluation_marks WHERE reevaluation_id = $1 AND attestation_id = ANY(ARRAY(
         SELECT attestation_id FROM reevaluation_marks WHERE reevaluation_id = $1 LIMIT $2)) RETURNING 1`,
      [id, left],
    )
    left -= gone.length
    if (left <= 0) return limit
    empty.push({ id })
  }
  return (await deleteRows(tx, 'reevaluations', empty)) + limit - left
}
