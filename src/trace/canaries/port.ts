// What a decision asks of canaries: a reading for a condition of the policy, and what happens when it trips.

import { countOperations } from '#src/account/usage/meter.ts'
import type { Tx } from '#src/platform/db/database.ts'
import type { Platform } from '#src/platform/feature.ts'
import type { Acting } from '#src/platform/http/principal.ts'
import type { Scope } from '#src/platform/ids.ts'
import type { TripSubject } from '../locks/locks.ts'
import { type InferenceInput, logUnread, type ReadInput, type Unread } from './input.ts'
import { ageOf, isOfSubject, isUncounted, type JudgedFamily, judgeFamilies, type KillSwitch, modeFor } from './judge.ts'
import { findKillSwitch } from './kill-switch.ts'
import { findTrace, insertTrace, type TraceRow, toCheckedReading } from './traces.ts'
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

/** Where the readings of a decision come from. A trip of either counts. */
export interface CanarySource extends TripSubject {
  traceId?: string | null | undefined
  /** The model reads it once for all conditions. The trace is kept, whatever becomes of the decision. */
  inferenceInput?: InferenceInput | undefined
}

export interface CanaryCondition {
  set: string
  /**
   * Asked for by name, so they count although their probe may be experimental. When absent: all of the reading that the
   * kill switch counts.
   */
  families?: readonly string[] | undefined
  maxAgeSeconds: number
}

export interface TraceQuestion extends TripSubject {
  traceId: string
}

/** What is stored of a trace. */
export interface TraceReading {
  /** `canary_hash`, which never changes. */
  hash: string
  /** As for a condition without a family of its own, by the kill switch's age; undefined where it counts for nothing. */
  reading: CanaryReading | undefined
  /** As `read` answers a condition without an input. */
  readFor(condition: CanaryCondition): CanaryReading | undefined
}

export interface CanaryTrip extends TripSubject {
  jti: string
  matchedRuleId: string | null
  reading: CanaryReading
}

export interface CanaryPort {
  /**
   * The reading of each condition, undefined where there is none. Outside of any transaction, and within the limit of an
   * input.
   */
  read(
    acting: Acting,
    source: CanarySource,
    conditions: readonly CanaryCondition[],
    signal: AbortSignal,
  ): Promise<(CanaryReading | undefined)[]>
  /** Has an input read and its trace stored: what a token can be bound to. Outside of any transaction. */
  takeReading(
    acting: Acting,
    source: TripSubject & { inferenceInput: InferenceInput },
    signal: AbortSignal,
  ): Promise<{ traceId: string } | { unread: Unread }>
  /** undefined: there is no such trace. */
  readTrace(tx: Tx, question: TraceQuestion): Promise<TraceReading | undefined>
  /**
   * Of a decision that a tripped condition denied: emits `trace.canary_tripped` once per token, and locks where the kill
   * switch says `block_and_lock`. The transaction holds the advisory locks on session and agent; shared ones are enough,
   * as the index makes one lock of several.
   */
  tripAtVerify(tx: Tx, scope: Scope, trip: CanaryTrip): Promise<{ lockId?: string }>
}

export function createCanaryPort({
  db,
  now,
  log,
  readInput,
  recordTrip,
}: Pick<Platform, 'db' | 'now' | 'log'> & { readInput: ReadInput; recordTrip: RecordTrip }): CanaryPort {
  async function readAndStore(
    acting: Acting,
    input: InferenceInput,
    { agentSessionId, agentId }: TripSubject,
    options: Parameters<ReadInput>[3],
  ): Promise<{ trace: TraceRow } | { unread: Unread }> {
    const read = await readInput(acting, input, { agentSessionId, agentId }, options)
    if ('trace' in read) await db.tenant(acting, (tx) => storeReading(tx, acting, read.trace))
    else logUnread(log, read.unread)
    return read
  }

  async function readForConditions(
    acting: Acting,
    source: CanarySource,
    conditions: readonly CanaryCondition[],
    signal: AbortSignal,
  ): Promise<TraceRow | undefined> {
    if (source.inferenceInput === undefined || conditions.length === 0) return undefined
    const sets = conditions.map(({ set }) => set)
    const read = await readAndStore(acting, source.inferenceInput, source, { sets, signal })
    return 'trace' in read ? read.trace : undefined
  }

  return {
    async readTrace(tx, { traceId, ...subject }) {
      const [trace, { settings }] = await Promise.all([findTrace(tx, traceId), findKillSwitch(tx)])
      if (trace === undefined) return undefined
      const { digest: hash, canarySet: set } = trace
      const readFor = (condition: CanaryCondition) => readingOf(trace, condition, subject, { settings, at: now() })
      const reading = set === null ? undefined : readFor({ set, maxAgeSeconds: settings.max_age_s })
      return { hash, reading, readFor }
    },

    async read(acting, source, conditions, signal) {
      const { traceId = null } = source
      const [taken, stored] = await Promise.all([
        readForConditions(acting, source, conditions, signal),
        traceId === null ? undefined : db.tenant(acting, (tx) => findTrace(tx, traceId)),
      ])
      const { settings } = await db.tenant(acting, findKillSwitch)
      return conditions.map((condition) => {
        const found = [taken, stored].flatMap((trace) => {
          const reading = trace && readingOf(trace, condition, source, { settings, at: now() })
          return reading === undefined ? [] : [reading]
        })
        return found.find(({ families }) => families.some(({ tripped }) => tripped)) ?? found[0]
      })
    },

    async takeReading(acting, { inferenceInput, ...subject }, signal) {
      const read = await readAndStore(acting, inferenceInput, subject, { signal })
      return 'trace' in read ? { traceId: read.trace.id } : read
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

/** The trace that a model of the service made, counted as an inference. */
export async function storeReading(tx: Tx, scope: Scope, trace: TraceRow): Promise<void> {
  await Promise.all([insertTrace(tx, scope, trace), countOperations(tx, scope, 'inference', [trace.id])])
}

/** undefined: of another set or another subject, old, or a client's own that did not trip. */
function readingOf(
  trace: TraceRow,
  { set, families: asked, maxAgeSeconds }: CanaryCondition,
  { agentSessionId, agentId }: TripSubject,
  { settings, at }: { settings: KillSwitch; at: Date },
): CanaryReading | undefined {
  const subject = { agent_session_id: agentSessionId, agent_id: agentId }
  const isFresh = ageOf(trace.readingAt.toISOString(), at.toISOString()) <= maxAgeSeconds
  const checked = toCheckedReading(trace)
  if (checked?.canary_set !== set || !isFresh || !isOfSubject(checked, subject)) return undefined
  const families =
    asked === undefined ? judgeCounted(trace, settings) : judgeNamed(trace, { families: settings.families, asked })
  const isTripped = families.some(({ tripped }) => tripped)
  const isWhole = families.length > 0 && (asked === undefined || families.length === new Set(asked).size)
  // What a client says of itself can refuse, and is no reason to allow.
  if (!isTripped && !(trace.source === 'server' && isWhole)) return undefined
  return {
    set,
    traceId: trace.id,
    source: trace.source,
    readingAt: trace.readingAt,
    hash: trace.digest,
    families,
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
