// POST /v1/trace/inferences: a model of the service runs, its canaries are read, and what happened is on record. The model
// runs outside of any transaction. What it gave is judged, stored and answered under the locks of the session and its
// agent, in one transaction: a crash before its commit leaves nothing.

import { countOperations } from '#src/account/usage/meter.ts'
import { Failure } from '#src/failure.ts'
import { note } from '#src/platform/context.ts'
import type { Json } from '#src/platform/crypto/canonical.ts'
import { lockExclusive, lockShared } from '#src/platform/db/advisory.ts'
import type { Tx } from '#src/platform/db/database.ts'
import type { Platform } from '#src/platform/feature.ts'
import { type IdempotencyKey, once, refuseRepeat } from '#src/platform/http/idempotency.ts'
import { type Acting, actorOf } from '#src/platform/http/principal.ts'
import { newId } from '#src/platform/ids.ts'
import { failpoint } from '#src/platform/jobs/failpoint.ts'
import { DAY_MS } from '#src/platform/retention.ts'
import { checkNames, resolveSubject } from '../canaries/check.ts'
import { type CheckFacts, type CheckJudgement, isBlocking, judgeCheck, modeFor } from '../canaries/judge.ts'
import { canaryHashOf, insertTrace, type TracedInference, type TraceRow } from '../canaries/traces.ts'
import type { RecordTrip } from '../canaries/trips.ts'
import { locksOf, type TripSubject } from '../locks/locks.ts'
import { placedAt, type TraceBackend, versionIdOf } from '../models/backend.ts'
import { capabilityMissing } from '../models/capabilities.ts'
import type { Models } from '../models/models.ts'
import type { CanaryRequest, InferenceRequest, InferenceResult, ModelInput, ToolCall } from '../models/protocol.ts'
import { CONTENT_DAYS, completionHashOf, insertTraceContent, promptHashOf } from './contents.ts'
import { type InferenceBody, inputOf, samplingOf } from './request.ts'
import {
  canaryRequestOf,
  checkFactsOf,
  type RunContext,
  readRunContext,
  refuseRun,
  unreadRefusal,
} from './run-context.ts'

export interface InferenceAnswer {
  trace: TraceRow & { inference: TracedInference }
  /** null where it is withheld; of a repeat also where it could not be made again. */
  completion: string | null
  /** Tool calls that a remote model asked for. They are empty in a repeat, for which the model does not run again. */
  toolCalls: readonly ToolCall[]
  judgement: CheckJudgement
  /** The lock in force. */
  lockId: string | null
  decisionId: string
}

export interface RunOptions {
  key: IdempotencyKey | undefined
  signal: AbortSignal
}

/** What the model made, and what it was asked. */
interface Ran {
  id: string
  subject: TripSubject
  backend: TraceBackend
  request: InferenceRequest
  result: InferenceResult
  startedWith: RunContext
}

interface Prepared {
  subject: TripSubject
  context: RunContext
}

export type Inferences = ReturnType<typeof createInferences>

interface InferenceDeps extends Pick<Platform, 'db' | 'now' | 'ledger' | 'sealer'> {
  models: Pick<Models, 'get'>
  recordTrip: RecordTrip
}

