// The compiled policy against a reference that is written for reading, over generated policies and facts.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compilePolicy } from '#src/authorize/policy/compile.ts'
import type { PolicyCondition, PolicyDocument, PolicyRule } from '#src/authorize/policy/document.ts'
import { evaluatePolicy, type PolicyAnswers, type PolicyFacts } from '#src/authorize/policy/evaluate.ts'
import type { Json } from '#src/platform/crypto/canonical.ts'
import { analysisOf } from './analysis.ts'
import { answersOf, documentOf, factsOf } from './policy-vectors.ts'

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

const { condition } = fc.letrec<{ condition: PolicyCondition }>((tie) => ({
  condition: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    leaf,
    fc.record({ all: fc.array(tie('condition'), { maxLength: 3 }) }),
    fc.record({ any: fc.array(tie('condition'), { maxLength: 3 }) }),
    fc.record({ not: tie('condition') }),
  ),
}))

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
)
const facts: fc.Arbitrary<PolicyFacts> = fc
  .record({
    action_type: fc.constantFrom(null, 'a', 'wire'),
    context: fc.dictionary(fc.constantFrom('a', 'b', 'transaction_amount', 'require_biometric'), value),
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
})

// The reference: section by section as docs/policy.md says it, without any preparation.
function refer(policy: PolicyDocument, of: PolicyFacts, given: PolicyAnswers): string[] {
  const refused: { rank: number; priority: number; id: string; reason: string }[] = []
  const flag = [of.context, of.action_payload].flatMap((source) => source.require_biometric ?? [])
  const amounts = [
    of.context.transaction_amount,
    of.action_payload.transaction_amount,
    of.action_payload.amount,
  ].flatMap((one) => one ?? [])
  const isMalformed = !flag.includes(true) && flag.some((one) => one !== false)
  if (isMalformed || (flag.includes(true) && !of.token.biometric)) {
    refused.push({ rank: -2, priority: 0, id: 'default:biometric_flag', reason: 'biometric_required' })
  }
  const isAttested = of.device.enrolled && ['tee', 'strongbox', 'secure_enclave'].includes(of.device.tier)
  if (amounts.some((one) => !isNumber(one)) || (amounts.some((one) => Number(one) > 500) && !isAttested)) {
    refused.push({ rank: -1, priority: 0, id: 'default:hardware_above', reason: 'hardware_required_above_500' })
  }
  for (const rule of policy.rules.filter(({ enabled, shadow }) => enabled && !shadow)) {
    const truth = holds(rule.when, of)
    if (truth === false) continue
    for (const { rank, reason } of unmet(rule, of, given, truth === 'error')) {
      refused.push({ rank, priority: rule.priority, id: rule.id, reason: rule.reason ?? reason })
    }
  }
  const before = (a: string, b: string) => (a < b ? -1 : Number(a > b))
  return refused
    .sort((a, b) => a.rank - b.rank || a.priority - b.priority || before(a.id, b.id))
    .map(({ reason, id }) => `${reason} ${id}`)
}

function unmet({ id, require: wanted }: PolicyRule, of: PolicyFacts, given: PolicyAnswers, isFailed: boolean) {
  const tiers = ['none', 'software', 'tee', 'strongbox']
  const level = of.device.enrolled ? tiers.indexOf(of.device.tier) : 0
  const canary = given.canaries[id] ?? 'unavailable'
  const webhook = given.webhooks[id] ?? 'unavailable'
  const unread = canary === 'unavailable' || (!canary.tripped && canary.source === 'client')
  const isCanaryMet = unread ? wanted.canary?.mode === 'best_effort' : !canary.tripped
  const webhookCode = webhook === 'unavailable' || isFailed ? 'policy_webhook_unavailable' : 'policy_webhook_denied'
  return [
    { is: wanted.deny, met: false, rank: 0, reason: 'policy_denied' },
    { is: wanted.biometric, met: of.token.biometric, rank: 1, reason: 'policy_biometric_required' },
    { is: wanted.hardware, met: level >= 2, rank: 2, reason: 'policy_hardware_required' },
    {
      is: wanted.min_tier,
      met: level >= tiers.indexOf(wanted.min_tier ?? ''),
      rank: 3,
      reason: 'policy_tier_required',
    },
    {
      is: wanted.canary,
      met: isCanaryMet,
      rank: 4,
      reason: unread || isFailed ? 'canary_unavailable' : 'canary_tripped',
    },
    {
      is: wanted.webhook,
      met: webhook !== 'unavailable' && webhook.decision === 'allow',
      rank: 5,
      reason: webhookCode,
    },
  ].filter(({ is, met }) => is !== undefined && (isFailed || !met))
}

