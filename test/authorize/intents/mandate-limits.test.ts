// What a mandate limits besides amounts and names: counts, least amounts, a beginning, instruments and longer periods. Each
// limit has the action that it refuses. And what contradicts the payload: it is answered with a reason, on the ledger.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { TestCaller } from '../../support/callers.ts'
import { type Intents, startIntents } from './service.ts'
import { createUnder, type Under } from './under.ts'

type Members = Record<string, unknown>

let service: Intents
let under: Under
let caller: TestCaller

beforeAll(async () => {
  service = await startIntents()
  under = createUnder(service)
})
beforeEach(async () => {
  caller = await service.makeCaller()
})
afterAll(() => service?.close())

const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString()
const total = (more: Members = {}) => ({ budget: { limit: '1000', currency: 'EUR', period: 'total', ...more } })
const mandateOf = async (id: string) => (await service.call(caller, `/v1/mandates/${id}`)).json
const countOf = async (id: string) => ((await mandateOf(id)).budget as Members).count

/** Authorizes and executes one action, whose payload has more members than those that all have. */
async function execute(amount: string, bound: Members, payload: Members = {}, beside: Members = {}) {
  const action = under.payload(amount, payload)
  const { token, jti } = await service.issue(caller, { ...action, ...bound })
  const answer = await service.verify(caller, token, { ...action, ...beside })
  return { token, jti, answer, action }
}

