// Drafts over recorded decisions, and what shadow rules said of them. The decisions are recorded as verify records them.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { PolicyFacts } from '#src/authorize/policy/evaluate.ts'
import { intentPolicyFeature } from '#src/authorize/policy/feature.ts'
import type { ReadRecorded } from '#src/authorize/policy/past-decisions.ts'
import type { Json } from '#src/platform/crypto/canonical.ts'
import type { Scope } from '#src/platform/ids.ts'
import type { NewDecision, RuleResult } from '#src/platform/ledger/record.ts'
import { startTestService, type TestService } from '../../support/service.ts'
import { answersOf, factsOf } from './policy-vectors.ts'

const START = Date.parse('2026-11-01T00:00:00.000Z')
const RANGE = { from: '2026-11-01T00:00:00.000Z', to: '2026-11-02T00:00:00.000Z' }

let on: TestService
let caller: Scope & { key: string }

beforeAll(async () => {
  on = await startTestService({
    scopes: ['all'],
    replace: ({ platform, authorize: { webhooks } }) => [
      intentPolicyFeature(platform, { ...webhooks, replayable, resultsOf: () => [] }).feature,
    ],
  })
})
afterAll(() => on?.close())
beforeEach(async () => {
  caller = await on.makeCaller({ scopes: ['all'] })
})

interface Recorded {
  contexts?: PolicyFacts[]
  answers?: object
  times?: number
}

let seenAt = () => 0
const seen: number[] = []
const replayable: ReadRecorded['replayable'] = (facts) => {
  seen.push(seenAt())
  const { contexts, answers, times = 1 } = facts as unknown as Recorded
  if (contexts === undefined) return undefined
  return { contexts: Array.from({ length: times }, () => contexts).flat(), answers: answersOf(answers) }
}

const post = (path: string, json: unknown) => on.call(caller, `/v1/policy${path}`, { method: 'POST', json })
const replay = async (document: object, more: object = {}) =>
  (await post('/replay', { document, ...RANGE, ...more })).json
const put = (document: object) =>
  on.call(caller, '/v1/policy', { method: 'PUT', json: { document }, headers: { 'If-Match': '*' } })
const denyOver = (amount: number, members: object = {}) => ({
  rules: [
    {
      id: 'limit',
      when: { field: 'context.transaction_amount', op: 'gt', value: amount },
      require: { deny: true },
      ...members,
    },
  ],
})

interface Past {
  amount?: number
  answers?: object
  reason?: string | null
  results?: RuleResult[]
  facts?: Json
  policyVersion?: number
}

/** One verification a minute. */
async function recordPast(...pasts: Past[]): Promise<string[]> {
  const decisions = pasts.map(
    ({ amount = 0, answers = {}, reason = null, results = [], facts, policyVersion = 0 }, minute): NewDecision => {
      const at = new Date(START + minute * 60_000)
      const contexts = [factsOf({ context: { transaction_amount: amount }, device: DEVICE, at: at.toISOString() })]
      return {
        kind: 'verify',
        at,
        actor: 'service',
        subject: `jti_test_${minute}`,
        reason,
        valid: reason === null,
        inputs: {},
        policyVersion,
        ruleResults: results,
        facts: facts ?? ({ contexts, answers } as unknown as Json),
      }
    },
  )
  return on.test.db.tenant(caller, (tx) => on.services.platform.ledger.recordMany(tx, caller, decisions))
}

const DEVICE = { id: 'd', tier: 'tee', enrolled: true } as const
const result = (id: string, met: boolean, more: Partial<RuleResult> = {}): RuleResult => ({
  rule_id: id,
  effect: 'deny',
  matched: true,
  met,
  shadow: true,
  ...more,
})

