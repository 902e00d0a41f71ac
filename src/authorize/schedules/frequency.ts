// What `frequency` of a schedule means: one of five words, or a recurrence rule (RRULE) of RFC 5545 with the parts that
// are listed here. A part that is not listed is refused by name: ignoring one would make another calendar.

import type { FieldErrorCode } from '#src/field-errors.ts'

const FREQUENCY_WORDS = ['daily', 'weekly', 'monthly', 'quarterly', 'yearly'] as const
export type FrequencyWord = (typeof FREQUENCY_WORDS)[number]

/** Lists ascend and have no repeats. */
export interface Recurrence {
  unit: 'day' | 'week' | 'month' | 'year'
  /** A period begins every so many units, from the one of the anchor. */
  interval: number
  /** What becomes of a day that its month lacks (RFC 7529): it is left out, or its month's last day takes its place. */
  skip: 'omit' | 'backward'
  /** The ISO 8601 weekday on which weeks begin. */
  weekStart: number
  /** Months of a year; empty: the anchor's month. Only for `year`. */
  months: number[]
  /** 1 to 31, and -1 (the last) to -31. Empty: the anchor's day where `weekdays` is empty too, else every day. */
  monthDays: number[]
  /** Weekdays; empty: every weekday, or the anchor's where `unit` is `week`. */
  weekdays: WeekdayRule[]
  /** Positions among the dates of a period: the first is 1 and the last -1. Empty: all. */
  positions: number[]
}

export interface WeekdayRule {
  /** ISO 8601: 1 is Monday, 7 Sunday. */
  weekday: number
  /** The n-th of the month, from its end where negative; 0: every one. */
  ordinal: number
}

export type ParsedFrequency = { ok: true; recurrence: Recurrence } | { ok: false; code: FieldErrorCode; detail: string }

export const MAX_FREQUENCY_LENGTH = 500
const MAX_INTERVAL = 1_000
const WEEKDAYS = ['MO', 'TU', 'WE', 'TH', 'FR', 'SA', 'SU']
const UNITS: Record<string, Recurrence['unit']> = { DAILY: 'day', WEEKLY: 'week', MONTHLY: 'month', YEARLY: 'year' }

const PLAIN: Recurrence = {
  unit: 'day',
  interval: 1,
  skip: 'omit',
  weekStart: 1,
  months: [],
  monthDays: [],
  weekdays: [],
  positions: [],
}

// The 31st of a month without one is its last day, and 29 February of other years is the 28th.
const WORDS: Record<FrequencyWord, Recurrence> = {
  daily: PLAIN,
  weekly: { ...PLAIN, unit: 'week' },
  monthly: { ...PLAIN, unit: 'month', skip: 'backward' },
  quarterly: { ...PLAIN, unit: 'month', interval: 3, skip: 'backward' },
  yearly: { ...PLAIN, unit: 'year', skip: 'backward' },
}

/** The parts that each unit takes, besides FREQ and INTERVAL. */
const PARTS: Record<Recurrence['unit'], readonly string[]> = {
  day: [],
  week: ['BYDAY', 'WKST'],
  month: ['BYMONTHDAY', 'BYDAY', 'BYSETPOS', 'RSCALE', 'SKIP'],
  year: ['BYMONTH', 'BYMONTHDAY', 'BYDAY', 'BYSETPOS', 'RSCALE', 'SKIP'],
}

const REFUSED: Record<string, string> = {
  COUNT: 'send occurrences instead',
  UNTIL: 'send occurrences instead',
  BYHOUR: 'the time of day is that of anchor_at',
  BYMINUTE: 'the time of day is that of anchor_at',
  BYSECOND: 'the time of day is that of anchor_at',
  BYYEARDAY: 'name the days by BYMONTH and BYMONTHDAY',
  BYWEEKNO: 'name the days by BYMONTH and BYMONTHDAY, or use FREQ=WEEKLY',
}

/** The same text always means the same. */
export function parseFrequency(text: string): ParsedFrequency {
  if (isWord(text)) return { ok: true, recurrence: WORDS[text] }
  try {
    if (text.length > MAX_FREQUENCY_LENGTH) refuse('too_long', `must have at most ${MAX_FREQUENCY_LENGTH} characters`)
    return { ok: true, recurrence: recurrenceOf(partsOf(text)) }
  } catch (error) {
    if (error instanceof RangeError) return { ok: false, code: error.cause as FieldErrorCode, detail: error.message }
    throw error
  }
}

function recurrenceOf(parts: ReadonlyMap<string, string>): Recurrence {
  const frequency = parts.get('FREQ') ?? ''
  const unit = Object.hasOwn(UNITS, frequency) ? UNITS[frequency] : undefined
  if (unit === undefined) {
    refuse('not_supported', `must have FREQ=${Object.keys(UNITS).join(', FREQ=')}, or be ${FREQUENCY_WORDS.join(', ')}`)
  }
  for (const name of parts.keys()) checkPart(name, unit, frequency)
  const numbers = (name: string, range: Range) => numbersOf(name, parts.get(name), range)
  const recurrence: Recurrence = {
    unit,
    interval: numbers('INTERVAL', { most: MAX_INTERVAL, isSingle: true })[0] ?? 1,
    skip: parts.get('SKIP') === 'BACKWARD' ? 'backward' : 'omit',
    weekStart: weekdayOf('WKST', parts.get('WKST') ?? 'MO'),
    months: numbers('BYMONTH', { most: 12 }),
    monthDays: numbers('BYMONTHDAY', { most: 31, isSigned: true }),
    weekdays: weekdaysOf(parts.get('BYDAY'), unit !== 'week'),
    positions: numbers('BYSETPOS', { most: 366, isSigned: true }),
  }
  checkTogether(recurrence, parts)
  return recurrence
}

