// What a decision about a token reads: the row of the token and the state of everything that it is bound to, in one
// statement, which runs after the locks.

import { agentFacts, agentFactsOf } from '#src/agents/registry/rows.ts'
import { type AgentSessionRow, agentSession } from '#src/agents/registry/session-rows.ts'
import { withState } from '#src/attest/devices/devices.ts'
import { type DeviceStateRow, deviceStateRow } from '#src/attest/devices/rows.ts'
import type { Trust } from '#src/attest/hardware/evidence.ts'
import type { RevocationSnapshot } from '#src/attest/hardware/revocations.ts'
import type { CurrentCompiled, PolicyReader } from '#src/authorize/policy/current.ts'
import { CURRENT_DIGEST } from '#src/authorize/policy/rows.ts'
import { LIVE_STOP, liveRevocation } from '#src/authorize/revocations/rows.ts'
import type { JsonObject } from '#src/platform/crypto/canonical.ts'
import { lockExclusive, lockShared, type SubjectLock, subjectLock } from '#src/platform/db/advisory.ts'
import type { Database, Statement, Tx } from '#src/platform/db/database.ts'
import { type JsonRow, oneRow, readsOfOneRow } from '#src/platform/db/reads.ts'
import type { Scope } from '#src/platform/ids.ts'
import type { CanaryReading } from '#src/trace/canaries/conditions.ts'
import type { CanaryPort, CanaryState } from '#src/trace/canaries/port.ts'
import { latestTrip } from '#src/trace/canaries/trip-rows.ts'
import { liveLock } from '#src/trace/locks/rows.ts'
import type { VerifyFacts } from './facts.ts'
import { maxAgeOf } from './outside-answers.ts'

export interface BoundStateDeps extends Pick<PolicyReader, 'readPolicy'> {
  canaries: Pick<CanaryPort, 'readState'>
  trust: Pick<Trust, 'revocations'>
}

/** What a token is bound to, as the request or its claims say. */
export interface Subjects {
  /** undefined: no token yet. */
  jti: string | undefined
  agentId: string | null
  agentSessionId: string
  deviceId: string
  traceId: string | null
  /** The token is bound to the reading of the trace, or is to be. */
  isTraceBound: boolean
}

type BoundFacts = Pick<
  VerifyFacts,
  'at' | 'stop' | 'revocation' | 'lock' | 'agent' | 'device' | 'session' | 'reading_hash' | 'canary' | 'canary_trip'
>

export interface BoundState extends BoundFacts {
  policy: CurrentCompiled
  /** All locks that hold the session or the agent, that of `lock` first. */
  lockIds: readonly string[]
  /** What is stored answers conditions of the policy with this. */
  canaries: Pick<CanaryState, 'readFor' | 'tripFor'>
  /** The trace is of the session or its agent; true where there is none. */
  isTraceOwn: boolean
  /** The agent of a registered session. */
  sessionAgentId: string | null
  isSessionKnown: boolean
  isSessionEnded: boolean
}

/** What of it the pipeline reads. */
export function factsPart(bound: BoundState): BoundFacts {
  const { at, stop, revocation, lock, agent, device, session, reading_hash, canary, canary_trip } = bound
  return { at, stop, revocation, lock, agent, device, session, reading_hash, canary, canary_trip }
}

/** Ids of our own form; any other string names a session or a device without a row. */
export const isOwnId = (id: string, type: 'ses' | 'dev' | 'agt' | 'trc'): boolean =>
  id.startsWith(`${type}_test_`) || id.startsWith(`${type}_live_`)

/** The locks on what a decision depends on: shared by decisions, exclusive for what changes it. */
export function subjectLocksOf(scope: Scope, { agentId, agentSessionId, deviceId }: Subjects): SubjectLock[] {
  return [
    subjectLock(scope, 'session', agentSessionId),
    subjectLock(scope, 'device', deviceId),
    subjectLock(scope, 'stop', ''),
    ...(agentId === null ? [] : [subjectLock(scope, 'agent', agentId)]),
  ]
}

/** @param isExclusive Of a decision that will itself lock the session or the agent. */
export function takeLocks(tx: Tx, locks: readonly SubjectLock[], isExclusive = false): Promise<void> {
  return isExclusive ? lockExclusive(tx, locks) : lockShared(tx, locks)
}

// $1 the token or null, $2 the session, $3 the device, $4 the agent or null.
const readRows = readsOfOneRow({
  policy: CURRENT_DIGEST,
  stop: LIVE_STOP,
  revocation: liveRevocation({ jti: '$1', agentSessionId: '$2', deviceId: '$3' }),
  lock: liveLock('$2', '$4'),
  agent: agentFacts('$4'),
  session: agentSession('$2'),
  device: deviceStateRow('$3'),
  trip: latestTrip('$2', '$4'),
  // After every lock of the transaction, whose start may be long ago.
  clock: oneRow<{ at: Date }>('SELECT clock_timestamp() AS at'),
})