export function createInferences({ db, now, ledger, sealer, models, recordTrip }: InferenceDeps) {
  /** What may be refused before the model runs. */
  async function prepare(acting: Acting, body: InferenceBody, key: IdempotencyKey | undefined): Promise<Prepared> {
    const names = { agentId: body.agent_id, agentSessionId: body.agent_session_id }
    checkNames(acting, names)
    const { subject, context } = await db.tenant(acting, async (tx) => {
      if (key !== undefined) await refuseRepeat(tx, key)
      const subject = await resolveSubject(tx, names)
      return { subject, context: await readRunContext(tx, subject) }
    })
    note({ ...(subject.agentId && { agent: subject.agentId }) })
    refuseRun(context, subject)
    return { subject, context }
  }

  async function run(
    acting: Acting,
    body: InferenceBody,
    { subject, context }: Prepared,
    signal: AbortSignal,
  ): Promise<Ran> {
    const backend = models.get(body.model)
    note({ model: backend.model })
    const { hasChat } = await backend.modelVersion()
    const input = inputOf(body, hasChat)
    const canary = await askCanary(backend, { input, set: body.canary_set }, { subject, context })
    const request: InferenceRequest = {
      input,
      maxTokens: body.max_tokens,
      sampling: samplingOf(body),
      ...(canary && { canary }),
    }
    const id = newId('trc', acting.environment, now().getTime())
    note({ trace: id })
    const result = await backend.generate(request, { signal, lane: acting.accountId }).catch((error: unknown) => {
      throw placedAt(body.prompt === undefined ? '/messages' : '/prompt', error)
    })
    failpoint('inference:generated')
    return { id, subject, backend, request, result, startedWith: context }
  }

  /** Undefined: the answer locks, and the locks are shared. */
  async function settle(
    tx: Tx,
    acting: Acting,
    ran: Ran,
    { body, key, isExclusive }: { body: InferenceBody; key: IdempotencyKey | undefined; isExclusive: boolean },
  ): Promise<InferenceAnswer | undefined> {
    const { subject, result } = ran
    const context = await readRunContext(tx, subject)
    const trace = traceOf(acting, ran, now())
    const found = judgeRun(trace, context, ran)
    if (found.judgement.locks && !isExclusive) return undefined
    const isWithheld = isBlocking(found.judgement.mode) && found.judgement.tripped_families.length > 0
    // What was withheld is on record, also where the session was locked meanwhile. Nothing else leaves it.
    if (!isWithheld) refuseRun(context, subject)
    if (!isWithheld && !found.judgement.allowed) throw changedMeanwhile()
    const settled = { ...trace, inference: inferenceOf(ran, body, trace.createdAt, isWithheld) }
    const decide = async (tx: Tx): Promise<InferenceAnswer> => {
      const completion = isWithheld ? { tokens: [], tokenTexts: [] } : result
      const windows = isWithheld ? [] : (result.canary?.windows ?? [])
      const logProbabilities = isWithheld ? [] : result.logProbabilities.map(rounded)
      await insertTrace(tx, acting, settled, { settings: context.killSwitch, facts: { logProbabilities, windows } })
      if (body.retain === 'text') {
        const { input, sampling } = ran.request
        const { tokens: completionTokens, tokenTexts: completionTexts } = completion
        const { prompt: promptTokens, spans } = result
        const words = isWithheld ? {} : { completion: result.text, toolCalls: result.toolCalls }
        const content = { input, promptTokens, completionTokens, completionTexts, ...words, sampling, spans }
        await insertTraceContent(tx, acting, sealer, { traceId: trace.id, content, at: trace.createdAt })
      }
      const lockId = (await recordFound(tx, acting, settled, found)) ?? found.facts.lock_id
      const decisionId = await record(tx, acting, settled, { ...found, lockId, isWithheld })
      failpoint('inference:settling')
      return {
        trace: settled,
        completion: isWithheld ? null : result.text,
        toolCalls: isWithheld ? [] : (result.toolCalls ?? []),
        judgement: found.judgement,
        lockId,
        decisionId,
      }
    }
    return once(tx, key, decide, subjectOf)
  }

  async function recordFound(
    tx: Tx,
    acting: Acting,
    trace: TraceRow,
    { judgement: { emits, locks, mode, families } }: Found,
  ): Promise<string | null> {
    if (!emits) return null
    const reading = { traceId: trace.id, hash: trace.digest, families }
    const { lockId } = await recordTrip(tx, acting, {
      at: trace.createdAt,
      source: 'inference',
      mode,
      isLocking: locks,
      reading,
      agentSessionId: trace.agentSessionId,
      agentId: trace.agentId,
      jti: null,
      matchedRuleId: null,
    })
    return lockId
  }

  async function record(
    tx: Tx,
    acting: Acting,
    trace: InferenceAnswer['trace'],
    { judgement, facts, lockId, isWithheld }: Found & { lockId: string | null; isWithheld: boolean },
  ): Promise<string> {
    const [decisionId] = await Promise.all([
      ledger.record(tx, acting, {
        kind: 'inference',
        at: trace.createdAt,
        actor: actorOf(acting.principal),
        subject: trace.id,
        reason: judgement.tripped_families.length > 0 ? 'canary_tripped' : judgement.reason,
        valid: !isWithheld,
        inputs: {
          trace_id: trace.id,
          model_version_id: trace.modelVersionId,
          canary_hash: trace.canarySet === null ? null : trace.digest,
          prompt_hash: trace.inference.promptHash,
          completion_hash: trace.inference.completionHash,
          agent_session_id: trace.agentSessionId,
          agent_id: trace.agentId,
          lock_id: lockId,
        },
        facts: JSON.parse(JSON.stringify(facts)) as Json,
      }),
      countOperations(tx, acting, 'inference', [trace.id]),
    ])
    return decisionId
  }

  return {
    /**
     * Runs a model for an agent.
     * @throws {Failure} `not_found` for the model, the agent or the session; `environment_mismatch`; `session_canary_locked`,
     * `agent_suspended`, `agent_session_ended`; `backend_capability_missing`; `invalid_request`; `service_unavailable`.
     */
    async infer(acting: Acting, body: InferenceBody, { key, signal }: RunOptions): Promise<InferenceAnswer> {
      const ran = await run(acting, body, await prepare(acting, body, key), signal)
      const locks = locksOf(acting, ran.subject)
      const attempt = (isExclusive: boolean) =>
        db.tenant(acting, async (tx) => {
          await (isExclusive ? lockExclusive(tx, locks) : lockShared(tx, locks))
          return settle(tx, acting, ran, { body, key, isExclusive })
        })
      // Two that hold the shared lock and then wait for the exclusive one wait for each other: it takes a transaction
      // of its own.
      return (await attempt(false)) ?? (await attempt(true)) ?? Promise.reject(new Error('an inference has no answer'))
    },
  }
}

