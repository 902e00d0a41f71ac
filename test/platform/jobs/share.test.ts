import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { shareFairly } from '#src/platform/jobs/fair-share.ts'

const lanes = fc.uniqueArray(fc.record({ lane: fc.string({ minLength: 1 }), inFlight: fc.nat(50) }), {
  selector: (lane) => lane.lane,
  maxLength: 30,
})

describe('shareFairly', () => {
  it('never sends more than the free capacity, nor more of a lane than its cap', () => {
    fc.assert(
      fc.property(lanes, fc.nat(200), fc.integer({ min: 1, max: 40 }), (given, capacity, cap) => {
        const quotas = shareFairly(given, capacity, cap)
        expect(quotas.reduce((sum, { take }) => sum + take, 0)).toBeLessThanOrEqual(capacity)
        for (const { lane, take } of quotas) {
          expect(take).toBeGreaterThan(0)
          const before = given.find((entry) => entry.lane === lane)?.inFlight ?? 0
          expect(before + take).toBeLessThanOrEqual(cap)
        }
      }),
    )
  })

  it('uses the whole capacity while a lane is below its cap', () => {
    fc.assert(
      fc.property(lanes, fc.nat(200), fc.integer({ min: 1, max: 40 }), (given, capacity, cap) => {
        const open = given.reduce((sum, { inFlight }) => sum + Math.max(0, cap - inFlight), 0)
        const sent = shareFairly(given, capacity, cap).reduce((sum, { take }) => sum + take, 0)
        expect(sent).toBe(Math.min(capacity, open))
      }),
    )
  })

  it('gives a lane nothing while another that it serves has less in flight', () => {
    fc.assert(
      fc.property(lanes, fc.nat(200), (given, capacity) => {
        const quotas = new Map(shareFairly(given, capacity, 1_000).map(({ lane, take }) => [lane, take]))
        const after = given.map(({ lane, inFlight }) => ({
          level: inFlight + (quotas.get(lane) ?? 0),
          take: quotas.get(lane) ?? 0,
        }))
        const lowest = Math.min(...after.map(({ level }) => level))
        for (const { level, take } of after) if (take > 0) expect(level).toBeLessThanOrEqual(lowest + 1)
      }),
    )
  })
})
