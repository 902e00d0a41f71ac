// The calendar of schedules against an independent reference (vectors/schedules, by python-dateutil and zoneinfo), and what
// no random schedule shows.

import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { type CalendarRule, createCalendar, timezoneProblem } from '#src/authorize/schedules/calendar.ts'
import { createDates } from '#src/authorize/schedules/dates.ts'
import { parseFrequency, type Recurrence } from '#src/authorize/schedules/frequency.ts'

type Row = [frequency: string, anchor: number, zone: number, count: number, odd: number[], digest: string]
interface Vectors {
  from: number
  until: number
  samples: number
  instants: number
  zones: string[]
  schedules: Row[]
}
const vectors: Vectors = JSON.parse(
  readFileSync(new URL('../../../vectors/schedules/calendar.json', import.meta.url), 'utf8'),
)

const ruleOf = (frequency: string, anchorAt: string, timezone = 'UTC'): CalendarRule => ({
  frequency,
  anchorAt,
  timezone,
})
const iso = (ms: number | undefined) => (ms === undefined ? undefined : new Date(ms).toISOString())
const first = (count: number, rule: CalendarRule) => {
  const calendar = createCalendar(rule)
  return Array.from({ length: count }, (_, index) => iso(calendar.occurrence(index + 1))?.replace(':00.000Z', ''))
}
const daysOf = (count: number, frequency: string, anchor: string) =>
  first(count, ruleOf(frequency, `${anchor}T12:00:00Z`)).map((time) => time?.slice(0, 10))

