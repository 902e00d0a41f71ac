// What the kill switch answers to a check. Pure: the same facts give the same answer, so the decision ledger can explain
// one later.

import type { Reading } from './readings.ts'

export const MODES = ['off', 'monitor', 'block', 'block_and_lock'] as const
export type KillSwitchMode = (typeof MODES)[number]

/** As stored and as shown. */
export interface KillSwitch {
  mode: KillSwitchMode
  max_age_s: number
  /** Of families that are absent, the threshold of the reading counts. */
  families: { family: string; threshold: number; enabled: boolean }[]
  /** Without `agents`: every agent. */
  apply_to: { agents?: string[] | undefined }
  /** Whether probes with the status `experimental` count where a trip refuses. Absent in older entries: they do not. */
  allow_experimental?: boolean | undefined
}

export const CHECK_REASONS = [
  'session_canary_locked',
  'canary_unavailable',
  'reading_too_old',
  'canary_tripped',
] as const
export type CheckReason = (typeof CHECK_REASONS)[number]

/** Everything that the answer depends on, as JSON. */
export interface CheckFacts {
  at: string
  agent_session_id: string | null
  agent_id: string | null
  kill_switch: KillSwitch
  reading: CheckedReading | null
  /** In force for the session or its agent. */
  lock_id: string | null
  /** Whether the session itself is locked, or the agent where there is no session. */
  is_subject_locked: boolean
}

export interface CheckedReading {
  trace_id: string
  source: 'client' | 'server'
  canary_set: string
  canary_hash: string
  reading_at: string
  agent_session_id: string | null
  agent_id: string | null
  readings: Reading[]
}

/** A reading of a family by the threshold that counts. */
export interface JudgedFamily extends FamilyReading {
  threshold: number
  tripped: boolean
}

interface FamilyReading {
  family: string
  score: number
}

export interface CheckJudgement {
  allowed: boolean
  reason: CheckReason | null
  stale: boolean
  reading_age_s: number | null
  /** `off` for an agent that the kill switch does not apply to. */
  mode: KillSwitchMode
  families: JudgedFamily[]
  tripped_families: string[]
  /** Tripped too, by probes that are experimental, and not counted. */
  uncounted_families: string[]
  /** The trip locks the session, or the agent where there is no session. */
  locks: boolean
  /** The trip is an event. */
  emits: boolean
}

export function judgeCheck(facts: CheckFacts): CheckJudgement {
  const { kill_switch: killSwitch, lock_id: lockId } = facts
  const mode = modeFor(killSwitch, facts.agent_id)
  const reading = facts.reading !== null && isOfSubject(facts.reading, facts) ? facts.reading : null
  const ageSeconds = reading === null ? null : ageOf(reading.reading_at, facts.at)
  const stale = ageSeconds !== null && ageSeconds > killSwitch.max_age_s
  const isBlocking = mode === 'block' || mode === 'block_and_lock'
  const readings = mode === 'off' || reading === null ? [] : reading.readings
  const isLeftOut = isBlocking ? isUncounted(killSwitch) : () => false
  const families = judgeFamilies(
    readings.filter((one) => !isLeftOut(one)),
    killSwitch,
  )
  const uncounted = judgeFamilies(readings.filter(isLeftOut), killSwitch)
  const tripped = trippedOf(families)
  // A reading that is too old says nothing about now, in either direction: a lock that was cleared would come back with
  // each repeat of its reading.
  const isTrip = isBlocking && !stale && tripped.length > 0
  const hasSubject = facts.agent_session_id !== null || facts.agent_id !== null
  const locks = isTrip && mode === 'block_and_lock' && hasSubject && !facts.is_subject_locked
  // A reading of which no family counts is no reading: each is disabled, or experimental where a trip refuses.
  const isRead = families.length > 0
  const reason = reasonOf({ lockId, mode, isRead, stale, tripped })
  return {
    // A lock is lifted by a person, not by a change of the mode.
    allowed: reason === null || (reason !== 'session_canary_locked' && !isBlocking),
    reason,
    stale,
    reading_age_s: ageSeconds,
    mode,
    families,
    tripped_families: tripped,
    uncounted_families: trippedOf(uncounted),
    locks,
    emits: isTrip && (locks || lockId === null),
  }
}

/** An agent outside of `apply_to` is left alone. A request that names no agent is not: naming none would be a way out. */
export function modeFor({ mode, apply_to }: KillSwitch, agentId: string | null): KillSwitchMode {
  const applies = apply_to.agents === undefined || agentId === null || apply_to.agents.includes(agentId)
  return applies ? mode : 'off'
}

/** What does not count where a trip refuses: the account has to allow probes that failed a control or are below their bar. */
export function isUncounted({ allow_experimental: isAllowed }: Pick<KillSwitch, 'allow_experimental'>) {
  return ({ probe_status: status }: Pick<Reading, 'probe_status'>): boolean =>
    isAllowed !== true && status === 'experimental'
}

/** Each family that is enabled, by the kill switch's threshold where it names one. */
export function judgeFamilies(
  readings: readonly Reading[],
  { families }: Pick<KillSwitch, 'families'>,
): JudgedFamily[] {
  return readings.flatMap(({ family, score, threshold: own }) => {
    const setting = families.find((one) => one.family === family)
    if (setting?.enabled === false) return []
    const threshold = setting?.threshold ?? own
    return [{ family, score, threshold, tripped: score >= threshold }]
  })
}

/** A reading counts for its own agent session and for its own agent. */
export function isOfSubject(
  reading: { agent_session_id: string | null; agent_id: string | null },
  subject: { agent_session_id: string | null; agent_id: string | null },
): boolean {
  const isSame = (a: string | null, b: string | null) => a !== null && a === b
  const belongsToNone = reading.agent_session_id === null && reading.agent_id === null
  const namesNone = subject.agent_session_id === null && subject.agent_id === null
  return (
    isSame(reading.agent_session_id, subject.agent_session_id) ||
    isSame(reading.agent_id, subject.agent_id) ||
    (belongsToNone && namesNone)
  )
}

/** In seconds; 0 for a clock that is ahead. */
export function ageOf(readingAt: string, at: string): number {
  return Math.max(0, (Date.parse(at) - Date.parse(readingAt)) / 1_000)
}

function trippedOf(families: readonly JudgedFamily[]): string[] {
  return families.filter(({ tripped }) => tripped).map(({ family }) => family)
}

function reasonOf(found: {
  lockId: string | null
  mode: KillSwitchMode
  isRead: boolean
  stale: boolean
  tripped: readonly string[]
}): CheckReason | null {
  if (found.lockId !== null) return 'session_canary_locked'
  if (found.mode === 'off') return null
  if (!found.isRead) return 'canary_unavailable'
  if (found.stale) return 'reading_too_old'
  return found.tripped.length > 0 ? 'canary_tripped' : null
}
