// What mandates, schedules and approvals make of an action, over facts alone.

import { describe, expect, it } from 'vitest'
import type { ApprovalFacts } from '#src/authorize/approvals/facts.ts'
import type { VerifyFacts } from '#src/authorize/intents/facts.ts'
import { runPipeline } from '#src/authorize/intents/pipeline.ts'
import { compilePolicy } from '#src/authorize/policy/compile.ts'
import { DEFAULT_DOCUMENT, documentSchema } from '#src/authorize/policy/document.ts'
import { APPROVAL, LEVEL, MANDATE, SCHEDULE, VALID_FACTS } from './facts.ts'

const DEFAULTS = compilePolicy(DEFAULT_DOCUMENT)
const { token: TOKEN, at: AT } = VALID_FACTS
if (TOKEN === null) throw new Error('valid facts have a token')
const SAME = { at: AT, is_retry: true }
const OTHER = { at: AT, is_retry: false }

const under = (members: Partial<VerifyFacts>, token: Partial<typeof TOKEN> = {}): VerifyFacts => ({
  ...VALID_FACTS,
  ...members,
  token: { ...TOKEN, ...token },
})
const underMandate = (members: Partial<VerifyFacts> = {}) =>
  under({ mandate: MANDATE, ...members }, { mandate_id: 'mnd_test_1' })
const underSchedule = (members: Partial<VerifyFacts> = {}) =>
  under({ schedule: SCHEDULE, ...members }, { schedule_id: 'sch_test_1' })
const requesting = (facts: VerifyFacts, members: Partial<VerifyFacts['request']>): VerifyFacts => ({
  ...facts,
  request: { ...facts.request, ...members },
})
const reasonOf = (facts: VerifyFacts, policy = DEFAULTS) => runPipeline(facts, policy).reason

describe('a token under a mandate', () => {
  it('is refused when its mandate is gone', () => {
    expect(reasonOf(underMandate())).toBeNull()
    expect(reasonOf(underMandate({ mandate: null }))).toBe('mandate_revoked')
  })

  it('names what is broken, and what is left', () => {
    const mandate = { ...MANDATE, levels: [{ ...LEVEL, spent: '950' }] }
    expect(runPipeline(underMandate({ mandate }), DEFAULTS)).toMatchObject({
      reason: 'mandate_budget_exceeded',
      mandate_detail: { constraint: 'budget', expected: '1000', actual: '100', remaining: '50' },
    })
  })

  it('is not asked for its budget again once it was executed', () => {
    const mandate = { ...MANDATE, levels: [{ ...LEVEL, spent: '1000' }] }
    const execution = SAME
    expect(runPipeline(underMandate({ mandate, execution }), DEFAULTS)).toMatchObject({
      valid: true,
      already_executed: true,
    })
    expect(reasonOf(underMandate({ mandate, execution: OTHER }))).toBe('token_already_executed')
    expect(reasonOf(requesting(underMandate({ mandate, execution: OTHER }), { execute: false }))).toBe(
      'token_already_executed',
    )
    expect(reasonOf(requesting(underMandate({ mandate, execution }), { execute: false }))).toBeNull()
  })

  it('compares where the mandate says, and other members may only agree', () => {
    const constraints = { counterparties: ['Example Garage'] }
    const mandate = { ...MANDATE, levels: [{ ...LEVEL, constraints }] }
    const facts = underMandate({ mandate })
    expect(reasonOf(requesting(facts, { counterparty: 'Example Garage' }))).toBeNull()
    expect(runPipeline(requesting(facts, { counterparty: 'Example Books' }), DEFAULTS)).toMatchObject({
      reason: 'mandate_constraint_violated',
      mandate_detail: { constraint: 'counterparties' },
    })
    const pointed = { ...mandate, pointers: { counterparty: '/to/name' } }
    const action_payload = { amount: '100', currency: 'EUR', to: { name: 'Example Garage' } }
    expect(reasonOf(requesting(underMandate({ mandate: pointed }), { action_payload }))).toBeNull()
    const beside = { ...action_payload, counterparty: 'Example Books' }
    expect(reasonOf(requesting(underMandate({ mandate: pointed }), { action_payload: beside }))).toBe(
      'mandate_constraint_violated',
    )
  })
})

