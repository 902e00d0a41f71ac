// Conditions as closures over the facts. A condition is true, false, or an error: the sentence about a value of the
// wrong type. The three combine so that an error disappears only where it can't change the outcome (Kleene's logic), in
// whatever order the operands stand.

import type { Json } from '#src/platform/crypto/canonical.ts'
import type { Operand, PolicyCondition } from './document.ts'
import type { PolicyFacts } from './evaluate.ts'
import { createZoneClock, findField, type PolicyField, type ZoneClock } from './fields.ts'
import { canonicalNumber, comparerTo, isDecimalText, isNumeric, type Numeric } from './numbers.ts'
import { compilePattern } from './patterns.ts'

/** A string is an error. */
export type Truth = boolean | string

export type Predicate = (run: Run) => Truth

/** One evaluation: each field is read once, however many rules name it. */
export interface Run {
  facts: PolicyFacts
  clock: ZoneClock
  values: (Json | undefined)[]
  isRead: boolean[]
  /** What regular expressions may still cost, in steps. */
  patternSteps: number
}

/**
 * Steps (instructions of a pattern times characters) of one evaluation: some 200 ms at worst. Counted and not timed, so
 * that the same facts always give the same answer.
 */
export const MAX_PATTERN_STEPS = 4_000_000

/** Gives each field of a policy its place in `Run.values`. */
export interface Slots {
  slotOf(path: string, timezone: string): number
  readonly fields: readonly PolicyField[]
}

export function createSlots(): Slots {
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

export function createRun(facts: PolicyFacts, { fields }: Slots): Run {
  return {
    facts,
    clock: createZoneClock(facts.at),
    values: new Array(fields.length),
    isRead: new Array(fields.length).fill(false),
    patternSteps: MAX_PATTERN_STEPS,
  }
}

export interface Compiling {
  slots: Slots
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

type Test = (found: Json, run: Run) => Truth

const NOT_NUMERIC = 'is neither a number nor a decimal string'
const NOT_TEXT = 'is not a string'

/** The comparison of a value that is there. An error never contains the value. */
export function compileTest(op: PolicyCondition['op'], value: PolicyCondition['value']): Test {
  switch (op) {
    case 'eq':
      return compileEquals(scalar(value))
    case 'ne': {
      const isEqual = compileEquals(scalar(value))
      return (found, run) => {
        const truth = isEqual(found, run)
        return typeof truth === 'string' ? truth : !truth
      }
    }
    case 'gt':
      return compileNumeric(value, (order) => order > 0)
    case 'gte':
      return compileNumeric(value, (order) => order >= 0)
    case 'lt':
      return compileNumeric(value, (order) => order < 0)
    case 'lte':
      return compileNumeric(value, (order) => order <= 0)
    case 'between': {
      const [low, high] = list(value)
      const isAbove = compileNumeric(low, (order) => order >= 0)
      const isBelow = compileNumeric(high, (order) => order <= 0)
      return (found, run) => {
        const truth = isAbove(found, run)
        return truth === true ? isBelow(found, run) : truth
      }
    }
    case 'in':
      return compileMember(list(value))
    case 'not_in': {
      const isMember = compileMember(list(value))
      return (found, run) => {
        const truth = isMember(found, run)
        return typeof truth === 'string' ? truth : !truth
      }
    }
    case 'contains':
      return compileContains(scalar(value))
    case 'starts_with': {
      const start = String(scalar(value))
      return (found) => (typeof found === 'string' ? found.startsWith(start) : NOT_TEXT)
    }
    case 'matches': {
      const pattern = compilePattern(String(scalar(value)))
      return (found, run) => {
        if (typeof found !== 'string') return NOT_TEXT
        run.patternSteps -= pattern.stepsOf(found)
        if (run.patternSteps < 0) return 'the regular expressions of this policy cost too much on these facts'
        return pattern.test(found)
      }
    }
    default:
      throw new Error(`no comparison ${op}`)
  }
}

// Texts are compared with texts as they are, numbers with numbers and decimal texts by their value.
function compileEquals(constant: Operand): Test {
  if (typeof constant === 'boolean') {
    return (found) => (typeof found === 'boolean' ? found === constant : 'is not a boolean')
  }
  if (typeof constant === 'number') return compileNumeric(constant, (order) => order === 0)
  const compare = isDecimalText(constant) ? comparerTo(constant) : undefined
  return (found) => {
    if (typeof found === 'string') return found === constant
    return compare !== undefined && typeof found === 'number' ? compare(found) === 0 : NOT_TEXT
  }
}

function compileNumeric(constant: PolicyCondition['value'], holds: (order: number) => boolean): Test {
  if (!isNumeric(constant)) throw new Error('a comparison of numbers needs a number')
  const compare = comparerTo(constant)
  return (found) => (isNumeric(found) ? holds(compare(found)) : NOT_NUMERIC)
}

// As `eq` with any of the constants, which are of one type.
function compileMember(constants: readonly Operand[]): Test {
  const [first] = constants
  if (typeof first === 'string') {
    const texts = new Set<Json>(constants)
    const numbers = new Set(constants.filter((one) => isNumeric(one)).map((one) => canonicalNumber(one as Numeric)))
    return (found) => {
      if (typeof found === 'string') return texts.has(found)
      return typeof found === 'number' && numbers.size > 0 ? numbers.has(canonicalNumber(found)) : NOT_TEXT
    }
  }
  if (typeof first === 'number') {
    const numbers = new Set<Json>(constants)
    const canonical = new Set(constants.map((one) => canonicalNumber(Number(one))))
    return (found) => {
      if (typeof found === 'number') return numbers.has(found)
      return isNumeric(found) ? canonical.has(canonicalNumber(found)) : NOT_NUMERIC
    }
  }
  const booleans = new Set<Json>(constants)
  return (found) => (typeof found === 'boolean' ? booleans.has(found) : 'is not a boolean')
}

// A part of a text, or an element of a list. Elements of other types are not equal.
function compileContains(constant: Operand): Test {
  const isEqual = compileEquals(constant)
  return (found, run) => {
    if (typeof found === 'string' && typeof constant === 'string') return found.includes(constant)
    if (!Array.isArray(found)) return typeof constant === 'string' ? 'is neither a string nor a list' : 'is not a list'
    return found.some((element) => element !== null && isEqual(element, run) === true)
  }
}

function scalar(value: PolicyCondition['value']): Operand {
  if (value === undefined || Array.isArray(value)) throw new Error('a comparison needs one value')
  return value
}

function list(value: PolicyCondition['value']): Operand[] {
  if (!Array.isArray(value)) throw new Error('a comparison needs a list of values')
  return value
}
