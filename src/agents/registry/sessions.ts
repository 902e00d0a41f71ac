// Sessions of registered agents. An open session of a suspended agent stays open: each decision reads the agent too.

import { Failure } from '#src/failure.ts'
import { note } from '#src/platform/context.ts'
import type { JsonObject } from '#src/platform/crypto/canonical.ts'
import { lockExclusive, lockShared, subjectLock } from '#src/platform/db/advisory.ts'
import type { Tx } from '#src/platform/db/database.ts'
import type { Platform } from '#src/platform/feature.ts'
import { type IdempotencyKey, once } from '#src/platform/http/idempotency.ts'
import type { CountedPage } from '#src/platform/http/page.ts'
import { type Acting, actorOf } from '#src/platform/http/principal.ts'
import { checkId, newId, type Scope } from '#src/platform/ids.ts'
import { getAgent } from './registry.ts'
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

export function createAgentSessions({ db, pager, now }: Pick<Platform, 'db' | 'pager' | 'now'>) {
  return {
    /** @throws {Failure} `conflict` while the agent is suspended; `environment_mismatch`, `not_found`. */
    async open(acting: Acting, agentId: string, metadata: JsonObject, key?: IdempotencyKey): Promise<AgentSessionRow> {
      checkId(agentId, 'agt', acting.environment)
      const createdAt = now()
      const id = newId('ses', acting.environment, createdAt.getTime())
      note({ agent: agentId, agentSession: id })
      const insert = async (tx: Tx) => {
        const { suspensions } = await getAgent(tx, agentId)
        if (suspensions.length > 0) {
          throw new Failure('conflict', `${agentId} is suspended: it opens no sessions.`)
        }
        await insertAgentSession(tx, acting, {
          id,
          agentId,
          metadata,
          createdAt,
          createdBy: actorOf(acting.principal).id,
        })
        return getSession(tx, agentId, id)
      }
      return db.tenant(acting, async (tx) => {
        await lockShared(tx, [subjectLock(acting, 'agent', agentId)])
        return once(tx, key, insert, () => id)
      })
    },

    /** @throws {Failure} `environment_mismatch`, `not_found`: also for a session of another agent. */
    async get(scope: Scope, agentId: string, id: string): Promise<AgentSessionRow> {
      checkIds(scope, agentId, id)
      return db.tenant(scope, (tx) => getSession(tx, agentId, id))
    },

    /** Newest first. @throws {Failure} `environment_mismatch`, `not_found`, `invalid_request` at `?cursor`. */
    async list(
      scope: Scope,
      filter: SessionFilter,
      query: { limit: number; cursor?: string | undefined; include?: 'total_count' | undefined },
    ): Promise<CountedPage<AgentSessionRow>> {
      checkId(filter.agentId, 'agt', scope.environment)
      const binding = { route: 'GET /v1/agents/:id/sessions', scope, query: { ...filter } }
      const before = pager.decode(query.cursor, binding)
      return db.tenant(scope, async (tx) => {
        await getAgent(tx, filter.agentId)
        const rows = await findAgentSessions(tx, scope, filter, { before, limit: query.limit + 1 })
        const page = pager.page(rows, query.limit, ({ id }) => id, binding)
        return query.include === undefined ? page : { ...page, total_count: await countSessions(tx, scope, filter) }
      })
    },

    /**
     * Ends a session permanently. Of a session that has ended, nothing changes.
     * @throws {Failure} `environment_mismatch`, `not_found`.
     */
    async end(acting: Acting, agentId: string, id: string, key?: IdempotencyKey): Promise<AgentSessionRow> {
      checkIds(acting, agentId, id)
      note({ agent: agentId, agentSession: id })
      const end = async (tx: Tx) => {
        await getSession(tx, agentId, id)
        await endSession(tx, id, { by: actorOf(acting.principal).id, at: now() })
        return getSession(tx, agentId, id)
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
  throw new Failure('not_found', `${agentId} has no session ${id}.`)
}
