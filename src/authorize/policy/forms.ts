// The forms of a condition, and walks over them. A list makes `all` and `any` combinators of conditions, an object makes them
// quantifiers over the elements of a list.

import type { PolicyCondition, PolicyQuantifier } from './document.ts'

export type Form =
  | { kind: 'all' | 'any'; operands: readonly PolicyCondition[] }
  | { kind: 'not'; operand: PolicyCondition }
  /** `every`: an `all` over elements, otherwise an `any`. */
  | { kind: 'quantifier'; isEvery: boolean; quantifier: PolicyQuantifier }
  | { kind: 'comparison' }

export function formOf({ all, any, not }: PolicyCondition): Form {
  if (all !== undefined) return Array.isArray(all) ? { kind: 'all', operands: all } : quantified(true, all)
  if (any !== undefined) return Array.isArray(any) ? { kind: 'any', operands: any } : quantified(false, any)
  return not === undefined ? { kind: 'comparison' } : { kind: 'not', operand: not }
}

function quantified(isEvery: boolean, quantifier: PolicyQuantifier): Form {
  return { kind: 'quantifier', isEvery, quantifier }
}

/** A comparison, or a quantifier, which has its own condition below. */
export interface Part {
  condition: PolicyCondition
  quantifier?: PolicyQuantifier
  path: readonly (string | number)[]
  /** Names of elements that its paths may begin with. */
  aliases: readonly string[]
}

/** The comparisons and quantifiers of a condition. */
export function* partsOf(
  condition: PolicyCondition,
  path: readonly (string | number)[] = [],
  aliases: readonly string[] = [],
): Generator<Part> {
  const form = formOf(condition)
  if (form.kind === 'comparison') {
    yield { condition, path, aliases }
  } else if (form.kind === 'not') {
    yield* partsOf(form.operand, [...path, 'not'], aliases)
  } else if (form.kind === 'quantifier') {
    const { quantifier } = form
    const at = [...path, form.isEvery ? 'all' : 'any']
    yield { condition, quantifier, path: at, aliases }
    yield* partsOf(quantifier.when, [...at, 'when'], [...aliases, quantifier.as])
  } else {
    for (const [index, operand] of form.operands.entries()) {
      yield* partsOf(operand, [...path, form.kind, index], aliases)
    }
  }
}

/** Levels of combinators and quantifiers around a comparison. */
export function depthOf(condition: PolicyCondition): number {
  const operands = operandsOf(condition)
  return operands === undefined ? 0 : 1 + operands.reduce((deepest, one) => Math.max(deepest, depthOf(one)), 0)
}

/** Comparisons, combinators and quantifiers. */
export function sizeOf(condition: PolicyCondition): number {
  return (operandsOf(condition) ?? []).reduce((sum, operand) => sum + sizeOf(operand), 1)
}

function operandsOf(condition: PolicyCondition): readonly PolicyCondition[] | undefined {
  const form = formOf(condition)
  switch (form.kind) {
    case 'comparison':
      return undefined
    case 'not':
      return [form.operand]
    case 'quantifier':
      return [form.quantifier.when]
    default:
      return form.operands
  }
}
