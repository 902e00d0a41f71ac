import { randomBytes } from 'node:crypto'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { createGuesses } from '#src/platform/limits/guesses.ts'
import { type BucketState, createLimiter, type Limiter } from '#src/platform/limits/limiter.ts'
import { createSharedBuckets, type SharedBuckets } from '#src/platform/limits/shared-buckets.ts'
import { type Relay, startRelay } from '../../../faults/proxy.ts'
import { until } from '../../support/until.ts'

const redisUrl = inject('redisUrl') ?? ''
const prefix = `t${randomBytes(4).toString('hex')}`
const nameOf = () => randomBytes(6).toString('hex')

/** How many of `count` requests at once are granted. */
async function rush(limiter: Limiter, bucket: Parameters<Limiter['take']>[0], count: number): Promise<number> {
  const states = await Promise.all(Array.from({ length: count }, () => limiter.take(bucket)))
  return states.filter(({ isGranted }) => isGranted).length
}

describe('a limiter without Redis', () => {
  it('grants the share of one process', async () => {
    let processes = 1
    const limiter = createLimiter({ processes: () => processes, now: () => 1_000 })
    const rate = { perSecond: 10, burst: 20 }
    expect(await rush(limiter, { key: 'alone', rate }, 50)).toBe(20)
    processes = 4
    expect(await rush(limiter, { key: 'one of four', rate }, 50)).toBe(5)
  })

  it('keeps a bounded number of buckets, whatever strangers send', () => {
    const limiter = createLimiter({ maxEntries: 1_000 })
    const rate = { perSecond: 5, burst: 20 }
    for (let stranger = 0; stranger < 20_000; stranger += 1) void limiter.take({ key: `address:${stranger}`, rate })
    expect(limiter.size()).toBe(1_000)
  })
})

