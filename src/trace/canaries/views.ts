import { z } from 'zod'
import { judgedCanary } from '#src/catalogue/events.ts'
import { actorView } from '#src/platform/http/actor.ts'
import { documentMembers } from '#src/platform/http/documents.ts'
import { extended, timestampView } from '#src/platform/http/views.ts'
import { probeStatusView } from '../models/routes.ts'
import type { CheckAnswer } from './check.ts'
import { UNREAD_CAUSES } from './input.ts'
import { CHECK_REASONS } from './judge.ts'
import { killSwitchDocument, modeView } from './kill-switch.ts'
import type { KillSwitchPreview } from './preview.ts'
import { shownReading } from './readings.ts'
import {
  endWithTrace,
  FINISH_REASONS,
  type ShownTrace,
  TRACE_SOURCES,
  type TraceOwner,
  type TraceRow,
} from './traces.ts'

export const traceSourceView = z.enum(TRACE_SOURCES).meta({ id: 'TraceSource' })

export const killSwitchView = z.object(documentMembers(killSwitchDocument)).meta({ id: 'KillSwitch' })

const checkReasonView = z.enum(CHECK_REASONS).meta({ id: 'CheckReason' })
const whole = z.number().int()
const tally = {
  refused: whole.describe('Checks that would have been refused, and inferences that would have been withheld.'),
  locks: whole.describe('Sessions and agents that would have been locked.'),
}
const perKind = z.object({ checks: whole, inferences: whole }).meta({ id: 'PreviewedRequests' })

export const previewView = z
  .object({
    from: timestampView,
    to: timestampView,
    complete: z
      .boolean()
      .describe('false: there were more than 5,000 checks or inferences, and the ones before `from` are left out.'),
    looked: perKind.describe('Checks and inferences that were re-evaluated by this document.'),
    refused: perKind.describe('Checks that would have been refused, and inferences that would have been withheld.'),
    reasons: z.array(z.object({ reason: checkReasonView, refused: whole }).meta({ id: 'PreviewedReason' })),
    tripped_traces: whole.describe('Traces with a family that trips and counts.'),
    locks: tally.locks,
    held_by_locks: whole.describe(
      'Requests of those sessions and agents after the lock, which would have been refused until a person cleared it.',
    ),
    families: z.array(
      z
        .object({
          family: z.string(),
          ...tally,
          uncounted: whole.describe('true: the family tripped and does not count, because its probe is experimental.'),
        })
        .meta({ id: 'PreviewedFamily' }),
    ),
    agents: z
      .array(
        z
          .object({ agent_id: z.string().nullable().describe('Agent; null: requests that named no agent.'), ...tally })
          .meta({ id: 'PreviewedAgent' }),
      )
      .describe('Agents with a refusal, most refusals first; at most 100.'),
  })
  .meta({ id: 'KillSwitchPreview' })

const readingView = extended(
  judgedCanary,
  {
    raw: z.number().nullable(),
    probe_version: z.string().nullable(),
    layer: z.number().int().nullable(),
    aggregator: z.string().nullable(),
    n_tokens: z.number().int().nullable(),
    probe_status: probeStatusView
      .optional()
      .describe('Status in the card of the probe. Absent from readings that a client sent.'),
  },
  {
    id: 'CanaryReading',
    description: '`tripped` compares the score with this threshold. The kill switch may set another threshold.',
    verbatim: true,
  },
)

const runtimeView = z
  .string()
  .nullable()
  .describe('Runtime that computed the readings, as in their hash; null where a client sent them.')

export const canaryView = z
  .object({
    set: z.string(),
    readings: z.array(readingView),
    hash: z.string(),
    reading_at: timestampView,
    runtime: runtimeView,
    tripped_families: z.array(z.string()),
  })
  .meta({ id: 'Canary' })

export const uncountedView = z
  .array(z.string())
  .describe(
    'Families that tripped and do not count, because their probes are experimental. `allow_experimental` counts them.',
  )

export const finishReasonView = z
  .enum(FINISH_REASONS)
  .meta({ id: 'FinishReason' })
  .describe(
    'canary_tripped: the completion is withheld. tool_calls, refusal, content_filter: how a model elsewhere ended.',
  )

export const toolCallsView = z
  .array(
    z
      .object({ name: z.string(), arguments: z.string().describe('Arguments as the model wrote them.') })
      .meta({ id: 'ModelToolCall' }),
  )
  .describe('Calls of tools that a model elsewhere made; `completion_hash` covers them. Absent where there are none.')

export const usageView = z
  .object({
    prompt_tokens: z.number().int(),
    completion_tokens: z.number().int().describe('Number of generated tokens, withheld ones included.'),
  })
  .meta({ id: 'TokenUsage' })

/** What the holder of a share sees of a trace too. */
export const traceReadingsView = z
  .object({
    trace_id: z.string(),
    source: traceSourceView.describe(
      'client: a caller sent the readings. They can refuse and lock, and allow nothing.',
    ),
    model_version_id: z.string().nullable(),
    canary: canaryView.nullable().describe('Canary readings; null: no probe read the inference.'),
    created_at: timestampView,
  })
  .meta({ id: 'TraceReadings' })

