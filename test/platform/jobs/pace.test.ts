import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  idlePauseMs,
  nextPauseMs,
  PAUSE_BUSY_MS,
  PAUSE_IDLE_MS,
  PAUSE_MS,
  PAUSE_SLOW_MS,
  type Round,
} from '#src/platform/jobs/poll-interval.ts'

/** Intervals of a dispatcher whose every round finds the same. */
function pauses(round: Round, times: number, from = PAUSE_MS): number[] {
  const found: number[] = []
  for (let pauseMs = from; found.length < times; found.push(pauseMs)) pauseMs = nextPauseMs(pauseMs, round)
  return found
}

describe('the poll interval of a dispatcher', () => {
  it('stays within its bounds, whatever a round finds', () => {
    const round = fc.record({ count: fc.nat(500), free: fc.integer({ min: -100, max: 500 }), window: fc.nat(500) })
    fc.assert(
      fc.property(fc.array(round, { maxLength: 50 }), (rounds) => {
        let pauseMs = PAUSE_MS
        for (const one of rounds) {
          pauseMs = nextPauseMs(pauseMs, one)
          expect(pauseMs).toBeGreaterThanOrEqual(PAUSE_BUSY_MS)
          expect(pauseMs).toBeLessThanOrEqual(PAUSE_IDLE_MS)
        }
      }),
    )
  })

  it('is short at once while workers empty the window faster than it is filled', () => {
    expect(pauses({ count: 100, free: 100, window: 100 }, 3, PAUSE_IDLE_MS)).toEqual([8, 4, 2])
  })

  it('shrinks as workers take jobs from a full window, and grows as they take none', () => {
    const busy = { count: 60, free: 60, window: 100 }
    const steady = { count: 30, free: 30, window: 100 }
    const full = { count: 0, free: 0, window: 100 }
    expect(nextPauseMs(10, busy)).toBeLessThan(10)
    expect(nextPauseMs(10, steady)).toBe(10)
    expect(nextPauseMs(2, full)).toBe(3)
    expect(pauses(full, 20, 2).at(-1)).toBe(PAUSE_IDLE_MS)
    // One job of a full window ended: the interval does not become that of an idle service.
    expect(nextPauseMs(PAUSE_IDLE_MS, { count: 1, free: 1, window: 100 })).toBe(PAUSE_MS)
  })

  it('is short while jobs end that leave most of the window free, because their lanes are at their caps', () => {
    // 350 in flight, of which 100 are new.
    expect(nextPauseMs(PAUSE_MS, { count: 100, free: 774, window: 1_024 })).toBe(8)
    expect(nextPauseMs(PAUSE_MS, { count: 300, free: 974, window: 1_024 })).toBe(2)
    expect(nextPauseMs(PAUSE_MS, { count: 2, free: 1_024, window: 1_024 })).toBe(PAUSE_MS)
  })

  it('grows while workers end few of the many jobs that they have', () => {
    const ended = (count: number) => ({ count, free: 50 + count, window: 128 })
    expect(pauses(ended(2), 5).at(-1)).toBe(PAUSE_SLOW_MS)
    expect(nextPauseMs(40, ended(4))).toBeCloseTo(78)
    // With a tenth of them in each round it stays as it is, and soon shrinks with more.
    expect(nextPauseMs(60, { count: 10, free: 38, window: 128 })).toBeCloseTo(60)
    expect(pauses(ended(14), 9, PAUSE_SLOW_MS).at(-1)).toBe(PAUSE_MS)
    // A few jobs, of workers with room for many more.
    expect(pauses({ count: 1, free: 120, window: 128 }, 9).at(-1)).toBe(PAUSE_MS)
  })

  it('is long for an idle service, and delays a trickle of jobs only briefly', () => {
    const empty = { count: 0, free: 100, window: 100 }
    expect(pauses(empty, 20).at(-1)).toBe(PAUSE_IDLE_MS)
    expect(nextPauseMs(PAUSE_IDLE_MS, { count: 1, free: 100, window: 100 })).toBe(PAUSE_MS)
    expect(pauses({ count: 0, free: 0, window: 0 }, 20).at(-1)).toBe(PAUSE_IDLE_MS)
    // What comes within a third of a second after the last job waits for one of these.
    const lingering = pauses(empty, 9)
    expect(Math.max(...lingering)).toBeLessThan(1.6 * PAUSE_MS)
    expect(lingering.reduce((sum, pause) => sum + pause)).toBeGreaterThan(250)
  })

  it('lets idle queues be asked about half as often once nothing was due for ten seconds', () => {
    expect([0, 9_999, 10_000].map(idlePauseMs)).toEqual([PAUSE_IDLE_MS, PAUSE_IDLE_MS, 2 * PAUSE_IDLE_MS])
  })
})
