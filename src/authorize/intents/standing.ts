// What a decision about a token reads: the row of the token and the standing of everything that it is bound to. The reads
// are independent of each other and sent together.

import { readAgents } from '#src/agents/registry/rows.ts'
import { readAgentSession } from '#src/agents/registry/session-rows.ts'
import { withState } from '#src/attest/devices/devices.ts'
import { type DeviceRow, findDeviceById } from '#src/attest/devices/rows.ts'
import type { Trust } from '#src/attest/hardware/evidence.ts'
import type { RevocationSnapshot } from '#src/attest/hardware/revocations.ts'
import type { CurrentCompiled, PolicyReader } from '#src/authorize/policy/current.ts'
import type { JsonObject } from '#src/authorize/policy/evaluate.ts'
import { readRevocation, readStop } from '#src/authorize/revocations/rows.ts'
import { lockExclusive, lockShared, type SubjectLock, subjectLock } from '#src/platform/db/advisory.ts'
import type { Database, Statement, Tx } from '#src/platform/db/database.ts'
import type { Scope } from '#src/platform/ids.ts'
import type { CanaryPort, CanaryReading } from '#src/trace/canaries/port.ts'
import { readLiveLock } from '#src/trace/locks/rows.ts'
import type { VerifyFacts } from './facts.ts'

export interface StandingDeps extends Pick<PolicyReader, 'readPolicy'> {
  canaries: Pick<CanaryPort, 'readTrace'>
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
}

type StandingFacts = Pick<
  VerifyFacts,
  'at' | 'stop' | 'revocation' | 'lock' | 'agent' | 'device' | 'session' | 'reading_hash' | 'canary'
>

export interface TokenStanding extends StandingFacts {
  policy: CurrentCompiled
  /** The agent of a registered session. */
  sessionAgentId: string | null
  isSessionKnown: boolean
  isSessionEnded: boolean
}

/** What of it the pipeline reads. */
export function factsPart(standing: TokenStanding): StandingFacts {
  const { at, stop, revocation, lock, agent, device, session, reading_hash, canary } = standing
  return { at, stop, revocation, lock, agent, device, session, reading_hash, canary }
}

/** Ids of our own form; any other string names a session or a device without a row. */
export const isOwnId = (id: string, type: 'ses' | 'dev' | 'agt' | 'trc'): boolean =>
  id.startsWith(`${type}_test_`) || id.startsWith(`${type}_live_`)

/** The locks on what a decision depends on: shared by decisions, exclusive for what changes it. */
export function locksOf(scope: Scope, { agentId, agentSessionId, deviceId }: Subjects): SubjectLock[] {
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

/** @param revocations Of the keys that attest hardware: read before, since it may be fetched. */
export async function readStanding(
  tx: Tx,
  { canaries, readPolicy }: Omit<StandingDeps, 'trust'>,
  { jti, agentId, agentSessionId, deviceId, traceId }: Subjects,
  revocations: RevocationSnapshot,
): Promise<TokenStanding> {
  const isRegistered = isOwnId(agentSessionId, 'ses')
  const [policy, stop, revocation, lock, agents, session, device, trace, at] = await Promise.all([
    readPolicy(tx),
    readStop(tx),
    readRevocation(tx, { jti, agentSessionId, deviceId }),
    readLiveLock(tx, { agentSessionId, agentId }),
    agentId === null ? undefined : readAgents(tx, [agentId]),
    isRegistered ? readAgentSession(tx, agentSessionId) : undefined,
    isOwnId(deviceId, 'dev') ? findDeviceById(tx, deviceId) : undefined,
    traceId === null ? undefined : canaries.readTrace(tx, { traceId, agentSessionId, agentId }),
    readClock(tx),
  ])
  const agent = agentId === null ? undefined : agents?.get(agentId)
  return {
    at: at.toISOString(),
    policy,
    stop: stop === undefined ? null : { reason: stop.reason, at: stop.at.toISOString() },
    revocation: revocation === undefined ? null : { scope: revocation.scope, at: revocation.at.toISOString() },
    lock: lock === undefined ? null : { lock_id: lock.lockId },
    agent:
      agentId === null
        ? null
        : {
            id: agentId,
            status: agent?.status ?? 'missing',
            attributes:
              agent === undefined
                ? {}
                : {
                    id: agent.id,
                    name: agent.name,
                    owner: agent.owner,
                    status: agent.status,
                    metadata: agent.metadata,
                  },
          },
    device: deviceOf(deviceId, device, at, revocations),
    session: sessionOf(agentSessionId, session),
    reading_hash: trace?.hash ?? null,
    canary: canaryOf(trace?.reading),
    sessionAgentId: session?.agentId ?? null,
    isSessionKnown: session !== undefined || !isRegistered,
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
  })
}

// After every lock of the transaction, whose start may be long ago.
async function readClock(tx: Tx): Promise<Date> {
  const [row] = await tx.query<{ at: Date }>('SELECT clock_timestamp() AS at')
  if (row === undefined) throw new Error('Postgres told no time')
  return row.at
}

function deviceOf(
  id: string,
  row: DeviceRow | undefined,
  at: Date,
  revocations: RevocationSnapshot,
): VerifyFacts['device'] {
  if (row === undefined) return { id, tier: 'none', enrolled: false }
  const { hardwareTier, state } = withState(row, at, revocations)
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

function sessionOf(id: string, session: Awaited<ReturnType<typeof readAgentSession>>): JsonObject {
  if (session === undefined) return { id, status: 'unregistered' }
  return { id, status: session.status, agent_id: session.agentId, created_at: session.createdAt.toISOString() }
}
