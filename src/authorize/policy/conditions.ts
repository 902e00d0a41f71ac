// Conditions as closures over the facts. A condition is true, false, or an error: the sentence about a value of the
// wrong type. The three combine so that an error disappears only where it can't change the outcome (Kleene's logic), in
// whatever order the operands stand.

import type { StepBudget } from '#src/platform/automaton.ts'
import type { Json } from '#src/platform/crypto/canonical.ts'
import { compileTest } from './comparisons.ts'
import type { PolicyCondition } from './document.ts'
import type { PolicyFacts } from './evaluate.ts'
import { createZoneClock, findField, type PolicyField, type ZoneClock } from './fields.ts'

/** A string is an error. */
export type Truth = boolean | string

export type Predicate = (run: Run) => Truth

/** One evaluation: each field is read once, however many rules name it. */
export interface Run {
  facts: PolicyFacts
  clock: ZoneClock
  values: (Json | undefined)[]
  isRead: boolean[]
  budget: StepBudget
}

/**
 * Steps of one evaluation, for regular expressions and `contains` over all of its contexts: some 5 ms, in which the event loop
 * does nothing else. 200 patterns over a text of 500 characters take 130,000. Counted and not timed, so that the same facts
 * always give the same answer. A verification evaluates twice. The second must not depend on what the first cost: its answer
 * is repeated from its facts alone.
 */
export const MAX_PATTERN_STEPS = 300_000

/** Gives each field of a policy its place in `Run.values`. */
export interface FieldSlots {
  slotOf(path: string, timezone: string): number
  readonly fields: readonly PolicyField[]
}

export function createFieldSlots(): FieldSlots {
  const fields: PolicyField[] = []
  const known = new Map<string, number>()
  return {
    fields,
    slotOf(path, timezone) {
      const key = `${path} ${timezone}`
      const slot = known.get(key)
      if (slot !== undefined) return slot
      const field = findField(path, timezone)
      if (field === undefined) throw new Error(`a condition names the field ${path}, which does not exist`)
      known.set(key, fields.length)
      return fields.push(field) - 1
    },
  }
}

export function createRun(facts: PolicyFacts, { fields }: FieldSlots, budget: StepBudget): Run {
  return {
    facts,
    clock: createZoneClock(facts.at),
    values: new Array(fields.length),
    isRead: new Array(fields.length).fill(false),
    budget,
  }
}

export interface Compiling {
  slots: FieldSlots
  /** `match`: a missing field counts for the match of the rule, under `not` too. */
  onMissing: 'false' | 'match'
}

export function compileCondition(condition: PolicyCondition, compiling: Compiling, isNegated = false): Predicate {
  const { all, any, not } = condition
  if (all !== undefined) return compileAll(all.map((one) => compileCondition(one, compiling, isNegated)))
  if (any !== undefined) return compileAny(any.map((one) => compileCondition(one, compiling, isNegated)))
  if (not !== undefined) {
    const inner = compileCondition(not, compiling, !isNegated)
    return (run) => {
      const truth = inner(run)
      return typeof truth === 'string' ? truth : !truth
    }
  }
  return compileComparison(condition, compiling, isNegated)
}

function compileAll(operands: readonly Predicate[]): Predicate {
  const [only] = operands
  if (operands.length === 1 && only !== undefined) return only
  return (run) => {
    let outcome: Truth = true
    for (const operand of operands) {
      const truth = operand(run)
      if (truth === false) return false
      if (truth !== true && outcome === true) outcome = truth
    }
    return outcome
  }
}

function compileAny(operands: readonly Predicate[]): Predicate {
  return (run) => {
    let outcome: Truth = false
    for (const operand of operands) {
      const truth = operand(run)
      if (truth === true) return true
      if (truth !== false && outcome === false) outcome = truth
    }
    return outcome
  }
}

function compileComparison(condition: PolicyCondition, { slots, onMissing }: Compiling, isNegated: boolean): Predicate {
  const { field, op, value, timezone = 'UTC' } = condition
  if (field === undefined || op === undefined) throw new Error('a condition has neither a combinator nor a field')
  const slot = slots.slotOf(field, timezone)
  const reader = slots.fields[slot]
  const read = (run: Run): Json | undefined => {
    if (!run.isRead[slot]) {
      run.isRead[slot] = true
      run.values[slot] = reader?.read(run.facts, run.clock)
    }
    return run.values[slot]
  }
  if (op === 'exists') {
    const isWanted = value !== false
    return (run) => (read(run) !== undefined) === isWanted
  }
  const test = compileTest(op, value)
  const onMissed = onMissing === 'match' ? !isNegated : false
  return (run) => {
    const found = read(run)
    if (found === undefined) return onMissed
    const truth = test(found, run)
    return typeof truth === 'string' ? `${field}: ${truth}` : truth
  }
}
