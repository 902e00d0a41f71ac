// The registry of agents. What changes an agent takes the exclusive lock on it first: a decision that depends on the
// agent holds the shared one until its commit, so none commits after a suspension that it has not read.

import type { AuditAction } from '#src/catalogue/audit.ts'
import { Failure } from '#src/failure.ts'
import { note } from '#src/platform/context.ts'
import type { Json } from '#src/platform/crypto/canonical.ts'
import { lockExclusive, subjectLock } from '#src/platform/db/advisory.ts'
import type { Tx } from '#src/platform/db/database.ts'
import type { Platform } from '#src/platform/feature.ts'
import type { ActorsOf, ReadActors } from '#src/platform/http/actor.ts'
import { checkVersion } from '#src/platform/http/documents.ts'
import { type IdempotencyKey, once } from '#src/platform/http/idempotency.ts'
import { type CountedPage, type CountedQuery, listPage } from '#src/platform/http/page.ts'
import { type Acting, actorOf } from '#src/platform/http/principal.ts'
import { checkId, newId, type Scope } from '#src/platform/ids.ts'
import {
  type AgentChange,
  type AgentFilter,
  type AgentRow,
  type AgentStatus,
  countAgents,
  findAgent,
  findAgents,
  insertAgent,
  updateAgent,
} from './rows.ts'
import { endSessionsOf } from './session-rows.ts'
import type { Suspensions } from './suspensions.ts'

export interface AgentListQuery {
  limit: number
  cursor?: string | undefined
  include?: 'total_count' | undefined
}

/** With the views of those who acted. */
export type ShownAgent = AgentRow & { actors: ActorsOf }

/** Writes an entry of the audit log, in the transaction of the act. */
export type RecordAudit = (
  tx: Tx,
  by: Acting,
  act: { action: AuditAction; subjectId: string; before?: Json; after?: Json },
) => Promise<void>

export type Registry = ReturnType<typeof createRegistry>