function checkPart(name: string, unit: Recurrence['unit'], frequency: string): void {
  if (name === 'FREQ' || name === 'INTERVAL' || PARTS[unit].includes(name)) return
  const instead = Object.hasOwn(REFUSED, name) ? REFUSED[name] : undefined
  if (instead !== undefined) refuse('not_supported', `must not have ${name}: ${instead}`)
  const known = ['INTERVAL', ...PARTS[unit]].join(', ')
  refuse('not_supported', `must not have ${name}: with FREQ=${frequency} the supported parts are ${known}`)
}

function checkTogether(
  { unit, months, monthDays, weekdays, positions, skip }: Recurrence,
  parts: ReadonlyMap<string, string>,
) {
  const hasDays = monthDays.length > 0 || weekdays.length > 0
  if (unit === 'year' && hasDays && months.length === 0) {
    refuse('not_supported', 'must have BYMONTH where FREQ=YEARLY has BYMONTHDAY or BYDAY')
  }
  if (positions.length > 0 && !hasDays) refuse('invalid_value', 'must have BYMONTHDAY or BYDAY where it has BYSETPOS')
  if (!['GREGORIAN', undefined].includes(parts.get('RSCALE')))
    refuse('not_supported', 'must not have another RSCALE than GREGORIAN')
  if (!['OMIT', 'BACKWARD', undefined].includes(parts.get('SKIP')))
    refuse('not_supported', 'must have SKIP=OMIT or SKIP=BACKWARD')
  // RFC 7529, 4.1.
  if (parts.has('SKIP') && !parts.has('RSCALE')) refuse('invalid_value', 'must have RSCALE=GREGORIAN where it has SKIP')
  if (skip === 'backward' && monthDays.some((day) => day < -28)) {
    refuse('not_supported', 'must not have BYMONTHDAY below -28 where it has SKIP=BACKWARD')
  }
}

function partsOf(text: string): Map<string, string> {
  const parts = new Map<string, string>()
  for (const part of text.split(';')) {
    const [, name = '', value = ''] = /^([A-Z]+)=([A-Z0-9,+-]+)$/.exec(part) ?? []
    if (name === '') {
      refuse(
        'invalid_value',
        `must be ${FREQUENCY_WORDS.join(', ')}, or a recurrence rule such as FREQ=WEEKLY;BYDAY=MO,FR`,
      )
    }
    if (parts.has(name)) refuse('invalid_value', `must not have ${name} twice`)
    parts.set(name, value)
  }
  return parts
}

interface Range {
  most: number
  isSigned?: true
  isSingle?: true
}

function numbersOf(name: string, text: string | undefined, { most, isSigned, isSingle }: Range): number[] {
  if (text === undefined) return []
  const numbers = text.split(',').map((one) => {
    const size = /^[+-]?([1-9][0-9]{0,3})$/.exec(one)?.[1]
    const isInRange = size !== undefined && Number(size) <= most && (isSigned === true || /^[0-9]/.test(one))
    if (!isInRange)
      refuse(
        'out_of_range',
        `must have ${isSigned === true ? `${name} from 1 to ${most} or -1 to -${most}` : `${name} from 1 to ${most}`}`,
      )
    return Number(one)
  })
  if (isSingle === true && numbers.length > 1) refuse('invalid_value', `must have one ${name}`)
  return [...new Set(numbers)].sort((one, other) => one - other)
}

function weekdaysOf(text: string | undefined, takesOrdinals: boolean): WeekdayRule[] {
  const names = text === undefined ? [] : [...new Set(text.split(','))]
  return names.map((one) => {
    const [, sign, size, name = ''] = /^([+-]?)([1-5]?)([A-Z]{2})$/.exec(one) ?? []
    const weekday = weekdayOf('BYDAY', name)
    if (size === '' && sign !== '') refuse('invalid_value', 'must have BYDAY such as MO, 2TU or -1FR')
    if (size !== '' && !takesOrdinals)
      refuse('invalid_value', 'must have BYDAY without numbers where it has FREQ=WEEKLY')
    return { weekday, ordinal: size === '' ? 0 : Number(`${sign}${size}`) }
  })
}

function weekdayOf(part: string, name: string): number {
  const index = WEEKDAYS.indexOf(name)
  if (index < 0) refuse('invalid_value', `must have ${part} of ${WEEKDAYS.join(', ')}`)
  return index + 1
}

function isWord(text: string): text is FrequencyWord {
  return FREQUENCY_WORDS.some((word) => word === text)
}

function refuse(code: FieldErrorCode, detail: string): never {
  throw new RangeError(detail, { cause: code })
}
