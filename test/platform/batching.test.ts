import pg from 'pg'
import { describe, expect, it } from 'vitest'
import { createBatcher } from '#src/platform/batching.ts'

describe('a batcher', () => {
  it('runs items together that came together, one run at a time, and returns each its own result', async () => {
    const runs: number[][] = []
    let running = 0
    const join = createBatcher<number, string>({
      async run(items) {
        running += 1
        expect(running).toBe(1)
        runs.push([...items])
        await new Promise(setImmediate)
        running -= 1
        return items.map(String)
      },
    })
    const first = [1, 2, 3].map(join)
    await new Promise(setImmediate)
    const second = [4, 5].map(join)
    expect(await Promise.all([...first, ...second])).toEqual(['1', '2', '3', '4', '5'])
    expect(runs).toEqual([
      [1, 2, 3],
      [4, 5],
    ])
    expect(await join(6)).toBe('6')
  })

  it('pauses after a run of several items, so that the next has more, and never after one', async () => {
    const runs: number[][] = []
    const startedAt: number[] = []
    const join = createBatcher<number, number>({
      pauseMs: 200,
      async run(items) {
        startedAt.push(performance.now())
        runs.push([...items])
        return items
      },
    })
    await join(1)
    await join(2)
    await Promise.all([3, 4].map(join))
    const fifth = join(5)
    await new Promise(setImmediate)
    await Promise.all([fifth, join(6)])
    expect(runs).toEqual([[1], [2], [3, 4], [5, 6]])
    const [, , several = 0, next = 0] = startedAt
    // Timers count whole milliseconds, so they end up to two early. Without the pause it would be a few.
    expect(next - several).toBeGreaterThan(150)
  })

  it('separates keys, and runs them concurrently', async () => {
    const runs: string[][] = []
    let release = () => {}
    const held = new Promise<void>((done) => {
      release = done
    })
    const join = createBatcher<string, string>({
      keyOf: (item) => item.slice(0, 1),
      async run(items) {
        runs.push([...items])
        if (items[0] === 'a1') await held
        return items
      },
    })
    const slow = join('a1')
    expect(await Promise.all(['b1', 'b2'].map(join))).toEqual(['b1', 'b2'])
    release()
    expect(await slow).toBe('a1')
    expect(runs).toEqual([['a1'], ['b1', 'b2']])
  })

  it('fails all items of a failed run, or retries each alone', async () => {
    const run = async (items: readonly number[]) => {
      if (items.includes(2)) throw new Error('two')
      return items
    }
    const together = createBatcher({ run })
    expect((await Promise.allSettled([1, 2, 3].map(together))).map(({ status }) => status)).toEqual([
      'rejected',
      'rejected',
      'rejected',
    ])
    const split = createBatcher({ run, isSplitOnFailure: true })
    expect((await Promise.allSettled([1, 2, 3].map(split))).map(({ status }) => status)).toEqual([
      'fulfilled',
      'rejected',
      'fulfilled',
    ])
    expect(await split(4)).toBe(4)
  })

  it.each([
    ['a lock timeout', Object.assign(new Error('canceling statement due to lock timeout'), { code: '55P03' })],
    ['a wait for a connection', new Error('timeout exceeded when trying to connect')],
    ['a refused connection', Object.assign(new Error('connect'), { code: 'ECONNREFUSED' })],
    [
      'a connection that was cut',
      Object.assign(new pg.DatabaseError('terminating connection', 1, 'error'), { code: '57P01' }),
    ],
  ])('does not retry items alone after %s: each would wait for the same again', async (_, failure) => {
    let runs = 0
    const split = createBatcher<number, number>({
      isSplitOnFailure: true,
      async run() {
        runs += 1
        throw failure
      },
    })
    const settled = await Promise.allSettled([1, 2, 3].map(split))
    expect(settled.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
    expect(runs).toBe(1)
  })

  it('rejects a run that returns fewer results than items', async () => {
    const join = createBatcher<number, number>({ run: async () => [] })
    await expect(join(1)).rejects.toThrow('0 results')
  })
})
