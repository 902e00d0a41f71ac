// Sets of the values that a field can have, for the analysis of policies. A set may be larger than what it stands for and
// never smaller: where an intersection is empty, no value exists.

import { isDecimalText, type Numeric } from './comparisons.ts'
import { EVERY_NUMBER, hasNumber, type Intervals, intersectIntervals, numberIn } from './intervals.ts'
import { type AnalysisWork, MAX_STEPS_AT_ONCE, type Pausing, unitsOf } from './work.ts'

export interface TextTest {
  passes(text: string): boolean
  /** What it costs at most, as of a pattern. */
  stepsOf(text: string): number
}

/** Only decimal texts, with values in one of these; `none`: only others. */
type Decimals = Intervals | 'none'

export type TextSet =
  | { kind: 'only'; texts: ReadonlySet<string> }
  | {
      kind: 'all'
      prefix: string
      decimals?: Decimals
      tests: readonly TextTest[]
    }

export interface ValueSet {
  isMissing: boolean
  hasTrue: boolean
  hasFalse: boolean
  numbers: Intervals
  texts: TextSet
  /** Lists and objects. */
  hasOther: boolean
}

export const NO_TEXT: TextSet = { kind: 'only', texts: new Set() }
export const EVERY_TEXT: TextSet & { kind: 'all' } = { kind: 'all', prefix: '', tests: [] }

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

export function isEmptySet({ isMissing, hasTrue, hasFalse, numbers, texts, hasOther }: ValueSet): boolean {
  return !isMissing && !hasTrue && !hasFalse && numbers.length === 0 && isNoText(texts) && !hasOther
}

/** Whether `intersect` is not empty, without making it. */
export function* canIntersect(work: AnalysisWork, a: ValueSet, b: ValueSet): Pausing<boolean> {
  if ((a.isMissing && b.isMissing) || (a.hasOther && b.hasOther)) return true
  if ((a.hasTrue && b.hasTrue) || (a.hasFalse && b.hasFalse)) return true
  if (a.numbers.length > 0 && b.numbers.length > 0) {
    if ((yield* intersectIntervals(work, a.numbers, b.numbers)).length > 0) return true
  }
  if (isNoText(a.texts) || isNoText(b.texts)) return false
  return yield* canIntersectTexts(work, a.texts, b.texts)
}

export function* intersect(work: AnalysisWork, a: ValueSet, b: ValueSet): Pausing<ValueSet> {
  return {
    isMissing: a.isMissing && b.isMissing,
    hasTrue: a.hasTrue && b.hasTrue,
    hasFalse: a.hasFalse && b.hasFalse,
    numbers: yield* intersectIntervals(work, a.numbers, b.numbers),
    texts: yield* intersectTexts(work, a.texts, b.texts),
    hasOther: a.hasOther && b.hasOther,
  }
}

/** Some value of the set, to be tried; undefined where none is obvious. `null` stands for a missing field. */
export function* sampleOf(work: AnalysisWork, set: ValueSet): Pausing<boolean | Numeric | null | undefined> {
  const [interval] = set.numbers
  if (interval !== undefined) return numberIn(interval)
  if (set.texts.kind === 'only') {
    const [text] = set.texts.texts
    if (text !== undefined) return text
  } else {
    const { decimals, prefix } = set.texts
    const decimal = decimals === 'none' ? undefined : decimals?.[0]
    const inside = decimal === undefined ? prefix : String(numberIn(decimal))
    for (const text of [inside, `${inside}x`, `${inside}xx`]) {
      if (yield* hasText(work, set.texts, text)) return text
    }
    return undefined
  }
  if (set.hasTrue) return true
  if (set.hasFalse) return false
  return set.isMissing ? null : undefined
}

function isNoText(texts: TextSet): boolean {
  return texts.kind === 'only' ? texts.texts.size === 0 : texts.decimals?.length === 0
}

function* canIntersectTexts(work: AnalysisWork, a: TextSet, b: TextSet): Pausing<boolean> {
  if (a.kind === 'only') {
    for (const text of a.texts) {
      if (work.charge(1)) yield
      if (b.kind === 'only' ? b.texts.has(text) : yield* hasText(work, b, text)) return true
    }
    return false
  }
  if (b.kind === 'only') return yield* canIntersectTexts(work, b, a)
  if (!a.prefix.startsWith(b.prefix) && !b.prefix.startsWith(a.prefix)) return false
  if (a.decimals === undefined || b.decimals === undefined) return true
  return (yield* intersectDecimals(work, a.decimals, b.decimals)).length > 0
}

function* intersectTexts(work: AnalysisWork, a: TextSet, b: TextSet): Pausing<TextSet> {
  if (a.kind === 'only') {
    const texts = new Set<string>()
    for (const text of a.texts) {
      if (work.charge(1)) yield
      if (b.kind === 'only' ? b.texts.has(text) : yield* hasText(work, b, text)) texts.add(text)
    }
    return { kind: 'only', texts }
  }
  if (b.kind === 'only') return yield* intersectTexts(work, b, a)
  const [long, short] = a.prefix.length > b.prefix.length ? [a.prefix, b.prefix] : [b.prefix, a.prefix]
  if (!long.startsWith(short)) return NO_TEXT
  if (work.charge(a.tests.length + b.tests.length)) yield
  const both: TextSet = { kind: 'all', prefix: long, tests: [...a.tests, ...b.tests] }
  const known = a.decimals ?? b.decimals
  if (known === undefined) return both
  return { ...both, decimals: yield* intersectDecimals(work, a.decimals ?? known, b.decimals ?? known) }
}

function* intersectDecimals(work: AnalysisWork, a: Decimals, b: Decimals): Pausing<Decimals> {
  if (a === b) return a
  if (a === 'none' || b === 'none') return []
  return yield* intersectIntervals(work, a, b)
}

// A search among intervals: some ten comparisons, which may parse decimals.
const UNITS_OF_SEARCH = 100

function* hasText(
  work: AnalysisWork,
  { decimals, prefix, tests }: TextSet & { kind: 'all' },
  text: string,
): Pausing<boolean> {
  if (!text.startsWith(prefix)) return false
  if (decimals !== undefined) {
    const isDecimal = isDecimalText(text)
    if (isDecimal === (decimals === 'none')) return false
    if (isDecimal && work.charge(UNITS_OF_SEARCH)) yield
    if (isDecimal && decimals !== 'none' && !hasNumber(decimals, text)) return false
  }
  for (const { passes, stepsOf } of tests) {
    const steps = stepsOf(text)
    if (steps > MAX_STEPS_AT_ONCE) {
      // The set is larger then, as it may be.
      work.hasSkipped = true
      continue
    }
    if (work.charge(unitsOf(steps))) yield
    if (!passes(text)) return false
  }
  return true
}
