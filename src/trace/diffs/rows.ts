import type { Tx } from '#src/platform/db/database.ts'
import { boundsOfRange, countOf } from '#src/platform/db/id-ranges.ts'
import type { Scope } from '#src/platform/ids.ts'
import type { TraceJobState } from '../jobs/rows.ts'
import type { DiffThresholds, DiffVerdict } from './judge.ts'

export interface DiffRow {
  id: string
  state: TraceJobState
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
  failure: string | null
  createdBy: string
  createdAt: Date
  startedAt: Date | null
  finishedAt: Date | null
}

const DIFF = `id, state, base_model AS "baseModel", target_model AS "targetModel", eval_set AS "evalSet", thresholds, seed,
  job_id AS "jobId", prompts, prompts_done AS "promptsDone", pass, verdict, families_drifted AS "familiesDrifted",
  report_hash AS "reportHash", failure_code AS "failureCode", failure, created_by AS "createdBy", created_at AS "createdAt",
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
): Promise<{ report: string | null; state: TraceJobState } | undefined> {
  const [row] = await tx.query<{ report: string | null; state: TraceJobState }>(
    'SELECT report, state FROM model_diffs WHERE id = $1',
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

export interface DiffFilter {
  state?: TraceJobState | undefined
  createdGte?: Date | undefined
  createdLt?: Date | undefined
}

const MATCHES = `id >= $1 AND id < $2 AND ($3::text IS NULL OR state = $3)
  AND ($4::timestamptz IS NULL OR created_at >= $4) AND ($5::timestamptz IS NULL OR created_at < $5)`

function valuesOf({ environment }: Scope, { state, createdGte: from, createdLt: to }: DiffFilter, before?: string) {
  const bounds = boundsOfRange({ type: 'dif', environment }, { from, to }, before)
  return [...bounds, state ?? null, from ?? null, to ?? null]
}

/** Newest first. */
export async function findDiffs(
  tx: Tx,
  scope: Scope,
  filter: DiffFilter,
  { before, limit }: { before: string | undefined; limit: number },
): Promise<DiffRow[]> {
  return tx.query<DiffRow>(`SELECT ${DIFF} FROM model_diffs WHERE ${MATCHES} ORDER BY id DESC LIMIT $6`, [
    ...valuesOf(scope, filter, before),
    limit,
  ])
}

export async function countDiffs(tx: Tx, scope: Scope, filter: DiffFilter): Promise<number> {
  const [row] = await tx.query<{ count: number }>(countOf(`model_diffs WHERE ${MATCHES}`), valuesOf(scope, filter))
  return row?.count ?? 0
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
