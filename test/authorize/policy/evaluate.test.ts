import { describe, expect, it } from 'vitest'
import { type CompiledPolicy, compilePolicy } from '#src/authorize/policy/compile.ts'
import { MAX_PATTERN_STEPS } from '#src/authorize/policy/conditions.ts'
import { OPERATORS } from '#src/authorize/policy/document.ts'
import { evaluateContexts, evaluatePolicy, NO_ANSWERS, type PolicyFacts } from '#src/authorize/policy/evaluate.ts'
import type { Json } from '#src/platform/crypto/canonical.ts'
import { compilePattern } from '#src/platform/patterns.ts'
import { answersOf, CONDITIONS, documentOf, EVALUATIONS, factsOf } from './policy-vectors.ts'

describe('conditions', () => {
  const outcomesOf = (group: string) => {
    const cases = CONDITIONS.filter(({ id }) => id.startsWith(`policy-conditions-${group.replaceAll(/[_ ]/g, '-')}-`))
    return new Set(cases.map(({ expect: { outcome } }) => outcome))
  }

  it('have vectors for every operator, with a wrong type for each that compares', () => {
    expect(OPERATORS.filter((op) => outcomesOf(op).size === 0)).toEqual([])
    expect(OPERATORS.filter((op) => op !== 'exists' && !outcomesOf(op).has('error'))).toEqual([])
  })

  it('have vectors for quantifiers, of each outcome', () => {
    for (const group of ['any over elements', 'all over elements']) {
      expect(outcomesOf(group)).toEqual(new Set(['true', 'false', 'error']))
    }
  })

  it('name the field of an error and never its value', () => {
    const when = { field: 'context.secret', op: 'gt', value: 1 }
    const policy = compilePolicy(documentOf({ rules: [{ id: 'r', when, require: { deny: true } }] }))
    const { results } = evaluatePolicy(policy, factsOf({ context: { secret: 'hunter2' } }), NO_ANSWERS)
    expect(results[0]?.error).toContain('context.secret')
    expect(JSON.stringify(results)).not.toContain('hunter2')
  })
})

