import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { shareOf, takeToken } from '#src/platform/limits/tokens.ts'

const rates = fc.record({ perSecond: fc.integer({ min: 1, max: 5_000 }), burst: fc.integer({ min: 1, max: 2_000 }) })
// Also steps back: a clock that is set.
const steps = fc.array(fc.integer({ min: 0, max: 400 }), { maxLength: 300 })

describe('a token bucket', () => {
  it('grants its burst at once, and then as many as its rate', () => {
    const rate = { perSecond: 10, burst: 20 }
    let used = 0
    const takeAt = (at: number) => {
      const taken = takeToken(used, at, rate)
      used = taken.usedUntilMs
      return taken
    }
    for (let left = 19; left >= 0; left -= 1) expect(takeAt(1_000)).toMatchObject({ isGranted: true, remaining: left })
    expect(takeAt(1_000)).toMatchObject({ isGranted: false, remaining: 0, refillMs: 100 })
    expect(takeAt(1_099)).toMatchObject({ isGranted: false, refillMs: 1 })
    expect(takeAt(1_100)).toMatchObject({ isGranted: true, remaining: 0, refillMs: 100 })
    expect(takeAt(60_000)).toMatchObject({ isGranted: true, remaining: 19, refillMs: 0 })
  })

  it('never grants more than burst + rate x time, in any interval', () => {
    fc.assert(
      fc.property(rates, steps, (rate, waits) => {
        let [used, at] = [0, 1_000_000]
        const granted: number[] = []
        for (const wait of waits) {
          at += wait
          const taken = takeToken(used, at, rate)
          used = taken.usedUntilMs
          if (taken.isGranted) granted.push(at)
        }
        for (const [first, from] of granted.entries()) {
          for (let last = first; last < granted.length; last += 1) {
            const seconds = ((granted[last] ?? 0) - from) / 1_000
            expect(last - first + 1).toBeLessThanOrEqual(rate.burst + rate.perSecond * seconds + 1e-6)
          }
        }
      }),
      { numRuns: 40 },
    )
  })

  it('is empty, and not more, after its clock went back or its rate was lowered', () => {
    const rate = { perSecond: 10, burst: 20 }
    expect(takeToken(9_000_000, 1_000, rate)).toMatchObject({ isGranted: false, refillMs: 100 })
  })

  it('is divided among processes so that together they grant no more, but each at least one at a time', () => {
    fc.assert(
      fc.property(rates, fc.integer({ min: 1, max: 64 }), (rate, processes) => {
        const share = shareOf(rate, processes)
        expect(share.perSecond * processes).toBeCloseTo(rate.perSecond)
        expect(share.burst).toBeGreaterThanOrEqual(1)
        if (rate.burst >= processes) expect(share.burst * processes).toBeLessThanOrEqual(rate.burst)
      }),
    )
  })
})
