// What a mandate limits besides amounts and names: counts, least amounts, a beginning, instruments and longer periods. Each
// limit has the action that it refuses.

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
async function execute(amount: string, bound: Members, payload: Members = {}) {
  const action = under.payload(amount, payload)
  const { token, jti } = await service.issue(caller, { ...action, ...bound })
  const answer = await service.verify(caller, token, action)
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