/** @param revocations Of the keys that attest hardware: read before, since it may be fetched. */
export async function readBoundState(
  tx: Tx,
  { canaries, readPolicy }: Omit<BoundStateDeps, 'trust'>,
  { jti, agentId, agentSessionId, deviceId, traceId, isTraceBound }: Subjects,
  revocations: RevocationSnapshot,
): Promise<BoundState> {
  const rows = await readRows(tx, [jti ?? null, agentSessionId, deviceId, agentId])
  const { stop, revocation, lock, session, device } = rows
  const policy = await readPolicy(tx, rows.policy)
  const canary = await canaries.readState(tx, {
    traceId,
    isBound: isTraceBound,
    agentSessionId,
    agentId,
    trippedAt: rows.trip === null ? undefined : new Date(rows.trip.at),
    maxAgeSeconds: () => maxAgeOf(policy.compiled),
  })
  const at = isoOf(rows.clock?.at)
  return {
    at,
    policy,
    canaries: canary,
    isTraceOwn: traceId === null || canary.isOwn,
    stop: stop === null ? null : { reason: stop.reason, at: isoOf(stop.at) },
    revocation: revocation === null ? null : { scope: revocation.scope, at: isoOf(revocation.at) },
    lock: lock === null ? null : { lock_id: lock.lockId },
    lockIds: lock?.lockIds ?? [],
    agent: agentId === null ? null : agentOf(agentId, rows.agent),
    device: deviceOf(deviceId, device, at, revocations),
    session: sessionOf(agentSessionId, session),
    reading_hash: canary.hash ?? null,
    canary: canaryOf(canary.reading),
    canary_trip: canary.refusal,
    sessionAgentId: session?.agentId ?? null,
    isSessionKnown: session !== null || !isOwnId(agentSessionId, 'ses'),
    isSessionEnded: session?.status === 'ended',
  }
}

/**
 * Reads in one round trip what `read` asks for in one turn. Concurrent readers of an account share a transaction. Only for
 * what needs no lock.
 */
export async function readTogether<R>(
  db: Pick<Database, 'readTenant'>,
  scope: Scope,
  read: (tx: Tx) => Promise<R>,
): Promise<R> {
  interface Waiting {
    statement: Statement
    resolve(rows: unknown[]): void
    reject(error: unknown): void
  }
  let waiting: Waiting[] = []
  const send = () => {
    const batch = waiting
    waiting = []
    db.readTenant<unknown[]>(
      scope,
      batch.map(({ statement }) => statement),
    ).then(
      (answers) => batch.forEach(({ resolve }, index) => void resolve(answers[index] ?? [])),
      (error: unknown) => batch.forEach(({ reject }) => void reject(error)),
    )
  }
  return read({
    query: <Row>(text: string, values: readonly unknown[] = []) =>
      new Promise<Row[]>((resolve, reject) => {
        if (waiting.length === 0) queueMicrotask(send)
        waiting.push({ statement: { text, values }, resolve: (rows) => resolve(rows as Row[]), reject })
      }),
    adhoc: () => Promise.reject(new Error('only fixed statements are read together')),
    withCommit() {
      throw new Error('nothing is written where statements are read together')
    },
  })
}

/** A time of Postgres as facts have it: in UTC, to milliseconds. @throws {Error} when it is absent. */
const isoOf = (time: string | undefined): string => new Date(time ?? '').toISOString()

function agentOf(id: string, row: Parameters<typeof agentFactsOf>[0] | null): VerifyFacts['agent'] {
  if (row === null) return { id, status: 'missing', attributes: {} }
  const { name, owner, status, metadata } = agentFactsOf(row)
  return { id, status, attributes: { id, name, owner, status, metadata } }
}

function deviceOf(
  id: string,
  row: JsonRow<DeviceStateRow> | null,
  at: string,
  revocations: RevocationSnapshot,
): VerifyFacts['device'] {
  if (row === null) return { id, tier: 'none', enrolled: false }
  const { notAfter, revokedAt, ...hardware } = row
  const stored = {
    ...hardware,
    notAfter: new Date(notAfter),
    revokedAt: revokedAt === null ? null : new Date(revokedAt),
  }
  const { hardwareTier, state } = withState(stored, new Date(at), revocations)
  return { id, tier: hardwareTier, enrolled: state === 'enrolled' }
}

/** What rules of the policy see as `canary`. */
function canaryOf(reading: CanaryReading | undefined): JsonObject | null {
  if (reading === undefined) return null
  const { set, source, readingAt, families } = reading
  const tripped = families.filter((family) => family.tripped)
  return {
    set,
    source,
    reading_at: readingAt.toISOString(),
    tripped: tripped.length > 0,
    families: tripped.map(({ family }) => family),
    scores: Object.fromEntries(families.map(({ family, score }) => [family, score])),
  }
}

function sessionOf(id: string, session: JsonRow<AgentSessionRow> | null): JsonObject {
  if (session === null) return { id, status: 'unregistered' }
  return { id, status: session.status, agent_id: session.agentId, created_at: isoOf(session.createdAt) }
}
