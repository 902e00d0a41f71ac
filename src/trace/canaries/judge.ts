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
  /** Whether probes with the status `experimental` count where a trip refuses. */
  allow_experimental: boolean
  /** What a reading has to be before it may allow. */
  reading: ReadingRule
}

/** The account chooses these, and never the one who is judged. */
export interface ReadingRule {
  /** Only readings of these models may allow, and the first reads inputs. Empty: the default model of the installation. */
  models: string[]
  /** A completion that ended by its length has at least so many tokens. */
  max_tokens: number
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
  /** The newest trip of the session or its agent that counts, whatever reading is presented. Absent where a run is judged by its own. */
  trip?: CheckedReading | null
  /** What an empty list of models stands for. Absent as `trip` is. */
  default_model?: string | null
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
  /** What the model was and how far it read. Absent where a client sent the reading, and where it is that of the run itself. */
  origin?: ReadingOrigin
}

export interface ReadingOrigin {
  model: string
  /** Tokens of a completion that ended by its length; null: it ended by itself. */
  cut_after: number | null
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
  /** The reading that tripped, the presented one before any other; null where none does, or where it is too old. */
  tripped_by: Pick<CheckedReading, 'trace_id' | 'canary_set' | 'canary_hash'> | null
}

export function judgeCheck(facts: CheckFacts): CheckJudgement {
  const { kill_switch: killSwitch, lock_id: lockId } = facts
  const mode = modeFor(killSwitch, facts.agent_id)
  const reading = facts.reading !== null && isOfSubject(facts.reading, facts) ? facts.reading : null
  const ageSeconds = reading === null ? null : ageOf(reading.reading_at, facts.at)
  const stale = ageSeconds !== null && ageSeconds > killSwitch.max_age_s
  const presented = judgeReading(reading, killSwitch, mode)
  // A reading that is too old says nothing about now, in either direction: a lock that was cleared would come back with
  // each repeat of its reading.
  const isOwnTrip = !stale && presented.tripped.length > 0
  // A lock in force refuses already: what another reading did locks no second session.
  const other = isOwnTrip || lockId !== null ? null : newestTrip([facts.trip ?? null], { ...facts, mode })
  const judged = other === null ? presented : judgeReading(other, killSwitch, mode)
  const trippedBy = isOwnTrip ? reading : other
  const isTrip = isBlocking(mode) && trippedBy !== null
  const hasSubject = facts.agent_session_id !== null || facts.agent_id !== null
  const locks = isTrip && mode === 'block_and_lock' && hasSubject && !facts.is_subject_locked
  const reason = reasonOf({
    lockId,
    mode,
    isTripped: trippedBy !== null,
    // A reading of which no family counts is no reading: each is disabled, or experimental where a trip refuses.
    isRead: presented.families.length > 0,
    stale,
    isSufficient: mayAllow(reading, killSwitch.reading, facts.default_model),
  })
  return {
    // A lock is lifted by a person, not by a change of the mode.
    allowed: reason === null || (reason !== 'session_canary_locked' && !isBlocking(mode)),
    reason,
    stale,
    reading_age_s: ageSeconds,
    mode,
    families: judged.families,
    tripped_families: judged.tripped,
    uncounted_families: judged.uncounted,
    locks,
    emits: isTrip && (locks || lockId === null),
    tripped_by: trippedBy && {
      trace_id: trippedBy.trace_id,
      canary_set: trippedBy.canary_set,
      canary_hash: trippedBy.canary_hash,
    },
  }
}

interface JudgedReading {
  families: JudgedFamily[]
  tripped: string[]
  uncounted: string[]
}

function judgeReading(reading: CheckedReading | null, killSwitch: KillSwitch, mode: KillSwitchMode): JudgedReading {
  const readings = mode === 'off' || reading === null ? [] : reading.readings
  const isLeftOut = isBlocking(mode) ? isUncounted(killSwitch) : () => false
  const families = judgeFamilies(
    readings.filter((one) => !isLeftOut(one)),
    killSwitch,
  )
  const uncounted = judgeFamilies(readings.filter(isLeftOut), killSwitch)
  return { families, tripped: trippedOf(families), uncounted: trippedOf(uncounted) }
}

/** The newest of these readings of the subject that trips by the kill switch. null: none. */
export function newestTrip(
  readings: readonly (CheckedReading | null)[],
  { kill_switch: killSwitch, at, mode }: Pick<CheckFacts, 'kill_switch' | 'at'> & { mode: KillSwitchMode },
): CheckedReading | null {
  const counted = readings.filter(
    (one): one is CheckedReading =>
      one !== null &&
      ageOf(one.reading_at, at) <= killSwitch.max_age_s &&
      judgeReading(one, killSwitch, mode).tripped.length > 0,
  )
  return counted.toSorted((a, b) => Date.parse(b.reading_at) - Date.parse(a.reading_at))[0] ?? null
}

/** Whether a reading is of a model and of a length that the account chose. */
export function mayAllow(
  reading: Pick<CheckedReading, 'origin'> | null,
  rule: ReadingRule,
  defaultModel: string | null | undefined,
): boolean {
  const origin = reading?.origin
  if (origin === undefined) return true
  const isOfModel = rule.models.length === 0 ? origin.model === defaultModel : rule.models.includes(origin.model)
  return isOfModel && (origin.cut_after === null || origin.cut_after >= rule.max_tokens)
}

/** Families that a trace is found by later, whether or not they count then. */
export function trippedAtAll(readings: readonly Reading[], { families }: Pick<KillSwitch, 'families'>): string[] {
  return trippedOf(judgeFamilies(readings, { families: families.map((one) => ({ ...one, enabled: true })) }))
}

export const isBlocking = (mode: KillSwitchMode): boolean => mode === 'block' || mode === 'block_and_lock'

/** An agent outside of `apply_to` is left alone. A request that names no agent is not: naming none would be a way out. */
export function modeFor({ mode, apply_to }: KillSwitch, agentId: string | null): KillSwitchMode {
  const applies = apply_to.agents === undefined || agentId === null || apply_to.agents.includes(agentId)
  return applies ? mode : 'off'
}

/** What does not count where a trip refuses: the account has to allow probes that failed a control or are below their bar. */
export function isUncounted({ allow_experimental: isAllowed }: Pick<KillSwitch, 'allow_experimental'>) {
  return ({ probe_status: status }: Pick<Reading, 'probe_status'>): boolean => !isAllowed && status === 'experimental'
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

const MILLION = 1e6

/** A number of a reading as it is shown: to a millionth. A threshold is compared with all digits. */
export function shownNumber(value: number): number {
  // Adding 0 turns -0 into 0, which JSON could not tell apart.
  const result = Math.round(value * MILLION) / MILLION + 0
  // A number beyond 1e302 has no digits there.
  return Number.isFinite(result) ? result : value
}

/** A judged family as answers, events and explanations show it. */
export function shownFamily({ family, score, threshold, tripped }: JudgedFamily): JudgedFamily {
  return { family, score: shownNumber(score), threshold: shownNumber(threshold), tripped }
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
  isTripped: boolean
  isRead: boolean
  stale: boolean
  isSufficient: boolean
}): CheckReason | null {
  if (found.lockId !== null) return 'session_canary_locked'
  if (found.mode === 'off') return null
  if (found.isTripped) return 'canary_tripped'
  if (!found.isRead) return 'canary_unavailable'
  if (found.stale) return 'reading_too_old'
  return found.isSufficient ? null : 'canary_unavailable'
}
