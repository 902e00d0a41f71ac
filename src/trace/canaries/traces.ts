// Traces: canary readings as they were taken. Later inferences of the service's own models are traces too.

import { Failure } from '#src/failure.ts'
import { canonicalize } from '#src/platform/crypto/canonical.ts'
import { sha256Base64url } from '#src/platform/crypto/digest.ts'
import type { Tx } from '#src/platform/db/database.ts'
import type { Platform } from '#src/platform/feature.ts'
import type { CountedPage } from '#src/platform/http/page.ts'
import { checkId, type Scope } from '#src/platform/ids.ts'
import type { CheckedReading } from './judge.ts'
import type { Reading } from './readings.ts'

export const TRACE_SOURCES = ['client', 'server'] as const
export type TraceSource = (typeof TRACE_SOURCES)[number]

export interface TraceRow {
  id: string
  source: TraceSource
  agentSessionId: string | null
  agentId: string | null
  canarySet: string
  readings: Reading[]
  readingAt: Date
  /** null for readings that a client sent: they are of a model of its own. */
  modelVersionId: string | null
  runtime: string | null
  /** `canary_hash`. */
  digest: string
  createdBy: string
  createdAt: Date
}

const TRACE = `id, source, agent_session_id AS "agentSessionId", agent_id AS "agentId", canary_set AS "canarySet", readings,
  reading_at AS "readingAt", model_version_id AS "modelVersionId", runtime, digest, created_by AS "createdBy",
  created_at AS "createdAt"`

export type NewTrace = Omit<TraceRow, 'digest'>

/** `canary_hash`: over everything that the readings say, and over the trace that they are of. */
export function canaryHashOf(trace: NewTrace): string {
  const { id, modelVersionId, canarySet, readings, readingAt, runtime } = trace
  const text = canonicalize({
    trace_id: id,
    model_version_id: modelVersionId,
    probe_set: canarySet,
    readings: readings.map((reading) => ({ ...reading })),
    reading_at: readingAt.toISOString(),
    runtime,
  })
  return sha256Base64url(text)
}

export async function insertTrace(tx: Tx, { accountId, environment }: Scope, trace: TraceRow): Promise<void> {
  await tx.query(
    `INSERT INTO traces (account_id, environment, id, source, agent_session_id, agent_id, canary_set, readings, reading_at,
       model_version_id, runtime, digest, created_by, created_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)`,
    [
      accountId,
      environment,
      trace.id,
      trace.source,
      trace.agentSessionId,
      trace.agentId,
      trace.canarySet,
      JSON.stringify(trace.readings),
      trace.readingAt,
      trace.modelVersionId,
      trace.runtime,
      trace.digest,
      trace.createdBy,
      trace.createdAt,
    ],
  )
}

export async function findTrace(tx: Tx, id: string): Promise<TraceRow | undefined> {
  const [row] = await tx.query<TraceRow>(`SELECT ${TRACE} FROM traces WHERE id = $1`, [id])
  return row
}

export function toCheckedReading(trace: TraceRow): CheckedReading {
  return {
    trace_id: trace.id,
    source: trace.source,
    canary_set: trace.canarySet,
    canary_hash: trace.digest,
    reading_at: trace.readingAt.toISOString(),
    agent_session_id: trace.agentSessionId,
    agent_id: trace.agentId,
    readings: trace.readings,
  }
}

export interface TraceFilter {
  source?: TraceSource | undefined
  agentId?: string | undefined
  agentSessionId?: string | undefined
  createdFrom?: Date | undefined
  createdBefore?: Date | undefined
}

export type Traces = ReturnType<typeof createTraces>

export function createTraces({ db, pager }: Pick<Platform, 'db' | 'pager'>) {
  return {
    /** @throws {Failure} `environment_mismatch`, `not_found`. */
    async get(scope: Scope, id: string): Promise<TraceRow> {
      checkId(id, 'trc', scope.environment)
      const trace = await db.tenant(scope, (tx) => findTrace(tx, id))
      if (trace === undefined) throw noTrace(id)
      return trace
    },

    /** Newest first. @throws {Failure} `invalid_request` at `?cursor`. */
    async list(
      scope: Scope,
      filter: TraceFilter,
      query: { limit: number; cursor?: string | undefined; include?: 'total_count' | undefined },
    ): Promise<CountedPage<TraceRow>> {
      const binding = { route: 'GET /v1/trace/traces', scope, query: { ...filter } }
      const before = pager.decode(query.cursor, binding)
      const [rows, total] = await db.tenant(scope, (tx) =>
        Promise.all([
          findTraces(tx, filter, { before, limit: query.limit + 1 }),
          query.include === undefined ? undefined : countTraces(tx, filter),
        ]),
      )
      const page = pager.page(rows, query.limit, ({ id }) => id, binding)
      return total === undefined ? page : { ...page, total_count: total }
    },
  }
}

export function noTrace(id: string): Failure {
  return new Failure('not_found', `There is no trace ${id}.`)
}

async function findTraces(
  tx: Tx,
  filter: TraceFilter,
  { before, limit }: { before: string | undefined; limit: number },
): Promise<TraceRow[]> {
  const { where, values } = conditionsOf(filter)
  if (before !== undefined) where.push(`id < $${values.push(before)}`)
  return tx.adhoc<TraceRow>(
    `SELECT ${TRACE} FROM traces WHERE ${where.join(' AND ')} ORDER BY id DESC LIMIT $${values.push(limit)}`,
    values,
  )
}

async function countTraces(tx: Tx, filter: TraceFilter): Promise<number> {
  const { where, values } = conditionsOf(filter)
  const [row] = await tx.adhoc<{ count: number }>(
    `SELECT count(*)::int AS count FROM traces WHERE ${where.join(' AND ')}`,
    values,
  )
  return row?.count ?? 0
}

function conditionsOf(filter: TraceFilter) {
  const values: unknown[] = []
  const where = ['true']
  const add = (condition: (parameter: string) => string, value: unknown) => {
    if (value !== undefined) where.push(condition(`$${values.push(value)}`))
  }
  add((p) => `source = ${p}`, filter.source)
  add((p) => `agent_session_id = ${p}`, filter.agentSessionId)
  add((p) => `agent_id = ${p}`, filter.agentId)
  add((p) => `created_at >= ${p}`, filter.createdFrom)
  add((p) => `created_at < ${p}`, filter.createdBefore)
  return { where, values }
}
