// The registry of agents. What changes an agent takes the exclusive lock on it first: a decision that depends on the
// agent holds the shared one until its commit, so none commits after a suspension that it has not read.

import { Failure } from '#src/failure.ts'
import { note } from '#src/platform/context.ts'
import { lockExclusive, subjectLock } from '#src/platform/db/advisory.ts'
import type { Tx } from '#src/platform/db/database.ts'
import type { Platform } from '#src/platform/feature.ts'
import { type IdempotencyKey, once } from '#src/platform/http/idempotency.ts'
import type { Page } from '#src/platform/http/page.ts'
import { type Acting, actorOf } from '#src/platform/http/principal.ts'
import { checkId, newId, type Scope } from '#src/platform/ids.ts'
import {
  type AgentChange,
  type AgentFilter,
  type AgentRow,
  countAgents,
  findAgent,
  findAgents,
  insertAgent,
  updateAgent,
} from './rows.ts'
import type { Suspensions } from './suspensions.ts'

export interface AgentListQuery {
  limit: number
  cursor?: string | undefined
  include?: 'total_count' | undefined
}

export type Registry = ReturnType<typeof createRegistry>

export function createRegistry({
  db,
  pager,
  now,
  suspensions,
}: Pick<Platform, 'db' | 'pager' | 'now'> & { suspensions: Suspensions }) {
  /** Runs `work` on the agent under its exclusive lock, once per idempotency key, and returns the agent after it. */
  function change(
    acting: Acting,
    id: string,
    key: IdempotencyKey | undefined,
    work: (tx: Tx, agent: AgentRow) => Promise<void>,
  ): Promise<AgentRow> {
    checkId(id, 'agt', acting.environment)
    note({ agent: id })
    const locked = async (tx: Tx) => {
      await work(tx, await getAgent(tx, id))
      return getAgent(tx, id)
    }
    return db.tenant(acting, async (tx) => {
      await lockExclusive(tx, [subjectLock(acting, 'agent', id)])
      return once(tx, key, locked, () => id)
    })
  }

  return {
    async create(acting: Acting, request: AgentChange, key?: IdempotencyKey): Promise<AgentRow> {
      const createdAt = now()
      const id = newId('agt', acting.environment, createdAt.getTime())
      note({ agent: id })
      const insert = async (tx: Tx) => {
        await insertAgent(tx, acting, { ...request, id, createdAt, createdBy: actorOf(acting.principal).id })
        return getAgent(tx, id)
      }
      return db.tenant(acting, (tx) => once(tx, key, insert, () => id))
    },

    /** @throws {Failure} `environment_mismatch`, `not_found`. */
    async get(scope: Scope, id: string): Promise<AgentRow> {
      checkId(id, 'agt', scope.environment)
      return db.tenant(scope, (tx) => getAgent(tx, id))
    },

    /** Newest first. @throws {Failure} `invalid_request` at `?cursor`. */
    async list(
      scope: Scope,
      filter: AgentFilter,
      query: AgentListQuery,
    ): Promise<Page<AgentRow> & { total_count?: number }> {
      const binding = { route: 'GET /v1/agents', scope, query: { ...filter } }
      const before = pager.decode(query.cursor, binding)
      return db.tenant(scope, async (tx) => {
        const rows = await findAgents(tx, scope, filter, { before, limit: query.limit + 1 })
        const page = pager.page(rows, query.limit, ({ id }) => id, binding)
        return query.include === undefined ? page : { ...page, total_count: await countAgents(tx, scope, filter) }
      })
    },

    /** Members that the request lacks keep their values. @throws {Failure} `environment_mismatch`, `not_found`. */
    update(
      acting: Acting,
      id: string,
      request: { [Name in keyof AgentChange]?: AgentChange[Name] | undefined },
      key?: IdempotencyKey,
    ): Promise<AgentRow> {
      return change(acting, id, key, async (tx, agent) => {
        const {
          name = agent.name,
          owner = agent.owner,
          publicKey = agent.publicKey,
          metadata = agent.metadata,
        } = request
        await updateAgent(tx, id, { name, owner, publicKey, metadata }, now())
      })
    },

    /**
     * Suspends an agent manually. Of an agent that is suspended manually, nothing changes.
     * @throws {Failure} `environment_mismatch`, `not_found`.
     */
    suspend(acting: Acting, id: string, reason: string, key?: IdempotencyKey): Promise<AgentRow> {
      return change(acting, id, key, (tx) => suspensions.suspend(tx, acting, id, { reason, at: now() }))
    },

    /**
     * Lifts the manual suspension.
     * @throws {Failure} `conflict` with `lock_id` while a lock holds the agent; `invalid_state_transition` for an
     * active agent; `environment_mismatch`, `not_found`.
     */
    unsuspend(acting: Acting, id: string, key?: IdempotencyKey): Promise<AgentRow> {
      return change(acting, id, key, async (tx, agent) => {
        const lockIds = agent.suspensions.flatMap(({ lockId }) => lockId ?? [])
        const [lockId] = lockIds
        if (lockId !== undefined) throw heldBy(id, lockIds, lockId)
        if (await suspensions.unsuspend(tx, acting, id, now())) return
        throw new Failure('invalid_state_transition', {
          detail: `${id} is active: only a suspended agent can be unsuspended.`,
          members: { allowed: ['suspended'], state: 'active' },
        })
      })
    },
  }
}

/** @throws {Failure} `not_found`. */
export async function getAgent(tx: Tx, id: string): Promise<AgentRow> {
  const agent = await findAgent(tx, id)
  if (agent === undefined) throw noAgent(id)
  return agent
}

function noAgent(id: string): Failure {
  return new Failure('not_found', `There is no agent ${id}.`)
}

function heldBy(id: string, lockIds: readonly string[], lockId: string): Failure {
  return new Failure('conflict', {
    detail:
      `${id} is suspended by ${lockIds.length === 1 ? 'a session lock' : 'session locks'}: ${lockIds.join(', ')}. ` +
      'Clear each of them; the last one resumes the agent.',
    members: { lock_id: lockId },
  })
}
