// Grants mandates, makes them narrower, ends them, and takes their check-ins. Nothing here makes a mandate allow more: for
// that, a person grants another one.

import { readActors } from '#src/account/users/actors.ts'
import { type AgentFacts, readAgents } from '#src/agents/registry/rows.ts'
import type { ActionPointers } from '#src/authorize/action-amounts.ts'
import { Failure, invalidField, refusalOf } from '#src/failure.ts'
import { note } from '#src/platform/context.ts'
import type { Database, Tx } from '#src/platform/db/database.ts'
import type { ActorsOf } from '#src/platform/http/actor.ts'
import { checkVersion } from '#src/platform/http/documents.ts'
import { type IdempotencyKey, once } from '#src/platform/http/idempotency.ts'
import { type CountedPage, listPage, type Pager } from '#src/platform/http/page.ts'
import { type Acting, actorOf } from '#src/platform/http/principal.ts'
import { checkId, newId, type Scope } from '#src/platform/ids.ts'
import type { Ledger } from '#src/platform/ledger/record.ts'
import { readAncestors, readMandateFacts } from './facts-rows.ts'
import type { MandateFacts } from './judge.ts'
import { findInconsistent } from './narrowing.ts'
import {
  checkIn,
  countMandates,
  findMandate,
  insertMandate,
  listMandates,
  lockMandate,
  type MandateFilter,
  type MandateRow,
  type MandateTerms,
  narrowMandate,
  revokeMandate,
} from './rows.ts'
import { countCharges, type SpendDay, sumByDay } from './spend-rows.ts'
import {
  checkParent,
  type MandateNarrowing,
  narrowedTerms,
  requireState,
  stateFailure,
  termsFacts,
  termsOf,
} from './terms.ts'

export interface MandateRequest extends MandateTerms {
  principal: string
  description: string
  timezone: string
  pointers: ActionPointers
  parentId: string | null
}

export interface MandateQuery extends MandateFilter {
  limit: number
  cursor?: string | undefined
  include?: 'total_count' | undefined
}

interface MandatesDeps {
  db: Pick<Database, 'tenant'>
  ledger: Pick<Ledger, 'record'>
  pager: Pager
  now(): Date
}

/** With the views of those who acted. */
export type ShownMandate = MandateRow & { actors: ActorsOf }

export interface DailySpend {
  id: string
  from: Date
  to: Date
  days: SpendDay[]
}

const DAY_MS = 86_400_000
const DEFAULT_SPEND_DAYS = 30
/** Charges are kept for as long (feature.ts). */
export const MAX_SPEND_DAYS = 45
/** Of one answer: so many are added up in some tens of milliseconds. */
const MAX_CHARGES = 25_000

export type Mandates = ReturnType<typeof createMandates>

