import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { CaseState } from '#src/attest/cases/machine.ts'
import { addBusinessDays, dueOf, type SlaClock, setDue, shifted, startClock, turnClock } from '#src/attest/cases/sla.ts'

const SETTINGS = { reviewBusinessDays: 2, decisionDays: 30 }
const DAY = 24 * 3_600_000
const at = (text: string) => new Date(text)
const plus = (date: Date, ms: number) => new Date(date.getTime() + ms)

describe('business days', () => {
  // 2026-11-20 is a Friday.
  it.each([
    ['Monday', '2026-11-16T15:00:00.000Z', '2026-11-18T15:00:00.000Z'],
    ['Wednesday', '2026-11-18T15:00:00.000Z', '2026-11-20T15:00:00.000Z'],
    ['Thursday', '2026-11-19T15:00:00.000Z', '2026-11-23T15:00:00.000Z'],
    ['Friday', '2026-11-20T15:00:00.000Z', '2026-11-24T15:00:00.000Z'],
    ['Saturday', '2026-11-21T15:00:00.000Z', '2026-11-24T15:00:00.000Z'],
    ['Sunday', '2026-11-22T15:00:00.000Z', '2026-11-24T15:00:00.000Z'],
    ['a last moment of Friday in UTC', '2026-11-20T23:59:59.999Z', '2026-11-24T23:59:59.999Z'],
    ['a first moment of Saturday in UTC', '2026-11-21T00:00:00.000Z', '2026-11-24T00:00:00.000Z'],
    ['the end of February in a leap year', '2028-02-28T08:00:00.000Z', '2028-03-01T08:00:00.000Z'],
    ['the end of a year', '2026-12-31T08:00:00.000Z', '2027-01-04T08:00:00.000Z'],
  ])('two business days after %s are computed', (_, from, to) => {
    expect(addBusinessDays(at(from), 2).toISOString()).toBe(to)
  })

  it('are never a Saturday or Sunday, five to a week, each later than the one before', () => {
    fc.assert(
      fc.property(
        fc.date({ noInvalidDate: true, min: at('2000-01-01'), max: at('2100-01-01') }),
        fc.nat(40),
        (from, days) => {
          const to = addBusinessDays(from, days + 1)
          expect([0, 6]).not.toContain(to.getUTCDay())
          expect(to.getTime()).toBeGreaterThan(addBusinessDays(from, days).getTime())
          expect(addBusinessDays(to, 5).getTime() - to.getTime()).toBe(7 * DAY)
        },
      ),
    )
  })
})

describe('the due dates of a case', () => {
  const opened = at('2026-11-20T15:00:00.000Z')
  const clock = startClock(opened, SETTINGS)

  it('allow two business days for the review and thirty days for the decision', () => {
    expect(clock.reviewDueAt.toISOString()).toBe('2026-11-24T15:00:00.000Z')
    expect(clock.decisionDueAt.toISOString()).toBe('2026-12-20T15:00:00.000Z')
    expect(dueOf(clock, 'open', false, opened)).toEqual(clock.reviewDueAt)
    expect(dueOf(clock, 'in_review', false, opened)).toEqual(clock.decisionDueAt)
    expect(dueOf(clock, 'denied', true, opened)).toBeNull()
  })

  it('are paused while information is awaited, and move by the length of the pause', () => {
    const asked = plus(opened, 3 * DAY)
    const paused = turn(clock, 'in_review', 'info_requested', asked)
    expect(paused).toEqual({ ...clock, pausedAt: asked })
    expect(dueOf(paused, 'info_requested', false, plus(asked, DAY))).toEqual(plus(clock.decisionDueAt, DAY))
    for (const to of ['in_review', 'escalated', 'withdrawn'] as const) {
      expect(turn(paused, 'info_requested', to, plus(asked, 5 * DAY))).toEqual({
        ...clock,
        decisionDueAt: plus(clock.decisionDueAt, 5 * DAY),
        pausedAt: null,
      })
    }
  })

  it('start over when a case is reopened', () => {
    const later = plus(opened, 100 * DAY)
    expect(turn(clock, 'denied', 'in_review', later).decisionDueAt).toEqual(plus(later, 30 * DAY))
  })

  it('are replaced by a date that a user sets, for the next due step', () => {
    const due = plus(opened, 10 * DAY)
    expect(setDue(clock, 'open', due, opened)).toEqual({ ...clock, reviewDueAt: due })
    expect(setDue(clock, 'in_review', due, opened)).toEqual({ ...clock, decisionDueAt: due })
    const paused = turn(clock, 'in_review', 'info_requested', opened)
    const now = plus(opened, DAY)
    const given = setDue(paused, 'info_requested', due, now)
    expect(dueOf(given, 'info_requested', false, now)).toEqual(due)
    expect(dueOf(given, 'info_requested', false, plus(now, DAY))).toEqual(plus(due, DAY))
  })
})

// Pauses may be negative: the clocks of processes differ.
const pauses = fc.array(fc.tuple(fc.integer({ min: -DAY, max: 90 * DAY }), fc.integer({ min: -DAY, max: 90 * DAY })), {
  maxLength: 20,
})

describe('with any pauses', () => {
  it('the decision date moves by their sum, and never back', () => {
    fc.assert(
      fc.property(pauses, (all) => {
        const opened = at('2026-11-20T15:00:00.000Z')
        let clock = startClock(opened, SETTINGS)
        let now = opened
        let sum = 0
        for (const [work, pause] of all) {
          now = plus(now, work)
          const before = clock.decisionDueAt
          clock = turn(clock, 'in_review', 'info_requested', now)
          expect(shifted(clock, plus(now, pause)).getTime()).toBeGreaterThanOrEqual(before.getTime())
          now = plus(now, pause)
          clock = turn(clock, 'info_requested', 'in_review', now)
          sum += Math.max(0, pause)
          expect(clock.decisionDueAt.getTime() - before.getTime()).toBe(Math.max(0, pause))
        }
        expect(clock).toEqual({
          reviewDueAt: addBusinessDays(opened, 2),
          decisionDueAt: plus(opened, 30 * DAY + sum),
          pausedAt: null,
        })
      }),
    )
  })
})

function turn(clock: SlaClock, from: CaseState, to: CaseState, now: Date): SlaClock {
  const isReopened = from === 'denied'
  return turnClock(clock, { from, to, isReopened }, now, SETTINGS)
}