export const traceView = extended(
  traceReadingsView,
  {
    agent_session_id: z.string().nullable(),
    agent_id: z.string().nullable(),
    inference: z
      .object({
        model: z.string(),
        finish_reason: finishReasonView,
        usage: usageView,
        max_tokens: z.number().int(),
        temperature: z.number(),
        seed: z.number().int().describe('Seed; with the same model version it gives the same completion.'),
        prompt_hash: z.string().describe('SHA-256 of the RFC 8785 text of the input as the model got it.'),
        completion_hash: z
          .string()
          .nullable()
          .describe('SHA-256 of the completion, with its calls of tools; null where it was withheld.'),
        text_until: timestampView
          .nullable()
          .describe(
            'End of the time for which the texts are kept: 30 days, and no longer than the trace. null: only hashes ' +
              'are kept, or the texts were erased.',
          ),
      })
      .meta({ id: 'TracedInference' })
      .nullable()
      .describe('Inference of the trace; null: the trace has only readings.'),
    created_by: actorView,
  },
  { id: 'Trace' },
)

export const checkView = z
  .object({
    allowed: z.boolean().describe('Continue only when this is true.'),
    action: z.enum(['allow', 'block']).meta({ id: 'CheckAction' }),
    reason: checkReasonView
      .nullable()
      .describe('Finding of the check. Under `monitor` the session may continue nevertheless.'),
    unavailable_cause: z
      .enum(UNREAD_CAUSES)
      .meta({ id: 'UnavailableCause' })
      .nullable()
      .describe('Why a model of the service has no reading of `inference_input`.'),
    stale: z.boolean().describe('The reading is older than `max_age_s`.'),
    reading_age_s: z.number().nullable(),
    mode: modeView.describe('`off` also for an agent that `apply_to` leaves out.'),
    tripped_families: z.array(z.string()),
    uncounted_families: uncountedView,
    lock_id: z.string().nullable().describe('Id of the lock in force.'),
    decision_id: z.string().describe('Id of the entry in the decision ledger.'),
    trace_id: z.string().nullable(),
    canary_hash: z.string().nullable(),
    runtime: runtimeView,
  })
  .meta({ id: 'CanaryCheck' })

export function toPreviewView(preview: KillSwitchPreview): z.input<typeof previewView> {
  const { from, to, isComplete, looked, refused, reasons, trippedTraces, locks, heldByLocks, families, agents } =
    preview
  const counts = ({ trace_check: checks, inference: inferences }: typeof looked) => ({ checks, inferences })
  return {
    from: from.toISOString(),
    to: to.toISOString(),
    complete: isComplete,
    looked: counts(looked),
    refused: counts(refused),
    reasons,
    tripped_traces: trippedTraces,
    locks,
    held_by_locks: heldByLocks,
    families,
    agents: agents.map(({ agentId, ...one }) => ({ agent_id: agentId, ...one })),
  }
}

export function toTraceView(trace: ShownTrace, owner: TraceOwner): z.input<typeof traceView> {
  return {
    ...toTraceReadings(trace),
    agent_session_id: trace.agentSessionId,
    agent_id: trace.agentId,
    inference: toInferenceFacts(trace, owner),
    created_by: trace.createdBy,
  }
}

export function toTraceReadings(trace: ReadTrace): z.input<typeof traceReadingsView> {
  return {
    trace_id: trace.id,
    source: trace.source,
    model_version_id: trace.modelVersionId,
    canary: toCanaryView(
      trace,
      trace.readings.filter(({ tripped }) => tripped).map(({ family }) => family),
    ),
    created_at: trace.createdAt.toISOString(),
  }
}

type ReadTrace = Omit<TraceRow, 'createdBy'>

function toInferenceFacts(
  { inference, createdAt }: ReadTrace,
  owner: TraceOwner,
): z.input<typeof traceView>['inference'] {
  if (inference === null) return null
  return {
    model: inference.model,
    finish_reason: inference.finishReason,
    usage: { prompt_tokens: inference.promptTokens, completion_tokens: inference.completionTokens },
    max_tokens: inference.maxTokens,
    temperature: inference.sampling.temperature,
    seed: inference.sampling.seed,
    prompt_hash: inference.promptHash,
    completion_hash: inference.completionHash,
    text_until: inference.textUntil && endWithTrace(inference.textUntil, createdAt, owner).toISOString(),
  }
}

/** @param trippedFamilies By the thresholds that counted. */
export function toCanaryView(trace: ReadTrace, trippedFamilies: string[]): z.input<typeof canaryView> | null {
  if (trace.canarySet === null) return null
  return {
    set: trace.canarySet,
    readings: trace.readings.map(shownReading),
    hash: trace.digest,
    reading_at: trace.readingAt.toISOString(),
    runtime: trace.runtime,
    tripped_families: trippedFamilies,
  }
}

export function toCheckView(answer: CheckAnswer): z.input<typeof checkView> {
  const { allowed, reason, stale, reading_age_s, mode, tripped_families, uncounted_families } = answer
  return {
    allowed,
    action: allowed ? 'allow' : 'block',
    reason,
    unavailable_cause: answer.unavailableCause,
    stale,
    reading_age_s,
    mode,
    tripped_families,
    uncounted_families,
    lock_id: answer.lockId,
    decision_id: answer.decisionId,
    trace_id: answer.traceId,
    canary_hash: answer.canaryHash,
    runtime: answer.runtime,
  }
}
