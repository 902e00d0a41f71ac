import type { Statement, Tx } from '#src/platform/db/database.ts'
import { conditionOfAny, conditionsOfRange, countOf, type TimeRange } from '#src/platform/db/id-ranges.ts'
import type { WorkStatus } from '#src/platform/http/views.ts'
import type { Scope } from '#src/platform/ids.ts'
import type { AwaitedRow } from '#src/platform/polled-waits.ts'
import type { DiffThresholds, DiffVerdict } from './judge.ts'

export interface DiffRow {
  id: string
  status: WorkStatus
  baseModel: string
  targetModel: string
  /** The name of a set of the service, or the id of one of the account. */
  evalSet: string
  thresholds: DiffThresholds
  seed: number
  jobId: string
  prompts: number
  promptsDone: number
  /** These four when it has succeeded. */
  pass: boolean | null
  verdict: DiffVerdict | null
  familiesDrifted: string[] | null
  reportHash: Buffer | null
  failureCode: string | null
  failureDetail: string | null
  createdBy: string
  createdAt: Date
  startedAt: Date | null
  finishedAt: Date | null
}

const DIFF = `id, state AS status, base_model AS "baseModel", target_model AS "targetModel", eval_set AS "evalSet", thresholds, seed,
  job_id AS "jobId", prompts, prompts_done AS "promptsDone", pass, verdict, families_drifted AS "familiesDrifted",
  report_hash AS "reportHash", failure_code AS "failureCode", failure AS "failureDetail", created_by AS "createdBy", created_at AS "createdAt",
  started_at AS "startedAt", finished_at AS "finishedAt"`

export type NewDiff = Pick<
  DiffRow,
  | 'id'
  | 'baseModel'
  | 'targetModel'
  | 'evalSet'
  | 'thresholds'
  | 'seed'
  | 'jobId'
  | 'prompts'
  | 'createdBy'
  | 'createdAt'
>

