// What the elements of lists cost, and what errors about them say. What conditions on them mean is in the vectors.

import { describe, expect, it } from 'vitest'
import { compilePolicy } from '#src/authorize/policy/compile.ts'
import { MAX_PATTERN_STEPS } from '#src/authorize/policy/conditions.ts'
import { evaluatePolicy, NO_ANSWERS } from '#src/authorize/policy/evaluate.ts'
import type { Json, JsonObject } from '#src/platform/crypto/canonical.ts'
import { documentOf, factsOf } from './policy-vectors.ts'

const OFF = { biometric_flag: false, hardware_above: null }

describe('the elements of lists', () => {
  const over = (list: string, as: string, when: object) => ({ any: { in: list, as, when } })
  const judge = (conditions: object[], action_payload: JsonObject) => {
    const rules = conditions.map((when, n) => ({ id: `r${n}`, when, require: { deny: true } }))
    const budget = { steps: MAX_PATTERN_STEPS }
    const policy = compilePolicy(documentOf({ default_rules: OFF, rules }))
    const { results, isOverBudget } = evaluatePolicy(policy, factsOf({ action_payload }), NO_ANSWERS, { budget })
    return { results, isOverBudget, steps: MAX_PATTERN_STEPS - budget.steps }
  }
  const repeated = (count: number, condition: object) => Array.from({ length: count }, () => condition)
  const sku = { field: 'item.sku', op: 'eq', value: 'x' }
  const items = (count: number, item: Json = { sku: 'a' }) => ({ items: repeated(count, item as JsonObject) as Json[] })
  const list = 'action_payload.items'

  it('of an ordinary order and of a long one are affordable', () => {
    const conditions = repeated(50, over(list, 'item', { all: [sku, { field: 'item.count', op: 'gt', value: 5 }] }))
    expect(judge(conditions, items(50)).steps).toBeLessThan(MAX_PATTERN_STEPS / 4)
    expect(judge([over(list, 'item', sku)], items(20_000))).toMatchObject({ results: [], isOverBudget: undefined })
  })

  it.each<[string, object[], JsonObject]>([
    ['many rules', repeated(1_000, over(list, 'item', sku)), items(1_000)],
    ['a list in a list', [over(list, 'item', over(list, 'other', sku))], items(1_000)],
    ['many conditions', [over(list, 'item', { not: { all: repeated(100, { not: sku }) } })], items(5_000)],
    ['missing members', [over(list, 'item', { any: repeated(100, sku) })], items(5_000, 0)],
    ['exists', [over(list, 'item', { any: repeated(100, { field: 'item.sku', op: 'exists' }) })], items(5_000, 0)],
    ['combinations of nothing', [over(list, 'item', { any: repeated(100, { any: [] }) })], items(5_000, 0)],
    [
      'long texts',
      repeated(300, over(list, 'item', { ...sku, value: 'a'.repeat(1_000) })),
      items(60, { sku: 'a'.repeat(999) }),
    ],
    [
      'decimals that are equal as doubles',
      repeated(10, over(list, 'item', { field: 'item.n', op: 'gt', value: 5 })),
      items(1_000, { n: '5.00000000000000000000' }),
    ],
    [
      'regular expressions',
      repeated(5, over(list, 'item', { ...sku, op: 'matches', value: '(?:a|b){0,100}c$' })),
      items(50, { sku: 'ab'.repeat(50) }),
    ],
    ['searches', repeated(20, over(list, 'item', { ...sku, op: 'contains' })), items(1_000, { sku: 'ab'.repeat(30) })],
  ])('are bounded by what their conditions cost: %s', (_, conditions, payload) => {
    const { results, isOverBudget, steps } = judge(conditions, payload)
    expect(isOverBudget).toBe(true)
    // What came before the bound is false, what comes after it refuses.
    expect(results.length).toBeGreaterThan(0)
    expect(results.every(({ error, met }) => error?.includes('cost too much') && !met)).toBe(true)
    // None goes on after the bound: each rule that is left is charged for a few conditions, or for one search.
    expect(steps - MAX_PATTERN_STEPS).toBeLessThan(20_000)
  })

  it('name the list of an error and no value of it', () => {
    const [result] = judge([over(list, 'item', sku)], { items: { secret: 'hunter2' } }).results
    expect(result?.error).toBe('action_payload.items: is not a list')
    const [typed] = judge(
      [over(list, 'item', { field: 'item.n', op: 'gt', value: 1 })],
      items(1, { n: 'hunter2' }),
    ).results
    expect(typed?.error).toBe('item.n: is neither a number nor a decimal string')
  })
})