export function createRegistry({
  db,
  pager,
  now,
  suspensions,
  readActors,
  recordAudit,
}: Pick<Platform, 'db' | 'pager' | 'now'> & {
  suspensions: Suspensions
  readActors: ReadActors
  recordAudit: RecordAudit
}) {
  async function shownAll(tx: Tx, agents: readonly AgentRow[]): Promise<ShownAgent[]> {
    const ids = agents.flatMap(({ createdBy, suspensions: causes }) => [createdBy, ...causes.map(({ by }) => by)])
    const actors = await readActors(tx, ids)
    return agents.map((agent) => ({ ...agent, actors }))
  }

  /** @throws {Failure} `not_found`. */
  async function getShown(tx: Tx, id: string): Promise<ShownAgent> {
    const [agent] = await shownAll(tx, [await getAgent(tx, id)])
    if (agent === undefined) throw noAgent(id)
    return agent
  }

  /** Runs `work` on the agent under its exclusive lock, once per idempotency key, and returns the agent after it. */
  function change(
    acting: Acting,
    id: string,
    key: IdempotencyKey | undefined,
    work: (tx: Tx, agent: AgentRow) => Promise<void>,
  ): Promise<ShownAgent> {
    checkId(id, 'agt', acting.environment)
    note({ agent: id })
    const locked = async (tx: Tx) => {
      await work(tx, await getAgent(tx, id))
      return getShown(tx, id)
    }
    return db.tenant(acting, async (tx) => {
      await lockExclusive(tx, [subjectLock(acting, 'agent', id)])
      return once(tx, key, locked, () => id)
    })
  }

  return {
    async create(acting: Acting, request: AgentChange, key?: IdempotencyKey): Promise<ShownAgent> {
      const createdAt = now()
      const id = newId('agt', acting.environment, createdAt.getTime())
      note({ agent: id })
      const insert = async (tx: Tx) => {
        await insertAgent(tx, acting, { ...request, id, createdAt, createdBy: actorOf(acting.principal).id })
        return getShown(tx, id)
      }
      return db.tenant(acting, (tx) => once(tx, key, insert, () => id))
    },

    /** @throws {Failure} `environment_mismatch`, `not_found`. */
    async get(scope: Scope, id: string): Promise<ShownAgent> {
      checkId(id, 'agt', scope.environment)
      return db.tenant(scope, (tx) => getShown(tx, id))
    },

    /** Newest first. @throws {Failure} `invalid_request` at `?cursor`. */
    async list(scope: Scope, filter: AgentFilter, query: CountedQuery): Promise<CountedPage<ShownAgent>> {
      const list = { route: 'GET /v1/agents', scope, query: { ...query, ...filter } }
      return listPage({ db, pager }, list, {
        rows: (tx, page) => findAgents(tx, scope, filter, page),
        count: (tx) => countAgents(tx, scope, filter),
        show: shownAll,
      })
    },

    /**
     * Members that the request lacks keep their values.
     * @throws {Failure} `environment_mismatch`, `not_found`; `precondition_failed`; `invalid_state_transition` for a retired
     * agent.
     */
    update(acting: Acting, id: string, { request, expected }: AgentUpdate, key?: IdempotencyKey): Promise<ShownAgent> {
      return change(acting, id, key, async (tx, agent) => {
        checkVersion(expected, agent)
        checkNotRetired(agent, 'changed')
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
     * Suspends an agent manually. Of an agent that is suspended manually, or retired, nothing changes.
     * @throws {Failure} `environment_mismatch`, `not_found`.
     */
    suspend(acting: Acting, id: string, reason: string, key?: IdempotencyKey): Promise<ShownAgent> {
      return change(acting, id, key, async (tx, agent) => {
        if (agentStatusOf(agent) !== 'retired') await suspensions.suspend(tx, acting, id, { reason, at: now() })
      })
    },

    /**
     * Ends an agent permanently, with its open sessions. Of a retired agent, nothing changes.
     * @throws {Failure} `environment_mismatch`, `not_found`.
     */
    retire(acting: Acting, id: string, reason: string, key?: IdempotencyKey): Promise<ShownAgent> {
      return change(acting, id, key, async (tx, agent) => {
        const at = now()
        if (!(await suspensions.retire(tx, acting, id, { reason, at }))) return
        await endSessionsOf(tx, id, { by: actorOf(acting.principal).id, at })
        const before = { status: agentStatusOf(agent) }
        const after = { status: 'retired', reason }
        await recordAudit(tx, acting, { action: 'agent.retired', subjectId: id, before, after })
      })
    },

    /**
     * Lifts the manual suspension.
     * @throws {Failure} `agent_held_by_lock` while a lock holds the agent; `invalid_state_transition` for an agent that is
     * active or retired; `environment_mismatch`, `not_found`.
     */
    unsuspend(acting: Acting, id: string, key?: IdempotencyKey): Promise<ShownAgent> {
      return change(acting, id, key, async (tx, agent) => {
        checkNotRetired(agent, 'unsuspended')
        const lockIds = agent.suspensions.flatMap(({ lockId }) => lockId ?? [])
        const [lockId] = lockIds
        if (lockId !== undefined) throw heldBy(id, lockIds, lockId)
        if (await suspensions.unsuspend(tx, acting, id, now())) return
        throw new Failure('invalid_state_transition', {
          detail: `${id} is active: only a suspended agent can be unsuspended.`,
          members: { allowed: ['suspended'], current_status: 'active' },
        })
      })
    },
  }
}

interface AgentUpdate {
  request: { [Name in keyof AgentChange]?: AgentChange[Name] | undefined }
  /** The versions that the caller expects to change, from `If-Match`; undefined for any. */
  expected?: readonly number[] | undefined
}

export function agentStatusOf({ suspensions }: Pick<AgentRow, 'suspensions'>): AgentStatus {
  if (suspensions.length === 0) return 'active'
  return suspensions.some(({ cause }) => cause === 'retired') ? 'retired' : 'suspended'
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

/** @throws {Failure} `invalid_state_transition`. */
function checkNotRetired(agent: AgentRow, act: string): void {
  if (agentStatusOf(agent) !== 'retired') return
  throw new Failure('invalid_state_transition', {
    detail: `${agent.id} is retired, which is permanent: it can't be ${act}.`,
    members: { allowed: act === 'unsuspended' ? ['suspended'] : ['active', 'suspended'], current_status: 'retired' },
  })
}

function heldBy(id: string, lockIds: readonly string[], lockId: string): Failure {
  return new Failure('agent_held_by_lock', {
    detail:
      `${id} is suspended by ${lockIds.length === 1 ? 'a session lock' : 'session locks'}: ${lockIds.join(', ')}. ` +
      'Clear each of them; the last one resumes the agent.',
    members: { lock_id: lockId },
  })
}
