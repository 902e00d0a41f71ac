// POST /v1/trace/check: may this agent go on, by these canary readings? An input is read by a model first, outside of any
// transaction. Then a first look finds out which locks the answer needs; the answer itself is judged under them, so that
// none allows after a lock that it has not read.

import { readAgents } from '#src/agents/registry/rows.ts'
import { checkSessionName, readAgentSession } from '#src/agents/registry/session-rows.ts'
import { Failure, invalidField } from '#src/failure.ts'
import { note } from '#src/platform/context.ts'
import { canonicalize, type Json } from '#src/platform/crypto/canonical.ts'
import { sha256Base64url } from '#src/platform/crypto/digest.ts'
import { lockExclusive, lockShared } from '#src/platform/db/advisory.ts'
import type { Tx } from '#src/platform/db/database.ts'
import type { Platform } from '#src/platform/feature.ts'
import { type IdempotencyKey, once, refuseRepeat } from '#src/platform/http/idempotency.ts'
import { type Acting, actorOf } from '#src/platform/http/principal.ts'
import { checkId, newId, noSuch, type Scope } from '#src/platform/ids.ts'
import { failpoint } from '#src/platform/jobs/failpoint.ts'
import { locksOf, type TripSubject } from '../locks/locks.ts'
import { findLockOf, readLiveLock } from '../locks/rows.ts'
import { type InferenceInput, logUnread, type ReadInput, type Unread } from './input.ts'
import {
  type CheckFacts,
  type CheckJudgement,
  judgeCheck,
  modeFor,
  newestTrip,
  type ReadingRule,
  shownFamily,
} from './judge.ts'
import { findKillSwitch } from './kill-switch.ts'
import { storeReading } from './port.ts'
import { type ReadingsBody, toReadings } from './readings.ts'
import { canaryHashOf, findTrace, insertTrace, type TraceRow, toCheckedReading, toPresentedReading } from './traces.ts'
import { findTrips } from './trip-rows.ts'
import { type RecordTrip, tripOf } from './trips.ts'

/** Exactly one of the first three. */
export interface CheckRequest {
  traceId?: string | undefined
  client?: { readings: ReadingsBody; readingAt: Date; canarySet: string } | undefined
  inferenceInput?: InferenceInput | undefined
  agentId?: string | undefined
  agentSessionId?: string | undefined
}

export interface CheckAnswer extends CheckJudgement {
  lockId: string | null
  decisionId: string
  traceId: string | null
  canaryHash: string | null
  runtime: string | null
  /** Why an input has no reading. */
  unavailableCause: Unread['cause'] | null
}

export interface CheckOptions {
  key?: IdempotencyKey | undefined
  /** Set when the account may not have inputs read any more this month. */
  overCap?: Failure | undefined
  /** Returns the request's signal; called only where an input is read. */
  signal(): AbortSignal
}

// Clocks differ a little. A reading from the future would stay fresh for longer than its time.
const MAX_AHEAD_MS = 30_000

export type Checks = ReturnType<typeof createChecks>

interface CheckDeps extends Pick<Platform, 'db' | 'now' | 'ledger' | 'log'> {
  readInput: ReadInput
  recordTrip: RecordTrip
  /** undefined: the installation has no model. */
  defaultModel(): string | undefined
}

