// Traces: canary readings as they were taken, and the inferences of the service's models that they were taken of.

import { rowWithActors, type WithActors, withActors } from '#src/account/users/actors.ts'
import type { Plan } from '#src/catalogue/access.ts'
import { Failure } from '#src/failure.ts'
import { canonicalize } from '#src/platform/crypto/canonical.ts'
import { sha256Base64url } from '#src/platform/crypto/digest.ts'
import type { Tx } from '#src/platform/db/database.ts'
import { conditionOfAny, conditionsOfRange, countOf, type TimeRange } from '#src/platform/db/id-ranges.ts'
import type { Platform } from '#src/platform/feature.ts'
import { type CountedPage, type CountedQuery, listPage } from '#src/platform/http/page.ts'
import { checkId, type Scope } from '#src/platform/ids.ts'
import { retentionDaysOf } from '#src/platform/ledger/retention.ts'
import { DAY_MS } from '#src/platform/retention.ts'
import type { SamplingSettings } from '../llama/sampling.ts'
import type { WindowScores } from '../probes/reader.ts'
import { type CheckedReading, type KillSwitch, type ReadingOrigin, trippedAtAll } from './judge.ts'
import { type Reading, shownReading } from './readings.ts'

export const TRACE_SOURCES = ['client', 'server'] as const
export type TraceSource = (typeof TRACE_SOURCES)[number]

export interface TraceRow {
  id: string
  source: TraceSource
  agentSessionId: string | null
  agentId: string | null
  /** null: no probe read the inference. */
  canarySet: string | null
  readings: Reading[]
  readingAt: Date
  /** null for readings that a client sent: they are of a model of its own. */
  modelVersionId: string | null
  runtime: string | null
  /** `canary_hash`. */
  digest: string
  createdBy: string
  createdAt: Date
  /** null: of readings alone. */
  inference: TracedInference | null
  /** Tokens of an input's completion that ended by its length; null: it ended by itself, or the trace has no such input. */
  cutAfter: number | null
}

export const FINISH_REASONS = ['stop', 'length', 'canary_tripped', 'tool_calls', 'refusal', 'content_filter'] as const
export type TraceFinishReason = (typeof FINISH_REASONS)[number]

/** What is kept of an inference, besides its texts. */
export interface TracedInference {
  model: string
  finishReason: TraceFinishReason
  promptHash: string
  /** null where the completion was withheld. */
  completionHash: string | null
  promptTokens: number
  /** Made by the model, withheld ones included. */
  completionTokens: number
  maxTokens: number
  sampling: SamplingSettings
  /** Until when the texts are kept by their own rule; null: hashes alone, or erased texts. See `endWithTrace`. */
  textUntil: Date | null
}

/** Of each token and of each window of a completion. Empty where it was withheld. */
export interface CompletionFacts {
  logProbabilities: number[]
  windows: WindowScores[]
}

export const TRACE = `id, source, agent_session_id AS "agentSessionId", agent_id AS "agentId", canary_set AS "canarySet", readings,
  reading_at AS "readingAt", model_version_id AS "modelVersionId", runtime, digest, created_by AS "createdBy",
  created_at AS "createdAt", CASE WHEN model IS NOT NULL THEN jsonb_build_object('model', model,
    'finishReason', finish_reason, 'promptHash', prompt_hash, 'completionHash', completion_hash,
    'promptTokens', prompt_tokens, 'completionTokens', completion_tokens, 'maxTokens', max_tokens,
    'sampling', sampling) END AS inference, text_until AS "textUntil", cut_after AS "cutAfter"`

export type StoredTrace = Omit<TraceRow, 'inference'> & {
  inference: Omit<TracedInference, 'textUntil'> | null
  textUntil: Date | null
}

export const toTrace = ({ inference, textUntil, ...row }: StoredTrace): TraceRow => ({
  ...row,
  inference: inference && { ...inference, textUntil },
})

export type NewTrace = Omit<TraceRow, 'digest' | 'inference' | 'cutAfter'>

/** `canary_hash`: over everything that the readings say, as they are shown, and over the trace that they are of. */
export function canaryHashOf(trace: Omit<NewTrace, 'createdBy'>): string {
  const { id, modelVersionId, canarySet, readings, readingAt, runtime } = trace
  const text = canonicalize({
    trace_id: id,
    model_version_id: modelVersionId,
    probe_set: canarySet,
    readings: readings.map((reading) => ({ ...shownReading(reading) })),
    reading_at: readingAt.toISOString(),
    runtime,
  })
  return sha256Base64url(text)
}

export async function insertTrace(
  tx: Tx,
  { accountId, environment }: Scope,
  trace: TraceRow,
  { settings = { families: [] }, facts }: { settings?: Pick<KillSwitch, 'families'>; facts?: CompletionFacts } = {},
): Promise<void> {
  const { inference } = trace
  const tripped = trippedAtAll(trace.readings, settings)
  await tx.query(
    `INSERT INTO traces (account_id, environment, id, source, agent_session_id, agent_id, canary_set, readings, reading_at,
       model_version_id, runtime, digest, created_by, created_at, model, finish_reason, prompt_hash, completion_hash,
       prompt_tokens, completion_tokens, max_tokens, sampling, token_facts, text_until, tripped_families, cut_after)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26)`,
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
      inference?.model ?? null,
      inference?.finishReason ?? null,
      inference?.promptHash ?? null,
      inference?.completionHash ?? null,
      inference?.promptTokens ?? null,
      inference?.completionTokens ?? null,
      inference?.maxTokens ?? null,
      inference && JSON.stringify(inference.sampling),
      inference && JSON.stringify(facts ?? { logProbabilities: [], windows: [] }),
      inference?.textUntil ?? null,
      tripped.length === 0 ? null : tripped,
      trace.cutAfter,
    ],
  )
}

