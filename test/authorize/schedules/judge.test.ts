// The judge of schedules: each reason alone, every pair in the published order, and the moments at which windows open
// and close.

import { describe, expect, it } from 'vitest'
import { type ActionAmounts, actionAmountsOf } from '#src/authorize/action-amounts.ts'
import {
  judgeSchedule,
  type PriorExecution,
  SCHEDULE_REASONS,
  type ScheduleFacts,
  scheduleFactsOf,
  statusOf,
} from '#src/authorize/schedules/judge.ts'
import type { ScheduleRow } from '#src/authorize/schedules/rows.ts'

const JTI = 'jti_1'
const ROW: ScheduleRow = {
  id: 'sch_1',
  status: 'active',
  counterparty: 'Landlord',
  amountType: 'fixed',
  amount: '100',
  currency: 'EUR',
  frequency: 'monthly',
  anchorAt: '2027-01-31T08:00:00.000Z',
  timezone: 'Europe/Berlin',
  windowSeconds: 86_400,
  occurrences: 12,
  consumeMissed: false,
  executed: 0,
  last: null,
  createdBy: 'key_1',
  createdAt: new Date('2027-01-01T00:00:00Z'),
  changedBy: null,
  changedAt: null,
}
// In the window of cycle 2: 28 February.
const OPEN = '2027-02-28T08:00:00.000Z'
const GOOD: ActionAmounts = {
  action_type: null,
  amount: '100',
  currency: 'EUR',
  counterparty: 'Landlord',
  instrument: null,
  malformed: [],
  contradicted: {},
}

interface Given {
  row?: Partial<ScheduleRow>
  action?: Partial<ActionAmounts>
  at?: string
  prior?: PriorExecution
}
const factsOf = (row: Partial<ScheduleRow> = {}, at = OPEN) => scheduleFactsOf({ ...ROW, ...row }, new Date(at))
const reasonOf = ({ row, action, at = OPEN, prior = 'none' }: Given = {}) =>
  judgeSchedule(factsOf(row, at), { ...GOOD, ...action }, { at, prior })?.reason ?? null

// What makes each reason true by itself. Of the last two, what a person did and what time did.
const CAUSES: Record<(typeof SCHEDULE_REASONS)[number], Given[]> = {
  schedule_counterparty_mismatch: [{ action: { counterparty: 'Other' } }, { action: { counterparty: null } }],
  schedule_amount_exceeded: [{ action: { amount: '100.01' } }, { action: { amount: null } }],
  schedule_already_executed: [{ row: { last: { cycle: 2, jti: 'jti_2', at: OPEN }, executed: 1 } }],
  schedule_occurrences_exhausted: [
    { row: { status: 'cancelled' } },
    { row: { executed: 12, last: { cycle: 1, jti: 'j', at: OPEN } } },
  ],
  schedule_window_missed: [
    { row: { status: 'paused' } },
    { at: '2027-03-05T00:00:00.000Z' },
    { at: '2027-01-30T00:00:00.000Z' },
  ],
}

