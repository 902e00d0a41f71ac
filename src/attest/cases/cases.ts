// Adjusters' cases. machine.ts defines the transitions, sla.ts the due dates. Here each change is one transaction: the
// case, its history entry with actor and reason, and the event.

import { readActors } from '#src/account/users/actors.ts'
import { emit } from '#src/account/webhooks/emit.ts'
import { Failure, invalidField } from '#src/failure.ts'
import { note as noteForLog } from '#src/platform/context.ts'
import type { Database, Tx } from '#src/platform/db/database.ts'
import { unlabelledActor } from '#src/platform/http/actor.ts'
import type { Caller } from '#src/platform/http/endpoint.ts'
import { type IdempotencyKey, once } from '#src/platform/http/idempotency.ts'
import {
  type CountedPage,
  type CountedQuery,
  listPage,
  numberOf,
  type PageQuery,
  type Pager,
} from '#src/platform/http/page.ts'
import { roleOf } from '#src/platform/http/principal.ts'
import { checkId, newId, type Scope } from '#src/platform/ids.ts'
import type { CaseSettings } from './config.ts'
import {
  allowedFrom,
  type CaseReasonCode,
  type CaseState,
  fraudActorAfter,
  isTerminal,
  judgeTransition,
  needsAssignee,
  STATES,
} from './machine.ts'
import { checkAssignee, checkedActorOf, closed, inReview, transitionRefusal } from './refusals.ts'
import {
  type CaseFilter,
  type CaseOrder,
  type CaseRow,
  type Change,
  type ClaimFacts,
  countCases,
  findCase,
  findCaseEntries,
  findCases,
  findClaimFacts,
  findOpenCase,
  insertCase,
  type ListedCase,
  lockCase,
  lockClaim,
  type Priority,
  saveCase,
} from './rows.ts'
import { dueOf, type SlaClock, setDue, startClock, turnClock } from './sla.ts'
import { actorIdsOf, type CaseView, type EntryView, toCaseView, toEntryView } from './views.ts'

export interface CasesDeps {
  db: Pick<Database, 'tenant'>
  pager: Pager
  now: () => Date
  settings: CaseSettings
}

interface ByPerson {
  /** The person for whom a key acts. */
  actor?: string | undefined
  /** The version of the case that the decision is based on; without it, the current version. */
  version?: number | undefined
}

export interface Opening {
  claimId: string
  actor?: string | undefined
  assignee: string | null
  priority: Priority
  note: string | null
}

export interface TransitionRequest extends ByPerson {
  to: CaseState
  reasonCode: CaseReasonCode | null
  note: string | null
  /** Assigned to the case on opening. */
  assignee?: string | undefined
}

export interface CaseChanges extends ByPerson {
  assignee?: string | null | undefined
  priority?: Priority | undefined
  dueAt?: Date | undefined
}

export type Cases = ReturnType<typeof createCases>

