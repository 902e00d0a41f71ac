// The compiled policy against a reference that is written for reading, over generated policies and facts.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compilePolicy } from '#src/authorize/policy/compile.ts'
import type { PolicyCondition, PolicyDocument } from '#src/authorize/policy/document.ts'
import { evaluatePolicy, type PolicyAnswers, type PolicyFacts } from '#src/authorize/policy/evaluate.ts'
import { findDisablingFields } from '#src/authorize/policy/missing-fields.ts'
import type { Json, JsonObject } from '#src/platform/crypto/canonical.ts'
import { analysisOf } from './analysis.ts'
import { answersOf, documentOf, factsOf } from './policy-vectors.ts'
import { refer } from './reference.ts'

const FIELDS = ['action_type', 'context.a', 'context.b', 'context.transaction_amount', 'token.biometric', 'time.hour']
const scalar = fc.constantFrom<string | number | boolean>('a', 'ab', '5', '5.0', '7.25', 5, 7.25, 10, true, false)
const numeric = fc.constantFrom<string | number>(5, '5.0', 7.25, '10', 500)
const texts = fc.constantFrom('a', 'ab', 'b', '')

const leaf: fc.Arbitrary<PolicyCondition> = fc.oneof(
  fc.record({ field: fc.constant('action_type'), op: fc.constant('eq'), value: fc.constantFrom('a', 'wire') }),
  fc.record({ field: fc.constant('action_type'), op: fc.constant('in'), value: fc.constant(['wire', 'card']) }),
  fc.record({
    field: fc.constantFrom('context.a', 'context.b'),
    op: fc.constantFrom('eq', 'ne', 'contains'),
    value: scalar,
  }),
  fc.record({
    field: fc.constantFrom('context.a', 'context.transaction_amount', 'time.hour'),
    op: fc.constantFrom('gt', 'gte', 'lt', 'lte'),
    value: numeric,
  }),
  fc.record({
    field: fc.constantFrom('context.a', 'context.b'),
    op: fc.constantFrom('in', 'not_in'),
    value: fc.constantFrom<(string | number)[]>(['a', '5'], [5, 7.25], ['b']),
  }),
  fc.record({
    field: fc.constantFrom('context.a', 'context.b'),
    op: fc.constantFrom('between'),
    value: fc.constant([5, '10']),
  }),
  fc.record({
    field: fc.constantFrom('context.a', 'action_type'),
    op: fc.constantFrom('starts_with', 'matches'),
    value: texts,
  }),
  fc.record({ field: fc.constantFrom(...FIELDS), op: fc.constantFrom('exists'), value: fc.boolean() }),
  fc.record({ field: fc.constantFrom('token.biometric'), op: fc.constantFrom('eq'), value: fc.boolean() }),
) as fc.Arbitrary<PolicyCondition>

const inElement = fc
  .oneof(
    fc.record({
      field: fc.constantFrom('item', 'item.x', 'context.b'),
      op: fc.constantFrom('eq', 'ne', 'gt', 'in', 'not_in', 'exists'),
    }),
  )
  .map(({ field, op }) => {
    const value = { eq: 'a', ne: 'a', gt: 5, in: ['a', '5'], not_in: ['a', '5'], exists: true }[op]
    return { field, op, value } as PolicyCondition
  })

const combined = (maxDepth: number, base: fc.Arbitrary<PolicyCondition>) =>
  fc.letrec<{ condition: PolicyCondition }>((tie) => ({
    condition: fc.oneof(
      { maxDepth, withCrossShrink: true },
      base,
      fc.record({ all: fc.array(tie('condition'), { maxLength: 3 }) }),
      fc.record({ any: fc.array(tie('condition'), { maxLength: 3 }) }),
      fc.record({ not: tie('condition') }),
    ),
  })).condition
const ofElements = combined(1, inElement)
const quantified = fc
  .tuple(fc.constantFrom('all', 'any'), fc.constantFrom('context.a', 'context.list'), ofElements)
  .map(([form, list, when]): PolicyCondition => ({ [form]: { in: list, as: 'item', when } }))
