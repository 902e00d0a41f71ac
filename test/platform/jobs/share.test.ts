import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { shareByAccount, shareFairly } from '#src/platform/jobs/fair-share.ts'

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

const owned = fc.uniqueArray(
  fc.record({ lane: fc.string({ minLength: 1 }), inFlight: fc.nat(8), account: fc.constantFrom('a', 'b', 'c', 'd') }),
  { selector: (lane) => lane.lane, maxLength: 60 },
)
const sumByAccount = (lanes: readonly { account: string; inFlight: number }[]) => {
  const sums = new Map<string, number>()
  for (const { account, inFlight } of lanes) sums.set(account, (sums.get(account) ?? 0) + inFlight)
  return sums
}

describe('shareByAccount', () => {
  it('leaves an account that was given a job no more in flight than the room that is left to others', () => {
    fc.assert(
      fc.property(owned, fc.nat(600), fc.integer({ min: 1, max: 40 }), (lanes, room, cap) => {
        const before = sumByAccount(lanes)
        const quotas = shareByAccount(lanes, before, room, cap)
        const left = room - quotas.reduce((sum, { take }) => sum + take, 0)
        expect(left).toBeGreaterThanOrEqual(0)
        const takes = new Map(quotas.map(({ lane, take }) => [lane, take]))
        const after = sumByAccount(
          lanes.map((lane) => ({ account: lane.account, inFlight: lane.inFlight + (takes.get(lane.lane) ?? 0) })),
        )
        for (const [account, inFlight] of after) {
          if (inFlight > (before.get(account) ?? 0)) expect(inFlight).toBeLessThanOrEqual(left + 1)
        }
        for (const { lane, inFlight } of lanes) {
          const take = takes.get(lane) ?? 0
          if (take > 0) expect(inFlight + take).toBeLessThanOrEqual(cap)
        }
      }),
    )
  })

  it('serves an account with nothing in flight while any room is left', () => {
    fc.assert(
      fc.property(owned, fc.integer({ min: 1, max: 600 }), (lanes, room) => {
        const newcomer = { lane: '', account: 'newcomer', inFlight: 0 }
        const quotas = shareByAccount([...lanes, newcomer], sumByAccount(lanes), room, 8)
        const others = lanes.filter(({ inFlight }) => inFlight === 0).length
        if (room > others) expect(quotas.find(({ lane }) => lane === '')?.take).toBeGreaterThan(0)
      }),
    )
  })

  it('gives one account half of the room, and two a third each', () => {
    const lanesOf = (account: string) =>
      Array.from({ length: 40 }, (_, index) => ({ lane: `${account}${index}`, account, inFlight: 0 }))
    const sum = (quotas: readonly { take: number }[]) => quotas.reduce((total, { take }) => total + take, 0)
    expect(sum(shareByAccount(lanesOf('a'), new Map(), 256, 8))).toBe(128)
    expect(sum(shareByAccount([...lanesOf('a'), ...lanesOf('b')], new Map(), 256, 8))).toBe(171)
    expect(sum(shareByAccount(lanesOf('a'), new Map([['a', 128]]), 128, 8))).toBe(0)
  })
})
