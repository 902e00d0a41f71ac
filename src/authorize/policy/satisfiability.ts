// Whether any facts make conditions true, or false. A condition becomes a disjunction of terms, each of which says for
// some fields in which set their values are. Exact but for what sets and separate fields leave out, and these err to one
// side: what is called impossible is impossible.

import { compilePattern } from '#src/platform/patterns.ts'
import { isDecimalText, isNumeric, type Numeric } from './comparisons.ts'
import type { Operand, PolicyCondition } from './document.ts'
import { findField } from './fields.ts'
import {
  canIntersect,
  complement,
  EVERY_NUMBER,
  EVERY_TEXT,
  EVERYTHING,
  type Interval,
  intersect,
  isEmptySet,
  NO_TEXT,
  NOTHING,
  point,
  type TextSet,
  unite,
  type ValueSet,
} from './value-sets.ts'

/** `notFalse`: true, or an error, which counts as a match. */
export type Outcome = 'true' | 'false' | 'notTrue' | 'notFalse'

/** By field and zone. */
export type Term = ReadonlyMap<string, { field: string; timezone: string; set: ValueSet }>

/** undefined: too many terms to say. */
export type Terms = readonly Term[] | undefined

const MAX_TERMS = 128
const ALWAYS: readonly Term[] = [new Map()]

const OPPOSITE: Record<Outcome, Outcome> = {
  true: 'false',
  false: 'true',
  notTrue: 'notFalse',
  notFalse: 'notTrue',
}

/** The facts for which a condition has an outcome. Empty: there are none. */
export function termsOf(
  condition: PolicyCondition,
  outcome: Outcome,
  { onMissing = 'false', isNegated = false }: { onMissing?: 'false' | 'match'; isNegated?: boolean } = {},
): Terms {
  const { all, any, not } = condition
  if (not !== undefined) return termsOf(not, OPPOSITE[outcome], { onMissing, isNegated: !isNegated })
  const operands = all ?? any
  if (operands === undefined) return comparisonTerms(condition, outcome, onMissing === 'match' ? !isNegated : false)
  const isConjunction = (all !== undefined) === (outcome === 'true' || outcome === 'notFalse')
  let terms: Terms = isConjunction ? ALWAYS : []
  for (const operand of operands) {
    const next = termsOf(operand, outcome, { onMissing, isNegated })
    terms = isConjunction ? bothOf(terms, next) : eitherOf(terms, next)
  }
  return terms
}

/** The facts of which both hold. */
export function bothOf(a: Terms, b: Terms): Terms {
  if (a === undefined || b === undefined) return a?.length === 0 || b?.length === 0 ? [] : undefined
  const terms: Term[] = []
  for (const one of a) {
    for (const other of b) {
      const term = joinTerms(one, other)
      if (term !== undefined) terms.push(term)
      if (terms.length > MAX_TERMS) return undefined
    }
  }
  return terms
}

/** Whether facts may exist of which both hold; without writing them down. */
export function canBoth(a: Terms, b: Terms): boolean {
  if (a === undefined || b === undefined) return a?.length !== 0 && b?.length !== 0
  return a.some((one) => b.some((other) => areCompatible(one, other)))
}

function areCompatible(a: Term, b: Term): boolean {
  for (const [key, { set }] of a) {
    const other = b.get(key)
    if (other !== undefined && !canIntersect(set, other.set)) return false
  }
  return true
}

function eitherOf(a: Terms, b: Terms): Terms {
  if (a === undefined || b === undefined || a.length + b.length > MAX_TERMS) return undefined
  return [...a, ...b]
}

function joinTerms(a: Term, b: Term): Term | undefined {
  const [small, large] = a.size < b.size ? [a, b] : [b, a]
  const joined = new Map(large)
  for (const [key, literal] of small) {
    const known = joined.get(key)
    if (known === undefined) {
      joined.set(key, literal)
      continue
    }
    const set = intersect(known.set, literal.set)
    if (isEmptySet(set)) return undefined
    joined.set(key, { ...literal, set })
  }
  return joined
}

function comparisonTerms(condition: PolicyCondition, outcome: Outcome, isMissingTrue: boolean): Terms {
  const { field = '', timezone = 'UTC', op } = condition
  const { whenTrue, whenFalse, whenError } = setsOf(condition)
  const missing = { ...NOTHING, isMissing: true }
  // `exists` has said itself what a missing field comes to.
  const isSaid = op === 'exists'
  const [trueSet, falseSet] = isSaid
    ? [whenTrue, whenFalse]
    : isMissingTrue
      ? [unite(whenTrue, missing), whenFalse]
      : [whenTrue, unite(whenFalse, missing)]
  // One term each, as a union of sets of texts is less exact.
  const sets: Record<Outcome, ValueSet[]> = {
    true: [trueSet],
    false: [falseSet],
    notTrue: [falseSet, whenError],
    notFalse: [trueSet, whenError],
  }
  return sets[outcome]
    .map((wanted) => intersect(wanted, domainOf(field)))
    .filter((set) => !isEmptySet(set))
    .map((set) => new Map([[`${field} ${timezone}`, { field, timezone, set }]]))
}

const RANGES: Record<string, Interval> = {
  'time.hour': { low: 0, isLowOpen: false, high: 23, isHighOpen: false },
  'time.weekday': { low: 1, isLowOpen: false, high: 7, isHighOpen: false },
}
const TIERS: TextSet = { kind: 'only', texts: ['none', 'software', 'tee', 'strongbox', 'secure_enclave'] }

function domainOf(path: string): ValueSet {
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

interface Sets {
  whenTrue: ValueSet
  whenFalse: ValueSet
  whenError: ValueSet
}

// Of values that are there.
function setsOf({ op, value }: PolicyCondition): Sets {
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
        tested((text) => !text.startsWith(start)),
      )
    }
    case 'matches': {
      const pattern = compilePattern(String(value))
      const sets = textSets(
        tested((text) => pattern.test(text)),
        tested((text) => !pattern.test(text)),
      )
      // Its cost may be too high, whatever the text.
      return { ...sets, whenError: { ...sets.whenError, texts: EVERY_TEXT } }
    }
    default: {
      const part = value
      const lists = { ...NOTHING, hasOther: true }
      if (typeof part !== 'string') {
        const whenError = { ...EVERYTHING, isMissing: false }
        return { whenTrue: lists, whenFalse: lists, whenError }
      }
      const sets = textSets(
        tested((text) => text.includes(part)),
        tested((text) => !text.includes(part)),
      )
      return { ...sets, whenTrue: unite(sets.whenTrue, lists), whenFalse: unite(sets.whenFalse, lists) }
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

function numericSets(within: readonly Interval[]): Sets {
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
  if (typeof first === 'number') return numericSets(constants.filter(isNumeric).map(point))
  if (typeof first === 'boolean') {
    const [hasTrue, hasFalse] = [constants.includes(true), constants.includes(false)]
    return {
      whenTrue: { ...NOTHING, hasTrue, hasFalse },
      whenFalse: { ...NOTHING, hasTrue: !hasTrue, hasFalse: !hasFalse },
      whenError: { ...EVERYTHING, isMissing: false, hasTrue: false, hasFalse: false },
    }
  }
  const texts = constants.map(String)
  const numbers = texts.filter(isDecimalText).map(point)
  const sets = textSets({ kind: 'only', texts }, { ...EVERY_TEXT, excluded: texts })
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

function tested(test: (text: string) => boolean): TextSet {
  return { ...EVERY_TEXT, tests: [test] }
}
