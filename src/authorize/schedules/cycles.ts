// The cycles of all schedules that begin in a period, and what became of them. They follow from the calendars, so pages go
// through the schedules, newest first, and read a bounded number of them.

import { invalidField } from '#src/failure.ts'
import type { Platform } from '#src/platform/feature.ts'
import type { Page } from '#src/platform/http/page.ts'
import type { Scope } from '#src/platform/ids.ts'
import { type CycleSpan, calendarOf } from './calendar.ts'
import { scheduleFactsOf, windowOf } from './judge.ts'
import { type ExecutedCycle, findExecuted, listSchedules, type ScheduleRow } from './rows.ts'

export const CYCLE_STATUSES = ['executed', 'missed', 'open', 'upcoming', 'cancelled'] as const
export type CycleStatus = (typeof CYCLE_STATUSES)[number]

export interface DueCycle {
  schedule: ScheduleRow
  number: number
  opensAt: string
  closesAt: string
  status: CycleStatus
  executed: ExecutedCycle | undefined
}

export const MAX_PERIOD_DAYS = 31
/** Schedules that one page reads. Where few have a cycle in the period, the page has few cycles and still a next one. */
const MAX_SCHEDULES = 200
const DAY_MS = 86_400_000

/** Query as the route parses it: ISO 8601. */
export interface CycleQuery {
  from?: string | undefined
  to?: string | undefined
  limit: number
  cursor?: string | undefined
}

export type Cycles = ReturnType<typeof createCycles>

export function createCycles({ db, pager, now }: Pick<Platform, 'db' | 'pager' | 'now'>) {
  return {
    /**
     * Lists cycles by schedule, the newest schedule first, each in order of time.
     * @throws {Failure} `invalid_request` at `?from` or `?cursor`.
     */
    async list(scope: Scope, { limit, cursor, ...query }: CycleQuery): Promise<Page<DueCycle>> {
      const at = now()
      const { from, to } = periodOf(query, at)
      if (from >= to) throw invalidField('?from', 'out_of_range', 'must be before `to`')
      if (to.getTime() - from.getTime() > MAX_PERIOD_DAYS * DAY_MS) {
        throw invalidField('?from', 'out_of_range', `must be at most ${MAX_PERIOD_DAYS} days before \`to\``)
      }
      const binding = { route: 'GET /v1/schedules/cycles', scope, query }
      const after = placeOf(pager.decode(cursor, binding))
      return db.tenant(scope, async (tx) => {
        const rows = await listSchedules(tx, scope, {}, { ...after, limit: MAX_SCHEDULES })
        const due = rows.flatMap((row) => {
          const isBegun = row.id === after.through
          return spansIn(row, { from, to, at })
            .filter(({ number }) => !isBegun || number > after.number)
            .map((span) => ({ row, span }))
        })
        const shown = due.slice(0, limit)
        const executed = await findExecuted(
          tx,
          shown.map(({ row, span }) => ({ scheduleId: row.id, cycle: span.number })),
        )
        const data = shown.map(({ row, span }) => dueCycleOf(row, span, { executed, at }))
        const last = due.length > limit ? data.at(-1) : undefined
        const lastRead = rows.length === MAX_SCHEDULES ? rows.at(-1) : undefined
        // The cursor stands where reading stopped, which need not be at a cycle of the answer.
        const place = last === undefined ? lastRead && `${lastRead.id} ${END}` : `${last.schedule.id} ${last.number}`
        const { next_cursor } = pager.page(place === undefined ? [] : [place, place], 1, (text) => text, binding)
        return { object: 'list', data, has_more: next_cursor !== null, next_cursor }
      })
    },
  }
}

function periodOf({ from, to }: Pick<CycleQuery, 'from' | 'to'>, at: Date): { from: Date; to: Date } {
  const today = Math.floor(at.getTime() / DAY_MS) * DAY_MS
  const start = from === undefined ? new Date(today - 7 * DAY_MS) : new Date(from)
  return { from: start, to: to === undefined ? new Date(start.getTime() + 14 * DAY_MS) : new Date(to) }
}

// In a cursor: every cycle of the schedule was read.
const END = Number.MAX_SAFE_INTEGER

function placeOf(text: string | undefined) {
  const [through, number] = text?.split(' ') ?? []
  return { through, number: Number(number ?? 0), before: undefined }
}

/** The cycles that begin in the period and that can be executed, or could be. */
function spansIn(row: ScheduleRow, { from, to, at }: { from: Date; to: Date; at: Date }): CycleSpan[] {
  const calendar = calendarOf(row)
  const atFrom = calendar.cycleAt(from.getTime())
  const first = atFrom === undefined ? 1 : atFrom.number + (atFrom.beginsAt < from.getTime() ? 1 : 0)
  const end = Math.min(to.getTime(), row.status === 'cancelled' ? (row.changedAt?.getTime() ?? 0) : Infinity)
  const last = lastNumber(row, at)
  const spans: CycleSpan[] = []
  for (let number = first; number <= last; number += 1) {
    const [span] = calendar.cyclesFrom(number, 1)
    if (span === undefined || span.beginsAt >= end) break
    spans.push(span)
  }
  return spans
}

/** The last cycle while each that remains is executed; of a schedule without any left, the last that counted. */
function lastNumber(row: ScheduleRow, at: Date): number {
  const { cycle, executed_by: executedBy, used, occurrences } = scheduleFactsOf(row, at)
  if (row.consumeMissed) return occurrences
  if (used >= occurrences) return row.last?.cycle ?? 0
  if (cycle === null) return occurrences
  const isOver = executedBy !== null || at.toISOString() >= cycle.closes_at
  return cycle.number + (isOver ? 0 : -1) + occurrences - used
}

function dueCycleOf(
  row: ScheduleRow,
  span: CycleSpan,
  { executed, at }: { executed: ReadonlyMap<string, ExecutedCycle>; at: Date },
): DueCycle {
  const { number, opens_at: opensAt, closes_at: closesAt } = windowOf(span, row.windowSeconds)
  const done = executed.get(`${row.id} ${number}`)
  return {
    schedule: row,
    number,
    opensAt,
    closesAt,
    status: statusAt(row, { opensAt, closesAt, done, at }),
    executed: done,
  }
}

function statusAt(
  { status, changedAt }: ScheduleRow,
  { opensAt, closesAt, done, at }: { opensAt: string; closesAt: string; done: ExecutedCycle | undefined; at: Date },
): CycleStatus {
  if (done !== undefined) return 'executed'
  if (status === 'cancelled' && changedAt !== null && changedAt.toISOString() < closesAt) return 'cancelled'
  const time = at.toISOString()
  if (time >= closesAt) return 'missed'
  return time >= opensAt ? 'open' : 'upcoming'
}