describe('a replay', () => {
  it('says which decisions another document would answer otherwise, and by which rule', async () => {
    const [, second, third] = await recordPast(
      { amount: 10 },
      { amount: 60 },
      { amount: 70, reason: 'policy_denied', results: [result('old', false, { shadow: false })] },
      { amount: 90, reason: 'policy_denied', results: [result('limit', false, { shadow: false })] },
      { reason: 'token_expired', facts: { early: true } },
    )
    const answer = await replay(denyOver(50, { reason: 'over_50' }))
    expect(answer).toMatchObject({
      looked: 5,
      looked_to: new Date(START + 4 * 60_000).toISOString(),
      would_change: 3,
      unaffected: 1,
      unknown: 0,
      has_more: false,
      rules: [
        { rule_id: 'limit', refused_before: 1, refuses_after: 3 },
        { rule_id: 'old', refused_before: 1, refuses_after: 0 },
      ],
    })
    expect(answer.data).toMatchObject([
      {
        decision_id: second,
        jti: 'jti_test_1',
        before: { valid: true, reason: null },
        after: { valid: false, reason: 'over_50', matched_rule_id: 'limit' },
      },
      { decision_id: third, before: { reason: 'policy_denied' }, after: { reason: 'over_50' } },
      { before: { reason: 'policy_denied' }, after: { reason: 'over_50' } },
    ])
    expect(await replay(denyOver(65))).toMatchObject({ would_change: 0 })
    expect((await replay({ rules: [] })).data).toMatchObject([
      { jti: 'jti_test_2', after: { valid: true, reason: null, matched_rule_id: null } },
      { jti: 'jti_test_3', after: { valid: true } },
    ])
    expect(await replay(denyOver(50), { to: '2026-11-01T00:01:00.000Z' })).toMatchObject({ looked: 1 })
  })

  it('continues where its page ended, for the same question only', async () => {
    await recordPast(...Array.from({ length: 7 }, (_, n) => ({ amount: n * 100 })))
    const whole = await replay(denyOver(150))
    const found: unknown[] = []
    let looked = 0
    for (let cursor: unknown; cursor !== null; ) {
      const page = await replay(denyOver(150), { limit: 2, ...(cursor !== undefined && { cursor }) })
      found.push(...(page.data as unknown[]))
      looked += Number(page.looked)
      cursor = page.next_cursor
      if (cursor !== null) expect((await replay(denyOver(151), { cursor })).status).toBe(400)
    }
    expect(found).toEqual(whole.data)
    expect({ looked, changed: found.length }).toEqual({ looked: 7, changed: 5 })
  })

  it('of a costly document leaves the process to others, and ends its page early', async () => {
    const contexts = [factsOf({ context: { x: `1.${'0'.repeat(38)}1` }, device: DEVICE })]
    await recordPast(...Array.from({ length: 60 }, () => ({ facts: { contexts, times: 100 } as unknown as Json })))
    // Equal as doubles: each comparison is one of decimals.
    const costly = Array.from({ length: 100 }, () => ({ field: 'context.x', op: 'gte', value: '1' }))
    const rules = Array.from({ length: 20 }, (_, n) => ({
      id: `r${n}`,
      when: { all: costly },
      require: { biometric: true },
    }))
    let turns = 0
    let isOver = false
    const turn = () => {
      turns += 1
      if (!isOver) setImmediate(turn)
    }
    turn()
    seenAt = () => turns
    const page = await replay({ rules }, { limit: 500 })
    isOver = true
    const looked = Number(page.looked)
    expect(looked).toBeLessThan(60)
    expect(page.next_cursor).toEqual(expect.any(String))
    // Other work ran between any two decisions.
    expect(new Set(seen.slice(-looked)).size).toBe(looked)
  })

  it('does not guess what a webhook would have said', async () => {
    const hook = (url: string, id = 'ask') => ({ rules: [{ id, require: { webhook: { url } } }] })
    const asked = 'https://policy.example.com/ask'
    await put(hook(asked))
    await recordPast({ answers: { webhooks: { ask: { decision: 'allow' } } } })
    await on.test.owner('SELECT 1')
    // Recorded under version 0, which had no such rule: the answer is taken as it is.
    expect(await replay(hook(asked))).toMatchObject({ would_change: 0, unknown: 0 })
    expect(await replay(hook(asked, 'other'))).toMatchObject({ would_change: 0, unknown: 1 })
  })

  it('counts an approval of then for a rule that is the same, and says that verify waits for another one', async () => {
    const asks = (approval: object) => ({ rules: [{ id: 'ask', require: { approval } }] })
    await put(asks({}))
    await recordPast({ answers: { approvals: { ask: 'covered' } }, policyVersion: 1 })
    expect(await replay(asks({}))).toMatchObject({ would_change: 0, unknown: 0 })
    expect((await replay(asks({ min_approvals: 2 }))).data).toMatchObject([
      { before: { valid: true }, after: { valid: false, reason: 'approval_pending', matched_rule_id: 'ask' } },
    ])
    const simulated = async (answers: object) =>
      (await post('/simulate', { document: asks({}), input: {}, answers })).json.reason
    expect(await simulated({})).toBe('approval_required')
    expect(await simulated({ approvals: { ask: 'covered' } })).toBeNull()
  })

  it('refuses a document that would be refused as a policy', async () => {
    const refused = { rules: [{ id: 'a', require: { approval: { min_approvals: 11 } } }] }
    expect((await replay(refused)).errors).toMatchObject([
      { pointer: '/document/rules/0/require/approval/min_approvals' },
    ])
    expect((await post('/replay', { document: {}, from: 'yesterday', to: RANGE.to })).json.errors).toMatchObject([
      { pointer: '/from' },
    ])
  })
})