const condition = combined(2, fc.oneof({ arbitrary: leaf, weight: 4 }, { arbitrary: quantified, weight: 1 }))

const require = fc.constantFrom<object>(
  { deny: true },
  { biometric: true },
  { hardware: true },
  { min_tier: 'strongbox' },
  { canary: { set: 's', mode: 'strict' } },
  { canary: { set: 's', mode: 'best_effort' } },
  { webhook: { url: 'https://policy.example.com' } },
  { biometric: true, min_tier: 'tee' },
)
const ruleBody = fc.record({
  priority: fc.integer({ min: 0, max: 3 }),
  enabled: fc.boolean(),
  shadow: fc.boolean(),
  when: condition,
  require,
})
const document: fc.Arbitrary<PolicyDocument> = fc
  .array(ruleBody, { maxLength: 6 })
  .map((rules) => documentOf({ rules: rules.map((rule, index) => ({ ...rule, id: `r${index}` })) }))

const value: fc.Arbitrary<Json> = fc.oneof(
  scalar,
  fc.constant(null),
  fc.constant<Json>(['a', 5]),
  fc.constant<Json>({ x: 1 }),
  fc.array(fc.oneof(scalar, fc.constantFrom<Json>(null, { x: 'a' }, { x: 7 }, {})), { maxLength: 3 }),
)
const facts: fc.Arbitrary<PolicyFacts> = fc
  .record({
    action_type: fc.constantFrom(null, 'a', 'wire'),
    context: fc.dictionary(fc.constantFrom('a', 'b', 'list', 'transaction_amount', 'require_biometric'), value),
    action_payload: fc.dictionary(fc.constantFrom('amount', 'require_biometric'), value),
    device: fc.record({
      id: fc.constant('d'),
      tier: fc.constantFrom('none', 'software', 'tee', 'strongbox'),
      enrolled: fc.boolean(),
    }),
    token: fc.record({ biometric: fc.boolean() }),
    at: fc.constantFrom('2026-11-22T05:00:00.000Z', '2026-11-22T10:30:00.000Z'),
  })
  .map((made) => factsOf(made as Partial<PolicyFacts>))
const ids = ['r0', 'r1', 'r2', 'r3']
const answers: fc.Arbitrary<PolicyAnswers> = fc
  .record({
    webhooks: fc.dictionary(
      fc.constantFrom(...ids),
      fc.constantFrom('unavailable', { decision: 'allow' }, { decision: 'deny' }),
    ),
    canaries: fc.dictionary(
      fc.constantFrom(...ids),
      fc
        .tuple(fc.boolean(), fc.constantFrom('server', 'client'))
        .map(([tripped, source]) => ({ tripped, families: [], set: 's', readings: [], source })),
    ),
  })
  .map((made) => answersOf(made as Partial<PolicyAnswers>))

const evaluate = (policy: PolicyDocument, of: PolicyFacts, given: PolicyAnswers) =>
  evaluatePolicy(compilePolicy(policy), of, given)

