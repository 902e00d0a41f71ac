// Comparisons of one value that is there with the constants of a condition: texts as they are, numbers and decimal texts as
// exact decimals.

import { Decimal } from 'decimal.js'
import type { Json } from '#src/platform/crypto/canonical.ts'
import { compilePattern } from '#src/platform/patterns.ts'
import type { Run, Truth } from './conditions.ts'
import type { Operand, PolicyCondition } from './document.ts'

export type Test = (found: Json, run: Run) => Truth

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
        return pattern.testWithin(run.budget, found) ?? TOO_COSTLY
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

// Same as `eq` with any of the constants, which are of one type.
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
  const stepsOf = (element: Json) =>
    isNumeric(constant) && typeof element !== typeof constant ? DECIMAL_STEPS : stepsOfEqual(constant)
  return (found, run) => {
    if (typeof found === 'string' && typeof constant === 'string') {
      return isAffordable(run, stepsOfSearch(found, constant)) ? found.includes(constant) : TOO_COSTLY
    }
    if (!Array.isArray(found)) return typeof constant === 'string' ? 'is neither a string nor a list' : 'is not a list'
    for (const element of found) {
      if (!isAffordable(run, stepsOf(element))) return TOO_COSTLY
      if (element !== null && isEqual(element, run) === true) return true
    }
    return false
  }
}

/** The error of rules that the budget of an evaluation did not reach. */
export const TOO_COSTLY = 'the searches, regular expressions and lists of this policy cost too much on these facts'

// Texts and lists are as long as a caller makes them, and a policy may search ten thousand times.
export function isAffordable(run: Run, steps: number): boolean {
  run.budget.steps -= steps
  return run.budget.steps >= 0
}

// In steps of patterns, some 10 ns each. An exact comparison of decimals takes 0.7 µs, one of texts compares some 30
// characters in a step, and a search is no automaton: with a text of one letter it compares most of what it looks for at each
// place, and hardly less than 8 characters where that is short.
const DECIMAL_STEPS = 70
const CHARACTERS_OF_A_STEP = 32
const LEAST_COMPARED = 8

/** What a comparison may cost beyond reading its field. Searches and regular expressions charge themselves. */
export function stepsOfTest(op: PolicyCondition['op'], value: PolicyCondition['value']): (found: Json) => number {
  const [constant] = Array.isArray(value) ? value : [value]
  const isOrder = op === 'gt' || op === 'gte' || op === 'lt' || op === 'lte' || op === 'between'
  const isEqual = op === 'eq' || op === 'ne' || op === 'in' || op === 'not_in'
  return (found) => {
    const isDecimal = isOrder
      ? typeof found === 'string' || typeof constant === 'string'
      : isEqual && typeof constant !== 'boolean' && typeof found !== typeof constant
    return isDecimal ? DECIMAL_STEPS : stepsOfEqual(constant ?? false)
  }
}

function stepsOfEqual(constant: Operand): number {
  return 1 + (typeof constant === 'string' ? Math.floor(constant.length / CHARACTERS_OF_A_STEP) : 0)
}

/** What it costs to look for a text in another one, in steps of patterns. */
export function stepsOfSearch(text: string, wanted: string): number {
  if (wanted.length > text.length) return 1
  return Math.ceil((text.length * Math.max(LEAST_COMPARED, wanted.length)) / CHARACTERS_OF_A_STEP)
}

function scalar(value: PolicyCondition['value']): Operand {
  if (value === undefined || Array.isArray(value)) throw new Error('a comparison needs one value')
  return value
}

function list(value: PolicyCondition['value']): Operand[] {
  if (!Array.isArray(value)) throw new Error('a comparison needs a list of values')
  return value
}

/** A JSON number, or a text that `isDecimalText` accepts. */
export type Numeric = number | string

// 40 digits on either side are far beyond every amount. No exponent, no sign but a minus, no leading zeros.
const DECIMAL_TEXT = /^-?(?:0|[1-9][0-9]{0,39})(?:\.[0-9]{1,40})?$/
const MAX_TEXT = 82

export function isDecimalText(text: string): boolean {
  return text.length <= MAX_TEXT && DECIMAL_TEXT.test(text)
}

export function isNumeric(value: unknown): value is Numeric {
  return typeof value === 'number' ? Number.isFinite(value) : typeof value === 'string' && isDecimalText(value)
}

// Negative where the value is smaller.
function comparerTo(constant: Numeric): (value: Numeric) => number {
  const decimal = new Decimal(constant)
  const double = Number(constant)
  const isDouble = typeof constant === 'number'
  return (value) =>
    Number(value) - double || (isDouble && typeof value === 'number' ? 0 : new Decimal(value).cmp(decimal))
}

/**
 * Rounding to doubles keeps the order, so that doubles which differ order like the decimals. Only equal ones need the
 * decimals, where one side is a text. Two JSON numbers compare like their shortest texts.
 */
export function compareNumbers(a: Numeric, b: Numeric): number {
  const order = Number(a) - Number(b)
  if (order !== 0 || a === b || (typeof a === 'number' && typeof b === 'number')) return order
  return new Decimal(a).cmp(b)
}

/**
 * Returns values in ascending order, equal ones once. Each text is parsed once, where `compareNumbers` would parse it
 * many times.
 */
export function sortNumbers(values: readonly Numeric[]): readonly Numeric[] {
  if (values.every((value) => typeof value === 'number')) return [...new Set(values)].sort((a, b) => a - b)
  const keyed = values.map((value) => ({ value, double: Number(value), decimal: new Decimal(value) }))
  keyed.sort((a, b) => a.double - b.double || a.decimal.cmp(b.decimal))
  return keyed.filter(({ decimal }, index) => !keyed[index - 1]?.decimal.eq(decimal)).map(({ value }) => value)
}

// The same text for equal numbers.
function canonicalNumber(value: Numeric): string {
  return new Decimal(value).toString()
}