describe('policies', () => {
  it.each(EVALUATIONS)('have an unmet result for each refusal, and for nothing else: $id', ({ input }) => {
    const { document, contexts, answers } = input
    const { refusals, results } = evaluateContexts(compilePolicy(documentOf(document)), contexts, answersOf(answers))
    const unmet = new Set(results.filter(({ met }) => !met).map(({ rule_id }) => rule_id))
    expect(unmet).toEqual(new Set(refusals.map(({ ruleId }) => ruleId)))
  })

  it('carry the reason of a webhook and the reading of a canary', () => {
    const canary = { set: 's', mode: 'strict' }
    const webhook = { url: 'https://policy.example.com' }
    const rules = [
      { id: 'c', require: { canary } },
      { id: 'w', require: { webhook } },
    ]
    const readings = [{ family: 'deception', score: 0.9 }]
    const { refusals } = evaluatePolicy(compilePolicy(documentOf({ rules })), factsOf(), {
      approvals: {},
      webhooks: { w: { decision: 'deny', reason: 'over the limit' } },
      canaries: { c: { tripped: true, families: ['deception'], set: 's', readings, source: 'server' } },
    })
    expect(refusals).toMatchObject([
      { reason: 'canary_tripped', canarySet: 's', canaryReadings: readings },
      { reason: 'policy_webhook_denied', webhookReason: 'over the limit' },
    ])
  })

  it('ask for what an approval of a later version demands', () => {
    const rules = [{ id: 'a', require: { approval: {} } }]
    const policy = compilePolicy(documentOf({ rules }))
    expect(evaluatePolicy(policy, factsOf(), NO_ANSWERS).refusals).toMatchObject([{ reason: 'approval_required' }])
    expect(evaluatePolicy(policy, factsOf(), answersOf({ approvals: { a: 'covered' } })).refusals).toEqual([])
  })

  it('deny where the condition of a rule that asks for an approval can not be evaluated: people are not asked', () => {
    const when = { field: 'action_payload.quantity', op: 'gt', value: 10 }
    const policy = compilePolicy(documentOf({ rules: [{ id: 'a', when, require: { approval: {} } }] }))
    const facts = factsOf({ action_payload: { quantity: '12 boxes' } })
    const { refusals, results } = evaluatePolicy(policy, facts, answersOf({ approvals: { a: 'covered' } }))
    expect(refusals).toMatchObject([{ reason: 'policy_denied', kind: 'deny', ruleId: 'a' }])
    expect(results).toMatchObject([{ effect: 'approval', met: false, error: expect.any(String) }])
  })

  // Half of each pattern's threads stay alive for the whole text.
  const slow = (n: number) => ({
    id: `r${n}`,
    when: {
      field: 'context.x',
      op: 'matches',
      value: `\\b(?:[ab]*a){10}[ab]{${36 + (n % 5)}}[c${(n + 13).toString(36)}]`,
    },
    require: { deny: true },
  })

  it('bound the cost of regular expressions, and refuse beyond', () => {
    const policy = compilePolicy(documentOf({ rules: Array.from({ length: 20 }, (_, n) => slow(n)) }))
    const { results, isOverBudget } = evaluatePolicy(policy, factsOf({ context: { x: 'abba'.repeat(75) } }), NO_ANSWERS)
    expect(isOverBudget).toBe(true)
    expect(results.length).toBeGreaterThan(0)
    expect(results.every(({ error }) => error?.includes('cost too much'))).toBe(true)
    const short = evaluatePolicy(policy, factsOf({ context: { x: 'ab' } }), NO_ANSWERS)
    expect([short.results, short.isOverBudget]).toEqual([[], undefined])
  })

  it('afford 200 ordinary regular expressions over two contexts with long texts', () => {
    const when = (field: string, value: string) => ({ field, op: 'matches', value })
    const words = [
      'bitcoin|crypto|gift ?card',
      'ransom|sanction|embargo',
      'password|secret|api.?key',
      'urgent|immediately',
    ]
    const rules = Array.from({ length: 50 }, (_, n) => [
      {
        id: `words${n}`,
        when: when('action_description', `(?i)\\b(${words[n % 4]}|word${n})\\b`),
        require: { deny: true },
      },
      { id: `iban${n}`, when: when('action_payload.iban', `^X${n}[0-9]{2}[A-Z0-9]{11,30}$`), require: { deny: true } },
      { id: `near${n}`, when: when('context.note', `(?i)pay\\b.{0,40}\\bwallet${n}`), require: { deny: true } },
      { id: `card${n}`, when: when('context.note', `[0-9]{13,19}${n}`), require: { deny: true } },
    ]).flat()
    const policy = compilePolicy(documentOf({ rules }))
    const context = { note: 'Ordered by phone, delivered to the garage on Monday. '.repeat(8).slice(0, 400) }
    const facts = factsOf({
      action_description: 'Pay the invoice 4711 of Example Garage for four tires and an oil change. '
        .repeat(7)
        .slice(0, 500),
      action_payload: { iban: 'DE89370400440532013000' },
      context,
    })
    const { results, isOverBudget } = evaluateContexts(
      policy,
      [facts, { ...facts, context: { ...context } }],
      NO_ANSWERS,
    )
    expect([results, isOverBudget]).toEqual([[], undefined])
  })

  it('have one bound for all contexts of a decision, of which shadow rules take nothing', () => {
    const when = { field: 'context.x', op: 'matches', value: '(?:a|b){0,100}c$' }
    const rule = (id: string, shadow: boolean) => ({ id, when, require: { deny: true }, shadow })
    // More than a half of the bound for each context.
    const budget = { steps: MAX_PATTERN_STEPS }
    compilePattern(when.value).testWithin(budget, 'ab'.repeat(100))
    const x = 'ab'.repeat(Math.floor((60 * MAX_PATTERN_STEPS) / (MAX_PATTERN_STEPS - budget.steps)))
    const facts = factsOf({ context: { x } })
    const evaluate = (rules: object[], contexts: PolicyFacts[]) =>
      evaluateContexts(compilePolicy(documentOf({ rules })), contexts, NO_ANSWERS)
    expect(evaluate([rule('r', false)], [facts]).refusals).toEqual([])
    expect(evaluate([rule('r', false)], [facts, facts]).results).toMatchObject([
      { rule_id: 'r', met: false, error: expect.stringContaining('cost too much') },
    ])
    const short = factsOf({ context: { x: 'ab' } })
    const shadowed = evaluate([rule('deciding', false), rule('shadow', true)], [short, facts])
    expect(shadowed.refusals).toEqual([])
    expect(shadowed.shadow).toMatchObject([{ rule_id: 'shadow', error: expect.stringContaining('cost too much') }])
  })
})

describe('searches', () => {
  const policyOf = (values: (string | number)[]) => {
    const when = (value: string | number) => ({ field: 'context.x', op: 'contains', value })
    const rules = values.map((value, n) => ({ id: `r${n}`, when: when(value), require: { deny: true } }))
    return compilePolicy(documentOf({ rules }))
  }
  const errorsIn = (policy: CompiledPolicy, x: Json) =>
    evaluatePolicy(policy, factsOf({ context: { x } }), NO_ANSWERS).results.map(({ error }) => error)
  const half = 'a'.repeat(490)
  const texts = Array.from({ length: 200 }, (_, n) => `${half}b${n}${half}`)
  const numbers = Array.from({ length: 200 }, () => 1)

  it.each([
    ['a text', texts, 'a'.repeat(60_000)],
    ['a list of texts', texts, new Array(30_000).fill('a')],
    ['a list of decimals', numbers, new Array(2_000).fill('1.0000000000000000000001')],
  ])('of %s are bounded like regular expressions, and refuse beyond', (_, values, x) => {
    const errors = errorsIn(policyOf(values), x)
    expect(errors.length).toBeGreaterThan(0)
    expect(errors.every((error) => error?.includes('cost too much'))).toBe(true)
    // Those of one action are not.
    expect(errorsIn(policyOf(values), typeof x === 'string' ? x.slice(0, 500) : x.slice(0, 20))).toEqual([])
  })
})