describe('the report on shadow rules', () => {
  const report = async (more = '') =>
    (await on.call(caller, `/v1/policy/shadow-report?from=${RANGE.from}&to=${RANGE.to}${more}`)).json

  it('counts what each would have done, and names where it differs from the answer', async () => {
    const [first] = await recordPast(
      { results: [result('strict', false), result('hook', false, { note: 'shadow_webhook_unevaluated' })] },
      { results: [result('strict', true)] },
      { reason: 'policy_denied', results: [result('strict', false), result('live', false, { shadow: false })] },
      { results: [result('strict', false, { error: 'context.x: is not a string' })] },
      { results: [] },
    )
    const answer = await report()
    expect(answer).toMatchObject({ object: 'list', looked: 5, has_more: false, next_cursor: null, ...RANGE })
    const none = { shadow_webhook_unevaluated: 0, errors: 0, divergent: 0, examples: [] }
    expect(answer.data).toEqual([
      { ...none, rule_id: 'hook', matched: 1, would_deny: 0, would_allow: 0, shadow_webhook_unevaluated: 1 },
      {
        ...none,
        rule_id: 'strict',
        matched: 4,
        would_deny: 3,
        would_allow: 1,
        errors: 1,
        divergent: 2,
        examples: [first, expect.stringMatching(/^dec_test_/)],
      },
    ])
    expect((await report('&cursor=x')).errors).toMatchObject([{ pointer: '?cursor' }])
  })
})

describe('an analysis', () => {
  it('is of the stored policy, or of a document', async () => {
    await put(denyOver(10, { when: { all: [] } }))
    const finding = { code: 'always_denies', rule_id: 'limit', pointer: '/rules/0/when' }
    expect((await post('/analyze', {})).json.findings).toMatchObject([finding])
    expect((await post('/analyze', { document: denyOver(10) })).json.findings).toMatchObject([
      { code: 'ineffective_when_missing', rule_id: 'limit', pointer: '/rules/0/when' },
    ])
    expect((await post('/analyze', { document: denyOver(10, { on_missing: 'match' }) })).json.findings).toEqual([])
    const unready = {
      rules: [
        { id: 'a', require: { approval: {} } },
        { id: 'w', require: { webhook: { url: 'https://127.0.0.1/ask' } } },
      ],
    }
    const found = [
      { code: 'unreachable_approval', rule_id: 'a' },
      { code: 'webhook_unreachable', rule_id: 'w', pointer: '/rules/1/require/webhook/url' },
    ]
    const unsigned = { code: 'webhook_without_secret', rule_id: 'w', pointer: '/rules/1/require/webhook' }
    expect((await post('/analyze', { document: unready })).json.findings).toMatchObject([...found, unsigned])
    // Shadow rules and disabled ones ask no webhook.
    const [, hook] = unready.rules
    const asleep = {
      rules: [
        { ...hook, shadow: true },
        { ...hook, id: 'v', enabled: false },
      ],
    }
    const codes = ((await post('/analyze', { document: asleep })).json.findings as { code: string }[]).map(
      ({ code }) => code,
    )
    expect(codes).not.toContain('webhook_without_secret')
    await on.call(caller, '/v1/policy/webhook-secret/rotate', { method: 'POST' })
    expect((await post('/analyze', { document: unready })).json.findings).toEqual([
      expect.objectContaining(found[0]),
      expect.objectContaining(found[1]),
    ])
  })

  it('of a thousand rules ends, and says when it is not complete', async () => {
    const rules = (count: number, operands: number) =>
      Array.from({ length: count }, (_, n) => ({
        id: `r${n}`,
        when: { any: Array.from({ length: operands }, (_, m) => ({ field: `context.a${m}`, op: 'gt', value: n })) },
        on_missing: 'match',
        require: { deny: true },
      }))
    const found = async (count: number, operands: number) => {
      const { status, json } = await post('/analyze', { document: { rules: rules(count, operands) } })
      return { status, complete: json.complete, findings: (json.findings as unknown[]).length }
    }
    // Each is inside of the first.
    expect(await found(100, 1)).toEqual({ status: 200, complete: true, findings: 99 })
    expect(await found(1_000, 1)).toEqual({ status: 200, complete: false, findings: 500 })
  })
})
