// Which missing fields turn a deny rule off: with the field the rule can match, without it the same facts pass. An agent that
// leaves the field out is then not refused. Fields that the rule itself tests by `exists` are what its author has thought of.

import type { PolicyFinding } from './analyze.ts'
import { outcomeOfMissing } from './conditions.ts'
import type { PolicyCondition, PolicyDocument, PolicyRule } from './document.ts'
import { elementPathOf, findField } from './fields.ts'
import { formOf, partsOf } from './forms.ts'

/** Deny rules that do not apply where a field is missing, and do not say `on_missing`. */
export function ineffectiveWhenMissing({ rules }: PolicyDocument): PolicyFinding[] {
  return rules.flatMap((rule, index) => missingFindingOf(rule, `/rules/${index}`) ?? [])
}

/** @param pointer Pointer to the rule. */
export function missingFindingOf(rule: PolicyRule, pointer: string): PolicyFinding | undefined {
  const fields = findDisablingFields(rule)
  if (fields.length === 0) return undefined
  const named = fields.slice(0, MAX_NAMED).join(', ')
  const others = fields.length > MAX_NAMED ? ` and ${fields.length - MAX_NAMED} more` : ''
  return {
    code: 'ineffective_when_missing',
    rule_id: rule.id,
    pointer: `${pointer}/when`,
    detail: `may not apply where one of these is missing, and has no on_missing: ${named}${others}`,
  }
}

const MAX_NAMED = 5
// Conditions that are visited for one rule, in some 1 ms. Beyond them a field is named that may do no harm.
const MAX_VISITS = 20_000

/** Empty for rules that do not deny, and for those with `on_missing`. */
export function findDisablingFields({ when, require, on_missing, enabled }: PolicyRule): string[] {
  if (!enabled || require.deny === undefined || on_missing !== undefined) return []
  const fields = new Set<string>()
  const tested = new Set<string>()
  for (const { condition, quantifier, aliases } of partsOf(when)) {
    const path = quantifier?.in ?? condition.field ?? ''
    if (condition.op === 'exists') tested.add(path)
    else if (canBeMissing(path, aliases)) fields.add(path)
  }
  const budget = { visits: MAX_VISITS }
  return [...fields].filter((field) => {
    if (tested.has(field)) return false
    const outcomes = outcomesOf(when, { field, budget })
    return has(outcomes, TRUE_WITH_IT_ALONE) || budget.visits < 0
  })
}

// An element itself is missing where the list has a null.
function canBeMissing(path: string, aliases: readonly string[]): boolean {
  const element = elementPathOf(path, aliases)
  return element === undefined ? findField(path)?.isAlways === false : element.segments.length > 0
}

// What a condition may come to with the field and, all else equal, without it, as a set of pairs. A pair is a number: 2 where the
// condition is true with the field, plus 1 where it is true without it. A set of pairs has the bit of each of them.
type Outcomes = number
const TRUE_WITH_IT_ALONE = 2
const PAIRS = [0, 1, 2, 3]
const FALSE_IN_BOTH = setOf(0)
const TRUE_IN_BOTH = setOf(3)

interface Search {
  field: string
  budget: { visits: number }
}

// Conditions on other fields are taken for independent of each other.
function outcomesOf(condition: PolicyCondition, search: Search, isNegated = false): Outcomes {
  search.budget.visits -= 1
  if (search.budget.visits < 0) return FALSE_IN_BOTH
  const form = formOf(condition)
  switch (form.kind) {
    case 'all':
    case 'any': {
      const isConjunction = form.kind === 'all'
      let outcomes = isConjunction ? TRUE_IN_BOTH : FALSE_IN_BOTH
      for (const operand of form.operands) {
        outcomes = combined(outcomes, outcomesOf(operand, search, isNegated), isConjunction)
      }
      return outcomes
    }
    case 'not': {
      const inner = outcomesOf(form.operand, search, !isNegated)
      return setOf(...PAIRS.filter((pair) => has(inner, 3 - pair)))
    }
    case 'quantifier':
      if (form.quantifier.in === search.field) return readingIt(undefined, isNegated)
      // The other list may itself be missing, and then its condition comes to what no list of elements does.
      return repeated(outcomesOf(form.quantifier.when, search, isNegated), form.isEvery) | missingInBoth(isNegated)
    case 'comparison':
      return condition.field === search.field ? readingIt(condition.op, isNegated) : FALSE_IN_BOTH | TRUE_IN_BOTH
  }
}

function readingIt(op: PolicyCondition['op'], isNegated: boolean): Outcomes {
  const missing = Number(outcomeOfMissing(op, 'opposite', isNegated))
  return setOf(missing, 2 + missing)
}

function missingInBoth(isNegated: boolean): Outcomes {
  return outcomeOfMissing(undefined, 'opposite', isNegated) ? TRUE_IN_BOTH : FALSE_IN_BOTH
}

// Combines the elements of a list of any length. Four elements give what more do, as there are four pairs.
function repeated(ofElement: Outcomes, isEvery: boolean): Outcomes {
  let outcomes = isEvery ? TRUE_IN_BOTH : FALSE_IN_BOTH
  for (const _ of PAIRS) outcomes |= combined(outcomes, ofElement, isEvery)
  return outcomes
}

function combined(a: Outcomes, b: Outcomes, isConjunction: boolean): Outcomes {
  let outcomes = 0
  for (const one of PAIRS) {
    if (!has(a, one)) continue
    for (const other of PAIRS) {
      if (has(b, other)) outcomes |= setOf(isConjunction ? one & other : one | other)
    }
  }
  return outcomes
}

function has(outcomes: Outcomes, pair: number): boolean {
  return (outcomes & (1 << pair)) !== 0
}

function setOf(...pairs: number[]): Outcomes {
  return pairs.reduce((outcomes, pair) => outcomes | (1 << pair), 0)
}
