import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Failure } from '#src/failure.ts'
import { createFairSemaphore, type FairSemaphoreOptions } from '#src/platform/fair-semaphore.ts'

const make = (options: Partial<FairSemaphoreOptions> = {}) =>
  createFairSemaphore({
    slots: 1,
    slotsEach: 1,
    maxWaitingEach: 100,
    maxWaiting: 1_000,
    refusal: { detail: 'Too many.', retryAfterSeconds: 7 },
    ...options,
  })

/** Tasks that end when the test says so; `started` lists them in order of their start. */
function stage(withSlot: ReturnType<typeof make>) {
  const started: string[] = []
  const ends = new Map<string, () => void>()
  const run = (owner: string, name: string) =>
    withSlot(owner, () => {
      started.push(name)
      return new Promise<string>((resolve) => ends.set(name, () => resolve(name)))
    })
  const begun = () => new Promise((resolve) => setImmediate(resolve))
  const end = (name: string) => {
    ends.get(name)?.()
    return begun()
  }
  return { started, run, end, begun }
}

describe('the fair semaphore', () => {
  it('serves owners in turn, in whatever order and number they came', async () => {
    const { started, run, end, begun } = stage(make())
    for (const name of ['a1', 'a2', 'a3', 'a4']) void run('a', name)
    void run('b', 'b1')
    void run('c', 'c1')
    void run('b', 'b2')
    await begun()
    for (let index = 0; index < 7; index += 1) await end(started[index] ?? '')
    expect(started).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3', 'a4'])
  })

  it('gives one owner no more slots than its limit', async () => {
    const { started, run, end, begun } = stage(make({ slots: 3, slotsEach: 2 }))
    for (const name of ['a1', 'a2', 'a3']) void run('a', name)
    void run('b', 'b1')
    await begun()
    expect(started).toEqual(['a1', 'a2', 'b1'])
    await end('b1')
    expect(started).toEqual(['a1', 'a2', 'b1'])
    await end('a2')
    expect(started).toEqual(['a1', 'a2', 'b1', 'a3'])
  })

  it('refuses only the owner that has too many tasks waiting', async () => {
    const { run, end, begun } = stage(make({ maxWaitingEach: 2 }))
    const works = ['a1', 'a2', 'a3'].map((name) => run('a', name))
    const refused = { code: 'service_unavailable', headers: { 'Retry-After': '7' } }
    await expect(run('a', 'a4')).rejects.toMatchObject(refused)
    const other = run('b', 'b1')
    await begun()
    for (const name of ['a1', 'b1', 'a2', 'a3']) await end(name)
    expect(await Promise.all([...works, other])).toEqual(['a1', 'a2', 'a3', 'b1'])
  })

  it('evicts the newest task of the owner that has most waiting, and refuses an owner only where none has two more', async () => {
    const { started, run, end, begun } = stage(make({ maxWaiting: 3 }))
    const works = ['a1', 'a2', 'a3', 'a4'].map((name) => run('a', name).catch(({ code }: Failure) => code))
    works.push(run('b', 'b1'))
    await expect(works[3]).resolves.toBe('service_unavailable')
    await expect(run('a', 'a5')).rejects.toMatchObject({ code: 'service_unavailable', headers: { 'Retry-After': '7' } })
    await expect(run('b', 'b2')).rejects.toMatchObject({ code: 'service_unavailable' })
    works.push(run('c', 'c1'))
    await expect(works[2]).resolves.toBe('service_unavailable')
    await expect(run('d', 'd1')).rejects.toMatchObject({ code: 'service_unavailable' })
    await begun()
    for (const name of ['a1', 'b1', 'c1', 'a2']) await end(name)
    expect(started).toEqual(['a1', 'b1', 'c1', 'a2'])
    expect(await Promise.all(works)).toEqual(['a1', 'a2', 'service_unavailable', 'service_unavailable', 'b1', 'c1'])
  })

  it('runs or refuses each task exactly once, never too many at once, whatever comes and ends', async () => {
    const slots = fc.record({ slots: fc.integer({ min: 1, max: 4 }), slotsEach: fc.integer({ min: 1, max: 3 }) })
    const limits = fc.record({ maxWaiting: fc.nat(6), maxWaitingEach: fc.nat(4) })
    // A task of an owner, or the end of one that runs.
    const step = fc.oneof(fc.constantFrom('a', 'b', 'c', 'd'), fc.nat(8))
    await fc.assert(
      fc.asyncProperty(slots, limits, fc.array(step, { maxLength: 60 }), async (counts, most, steps) => {
        const withSlot = make({ ...counts, ...most })
        const running: { owner: string; end(): void }[] = []
        const outcomes: Promise<string>[] = []
        let [ran, refused] = [0, 0]
        const submit = (owner: string) =>
          withSlot(owner, () => {
            ran += 1
            return new Promise<void>((end) => running.push({ owner, end }))
          }).then(
            () => 'ran',
            () => {
              refused += 1
              return 'refused'
            },
          )
        const begun = () => new Promise((resolve) => setImmediate(resolve))
        for (const one of steps) {
          if (typeof one === 'string') outcomes.push(submit(one))
          else running.splice(one, 1)[0]?.end()
          await begun()
          expect(running.length).toBeLessThanOrEqual(counts.slots)
          for (const owner of 'abcd') {
            expect(running.filter((task) => task.owner === owner).length).toBeLessThanOrEqual(counts.slotsEach)
          }
          expect(outcomes.length - ran - refused).toBeLessThanOrEqual(most.maxWaiting)
        }
        for (; running.length > 0; await begun()) running.shift()?.end()
        const ends = await Promise.all(outcomes)
        expect([ran, refused]).toEqual(['ran', 'refused'].map((end) => ends.filter((one) => one === end).length))
      }),
      { numRuns: 60 },
    )
  })

  it('continues after a task that fails', async () => {
    const withSlot = make()
    await expect(withSlot('a', () => Promise.reject(new Error('no')))).rejects.toThrow('no')
    expect(await withSlot('a', async () => 1)).toBe(1)
    expect(await withSlot('b', async () => 2)).toBe(2)
  })
})