describe('a mandate', () => {
  it('with max_count refuses one execution more in the period, whatever it costs, and takes back what failed', async () => {
    const mandate_id = await under.mandate(caller, total({ max_count: 2 }))
    const first = await execute('1', { mandate_id })
    expect(first.answer).toMatchObject({ valid: true })
    expect((await execute('0', { mandate_id })).answer).toMatchObject({ valid: true })
    const refusal = {
      valid: false,
      reason: 'mandate_budget_exceeded',
      mandate_detail: { constraint: 'max_count', expected: 2, actual: 3, remaining: '0', mandate_id },
    }
    expect((await execute('1', { mandate_id })).answer).toMatchObject(refusal)
    expect((await execute('0', { mandate_id })).answer).toMatchObject(refusal)
    expect(await mandateOf(mandate_id)).toMatchObject({ budget: { max_count: 2, count: 2, remaining: '999' } })
    await under.outcome(caller, first.jti, 'failed')
    expect(await countOf(mandate_id)).toBe(1)
    expect((await execute('1', { mandate_id })).answer).toMatchObject({ valid: true })
    expect((await execute('1', { mandate_id })).answer).toMatchObject(refusal)
  })

  it('counts each execution on every level, and a child is refused by the count of its parent', async () => {
    const parent_id = await under.mandate(caller, total({ max_count: 2 }))
    const child = await under.mandate(caller, { parent_id, ...total({ limit: '100' }) })
    expect((await execute('1', { mandate_id: child })).answer).toMatchObject({ valid: true })
    expect((await execute('1', { mandate_id: parent_id })).answer).toMatchObject({ valid: true })
    expect((await execute('1', { mandate_id: child })).answer).toMatchObject({
      reason: 'mandate_budget_exceeded',
      mandate_detail: { constraint: 'max_count', mandate_id: parent_id },
    })
    expect(await Promise.all([parent_id, child].map(countOf))).toEqual([2, 1])
  })

  it('never executes more often than max_count, however many come at once', async () => {
    const mandate_id = await under.mandate(caller, total({ max_count: 7 }))
    const tokens = await Promise.all(Array.from({ length: 40 }, () => under.issue(caller, '1', { mandate_id })))
    const answers = await Promise.all(tokens.map(({ token, jti }) => under.verify(caller, token, '1', { key: jti })))
    expect(answers.filter(({ valid }) => valid === true)).toHaveLength(7)
    expect(await countOf(mandate_id)).toBe(7)
  })

  it('with min_amount refuses less', async () => {
    const mandate_id = await under.mandate(caller, { constraints: { min_amount: '10', currency: 'EUR' } })
    expect((await execute('10', { mandate_id })).answer).toMatchObject({ valid: true })
    expect((await execute('9.99', { mandate_id })).answer).toMatchObject({
      reason: 'mandate_constraint_violated',
      mandate_detail: { constraint: 'min_amount', expected: '10', actual: '9.99', mandate_id },
    })
  })

  it('with instruments refuses another one, and an action without one', async () => {
    const instruments = ['card:4242', 'iban:DE89']
    const mandate_id = await under.mandate(caller, { ...total(), instruments })
    expect((await execute('1', { mandate_id }, { instrument: 'iban:DE89' })).answer).toMatchObject({ valid: true })
    const refused = (actual: string | null) => ({
      reason: 'mandate_constraint_violated',
      mandate_detail: { constraint: 'instruments', expected: instruments, actual, mandate_id },
    })
    expect((await execute('1', { mandate_id }, { instrument: 'card:1111' })).answer).toMatchObject(refused('card:1111'))
    expect((await execute('1', { mandate_id })).answer).toMatchObject(refused(null))
    const pointed = await under.mandate(caller, { instruments, payload_pointers: { instrument: '/pay/with' } })
    const pay = { pay: { with: 'card:4242' } }
    expect((await execute('1', { mandate_id: pointed }, pay)).answer).toMatchObject({ valid: true })
    const beside = await execute('1', { mandate_id: pointed }, { ...pay, instrument: 'iban:DE89' })
    expect(beside.answer).toMatchObject({ mandate_detail: { constraint: 'instruments', actual: null } })
  })

  it('refuses every action before not_before', async () => {
    const not_before = inDays(1)
    const mandate_id = await under.mandate(caller, { ...total(), not_before })
    const { token, action, answer } = await execute('1', { mandate_id })
    expect(answer).toMatchObject({
      reason: 'mandate_constraint_violated',
      mandate_detail: { constraint: 'not_before', expected: not_before, actual: expect.any(String), mandate_id },
    })
    await under.shift('mandates', mandate_id, { not_before: '-1 second' })
    expect(await service.verify(caller, token, action)).toMatchObject({ valid: true })
  })

  it('has budgets of a week and of a year, which begin with nothing spent', async () => {
    for (const period of ['week', 'year']) {
      const mandate_id = await under.mandate(caller, { budget: { limit: '10', currency: 'EUR', period, max_count: 5 } })
      expect((await execute('10', { mandate_id })).answer).toMatchObject({ valid: true })
      expect((await execute('1', { mandate_id })).answer).toMatchObject({ reason: 'mandate_budget_exceeded' })
      await service.test.owner(
        `UPDATE mandate_spend SET period_start = (period_start - $2::interval)::date WHERE mandate_id = $1`,
        [mandate_id, `1 ${period}`],
      )
      expect(await mandateOf(mandate_id)).toMatchObject({ budget: { period, count: 0, remaining: '10' } })
      expect((await execute('10', { mandate_id })).answer).toMatchObject({ valid: true })
    }
  })

  it('shows its limits to the rules of the policy', async () => {
    const mandate_id = await under.mandate(caller, total({ max_count: 2 }))
    const when = { field: 'mandate.remaining_count', op: 'lte', value: 1 }
    await service.setPolicy(caller, [{ id: 'last', when, require: { deny: true } }])
    expect((await execute('1', { mandate_id })).answer).toMatchObject({ valid: true })
    expect((await execute('1', { mandate_id })).answer).toMatchObject({ matched_rule_id: 'last' })
  })
})