describe('the calendar', () => {
  it('is that of the reference for 10,000 random schedules over 20 years', () => {
    expect(vectors.schedules.length).toBe(10_000)
    expect(vectors.schedules.filter((row) => digestOf(row) !== row[5])).toEqual([])
  })

  it('begins months that are too short on their last day, always from the day of the anchor', () => {
    expect(daysOf(5, 'monthly', '2027-01-31')).toEqual([
      '2027-01-31',
      '2027-02-28',
      '2027-03-31',
      '2027-04-30',
      '2027-05-31',
    ])
    expect(daysOf(3, 'monthly', '2028-01-31')[1]).toBe('2028-02-29')
    expect(daysOf(4, 'quarterly', '2026-11-30')).toEqual(['2026-11-30', '2027-02-28', '2027-05-30', '2027-08-30'])
    expect(daysOf(6, 'yearly', '2096-02-29').map((day) => day?.slice(0, 10))).toEqual([
      '2096-02-29',
      '2097-02-28',
      '2098-02-28',
      '2099-02-28',
      '2100-02-28',
      '2101-02-28',
    ])
  })

  it('leaves out days that a month lacks where the rule is one of RFC 5545, unless it skips backward (RFC 7529)', () => {
    expect(daysOf(3, 'FREQ=MONTHLY', '2027-01-31')).toEqual(['2027-01-31', '2027-03-31', '2027-05-31'])
    const skipping = 'RSCALE=GREGORIAN;FREQ=MONTHLY;SKIP=BACKWARD'
    expect(daysOf(3, skipping, '2027-01-31')).toEqual(['2027-01-31', '2027-02-28', '2027-03-31'])
    expect(daysOf(3, 'FREQ=YEARLY', '2096-02-29')).toEqual(['2096-02-29', '2104-02-29', '2108-02-29'])
  })

  it('takes weekdays by name and by number together', () => {
    // The reference library intersects them, where RFC 5545 joins them.
    expect(daysOf(6, 'FREQ=MONTHLY;BYDAY=MO,-1FR', '2027-02-01')).toEqual([
      '2027-02-01',
      '2027-02-08',
      '2027-02-15',
      '2027-02-22',
      '2027-02-26',
      '2027-03-01',
    ])
  })

  it('keeps the time of day when clocks move; a skipped time is later and a repeated one the first of both', () => {
    const newYork = (anchor: string) => first(3, ruleOf('daily', anchor, 'America/New_York'))
    expect(newYork('2027-03-13T09:00:00-05:00')).toEqual(['2027-03-13T14:00', '2027-03-14T13:00', '2027-03-15T13:00'])
    // 02:30 does not exist on 14 March: 03:30.
    expect(newYork('2027-03-13T02:30:00-05:00')).toEqual(['2027-03-13T07:30', '2027-03-14T07:30', '2027-03-15T06:30'])
    expect(newYork('2027-11-06T01:30:00-04:00')).toEqual(['2027-11-06T05:30', '2027-11-07T05:30', '2027-11-08T06:30'])
    // The anchor is the first occurrence exactly, also the second of a repeated hour.
    expect(newYork('2027-11-07T01:30:00-05:00')).toEqual(['2027-11-07T06:30', '2027-11-08T06:30', '2027-11-09T06:30'])
  })

  it('has an empty cycle for a day that a zone left out, and the cycle after it is the current one', () => {
    // Samoa had no 30 December 2011.
    const calendar = createCalendar(ruleOf('daily', '2011-12-29T20:00:00Z', 'Pacific/Apia'))
    expect([1, 2, 3].map((number) => iso(calendar.occurrence(number)))).toEqual([
      '2011-12-29T20:00:00.000Z',
      '2011-12-30T20:00:00.000Z',
      '2011-12-30T20:00:00.000Z',
    ])
    expect(calendar.cycleAt(Date.parse('2011-12-30T20:00:00Z'))?.number).toBe(3)
    expect(calendar.cycleAt(Date.parse('2011-12-30T19:59:59.999Z'))?.number).toBe(1)
  })

  it('finds the cycle of tomorrow where clocks go back over midnight', () => {
    // On 7 November 2010, 00:01 in St. John's became 23:01 of the day before: midnight came twice.
    const calendar = createCalendar(ruleOf('daily', '2010-11-01T02:30:00Z', 'America/St_Johns'))
    const first = Date.parse('2010-11-07T02:30:00Z')
    expect(calendar.occurrence(7)).toBe(first)
    for (const minutes of [24 * 60, 60, 30, 1, 0]) {
      expect([minutes, calendar.cycleAt(first + minutes * 60_000)?.number]).toEqual([minutes, 7])
    }
    expect(calendar.cycleAt(first - 1)?.number).toBe(6)
    expect(calendar.occurrence(8)).toBe(Date.parse('2010-11-08T03:30:00Z'))
    const looked = (instant: number) =>
      createCalendar(ruleOf('daily', '2010-11-01T02:30:00Z', 'America/St_Johns')).cycleAt(instant)
    expect(looked(first + 30 * 60_000)?.number).toBe(7)
  })

  it('has no cycle before the anchor, and none beyond the year 9999', () => {
    const anchor = Date.parse('2026-11-22T12:00:00Z')
    for (const frequency of ['daily', 'weekly', 'monthly', 'yearly', 'FREQ=MONTHLY;BYDAY=-1SU,4SU']) {
      const calendar = createCalendar(ruleOf(frequency, '2026-11-22T12:00:00Z'))
      expect(calendar.cycleAt(anchor - 1)).toBeUndefined()
      expect(calendar.cycleAt(anchor)).toMatchObject({ number: 1, beginsAt: anchor })
      expect(calendar.cycleAt(Date.parse('+012026-11-22T12:00:00Z'))).toBeUndefined()
      expect(calendar.occurrence(4_000_000)).toBeUndefined()
      expect(calendar.cyclesFrom(3_999_990, 24)).toEqual([])
    }
  })

  it('computes a cycle that is far away with as few instants as one that is near', () => {
    const anchorAt = '2000-01-01T12:00:00Z'
    const far = Date.parse('9990-06-15T12:00:00Z')
    const before = process.threadCpuUsage().user
    for (const frequency of [
      'daily',
      'weekly',
      'monthly',
      'FREQ=MONTHLY;BYDAY=1SA,MO',
      'FREQ=YEARLY;BYMONTH=1,7;BYDAY=SA',
    ]) {
      const cycle = createCalendar(ruleOf(frequency, anchorAt, 'Europe/Berlin')).cycleAt(far)
      expect(cycle?.beginsAt).toBeLessThanOrEqual(far)
      expect(cycle?.endsAt).toBeGreaterThan(far)
    }
    // Processor time: millions of dates would take seconds.
    expect(process.threadCpuUsage().user - before).toBeLessThan(3_000_000)
  })

  it('knows whether its anchor is an occurrence, and what the first one is', () => {
    const of = (frequency: string, anchor: string) => createCalendar(ruleOf(frequency, `${anchor}T12:00:00Z`))
    expect(of('FREQ=WEEKLY;BYDAY=MO,FR', '2026-11-23').isAnchored()).toBe(true)
    expect(of('FREQ=WEEKLY;BYDAY=MO,FR', '2026-11-22').isAnchored()).toBe(false)
    expect(of('FREQ=WEEKLY;BYDAY=MO,FR', '2026-11-22').firstDate()).toBe('2026-11-23')
    expect(of('FREQ=MONTHLY;BYMONTHDAY=13;BYDAY=FR', '2026-11-22').firstDate()).toBe('2027-08-13')
    expect(of('FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30', '2026-11-22').firstDate()).toBeUndefined()
  })
})