function holds(
  { all, any, not, field = '', op, value: constant }: PolicyCondition,
  of: PolicyFacts,
): boolean | 'error' {
  if (not !== undefined) {
    const inner = holds(not, of)
    return inner === 'error' ? inner : !inner
  }
  if (all !== undefined || any !== undefined) {
    const outcomes = (all ?? any ?? []).map((one) => holds(one, of))
    const deciding = any !== undefined
    if (outcomes.includes(deciding)) return deciding
    return outcomes.includes('error') ? 'error' : !deciding
  }
  const found = read(field, of)
  if (op === 'exists') return (found !== undefined) === (constant ?? true)
  if (found === undefined) return false
  const list = (Array.isArray(constant) ? constant : [constant]) as Json[]
  const [first = null] = list
  const order = (to: Json | undefined) => (isNumber(found) && isNumber(to) ? Number(found) - Number(to) : Number.NaN)
  const compared = (outcome: boolean) => (isNumber(found) ? outcome : 'error')
  const equal = (a: Json, b: Json): boolean | 'error' => {
    if (typeof b === 'boolean') return typeof a === 'boolean' ? a === b : 'error'
    if (typeof b === 'number') return isNumber(a) ? Number(a) === b : 'error'
    if (typeof a === 'string') return a === b
    return typeof a === 'number' && isNumber(b) ? a === Number(b) : 'error'
  }
  const negated = (outcome: boolean | 'error') => (outcome === 'error' ? outcome : !outcome)
  const oneOf = () => {
    const outcomes = list.map((one) => equal(found, one))
    return outcomes.includes(true) ? true : outcomes.includes(false) ? false : 'error'
  }
  switch (op) {
    case 'eq':
      return equal(found, first)
    case 'ne':
      return negated(equal(found, first))
    case 'in':
      return oneOf()
    case 'not_in':
      return negated(oneOf())
    case 'gt':
      return compared(order(first) > 0)
    case 'gte':
      return compared(order(first) >= 0)
    case 'lt':
      return compared(order(first) < 0)
    case 'lte':
      return compared(order(first) <= 0)
    case 'between':
      return compared(order(first) >= 0 && order(list[1]) <= 0)
    case 'contains':
      if (typeof found === 'string' && typeof first === 'string') return found.includes(first)
      return Array.isArray(found) ? found.some((one) => equal(one, first) === true) : 'error'
    case 'starts_with':
      return typeof found === 'string' ? found.startsWith(String(first)) : 'error'
    default:
      return typeof found === 'string' ? found.includes(String(first)) : 'error'
  }
}

function read(field: string, of: PolicyFacts): Json | undefined {
  if (field === 'time.hour') return new Date(of.at).getUTCHours()
  if (field === 'token.biometric') return of.token.biometric
  if (field === 'action_type') return of.action_type ?? undefined
  if (field === 'context.transaction_amount') {
    const given = [of.context.transaction_amount, of.action_payload.amount].flatMap((one) =>
      one === null || one === undefined ? [] : [one],
    )
    return given.find((one) => !isNumber(one)) ?? given.toSorted((a, b) => Number(b) - Number(a))[0]
  }
  return of.context[field.replace('context.', '')] ?? undefined
}

function isNumber(found: Json | undefined): boolean {
  return typeof found === 'number' || (typeof found === 'string' && /^-?(0|[1-9]\d*)(\.\d+)?$/.test(found))
}

function shuffle<Item>(items: readonly Item[], random: Iterator<number>): Item[] {
  return items
    .map((item) => ({ item, at: Number(random.next().value) }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item)
}

function shuffleIn(one: PolicyCondition, random: Iterator<number>): PolicyCondition {
  if (one.all) return { all: shuffle(one.all, random).map((inner) => shuffleIn(inner, random)) }
  if (one.any) return { any: shuffle(one.any, random).map((inner) => shuffleIn(inner, random)) }
  return one.not ? { not: shuffleIn(one.not, random) } : one
}
