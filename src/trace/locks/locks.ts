// Locks of agent sessions and agents after a canary trip. A lock suspends the agent of its session, and only a human ends
// it. Locking and clearing are ordered against decisions by the advisory locks on session and agent.

import { rowWithActors, type WithActors, withActors } from '#src/account/users/actors.ts'
import type { Suspensions } from '#src/agents/registry/suspensions.ts'
import { Failure } from '#src/failure.ts'
import { note as noteForLog } from '#src/platform/context.ts'
import { lockExclusive, type SubjectLock, subjectLock } from '#src/platform/db/advisory.ts'
import type { Tx } from '#src/platform/db/database.ts'
import type { Platform } from '#src/platform/feature.ts'
import { type IdempotencyKey, once } from '#src/platform/http/idempotency.ts'
import { type CountedPage, type CountedQuery, listPage } from '#src/platform/http/page.ts'
import { type Acting, actorOf } from '#src/platform/http/principal.ts'
import { checkId, newId, type Scope } from '#src/platform/ids.ts'
import {
  clearLock,
  countLocks,
  findLock,
  findLockOf,
  findLocks,
  insertLock,
  type LockFilter,
  type NewLock,
  type SessionLockRow,
} from './rows.ts'

/** Whom a trip concerns: the lock is on the session where there is one, else on the agent. */
export interface TripSubject {
  agentSessionId: string | null
  /** The registered agent, also where the session is locked: it is suspended with it. */
  agentId: string | null
}

export type LockCause = TripSubject &
  Pick<NewLock, 'traceId' | 'trippedFamilies' | 'source' | 'jti' | 'matchedRuleId'> & { at: Date }

/** The advisory locks that stand for a session and its agent. */
export function locksOf(scope: Scope, { agentSessionId, agentId }: TripSubject): SubjectLock[] {
  return [
    ...(agentSessionId === null ? [] : [subjectLock(scope, 'session', agentSessionId)]),
    ...(agentId === null ? [] : [subjectLock(scope, 'agent', agentId)]),
  ]
}

/** A lock with who cleared it. */
export type ShownLock = WithActors<SessionLockRow, 'clearedBy'>

export type Locks = ReturnType<typeof createLocks>

export function createLocks({
  db,
  pager,
  now,
  ledger,
  suspensions,
}: Pick<Platform, 'db' | 'pager' | 'now' | 'ledger'> & { suspensions: Suspensions }) {
  return {
    /**
     * Locks the subject of a trip and suspends its agent, unless the subject has a live lock. The transaction holds the
     * advisory locks of `locksOf`, exclusively unless it is that of a decision.
     * @returns undefined where there is nothing to lock: a trip without a session and without an agent.
     */
    async lockAfterTrip(
      tx: Tx,
      scope: Scope,
      { at, ...cause }: LockCause,
    ): Promise<{ lockId: string; isNew: boolean } | undefined> {
      const { agentSessionId, agentId, traceId, source, jti, matchedRuleId, trippedFamilies } = cause
      if (agentSessionId === null && agentId === null) return undefined
      const lockId = newId('lck', scope.environment, at.getTime())
      if (!(await insertLock(tx, scope, { ...cause, id: lockId, createdAt: at }))) {
        const live = await findLockOf(tx, { agentSessionId, agentId })
        if (live === undefined) throw new Error('a lock that excludes another is not there')
        return { lockId: live.lockId, isNew: false }
      }
      noteForLog({ lock: lockId })
      await ledger.record(tx, scope, {
        kind: 'lock',
        at,
        actor: 'service',
        subject: lockId,
        reason: 'canary_tripped',
        valid: null,
        inputs: { agent_session_id: agentSessionId, agent_id: agentId, trace_id: traceId, jti },
        facts: { source, matched_rule_id: matchedRuleId, tripped_families: [...trippedFamilies] },
      })
      if (agentId !== null) await suspensions.suspendForLock(tx, scope, agentId, { lockId, at })
      return { lockId, isNew: true }
    },

    /** @throws {Failure} `environment_mismatch`, `not_found`. */
    async get(scope: Scope, id: string): Promise<ShownLock> {
      checkId(id, 'lck', scope.environment)
      return db.tenant(scope, async (tx) => rowWithActors(tx, await getLock(tx, id), ['clearedBy']))
    },

    /** @throws {Failure} `invalid_request` at `?cursor`. */
    async list(
      scope: Scope,
      filter: LockFilter,
      query: CountedQuery & { order: 'asc' | 'desc' },
    ): Promise<CountedPage<ShownLock>> {
      const { order } = query
      const list = { route: 'GET /v1/trace/session-locks', scope, query: { ...query, ...filter } }
      return listPage({ db, pager }, list, {
        rows: (tx, page) => findLocks(tx, scope, filter, { ...page, order }),
        count: (tx) => countLocks(tx, scope, filter),
        show: (tx, rows) => withActors(tx, rows, ['clearedBy']),
      })
    },

    /**
     * Ends a lock. Its agent resumes unless another lock or a manual suspension holds it.
     * @throws {Failure} `invalid_state_transition` when it was cleared before; `environment_mismatch`, `not_found`.
     */
    async clear(acting: Acting, id: string, note: string | null, key?: IdempotencyKey): Promise<SessionLockRow> {
      checkId(id, 'lck', acting.environment)
      noteForLog({ lock: id })
      // Whom a lock is on never changes, so it may be read before the locks are taken.
      const { agentId, agentSessionId } = await db.tenant(acting, (tx) => getLock(tx, id))
      const actor = actorOf(acting.principal)
      const clear = async (tx: Tx) => {
        const at = now()
        if ((await getLock(tx, id)).status === 'cleared') throw clearedBefore(id)
        await ledger.record(tx, acting, {
          kind: 'lock_clear',
          at,
          actor,
          subject: id,
          reason: 'session_lock_cleared',
          valid: null,
          inputs: { agent_session_id: agentSessionId, agent_id: agentId },
          facts: { note },
        })
        const agentUnsuspended =
          agentId !== null && (await suspensions.resumeAfterLock(tx, acting, agentId, { lockId: id, actor, at }))
        await clearLock(tx, id, { by: actor.id, note, agentUnsuspended, at })
        return getLock(tx, id)
      }
      return db.tenant(acting, async (tx) => {
        await lockExclusive(tx, locksOf(acting, { agentSessionId, agentId }))
        return once(tx, key, clear, () => id)
      })
    },
  }
}

/** What a request of a locked session or agent is refused with. @param lockIds All that hold it, the one that is told first. */
export function lockedFailure(lockIds: readonly string[]): Failure {
  const [lockId] = lockIds
  return new Failure('session_canary_locked', {
    detail:
      lockIds.length === 1
        ? `The agent session or the agent is locked after a canary trip: a person has to clear ${lockId}.`
        : `The agent session or the agent is held by several locks: a person has to clear each of ${lockIds.join(', ')}.`,
    members: { lock_id: lockId ?? null },
  })
}

async function getLock(tx: Tx, id: string): Promise<SessionLockRow> {
  const lock = await findLock(tx, id)
  if (lock === undefined) throw new Failure('not_found', `There is no session lock ${id}.`)
  return lock
}

function clearedBefore(id: string): Failure {
  return new Failure('invalid_state_transition', {
    detail: `${id} is cleared: a lock is cleared once.`,
    members: { allowed: ['locked'], current_status: 'cleared' },
  })
}
