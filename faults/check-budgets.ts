// I9: what is spent and counted under a mandate is what was executed and not given back, to the cent, and never more than its
// limits; a cycle of a schedule is executed once; and no execution that a client was told of is missing.

import { parseAmount } from '#src/platform/amounts.ts'
import type { BudgetFacts, SpentFact } from './budgets.ts'
import type { Finding } from './check.ts'
import type { Evidence } from './evidence.ts'
import { groupBy } from './group.ts'

export function checkBudgets({ budgets }: Evidence): Finding[] {
  return [...checkAnswered(budgets), ...checkSpent(budgets), ...checkCycles(budgets)].map((what) => ({
    invariant: 'I9',
    what,
  }))
}

function checkAnswered({ executed, released, executions, releases }: BudgetFacts): string[] {
  const wrong: string[] = []
  const recorded = new Map(executions.map((one) => [one.jti, one]))
  for (const { jti, amount, bound } of executed) {
    const entry = recorded.get(jti)
    if (entry === undefined) wrong.push(`the execution of ${jti} was answered, and is not in the ledger`)
    else if (entry.bound !== bound || unitsOf(entry.amount) !== unitsOf(amount)) {
      wrong.push(`the ledger says that ${jti} used ${entry.amount} of ${entry.bound}; it used ${amount} of ${bound}`)
    }
  }
  const known = new Set(releases)
  for (const jti of released)
    if (!known.has(jti)) wrong.push(`the outcome of ${jti} was answered, and is not in the ledger`)
  return wrong
}

function checkSpent({ mandates, executions, releases }: BudgetFacts): string[] {
  const returned = new Set(releases)
  const kept = groupBy(
    executions.filter(({ jti }) => !returned.has(jti)),
    ({ bound }) => bound,
  )
  return mandates.flatMap(({ id, members, limit, spent, maxCount, count }) => {
    const own = members.flatMap((member) => kept.get(member) ?? [])
    const sum = sumOf(own)
    const wrong =
      unitsOf(spent) === sum ? [] : [`${spent} are spent under ${id}, and ${own.length} executions sum up to else`]
    if (count !== own.length) wrong.push(`${count} executions are counted under ${id}, and there are ${own.length}`)
    if (maxCount !== null && own.length > maxCount)
      wrong.push(`${own.length} actions were executed under ${id}, and ${maxCount} may be`)
    return unitsOf(spent) <= unitsOf(limit) && sum <= unitsOf(limit) ? wrong : [...wrong, `${id} is overspent`]
  })
}

function checkCycles({ cycles, executions, releases }: BudgetFacts): string[] {
  const returned = new Set(releases)
  const claimed = new Set(cycles.map(({ jti }) => jti))
  const wrong = cycles
    .filter(({ jti }) => !executions.some((one) => one.jti === jti) || returned.has(jti))
    .map(({ scheduleId, cycle }) => `the cycle ${cycle} of ${scheduleId} was executed by nobody, or given back`)
  for (const { jti, bound } of executions) {
    if (bound.startsWith('sch_') && !returned.has(jti) && !claimed.has(jti)) {
      wrong.push(`${jti} was executed in a cycle of ${bound} that another token has`)
    }
  }
  const places = groupBy(cycles, ({ scheduleId, cycle }) => `${scheduleId} ${cycle}`)
  for (const [place, own] of places)
    if (own.length > 1) wrong.push(`the cycle ${place} was executed ${own.length} times`)
  return wrong
}

function sumOf(spent: readonly SpentFact[]): bigint {
  return spent.reduce((sum, { amount }) => sum + unitsOf(amount), 0n)
}

function unitsOf(amount: string): bigint {
  const units = parseAmount(amount)
  if (units === undefined) throw new Error(`${amount} is no amount`)
  return units
}
