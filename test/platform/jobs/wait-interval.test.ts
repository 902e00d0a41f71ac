import { randomUUID } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createUsualTime, minGapMs, nextIntervalMs } from '#src/platform/jobs/wait-interval.ts'
import { createWaiters, type Waiters } from '#src/platform/jobs/waiters.ts'

describe('the interval between reads for waiting callers', () => {
  it('grows by a quarter up to 100 ms, and up to a second while a thousand wait', () => {
    expect(nextIntervalMs(4, 1)).toBe(5)
    expect(nextIntervalMs(90, 1)).toBe(100)
    expect(nextIntervalMs(900, 1_000)).toBe(1_000)
  })

  it('leaves a gap that grows with the number of callers', () => {
    expect(minGapMs(0)).toBe(3)
    expect(minGapMs(1_000)).toBeGreaterThanOrEqual(25)
  })

  it('begins at the median of the last times, whatever the longest were, within bounds', () => {
    const usual = createUsualTime()
    const start = usual.ms()
    usual.add(Number.NaN)
    expect(usual.ms()).toBe(start)
    for (const ms of [8, 60_000, 9, 7, 8]) usual.add(ms)
    expect(usual.ms()).toBe(8)
    for (let count = 0; count < 40; count += 1) usual.add(60_000)
    expect(usual.ms()).toBe(25)
    for (let count = 0; count < 40; count += 1) usual.add(0)
    expect(usual.ms()).toBe(3)
  })
})

describe('reads for waiting callers', () => {
  let waiters: Waiters
  let report: (ids: readonly string[]) => void
  /** When each statement was sent, and for how many jobs. */
  let reads: { at: number; jobs: number }[]
  let ended: { id: string; tookMs: number }[]

  beforeEach(() => {
    vi.useFakeTimers({
      toFake: ['setTimeout', 'clearTimeout', 'setImmediate', 'clearImmediate', 'performance'],
      now: 0,
    })
    reads = []
    ended = []
    report = () => {
      throw new Error('nothing subscribed')
    }
    waiters = createWaiters({
      db: {
        async readSystem<Row>(_: string, statement: () => { values: readonly unknown[] }) {
          const ids = statement().values[0] as string[]
          reads.push({ at: Math.round(performance.now()), jobs: ids.length })
          return ended.filter(({ id }) => ids.includes(id)) as Row[]
        },
      },
      reports: {
        subscribe(onSettled) {
          report = onSettled
        },
      },
    })
  })
  afterEach(() => {
    waiters.close()
    vi.useRealTimers()
  })
  const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms)
  const times = () => reads.map(({ at }) => at)

  it('come first at the usual time, then after 3 ms and ever later', async () => {
    void waiters.settled(randomUUID(), 60_000)
    await pass(30)
    // The timers of the test drop fractions.
    expect(times().slice(0, 5)).toEqual([12, 15, 18, 22, 27])
    await pass(10_000)
    const late = times().slice(-10)
    for (const [index, at] of late.slice(1).entries()) expect(at - (late[index] ?? 0)).toBe(100)
  })

  it('follow the usual time of the jobs that ended', async () => {
    const ids = Array.from({ length: 31 }, () => randomUUID())
    ended = ids.map((id) => ({ id, tookMs: 7 }))
    await Promise.all([...ids.map((id) => waiters.settled(id, 1_000)), pass(40)])
    const since = performance.now()
    reads = []
    void waiters.settled(randomUUID(), 60_000)
    await pass(10)
    expect(times().map((at) => at - since)).toEqual([7, 10])
  })

  it('come at once for a job that was reported, and never again for the same report', async () => {
    const id = randomUUID()
    const waiting = waiters.settled(id, 60_000)
    await pass(10_000)
    reads = []
    ended = [{ id, tookMs: 10_000 }]
    await pass(37)
    report([randomUUID(), id])
    await pass(0)
    expect(await waiting).toBe(true)
    expect(reads).toHaveLength(1)
  })

  it('are one more at most, however often a job is falsely reported', async () => {
    void waiters.settled(randomUUID(), 60_000)
    const id = randomUUID()
    let isAnswered = false
    const waiting = waiters.settled(id, 60_000).finally(() => {
      isAnswered = true
    })
    await pass(10_000)
    reads = []
    for (let count = 0; count < 50; count += 1) {
      report([id, 'no id', ''])
      await pass(1)
    }
    expect(isAnswered).toBe(false)
    expect(reads.length).toBeLessThanOrEqual(2)
    ended = [{ id, tookMs: 1 }]
    await pass(200)
    expect(await waiting).toBe(true)
  })

  it('stay below 40 statements per second and two thousand jobs per second while a thousand wait', async () => {
    for (let count = 0; count < 1_000; count += 1) {
      void waiters.settled(randomUUID(), 600_000)
      await pass(7)
    }
    reads = []
    await pass(10_000)
    expect(reads.length).toBeLessThanOrEqual(400)
    expect(reads.reduce((sum, { jobs }) => sum + jobs, 0)).toBeLessThanOrEqual(20_000)
  })
})
