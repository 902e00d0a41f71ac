// The calendar of a schedule: when its cycles begin. Dates are counted in whole days, which is exact and cheap; only the
// instants that are asked for are computed in the time zone. Nothing is stored: stored instants would have to be extended while
// nothing is executed, and would be wrong once a government changes its summer time.
//
// Cycle n begins at occurrence n. Occurrence 1 is the anchor itself. Every later one has the anchor's time of day on its
// date, in the schedule's zone: a time that the clocks skip is later by what they skip, a time that they repeat is the first
// of both ('compatible' of Temporal, as in RFC 5545). Days of a month are always derived from the rule or the anchor, never
// from the occurrence before: 31 January, 28 February, 31 March.

import { Temporal } from 'temporal-polyfill'
import { createDates, dayOf, LAST_DAY, partsOfDay } from './dates.ts'
import { parseFrequency } from './frequency.ts'

/** What a schedule says about its calendar. */
export interface CalendarRule {
  /** A word, or a recurrence rule. */
  frequency: string
  /** ISO 8601. */
  anchorAt: string
  /** IANA. */
  timezone: string
}

/** Milliseconds since 1970. Empty where the zone left out a whole day: both are the same then. */
export interface CycleSpan {
  number: number
  beginsAt: number
  /** The beginning of the next one. */
  endsAt: number
}

export interface Calendar {
  /** The beginning of cycle `number` (1 is the first); undefined beyond the year 9999. */
  occurrence(number: number): number | undefined
  /** The cycle at an instant; undefined before the first, and beyond the year 9999. */
  cycleAt(instant: number): CycleSpan | undefined
  /** At most `count` cycles from `number` on. */
  cyclesFrom(number: number, count: number): CycleSpan[]
  /** The first date of the rule that is not before the anchor, `YYYY-MM-DD`; undefined: none before the year 9999. */
  firstDate(): string | undefined
  /** Whether the anchor is an occurrence: only then do the others mean anything. */
  isAnchored(): boolean
}

// A decision asks for the cycle several times, and the next one soon after. Some kilobytes each.
const MAX_CALENDARS = 500
const calendars = new Map<string, Calendar>()
// Of one calendar: those of a preview and the current ones.
const MAX_KNOWN = 64

/** The calendar of a rule that was checked: as `createCalendar`, from a cache. */
export function calendarOf(rule: CalendarRule): Calendar {
  const key = `${rule.frequency} ${rule.anchorAt} ${rule.timezone}`
  const calendar = calendars.get(key) ?? createCalendar(rule)
  // The one that was not asked for the longest is first.
  calendars.delete(key)
  calendars.set(key, calendar)
  const [oldest] = calendars.size > MAX_CALENDARS ? calendars.keys() : []
  if (oldest !== undefined) calendars.delete(oldest)
  return calendar
}

/** @throws {RangeError} when the rule is none. */
export function createCalendar({ frequency, anchorAt, timezone }: CalendarRule): Calendar {
  const parsed = parseFrequency(frequency)
  if (!parsed.ok) throw new RangeError(`frequency ${parsed.detail}`)
  const anchorMs = Date.parse(anchorAt)
  const anchor = Temporal.Instant.fromEpochMilliseconds(anchorMs).toZonedDateTimeISO(timezone).toPlainDateTime()
  const anchorDay = dayOf(anchor)
  const dates = createDates(parsed.recurrence, anchorDay)
  const known = new Map<number, number | undefined>()
  let latest: CycleSpan | undefined

  function occurrence(number: number): number | undefined {
    if (number === 1) return anchorMs
    if (known.has(number)) return known.get(number)
    if (known.size >= MAX_KNOWN) known.clear()
    const instant = instantOf(dates.at(number - 1))
    known.set(number, instant)
    return instant
  }

  function instantOf(day: number | undefined): number | undefined {
    if (day === undefined) return undefined
    const { year, month, day: date } = partsOfDay(day)
    const { hour, minute, second, millisecond } = anchor
    const local = new Temporal.PlainDateTime(year, month, date, hour, minute, second, millisecond)
    return local.toZonedDateTime(timezone, { disambiguation: 'compatible' }).epochMilliseconds
  }

  function span(number: number): CycleSpan | undefined {
    const [beginsAt, endsAt] = [occurrence(number), occurrence(number + 1)]
    return beginsAt === undefined || endsAt === undefined ? undefined : { number, beginsAt, endsAt }
  }

  return {
    occurrence,
    cycleAt(instant) {
      if (instant < anchorMs) return undefined
      if (latest !== undefined && instant >= latest.beginsAt && instant < latest.endsAt) return latest
      const today = dayOf(
        Temporal.Instant.fromEpochMilliseconds(instant).toZonedDateTimeISO(timezone).toPlainDateTime(),
      )
      if (today >= LAST_DAY) return undefined
      // Where clocks go back over midnight, an occurrence of tomorrow's date may have begun.
      let number = dates.lastUpTo(today + 1) + 1
      while (number > 1 && (occurrence(number) ?? Number.POSITIVE_INFINITY) > instant) number -= 1
      latest = span(number)
      return latest
    },
    cyclesFrom(number, count) {
      const spans = Array.from({ length: count }, (_, index) => span(number + index))
      return spans.filter((one) => one !== undefined)
    },
    firstDate() {
      const day = dates.first()
      return day === undefined ? undefined : new Date(day * 86_400_000).toISOString().slice(0, 10)
    },
    isAnchored: () => dates.first() === anchorDay,
  }
}

/**
 * Whether a name is exactly that of a zone of the IANA database (a link too), and no offset: an offset has no rules for
 * summer time. Undefined when it is; else the name to use, or null.
 */
export function timezoneProblem(name: string): { suggestion: string | null } | undefined {
  // Only a name begins with a letter. ICU knows zones besides those of IANA.
  const known = /^[A-Za-z]/.test(name) && !/^systemv\//i.test(name) ? identify(name) : null
  return known === name ? undefined : { suggestion: known }
}

function identify(name: string): string | null {
  try {
    return Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(name).timeZoneId
  } catch {
    return null
  }
}
