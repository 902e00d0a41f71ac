import { z } from 'zod'
import type { CheckAnswer } from './check.ts'
import { CHECK_REASONS } from './judge.ts'
import { type CurrentKillSwitch, modeView } from './kill-switch.ts'
import { TRACE_SOURCES, type TraceRow } from './traces.ts'

const time = z.iso.datetime()

export const traceSourceView = z.enum(TRACE_SOURCES).meta({ id: 'TraceSource' })

export const killSwitchView = z
  .object({
    mode: modeView,
    max_age_s: z.number().int(),
    families: z.array(
      z.object({ family: z.string(), threshold: z.number(), enabled: z.boolean() }).meta({ id: 'KillSwitchFamily' }),
    ),
    apply_to: z.object({ agents: z.array(z.string()).optional() }),
    changed_at: time.nullable().describe('null: the defaults.'),
    changed_by: z.string().nullable().describe('The API key or user.'),
  })
  .meta({ id: 'KillSwitch' })

export const readingView = z
  .object({
    family: z.string(),
    score: z.number(),
    raw: z.number().nullable(),
    threshold: z.number(),
    tripped: z.boolean().describe('By this threshold. The kill switch may name another.'),
    probe_version: z.string().nullable(),
    layer: z.number().int().nullable(),
    aggregator: z.string().nullable(),
    n_tokens: z.number().int().nullable(),
  })
  .meta({ id: 'CanaryReading' })

export const traceView = z
  .object({
    trace_id: z.string(),
    source: traceSourceView.describe(
      'client: a caller sent the readings. They can refuse and lock, and allow nothing.',
    ),
    agent_session_id: z.string().nullable(),
    agent_id: z.string().nullable(),
    model_version_id: z.string().nullable(),
    canary: z
      .object({
        set: z.string(),
        readings: z.array(readingView),
        hash: z.string(),
        reading_at: time,
        tripped_families: z.array(z.string()),
      })
      .meta({ id: 'Canary' }),
    created_by: z.string().describe('The API key or user.'),
    created_at: time,
  })
  .meta({ id: 'Trace' })

export const checkView = z
  .object({
    allowed: z.boolean().describe('Go on only when this is true.'),
    action: z.enum(['allow', 'block']),
    reason: z
      .enum(CHECK_REASONS)
      .meta({ id: 'CheckReason' })
      .nullable()
      .describe('What was found. Under `monitor` it is allowed nevertheless.'),
    stale: z.boolean().describe('The reading is older than `max_age_s`.'),
    reading_age_s: z.number().nullable(),
    mode: modeView.describe('`off` also for an agent that `apply_to` leaves out.'),
    tripped_families: z.array(z.string()),
    lock_id: z.string().nullable().describe('The lock in force.'),
    decision_id: z.string().describe('The entry of the decision ledger.'),
    trace_id: z.string().nullable(),
    canary_hash: z.string().nullable(),
  })
  .meta({ id: 'CanaryCheck' })

export function toKillSwitchView({
  settings: { mode, max_age_s, families, apply_to },
  changedAt,
  changedBy,
}: CurrentKillSwitch): z.input<typeof killSwitchView> {
  return { mode, max_age_s, families, apply_to, changed_at: changedAt?.toISOString() ?? null, changed_by: changedBy }
}

export function toTraceView(trace: TraceRow): z.input<typeof traceView> {
  return {
    trace_id: trace.id,
    source: trace.source,
    agent_session_id: trace.agentSessionId,
    agent_id: trace.agentId,
    model_version_id: trace.modelVersionId,
    canary: {
      set: trace.canarySet,
      readings: trace.readings,
      hash: trace.digest,
      reading_at: trace.readingAt.toISOString(),
      tripped_families: trace.readings.filter(({ tripped }) => tripped).map(({ family }) => family),
    },
    created_by: trace.createdBy,
    created_at: trace.createdAt.toISOString(),
  }
}

export function toCheckView(answer: CheckAnswer): z.input<typeof checkView> {
  const { allowed, reason, stale, reading_age_s, mode, tripped_families } = answer
  return {
    allowed,
    action: allowed ? 'allow' : 'block',
    reason,
    stale,
    reading_age_s,
    mode,
    tripped_families,
    lock_id: answer.lockId,
    decision_id: answer.decisionId,
    trace_id: answer.traceId,
    canary_hash: answer.canaryHash,
  }
}
