// The sets of values for which one comparison is true, false or an error.

import { compilePattern } from '#src/platform/patterns.ts'
import { isDecimalText, isNumeric, type Numeric, stepsOfSearch } from './comparisons.ts'
import type { Operand, PolicyCondition } from './document.ts'
import { findField } from './fields.ts'
import { complement, EVERY_NUMBER, type Interval, type Intervals, pointsOf } from './intervals.ts'
import { EVERY_TEXT, EVERYTHING, NO_TEXT, NOTHING, type TextSet, type TextTest, type ValueSet } from './value-sets.ts'

const RANGES: Record<string, Interval> = {
  'time.hour': { low: 0, isLowOpen: false, high: 23, isHighOpen: false },
  'time.weekday': { low: 1, isLowOpen: false, high: 7, isHighOpen: false },
}
const TIERS: TextSet = { kind: 'only', texts: new Set(['none', 'software', 'tee', 'strongbox', 'secure_enclave']) }

/** The values that a field of the facts can have. */
export function domainOf(path: string): ValueSet {
  const field = findField(path)
  const isMissing = field?.isAlways !== true
  const range = RANGES[path]
  switch (field?.kind) {
    case 'string':
      return { ...NOTHING, isMissing, texts: path === 'device.tier' ? TIERS : EVERY_TEXT }
    case 'number':
      return { ...NOTHING, isMissing, numbers: range === undefined ? EVERY_NUMBER : [range] }
    case 'boolean':
      return { ...NOTHING, isMissing, hasTrue: true, hasFalse: true }
    default:
      return EVERYTHING
  }
}

export interface Sets {
  whenTrue: ValueSet
  whenFalse: ValueSet
  whenError: ValueSet
}

/** Lists for which a quantifier has each outcome, whatever it says of the elements: some may have a wrong type. */
export const LIST_SETS: Sets = {
  whenTrue: { ...NOTHING, hasOther: true },
  whenFalse: { ...NOTHING, hasOther: true },
  whenError: { ...EVERYTHING, isMissing: false },
}

/** Sets of present values. */
export function setsOf({ op, value }: PolicyCondition): Sets {
  switch (op) {
    case 'exists': {
      const present = { ...EVERYTHING, isMissing: false }
      const missing = { ...NOTHING, isMissing: true }
      const [whenTrue, whenFalse] = value === false ? [missing, present] : [present, missing]
      return { whenTrue, whenFalse, whenError: NOTHING }
    }
    case 'gt':
      return numericSets([{ low: value as Numeric, isLowOpen: true, high: null, isHighOpen: true }])
    case 'gte':
      return numericSets([{ low: value as Numeric, isLowOpen: false, high: null, isHighOpen: true }])
    case 'lt':
      return numericSets([{ low: null, isLowOpen: true, high: value as Numeric, isHighOpen: true }])
    case 'lte':
      return numericSets([{ low: null, isLowOpen: true, high: value as Numeric, isHighOpen: false }])
    case 'between': {
      const [low = 0, high = 0] = value as Numeric[]
      return numericSets([{ low, isLowOpen: false, high, isHighOpen: false }])
    }
    case 'eq':
      return memberSets([value as Operand])
    case 'ne':
      return swapped(memberSets([value as Operand]))
    case 'in':
      return memberSets(value as Operand[])
    case 'not_in':
      return swapped(memberSets(value as Operand[]))
    case 'starts_with': {
      const start = String(value)
      return textSets(
        { ...EVERY_TEXT, prefix: start },
        tested({ passes: (text) => !text.startsWith(start), stepsOf: () => 1 }),
      )
    }
    case 'matches': {
      const pattern = compilePattern(String(value))
      const stepsOf = (text: string) => pattern.stepsOf(text)
      const sets = textSets(
        tested({ passes: (text) => pattern.test(text), stepsOf }),
        tested({ passes: (text) => !pattern.test(text), stepsOf }),
      )
      // Its cost may be too high, whatever the text.
      return { ...sets, whenError: { ...sets.whenError, texts: EVERY_TEXT } }
    }
    default: {
      const part = value
      if (typeof part !== 'string') return LIST_SETS
      const stepsOf = (text: string) => stepsOfSearch(text, part)
      const { whenTrue, whenFalse, whenError } = textSets(
        tested({ passes: (text) => text.includes(part), stepsOf }),
        tested({ passes: (text) => !text.includes(part), stepsOf }),
      )
      return { whenTrue: { ...whenTrue, hasOther: true }, whenFalse: { ...whenFalse, hasOther: true }, whenError }
    }
  }
}

const NEITHER_NUMBER: ValueSet = {
  ...NOTHING,
  hasTrue: true,
  hasFalse: true,
  texts: { ...EVERY_TEXT, decimals: 'none' },
  hasOther: true,
}

function numericSets(within: Intervals): Sets {
  const beyond = complement(within)
  return {
    whenTrue: { ...NOTHING, numbers: within, texts: { ...EVERY_TEXT, decimals: within } },
    whenFalse: { ...NOTHING, numbers: beyond, texts: { ...EVERY_TEXT, decimals: beyond } },
    whenError: NEITHER_NUMBER,
  }
}

function textSets(whenTrue: TextSet, whenFalse: TextSet): Sets {
  return {
    whenTrue: { ...NOTHING, texts: whenTrue },
    whenFalse: { ...NOTHING, texts: whenFalse },
    whenError: { ...EVERYTHING, isMissing: false, texts: NO_TEXT },
  }
}

// Equal to one of several constants of one type.
function memberSets(constants: readonly Operand[]): Sets {
  const [first] = constants
  if (typeof first === 'number') return numericSets(pointsOf(constants.filter(isNumeric)))
  if (typeof first === 'boolean') {
    const [hasTrue, hasFalse] = [constants.includes(true), constants.includes(false)]
    return {
      whenTrue: { ...NOTHING, hasTrue, hasFalse },
      whenFalse: { ...NOTHING, hasTrue: !hasTrue, hasFalse: !hasFalse },
      whenError: { ...EVERYTHING, isMissing: false, hasTrue: false, hasFalse: false },
    }
  }
  const texts = new Set(constants.map(String))
  const numbers = pointsOf([...texts].filter(isDecimalText))
  const sets = textSets({ kind: 'only', texts }, tested({ passes: (text) => !texts.has(text), stepsOf: () => 1 }))
  if (numbers.length === 0) return sets
  return {
    whenTrue: { ...sets.whenTrue, numbers },
    whenFalse: { ...sets.whenFalse, numbers: complement(numbers) },
    whenError: { ...sets.whenError, numbers: [] },
  }
}

function swapped({ whenTrue, whenFalse, whenError }: Sets): Sets {
  return { whenTrue: whenFalse, whenFalse: whenTrue, whenError }
}

function tested(test: TextTest): TextSet {
  return { ...EVERY_TEXT, tests: [test] }
}
