import { describe, expect, it } from 'vitest'
import { createSlots } from '#src/platform/jobs/slots.ts'
import { until } from '../../support/until.ts'

/** Works that run until they are released, by owner. */
function createWorks(slots: ReturnType<typeof createSlots>) {
  const running: string[] = []
  const ends: { owner: string; end(): void }[] = []
  return {
    running,
    add(owner: string, onPassed?: () => void) {
      const work = () =>
        new Promise<void>((end) => {
          running.push(owner)
          ends.push({ owner, end })
        })
      return slots(owner, work, onPassed && { onPassed }).finally(() => running.splice(running.indexOf(owner), 1))
    },
    endOne(owner: string) {
      const index = ends.findIndex((one) => one.owner === owner)
      ends.splice(index, 1)[0]?.end()
    },
    endAll() {
      for (const { end } of ends.splice(0)) end()
    },
  }
}

const count = (running: readonly string[], owner: string) => running.filter((one) => one === owner).length

describe('the slots of a worker', () => {
  it('leave half to others when one account has endless work, and start a newcomer at once', async () => {
    const works = createWorks(createSlots({ count: 16, leavesRoom: true }))
    const all = Array.from({ length: 100 }, () => works.add('hog'))
    await until(() => works.running.length === 8)
    for (const owner of ['b', 'c', 'd']) {
      all.push(works.add(owner))
      await Promise.resolve()
      expect(count(works.running, owner)).toBe(1)
    }
    expect(count(works.running, 'hog')).toBe(8)
    while (works.running.length > 0) {
      works.endAll()
      await new Promise(setImmediate)
    }
    await Promise.all(all)
  })

  it('leave room at once to a newcomer beside several accounts with endless work', async () => {
    const works = createWorks(createSlots({ count: 32, leavesRoom: true }))
    for (const owner of ['a', 'b', 'c', 'd']) for (let n = 0; n < 50; n += 1) void works.add(owner)
    await until(() => works.running.length >= 24)
    expect(works.running.length).toBeLessThan(32)
    void works.add('newcomer')
    await Promise.resolve()
    expect(count(works.running, 'newcomer')).toBe(1)
  })

  it('all run when nobody must leave room, the owner with the fewest first', async () => {
    const works = createWorks(createSlots({ count: 4, leavesRoom: false }))
    for (let n = 0; n < 10; n += 1) void works.add('bulk')
    void works.add('single')
    await until(() => works.running.length === 4)
    expect(works.running).not.toContain('single')
    works.endOne('bulk')
    await until(() => works.running.includes('single'))
    expect(count(works.running, 'bulk')).toBe(3)
  })

  it("start a work that goes first before its owner's others", async () => {
    const slots = createSlots({ count: 1, leavesRoom: false })
    const ran: string[] = []
    const { promise: ended, resolve: end } = Promise.withResolvers<void>()
    const add = (owner: string, name: string, goesFirst = false) =>
      slots(owner, async () => void ran.push(name), { goesFirst })
    const held = slots('a', () => ended)
    const all = [add('a', 'a1'), add('b', 'b1'), add('a', 'a2'), add('a', 'next', true)]
    end()
    await Promise.all([held, ...all])
    expect(ran.filter((name) => name !== 'b1')).toEqual(['next', 'a1', 'a2'])
  })

  it('run a single work whatever their number', async () => {
    const works = createWorks(createSlots({ count: 1, leavesRoom: true }))
    void works.add('a')
    await until(() => works.running.length === 1)
  })

  it('say at once that a work was passed over while no more wait than one owner may run, and of the others later', async () => {
    const works = createWorks(createSlots({ count: 8, leavesRoom: true }))
    const passed: number[] = []
    for (let n = 0; n < 12; n += 1) void works.add('bulk', () => void passed.push(n))
    // Four run, four wait, and the others wait longer.
    expect(passed).toEqual([4, 5, 6, 7])
    await until(() => passed.includes(11))
  })

  it('say that a work was passed over only while slots are free for others', async () => {
    const works = createWorks(createSlots({ count: 2, leavesRoom: true }))
    let passed = 0
    void works.add('a')
    void works.add('a', () => {
      passed += 1
    })
    await until(() => passed > 0)
    const full = createWorks(createSlots({ count: 1, leavesRoom: true }))
    void full.add('a')
    let isPassed = false
    void full.add('b', () => {
      isPassed = true
    })
    const before = passed
    await until(() => passed > before + 2)
    expect(isPassed).toBe(false)
  })
})
