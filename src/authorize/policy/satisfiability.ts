// Whether any facts make conditions true, or false. A condition becomes a disjunction of terms, each of which says for
// some fields in which set their values are. Exact but for what sets and separate fields leave out, and these err to one
// side: what is called impossible is impossible.

import { domainOf, LIST_SETS, type Sets, setsOf } from './comparison-sets.ts'
import { type OnMissing, outcomeOfMissing } from './conditions.ts'
import type { PolicyCondition } from './document.ts'
import { findField } from './fields.ts'
import { formOf } from './forms.ts'
import { canIntersect, intersect, isEmptySet, type ValueSet } from './value-sets.ts'
import type { AnalysisWork, Pausing } from './work.ts'

/** `notFalse`: true, or an error, which counts as a match. */
export type Outcome = 'true' | 'false' | 'notTrue' | 'notFalse'

/** Value sets by field and zone. */
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
export function* termsOf(
  work: AnalysisWork,
  condition: PolicyCondition,
  outcome: Outcome,
  { onMissing = 'false', isNegated = false }: { onMissing?: OnMissing; isNegated?: boolean } = {},
): Pausing<Terms> {
  const form = formOf(condition)
  if (form.kind === 'not') {
    return yield* termsOf(work, form.operand, OPPOSITE[outcome], { onMissing, isNegated: !isNegated })
  }
  if (form.kind === 'comparison' || form.kind === 'quantifier') {
    return yield* fieldTerms(work, condition, outcome, outcomeOfMissing(condition.op, onMissing, isNegated))
  }
  const isConjunction = (form.kind === 'all') === (outcome === 'true' || outcome === 'notFalse')
  let terms: Terms = isConjunction ? ALWAYS : []
  for (const operand of form.operands) {
    const next: Terms = yield* termsOf(work, operand, outcome, { onMissing, isNegated })
    terms = isConjunction ? yield* bothOf(work, terms, next) : eitherOf(terms, next)
  }
  return terms
}

/** The facts of which both hold. */
export function* bothOf(work: AnalysisWork, a: Terms, b: Terms): Pausing<Terms> {
  if (a === undefined || b === undefined) return a?.length === 0 || b?.length === 0 ? [] : undefined
  const terms: Term[] = []
  for (const one of a) {
    for (const other of b) {
      const term = yield* joinTerms(work, one, other)
      if (term !== undefined) terms.push(term)
      if (terms.length > MAX_TERMS) return undefined
    }
  }
  return terms
}

/** Whether facts may exist of which both hold; without writing them down. */
export function* canBoth(work: AnalysisWork, a: Terms, b: Terms): Pausing<boolean> {
  if (a === undefined || b === undefined) return a?.length !== 0 && b?.length !== 0
  for (const one of a) {
    for (const other of b) {
      if (yield* areCompatible(work, one, other)) return true
    }
  }
  return false
}

function* areCompatible(work: AnalysisWork, a: Term, b: Term): Pausing<boolean> {
  if (work.charge(a.size)) yield
  for (const [key, { set }] of a) {
    const other = b.get(key)
    if (other !== undefined && !(yield* canIntersect(work, set, other.set))) return false
  }
  return true
}

function eitherOf(a: Terms, b: Terms): Terms {
  if (a === undefined || b === undefined || a.length + b.length > MAX_TERMS) return undefined
  return [...a, ...b]
}

function* joinTerms(work: AnalysisWork, a: Term, b: Term): Pausing<Term | undefined> {
  const [small, large] = a.size < b.size ? [a, b] : [b, a]
  if (work.charge(small.size + large.size)) yield
  const joined = new Map(large)
  for (const [key, literal] of small) {
    const known = joined.get(key)
    if (known === undefined) {
      joined.set(key, literal)
      continue
    }
    const set = yield* intersect(work, known.set, literal.set)
    if (isEmptySet(set)) return undefined
    joined.set(key, { ...literal, set })
  }
  return joined
}

// Cost of one constant: numbers are sorted, texts are searched for decimals, which are parsed and sorted.
const UNITS_OF_NUMBER = 3
const UNITS_OF_TEXT = 15

// The terms of a comparison, or of a quantifier: they say that there is a list, and nothing of its elements.
function* fieldTerms(
  work: AnalysisWork,
  condition: PolicyCondition,
  outcome: Outcome,
  isMissingTrue: boolean,
): Pausing<Terms> {
  const form = formOf(condition)
  const { timezone = 'UTC', op, value } = condition
  const field = form.kind === 'quantifier' ? form.quantifier.in : (condition.field ?? '')
  // A comparison with a field that does not exist is an error for all facts.
  if (findField(field) === undefined) return outcome === 'notTrue' || outcome === 'notFalse' ? ALWAYS : []
  if (Array.isArray(value)) {
    if (work.charge(value.length * (typeof value[0] === 'string' ? UNITS_OF_TEXT : UNITS_OF_NUMBER))) yield
  }
  const { whenTrue, whenFalse, whenError }: Sets = form.kind === 'quantifier' ? LIST_SETS : setsOf(condition)
  // `exists` has said itself what a missing field comes to.
  const isSaid = op === 'exists'
  const [trueSet, falseSet] = isSaid
    ? [whenTrue, whenFalse]
    : isMissingTrue
      ? [{ ...whenTrue, isMissing: true }, whenFalse]
      : [whenTrue, { ...whenFalse, isMissing: true }]
  // Each text has its own term, because a union of sets of texts is less exact.
  const sets: Record<Outcome, ValueSet[]> = {
    true: [trueSet],
    false: [falseSet],
    notTrue: [falseSet, whenError],
    notFalse: [trueSet, whenError],
  }
  const terms: Term[] = []
  for (const wanted of sets[outcome]) {
    const set = yield* intersect(work, wanted, domainOf(field))
    if (!isEmptySet(set)) terms.push(new Map([[`${field} ${timezone}`, { field, timezone, set }]]))
  }
  return terms
}