describe('a mandate of one agent', () => {
  it('is for the tokens of that agent, also where it was narrowed after they were issued', () => {
    const mandate = { ...MANDATE, agent_id: 'agt_test_other' }
    expect(runPipeline(underMandate({ mandate }), DEFAULTS)).toMatchObject({
      reason: 'mandate_constraint_violated',
      mandate_detail: { constraint: 'agent_id', expected: 'agt_test_other', actual: TOKEN.agent_id },
    })
    expect(reasonOf(underMandate({ mandate: { ...MANDATE, agent_id: TOKEN.agent_id } }))).toBeNull()
    const revoked = { ...mandate, levels: [{ ...LEVEL, status: 'revoked' as const }] }
    expect(reasonOf(underMandate({ mandate: revoked }))).toBe('mandate_revoked')
  })
})

describe('a token under a schedule', () => {
  it('is refused when its schedule is gone', () => {
    expect(reasonOf(underSchedule())).toBeNull()
    expect(reasonOf(underSchedule({ schedule: null }))).toBe('schedule_occurrences_exhausted')
  })

  it('is executed once, by one caller, whatever others use up since', () => {
    const used = { ...SCHEDULE, used: 12, executed_by: 'jti_test_other' }
    expect(reasonOf(underSchedule({ execution: OTHER }))).toBe('schedule_already_executed')
    expect(reasonOf(underSchedule({ execution: SAME, schedule: used }))).toBeNull()
    expect(reasonOf(requesting(underSchedule({ execution: OTHER }), { execute: false }))).toBe(
      'schedule_already_executed',
    )
    expect(reasonOf(requesting(underSchedule({ execution: SAME }), { execute: false }))).toBeNull()
    expect(reasonOf(underSchedule({ execution: SAME, schedule: { ...used, status: 'cancelled' } }))).toBe(
      'schedule_occurrences_exhausted',
    )
    expect(reasonOf(underSchedule({ execution: SAME, schedule: { ...used, counterparty: 'x' } }))).toBe(
      'schedule_counterparty_mismatch',
    )
  })
})