describe('a frequency', () => {
  const problem = (text: string) => {
    const parsed = parseFrequency(text)
    return parsed.ok ? 'ok' : `${parsed.code}: ${parsed.detail}`
  }

  it.each([
    ['FREQ=WEEKLY;COUNT=3', 'not_supported', 'COUNT'],
    ['FREQ=WEEKLY;UNTIL=20270101', 'not_supported', 'UNTIL'],
    ['FREQ=DAILY;BYHOUR=9', 'not_supported', 'BYHOUR'],
    ['FREQ=DAILY;BYDAY=MO', 'not_supported', 'BYDAY'],
    ['FREQ=YEARLY;BYWEEKNO=20', 'not_supported', 'BYWEEKNO'],
    ['FREQ=YEARLY;BYYEARDAY=-1', 'not_supported', 'BYYEARDAY'],
    ['FREQ=YEARLY;BYDAY=MO', 'not_supported', 'BYMONTH'],
    ['FREQ=MONTHLY;BYMONTH=1', 'not_supported', 'BYMONTH'],
    ['FREQ=MONTHLY;X-MINE=1', 'invalid_value', 'recurrence rule'],
    ['FREQ=MONTHLY;MINE=1', 'not_supported', 'MINE'],
    ['FREQ=HOURLY', 'not_supported', 'FREQ=DAILY'],
    ['INTERVAL=2', 'not_supported', 'FREQ=DAILY'],
    ['FREQ=WEEKLY;BYDAY=1MO', 'invalid_value', 'BYDAY'],
    ['FREQ=MONTHLY;BYDAY=6MO', 'invalid_value', 'BYDAY'],
    ['FREQ=MONTHLY;BYDAY=XX', 'invalid_value', 'BYDAY'],
    ['FREQ=MONTHLY;BYDAY=+MO', 'invalid_value', 'BYDAY'],
    ['FREQ=MONTHLY;BYMONTHDAY=0', 'out_of_range', 'BYMONTHDAY'],
    ['FREQ=MONTHLY;BYMONTHDAY=32', 'out_of_range', 'BYMONTHDAY'],
    ['FREQ=YEARLY;BYMONTH=13;BYMONTHDAY=1', 'out_of_range', 'BYMONTH'],
    ['FREQ=YEARLY;BYMONTH=-1;BYMONTHDAY=1', 'out_of_range', 'BYMONTH'],
    ['FREQ=DAILY;INTERVAL=0', 'out_of_range', 'INTERVAL'],
    ['FREQ=DAILY;INTERVAL=1001', 'out_of_range', 'INTERVAL'],
    ['FREQ=DAILY;INTERVAL=1,2', 'invalid_value', 'INTERVAL'],
    ['FREQ=DAILY;FREQ=DAILY', 'invalid_value', 'FREQ'],
    ['FREQ=MONTHLY;BYSETPOS=1', 'invalid_value', 'BYSETPOS'],
    ['FREQ=MONTHLY;SKIP=BACKWARD', 'invalid_value', 'RSCALE'],
    ['FREQ=MONTHLY;RSCALE=HEBREW', 'not_supported', 'RSCALE'],
    ['FREQ=MONTHLY;RSCALE=GREGORIAN;SKIP=FORWARD', 'not_supported', 'SKIP'],
    ['FREQ=MONTHLY;RSCALE=GREGORIAN;SKIP=BACKWARD;BYMONTHDAY=-30', 'not_supported', 'BYMONTHDAY'],
    ['RRULE:FREQ=DAILY', 'invalid_value', 'recurrence rule'],
    ['hourly', 'invalid_value', 'daily'],
    ['', 'invalid_value', 'daily'],
    [`FREQ=MONTHLY;BYMONTHDAY=${'1,'.repeat(400)}1`, 'too_long', '500'],
  ])('%s is refused by name', (text, code, name) => {
    expect(problem(text)).toMatch(new RegExp(`^${code}: must .*${name.replaceAll('=', '.')}`))
  })

  it('takes the documented parts', () => {
    for (const text of [
      'daily',
      'FREQ=DAILY;INTERVAL=10',
      'INTERVAL=2;FREQ=WEEKLY;WKST=SU;BYDAY=MO,FR',
      'FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1',
      'FREQ=MONTHLY;BYMONTHDAY=-1',
      'FREQ=YEARLY;BYMONTH=1,7;BYDAY=+2TU;INTERVAL=2',
      'RSCALE=GREGORIAN;FREQ=YEARLY;SKIP=OMIT',
    ]) {
      expect([text, problem(text)]).toEqual([text, 'ok'])
    }
  })
})