describe('what contradicts the payload', () => {
  const detail = async ({ decision_id }: Members) => {
    const { json } = await service.call(caller, `/v1/decisions/${decision_id}/explain`)
    return json
  }

  it('as the counterparty of verify violates the mandate, whether it limits counterparties or not', async () => {
    const limits = [{ constraints: { counterparties: ['Example Garage'] } }, {}]
    for (const more of limits) {
      const mandate_id = await under.mandate(caller, { ...total(), ...more })
      const { answer, token, action } = await execute('1', { mandate_id }, {}, { counterparty: 'Example Books' })
      expect(answer).toMatchObject({
        valid: false,
        reason: 'mandate_constraint_violated',
        mandate_detail: { constraint: 'counterparties', mandate_id },
      })
      expect(await detail(answer)).toMatchObject({ replay: { agrees: true, reason: answer.reason } })
      const agreed = { ...action, counterparty: 'Example Garage' }
      expect(await service.verify(caller, token, agreed)).toMatchObject({ valid: true })
    }
  })

  it('as the counterparty of verify is a mismatch of the schedule, or of the payload of a token without either', async () => {
    const beside = { counterparty: 'Example Books' }
    const schedule_id = await under.schedule(caller)
    const scheduled = await execute('100', { schedule_id }, {}, beside)
    expect(scheduled.answer).toMatchObject({ valid: false, reason: 'schedule_counterparty_mismatch' })
    const free = await execute('1', {}, {}, beside)
    expect(free.answer).toMatchObject({ valid: false, reason: 'payload_hash_mismatch' })
    expect((await execute('1', {}, { counterparty: undefined }, beside)).answer).toMatchObject({ valid: true })
  })

  it('as the amount of a context violates what limits amounts', async () => {
    const context = { transaction_amount: 2 }
    const mandate_id = await under.mandate(caller, total())
    const { answer, token, action } = await execute('1', { mandate_id }, {}, { context })
    expect(answer).toMatchObject({
      reason: 'mandate_constraint_violated',
      mandate_detail: { constraint: 'amount', actual: null },
    })
    expect(await service.verify(caller, token, { ...action, context: { transaction_amount: '1.00' } })).toMatchObject({
      valid: true,
    })
    const schedule_id = await under.schedule(caller)
    const scheduled = await execute('100', { schedule_id }, {}, { context })
    expect(scheduled.answer).toMatchObject({ reason: 'schedule_amount_exceeded' })
    expect((await execute('1', {}, {}, { context })).answer).toMatchObject({ valid: true })
  })

  it('as the action_type of authorize violates the mandate, and is foreseen by authorize', async () => {
    const types = { constraints: { action_types: ['purchase', 'refund'] } }
    for (const more of [types, {}]) {
      const mandate_id = await under.mandate(caller, { ...total(), ...more })
      const action = { ...under.payload('1', { action_type: 'purchase' }) }
      const { status, json } = await service.authorize(caller, { ...action, mandate_id, action_type: 'refund' })
      expect({ status, json }).toMatchObject({
        status: 200,
        json: { preflight: { would_be_valid: false, reason: 'mandate_constraint_violated' } },
      })
      const answer = await service.verify(caller, String(json.intent_token), action)
      expect(answer).toMatchObject({
        reason: 'mandate_constraint_violated',
        mandate_detail: { constraint: 'action_types' },
      })
    }
    const kinds = (await under.entries(caller, 'authorize')).map(({ reason }) => reason)
    expect(kinds).toEqual(['mandate_constraint_violated', 'mandate_constraint_violated'])
  })

  it('as the action_type of authorize escapes no rule: the policy is evaluated with both types', async () => {
    const when = { field: 'action_type', op: 'eq', value: 'wire' }
    await service.setPolicy(caller, [{ id: 'no-wires', when, require: { deny: true } }])
    for (const [named, own] of [
      ['wire', 'card'],
      ['card', 'wire'],
    ]) {
      const { answer } = await execute('1', { action_type: named }, { action_type: own })
      expect(answer).toMatchObject({ valid: false, matched_rule_id: 'no-wires' })
    }
    expect((await execute('1', { action_type: 'card' }, { action_type: 'card' })).answer).toMatchObject({ valid: true })
  })

  it('as a foreign currency violates, and an unknown one can not be granted', async () => {
    const mandate_id = await under.mandate(caller, total())
    for (const currency of ['USD', 'XYZ']) {
      expect((await execute('1', { mandate_id }, { currency })).answer).toMatchObject({
        reason: 'mandate_constraint_violated',
        mandate_detail: { constraint: 'currency', expected: 'EUR', actual: currency },
      })
    }
    const mandate = { principal: 'p', description: 'd', expires_at: inDays(3) }
    const budget = { limit: 1, currency: 'XYZ', period: 'day' }
    const refused = await service.post(caller, '/v1/mandates', { ...mandate, budget })
    expect(refused).toMatchObject({
      status: 400,
      json: {
        errors: [{ pointer: '/budget/currency', code: 'invalid_currency', detail: expect.stringContaining('XYZ') }],
      },
    })
  })
})
