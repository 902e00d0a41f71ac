// Sessions of registered agents. An open session of a suspended agent stays open: each decision reads the agent too. Those
// of a retired agent have ended with it.

import { Failure } from '#src/failure.ts'
import { note } from '#src/platform/context.ts'
import type { JsonObject } from '#src/platform/crypto/canonical.ts'
import { lockExclusive, lockShared, subjectLock } from '#src/platform/db/advisory.ts'
import type { Tx } from '#src/platform/db/database.ts'
import type { Platform } from '#src/platform/feature.ts'
import type { ActorsOf, ReadActors } from '#src/platform/http/actor.ts'
import { type IdempotencyKey, once } from '#src/platform/http/idempotency.ts'
import { type CountedPage, type CountedQuery, listPage } from '#src/platform/http/page.ts'
import { type Acting, actorOf } from '#src/platform/http/principal.ts'
import { checkId, newId, type Scope } from '#src/platform/ids.ts'
import { agentStatusOf, getAgent } from './registry.ts'
import {
  type AgentSessionRow,
  countSessions,
  endSession,
  findAgentSessions,
  insertAgentSession,
  readAgentSession,
  type SessionFilter,
} from './session-rows.ts'

export type AgentSessions = ReturnType<typeof createAgentSessions>

/** With the views of those who opened and ended it. */
export type ShownSession = AgentSessionRow & { actors: ActorsOf }

export function createAgentSessions({
  db,
  pager,
  now,
  readActors,
}: Pick<Platform, 'db' | 'pager' | 'now'> & { readActors: ReadActors }) {
  async function shownAll(tx: Tx, sessions: readonly AgentSessionRow[]): Promise<ShownSession[]> {
    const actors = await readActors(
      tx,
      sessions.flatMap(({ createdBy, endedBy }) => [createdBy, endedBy]),
    )
    return sessions.map((session) => ({ ...session, actors }))
  }

  /** @throws {Failure} `not_found`: also for a session of another agent. */
  async function getShown(tx: Tx, agentId: string, id: string): Promise<ShownSession> {
    const [session] = await shownAll(tx, [await getSession(tx, agentId, id)])
    if (session === undefined) throw noSession(agentId, id)
    return session
  }

  return {
    /** @throws {Failure} `agent_suspended`, also for a retired agent; `environment_mismatch`, `not_found`. */
    async open(acting: Acting, agentId: string, metadata: JsonObject, key?: IdempotencyKey): Promise<ShownSession> {
      checkId(agentId, 'agt', acting.environment)
      const createdAt = now()
      const id = newId('ses', acting.environment, createdAt.getTime())
      note({ agent: agentId, agentSession: id })
      const insert = async (tx: Tx) => {
        const status = agentStatusOf(await getAgent(tx, agentId))
        if (status !== 'active') throw new Failure('agent_suspended', `${agentId} is ${status}: it opens no sessions.`)
        await insertAgentSession(tx, acting, {
          id,
          agentId,
          metadata,
          createdAt,
          createdBy: actorOf(acting.principal).id,
        })
        return getShown(tx, agentId, id)
      }
      return db.tenant(acting, async (tx) => {
        await lockShared(tx, [subjectLock(acting, 'agent', agentId)])
        return once(tx, key, insert, () => id)
      })
    },

    /** @throws {Failure} `environment_mismatch`, `not_found`: also for a session of another agent. */
    async get(scope: Scope, agentId: string, id: string): Promise<ShownSession> {
      checkIds(scope, agentId, id)
      return db.tenant(scope, (tx) => getShown(tx, agentId, id))
    },

    /**
     * Newest first.
     * @param mustExist Refuses an agent that does not exist: it is in the path. A filter matches nothing then.
     * @throws {Failure} `environment_mismatch`, `not_found`, `invalid_request` at `?cursor`.
     */
    async list(
      scope: Scope,
      filter: SessionFilter,
      query: CountedQuery,
      { mustExist = false }: { mustExist?: boolean } = {},
    ): Promise<CountedPage<ShownSession>> {
      const { agentId } = filter
      if (agentId !== undefined) checkId(agentId, 'agt', scope.environment)
      const route = mustExist ? 'GET /v1/agents/:id/sessions' : 'GET /v1/agents/sessions'
      const list = { route, scope, query: { ...query, ...filter } }
      return listPage({ db, pager }, list, {
        rows: async (tx, page) => {
          if (mustExist && agentId !== undefined) await getAgent(tx, agentId)
          return findAgentSessions(tx, scope, filter, page)
        },
        count: (tx) => countSessions(tx, scope, filter),
        show: shownAll,
      })
    },

    /**
     * Ends a session permanently. Of a session that has ended, nothing changes.
     * @throws {Failure} `environment_mismatch`, `not_found`.
     */
    async end(acting: Acting, agentId: string, id: string, key?: IdempotencyKey): Promise<ShownSession> {
      checkIds(acting, agentId, id)
      note({ agent: agentId, agentSession: id })
      const end = async (tx: Tx) => {
        await getSession(tx, agentId, id)
        await endSession(tx, id, { by: actorOf(acting.principal).id, at: now() })
        return getShown(tx, agentId, id)
      }
      return db.tenant(acting, async (tx) => {
        await lockExclusive(tx, [subjectLock(acting, 'session', id)])
        return once(tx, key, end, () => id)
      })
    },
  }
}

function checkIds({ environment }: Scope, agentId: string, id: string): void {
  checkId(agentId, 'agt', environment)
  checkId(id, 'ses', environment)
}

async function getSession(tx: Tx, agentId: string, id: string): Promise<AgentSessionRow> {
  const session = await readAgentSession(tx, id)
  if (session?.agentId === agentId) return session
  throw noSession(agentId, id)
}

function noSession(agentId: string, id: string): Failure {
  return new Failure('not_found', `${agentId} has no session ${id}.`)
}
