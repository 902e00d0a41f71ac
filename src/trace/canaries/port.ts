// What a decision asks of canaries: a reading for a condition of the policy, and what happens when it trips.

import { countOperations } from '#src/account/usage/meter.ts'
import type { Tx } from '#src/platform/db/database.ts'
import type { Platform } from '#src/platform/feature.ts'
import type { Acting } from '#src/platform/http/principal.ts'
import type { Scope } from '#src/platform/ids.ts'
import type { TripSubject } from '../locks/locks.ts'
import {
  type CanaryCondition,
  type CanaryReading,
  isTripping,
  type Judging,
  type KillSwitchTrip,
  readingOf,
  refusalOf,
  whoseOf,
} from './conditions.ts'
import { type InferenceInput, logUnread, type ReadInput, type Unread } from './input.ts'
import { isOfSubject, type KillSwitch, modeFor } from './judge.ts'
import { findKillSwitch } from './kill-switch.ts'
import { findTrace, insertTrace, type TraceRow } from './traces.ts'
import { findTrips } from './trip-rows.ts'
import { type RecordTrip, tripOf } from './trips.ts'

/** Where the readings of a decision come from. A trip of either counts. */
export interface CanarySource extends TripSubject {
  traceId?: string | null | undefined
  /** The model reads it once for all conditions. The trace is kept, whatever becomes of the decision. */
  inferenceInput?: InferenceInput | undefined
}

export interface CanaryQuestion extends TripSubject {
  /** The reading that is presented. */
  traceId: string | null
  /** The token is bound to it, or is to be: its trip refuses however old it is. */
  isBound: boolean
  /** Time of the subject's last trip; undefined: never. */
  trippedAt: Date | undefined
  /** The oldest trip that a condition of the policy counts. */
  maxAgeSeconds(): number
}

/** What is stored of the canaries of a session and its agent, and of the trace that is presented. */
export interface CanaryState {
  /** `canary_hash` of the trace, which never changes; undefined: there is no such trace. */
  hash: string | undefined
  /** Whether the trace is of the session or the agent. */
  isOwn: boolean
  /**
   * Answer to a condition without a family of its own, by the kill switch's age: the newest trip before the presented
   * reading. Undefined where nothing counts.
   */
  reading: CanaryReading | undefined
  /**
   * Answers a condition without an input as `read` does. A trip of the session or the agent comes before the presented
   * reading.
   */
  readFor(condition: CanaryCondition): CanaryReading | undefined
  /**
   * A trip that refuses whatever reading is presented: of the session, the agent, or the trace that the token is bound to.
   * undefined where there is none for any condition.
   */
  tripFor: ((condition: CanaryCondition) => CanaryReading | undefined) | undefined
  /** The trip by which the kill switch refuses, as it refuses a check. */
  refusal: KillSwitchTrip | null
}

export interface CanaryTrip extends TripSubject {
  jti: string
  matchedRuleId: string | null
  reading: CanaryReading
}

export interface CanaryPort {
  /**
   * Returns the reading of each condition, undefined where there is none. Called outside of any transaction, and within
   * the limit of an input.
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
  readState(tx: Tx, question: CanaryQuestion): Promise<CanaryState>
  /**
   * Handles a decision that a tripped condition denied: emits `trace.canary_tripped` once per token, and locks where
   * the kill switch says `block_and_lock`. The transaction holds the advisory locks on session and agent; shared ones
   * are enough, as the index makes one lock of several.
   */
  tripAtVerify(tx: Tx, scope: Scope, trip: CanaryTrip): Promise<{ lockId?: string }>
  /** The same for a decision that the kill switch itself refused. @param jti null: at authorize, which issues nothing. */
  tripByKillSwitch(
    tx: Tx,
    scope: Scope,
    trip: TripSubject & { refusal: KillSwitchTrip; jti: string | null; at: string },
  ): Promise<{ lockId?: string }>
}

interface PortDeps extends Pick<Platform, 'db' | 'now' | 'log'> {
  readInput: ReadInput
  recordTrip: RecordTrip
  /** undefined: the installation has no model. */
  defaultModel(): string | undefined
}