export function createMandates({ db, ledger, pager, now }: MandatesDeps) {
  function record(
    tx: Tx,
    acting: Acting,
    row: MandateRow,
    { change, reason }: { change: 'granted' | 'narrowed' | 'revoked'; reason?: string },
  ) {
    return ledger.record(tx, acting, {
      kind: 'mandate_change',
      at: row.updatedAt,
      actor: actorOf(acting.principal),
      subject: row.id,
      reason: change,
      valid: null,
      inputs: { mandate_id: row.id, parent_id: row.parentId, agent_id: row.agentId },
      facts: { ...termsFacts(row), principal: row.principal, description: row.description, reason: reason ?? null },
    })
  }

  async function insert(tx: Tx, acting: Acting, request: MandateRequest): Promise<ShownMandate> {
    const { agentId, parentId } = request
    const [agents, parent] = await Promise.all([
      agentId === null ? undefined : readAgents(tx, [agentId]),
      parentId === null ? undefined : readMandateFacts(tx, parentId, 'share'),
    ])
    if (agentId !== null) checkAgent(agentId, agents?.get(agentId))
    if (parentId !== null) checkParent(parentId, parent, request)
    const id = newId('mnd', acting.environment, now().getTime())
    note({ mandate: id })
    const isInserted = await insertMandate(tx, acting, {
      ...request,
      id,
      pointers: parent?.pointers ?? request.pointers,
      ancestors: parent?.levels.map(({ mandate_id }) => mandate_id) ?? [],
      createdBy: actorOf(acting.principal).id,
    })
    if (!isInserted) {
      throw invalidField('/expires_at', 'out_of_range', 'must be in the future, and at most 366 days from now')
    }
    const row = await getMandate(tx, id)
    await record(tx, acting, row, { change: 'granted' })
    return shown(tx, row)
  }

  /**
   * Runs `work` on the mandate while its row is locked, once per idempotency key, and returns the mandate after it.
   * `locksAncestors`: they are locked first, since whatever locks several levels begins at the root, and passed to `work`.
   */
  function change(
    acting: Acting,
    { id, key, locksAncestors = false }: { id: string; key: IdempotencyKey | undefined; locksAncestors?: boolean },
    work: (tx: Tx, row: MandateRow, ancestors: MandateFacts | undefined) => Promise<void>,
  ): Promise<ShownMandate> {
    checkId(id, 'mnd', acting.environment)
    note({ mandate: id })
    const locked = async (tx: Tx) => {
      const ancestors = locksAncestors ? await readAncestors(tx, id) : undefined
      const row = await lockMandate(tx, id)
      if (row === undefined) throw noMandate(id)
      await work(tx, row, ancestors)
      return shown(tx, await getMandate(tx, id))
    }
    return db.tenant(acting, (tx) => once(tx, key, locked, () => id))
  }

  return {
    /**
     * @throws {Failure} `environment_mismatch`; `not_found` for the agent or the parent; `invalid_request`;
     * `invalid_state_transition` for a parent that is not active.
     */
    async create(acting: Acting, request: MandateRequest, key?: IdempotencyKey): Promise<ShownMandate> {
      const { agentId, parentId, constraints, budget, instruments, timezone } = request
      if (agentId !== null) checkId(agentId, 'agt', acting.environment)
      if (parentId !== null) checkId(parentId, 'mnd', acting.environment)
      const errors = parentId === null ? findInconsistent(request) : []
      const isUnlimited = budget === null && instruments === null && Object.keys(constraints).length === 0
      if (parentId === null && isUnlimited) {
        errors.push({
          pointer: '/constraints',
          code: 'required',
          detail: 'must limit something where there is no budget',
        })
      }
      if (errors.length > 0) throw refusalOf(errors)
      try {
        return await db.tenant(acting, (tx) =>
          once(
            tx,
            key,
            () => insert(tx, acting, request),
            ({ id }) => id,
          ),
        )
      } catch (error) {
        if (!isUnknownZone(error)) throw error
        throw invalidField('/timezone', 'unknown_timezone', `does not know ${timezone}`)
      }
    },

    /** @throws {Failure} `environment_mismatch`, `not_found`. */
    async get(scope: Scope, id: string): Promise<ShownMandate> {
      checkId(id, 'mnd', scope.environment)
      return db.tenant(scope, async (tx) => shown(tx, await getMandate(tx, id)))
    },

    /**
     * What was charged to a mandate, by day in UTC.
     * @throws {Failure} `environment_mismatch`, `not_found`; `invalid_request` at `?from`.
     */
    async spendByDay(scope: Scope, id: string, period: { from?: Date; to?: Date }): Promise<DailySpend> {
      checkId(id, 'mnd', scope.environment)
      const to = period.to ?? now()
      const from = period.from ?? new Date(to.getTime() - DEFAULT_SPEND_DAYS * DAY_MS)
      if (from >= to) throw invalidField('?from', 'out_of_range', 'must be before `to`')
      if (to.getTime() - from.getTime() > MAX_SPEND_DAYS * DAY_MS) {
        throw invalidField('?from', 'out_of_range', `must be at most ${MAX_SPEND_DAYS} days before \`to\``)
      }
      return db.tenant(scope, async (tx) => {
        await getMandate(tx, id)
        if ((await countCharges(tx, id, { from, to, most: MAX_CHARGES + 1 })) > MAX_CHARGES) {
          throw invalidField('?from', 'range_too_large', `must leave at most ${MAX_CHARGES} charges until \`to\``)
        }
        return { id, from, to, days: await sumByDay(tx, id, { from, to }) }
      })
    },

    /** Newest first. @throws {Failure} `environment_mismatch`; `invalid_request` at `?cursor`. */
    async list(scope: Scope, query: MandateQuery): Promise<CountedPage<ShownMandate>> {
      if (query.agentId !== undefined) checkId(query.agentId, 'agt', scope.environment)
      if (query.parentId !== undefined) checkId(query.parentId, 'mnd', scope.environment)
      const list = { route: 'GET /v1/mandates', scope, query }
      return listPage({ db, pager }, list, {
        rows: (tx, page) => listMandates(tx, scope, query, page),
        count: (tx) => countMandates(tx, scope, query),
        show: shownAll,
      })
    },

    /**
     * Makes a mandate allow less.
     * @param expected The versions that the caller expects to change, from `If-Match`; undefined for any.
     * @throws {Failure} `environment_mismatch`, `not_found`; `invalid_request` for what would allow more;
     * `precondition_failed`; `invalid_state_transition` when its state is final.
     */
    narrow(
      acting: Acting,
      id: string,
      { narrowing, expected }: { narrowing: MandateNarrowing; expected?: readonly number[] | undefined },
      key?: IdempotencyKey,
    ): Promise<ShownMandate> {
      if (narrowing.agentId !== undefined) checkId(narrowing.agentId, 'agt', acting.environment)
      return change(acting, { id, key, locksAncestors: true }, async (tx, row, ancestors) => {
        checkVersion(expected, row)
        const needsActive = narrowing.heartbeat !== undefined
        requireState(row, needsActive ? ['active'] : ['active', 'suspended'])
        const { timezone } = row
        const terms = narrowedTerms(termsOf(row), narrowing, { ancestors, timezone }, now())
        const { agentId } = terms
        if (agentId !== row.agentId && agentId !== null) {
          checkAgent(agentId, (await readAgents(tx, [agentId])).get(agentId))
        }
        await narrowMandate(tx, id, terms, { restartsHeartbeat: needsActive })
        await record(tx, acting, await getMandate(tx, id), { change: 'narrowed' })
      })
    },

    /** One that is revoked stays as it is. @throws {Failure} `environment_mismatch`, `not_found`. */
    revoke(acting: Acting, id: string, reason: string, key?: IdempotencyKey): Promise<ShownMandate> {
      return change(acting, { id, key }, async (tx) => {
        if (!(await revokeMandate(tx, id, { id: actorOf(acting.principal).id, reason }))) return
        await record(tx, acting, await getMandate(tx, id), { change: 'revoked', reason })
      })
    },

    /**
     * A check-in: the next one is due an interval from now.
     * @throws {Failure} `environment_mismatch`, `not_found`; `conflict` for a mandate without a heartbeat;
     * `invalid_state_transition` when its state is final.
     */
    heartbeat(acting: Acting, id: string, key?: IdempotencyKey): Promise<ShownMandate> {
      return change(acting, { id, key }, async (tx, row) => {
        if (row.lastCheckInAt === null) throw new Failure('conflict', `The mandate ${id} has no heartbeat.`)
        const checked = await checkIn(tx, id)
        if (checked === undefined) {
          const { statusOf, status } = await getMandate(tx, id)
          throw stateFailure(statusOf, status, ['active', 'suspended'])
        }
        await ledger.record(tx, acting, {
          kind: 'mandate_heartbeat',
          at: checked.at,
          actor: actorOf(acting.principal),
          subject: id,
          reason: row.ownStatus === 'suspended' ? 'reactivated' : null,
          valid: null,
          inputs: { mandate_id: id, previous_check_in_at: row.lastCheckInAt.toISOString() },
        })
      })
    },
  }
}

