// Standing schedules: what an agent may pay to one counterparty, once in each cycle. What changes a schedule locks its row
// first: a decision that depends on it holds that lock until its commit, so none commits after a pause that it has not read.

import { recordAudit } from '#src/account/audit/record.ts'
import { readActors } from '#src/account/users/actors.ts'
import { Failure, type FieldError } from '#src/failure.ts'
import { note } from '#src/platform/context.ts'
import type { Json } from '#src/platform/crypto/canonical.ts'
import type { Tx } from '#src/platform/db/database.ts'
import type { Platform } from '#src/platform/feature.ts'
import type { ActorsOf } from '#src/platform/http/actor.ts'
import { type IdempotencyKey, once } from '#src/platform/http/idempotency.ts'
import { type CountedPage, type CountedQuery, listPage } from '#src/platform/http/page.ts'
import { type Acting, actorOf } from '#src/platform/http/principal.ts'
import { invalidRequest } from '#src/platform/http/validate.ts'
import { checkId, newId, type Scope } from '#src/platform/ids.ts'
import { calendarOf, createCalendar, timezoneProblem } from './calendar.ts'
import { parseFrequency } from './frequency.ts'
import { type ScheduleCycle, type ScheduleFacts, scheduleFactsOf, windowOf } from './judge.ts'
import {
  countSchedules,
  insertSchedule,
  listSchedules,
  type NewSchedule,
  readScheduleRow,
  type ScheduleFilter,
  type ScheduleRow,
  updateStatus,
} from './rows.ts'

export type ScheduleRequest = Pick<
  NewSchedule,
  | 'counterparty'
  | 'amountType'
  | 'amount'
  | 'currency'
  | 'frequency'
  | 'anchorAt'
  | 'timezone'
  | 'windowSeconds'
  | 'occurrences'
  | 'consumeMissed'
>

/** A schedule at a moment. */
export interface Schedule {
  row: ScheduleRow
  facts: ScheduleFacts
  /** The next cycle that can be executed; null when there is none, or the schedule is cancelled. */
  next: ScheduleCycle | null
}

/** With the views of those who acted. */
export type ShownSchedule = Schedule & { actors: ActorsOf }

export type Schedules = ReturnType<typeof createSchedules>

/** How many cycles a preview shows. */
const PREVIEW_CYCLES = 24
// A cycle is found from the anchor on. Of a rule with dates of several kinds each month in between costs some nanoseconds.
const EARLIEST_ANCHOR = Date.UTC(2000, 0, 1)
const MAX_ANCHOR_YEARS = 10

type ScheduleAction = 'created' | 'paused' | 'resumed' | 'cancelled'

interface Change {
  action: ScheduleAction
  to: ScheduleRow['status']
  /** Of which it can be reached; one that has it already stays as it is, where `isRepeatable`. */
  from: readonly ScheduleRow['status'][]
  isRepeatable: boolean
}

const CHANGES = {
  pause: { action: 'paused', to: 'paused', from: ['active'], isRepeatable: true },
  cancel: { action: 'cancelled', to: 'cancelled', from: ['active', 'paused'], isRepeatable: true },
  // Of a schedule that is active, a person would believe that something was paused.
  resume: { action: 'resumed', to: 'active', from: ['paused'], isRepeatable: false },
} as const satisfies Record<string, Change>

