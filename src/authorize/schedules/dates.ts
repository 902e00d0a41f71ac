// The dates of a recurrence, as days since 1 January 1970, counted from the anchor: position 0 is the first date that is
// not before it. A count or a date is computed from the number of periods where each has one date, else by walking the
// periods with what was computed once for each kind of month or year: a few nanoseconds a step, bounded by the year 9999.

import type { Recurrence } from './frequency.ts'

export interface Dates {
  /** undefined beyond the year 9999. */
  at(position: number): number | undefined
  /** The position of the last date that is not after `day`; -1 when there is none. */
  lastUpTo(day: number): number
  /** The first date that is not before the anchor. */
  first(): number | undefined
}

interface PlainDate {
  year: number
  month: number
  day: number
}

const DAY_MS = 86_400_000
const MAX_YEAR = 9_999
/** 31 December 9999: instants have four digits of a year. */
export const LAST_DAY = Date.UTC(MAX_YEAR, 11, 31) / DAY_MS
const MONTHS = 12

export function dayOf({ year, month, day }: PlainDate): number {
  return Date.UTC(year, month - 1, day) / DAY_MS
}

export function partsOfDay(day: number): PlainDate {
  const date = new Date(day * DAY_MS)
  return { year: date.getUTCFullYear(), month: date.getUTCMonth() + 1, day: date.getUTCDate() }
}

export function createDates(recurrence: Recurrence, anchorDay: number): Dates {
  switch (recurrence.unit) {
    case 'day':
      return daily(recurrence, anchorDay)
    case 'week':
      return weekly(recurrence, anchorDay)
    default:
      return inPeriods(recurrence, anchorDay)
  }
}

function daily({ interval }: Recurrence, anchorDay: number): Dates {
  return {
    at: (position) => bounded(anchorDay + position * interval),
    lastUpTo: (day) => Math.max(-1, Math.floor((day - anchorDay) / interval)),
    first: () => anchorDay,
  }
}

function weekly({ interval, weekStart, weekdays }: Recurrence, anchorDay: number): Dates {
  const fromWeekStart = (weekday: number) => (weekday - weekStart + 7) % 7
  const offsets =
    weekdays.length === 0
      ? [fromWeekStart(weekdayOf(anchorDay))]
      : weekdays.map(({ weekday }) => fromWeekStart(weekday)).sort((one, other) => one - other)
  const week = anchorDay - fromWeekStart(weekdayOf(anchorDay))
  const skipped = offsets.filter((offset) => week + offset < anchorDay).length
  const at = (position: number) => {
    const index = skipped + position
    const offset = offsets[index % offsets.length] ?? 0
    return bounded(week + Math.floor(index / offsets.length) * 7 * interval + offset)
  }
  return {
    at,
    lastUpTo(day) {
      const periods = Math.floor((day - week) / (7 * interval))
      const rest = day - week - periods * 7 * interval
      const count = periods * offsets.length + offsets.filter((offset) => offset <= rest).length
      return Math.max(-1, count - skipped - 1)
    },
    first: () => at(0),
  }
}

/** Dates of months and years: each period has some dates, or none. */
function inPeriods(recurrence: Recurrence, anchorDay: number): Dates {
  const { unit, interval } = recurrence
  const anchor = partsOfDay(anchorDay)
  const size = unit === 'year' ? MONTHS : 1
  // Periods are counted from the one of the anchor, months from the year 0.
  const origin = anchor.year * MONTHS + (unit === 'year' ? 0 : anchor.month - 1)
  const last = Math.floor((MAX_YEAR * MONTHS + MONTHS - 1 - origin) / (size * interval))
  const firstMonthOf = (period: number) => origin + period * size * interval
  const offsetsOf = createOffsets(recurrence, anchor)
  const skipped = offsetsOf(origin).filter((offset) => beginOf(origin) + offset < anchorDay).length

  // Where the last answer was found: the next one is usually near. `before`: the dates of earlier periods.
  let cursor = { period: 0, before: 0 }
  const datesHere = () => offsetsOf(firstMonthOf(cursor.period))
  const advance = () => {
    cursor = { period: cursor.period + 1, before: cursor.before + datesHere().length }
  }
  const dayIn = (period: number, index: number) => {
    const month = firstMonthOf(period)
    const offset = period > last ? undefined : offsetsOf(month)[index]
    return offset === undefined ? undefined : beginOf(month) + offset
  }

  const at = (position: number) => {
    const index = skipped + position
    if (offsetsOf.isOne) return dayIn(index, 0)
    if (index < cursor.before) cursor = { period: 0, before: 0 }
    while (cursor.period <= last && index >= cursor.before + datesHere().length) advance()
    return dayIn(cursor.period, index - cursor.before)
  }
  return {
    at,
    first: () => at(0),
    lastUpTo(day) {
      const { year, month } = partsOfDay(day)
      const current = Math.min(last, Math.floor((year * MONTHS + month - 1 - origin) / (size * interval)))
      if (current < 0) return -1
      if (current < cursor.period) cursor = { period: 0, before: 0 }
      if (!offsetsOf.isOne) while (cursor.period < current) advance()
      const begin = beginOf(firstMonthOf(current))
      const here = offsetsOf(firstMonthOf(current)).filter((offset) => begin + offset <= day).length
      return Math.max(-1, (offsetsOf.isOne ? current : cursor.before) + here - skipped - 1)
    },
  }
}

