import type { Statement, Tx } from '#src/platform/db/database.ts'
import { conditionOfAny, conditionsOfRange, countOf, type TimeRange } from '#src/platform/db/id-ranges.ts'
import type { WorkStatus } from '#src/platform/http/views.ts'
import type { Scope } from '#src/platform/ids.ts'
import type { AwaitedRow } from '#src/platform/polled-waits.ts'
import type { AttributionMethod } from '../attribution/attribute.ts'
import type { TraceJobFailure, TraceJobRequest, TraceJobSummary } from './job.ts'

export interface TraceJobRow {
  id: string
  traceId: string
  modelVersionId: string
  method: AttributionMethod
  request: TraceJobRequest
  status: WorkStatus
  /** 0 to 1. */
  progress: number
  failureCode: string | null
  failureDetail: string | null
  summary: TraceJobSummary | null
  /** Hexadecimal. */
  manifestHash: string | null
  manifestBytes: number | null
  /** By the rule of manifests; see `endWithTrace`. */
  manifestUntil: Date | null
  traceCreatedAt: Date
  queueJobId: string
  createdBy: string
  createdAt: Date
  startedAt: Date | null
  finishedAt: Date | null
}

const JOB = `id, trace_id AS "traceId", model_version_id AS "modelVersionId", method, request, state AS status, progress,
  failure_code AS "failureCode", failure_detail AS "failureDetail", summary, manifest_hash AS "manifestHash",
  manifest_bytes AS "manifestBytes", manifest_until AS "manifestUntil",
  (SELECT traces.created_at FROM traces WHERE traces.id = trace_jobs.trace_id) AS "traceCreatedAt", queue_job_id AS "queueJobId",
  created_by AS "createdBy", created_at AS "createdAt", started_at AS "startedAt", finished_at AS "finishedAt"`
const IS_OPEN = `state IN ('queued', 'running')`

export type NewTraceJob = Pick<
  TraceJobRow,
  'id' | 'traceId' | 'modelVersionId' | 'method' | 'request' | 'queueJobId' | 'createdBy' | 'createdAt'
> & { sealedInput: Buffer | null }

export async function insertTraceJob(
  tx: Tx,
  { accountId, environment }: Scope,
  job: NewTraceJob,
): Promise<TraceJobRow> {
  const [row] = await tx.query<TraceJobRow>(
    `INSERT INTO trace_jobs (account_id, environment, id, trace_id, model_version_id, method, request, sealed_input,
       queue_job_id, created_by, created_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) RETURNING ${JOB}`,
    [
      accountId,
      environment,
      job.id,
      job.traceId,
      job.modelVersionId,
      job.method,
      JSON.stringify(job.request),
      job.sealedInput,
      job.queueJobId,
      job.createdBy,
      job.createdAt,
    ],
  )
  if (row === undefined) throw new Error('nothing was inserted')
  return row
}

export async function findTraceJob(tx: Tx, id: string): Promise<TraceJobRow | undefined> {
  const [row] = await tx.query<TraceJobRow>(`SELECT ${JOB} FROM trace_jobs WHERE id = $1`, [id])
  return row
}

export async function countOpenJobs(tx: Tx): Promise<number> {
  const [row] = await tx.query<{ count: number }>(`SELECT count(*)::int AS count FROM trace_jobs WHERE ${IS_OPEN}`, [])
  return row?.count ?? 0
}

/** For callers who wait: which of them have ended. */
export function findEndedTraceJobs(asked: readonly AwaitedRow[]): Statement {
  return {
    text: `SELECT asked.id FROM unnest($1::text[], $2::text[], $3::text[]) AS asked (account_id, environment, id)
      JOIN trace_jobs job USING (account_id, environment, id) WHERE job.state NOT IN ('queued', 'running')`,
    values: [
      asked.map(({ accountId }) => accountId),
      asked.map(({ environment }) => environment),
      asked.map(({ id }) => id),
    ],
  }
}

export interface TraceJobFilter extends TimeRange {
  traceId?: string | undefined
  statuses?: readonly WorkStatus[] | undefined
}

/** Newest first. */
export async function listTraceJobs(
  tx: Tx,
  scope: Scope,
  filter: TraceJobFilter,
  { before, limit }: { before: string | undefined; limit: number },
): Promise<TraceJobRow[]> {
  const { where, values } = conditionsOf(scope, filter)
  if (before !== undefined) where.push(`id < $${values.push(before)}`)
  return tx.adhoc<TraceJobRow>(
    `SELECT ${JOB} FROM trace_jobs WHERE ${where.join(' AND ')} ORDER BY id DESC LIMIT $${values.push(limit)}`,
    values,
  )
}

export async function countTraceJobs(tx: Tx, scope: Scope, filter: TraceJobFilter): Promise<number> {
  const { where, values } = conditionsOf(scope, filter)
  const [row] = await tx.adhoc<{ count: number }>(countOf(`trace_jobs WHERE ${where.join(' AND ')}`), values)
  return row?.count ?? 0
}

function conditionsOf({ environment }: Scope, { traceId, statuses, from, to }: TraceJobFilter) {
  const values: unknown[] = []
  const where = ['true']
  if (traceId !== undefined) where.push(`trace_id = $${values.push(traceId)}`)
  if (statuses !== undefined) where.push(conditionOfAny(values, 'state', statuses))
  where.push(...conditionsOfRange(values, { type: 'job', environment }, { from, to }))
  return { where, values }
}

