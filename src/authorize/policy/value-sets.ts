// Sets of the values that a field can have, for the analysis of policies. A set may be larger than what it stands for and
// never smaller: where an intersection is empty, no value exists.

import { compareNumbers, isDecimalText, isNumeric, type Numeric } from './comparisons.ts'

/** null: unbounded. */
export interface Interval {
  low: Numeric | null
  isLowOpen: boolean
  high: Numeric | null
  isHighOpen: boolean
}

export type TextSet =
  | { kind: 'only'; texts: readonly string[] }
  | {
      kind: 'all'
      excluded: readonly string[]
      prefix: string
      /** Only decimal texts, with values in one of these; `none`: only others. */
      decimals?: readonly Interval[] | 'none'
      tests: readonly ((text: string) => boolean)[]
    }

export interface ValueSet {
  isMissing: boolean
  hasTrue: boolean
  hasFalse: boolean
  numbers: readonly Interval[]
  texts: TextSet
  /** Lists and objects. */
  hasOther: boolean
}

export const EVERY_NUMBER: readonly Interval[] = [{ low: null, isLowOpen: true, high: null, isHighOpen: true }]
export const NO_TEXT: TextSet = { kind: 'only', texts: [] }
export const EVERY_TEXT: TextSet & { kind: 'all' } = { kind: 'all', excluded: [], prefix: '', tests: [] }

export const NOTHING: ValueSet = {
  isMissing: false,
  hasTrue: false,
  hasFalse: false,
  numbers: [],
  texts: NO_TEXT,
  hasOther: false,
}
export const EVERYTHING: ValueSet = {
  isMissing: true,
  hasTrue: true,
  hasFalse: true,
  numbers: EVERY_NUMBER,
  texts: EVERY_TEXT,
  hasOther: true,
}

export function point(value: Numeric): Interval {
  return { low: value, isLowOpen: false, high: value, isHighOpen: false }
}

export function isEmptySet({ isMissing, hasTrue, hasFalse, numbers, texts, hasOther }: ValueSet): boolean {
  return !isMissing && !hasTrue && !hasFalse && numbers.length === 0 && isNoText(texts) && !hasOther
}

/** Whether `intersect` is not empty, without making it. */
export function canIntersect(a: ValueSet, b: ValueSet): boolean {
  if ((a.isMissing && b.isMissing) || (a.hasOther && b.hasOther)) return true
  if ((a.hasTrue && b.hasTrue) || (a.hasFalse && b.hasFalse)) return true
  const haveNumbers = a.numbers.length > 0 && b.numbers.length > 0
  if (haveNumbers && intersectIntervals(a.numbers, b.numbers).length > 0) return true
  return !isNoText(a.texts) && !isNoText(b.texts) && !isNoText(intersectTexts(a.texts, b.texts))
}

export function intersect(a: ValueSet, b: ValueSet): ValueSet {
  return {
    isMissing: a.isMissing && b.isMissing,
    hasTrue: a.hasTrue && b.hasTrue,
    hasFalse: a.hasFalse && b.hasFalse,
    numbers: intersectIntervals(a.numbers, b.numbers),
    texts: intersectTexts(a.texts, b.texts),
    hasOther: a.hasOther && b.hasOther,
  }
}

export function unite(a: ValueSet, b: ValueSet): ValueSet {
  return {
    isMissing: a.isMissing || b.isMissing,
    hasTrue: a.hasTrue || b.hasTrue,
    hasFalse: a.hasFalse || b.hasFalse,
    numbers: [...a.numbers, ...b.numbers],
    texts: uniteTexts(a.texts, b.texts),
    hasOther: a.hasOther || b.hasOther,
  }
}

/** What lies outside of the intervals. */
export function complement(intervals: readonly Interval[]): readonly Interval[] {
  return intervals.reduce((rest, interval) => intersectIntervals(rest, outside(interval)), EVERY_NUMBER)
}

export function intersectIntervals(a: readonly Interval[], b: readonly Interval[]): readonly Interval[] {
  return a.flatMap((one) => b.flatMap((other) => overlap(one, other) ?? []))
}