export function createCases({ db, pager, now, settings }: CasesDeps) {
  async function get(scope: Scope, id: string): Promise<CaseRow> {
    checkId(id, 'cas', scope.environment)
    const row = await db.tenant(scope, (tx) => findCase(tx, id))
    if (row === undefined) throw notFound(id)
    return row
  }

  /** Runs `work` on the locked case, once per idempotency key. */
  async function change<R>(
    caller: Caller,
    id: string,
    key: IdempotencyKey | undefined,
    work: (tx: Tx, found: { row: CaseRow; claim: ClaimFacts }) => Promise<R>,
  ): Promise<R> {
    checkId(id, 'cas', caller.environment)
    noteForLog({ case: id })
    const locked = async (tx: Tx) => {
      const found = await lockCase(tx, id)
      if (found === undefined) throw notFound(id)
      return work(tx, found)
    }
    return db.tenant(caller, (tx) => once(tx, key, locked, () => id))
  }

  async function show(caller: Caller, rows: readonly CaseRow[]): Promise<CaseView[]> {
    const at = now()
    const role = roleOf(caller.principal)
    return db.tenant(caller, async (tx) => {
      const [claims, actors] = await Promise.all([
        findClaimFacts(
          tx,
          rows.map(({ claimId }) => claimId),
        ),
        readActors(tx, rows.flatMap(actorIdsOf)),
      ])
      return rows.map((row) => {
        const claim = claims.get(row.claimId)
        if (claim === undefined) throw new Error('a case has no claim')
        return toCaseView(row, { now: at, claim, actors, role, isFourEyes: settings.fourEyes })
      })
    })
  }

  return {
    get,

    /**
     * Opens a case for a claim that has no open one.
     * @throws {Failure} `environment_mismatch`, `not_found` for the claim; `case_already_open`; `claim_erased`.
     */
    async open(caller: Caller, request: Opening, key?: IdempotencyKey): Promise<CaseRow> {
      const { claimId, assignee, priority, note } = request
      const { person: actor, keyId } = checkedActorOf(caller.principal, request.actor)
      checkId(claimId, 'clm', caller.environment)
      const openedAt = now()
      const id = newId('cas', caller.environment, openedAt.getTime())
      noteForLog({ case: id, claim: claimId })
      const insert = async (tx: Tx) => {
        const claim = await lockClaim(tx, claimId)
        if (claim === undefined) throw new Failure('not_found', `There is no claim ${claimId}.`)
        if (claim.isClosed) throw erased('/claim_id')
        if (assignee !== null) await checkAssignee(tx, caller, assignee)
        await refuseSecond(tx, claimId)
        const row = { id, claimId, assignee, priority, openedAt, ...startClock(openedAt, settings) }
        await insertCase(tx, caller, row, { kind: 'opened', actor, keyId, to: 'open', note })
        const made = await findCase(tx, id)
        if (made === undefined) throw new Error('a case that was just opened is gone')
        return made
      }
      return db.tenant(caller, (tx) => once(tx, key, insert, () => id))
    },

    /** Cases as the caller sees them, with what they may become. */
    show,

    /** The history of a case, newest first. @throws {Failure} `environment_mismatch`, `not_found`. */
    async listEntries(scope: Scope, id: string, query: PageQuery): Promise<CountedPage<EntryView>> {
      checkId(id, 'cas', scope.environment)
      const list = { route: 'GET /v1/cases/:id/entries', scope, query: { ...query, id } }
      return listPage({ db, pager }, list, {
        rows: async (tx, { before, limit }) => {
          const [row, entries] = await Promise.all([
            findCase(tx, id),
            findCaseEntries(tx, id, { before: numberOf(before), limit }),
          ])
          if (row === undefined) throw notFound(id)
          return entries
        },
        keyOf: ({ seq }) => String(seq),
        show: async (tx, entries) => {
          const actors = await readActors(
            tx,
            entries.map(({ actor, keyId }) => keyId ?? actor),
          )
          return entries.map((entry) => toEntryView(entry, actors))
        },
      })
    },

    async list(
      caller: Caller,
      filter: CaseFilter,
      { order, ...query }: CountedQuery & { order: CaseOrder },
    ): Promise<CountedPage<CaseView>> {
      const filterAt = { ...filter, now: now() }
      const list = { route: 'GET /v1/cases', scope: caller, query: { ...query, ...filter, ...order } }
      const page = await listPage({ db, pager }, list, {
        rows: (tx, { before, limit }) => findCases(tx, caller, filterAt, { order, after: placeOf(before), limit }),
        count: (tx) => countCases(tx, caller, filterAt),
        keyOf: cursorOf,
      })
      return { ...page, data: await show(caller, page.data) }
    },

    /** How many cases match, by status, each counted as far as totals of lists are. */
    async count(scope: Scope, filter: Pick<CaseFilter, 'assignee'>): Promise<Record<CaseState, number>> {
      const filterAt = { ...filter, now: now() }
      return db.tenant(scope, async (tx) => {
        const counts = await Promise.all(STATES.map((state) => countCases(tx, scope, { ...filterAt, states: [state] })))
        return Object.fromEntries(STATES.map((state, index) => [state, counts[index] ?? 0])) as Record<
          CaseState,
          number
        >
      })
    },

    /**
     * Applies a transition. `isProposed`: it needs a second adjuster, and the case keeps its state until then.
     * @throws {Failure} `invalid_state_transition` with the allowed transitions; `case_already_open`; `claim_erased` when a
     * note is given; `insufficient_role`, `environment_mismatch`, `not_found`.
     */
    async transition(
      caller: Caller,
      id: string,
      request: TransitionRequest,
      key?: IdempotencyKey,
    ): Promise<{ row: CaseRow; isProposed: boolean }> {
      const { to, reasonCode, note } = request
      const { id: actorId, person: actor, keyId } = checkedActorOf(caller.principal, request.actor)
      return change(caller, id, key, async (tx, { row, claim }) => {
        const at = now()
        refuseStale(row, request.version)
        const assignee = request.assignee ?? row.assignee ?? ownUser(caller, row.state, to)
        if (request.assignee !== undefined && request.assignee !== row.assignee) {
          await checkAssignee(tx, caller, request.assignee)
        }
        const wish = { to, reasonCode, note, actor, role: roleOf(caller.principal) }
        const ruling = judgeTransition({ ...row, assignee }, wish, { claim, isFourEyes: settings.fourEyes })
        if (ruling.kind === 'refused') throw transitionRefusal(ruling, row.state)
        if (note !== null && claim.isClosed) throw erased('/note')
        const isReopened = isTerminal(row.state)
        if (isReopened) await refuseSecond(tx, row.claimId)

        const isProposed = ruling.kind === 'proposed'
        const said = { actor, keyId, from: row.state, to, reasonCode, note }
        const fraudActor = fraudActorAfter(wish, ruling.kind)
        const common = {
          ...row,
          fraudActor,
          fraudKeyId: fraudActor === null ? null : keyId,
          version: row.version + 1,
          updatedAt: at,
        }
        if (isProposed) {
          await saveCase(tx, caller, common, { kind: 'proposed', ...said })
          return { row: common, isProposed }
        }
        const moved: CaseRow = {
          ...common,
          ...turnClock(clockOf(row), { from: row.state, to, isReopened }, at, settings),
          state: to,
          reasonCode,
          assignee,
          closedAt: isTerminal(to) ? at : null,
          claimChangedAt: null,
        }
        const changes = assignee === row.assignee ? {} : { changes: [changeOf('assignee', row.assignee, assignee)] }
        await saveCase(tx, caller, moved, { kind: 'transitioned', ...said, ...changes })
        await emit(tx, caller, {
          type: 'case.status_changed',
          dedupKey: `case.status_changed:${id}:${moved.version}`,
          data: {
            case_id: id,
            claim_id: row.claimId,
            from: row.state,
            to,
            reason_code: reasonCode,
            note_present: note !== null,
            // Events hold no personal data: the history of the case names the person.
            actor: unlabelledActor(actorId),
          },
        })
        return { row: moved, isProposed }
      })
    },

    /** Adds a note, to a closed case too. @throws {Failure} `claim_erased`; `not_found`. */
    async addNote(
      caller: Caller,
      id: string,
      { actor: named, note }: { actor?: string | undefined; note: string },
      key?: IdempotencyKey,
    ): Promise<CaseRow> {
      const { person: actor, keyId } = checkedActorOf(caller.principal, named)
      return change(caller, id, key, async (tx, { row, claim }) => {
        if (claim.isClosed) throw erased('/note')
        const noted = { ...row, version: row.version + 1, updatedAt: now() }
        await saveCase(tx, caller, noted, { kind: 'noted', actor, keyId, note })
        return noted
      })
    },

    /**
     * Changes the assignee, the priority or the due date. A change to the current value makes no entry.
     * @throws {Failure} `invalid_request` for a past date; `invalid_state_transition` for a closed case, for an
     * outdated version, and for removing the assignee during a review; `not_found`.
     */
    async update(caller: Caller, id: string, request: CaseChanges, key?: IdempotencyKey): Promise<CaseRow> {
      const { person: actor, keyId } = checkedActorOf(caller.principal, request.actor)
      return change(caller, id, key, async (tx, { row }) => {
        const at = now()
        refuseStale(row, request.version)
        if (row.closedAt !== null) throw closed(row)
        if (request.assignee === null && row.state !== 'open') throw inReview(row)
        const { assignee = row.assignee, priority = row.priority, dueAt } = request
        if (dueAt !== undefined && dueAt <= at) throw invalidField('/due_at', 'in_the_past', 'must be later than now')
        if (assignee !== null && assignee !== row.assignee) await checkAssignee(tx, caller, assignee)
        const due = dueOf(row, row.state, false, at)
        const changes: Change[] = []
        if (assignee !== row.assignee) changes.push(changeOf('assignee', row.assignee, assignee))
        if (priority !== row.priority) changes.push(changeOf('priority', row.priority, priority))
        const isDueNew = dueAt !== undefined && dueAt.getTime() !== due?.getTime()
        if (isDueNew) changes.push(changeOf('due_at', due?.toISOString() ?? null, dueAt.toISOString()))
        if (changes.length === 0) return row
        const clock = isDueNew ? setDue(clockOf(row), row.state, dueAt, at) : clockOf(row)
        const changed = { ...row, ...clock, assignee, priority, version: row.version + 1, updatedAt: at }
        await saveCase(tx, caller, changed, { kind: 'changed', actor, keyId, changes })
        return changed
      })
    },
  }
}