export function createSchedules({ db, ledger, pager, now }: Pick<Platform, 'db' | 'ledger' | 'pager' | 'now'>) {
  /** What a person did, for the audit log, and for the ledger, which proves under which terms an agent paid. */
  function record(
    tx: Tx,
    acting: Acting,
    { id, ...terms }: ScheduleRequest & { id: string },
    { action, before, after, at }: { action: ScheduleAction; before?: Json; after: Json; at: Date },
  ) {
    return Promise.all([
      recordAudit(tx, acting, { action: `schedule.${action}`, subjectId: id, before, after }),
      ledger.record(tx, acting, {
        kind: 'schedule_change',
        at,
        actor: actorOf(acting.principal),
        subject: id,
        reason: action,
        valid: null,
        inputs: { schedule_id: id },
        facts: termsOf(terms),
      }),
    ])
  }

  const scheduleOf = (row: ScheduleRow, at = now()): Schedule => {
    const facts = scheduleFactsOf(row, at)
    return { row, facts, next: nextCycles(row, facts, { at, count: 1 })[0] ?? null }
  }

  async function shownAll(tx: Tx, rows: readonly ScheduleRow[]): Promise<ShownSchedule[]> {
    const actors = await readActors(
      tx,
      rows.flatMap(({ createdBy, changedBy }) => [createdBy, changedBy]),
    )
    return rows.map((row) => ({ ...scheduleOf(row), actors }))
  }

  async function shown(tx: Tx, row: ScheduleRow): Promise<ShownSchedule> {
    return { ...scheduleOf(row), actors: await readActors(tx, [row.createdBy, row.changedBy]) }
  }

  async function change(
    acting: Acting,
    id: string,
    { action, to, from, isRepeatable }: Change,
    key: IdempotencyKey | undefined,
  ): Promise<ShownSchedule> {
    checkId(id, 'sch', acting.environment)
    note({ schedule: id })
    return db.tenant(acting, async (tx) => {
      const found = await getRow(tx, id, 'update')
      const work = async (): Promise<ScheduleRow> => {
        const { status } = found
        if (isRepeatable && status === to) return found
        if (!from.includes(status)) {
          throw new Failure('invalid_state_transition', {
            detail: `${id} is ${status}: only a schedule that is ${from.join(' or ')} can become ${to}.`,
            members: { allowed: from, current_status: status },
          })
        }
        const at = now()
        const by = actorOf(acting.principal).id
        await Promise.all([
          updateStatus(tx, id, { status: to, by, at }),
          record(tx, acting, found, { action, before: { status }, after: { status: to }, at }),
        ])
        return { ...found, status: to, changedBy: by, changedAt: at }
      }
      return shown(tx, await once(tx, key, work, () => id))
    })
  }

  return {
    /** @throws {Failure} `invalid_request`. */
    async create(acting: Acting, request: ScheduleRequest, key?: IdempotencyKey): Promise<ShownSchedule> {
      const createdAt = now()
      const errors = problemsOf(request, createdAt)
      if (errors.length > 0) throw invalidRequest(errors)
      const id = newId('sch', acting.environment, createdAt.getTime())
      note({ schedule: id })
      const createdBy = actorOf(acting.principal).id
      const insert = async (tx: Tx) => {
        await Promise.all([
          insertSchedule(tx, acting, { ...request, id, endsAt: endOf(request), createdBy, createdAt }),
          record(tx, acting, { id, ...request }, { action: 'created', after: termsOf(request), at: createdAt }),
        ])
        return getRow(tx, id, 'none')
      }
      return db.tenant(acting, async (tx) => shown(tx, await once(tx, key, insert, () => id)))
    },

    /** @throws {Failure} `environment_mismatch`, `not_found`. */
    async get(scope: Scope, id: string): Promise<ShownSchedule> {
      checkId(id, 'sch', scope.environment)
      return db.tenant(scope, async (tx) => shown(tx, await getRow(tx, id, 'none')))
    },

    /** Newest first. @throws {Failure} `invalid_request` at `?cursor`. */
    async list(scope: Scope, filter: ScheduleFilter, query: CountedQuery): Promise<CountedPage<ShownSchedule>> {
      const list = { route: 'GET /v1/schedules', scope, query: { ...query, ...filter } }
      return listPage({ db, pager }, list, {
        rows: (tx, page) => listSchedules(tx, scope, filter, page),
        count: (tx) => countSchedules(tx, scope, filter),
        show: shownAll,
      })
    },

    /**
     * The next cycles that can be executed, as if each of them is; of a schedule that is paused, as if it were resumed now.
     * @throws {Failure} `environment_mismatch`, `not_found`.
     */
    async preview(scope: Scope, id: string): Promise<Schedule & { cycles: ScheduleCycle[] }> {
      checkId(id, 'sch', scope.environment)
      const row = await db.tenant(scope, (tx) => getRow(tx, id, 'none'))
      const at = now()
      const schedule = scheduleOf(row, at)
      return { ...schedule, cycles: nextCycles(row, schedule.facts, { at, count: PREVIEW_CYCLES }) }
    },

    /** From the next decision on. @throws {Failure} `invalid_state_transition`, `environment_mismatch`, `not_found`. */
    pause: (acting: Acting, id: string, key?: IdempotencyKey) => change(acting, id, CHANGES.pause, key),
    /** Permanently. Otherwise as `pause`. */
    cancel: (acting: Acting, id: string, key?: IdempotencyKey) => change(acting, id, CHANGES.cancel, key),
    /** @throws {Failure} `invalid_state_transition`, also when it is active; `environment_mismatch`, `not_found`. */
    resume: (acting: Acting, id: string, key?: IdempotencyKey) => change(acting, id, CHANGES.resume, key),
  }
}