export function createChecks({ db, now, ledger, log, readInput, recordTrip, defaultModel }: CheckDeps) {
  /** What is asked, with its ids looked up. It never changes, so it may be read before the locks are taken. */
  async function resolve(acting: Acting, request: CheckRequest) {
    const { traceId, client } = request
    checkNames(acting, request)
    if (client !== undefined && client.readingAt.getTime() > now().getTime() + MAX_AHEAD_MS) {
      throw invalidField('/reading_at', 'in_future', 'must not lie more than 30 seconds in the future')
    }
    const { subject, stored, rule } = await db.tenant(acting, async (tx) => {
      const [stored, { settings }] = await Promise.all([
        traceId === undefined ? undefined : findTrace(tx, traceId),
        findKillSwitch(tx),
      ])
      if (traceId !== undefined && stored === undefined) throw noSuch(traceId)
      return { stored, subject: await resolveSubject(tx, request, stored), rule: settings.reading }
    })
    const sent = client === undefined ? undefined : traceOf(acting, client, subject, now())
    note({ ...(subject.agentId && { agent: subject.agentId }) })
    return { subject, stored, sent, rule }
  }

  /** Has the model read an input, unless it is that of a repeat. @throws {Failure} which `once` throws of a repeat. */
  async function read(
    acting: Acting,
    { inferenceInput }: CheckRequest,
    { subject, rule }: { subject: TripSubject; rule: ReadingRule },
    { key, overCap, signal }: CheckOptions,
  ): Promise<{ trace?: TraceRow; unread?: Unread }> {
    if (inferenceInput === undefined) return {}
    if (key !== undefined) await db.tenant(acting, (tx) => refuseRepeat(tx, key))
    const read =
      overCap === undefined
        ? await readInput(acting, inferenceInput, subject, { signal: signal(), rule })
        : { unread: { cause: 'over_cap', failure: overCap } as const }
    if ('unread' in read) logUnread(log, read.unread)
    failpoint('check:read')
    return read
  }

  async function loadFacts(tx: Tx, subject: TripSubject, trace: TraceRow | undefined): Promise<CheckFacts> {
    const [{ settings }, live, own] = await Promise.all([
      findKillSwitch(tx),
      readLiveLock(tx, subject),
      findLockOf(tx, subject),
    ])
    const at = now()
    const trips = await findTrips(tx, subject, new Date(at.getTime() - settings.max_age_s * 1_000))
    const judged = { kill_switch: settings, at: at.toISOString(), mode: modeFor(settings, subject.agentId) }
    return {
      at: judged.at,
      agent_session_id: subject.agentSessionId,
      agent_id: subject.agentId,
      kill_switch: settings,
      reading: trace === undefined ? null : toPresentedReading(trace),
      trip: newestTrip(trips.map(toCheckedReading), judged),
      default_model: defaultModel() ?? null,
      lock_id: live?.lockId ?? null,
      is_subject_locked: own !== undefined,
    }
  }

  return {
    /**
     * Judges readings by the kill switch, records the answer, and does what a trip does.
     * @throws {Failure} `invalid_request` for a reading from the future and for a session of another agent;
     * `environment_mismatch`; `not_found` for a trace, an agent or a registered session.
     */
    async check(acting: Acting, request: CheckRequest, options: CheckOptions): Promise<CheckAnswer> {
      const { key } = options
      const { inferenceInput } = request
      const resolved = await resolve(acting, request)
      const { subject, stored, sent } = resolved
      const { trace: taken, unread } = await read(acting, request, resolved, options)
      const trace = stored ?? sent ?? taken
      note({ ...(trace && { trace: trace.id }) })
      const inputHash = inferenceInput === undefined ? null : sha256Base64url(canonicalize(inferenceInput as Json))
      const locks = locksOf(acting, subject)

      const decide = async (tx: Tx, facts: CheckFacts): Promise<CheckAnswer> => {
        const judgement = judgeCheck(facts)
        const settings = facts.kill_switch
        if (sent !== undefined) await insertTrace(tx, acting, sent, { settings })
        if (taken !== undefined) await storeReading(tx, acting, taken, settings)
        const trip = judgement.emits && tripOf(judgement, subject, facts.at)
        const { lockId } = trip ? await recordTrip(tx, acting, trip) : { lockId: null }
        const inForce = facts.lock_id ?? lockId
        const decisionId = await ledger.record(tx, acting, {
          kind: 'trace_check',
          at: new Date(facts.at),
          actor: actorOf(acting.principal),
          subject: subject.agentSessionId ?? subject.agentId ?? trace?.id ?? null,
          reason: judgement.reason,
          valid: judgement.allowed,
          inputs: {
            trace_id: trace?.id ?? null,
            canary_hash: trace?.digest ?? null,
            inference_input_hash: inputHash,
            ...(unread && { unavailable_cause: unread.cause }),
            agent_session_id: subject.agentSessionId,
            agent_id: subject.agentId,
            lock_id: inForce,
          },
          facts: jsonOf(facts),
        })
        failpoint('check:settling')
        return {
          ...judgement,
          lockId: inForce,
          decisionId,
          ...shownOf(trace),
          unavailableCause: unread?.cause ?? null,
        }
      }

      /** undefined: the answer locks, and the locks were shared. */
      const attempt = (isExclusive: boolean) =>
        db.tenant(acting, async (tx) => {
          await (isExclusive ? lockExclusive(tx, locks) : lockShared(tx, locks))
          const facts = await loadFacts(tx, subject, trace)
          if (judgeCheck(facts).locks && !isExclusive) return undefined
          return once(tx, key, (tx) => decide(tx, facts), subjectOf)
        })

      // Two that hold the shared lock and then wait for the exclusive one wait for each other: it takes a transaction
      // of its own.
      return (await attempt(false)) ?? (await attempt(true)) ?? Promise.reject(new Error('a check has no answer'))
    },

    /** What the answer of an earlier request would be now. Records nothing and locks nothing. */
    async repeat(acting: Acting, request: CheckRequest, made: string): Promise<CheckAnswer> {
      const [decisionId = '', traceId = ''] = made.split(' ')
      const { client: _, inferenceInput: __, ...rest } = request
      const { subject, stored: trace } = await resolve(acting, traceId === '' ? rest : { ...rest, traceId })
      const facts = await db.tenant(acting, (tx) => loadFacts(tx, subject, trace))
      const lockId = facts.lock_id
      return { ...judgeCheck(facts), lockId, decisionId, ...shownOf(trace), unavailableCause: null }
    },
  }
}