describe('a schedule', () => {
  it('allows the action in the window of a cycle', () => {
    expect(reasonOf()).toBeNull()
    expect(reasonOf({ row: { last: { cycle: 1, jti: 'jti_2', at: OPEN }, executed: 1 } })).toBeNull()
  })

  it('gives each reason for each of its causes', () => {
    for (const [reason, causes] of Object.entries(CAUSES)) {
      for (const cause of causes) expect([reason, reasonOf(cause)]).toEqual([reason, reason])
    }
  })

  it('gives the first reason in the published order where two are true', () => {
    for (const [index, first] of SCHEDULE_REASONS.entries()) {
      for (const second of SCHEDULE_REASONS.slice(index + 1)) {
        for (const one of CAUSES[first]) {
          for (const other of CAUSES[second]) {
            if (isContradiction(one, other)) continue
            const row = { ...one.row, ...other.row, ...(one.row?.last && { last: one.row.last }) }
            const both = { row, action: { ...one.action, ...other.action }, at: other.at ?? one.at ?? OPEN }
            expect([first, second, reasonOf(both)]).toEqual([first, second, first])
          }
        }
      }
    }
  })

  it('compares amounts exactly, in its currency, and none that is missing, malformed or negative', () => {
    const amount = (payload: object, row: Partial<ScheduleRow> = {}) =>
      judgeSchedule(factsOf(row), actionAmountsOf({ counterparty: 'Landlord', ...payload }), {
        at: OPEN,
        prior: 'none',
      })?.reason ?? null
    const max = { amountType: 'max', amount: '100.1' } as const
    const refused = 'schedule_amount_exceeded'
    expect(amount({ amount: 100, currency: 'EUR' })).toBeNull()
    expect(amount({ amount: '100.0000', currency: 'EUR' })).toBeNull()
    expect(amount({ amount: 99.99, currency: 'EUR' })).toBe(refused)
    expect(amount({ amount: '100.0001', currency: 'EUR' })).toBe(refused)
    expect(amount({ amount: '100.1', currency: 'EUR' }, max)).toBeNull()
    expect(amount({ amount: '0', currency: 'EUR' }, max)).toBeNull()
    expect(amount({ amount: '100.1001', currency: 'EUR' }, max)).toBe(refused)
    expect(amount({ amount: '-1', currency: 'EUR' }, max)).toBe(refused)
    expect(amount({ amount: '1', currency: 'USD' }, max)).toBe(refused)
    expect(amount({ amount: '1' }, max)).toBe(refused)
    expect(amount({ currency: 'EUR' }, max)).toBe(refused)
    expect(amount({ amount: [1], currency: 'EUR' }, max)).toBe(refused)
    // The same amount at another place contradicts.
    expect(amount({ amount: '1', transaction_amount: '200', currency: 'EUR' }, max)).toBe(refused)
  })

  it('opens a cycle at its occurrence and closes it with its window, or with the next cycle', () => {
    const missed = 'schedule_window_missed'
    expect(reasonOf({ at: '2027-01-31T07:59:59.999Z' })).toBe(missed)
    expect(reasonOf({ at: '2027-01-31T08:00:00.000Z' })).toBeNull()
    expect(reasonOf({ at: '2027-02-01T07:59:59.999Z' })).toBeNull()
    expect(reasonOf({ at: '2027-02-01T08:00:00.000Z' })).toBe(missed)
    const wide = { windowSeconds: 31_622_400, last: { cycle: 2, jti: 'jti_2', at: OPEN }, executed: 1 }
    expect(factsOf(wide).cycle).toEqual({ number: 2, opens_at: OPEN, closes_at: '2027-03-31T07:00:00.000Z' })
    expect(reasonOf({ row: wide, at: '2027-03-31T06:59:59.999Z' })).toBe('schedule_already_executed')
    expect(reasonOf({ row: wide, at: '2027-03-31T07:00:00.000Z' })).toBeNull()
  })

  it('counts missed cycles only where it is told to', () => {
    const late = '2027-03-05T00:00:00.000Z'
    const twoOf = (row: Partial<ScheduleRow>) => ({ occurrences: 2, ...row })
    expect(factsOf(twoOf({}), late)).toMatchObject({ used: 0, cycle: { number: 2 } })
    expect(reasonOf({ row: twoOf({}), at: '2027-03-31T08:00:00.000Z' })).toBeNull()
    const counting = twoOf({ consumeMissed: true })
    expect(factsOf(counting, OPEN)).toMatchObject({ used: 1 })
    expect(reasonOf({ row: counting })).toBeNull()
    // The window of the last cycle is over, and so is the schedule.
    expect(factsOf(counting, late)).toMatchObject({ used: 2 })
    expect(reasonOf({ row: counting, at: late })).toBe('schedule_occurrences_exhausted')
    const executed = { ...counting, executed: 1, last: { cycle: 2, jti: 'jti_2', at: OPEN } }
    expect(factsOf(executed)).toMatchObject({ used: 2, executed_by: 'jti_2' })
    expect(factsOf(counting, '2027-01-01T00:00:00.000Z')).toMatchObject({ used: 0, cycle: null })
  })

  it('does not ask a retry for a cycle again, and asks it whether a person stopped the schedule', () => {
    const own = { executed: 12, last: { cycle: 2, jti: JTI, at: OPEN } }
    expect(reasonOf({ row: own, prior: 'same_attempt' })).toBeNull()
    expect(reasonOf({ row: own })).toBe('schedule_already_executed')
    // In a later cycle, which another token has executed.
    const later = { executed: 12, last: { cycle: 3, jti: 'jti_2', at: OPEN } }
    for (const at of ['2027-03-05T00:00:00.000Z', '2027-03-31T08:00:00.000Z']) {
      expect(reasonOf({ row: later, at, prior: 'same_attempt' })).toBeNull()
      expect(reasonOf({ row: later, at, prior: 'other_attempt' })).toBe('schedule_already_executed')
    }
    expect(reasonOf({ row: own, prior: 'other_attempt' })).toBe('schedule_already_executed')
    const retry = (row: Partial<ScheduleRow>) => reasonOf({ row: { ...own, ...row }, prior: 'same_attempt' })
    expect(retry({ status: 'paused' })).toBe('schedule_window_missed')
    expect(retry({ status: 'cancelled' })).toBe('schedule_occurrences_exhausted')
    expect(reasonOf({ row: own, action: { amount: '1' }, prior: 'same_attempt' })).toBe('schedule_amount_exceeded')
  })

  it('shows policies its attributes, and its state to readers', () => {
    const { attributes }: ScheduleFacts = factsOf({ executed: 3, last: { cycle: 1, jti: 'j', at: OPEN } })
    expect(attributes).toEqual({
      id: 'sch_1',
      status: 'active',
      counterparty: 'Landlord',
      amount_type: 'fixed',
      amount: '100',
      currency: 'EUR',
      frequency: 'monthly',
      timezone: 'Europe/Berlin',
      window_seconds: 86_400,
      occurrences: 12,
      used: 3,
      remaining: 9,
      cycle: 2,
      cycle_opens_at: OPEN,
      cycle_closes_at: '2027-03-01T08:00:00.000Z',
    })
    expect(statusOf({ status: 'paused', occurrences: 3 }, 3)).toBe('exhausted')
    expect(statusOf({ status: 'cancelled', occurrences: 3 }, 3)).toBe('cancelled')
  })
})

// Both set the state, or both the time: one of them would not be true.
function isContradiction(one: Given, other: Given): boolean {
  const members = [...Object.keys(one.row ?? {}), ...Object.keys(one)]
  const others = [...Object.keys(other.row ?? {}), ...Object.keys(other)]
  const isExecuted = one.row?.last !== undefined && (other.at !== undefined || other.row?.last !== undefined)
  return members.some((name) => ['status', 'at'].includes(name) && others.includes(name)) || isExecuted
}
