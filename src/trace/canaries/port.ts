// What a decision asks of canaries: a reading for a condition of the policy, and what happens when it trips.

import type { Json } from '#src/platform/crypto/canonical.ts'
import type { Tx } from '#src/platform/db/database.ts'
import type { Platform } from '#src/platform/feature.ts'
import type { Scope } from '#src/platform/ids.ts'
import { ageOf, isOfSubject, type JudgedFamily, judgeFamilies, type KillSwitch, modeFor } from './judge.ts'
import { findKillSwitch } from './kill-switch.ts'
import { findTrace, type TraceRow, toCheckedReading } from './traces.ts'
import type { RecordTrip } from './trips.ts'

export interface CanaryReading {
  set: string
  traceId: string | null
  /**
   * `client`: a caller sent it. It is answered only where a family tripped: it can refuse an action and never allows
   * one.
   */
  source: 'server' | 'client'
  readingAt: Date
  /** `canary_hash`. */
  hash: string
  /** Those that were asked for, by the kill switch's threshold where it names one. */
  families: JudgedFamily[]
}

export interface CanaryQuestion {
  set: string
  /** All of the reading when absent. */
  families?: readonly string[] | undefined
  traceId?: string | null | undefined
  inferenceInput?: Json | undefined
  agentSessionId: string | null
  agentId: string | null
  maxAgeSeconds: number
}

export interface TraceQuestion {
  traceId: string
  agentSessionId: string | null
  agentId: string | null
}

/** What is stored of a trace. */
export interface TraceStanding {
  /** `canary_hash`, which never changes. */
  hash: string
  /** As for a condition without a family of its own, by the kill switch's age; undefined where it counts for nothing. */
  reading: CanaryReading | undefined
}

export interface CanaryTrip {
  jti: string
  matchedRuleId: string | null
  reading: CanaryReading
  agentId: string | null
  agentSessionId: string | null
}

export interface CanaryPort {
  /** undefined: unavailable. Outside of any transaction. */
  read(scope: Scope, question: CanaryQuestion, signal: AbortSignal): Promise<CanaryReading | undefined>
  /** undefined: there is no such trace. */
  readTrace(tx: Tx, question: TraceQuestion): Promise<TraceStanding | undefined>
  /**
   * Of a decision that a tripped condition denied: emits `trace.canary_tripped` once per token, and locks where the kill
   * switch says `block_and_lock`. The transaction holds the advisory locks on session and agent; shared ones are enough,
   * as the index makes one lock of several.
   */
  tripAtVerify(tx: Tx, scope: Scope, trip: CanaryTrip): Promise<{ lockId?: string }>
}

/** No model runs yet: every reading is one that a client sent, and `inferenceInput` has none. */
export function createCanaryPort({
  db,
  now,
  recordTrip,
}: Pick<Platform, 'db' | 'now'> & { recordTrip: RecordTrip }): CanaryPort {
  return {
    async readTrace(tx, { traceId, agentSessionId, agentId }) {
      const [trace, { settings }] = await Promise.all([findTrace(tx, traceId), findKillSwitch(tx)])
      if (trace === undefined) return undefined
      const question = { agentSessionId, agentId, maxAgeSeconds: settings.max_age_s }
      return { hash: trace.digest, reading: readingOf(trace, settings, question, now()) }
    },

    async read(scope, question) {
      const { set, traceId } = question
      if (traceId === undefined || traceId === null) return undefined
      const [trace, { settings }] = await db.tenant(scope, (tx) =>
        Promise.all([findTrace(tx, traceId), findKillSwitch(tx)]),
      )
      if (trace === undefined || trace.canarySet !== set) return undefined
      return readingOf(trace, settings, question, now())
    },

    async tripAtVerify(tx, scope, { jti, matchedRuleId, reading, agentId, agentSessionId }) {
      const { settings } = await findKillSwitch(tx)
      const mode = modeFor(settings, agentId)
      const { lockId } = await recordTrip(tx, scope, {
        at: now(),
        source: 'verify',
        mode,
        isLocking: mode === 'block_and_lock',
        reading,
        agentSessionId,
        agentId,
        jti,
        matchedRuleId,
      })
      return lockId === null ? {} : { lockId }
    },
  }
}

/** undefined: old, of another subject, or a client's own that did not trip. */
function readingOf(
  trace: TraceRow,
  settings: KillSwitch,
  { families: asked, agentSessionId, agentId, maxAgeSeconds }: Omit<CanaryQuestion, 'set' | 'traceId'>,
  at: Date,
): CanaryReading | undefined {
  const subject = { agent_session_id: agentSessionId, agent_id: agentId }
  const isFresh = ageOf(trace.readingAt.toISOString(), at.toISOString()) <= maxAgeSeconds
  if (!isFresh || !isOfSubject(toCheckedReading(trace), subject)) return undefined
  // A rule that names a family asks for it, whether or not the kill switch does.
  const counted = settings.families.map((one) => ({
    ...one,
    enabled: one.enabled || asked?.includes(one.family) === true,
  }))
  const judged = judgeFamilies(trace.readings, { families: counted })
  const families = asked === undefined ? judged : judged.filter(({ family }) => asked.includes(family))
  const isTripped = families.some(({ tripped }) => tripped)
  const isWhole = families.length > 0 && families.length === (asked === undefined ? judged : asked).length
  // What a client says of itself can refuse, and is no reason to allow.
  if (!isTripped && !(trace.source === 'server' && isWhole)) return undefined
  return {
    set: trace.canarySet,
    traceId: trace.id,
    source: trace.source,
    readingAt: trace.readingAt,
    hash: trace.digest,
    families,
  }
}
