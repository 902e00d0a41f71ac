// Conditions as closures over the facts. A condition is true, false, or an error: the sentence about a value of the
// wrong type. The three combine so that an error disappears only where it can't change the outcome (Kleene's logic), in
// whatever order the operands stand.

import type { StepBudget } from '#src/platform/automaton.ts'
import type { Json } from '#src/platform/crypto/canonical.ts'
import { compileTest, isAffordable, stepsOfTest, TOO_COSTLY } from './comparisons.ts'
import type { PolicyCondition, PolicyQuantifier, PolicyRule } from './document.ts'
import type { PolicyFacts } from './evaluate.ts'
import { createZoneClock, elementPathOf, findField, type PolicyField, readPath, type ZoneClock } from './fields.ts'
import { formOf } from './forms.ts'

/** A string is an error. */
export type Truth = boolean | string

export type Predicate = (run: Run) => Truth

/** One evaluation: each field is read once, however many rules name it. */
export interface Run {
  facts: PolicyFacts
  clock: ZoneClock
  values: (Json | undefined)[]
  isRead: boolean[]
  /** Elements of the quantifiers in progress, the outermost first. */
  elements: Json[]
  budget: StepBudget
}

/**
 * Steps of one evaluation, for regular expressions, `contains` and the elements of lists over all of its contexts: some
 * 5 ms, in which the event loop does nothing else. 200 patterns over a text of 500 characters take 130,000. Counted and
 * not timed, so that the same facts always give the same answer. A verification evaluates twice. The second must not
 * depend on what the first cost: its answer is repeated from its facts alone.
 */
export const MAX_PATTERN_STEPS = 300_000

// Charged for each condition on each element of a list. Reading a member and comparing it takes 20 ns, and 120 ns where the
// path is as long as it may be.
const STEPS_OF_CONDITION = 5

/** Gives each field of a policy its place in `Run.values`. */
export interface FieldSlots {
  /** undefined: no such field. A stored document may name one that this version does not have. */
  slotOf(path: string, timezone: string): number | undefined
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
      if (field === undefined) return undefined
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
    elements: [],
    budget,
  }
}

/**
 * What a comparison with a missing field comes to. `false`: false. `opposite`, of deny rules: false, but true for `ne` and
 * `not_in`, as it is for `not` around `eq` and `in`. `match`: what counts for the match of the rule, under `not` too.
 */
export type OnMissing = 'false' | 'opposite' | 'match'

export function onMissingOf({ on_missing, require }: Pick<PolicyRule, 'on_missing' | 'require'>): OnMissing {
  return on_missing ?? (require.deny === undefined ? 'false' : 'opposite')
}

/** @param op undefined: a quantifier over a missing list. */
export function outcomeOfMissing(op: PolicyCondition['op'], onMissing: OnMissing, isNegated: boolean): boolean {
  if (onMissing === 'match') return !isNegated
  return onMissing === 'opposite' && (op === 'ne' || op === 'not_in')
}

export interface Compiling {
  slots: FieldSlots
  onMissing: OnMissing
  /** What the quantifiers around a condition call their elements, the outermost first. */
  aliases: readonly string[]
}

export function compileCondition(condition: PolicyCondition, compiling: Compiling, isNegated = false): Predicate {
  const evaluate = compileForm(condition, compiling, isNegated)
  // Outside of quantifiers the size of the document bounds how many conditions are evaluated.
  if (compiling.aliases.length === 0) return evaluate
  return (run) => (isAffordable(run, STEPS_OF_CONDITION) ? evaluate(run) : TOO_COSTLY)
}

function compileForm(condition: PolicyCondition, compiling: Compiling, isNegated: boolean): Predicate {
  const form = formOf(condition)
  switch (form.kind) {
    case 'all':
      return compileAll(form.operands.map((one) => compileCondition(one, compiling, isNegated)))
    case 'any':
      return compileAny(form.operands.map((one) => compileCondition(one, compiling, isNegated)))
    case 'not': {
      const inner = compileCondition(form.operand, compiling, !isNegated)
      return (run) => {
        const truth = inner(run)
        return typeof truth === 'string' ? truth : !truth
      }
    }
    case 'quantifier':
      return compileQuantifier(form.quantifier, form.isEvery, compiling, isNegated)
    case 'comparison':
      return compileComparison(condition, compiling, isNegated)
  }
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

// Combines the elements of a list as `compileAll` and `compileAny` combine operands.
function compileQuantifier(
  { in: path, as, when }: PolicyQuantifier,
  isEvery: boolean,
  compiling: Compiling,
  isNegated: boolean,
): Predicate {
  const read = compileReader(path, 'UTC', compiling)
  if (read === undefined) return () => unknownField(path)
  const meets = compileCondition(when, { ...compiling, aliases: [...compiling.aliases, as] }, isNegated)
  const level = compiling.aliases.length
  const onMissed = outcomeOfMissing(undefined, compiling.onMissing, isNegated)
  return (run) => {
    const list = read(run)
    if (list === undefined) return onMissed
    if (!Array.isArray(list)) return `${path}: is not a list`
    let outcome: Truth = isEvery
    for (const element of list) {
      run.elements[level] = element
      const truth = meets(run)
      if (truth === !isEvery) return truth
      if (run.budget.steps < 0) return TOO_COSTLY
      if (truth !== isEvery && outcome === isEvery) outcome = truth
    }
    return outcome
  }
}

function compileComparison(condition: PolicyCondition, compiling: Compiling, isNegated: boolean): Predicate {
  const { field, op, value, timezone = 'UTC' } = condition
  if (field === undefined || op === undefined) throw new Error('a condition has neither a combinator nor a field')
  const read = compileReader(field, timezone, compiling)
  if (read === undefined) return () => unknownField(field)
  if (op === 'exists') {
    const isWanted = value !== false
    return (run) => (read(run) !== undefined) === isWanted
  }
  const test = compileTest(op, value)
  const onMissed = outcomeOfMissing(op, compiling.onMissing, isNegated)
  const stepsOf = compiling.aliases.length === 0 ? undefined : stepsOfTest(op, value)
  return (run) => {
    const found = read(run)
    if (found === undefined) return onMissed
    if (stepsOf !== undefined && !isAffordable(run, stepsOf(found))) return TOO_COSTLY
    const truth = test(found, run)
    return typeof truth === 'string' ? `${field}: ${truth}` : truth
  }
}

// undefined: no such field.
function compileReader(
  path: string,
  timezone: string,
  { slots, aliases }: Compiling,
): ((run: Run) => Json | undefined) | undefined {
  const element = elementPathOf(path, aliases)
  if (element !== undefined) {
    const level = aliases.indexOf(element.alias)
    return (run) => readPath(run.elements[level], element.segments)
  }
  const slot = slots.slotOf(path, timezone)
  if (slot === undefined) return undefined
  const field = slots.fields[slot]
  return (run) => {
    if (!run.isRead[slot]) {
      run.isRead[slot] = true
      run.values[slot] = field?.read(run.facts, run.clock)
    }
    return run.values[slot]
  }
}

// An error: false would turn a deny rule off, which its author could not see.
function unknownField(path: string): string {
  return `${path}: is no field of a policy`
}