describe('a time zone', () => {
  it('is named exactly as in the IANA database', () => {
    for (const name of [
      'UTC',
      'Europe/Berlin',
      'Asia/Kolkata',
      'Asia/Calcutta',
      'America/Port-au-Prince',
      'Etc/GMT+5',
    ]) {
      expect([name, timezoneProblem(name)]).toEqual([name, undefined])
    }
    expect(timezoneProblem('europe/berlin')).toEqual({ suggestion: 'Europe/Berlin' })
    for (const name of ['+02:00', 'Z', 'Mars/Olympus', 'SystemV/AST4', 'AST', '', '2026-01-01[UTC]']) {
      expect([name, timezoneProblem(name)]).toEqual([name, { suggestion: null }])
    }
  })
})

// The text that generate.py has hashed.
function digestOf([frequency, anchor, zone, count, odd]: Row): string {
  const timezone = vectors.zones[zone] ?? ''
  const anchorAt = new Date(anchor * 1_000).toISOString()
  const calendar = createCalendar({ frequency, anchorAt, timezone })
  const parsed = parseFrequency(frequency)
  if (!parsed.ok || !calendar.isAnchored()) throw new Error(`${frequency} is refused`)
  const seconds = (ms: number | undefined) => String((ms ?? Number.NaN) / 1_000)
  const { samples, instants, from, until } = vectors
  const sampled = Array.from({ length: samples }, (_, i) => 1 + Math.floor(((count - 1) * i) / (samples - 1)))
  const asked = Array.from({ length: instants }, (_, i) => from + ((until - from) * (i + 1)) / (instants + 1))
  const text = [
    sumOfDates(parsed.recurrence, { anchorAt, timezone, count }),
    [...sampled, ...odd].map((n) => `${n}:${seconds(calendar.occurrence(n))}`).join(),
    asked.map((at) => `${Math.trunc(at)}:${calendar.cycleAt(at * 1_000)?.number ?? 0}`).join(),
  ].join(';')
  return createHash('sha256').update(text).digest('hex').slice(0, 10)
}

function sumOfDates(
  recurrence: Recurrence,
  { anchorAt, timezone, count }: { anchorAt: string; timezone: string; count: number },
): number {
  const local = new Intl.DateTimeFormat('sv-SE', { timeZone: timezone }).format(new Date(anchorAt))
  const dates = createDates(recurrence, Date.parse(local) / 86_400_000)
  let sum = 0
  for (let position = 0; position < count; position += 1) sum += (position + 1) * (dates.at(position) ?? Number.NaN)
  return sum % 2 ** 32
}