describe('an approval', () => {
  const require = { approval: { min_approvals: 1, ttl_seconds: 3_600, require_passkey: false } }
  const policyOf = (...ids: string[]) =>
    compilePolicy(documentSchema.parse({ rules: ids.map((id) => ({ id, require })) }))
  const rulesOf = (...ids: string[]): ApprovalFacts['rules'] =>
    policyOf(...ids).rules.map(({ id, hash }) => ({ rule_id: id, rule_hash: hash ?? '' }))
  const approvalOf = (members: Partial<ApprovalFacts>, ...ids: string[]) => ({
    ...APPROVAL,
    ...members,
    rules: rulesOf(...ids),
  })
  const approved = { status: 'approved', decided_at: AT, usable_until: '2026-11-20T15:12:00.000Z' } as const

  it('is opened where a rule requires it and nothing else refuses', () => {
    expect(runPipeline(VALID_FACTS, policyOf('a', 'b'))).toMatchObject({
      valid: false,
      reason: 'approval_pending',
      matched_rule_id: 'a',
      opens: ['a', 'b'],
    })
    expect(runPipeline(VALID_FACTS, policyOf('a'))).not.toHaveProperty('approval_id')
    const denied = compilePolicy(
      documentSchema.parse({
        rules: [
          { id: 'a', require },
          { id: 'no', require: { deny: true } },
        ],
      }),
    )
    expect(runPipeline(VALID_FACTS, denied)).not.toHaveProperty('opens')
    const stopped = { ...VALID_FACTS, stop: { reason: 'incident', at: AT } }
    expect(runPipeline(stopped, policyOf('a'))).not.toHaveProperty('opens')
  })

  it('is opened before a webhook or a canary was asked, and not after one refused', () => {
    const webhook = { webhook: { url: 'https://policy.example.com/' } }
    const rules = [
      { id: 'a', require },
      { id: 'ask', require: webhook },
    ]
    const policy = compilePolicy(documentSchema.parse({ rules }))
    expect(runPipeline(VALID_FACTS, policy)).toMatchObject({
      reason: 'policy_webhook_unavailable',
      pending: 'webhook',
      opens: ['a'],
    })
    const answers = { ...VALID_FACTS.answers, webhooks: { ask: { decision: 'deny' as const } } }
    const refused = runPipeline({ ...VALID_FACTS, answers }, policy)
    expect(refused).toMatchObject({ reason: 'policy_webhook_denied' })
    expect(refused).not.toHaveProperty('opens')
  })

  it('answers with the own reason of its rule, as written', () => {
    const policy = compilePolicy(documentSchema.parse({ rules: [{ id: 'a', require, reason: 'ask_treasury' }] }))
    const facts = under({ approvals: [approvalOf({}, 'a')] })
    expect(runPipeline(VALID_FACTS, policy)).toMatchObject({ reason: 'ask_treasury', opens: ['a'] })
    const changed = policy.rules.map(({ id, hash }) => ({ rule_id: id, rule_hash: hash ?? '' }))
    const waiting = under({ approvals: [{ ...APPROVAL, rules: changed }] })
    expect(runPipeline(waiting, policy)).toMatchObject({ reason: 'ask_treasury', approval_id: 'apr_test_1' })
    expect(runPipeline(waiting, policy)).not.toHaveProperty('opens')
    // Of the rule before its reason was written: it is another rule.
    expect(runPipeline(facts, policy)).toMatchObject({ opens: ['a'] })
  })

  it('covers its rules as they are once people have approved', () => {
    const waiting = under({ approvals: [approvalOf({}, 'a')] })
    expect(runPipeline(waiting, policyOf('a'))).toMatchObject({
      reason: 'approval_pending',
      approval_id: 'apr_test_1',
    })
    expect(runPipeline(waiting, policyOf('a'))).not.toHaveProperty('opens')
    const facts = under({ approvals: [approvalOf(approved, 'a')] })
    expect(runPipeline(facts, policyOf('a'))).toMatchObject({ valid: true, reason: null })
    expect(runPipeline(facts, policyOf())).toMatchObject({ valid: true })
  })

  it('that was asked for is awaited, also when no rule requires it any more', () => {
    const waiting = under({ approvals: [approvalOf({}, 'a')] })
    expect(runPipeline(waiting, policyOf())).toMatchObject({ reason: 'approval_pending', approval_id: 'apr_test_1' })
    const past = { ...waiting, at: TOKEN.expires_at }
    expect(runPipeline(past, policyOf())).toMatchObject({ reason: 'approval_pending', approval_id: 'apr_test_1' })
    expect(reasonOf(under({ approvals: [approvalOf({ status: 'cancelled' }, 'a')] }), policyOf())).toBeNull()
  })

  it('is opened a second time for rules that came later, and no third time', () => {
    const first = approvalOf(approved, 'a')
    const second = { ...approvalOf({ origin: 'verify' }, 'b'), approval_id: 'apr_test_2' }
    expect(runPipeline(under({ approvals: [first] }), policyOf('a', 'b'))).toMatchObject({
      reason: 'approval_pending',
      matched_rule_id: 'b',
      opens: ['b'],
    })
    expect(runPipeline(under({ approvals: [first, second] }), policyOf('a', 'b'))).toMatchObject({
      reason: 'approval_pending',
      approval_id: 'apr_test_2',
    })
    const both = [first, { ...second, ...approved }]
    expect(runPipeline(under({ approvals: both }), policyOf('a', 'b'))).toMatchObject({ valid: true })
    const third = runPipeline(under({ approvals: both }), policyOf('a', 'b', 'c'))
    expect(third).toMatchObject({ valid: false, reason: 'policy_denied', matched_rule_id: 'c' })
    expect(third).not.toHaveProperty('opens')
  })

  it('is not opened for an action that was executed before', () => {
    const executed = runPipeline({ ...VALID_FACTS, execution: SAME }, policyOf('a'))
    expect(executed).toMatchObject({ valid: false, reason: 'policy_denied', matched_rule_id: 'a' })
    expect(executed).not.toHaveProperty('opens')
  })

  it('makes its token good for one execution, and for its lifetime from the decision on', () => {
    const facts = under({ approvals: [approvalOf(approved, 'a')] })
    expect(reasonOf({ ...facts, execution: OTHER }, policyOf('a'))).toBe('token_already_executed')
    expect(runPipeline({ ...facts, execution: SAME }, policyOf('a'))).toMatchObject({
      valid: true,
      already_executed: true,
    })
    expect(reasonOf({ ...facts, at: approved.usable_until }, policyOf('a'))).toBe('token_expired')
  })
})