describe('the evaluation of a policy', () => {
  it('gives the refusals of the reference interpreter', () => {
    fc.assert(
      fc.property(document, facts, answers, (policy, of, given) => {
        const { refusals } = evaluate(policy, of, given)
        expect(refusals.map(({ reason, ruleId }) => `${reason} ${ruleId}`)).toEqual(refer(policy, of, given))
      }),
      { numRuns: 3_000 },
    )
  })

  it('is the same again, and compiled again', () => {
    fc.assert(
      fc.property(document, facts, answers, (policy, of, given) => {
        const compiled = compilePolicy(policy)
        const first = evaluatePolicy(compiled, of, given)
        // With every rule, also those of other types of action.
        const whole = evaluatePolicy(compiled, of, given, { includesUnmatched: true })
        expect(whole.results.filter(({ matched }) => matched)).toEqual(first.results)
        expect(whole.refusals).toEqual(first.refusals)
        expect(evaluatePolicy(compiled, of, given)).toEqual(first)
        expect(evaluate(structuredClone(policy), structuredClone(of), given)).toEqual(first)
      }),
    )
  })

  it('does not depend on the order of the rules, nor of the operands', () => {
    fc.assert(
      fc.property(document, facts, answers, fc.infiniteStream(fc.nat()), (policy, of, given, random) => {
        const shuffled = {
          ...policy,
          rules: shuffle(policy.rules, random).map((rule) => ({ ...rule, when: shuffleIn(rule.when, random) })),
        }
        const judged = (one: PolicyDocument) => {
          const { refusals, needs, results, shadow } = evaluate(one, of, given)
          // Of several errors the first is told.
          const told = [...results, ...shadow].map(({ error, ...result }) => ({
            ...result,
            failed: error !== undefined,
          }))
          return { refusals, needs, told }
        }
        expect(judged(shuffled)).toEqual(judged(policy))
      }),
    )
  })

  it('stays a refusal when a deny rule is added', () => {
    fc.assert(
      fc.property(
        document,
        facts,
        answers,
        fc.record({ when: condition, priority: fc.integer({ min: 0, max: 5 }) }),
        (policy, of, given, rule) => {
          const [added] = documentOf({ rules: [{ id: 'added', ...rule, require: { deny: true } }] }).rules
          const before = evaluate(policy, of, given).refusals
          const after = evaluate({ ...policy, rules: [...policy.rules, ...(added ? [added] : [])] }, of, given).refusals
          if (before.length > 0) expect(after.length).toBeGreaterThan(0)
          expect(after).toEqual(expect.arrayContaining(before))
        },
      ),
    )
  })

  it('is not changed by shadow rules', () => {
    fc.assert(
      fc.property(document, facts, answers, (policy, of, given) => {
        const without = { ...policy, rules: policy.rules.filter(({ shadow }) => !shadow) }
        const { shadow: _, ...deciding } = evaluate(policy, of, given)
        expect(deciding).toEqual({ ...evaluate(without, of, given), shadow: undefined, ...deciding })
        expect(evaluate(without, of, given).refusals).toEqual(deciding.refusals)
        expect(evaluate(without, of, given).needs).toEqual(deciding.needs)
      }),
    )
  })
})

describe('a quantifier', () => {
  const outcomeOf = (when: PolicyCondition, of: PolicyFacts, require: object = { deny: true }) => {
    const { rules } = documentOf({ rules: [{ id: 'r0', when, require }] })
    const { results } = evaluate({ ...OFF, rules }, of, answersOf())
    const [result] = results
    return result?.error === undefined ? result !== undefined : 'error'
  }
  const OFF: PolicyDocument = documentOf({ default_rules: { biometric_flag: false, hardware_above: null } })
  const list = (form: 'all' | 'any', when: PolicyCondition): PolicyCondition => ({
    [form]: { in: 'context.list', as: 'item', when },
  })
  const withList = (elements: Json) => factsOf({ context: { list: elements, b: 5 } })
  const required = fc.constantFrom({ deny: true }, { biometric: true })
  const elements = fc.array(value, { maxLength: 5 })

  it('over one element is the condition on that element', () => {
    const onPath = (when: PolicyCondition): PolicyCondition =>
      JSON.parse(JSON.stringify(when).replaceAll('"item', '"context.item'))
    fc.assert(
      fc.property(ofElements, value, required, (when, element, require) => {
        const plain = outcomeOf(onPath(when), factsOf({ context: { item: element, b: 5 } }), require)
        expect(outcomeOf(list('any', when), withList([element]), require)).toBe(plain)
        expect(outcomeOf(list('all', when), withList([element]), require)).toBe(plain)
      }),
      { numRuns: 1_000 },
    )
  })

  it('is not any where it is all not, over lists of any length and what is none', () => {
    const given = fc.oneof(
      { arbitrary: elements, weight: 4 },
      value.filter((one) => one !== null),
    )
    fc.assert(
      fc.property(ofElements, given, required, (when, found, require) => {
        const outcomes = ([form, other]: ('all' | 'any')[]) => [
          outcomeOf({ not: list(form ?? 'any', when) }, withList(found), require),
          outcomeOf(list(other ?? 'all', { not: when }), withList(found), require),
        ]
        const [notAny, allNot] = outcomes(['any', 'all'])
        const [notAll, anyNot] = outcomes(['all', 'any'])
        expect(notAny).toBe(allNot)
        expect(notAll).toBe(anyNot)
      }),
      { numRuns: 1_000 },
    )
  })

  it('does not depend on the order of the elements', () => {
    fc.assert(
      fc.property(ofElements, elements, fc.constantFrom('all' as const, 'any' as const), (when, found, form) => {
        const reversed = withList(found.toReversed())
        expect(outcomeOf(list(form, when), reversed)).toBe(outcomeOf(list(form, when), withList(found)))
      }),
    )
  })

  it('never throws, whatever the facts are', () => {
    fc.assert(
      fc.property(condition, fc.dictionary(fc.constantFrom('a', 'b', 'list'), fc.jsonValue()), (when, context) => {
        expect(['error', true, false]).toContain(outcomeOf(when, factsOf({ context: context as JsonObject })))
      }),
      { numRuns: 2_000 },
    )
  })
})

