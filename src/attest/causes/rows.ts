import type { Tx } from '#src/platform/db/database.ts'
import type { Environment, Scope } from '#src/platform/ids.ts'
import { idsBefore } from '#src/platform/ids.ts'
import { RUNNING } from '#src/platform/jobs/backlog.ts'
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
}

const REEVALUATION = `id, cause, subject, looked, cursor, counts, created_at AS "createdAt", seen_at AS "seenAt",
  walked_at AS "walkedAt", finished_at AS "finishedAt"`

/**
 * Open re-evaluations, oldest first: some that are still walked, and some whose jobs run. Two limits, so that those
 * that wait for their jobs never keep a new one from being walked. Through the system role.
 */
export async function findOpen(tx: Tx, limit: number): Promise<{ id: string; scope: Scope }[]> {
  const rows = await tx.query<{ id: string; accountId: string; environment: Environment }>(
    `(SELECT id, account_id AS "accountId", environment FROM reevaluations
      WHERE finished_at IS NULL AND walked_at IS NULL ORDER BY created_at LIMIT $1)
     UNION ALL
     (SELECT id, account_id, environment FROM reevaluations
      WHERE finished_at IS NULL AND walked_at IS NOT NULL ORDER BY created_at LIMIT $1)`,
    [limit],
  )
  return rows.map(({ id, ...scope }) => ({ id, scope }))
}

/** Undefined when it has ended, or another clock holds it. */
export async function lockOpen(tx: Tx, id: string): Promise<ReevaluationRow | undefined> {
  const [row] = await tx.query<ReevaluationRow>(
    `SELECT ${REEVALUATION} FROM reevaluations WHERE id = $1 AND finished_at IS NULL FOR UPDATE SKIP LOCKED`,
    [id],
  )
  return row
}

export async function markSeen(tx: Tx, id: string): Promise<void> {
  await tx.query('UPDATE reevaluations SET seen_at = now() WHERE id = $1', [id])
}

/**
 * Whether every job has ended that was running when the cause was first seen, or started within `graceSeconds` after
 * it: such a job may have read the state before the cause.
 */
export async function isSettled(tx: Tx, scope: Scope, id: string, graceSeconds: number): Promise<boolean> {
  const [row] = await tx.query<{ isSettled: boolean }>(
    `SELECT r.seen_at + make_interval(secs => $2) <= now() AND NOT EXISTS (
       SELECT FROM jobs WHERE queue = 'attest' AND lane = $3 AND ${RUNNING}
         AND started_at < r.seen_at + make_interval(secs => $2)) AS "isSettled"
     FROM reevaluations r WHERE r.id = $1`,
    [id, graceSeconds, scope.accountId],
  )
  return row?.isSettled === true
}

export async function moveOn(
  tx: Tx,
  id: string,
  { cursor, looked, isAtEnd }: { cursor: string | null; looked: number; isAtEnd: boolean },
): Promise<void> {
  await tx.query(
    `UPDATE reevaluations SET cursor = $2, looked = looked + $3, walked_at = CASE WHEN $4 THEN now() END WHERE id = $1`,
    [id, cursor, looked, isAtEnd],
  )
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

/** Newest first. */
export async function findReevaluations(
  tx: Tx,
  filter: { cause?: string | undefined; createdFrom?: Date | undefined; createdBefore?: Date | undefined },
  { before, limit }: { before: string | undefined; limit: number },
): Promise<ReevaluationRow[]> {
  return tx.query<ReevaluationRow>(
    `SELECT ${REEVALUATION} FROM reevaluations
     WHERE ($1::text IS NULL OR cause = $1) AND ($2::timestamptz IS NULL OR created_at >= $2)
       AND ($3::timestamptz IS NULL OR created_at < $3) AND ($4::text IS NULL OR id < $4)
     ORDER BY id DESC LIMIT $5`,
    [filter.cause ?? null, filter.createdFrom ?? null, filter.createdBefore ?? null, before ?? null, limit],
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
