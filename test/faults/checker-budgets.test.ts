// Tests of the checker for budgets and cycles: as in checker.test.ts, each violation is made by hand and must be found.

import { describe, expect, it } from 'vitest'
import { newId } from '#src/platform/ids.ts'
import type { BudgetFacts } from '../../faults/budgets.ts'
import { check } from '../../faults/check.ts'
import { sampleEvidence } from '../../faults/sample.ts'

const SABOTAGES: { what: string; does(budgets: BudgetFacts): void }[] = [
  {
    what: 'an execution that was answered and is lost',
    does: ({ executed }) => void executed.push({ ...first(executed), jti: newId('jti', 'sandbox') }),
  },
  {
    what: 'an execution of another amount',
    does: ({ executions }) => {
      first(executions).amount = '7.51'
    },
  },
  {
    what: 'an outcome that was answered and is lost',
    does: ({ releases }) => void releases.shift(),
  },
  {
    what: 'a cent that is spent and was executed by nobody',
    does: ({ mandates }) => {
      first(mandates).spent = '10.0100'
    },
  },
  {
    what: 'an execution that was not charged',
    does: ({ executions }) => void executions.push({ ...first(executions), jti: newId('jti', 'sandbox') }),
  },
  {
    what: 'what was given back and stays spent',
    does: ({ mandates }) => {
      const last = mandates.at(-1)
      if (last !== undefined) last.spent = '6.5000'
    },
  },
  {
    what: 'a budget that is overspent',
    does: ({ mandates }) => {
      first(mandates).limit = '9.9900'
    },
  },
  {
    what: 'an execution that was not counted',
    does: ({ mandates }) => {
      first(mandates).count = 1
    },
  },
  {
    what: 'more executions than a budget counts',
    does: ({ mandates }) => {
      first(mandates).maxCount = 1
    },
  },
  {
    what: 'a cycle that was executed twice',
    does: ({ cycles, executions }) => {
      const again = { ...first(executions.slice(3)), jti: newId('jti', 'sandbox') }
      executions.push(again)
      cycles.push({ ...first(cycles), jti: again.jti })
    },
  },
  { what: 'a cycle that is free although it was executed', does: ({ cycles }) => void cycles.shift() },
  {
    what: 'a cycle that nobody executed',
    does: ({ cycles }) => {
      first(cycles).jti = newId('jti', 'sandbox')
    },
  },
]

describe('the checker for budgets', () => {
  it('finds nothing in a run without violations', async () => {
    expect(await check(sampleEvidence())).toEqual([])
  })

  it.each(SABOTAGES)('finds $what', async ({ does }) => {
    const evidence = sampleEvidence()
    does(evidence.budgets)
    const found = await check(evidence)
    expect([...new Set(found.map(({ invariant }) => invariant))]).toEqual(['I9'])
  })
})

function first<T>(list: readonly T[]): T {
  const [one] = list
  if (one === undefined) throw new Error('the list is empty')
  return one
}
