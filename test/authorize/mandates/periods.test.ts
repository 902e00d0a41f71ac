// The periods of budgets against an independent calendar (vectors/mandates, by Python's zoneinfo), and around changes of clocks.

import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { localOf, periodEndOf, periodStartOf } from '#src/authorize/mandates/state.ts'
import { createTestDatabase, type TestDatabase } from '../../support/database.ts'

let test: TestDatabase

beforeAll(async () => {
  test = await createTestDatabase()
})
afterAll(() => test?.close())

describe('the period of a budget', () => {
  const periodAt = async (period: 'day' | 'month' | 'total', timezone: string, at: string) => {
    const [row] = await test.owner<{ start: string; end: string | null; time: string; weekday: number }>(
      `SELECT (${periodStartOf('m', '$3::timestamptz')})::text AS start, ${periodEndOf('m', '$3::timestamptz')}::text AS "end",
         ${localOf('m', '$3::timestamptz').time} AS time, ${localOf('m', '$3::timestamptz').weekday} AS weekday
       FROM (SELECT $1::text AS budget_period, $2::text AS timezone, date '2026-01-15' AS started_on) m`,
      [period, timezone, at],
    )
    return row
  }

  it('is a calendar day or month in the zone of the mandate, also where clocks change', async () => {
    const cases: [Parameters<typeof periodAt>, object][] = [
      // The night before, by one millisecond.
      [['day', 'Europe/Berlin', '2026-03-28T22:59:59.999Z'], { start: '2026-03-28', end: '2026-03-29', time: '23:59' }],
      // A day of 23 hours.
      [['day', 'Europe/Berlin', '2026-03-28T23:00:00Z'], { start: '2026-03-29', end: '2026-03-30', time: '00:00' }],
      [['day', 'Europe/Berlin', '2026-03-29T21:59:59.999Z'], { start: '2026-03-29', time: '23:59', weekday: 7 }],
      [['day', 'Europe/Berlin', '2026-03-29T22:00:00Z'], { start: '2026-03-30', time: '00:00', weekday: 1 }],
      // A day of 25 hours.
      [['day', 'Europe/Berlin', '2026-10-24T22:00:00Z'], { start: '2026-10-25', end: '2026-10-26' }],
      [['day', 'Europe/Berlin', '2026-10-25T22:59:59.999Z'], { start: '2026-10-25' }],
      [['day', 'Europe/Berlin', '2026-10-25T23:00:00Z'], { start: '2026-10-26' }],
      // Midnight happens twice, and both belong to the same day.
      [['day', 'America/Havana', '2026-11-01T04:00:00Z'], { start: '2026-11-01', time: '00:00' }],
      [['day', 'America/Havana', '2026-11-01T05:00:00Z'], { start: '2026-11-01', time: '00:00' }],
      // Midnight does not happen.
      [['day', 'Africa/Cairo', '2026-04-23T21:59:59.999Z'], { start: '2026-04-23' }],
      [['day', 'Africa/Cairo', '2026-04-23T22:00:00Z'], { start: '2026-04-24', time: '01:00' }],
      [['month', 'Pacific/Auckland', '2026-01-31T10:59:59.999Z'], { start: '2026-01-01', end: '2026-02-01' }],
      [['month', 'Pacific/Auckland', '2026-01-31T11:00:00Z'], { start: '2026-02-01', end: '2026-03-01' }],
      [['month', 'UTC', '2028-02-29T23:59:59.999Z'], { start: '2028-02-01', end: '2028-03-01' }],
      [['month', 'America/Los_Angeles', '2027-01-01T07:59:59Z'], { start: '2026-12-01', end: '2027-01-01' }],
      [['total', 'Europe/Berlin', '2027-01-01T00:00:00Z'], { start: '2026-01-15', end: null }],
    ]
    for (const [given, expected] of cases)
      expect({ given, ...(await periodAt(...given)) }).toMatchObject({ given, ...expected })
  })

  it('of any kind begins and ends as an independent calendar says', async () => {
    const { periods } = JSON.parse(
      readFileSync(new URL('../../../vectors/mandates/periods.json', import.meta.url), 'utf8'),
    ) as { periods: [kind: string, zone: string, at: string, start: string, end: string][] }
    const column = (index: number) => periods.map((row) => row[index])
    const rows = await test.owner<{ start: string; end: string }>(
      `SELECT (${periodStartOf('m', 'm.at')})::text AS start, ${periodEndOf('m', 'm.at')}::text AS "end"
       FROM unnest($1::text[], $2::text[], $3::timestamptz[]) WITH ORDINALITY
         AS given (budget_period, timezone, at, place),
         LATERAL (SELECT budget_period, timezone, at, NULL::date AS started_on) m ORDER BY place`,
      [column(0), column(1), column(2)],
    )
    expect(rows).toHaveLength(periods.length)
    const wrong = periods.filter(
      ([, , , start, end], index) => rows[index]?.start !== start || rows[index]?.end !== end,
    )
    expect(wrong).toEqual([])
  })
})
