// What one reading comes to: for a condition of a policy, and for the kill switch where a decision is no check. Pure.

import type { TripSubject } from '../locks/locks.ts'
import {
  ageOf,
  type CheckFacts,
  type CheckJudgement,
  isBlocking,
  isOfSubject,
  isUncounted,
  type JudgedFamily,
  judgeCheck,
  judgeFamilies,
  type KillSwitch,
  mayAllow,
  modeFor,
  newestTrip,
} from './judge.ts'
import { type TraceRow, toCheckedReading, toPresentedReading } from './traces.ts'

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
  /** Families that were asked for, judged by the kill switch's threshold where it names one. */
  families: JudgedFamily[]
  /** Older than the condition accepts: it refuses as the reading that a token is bound to, and locks nothing. */
  isStale: boolean
}

export interface CanaryCondition {
  set: string
  /**
   * Asked for by name, so they count although their probe may be experimental. When absent: all of the reading that the
   * kill switch counts.
   */
  families?: readonly string[] | undefined
  maxAgeSeconds: number
  /** `inference`: only a run of the agent satisfies it, and no input that a model read. */
  source?: 'inference' | undefined
}

/** A trip as JSON, for the facts of a decision. */
export interface KillSwitchTrip extends Pick<CheckJudgement, 'mode' | 'families' | 'locks' | 'tripped_families'> {
  trace_id: string
  canary_set: string
  canary_hash: string
}

/** What a reading is judged by. */
export interface Judging {
  settings: KillSwitch
  at: Date
  defaultModel: string | undefined
}

/** The trip by which a check of the subject would be refused, or by which it was when the bound reading was new. */
export function refusalOf(
  { settings, at, defaultModel }: Judging,
  subject: TripSubject,
  { trips, bound }: { trips: readonly TraceRow[]; bound: TraceRow | undefined },
): KillSwitchTrip | null {
  const mode = modeFor(settings, subject.agentId)
  if (!isBlocking(mode)) return null
  const judged = { kill_switch: settings, at: at.toISOString(), mode }
  const facts: CheckFacts = {
    at: judged.at,
    ...whoseOf(subject),
    kill_switch: settings,
    reading: bound === undefined ? null : toPresentedReading(bound),
    trip: newestTrip(trips.map(toCheckedReading), judged),
    default_model: defaultModel ?? null,
    lock_id: null,
    is_subject_locked: false,
  }
  const { families, locks, tripped_families, tripped_by } = judgeCheck(facts)
  if (tripped_families.length === 0) return null
  const by = tripped_by ?? facts.reading
  if (by === null) throw new Error('a trip has no reading')
  const { trace_id, canary_set, canary_hash } = by
  return { mode, families, locks, tripped_families, trace_id, canary_set, canary_hash }
}

export const whoseOf = ({ agentSessionId, agentId }: TripSubject) => ({
  agent_session_id: agentSessionId,
  agent_id: agentId,
})

export const isTripping = (reading: CanaryReading | undefined): reading is CanaryReading =>
  reading?.families.some(({ tripped }) => tripped) ?? false

/**
 * undefined: of another set or another subject, old, or of what never allows and did not trip: a client's own, one whose
 * model or length the account did not choose, and an input where a run is demanded.
 */
export function readingOf(
  trace: TraceRow,
  { set, families: asked, maxAgeSeconds, source }: CanaryCondition,
  subject: TripSubject,
  { settings, at, defaultModel, isBound = false }: Judging & { isBound?: boolean },
): CanaryReading | undefined {
  const isStale = ageOf(trace.readingAt.toISOString(), at.toISOString()) > maxAgeSeconds
  const presented = toPresentedReading(trace)
  if (presented?.canary_set !== set || !isOfSubject(presented, whoseOf(subject))) return undefined
  if (isStale && !isBound) return undefined
  const families =
    asked === undefined ? judgeCounted(trace, settings) : judgeNamed(trace, { families: settings.families, asked })
  const isTripped = families.some(({ tripped }) => tripped)
  const isWhole = families.length > 0 && (asked === undefined || families.length === new Set(asked).size)
  // What a client says of itself can refuse, and is no reason to allow.
  const isEvidence = trace.source === 'server' && (source === undefined || trace.inference !== null)
  const isSufficient = isEvidence && isWhole && !isStale && mayAllow(presented, settings.reading, defaultModel)
  if (!isTripped && !isSufficient) return undefined
  return {
    set,
    traceId: trace.id,
    source: trace.source,
    readingAt: trace.readingAt,
    hash: trace.digest,
    families,
    isStale,
  }
}

function judgeCounted({ readings }: TraceRow, settings: KillSwitch): JudgedFamily[] {
  const isLeftOut = isUncounted(settings)
  return judgeFamilies(
    readings.filter((one) => !isLeftOut(one)),
    settings,
  )
}

/** A rule that names a family asks for it, whether or not the kill switch does. */
function judgeNamed(
  { readings }: TraceRow,
  { families, asked }: Pick<KillSwitch, 'families'> & { asked: readonly string[] },
): JudgedFamily[] {
  return judgeFamilies(
    readings.filter(({ family }) => asked.includes(family)),
    { families: families.map((one) => ({ ...one, enabled: true })) },
  )
}
