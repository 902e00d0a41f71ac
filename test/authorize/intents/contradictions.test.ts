// What stands beside the payload and contradicts it: it is answered with a reason, on the ledger, and is no malformed request.

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
/** Authorizes and executes one action, whose payload has more members than those that all have. */
async function execute(amount: string, bound: Members, payload: Members = {}, beside: Members = {}) {
  const action = under.payload(amount, payload)
  const { token, jti } = await service.issue(caller, { ...action, ...bound })
  const answer = await service.verify(caller, token, { ...action, ...beside })
  return { token, jti, answer, action }
}

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
