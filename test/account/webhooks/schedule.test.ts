import { describe, expect, it } from 'vitest'
import { isHopeless, MAX_ATTEMPTS } from '#src/account/webhooks/schedule.ts'

it('the schedule has ten attempts', () => {
  expect(MAX_ATTEMPTS).toBe(10)
})

describe('an endpoint', () => {
  const now = new Date('2026-11-20T16:00:00Z')
  const daysAgo = (days: number) => new Date(now.getTime() - days * 86_400_000)

  it.each([
    [20, 5, true],
    [1_000, 30, true],
    [19, 30, false],
    [1_000, 4.999, false],
    [0, 0, false],
  ])('with %i failures over %d days is disabled: %s', (consecutiveFailures, days, expected) => {
    expect(isHopeless({ consecutiveFailures, firstFailureAt: daysAgo(days), now })).toBe(expected)
  })
})
