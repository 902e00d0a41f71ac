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