describe.skipIf(redisUrl === '')('limiters that share Redis', () => {
  const opened: SharedBuckets[] = []
  let relay: Relay
  let redis: Redis

  beforeAll(async () => {
    redis = new Redis(redisUrl)
    relay = await startRelay([Number(new URL(redisUrl).port)])
  })
  afterAll(() => {
    for (const shared of opened) shared.close()
    redis.disconnect()
    relay.close()
  })

  async function share(options: { url?: string; timeoutMs?: number } = {}): Promise<SharedBuckets> {
    // A machine that is busy for seconds is no reason to count alone.
    const shared = createSharedBuckets({ redisUrl: options.url ?? redisUrl, prefix, timeoutMs: 20_000, ...options })
    opened.push(shared)
    await shared.connect()
    await until(() => shared.isHere())
    return shared
  }

  it('grant exactly the burst of one bucket to all of them at once', async () => {
    // A refill that takes longer than the test.
    const bucket = { key: nameOf(), rate: { perSecond: 0.001, burst: 20 } }
    const limiters = await Promise.all([1, 2, 3].map(async () => createLimiter({ shared: await share() })))
    const granted = await Promise.all(limiters.map((limiter) => rush(limiter, bucket, 50)))
    expect(granted.reduce((sum, one) => sum + one)).toBe(20)
  })

  it.each([
    { perSecond: 20, burst: 10 },
    { perSecond: 500, burst: 100 },
  ])('never grant more than burst + rate x time together, at $perSecond a second', async (rate) => {
    const bucket = { key: nameOf(), rate }
    const limiters = await Promise.all([1, 2].map(async () => createLimiter({ shared: await share() })))
    const grantedAt: number[] = []
    let lastRefusal: BucketState | undefined
    const startedAt = performance.now()
    const enough = rate.burst + rate.perSecond
    const send = async (limiter: Limiter) => {
      while (grantedAt.length < enough) {
        const state = await limiter.take(bucket)
        if (state.isGranted) grantedAt.push(performance.now())
        else lastRefusal = state
        await new Promise(setImmediate)
      }
    }
    await Promise.all(limiters.flatMap((limiter) => Array.from({ length: 8 }, () => send(limiter))))
    for (const [index, at] of grantedAt.entries()) {
      expect(index + 1).toBeLessThanOrEqual(rate.burst + (rate.perSecond * (at - startedAt)) / 1_000)
    }
    expect(lastRefusal).toMatchObject({ remaining: 0 })
    expect(lastRefusal?.refillMs).toBeLessThanOrEqual(1_000 / rate.perSecond)
  })

  it('ask Redis for few of the requests to a busy bucket', async () => {
    const shared = await share()
    let questions = 0
    const limiter = createLimiter({
      shared: {
        isHere: shared.isHere,
        take(...asked) {
          questions += 1
          return shared.take(...asked)
        },
      },
      // Leases don't end while a busy machine waits.
      now: () => 1_000,
    })
    const bucket = { key: nameOf(), rate: { perSecond: 5_000, burst: 10_000 } }
    for (let request = 0; request < 2_000; request += 1) {
      expect((await limiter.take(bucket)).isGranted).toBe(true)
    }
    expect(questions).toBeLessThan(200)
  })

  it('charge a lent token when its lease ends, so that the bucket is not refilled in the meantime', async () => {
    const shared = await share()
    const [key, rate] = [nameOf(), { perSecond: 100, burst: 100 }]
    // In one turn, and so within a moment of Redis's clock.
    const [first, second] = await Promise.all([
      shared.take(key, rate, { need: 0, extra: 10, back: 0 }),
      shared.take(key, rate, { need: 0, extra: 0, back: 0 }),
    ])
    expect(first.lent).toBe(10)
    // 10 are lent, and 10 would be refilled until the lease ends.
    expect(second.remaining).toBeLessThan(90)
  })

  it('get back lent tokens that were not used, and never hold more than the burst', async () => {
    const shared = await share()
    const [key, rate] = [nameOf(), { perSecond: 0.001, burst: 100 }]
    const { remaining } = await shared.take(key, rate, { need: 20, extra: 10, back: 0 })
    expect(await shared.take(key, rate, { need: 0, extra: 0, back: 10 })).toMatchObject({ remaining: remaining + 10 })
    expect(await shared.take(key, rate, { need: 0, extra: 0, back: 50 })).toMatchObject({ remaining: 100 })
  })

  it('give unused tokens back with the next question', async () => {
    const shared = await share()
    const [lent, back]: [number[], number[]] = [[], []]
    let at = 1_000
    const limiter = createLimiter({
      shared: {
        isHere: shared.isHere,
        async take(key, rate, wanted) {
          const taken = await shared.take(key, rate, wanted)
          lent.push(taken.lent)
          back.push(wanted.back)
          return taken
        },
      },
      now: () => at,
    })
    const bucket = { key: nameOf(), rate: { perSecond: 100, burst: 1_000 } }
    expect(await rush(limiter, bucket, 50)).toBe(50)
    expect(await rush(limiter, bucket, 3)).toBe(3)
    at += 10_000
    await limiter.take(bucket)
    expect([lent[0], back]).toEqual([10, [0, 7]])
  })

  it('leave no key in Redis when the bucket is full again', async () => {
    const shared = await share()
    const key = nameOf()
    await shared.take(key, { perSecond: 1_000, burst: 1_000 }, { need: 5, extra: 0, back: 0 })
    await until(async () => (await redis.exists(`${prefix}:limits:${key}`)) === 0)
  })

  it('count alone at their share while Redis is away, and together when it is back; no request fails', async () => {
    const away: Error[] = []
    const shared = createSharedBuckets({
      redisUrl: `redis://127.0.0.1:${relay.port}`,
      prefix,
      onAway: (error) => away.push(error),
    })
    opened.push(shared)
    await shared.connect()
    await until(() => shared.isHere())
    const limiter = createLimiter({ shared, processes: () => 2, now: () => 1_000 })
    const guesses = createGuesses({ perSecond: 8, shared, prefix, processes: () => 2 })
    const rate = { perSecond: 0.001, burst: 20 }
    for (const fail of ['stall', 'cut'] as const) {
      const bucket = { key: nameOf(), rate }
      relay[fail]()
      // The requests that find Redis silent wait for it, and get their answers all the same.
      expect(await rush(limiter, bucket, 50), fail).toBeLessThanOrEqual(20)
      await until(() => !shared.isHere())
      expect(await rush(limiter, { key: nameOf(), rate }, 50), fail).toBe(10)
      const waits = await Promise.all(Array.from({ length: 8 }, () => guesses.count(fail)))
      expect(waits.filter((ms) => ms > 0).length, fail).toBeGreaterThanOrEqual(4)
      relay.restore()
      await until(() => shared.isHere())
      expect(await rush(limiter, { key: nameOf(), rate }, 50), fail).toBe(20)
    }
    expect(away.length).toBeGreaterThan(0)
  })
})
