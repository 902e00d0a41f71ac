import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createFairBudget, type FairBudget, type Hold } from '#src/platform/fair-budget.ts'

const ALL = 1_200

function takeAll(budget: FairBudget, owner: string): { hold: Hold; taken: number } {
  const hold = budget.open(owner)
  let taken = 0
  while (hold.take(1)) taken += 1
  return { hold, taken }
}

describe('a fair budget', () => {
  it('gives an owner half, and the next ones what leaves as much free as they hold', () => {
    const budget = createFairBudget(ALL)
    expect(['a', 'b', 'c'].map((owner) => takeAll(budget, owner).taken)).toEqual([600, 300, 150])
  })

  it('counts all holds of an owner together', () => {
    const budget = createFairBudget(ALL)
    expect(takeAll(budget, 'a').taken).toBe(ALL / 2)
    expect(takeAll(budget, 'a').taken).toBe(0)
    expect(takeAll(budget, 'b').taken).toBe(ALL / 4)
  })

  it('takes nothing of what it refuses', () => {
    const budget = createFairBudget(ALL)
    const hold = budget.open('a')
    expect(hold.take(ALL / 2 + 1)).toBe(false)
    expect(hold.take(ALL / 2)).toBe(true)
  })

  it('gets back what a hold took, once', () => {
    const budget = createFairBudget(ALL)
    const [first, second] = [budget.open('a'), budget.open('a')]
    expect([first.take(300), second.take(300)]).toEqual([true, true])
    first.release()
    first.release()
    expect(takeAll(budget, 'a').taken).toBe(300)
  })
})

describe('a fair budget that few owners hold', () => {
  /** Owners that came one after the other, each with as much as is left to it. */
  function fill(budget: FairBudget, owners: number, dropped: string[]): Hold[] {
    const holds = Array.from({ length: owners }, (_, index) => takeAll(budget, `attackers ${index}`).hold)
    for (const [index, hold] of holds.entries()) hold.mayBeEvicted(() => dropped.push(`attackers ${index}`))
    return holds
  }

  it('gives a newcomer what the owner with the most holds while that only waits', () => {
    const budget = createFairBudget(ALL)
    const dropped: string[] = []
    const [first, second] = fill(budget, 26, dropped)
    const newcomer = budget.open('newcomer')
    expect(newcomer.take(300)).toBe(true)
    expect([dropped, first?.isEvicted, first?.take(1), first?.begin()]).toEqual([['attackers 0'], true, false, false])
    expect([second?.isEvicted, second?.begin()]).toEqual([false, true])
    first?.release()
    // Nothing is evicted for more than half of what another has.
    expect(newcomer.take(300)).toBe(false)
    expect(dropped).toHaveLength(1)
  })

  it('evicts the newest hold of an owner first, none of a request that has begun, and none in vain', () => {
    const budget = createFairBudget(ALL)
    const dropped: number[] = []
    const holds = Array.from({ length: 6 }, (_, index) => {
      const hold = budget.open('loud')
      hold.mayBeEvicted(() => dropped.push(index))
      expect(hold.take(100)).toBe(true)
      return hold
    })
    const other = takeAll(budget, 'other').hold
    expect(holds[5]?.begin()).toBe(true)
    const newcomer = budget.open('newcomer')
    expect(newcomer.take(200)).toBe(true)
    expect(dropped).toEqual([4])
    for (const hold of holds.slice(0, 4)) hold.begin()
    expect(other.begin()).toBe(true)
    expect(budget.open('late').take(200)).toBe(false)
    expect(dropped).toEqual([4])
  })

  it('never lends more than there is, drops each evicted hold once, and refuses only where the first hold to evict would not do', () => {
    const owner = fc.constantFrom('a', 'b', 'c', 'd', 'e')
    const steps = fc.array(
      fc.oneof(
        {
          weight: 6,
          arbitrary: fc.record({ kind: fc.constant('take'), owner, bytes: fc.integer({ min: 1, max: 400 }) }),
        },
        { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('begin', 'release'), index: fc.nat(20) }) },
      ),
      { maxLength: 80 },
    )
    fc.assert(
      fc.property(steps, (made) => {
        const budget = createFairBudget(ALL)
        const open: { owner: string; bytes: number; hold: Hold; drops: number; isWaiting: boolean }[] = []
        const sumOf = (holds: typeof open) => holds.reduce((sum, { bytes }) => sum + bytes, 0)
        const of = (name: string) => open.filter((one) => one.owner === name)
        for (const step of made) {
          if ('index' in step) {
            const one = open[step.index % Math.max(1, open.length)]
            if (one === undefined) continue
            if (step.kind === 'begin') {
              expect(one.hold.begin()).toBe(true)
              one.isWaiting = false
            } else {
              one.hold.release()
              open.splice(open.indexOf(one), 1)
            }
            continue
          }
          const one = { owner: step.owner, bytes: step.bytes, hold: budget.open(step.owner), drops: 0, isWaiting: true }
          one.hold.mayBeEvicted(() => {
            one.drops += 1
          })
          const wanted = sumOf(of(step.owner)) + step.bytes
          const room = ALL - sumOf(open) - step.bytes
          const waiting = open.filter(({ isWaiting }) => isWaiting)
          const most = Math.max(0, ...waiting.map((other) => sumOf(of(other.owner))))
          const first = waiting.findLast((other) => sumOf(of(other.owner)) === most)
          if (one.hold.take(step.bytes)) open.push(one)
          else {
            expect(wanted).toBeGreaterThan(room)
            if (first !== undefined && most >= 2 * wanted) expect(wanted).toBeGreaterThan(room + first.bytes)
          }
          const evicted = open.filter(({ hold }) => hold.isEvicted)
          for (const { drops, isWaiting } of evicted) expect([drops, isWaiting]).toEqual([1, true])
          for (const other of evicted) open.splice(open.indexOf(other), 1)
          if (wanted <= room) expect(evicted).toEqual([])
          expect(sumOf(open)).toBeLessThanOrEqual(ALL)
        }
        for (const { hold } of open) hold.release()
        expect(takeAll(budget, 'a').taken).toBe(ALL / 2)
      }),
    )
  })
})
