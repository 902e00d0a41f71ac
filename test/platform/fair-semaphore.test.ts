import { describe, expect, it } from 'vitest'
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

  it('refuses all owners when too many tasks wait in total', async () => {
    const { run } = stage(make({ maxWaiting: 2 }))
    void run('a', 'a1')
    void run('b', 'b1')
    void run('c', 'c1')
    await expect(run('d', 'd1')).rejects.toMatchObject({ code: 'service_unavailable' })
  })

  it('continues after a task that fails', async () => {
    const withSlot = make()
    await expect(withSlot('a', () => Promise.reject(new Error('no')))).rejects.toThrow('no')
    expect(await withSlot('a', async () => 1)).toBe(1)
    expect(await withSlot('b', async () => 2)).toBe(2)
  })
})