/** Starts it, or starts it anew after a crash. Undefined when it has ended. */
export async function startTraceJob(
  tx: Tx,
  id: string,
  at: Date,
): Promise<(TraceJobRow & { sealedInput: Buffer | null }) | undefined> {
  const [row] = await tx.query<TraceJobRow & { sealedInput: Buffer | null }>(
    `UPDATE trace_jobs SET state = 'running', progress = 0, started_at = coalesce(started_at, $2)
     WHERE id = $1 AND ${IS_OPEN} RETURNING ${JOB}, sealed_input AS "sealedInput"`,
    [id, at],
  )
  return row
}

/** False when it has ended meanwhile. */
export async function updateProgress(tx: Tx, id: string, progress: number): Promise<boolean> {
  const rows = await tx.query(`UPDATE trace_jobs SET progress = $2 WHERE id = $1 AND state = 'running' RETURNING id`, [
    id,
    progress,
  ])
  return rows.length === 1
}

export interface FinishedJob {
  summary: TraceJobSummary
  manifestHash: string
  manifestBytes: number
  manifestUntil: Date
  at: Date
}

/** Undefined when it has ended meanwhile. */
export async function finishTraceJob(tx: Tx, id: string, made: FinishedJob): Promise<TraceJobRow | undefined> {
  const [row] = await tx.query<TraceJobRow>(
    `UPDATE trace_jobs SET state = 'succeeded', progress = 1, sealed_input = NULL, summary = $2, manifest_hash = $3,
       manifest_bytes = $4, manifest_until = $5, finished_at = $6
     WHERE id = $1 AND ${IS_OPEN} RETURNING ${JOB}`,
    [id, JSON.stringify(made.summary), made.manifestHash, made.manifestBytes, made.manifestUntil, made.at],
  )
  return row
}

/** Undefined when it has ended meanwhile. */
export async function failTraceJob(
  tx: Tx,
  id: string,
  { code, detail }: TraceJobFailure,
  at: Date,
): Promise<TraceJobRow | undefined> {
  const [row] = await tx.query<TraceJobRow>(
    `UPDATE trace_jobs SET state = 'failed', sealed_input = NULL, failure_code = $2, failure_detail = $3, finished_at = $4
     WHERE id = $1 AND ${IS_OPEN} RETURNING ${JOB}`,
    [id, code, detail.slice(0, 500), at],
  )
  return row
}

/** Undefined when it has ended before. */
export async function cancelTraceJob(tx: Tx, id: string, at: Date): Promise<TraceJobRow | undefined> {
  const [row] = await tx.query<TraceJobRow>(
    `UPDATE trace_jobs SET state = 'cancelled', sealed_input = NULL, finished_at = $2
     WHERE id = $1 AND ${IS_OPEN} RETURNING ${JOB}`,
    [id, at],
  )
  return row
}

/**
 * Cancels the jobs of a trace that have not ended, and erases the manifests of all of its jobs.
 * @returns the queue's ids of the cancelled jobs, and the number of manifests.
 */
export async function eraseManifestsOf(
  tx: Tx,
  traceId: string,
  at: Date,
): Promise<{ cancelled: string[]; manifests: number }> {
  const cancelled = await tx.query<{ queueJobId: string }>(
    `UPDATE trace_jobs SET state = 'cancelled', sealed_input = NULL, finished_at = $2
     WHERE trace_id = $1 AND ${IS_OPEN} RETURNING queue_job_id AS "queueJobId"`,
    [traceId, at],
  )
  // A statement of its own: it sees the manifest of a job whose end the first one waited for.
  const erased = await tx.query<{ id: string }>(
    'DELETE FROM trace_manifests WHERE id IN (SELECT id FROM trace_jobs WHERE trace_id = $1) RETURNING id',
    [traceId],
  )
  await tx.query('UPDATE trace_jobs SET manifest_until = $2 WHERE id = ANY($1)', [erased.map(({ id }) => id), at])
  return { cancelled: cancelled.map(({ queueJobId }) => queueJobId), manifests: erased.length }
}

/** A failed one, to be tried again. */
export async function requeueTraceJob(tx: Tx, id: string): Promise<void> {
  await tx.query(
    `UPDATE trace_jobs SET state = 'queued', failure_code = NULL, failure_detail = NULL, finished_at = NULL
     WHERE id = $1 AND state = 'failed'`,
    [id],
  )
}

export async function insertManifest(
  tx: Tx,
  { accountId, environment }: Scope,
  { id, sealed, at }: { id: string; sealed: Buffer; at: Date },
): Promise<void> {
  await tx.query(
    `INSERT INTO trace_manifests (account_id, environment, id, sealed_manifest, created_at) VALUES ($1, $2, $3, $4, $5)`,
    [accountId, environment, id, sealed, at],
  )
}

export async function findManifest(tx: Tx, id: string): Promise<Buffer | undefined> {
  const [row] = await tx.query<{ sealed: Buffer }>(
    'SELECT sealed_manifest AS sealed FROM trace_manifests WHERE id = $1',
    [id],
  )
  return row?.sealed
}