export function createCanaryPort({ db, now, log, readInput, recordTrip, defaultModel }: PortDeps): CanaryPort {
  async function readAndStore(
    acting: Acting,
    input: InferenceInput,
    { agentSessionId, agentId }: TripSubject,
    options: Omit<Parameters<ReadInput>[3], 'rule'>,
  ): Promise<{ trace: TraceRow } | { unread: Unread }> {
    const { settings } = await db.tenant(acting, findKillSwitch)
    const read = await readInput(acting, input, { agentSessionId, agentId }, { ...options, rule: settings.reading })
    if ('trace' in read) await db.tenant(acting, (tx) => storeReading(tx, acting, read.trace, settings))
    else logUnread(log, read.unread)
    return read
  }

  async function readForConditions(
    acting: Acting,
    source: CanarySource,
    conditions: readonly CanaryCondition[],
    signal: AbortSignal,
  ): Promise<TraceRow | undefined> {
    const sets = conditions.flatMap((one) => (one.source === 'inference' ? [] : [one.set]))
    if (source.inferenceInput === undefined || sets.length === 0) return undefined
    const read = await readAndStore(acting, source.inferenceInput, source, { sets, signal })
    return 'trace' in read ? read.trace : undefined
  }

  const judgingOf = (settings: KillSwitch): Judging => ({ settings, at: now(), defaultModel: defaultModel() })

  return {
    async readState(tx, { traceId, isBound, trippedAt, maxAgeSeconds, ...subject }) {
      const isTripped = trippedAt !== undefined && now().getTime() - trippedAt.getTime() <= MAX_AGE_MS
      if (traceId === null && !isTripped) return NO_CANARIES
      const [trace, { settings }] = await Promise.all([
        traceId === null ? undefined : findTrace(tx, traceId),
        findKillSwitch(tx),
      ])
      const judging = judgingOf(settings)
      const oldest = judging.at.getTime() - Math.max(maxAgeSeconds(), settings.max_age_s) * 1_000
      const trips = isTripped ? await findTrips(tx, subject, new Date(oldest)) : []
      const tripFor = (condition: CanaryCondition) => {
        const found = trips.map((one) => readingOf(one, condition, subject, judging))
        const bound = trace && isBound ? readingOf(trace, condition, subject, { ...judging, isBound }) : undefined
        return [bound, ...found].find(isTripping)
      }
      const readFor = (condition: CanaryCondition) =>
        tripFor(condition) ?? (trace && readingOf(trace, condition, subject, judging))
      const fieldsOf = ({ canarySet: set }: TraceRow) =>
        set === null ? undefined : readFor({ set, maxAgeSeconds: settings.max_age_s })
      const shown = [...(trace === undefined ? [] : [trace]), ...trips].map(fieldsOf)
      return {
        hash: trace?.digest,
        isOwn: trace !== undefined && isOfSubject(whoseOf(trace), whoseOf(subject)),
        reading: shown.find(isTripping) ?? shown[0],
        readFor,
        tripFor: trips.length > 0 || isBound ? tripFor : undefined,
        refusal: refusalOf(judging, subject, { trips, bound: isBound ? trace : undefined }),
      }
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
          const reading = trace && readingOf(trace, condition, source, judgingOf(settings))
          return reading === undefined ? [] : [reading]
        })
        return found.find(isTripping) ?? found[0]
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
        isLocking: mode === 'block_and_lock' && !reading.isStale,
        reading,
        agentSessionId,
        agentId,
        jti,
        matchedRuleId,
      })
      return lockId === null ? {} : { lockId }
    },

    async tripByKillSwitch(tx, scope, { refusal, jti, at, ...subject }) {
      const trip = tripOf({ ...refusal, tripped_by: refusal }, subject, at)
      if (trip === undefined) throw new Error('a refusal by the kill switch has no trip')
      const { lockId } = await recordTrip(tx, scope, { ...trip, jti, source: jti === null ? 'check' : 'verify' })
      return lockId === null ? {} : { lockId }
    },
  }
}

// A condition of a policy and the kill switch count readings of a day at most.
const MAX_AGE_MS = 86_400_000

const NO_CANARIES: CanaryState = {
  hash: undefined,
  isOwn: false,
  reading: undefined,
  readFor: () => undefined,
  tripFor: undefined,
  refusal: null,
}

/** The trace that a model of the service made, counted as an inference. */
export async function storeReading(tx: Tx, scope: Scope, trace: TraceRow, settings: KillSwitch): Promise<void> {
  await Promise.all([insertTrace(tx, scope, trace, { settings }), countOperations(tx, scope, 'inference', [trace.id])])
}