/** As the ledger and the audit log have them. */
function termsOf(request: ScheduleRequest): { [name: string]: Json } {
  return {
    counterparty: request.counterparty,
    amount: { type: request.amountType, value: request.amount, currency: request.currency },
    frequency: request.frequency,
    anchor_at: request.anchorAt,
    timezone: request.timezone,
    window_seconds: request.windowSeconds,
    occurrences: request.occurrences,
    consume_missed: request.consumeMissed,
  }
}

/** @throws {Failure} `not_found`. */
async function getRow(tx: Tx, id: string, lock: 'none' | 'update'): Promise<ScheduleRow> {
  const row = await readScheduleRow(tx, id, lock)
  if (row === undefined) throw new Failure('not_found', `There is no schedule ${id}.`)
  return row
}

/** What a schema can't check. */
function problemsOf(request: ScheduleRequest, at: Date): FieldError[] {
  const { frequency, anchorAt, timezone, occurrences } = request
  const problems: FieldError[] = []
  const parsed = parseFrequency(frequency)
  if (!parsed.ok) problems.push({ pointer: '/frequency', code: parsed.code, detail: parsed.detail })
  const zone = timezoneProblem(timezone)
  if (zone !== undefined) {
    const hint = zone.suggestion === null ? ', such as Europe/Berlin' : `: ${zone.suggestion}`
    const detail = `must be a time zone as the IANA database names it${hint}`
    problems.push({ pointer: '/timezone', code: 'unknown_timezone', detail })
  }
  const latest = new Date(at)
  latest.setUTCFullYear(at.getUTCFullYear() + MAX_ANCHOR_YEARS)
  const anchor = Date.parse(anchorAt)
  if (anchor < EARLIEST_ANCHOR || anchor > latest.getTime()) {
    const detail = `must be from the year 2000 on, and at most ${MAX_ANCHOR_YEARS} years from now`
    problems.push({ pointer: '/anchor_at', code: 'out_of_range', detail })
  }
  if (problems.length > 0) return problems
  const calendar = createCalendar(request)
  if (!calendar.isAnchored()) {
    const first = calendar.firstDate()
    const hint = first === undefined ? 'it has none' : `the first one from then on is on ${first} in ${timezone}`
    const detail = `must be an occurrence of frequency; ${hint}`
    return [{ pointer: '/anchor_at', code: 'not_an_occurrence', detail }]
  }
  // The window of the last cycle ends with it at the latest.
  if (calendar.occurrence(occurrences + 1) !== undefined) return []
  return [{ pointer: '/occurrences', code: 'out_of_range', detail: 'must have its last one before the year 10000' }]
}

/** When the last window closes, where that does not depend on what is executed. */
function endOf({ consumeMissed, occurrences, windowSeconds, ...rule }: ScheduleRequest): Date | null {
  if (!consumeMissed) return null
  const [last] = createCalendar(rule).cyclesFrom(occurrences, 1)
  return last === undefined ? null : new Date(windowOf(last, windowSeconds).closes_at)
}

function nextCycles(
  row: ScheduleRow,
  facts: ScheduleFacts,
  { at, count }: { at: Date; count: number },
): ScheduleCycle[] {
  if (facts.status === 'cancelled') return []
  const { cycle } = facts
  const isOver = cycle !== null && (facts.executed_by !== null || at.toISOString() >= cycle.closes_at)
  const first = cycle === null ? 1 : cycle.number + (isOver ? 1 : 0)
  const left = Math.max(0, Math.min(count, facts.occurrences - facts.used))
  return calendarOf(row)
    .cyclesFrom(first, left)
    .map((span) => windowOf(span, row.windowSeconds))
}
