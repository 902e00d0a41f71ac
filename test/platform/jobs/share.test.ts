import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { BULK_EVERY, bulkTurnsOf, countTurns, shareByAccount, shareFairly } from '#src/platform/jobs/fair-share.ts'

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

describe('turns of bulk jobs', () => {
  /** What one round takes of the jobs that wait, as dispatch does. */
  const takeRound = (sinceBulk: number, take: number, waiting: { interactive: number; bulk: number }) => {
    const kept = Math.min(bulkTurnsOf(sinceBulk, take), waiting.bulk)
    const interactive = Math.min(take - kept, waiting.interactive)
    const taken = { interactive, bulk: Math.min(take - interactive, waiting.bulk) }
    return { taken, sinceBulk: countTurns(sinceBulk, taken) }
  }
  const rounds = fc.array(fc.integer({ min: 1, max: 40 }), { maxLength: 60 })
  const MANY = { interactive: 10_000, bulk: 10_000 }

  it('are one in eight while both wait, however few jobs each round takes', () => {
    fc.assert(
      fc.property(rounds, fc.nat(BULK_EVERY - 1), (takes, before) => {
        let sinceBulk = before
        let turns = 0
        let bulk = 0
        for (const take of takes) {
          const round = takeRound(sinceBulk, take, MANY)
          expect(round.taken.interactive + round.taken.bulk).toBe(take)
          sinceBulk = round.sinceBulk
          turns += take
          bulk += round.taken.bulk
          expect(bulk).toBe(Math.floor((before + turns) / BULK_EVERY))
        }
      }),
    )
  })

  it('are all turns that interactive jobs leave, and none without bulk jobs', () => {
    fc.assert(
      fc.property(
        fc.nat(BULK_EVERY - 1),
        fc.integer({ min: 1, max: 40 }),
        fc.nat(40),
        fc.nat(40),
        (since, take, interactive, bulk) => {
          const { taken, sinceBulk } = takeRound(since, take, { interactive, bulk })
          expect(taken.interactive + taken.bulk).toBe(Math.min(take, interactive + bulk))
          // Seven turns in eight are left to interactive jobs.
          expect(taken.interactive).toBeGreaterThanOrEqual(Math.min(interactive, take - bulkTurnsOf(since, take)))
          expect(sinceBulk).toBeGreaterThanOrEqual(0)
          expect(sinceBulk).toBeLessThan(BULK_EVERY)
        },
      ),
    )
  })
})