async function shownAll(tx: Tx, rows: readonly MandateRow[]): Promise<ShownMandate[]> {
  const actors = await readActors(
    tx,
    rows.flatMap(({ createdBy, revokedBy }) => [createdBy, revokedBy]),
  )
  return rows.map((row) => ({ ...row, actors }))
}

async function shown(tx: Tx, row: MandateRow): Promise<ShownMandate> {
  return { ...row, actors: await readActors(tx, [row.createdBy, row.revokedBy]) }
}

/** @throws {Failure} `not_found`; `invalid_request` for a retired agent: a suspended one may act again. */
function checkAgent(id: string, agent: AgentFacts | undefined): void {
  if (agent === undefined) throw new Failure('not_found', `There is no agent ${id}.`)
  if (agent.causes.includes('retired')) throw invalidField('/agent_id', 'not_allowed', 'is retired: it acts no more')
}

/** @throws {Failure} `not_found`. */
async function getMandate(tx: Tx, id: string): Promise<MandateRow> {
  const row = await findMandate(tx, id)
  if (row === undefined) throw noMandate(id)
  return row
}

function noMandate(id: string): Failure {
  return new Failure('not_found', `There is no mandate ${id}.`)
}

// SQLSTATE: the catalogue of time zones is the one of Postgres.
function isUnknownZone(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === '22023'
}