interface Offsets {
  /** The dates of the period that begins with a month, as ascending days from its beginning. */
  (firstMonth: number): readonly number[]
  /** Every period has exactly one. */
  isOne: boolean
}

// Months of one length that begin on the same weekday have the same dates, and so have years.
function createOffsets(recurrence: Recurrence, anchor: PlainDate): Offsets {
  const { unit, skip, months, monthDays, weekdays, positions } = recurrence
  const known = new Map<number, readonly number[]>()
  const days = monthDays.length === 0 && weekdays.length === 0 ? [anchor.day] : monthDays
  const yearMonths = months.length === 0 ? [anchor.month] : months

  const datesOf = (month: number) => datesOfMonth(month, days, { weekdays, skip })
  function compute(firstMonth: number): readonly number[] {
    const begin = beginOf(firstMonth)
    const offsets =
      unit === 'month'
        ? datesOf(firstMonth).map((day) => day - 1)
        : yearMonths.flatMap((one) => {
            const month = firstMonth + one - 1
            return datesOf(month).map((day) => beginOf(month) - begin + day - 1)
          })
    return positions.length === 0 ? offsets : select(offsets, positions)
  }

  const offsetsOf = (firstMonth: number) => {
    const length = beginOf(firstMonth + (unit === 'month' ? 1 : MONTHS)) - beginOf(firstMonth)
    const kind = length * 8 + weekdayOf(beginOf(firstMonth))
    let offsets = known.get(kind)
    if (offsets === undefined) {
      offsets = compute(firstMonth)
      known.set(kind, offsets)
    }
    return offsets
  }
  const [day = 0] = days
  const isAlways = skip === 'backward' || Math.abs(day) <= 28
  const isSingle = days.length === 1 && weekdays.length === 0 && positions.length === 0
  return Object.assign(offsetsOf, { isOne: isSingle && isAlways && (unit === 'month' || yearMonths.length === 1) })
}

/** Days of a month from 1 on, ascending. */
function datesOfMonth(
  month: number,
  days: readonly number[],
  { weekdays, skip }: Pick<Recurrence, 'weekdays' | 'skip'>,
): number[] {
  const length = beginOf(month + 1) - beginOf(month)
  const firstWeekday = weekdayOf(beginOf(month))
  const dates = new Set<number>()
  if (days.length === 0) for (let day = 1; day <= length; day += 1) dates.add(day)
  for (const day of days) {
    const date = day < 0 ? length + 1 + day : skip === 'backward' ? Math.min(day, length) : day
    if (date >= 1 && date <= length) dates.add(date)
  }
  const isWanted = (date: number) =>
    weekdays.some(({ weekday, ordinal }) => {
      if (((firstWeekday + date - 2) % 7) + 1 !== weekday) return false
      if (ordinal === 0) return true
      return ordinal === (ordinal > 0 ? Math.ceil(date / 7) : -Math.ceil((length + 1 - date) / 7))
    })
  const sorted = [...dates].sort((one, other) => one - other)
  return weekdays.length === 0 ? sorted : sorted.filter(isWanted)
}

// RFC 5545, BYSETPOS: the n-th of the dates of a period.
function select(offsets: readonly number[], positions: readonly number[]): number[] {
  const isWanted = (index: number) => positions.includes(index + 1) || positions.includes(index - offsets.length)
  return offsets.filter((_, index) => isWanted(index))
}

/** The first day of a month that is counted from the year 0. */
function beginOf(month: number): number {
  return Date.UTC(Math.floor(month / MONTHS), month % MONTHS, 1) / DAY_MS
}

/** ISO 8601: 1 January 1970 was a Thursday. */
function weekdayOf(day: number): number {
  return ((((day + 3) % 7) + 7) % 7) + 1
}

function bounded(day: number): number | undefined {
  return day <= LAST_DAY ? day : undefined
}