/** Some value of the set, to be tried; undefined where none is obvious. `null` stands for a missing field. */
export function sampleOf(set: ValueSet): boolean | Numeric | null | undefined {
  const [interval] = set.numbers
  if (interval !== undefined) return numberIn(interval)
  if (set.texts.kind === 'only' && set.texts.texts.length > 0) return set.texts.texts[0]
  if (set.texts.kind === 'all') {
    const { decimals, prefix } = set.texts
    const decimal = decimals === 'none' ? undefined : decimals?.[0]
    const inside = decimal === undefined ? prefix : String(numberIn(decimal))
    const candidates = [inside, `${inside}x`, `${inside}xx`]
    return candidates.find((text) => hasText(set.texts, text))
  }
  if (set.hasTrue) return true
  if (set.hasFalse) return false
  return set.isMissing ? null : undefined
}

function numberIn({ low, isLowOpen, high, isHighOpen }: Interval): Numeric {
  if (low !== null && !isLowOpen) return low
  if (high !== null && !isHighOpen) return high
  if (low === null && high === null) return 0
  if (low === null) return Number(high) - 1
  return high === null ? Number(low) + 1 : (Number(low) + Number(high)) / 2
}

function outside({ low, isLowOpen, high, isHighOpen }: Interval): Interval[] {
  const below = low === null ? [] : [{ low: null, isLowOpen: true, high: low, isHighOpen: !isLowOpen }]
  const above = high === null ? [] : [{ low: high, isLowOpen: !isHighOpen, high: null, isHighOpen: true }]
  return [...below, ...above]
}

function overlap(a: Interval, b: Interval): Interval | undefined {
  const fromA = b.low === null || (a.low !== null && isStricter(compareNumbers(a.low, b.low), a.isLowOpen))
  const toA = b.high === null || (a.high !== null && isStricter(compareNumbers(b.high, a.high), a.isHighOpen))
  const [from, to] = [fromA ? a : b, toA ? a : b]
  const found = { low: from.low, isLowOpen: from.isLowOpen, high: to.high, isHighOpen: to.isHighOpen }
  if (found.low === null || found.high === null) return found
  const order = compareNumbers(found.low, found.high)
  return order < 0 || (order === 0 && !found.isLowOpen && !found.isHighOpen) ? found : undefined
}

// Of two bounds the inner one counts; of equal ones the open one.
function isStricter(order: number, isOpen: boolean): boolean {
  return order > 0 || (order === 0 && isOpen)
}

function isNoText(texts: TextSet): boolean {
  return texts.kind === 'only' ? texts.texts.length === 0 : texts.decimals?.length === 0
}

function intersectTexts(a: TextSet, b: TextSet): TextSet {
  if (a.kind === 'only') return { kind: 'only', texts: a.texts.filter((text) => hasText(b, text)) }
  if (b.kind === 'only') return intersectTexts(b, a)
  const [long, short] = a.prefix.length > b.prefix.length ? [a.prefix, b.prefix] : [b.prefix, a.prefix]
  if (!long.startsWith(short)) return NO_TEXT
  const decimals = intersectDecimals(a.decimals, b.decimals)
  return {
    kind: 'all',
    excluded: [...a.excluded, ...b.excluded],
    prefix: long,
    tests: [...a.tests, ...b.tests],
    ...(decimals !== undefined && { decimals }),
  }
}

type Decimals = (TextSet & { kind: 'all' })['decimals']

function intersectDecimals(a: Decimals, b: Decimals): Decimals {
  if (a === undefined || b === undefined) return a ?? b
  if (a === 'none' || b === 'none') return a === b ? a : []
  return intersectIntervals(a, b)
}

function uniteTexts(a: TextSet, b: TextSet): TextSet {
  if (isNoText(a)) return b
  if (isNoText(b)) return a
  if (a.kind === 'only' && b.kind === 'only') return { kind: 'only', texts: [...a.texts, ...b.texts] }
  return EVERY_TEXT
}

function hasText(set: TextSet, text: string): boolean {
  if (set.kind === 'only') return set.texts.includes(text)
  if (set.excluded.includes(text) || !text.startsWith(set.prefix)) return false
  const { decimals } = set
  if (decimals === 'none' && isDecimalText(text)) return false
  if (decimals !== undefined && decimals !== 'none' && !(isDecimalText(text) && isIn(decimals, text))) return false
  return set.tests.every((test) => test(text))
}

function isIn(intervals: readonly Interval[], value: unknown): boolean {
  return isNumeric(value) && intersectIntervals(intervals, [point(value)]).length > 0
}