/** Replays the facts of an entry: the answer as it was. For the explanation of the decision ledger. */
export function explainCheck(facts: Json): Json {
  const { locks: _locks, emits: _emits, tripped_by: _by, ...answer } = judgeCheck(facts as unknown as CheckFacts)
  return { ...answer, families: answer.families.map((family) => ({ ...shownFamily(family) })) }
}

/**
 * @throws {Failure} `environment_mismatch`; `not_found` for a text that begins like an id of this service and is none.
 */
export function checkNames({ environment }: Scope, { traceId, agentId, agentSessionId }: CheckRequest): void {
  if (traceId !== undefined) checkId(traceId, 'trc', environment)
  if (agentId !== undefined) checkId(agentId, 'agt', environment)
  if (agentSessionId !== undefined) checkSessionName(agentSessionId, environment)
}

/** Subject of the check: as the request says, else as the trace says. A registered session brings its agent. */
export async function resolveSubject(
  tx: Tx,
  request: Pick<CheckRequest, 'agentId' | 'agentSessionId'>,
  trace?: TraceRow,
): Promise<TripSubject> {
  const isNamed = request.agentId !== undefined || request.agentSessionId !== undefined
  const agentSessionId = (isNamed ? request.agentSessionId : trace?.agentSessionId) ?? null
  const [session, agents] = await Promise.all([
    agentSessionId === null ? undefined : readAgentSession(tx, agentSessionId),
    request.agentId === undefined ? undefined : readAgents(tx, [request.agentId]),
  ])
  if (agents?.size === 0) throw new Failure('not_found', `There is no agent ${request.agentId}.`)
  // A mistyped id would be a session that never gets a lock. A trace may be older than what is kept of its session.
  if (session === undefined && request.agentSessionId?.startsWith('ses_') === true) {
    throw new Failure('not_found', `There is no agent session ${request.agentSessionId}.`)
  }
  if (session !== undefined && request.agentId !== undefined && session.agentId !== request.agentId) {
    throw invalidField('/agent_session_id', 'other_agent', 'is a session of another agent')
  }
  const isOfTrace = !isNamed || (agentSessionId !== null && trace?.agentSessionId === agentSessionId)
  const agentId = request.agentId ?? session?.agentId ?? (isOfTrace ? trace?.agentId : undefined) ?? null
  return { agentSessionId, agentId }
}

function traceOf(
  acting: Acting,
  { readings, readingAt, canarySet }: NonNullable<CheckRequest['client']>,
  { agentSessionId, agentId }: TripSubject,
  createdAt: Date,
): TraceRow {
  const trace = {
    id: newId('trc', acting.environment, createdAt.getTime()),
    source: 'client',
    agentSessionId,
    agentId,
    canarySet,
    readings: toReadings(readings),
    readingAt,
    modelVersionId: null,
    runtime: null,
    createdBy: actorOf(acting.principal).id,
    createdAt,
  } as const
  return { ...trace, digest: canaryHashOf(trace), inference: null, cutAfter: null }
}

function shownOf(trace: TraceRow | undefined): Pick<CheckAnswer, 'traceId' | 'canaryHash' | 'runtime'> {
  return { traceId: trace?.id ?? null, canaryHash: trace?.digest ?? null, runtime: trace?.runtime ?? null }
}

// For `repeat`.
function subjectOf({ decisionId, traceId }: CheckAnswer): string {
  return traceId === null ? decisionId : `${decisionId} ${traceId}`
}

function jsonOf(facts: CheckFacts): Json {
  return JSON.parse(JSON.stringify(facts)) as Json
}
