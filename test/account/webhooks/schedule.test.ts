import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { isHopeless, MAX_ATTEMPTS, nextDelayMs, WAITS_MS } from '#src/account/webhooks/schedule.ts'

interface Vectors {
  attempt_at_seconds: number[]
  delays: {
    name: string
    attempt: number
    random: number
    time_divisor: number
    retry_after_ms?: number
    delay_ms: number | null
  }[]
}
const vectors: Vectors = JSON.parse(
  readFileSync(new URL('../../../vectors/webhooks/schedule.json', import.meta.url), 'utf8'),
)

describe('the schedule', () => {
  it('tries ten times over 75 hours and 35 minutes', () => {
    let at = 0
    expect(WAITS_MS.map((wait) => (at += wait / 1_000))).toEqual(vectors.attempt_at_seconds)
    expect(MAX_ATTEMPTS).toBe(10)
  })

  it.each(vectors.delays)(
    '$name',
    ({ attempt, random, time_divisor: timeDivisor, retry_after_ms: retryAfterMs, delay_ms }) => {
      expect(nextDelayMs({ attempt, retryAfterMs, random: () => random, timeDivisor }) ?? null).toBe(delay_ms)
    },
  )
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