/** What `repeat` finds the answer by. */
function subjectOf({ trace, decisionId, lockId }: InferenceAnswer): string {
  return [trace.id, decisionId, lockId ?? ''].join(' ')
}

/**
 * What the model is asked to read; undefined where it reads nothing.
 * @throws {Failure} `backend_capability_missing` where readings are needed that it can't take: the request demands them, or
 * the kill switch refuses what was not read.
 */
async function askCanary(
  backend: TraceBackend,
  { input, set }: { input: ModelInput; set: string | undefined },
  { subject: { agentId }, context: { killSwitch } }: Prepared,
): Promise<CanaryRequest | undefined> {
  const probes = await backend.probeSet()
  // Probes compare the parts of a conversation.
  const canRead = probes !== undefined && 'messages' in input
  if (set !== undefined && (!canRead || probes.set !== set)) throw capabilityMissing(backend.model, 'canary')
  const canary = canRead ? canaryRequestOf(killSwitch, agentId, probes) : undefined
  const counts = canary?.families?.some(({ enabled }) => enabled) ?? false
  if (isBlocking(modeFor(killSwitch, agentId)) && !counts) throw unreadRefusal(backend.model)
  return canary
}

interface Found {
  judgement: CheckJudgement
  facts: CheckFacts
}

/** Judges by the current kill switch, unless the model withheld the completion by the previous one. */
function judgeRun(trace: TraceRow, context: RunContext, { result, startedWith }: Ran): Found {
  const by = (killSwitch: RunContext['killSwitch']): Found => {
    const facts = checkFactsOf(trace, { ...context, killSwitch })
    return { facts, judgement: judgeCheck(facts) }
  }
  const found = by(context.killSwitch)
  const isTrip = isBlocking(found.judgement.mode) && found.judgement.tripped_families.length > 0
  return result.finishReason === 'withheld' && !isTrip ? by(startedWith.killSwitch) : found
}

function traceOf(acting: Acting, { id, subject, backend, result }: Ran, at: Date): TraceRow {
  const trace = {
    id,
    source: 'server',
    ...subject,
    canarySet: result.canary?.set ?? null,
    readings: result.canary?.readings ?? [],
    readingAt: at,
    modelVersionId: versionIdOf(backend.model, result.sha256),
    runtime: result.canary?.runtime ?? null,
    createdBy: actorOf(acting.principal).id,
    createdAt: at,
  } as const
  return { ...trace, digest: canaryHashOf(trace), inference: null, cutAfter: null }
}

function inferenceOf(
  { backend, request, result }: Ran,
  body: InferenceBody,
  at: Date,
  isWithheld: boolean,
): TracedInference {
  return {
    model: backend.model,
    finishReason: isWithheld || result.finishReason === 'withheld' ? 'canary_tripped' : result.finishReason,
    promptHash: promptHashOf(request.input),
    completionHash: isWithheld ? null : completionHashOf(result.text, result.toolCalls),
    promptTokens: result.promptTokens ?? result.prompt.length,
    completionTokens: result.completionTokens,
    maxTokens: request.maxTokens,
    sampling: request.sampling,
    textUntil: body.retain === 'text' ? new Date(at.getTime() + CONTENT_DAYS * DAY_MS) : null,
  }
}

/** The kill switch began to refuse while the model ran without readings. */
function changedMeanwhile(): Failure {
  return new Failure('service_unavailable', {
    detail: 'The kill switch was changed while the model ran. Nothing was stored; send the request again.',
    headers: { 'Retry-After': '1' },
  })
}

// More digits would tell tokens apart that only a person who knows the prompt may know.
const rounded = (value: number): number => Math.round(value * 1e4) / 1e4 + 0