export async function insertDiff(tx: Tx, { accountId, environment }: Scope, row: NewDiff): Promise<void> {
  await tx.query(
    `INSERT INTO model_diffs (account_id, environment, id, base_model, target_model, eval_set, thresholds, seed, job_id, prompts,
       created_by, created_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
    [
      accountId,
      environment,
      row.id,
      row.baseModel,
      row.targetModel,
      row.evalSet,
      JSON.stringify(row.thresholds),
      row.seed,
      row.jobId,
      row.prompts,
      row.createdBy,
      row.createdAt,
    ],
  )
}

export async function findDiff(tx: Tx, id: string): Promise<DiffRow | undefined> {
  const [row] = await tx.query<DiffRow>(`SELECT ${DIFF} FROM model_diffs WHERE id = $1`, [id])
  return row
}

export async function findReport(
  tx: Tx,
  id: string,
): Promise<{ report: string | null; status: WorkStatus } | undefined> {
  const [row] = await tx.query<{ report: string | null; status: WorkStatus }>(
    'SELECT report, state AS status FROM model_diffs WHERE id = $1',
    [id],
  )
  return row
}

/** Those that have not ended. */
export async function countOpenDiffs(tx: Tx): Promise<number> {
  const [row] = await tx.query<{ count: number }>(
    `SELECT count(*) AS count FROM model_diffs WHERE state IN ('queued', 'running')`,
  )
  return row?.count ?? 0
}

/** For callers who wait: which of them have ended. */
export function findEndedDiffs(asked: readonly AwaitedRow[]): Statement {
  return {
    text: `SELECT asked.id FROM unnest($1::text[], $2::text[], $3::text[]) AS asked (account_id, environment, id)
      JOIN model_diffs diff USING (account_id, environment, id) WHERE diff.state NOT IN ('queued', 'running')`,
    values: [
      asked.map(({ accountId }) => accountId),
      asked.map(({ environment }) => environment),
      asked.map(({ id }) => id),
    ],
  }
}

export interface DiffFilter extends TimeRange {
  statuses?: readonly WorkStatus[] | undefined
  verdicts?: readonly DiffVerdict[] | undefined
}

/** Newest first. */
export async function findDiffs(
  tx: Tx,
  scope: Scope,
  filter: DiffFilter,
  { before, limit }: { before: string | undefined; limit: number },
): Promise<DiffRow[]> {
  const { where, values } = conditionsOf(scope, filter)
  if (before !== undefined) where.push(`id < $${values.push(before)}`)
  return tx.adhoc<DiffRow>(
    `SELECT ${DIFF} FROM model_diffs WHERE ${where.join(' AND ')} ORDER BY id DESC LIMIT $${values.push(limit)}`,
    values,
  )
}

export async function countDiffs(tx: Tx, scope: Scope, filter: DiffFilter): Promise<number> {
  const { where, values } = conditionsOf(scope, filter)
  const [row] = await tx.adhoc<{ count: number }>(countOf(`model_diffs WHERE ${where.join(' AND ')}`), values)
  return row?.count ?? 0
}

function conditionsOf({ environment }: Scope, { statuses, verdicts, from, to }: DiffFilter) {
  const values: unknown[] = []
  const where = ['true']
  if (statuses !== undefined) where.push(conditionOfAny(values, 'state', statuses))
  if (verdicts !== undefined) where.push(conditionOfAny(values, 'verdict', verdicts))
  where.push(...conditionsOfRange(values, { type: 'dif', environment }, { from, to }))
  return { where, values }
}

/** Starts it, or continues it. undefined when it has ended. */
export async function startDiff(tx: Tx, id: string, at: Date): Promise<DiffRow | undefined> {
  const [row] = await tx.query<DiffRow>(
    `UPDATE model_diffs SET state = 'running', started_at = coalesce(started_at, $2)
     WHERE id = $1 AND state IN ('queued', 'running') RETURNING ${DIFF}`,
    [id, at],
  )
  return row
}

/** false when it has ended meanwhile: it was cancelled, or another worker has finished it. */
export async function finishDiff(
  tx: Tx,
  id: string,
  made: { pass: boolean; verdict: DiffVerdict; familiesDrifted: string[]; report: string; hash: Buffer; at: Date },
): Promise<boolean> {
  const rows = await tx.query(
    `UPDATE model_diffs SET state = 'succeeded', prompts_done = prompts, pass = $2, verdict = $3, families_drifted = $4,
       report = $5, report_hash = $6, finished_at = $7
     WHERE id = $1 AND state = 'running' RETURNING 1`,
    [id, made.pass, made.verdict, made.familiesDrifted, made.report, made.hash, made.at],
  )
  return rows.length > 0
}

/** undefined when it has ended. */
export async function failDiff(
  tx: Tx,
  id: string,
  { code, detail }: { code: string; detail: string },
): Promise<DiffRow | undefined> {
  const [row] = await tx.query<DiffRow>(
    `UPDATE model_diffs SET state = 'failed', failure_code = $2, failure = $3, finished_at = now()
     WHERE id = $1 AND state IN ('queued', 'running') RETURNING ${DIFF}`,
    [id, code, detail.slice(0, 500)],
  )
  return row
}

/** undefined when it has ended. */
export async function cancelDiff(tx: Tx, id: string, at: Date): Promise<DiffRow | undefined> {
  const [row] = await tx.query<DiffRow>(
    `UPDATE model_diffs SET state = 'cancelled', finished_at = $2
     WHERE id = $1 AND state IN ('queued', 'running') RETURNING ${DIFF}`,
    [id, at],
  )
  return row
}

/** A failed one, for an operator's redrive. */
export async function requeueDiff(tx: Tx, id: string): Promise<void> {
  await tx.query(
    `UPDATE model_diffs SET state = 'queued', failure_code = NULL, failure = NULL, finished_at = NULL
     WHERE id = $1 AND state = 'failed'`,
    [id],
  )
}