export async function findTrace(tx: Tx, id: string): Promise<TraceRow | undefined> {
  const [row] = await tx.query<StoredTrace>(`SELECT ${TRACE} FROM traces WHERE id = $1`, [id])
  return row && toTrace(row)
}

/** For an erasure of the texts. False where there is no such trace. */
export async function eraseTextUntil(tx: Tx, id: string): Promise<boolean> {
  const rows = await tx.query('UPDATE traces SET text_until = NULL WHERE id = $1 RETURNING id', [id])
  return rows.length === 1
}

/** Undefined for a trace that is no inference. */
export async function findCompletionFacts(tx: Tx, id: string): Promise<CompletionFacts | undefined> {
  const [row] = await tx.query<{ facts: CompletionFacts | null }>(
    'SELECT token_facts AS facts FROM traces WHERE id = $1',
    [id],
  )
  return row?.facts ?? undefined
}

/** Whose plan says how long traces are kept. */
export interface TraceOwner extends Pick<Scope, 'environment'> {
  plan: Plan
}

/** Until when something of a trace is kept that its own rule would keep until `end`: it goes with its trace. */
export function endWithTrace(end: Date, traceCreatedAt: Date, { plan, environment }: TraceOwner): Date {
  const traceEnd = traceCreatedAt.getTime() + retentionDaysOf(plan, environment) * DAY_MS
  return new Date(Math.min(end.getTime(), traceEnd))
}

/** null where no probe read the inference. */
export function toCheckedReading(trace: TraceRow): CheckedReading | null {
  if (trace.canarySet === null) return null
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

/** For what may depend on who chose the model and the length. */
export function toPresentedReading(trace: TraceRow): CheckedReading | null {
  const checked = toCheckedReading(trace)
  return checked === null || trace.source === 'client' ? checked : { ...checked, origin: originOf(trace) }
}

function originOf({ modelVersionId, inference, cutAfter }: TraceRow): ReadingOrigin {
  const version = modelVersionId ?? ''
  const model = inference?.model ?? version.slice(0, Math.max(0, version.lastIndexOf('@')))
  const isCut = inference !== null && inference.finishReason !== 'stop'
  return { model, cut_after: isCut ? inference.completionTokens : cutAfter }
}

export interface TraceFilter extends TimeRange {
  source?: TraceSource | undefined
  agentId?: string | undefined
  agentSessionId?: string | undefined
  model?: string | undefined
  finishReasons?: readonly TraceFinishReason[] | undefined
}

/** A trace with who made it. */
export type ShownTrace = WithActors<TraceRow, 'createdBy'>

export type Traces = ReturnType<typeof createTraces>

export function createTraces({ db, pager }: Pick<Platform, 'db' | 'pager'>) {
  return {
    /** @throws {Failure} `environment_mismatch`, `not_found`. */
    async get(scope: Scope, id: string): Promise<ShownTrace> {
      checkId(id, 'trc', scope.environment)
      return db.tenant(scope, async (tx) => {
        const trace = await findTrace(tx, id)
        if (trace === undefined) throw noTrace(id)
        return rowWithActors(tx, trace, ['createdBy'])
      })
    },

    /** Newest first. @throws {Failure} `invalid_request` at `?cursor`. */
    async list(scope: Scope, filter: TraceFilter, query: CountedQuery): Promise<CountedPage<ShownTrace>> {
      const list = { route: 'GET /v1/trace/traces', scope, query: { ...query, ...filter } }
      return listPage({ db, pager }, list, {
        rows: (tx, page) => findTraces(tx, scope, filter, page),
        count: (tx) => countTraces(tx, scope, filter),
        show: (tx, rows) => withActors(tx, rows, ['createdBy']),
      })
    },
  }
}

export function noTrace(id: string): Failure {
  return new Failure('not_found', `There is no trace ${id}.`)
}

async function findTraces(
  tx: Tx,
  scope: Scope,
  filter: TraceFilter,
  { before, limit }: { before: string | undefined; limit: number },
): Promise<TraceRow[]> {
  const { where, values } = conditionsOf(scope, filter)
  if (before !== undefined) where.push(`id < $${values.push(before)}`)
  const rows = await tx.adhoc<StoredTrace>(
    `SELECT ${TRACE} FROM traces WHERE ${where.join(' AND ')} ORDER BY id DESC LIMIT $${values.push(limit)}`,
    values,
  )
  return rows.map(toTrace)
}

async function countTraces(tx: Tx, scope: Scope, filter: TraceFilter): Promise<number> {
  const { where, values } = conditionsOf(scope, filter)
  const [row] = await tx.adhoc<{ count: number }>(countOf(`traces WHERE ${where.join(' AND ')}`), values)
  return row?.count ?? 0
}

function conditionsOf({ environment }: Scope, filter: TraceFilter) {
  const values: unknown[] = []
  const where = ['true']
  const add = (condition: (parameter: string) => string, value: unknown) => {
    if (value !== undefined) where.push(condition(`$${values.push(value)}`))
  }
  add((p) => `source = ${p}`, filter.source)
  add((p) => `agent_session_id = ${p}`, filter.agentSessionId)
  add((p) => `agent_id = ${p}`, filter.agentId)
  add((p) => `model = ${p}`, filter.model)
  if (filter.finishReasons !== undefined) where.push(conditionOfAny(values, 'finish_reason', filter.finishReasons))
  where.push(...conditionsOfRange(values, { type: 'trc', environment }, filter))
  return { where, values }
}