describe('the analysis of a policy', () => {
  it('is right where it says always or never', () => {
    fc.assert(
      fc.property(document, facts, answers, (policy, of, given) => {
        const { refusals, results } = evaluate(policy, of, given)
        for (const { code, rule_id, other_rule_id } of analysisOf(policy)) {
          const result = results.find((one) => one.rule_id === rule_id)
          if (code === 'always_denies') expect(result?.met).toBe(false)
          if (code === 'never_matches') expect(result === undefined || result.error !== undefined).toBe(true)
          if (code === 'shadowed_by') {
            expect(refusals[0]?.ruleId).not.toBe(rule_id)
            const isRefusing = refusals.some(({ ruleId }) => ruleId === rule_id)
            if (isRefusing) expect(refusals.map(({ ruleId }) => ruleId)).toContain(other_rule_id)
          }
        }
      }),
      { numRuns: 4_000 },
    )
  })

  it('names each field whose absence turns a deny rule off', () => {
    const ALONE = { default_rules: { biometric_flag: false, hardware_above: null } }
    const names = fc.constantFrom('a', 'b', 'list')
    fc.assert(
      fc.property(condition, facts, names, (when, of, name) => {
        const policy = documentOf({ ...ALONE, rules: [{ id: 'r0', when, require: { deny: true } }] })
        const { [name]: _, ...others } = of.context
        const [full] = evaluate(policy, of, answersOf()).results
        const isPassed = evaluate(policy, { ...of, context: others }, answersOf()).refusals.length === 0
        if (full === undefined || full.error !== undefined || !isPassed) return
        const field = `context.${name}`
        if (JSON.stringify(when).includes(`"field":"${field}","op":"exists"`)) return
        expect(policy.rules.flatMap(findDisablingFields)).toContain(field)
      }),
      { numRuns: 5_000 },
    )
  })
})

function shuffle<Item>(items: readonly Item[], random: Iterator<number>): Item[] {
  return items
    .map((item) => ({ item, at: Number(random.next().value) }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item)
}

function shuffleIn(one: PolicyCondition, random: Iterator<number>): PolicyCondition {
  const { all, any, not } = one
  if (Array.isArray(all)) return { all: shuffle(all, random).map((inner) => shuffleIn(inner, random)) }
  if (Array.isArray(any)) return { any: shuffle(any, random).map((inner) => shuffleIn(inner, random)) }
  if (all !== undefined) return { all: { ...all, when: shuffleIn(all.when, random) } }
  if (any !== undefined) return { any: { ...any, when: shuffleIn(any.when, random) } }
  return not ? { not: shuffleIn(not, random) } : one
}