// The lock on the claim excludes other openings; the unique index is a second guarantee.
async function refuseSecond(tx: Tx, claimId: string): Promise<void> {
  const openId = await findOpenCase(tx, claimId)
  if (openId === undefined) return
  throw new Failure('case_already_open', {
    detail: `${claimId} has an open case, ${openId}.`,
    errors: [{ pointer: '/claim_id', code: 'case_open', detail: `has an open case, ${openId}` }],
    members: { case_id: openId },
  })
}

function refuseStale(row: CaseRow, version: number | undefined): void {
  if (version === undefined || version === row.version) return
  throw new Failure('invalid_state_transition', {
    detail: `The case is at version ${row.version} and ${row.state} by now: read it again.`,
    errors: [{ pointer: '/version', code: 'stale', detail: `is ${row.version} by now` }],
    members: { allowed: allowedFrom(row.state), current_status: row.state, version: row.version },
  })
}

function erased(pointer: string): Failure {
  const detail = 'The claim was erased: nothing more is written about it.'
  return new Failure('claim_erased', { detail, errors: [{ pointer, code: 'claim_erased', detail }] })
}

// Copies only the clock's members, so that spreading the new clock into a row overwrites nothing else.
function clockOf({ reviewDueAt, decisionDueAt, pausedAt }: CaseRow): SlaClock {
  return { reviewDueAt, decisionDueAt, pausedAt }
}

// The user of a session takes a case that needs an assignee; a key belongs to no person.
function ownUser({ principal }: Caller, from: CaseState, to: CaseState): string | null {
  return principal.kind === 'session' && needsAssignee(from, to) ? principal.userId : null
}

const cursorOf = ({ id, dueAt }: ListedCase) => `${dueAt?.toISOString() ?? ''} ${id}`

function placeOf(cursor: string | undefined): { id: string; dueAt: Date | undefined } | undefined {
  if (cursor === undefined) return undefined
  const [due = '', id = ''] = cursor.split(' ')
  return { id, dueAt: due === '' ? undefined : new Date(due) }
}

function changeOf(field: string, from: string | null, to: string | null): Change {
  return { field, from, to }
}

function notFound(id: string): Failure {
  return new Failure('not_found', `There is no case ${id}.`)
}
