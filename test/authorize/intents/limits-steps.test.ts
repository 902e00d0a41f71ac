// Mandates and schedules through the real service: every reason alone, what executions charge and outcomes give back, and that
// no race overspends.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { TestCaller } from '../../support/callers.ts'
import { type Intents, startIntents } from './service.ts'
import { createUnder, type Under } from './under.ts'

let service: Intents
let under: Under
let caller: TestCaller

beforeAll(async () => {
  service = await startIntents({ poolSize: 8 })
  under = createUnder(service)
})
beforeEach(async () => {
  caller = await service.makeCaller()
})
afterAll(() => service?.close())

const issue = (amount: string, bound: object) => under.issue(caller, amount, { ...bound })
const verify = (token: string, amount: string, more: object = {}, key?: string) =>
  under.verify(caller, token, amount, { ...more, key })
/** A token, and the answer to its first verification. */
const execute = async (amount: string, bound: object, more: object = {}) => {
  const { token, jti } = await issue(amount, bound)
  return { token, jti, answer: await verify(token, amount, more, jti) }
}
const remainingOf = async (id: string) => {
  const { json } = await service.call(caller, `/v1/mandates/${id}`)
  return (json.budget as { remaining: string }).remaining
}

describe('authorize', () => {
  it('binds a token to a mandate or to a schedule, of this account, and not to both', async () => {
    const [mandate_id, schedule_id] = [await under.mandate(caller), await under.schedule(caller)]
    const both = await service.authorize(caller, { mandate_id, schedule_id })
    expect(both).toMatchObject({ status: 400, json: { errors: [{ pointer: '/schedule_id' }] } })
    const other = await service.makeCaller()
    for (const bound of [{ mandate_id }, { schedule_id }]) {
      expect(await service.authorize(caller, bound)).toMatchObject({ status: 200, json: { bindings: bound } })
      expect(await service.authorize(other, bound)).toMatchObject({ status: 404, json: { code: 'not_found' } })
    }
    const live = { mandate_id: mandate_id.replace('_test_', '_live_') }
    expect(await service.authorize(caller, live)).toMatchObject({ status: 403, json: { code: 'environment_mismatch' } })
  })

  it('gives a mandate of one agent to no other agent', async () => {
    const [buyer, other] = [await service.makeAgent(caller), await service.makeAgent(caller)]
    const mandate_id = await under.mandate(caller, { agent_id: buyer.agentId })
    const ask = (agent_session_id?: string) =>
      service.authorize(caller, { mandate_id, ...(agent_session_id !== undefined && { agent_session_id }) })
    expect(await ask(buyer.sessionId)).toMatchObject({ status: 200 })
    for (const session of [other.sessionId, undefined]) {
      const refused = { status: 400, json: { errors: [{ pointer: '/mandate_id', code: 'mismatch' }] } }
      expect(await ask(session)).toMatchObject(refused)
    }
  })

  it('foresees what the mandate says, and charges nothing', async () => {
    const mandate_id = await under.mandate(caller, { constraints: { max_amount: '50', currency: 'EUR' } })
    expect(await service.authorize(caller, { ...under.payload('60'), mandate_id })).toMatchObject({
      json: { preflight: { would_be_valid: false, reason: 'mandate_constraint_violated' } },
    })
    expect(await service.authorize(caller, { ...under.payload('50'), mandate_id })).toMatchObject({
      json: { preflight: { would_be_valid: true, reason: null } },
    })
    expect(await remainingOf(mandate_id)).toBe('1000')
  })
})

describe('the spend of a mandate by day', () => {
  const spendOf = (id: string, query = '') => service.call(caller, `/v1/mandates/${id}/spend?${query}`)
  const report = (jti: string, status: string) =>
    service.done(caller, `/v1/intent/executions/${jti}/outcome`, { status })

  it('is reserved until the outcome is reported, then committed or given back, on each level', async () => {
    const parent_id = await under.mandate(caller)
    const mandate_id = await under.mandate(caller, { parent_id })
    const [succeeded, failed] = [await execute('100', { mandate_id }), await execute('30.5', { mandate_id })]
    await execute('7.25', { mandate_id })
    const totals = async (id: string) => {
      const { json } = await spendOf(id)
      const days = json.days as Record<string, string | number>[]
      const sum = (member: string) => days.reduce((total, day) => total + Number(day[member]), 0)
      return { ...json, committed: sum('committed'), reserved: sum('reserved'), released: sum('released'), days }
    }
    expect(await totals(mandate_id)).toMatchObject({ mandate_id, committed: 0, reserved: 137.75, released: 0 })
    await report(succeeded.jti, 'succeeded')
    await report(failed.jti, 'not_run')
    for (const id of [mandate_id, parent_id]) {
      expect(await totals(id)).toMatchObject({ committed: 100, reserved: 7.25, released: 30.5 })
    }
    // A token that is gone reports no outcome any more.
    await service.test.owner('DELETE FROM intents')
    expect(await totals(mandate_id)).toMatchObject({ committed: 107.25, reserved: 0, released: 30.5 })
    await service.test.owner(
      `UPDATE mandate_charges SET charged_at = '2026-02-03T23:59:59.999Z' WHERE jti = $1 AND mandate_id = $2`,
      [succeeded.jti, mandate_id],
    )
    const { json } = await spendOf(mandate_id, 'from=2026-02-01T00:00:00Z&to=2026-02-04T00:00:00Z')
    expect(json).toEqual({
      mandate_id,
      from: '2026-02-01T00:00:00.000Z',
      to: '2026-02-04T00:00:00.000Z',
      days: [{ date: '2026-02-03', currency: 'EUR', executions: 1, committed: '100', reserved: '0', released: '0' }],
    })
  })

  it('is of one mandate of the account, for a period of at most 45 days', async () => {
    const id = await under.mandate(caller)
    expect((await spendOf(id)).json.days).toEqual([])
    expect((await service.call(await service.makeCaller(), `/v1/mandates/${id}/spend`)).status).toBe(404)
    for (const query of [
      'from=2026-03-02T00:00:00Z&to=2026-03-02T00:00:00Z',
      'from=2026-01-01T00:00:00Z&to=2026-03-01T00:00:00Z',
    ]) {
      expect(await spendOf(id, query)).toMatchObject({ status: 400, json: { errors: [{ pointer: '?from' }] } })
    }
  })
})

describe('a token under a mandate', () => {
  it('is refused once its agent is retired, and no other token of the agent is issued', async () => {
    const { agentId, sessionId } = await service.makeAgent(caller)
    const mandate_id = await under.mandate(caller, { agent_id: agentId })
    const { token } = await issue('100', { mandate_id, agent_session_id: sessionId })
    const check = () => verify(token, '100', { execute: false, agent_session_id: sessionId })
    expect(await check()).toMatchObject({ valid: true })
    await service.done(caller, `/v1/agents/${agentId}/retire`, { reason: 'over' })
    expect(await check()).toMatchObject({ valid: false, reason: 'agent_suspended' })
    for (const bound of [{ agent_id: agentId }, { agent_session_id: sessionId }]) {
      expect(await service.authorize(caller, { mandate_id, ...bound })).toMatchObject({ status: 409 })
    }
  })

  it('is refused once the mandate is narrowed to another agent', async () => {
    const { agentId: agent_id } = await service.makeAgent(caller)
    const mandate_id = await under.mandate(caller)
    const { token } = await issue('100', { mandate_id })
    await service.call(caller, `/v1/mandates/${mandate_id}`, { method: 'PATCH', json: { agent_id } })
    expect(await verify(token, '100')).toMatchObject({
      reason: 'mandate_constraint_violated',
      mandate_detail: { constraint: 'agent_id', expected: agent_id, actual: null, mandate_id },
    })
  })

  it('is refused by each reason of its mandate, alone', async () => {
    const constraints = { max_amount: '150', currency: 'EUR', counterparties: ['Example Garage'] }
    const heartbeat = { interval_seconds: 300 }
    const mandate_id = await under.mandate(caller, { constraints, heartbeat })
    const { token } = await issue('100', { mandate_id })
    const check = () => verify(token, '100', { execute: false })
    expect(await check()).toMatchObject({ valid: true, mandate_remaining: '1000' })
    await under.shift('mandates', mandate_id, { last_check_in_at: '-1 hour' })
    expect(await check()).toMatchObject({ reason: 'mandate_heartbeat_lapsed' })
    await service.done(caller, `/v1/mandates/${mandate_id}/heartbeat`)
    expect(await check()).toMatchObject({ valid: true })
    expect((await execute('150.01', { mandate_id })).answer).toMatchObject({
      reason: 'mandate_constraint_violated',
      mandate_detail: { constraint: 'max_amount', expected: '150', actual: '150.01' },
    })
    for (let spent = 0; spent < 9; spent += 1) await execute('100', { mandate_id })
    expect((await execute('100.01', { mandate_id })).answer).toMatchObject({
      reason: 'mandate_budget_exceeded',
      mandate_detail: { constraint: 'budget', remaining: '100' },
      mandate_remaining: '100',
    })
    await service.done(caller, `/v1/mandates/${mandate_id}/revoke`, { reason: 'over' })
    expect(await check()).toMatchObject({ reason: 'mandate_revoked' })
    const expiring = await under.mandate(caller)
    const late = await issue('1', { mandate_id: expiring })
    await under.shift('mandates', expiring, { expires_at: '-1 second', created_at: '-1 day' })
    expect(await verify(late.token, '1')).toMatchObject({ reason: 'mandate_expired' })
  })

  it('charges once, says what is left, and is executed by one caller with one key', async () => {
    const mandate_id = await under.mandate(caller)
    const { token, jti, answer } = await execute('400.5', { mandate_id })
    expect(answer).toMatchObject({ valid: true, mandate_remaining: '599.5' })
    expect(await verify(token, '400.5', {}, jti)).toMatchObject({
      valid: true,
      already_executed: true,
      mandate_remaining: '599.5',
    })
    for (const key of ['another', undefined]) {
      expect(await verify(token, '400.5', {}, key)).toMatchObject({ valid: false, reason: 'token_already_executed' })
    }
    expect(await verify(token, '400.5', { execute: false })).toMatchObject({ reason: 'token_already_executed' })
    expect(await verify(token, '400.5', { execute: false }, jti)).toMatchObject({ valid: true, already_executed: true })
    expect(await remainingOf(mandate_id)).toBe('599.5')
    expect(await under.entries(caller, 'execute')).toMatchObject([
      { inputs: { jti, mandate_id, amount: '400.5', currency: 'EUR', period_start: expect.any(String) } },
    ])
    // The gateway that knows no more than `decision` must not run it again.
    const evaluation = {
      subject: { type: 'agent_session', id: 'session-1' },
      action: { name: under.payload('400.5').action_description, properties: under.payload('400.5').action_payload },
      resource: { type: 'tool', id: 'payments' },
      context: { intent_token: token },
    }
    expect(await service.done(caller, '/v1/access/evaluation', evaluation)).toMatchObject({ decision: false })
  })

  it('gets back what it was charged when the action did not happen, and stays used', async () => {
    const mandate_id = await under.mandate(caller)
    for (const [status, left] of [
      ['failed', '1000'],
      ['not_run', '1000'],
      ['succeeded', '700'],
    ] as const) {
      const { token, jti, answer } = await execute('300', { mandate_id })
      expect(answer).toMatchObject({ valid: true, mandate_remaining: '700' })
      await under.outcome(caller, jti, status)
      expect(await remainingOf(mandate_id)).toBe(left)
      const again = await service.post(caller, `/v1/intent/executions/${jti}/outcome`, { status })
      expect(again).toMatchObject({ status: 409 })
      expect(await verify(token, '300', {}, 'other')).toMatchObject({ reason: 'token_already_executed' })
      expect(await remainingOf(mandate_id)).toBe(left)
    }
    const released = { mandate_id, amount: '300', currency: 'EUR', period_start: expect.any(String) }
    expect(await under.entries(caller, 'outcome')).toMatchObject([
      { inputs: released },
      { inputs: released },
      { inputs: { jti: expect.any(String) } },
    ])
    expect((await under.entries(caller, 'outcome'))[2]?.inputs).not.toHaveProperty('amount')
  })

  it('charges every mandate above it, and is refused by the one that has the least left', async () => {
    const parent_id = await under.mandate(caller)
    const child = await under.mandate(caller, {
      parent_id,
      budget: { limit: '600', currency: 'EUR', period: 'total' },
    })
    expect((await execute('500', { mandate_id: child })).answer).toMatchObject({ mandate_remaining: '100' })
    expect(await remainingOf(parent_id)).toBe('500')
    expect((await execute('450', { mandate_id: parent_id })).answer).toMatchObject({ valid: true })
    expect((await execute('60', { mandate_id: child })).answer).toMatchObject({
      reason: 'mandate_budget_exceeded',
      mandate_detail: { remaining: '50', mandate_id: parent_id },
    })
    const { token } = await issue('10', { mandate_id: child })
    await service.done(caller, `/v1/mandates/${parent_id}/revoke`, { reason: 'over' })
    expect(await verify(token, '10')).toMatchObject({ reason: 'mandate_revoked' })
  })

  it('shows its mandate to the rules of the policy', async () => {
    const mandate_id = await under.mandate(caller)
    const when = { field: 'mandate.principal', op: 'eq', value: 'buying@example.com' }
    await service.setPolicy(caller, [{ id: 'no-buying', when, require: { deny: true } }])
    expect((await execute('10', { mandate_id })).answer).toMatchObject({ matched_rule_id: 'no-buying' })
    const { token } = await service.issue(caller)
    expect(await service.verify(caller, token)).toMatchObject({ valid: true })
  })

  it('is explained from its facts', async () => {
    const mandate_id = await under.mandate(caller)
    const { answer } = await execute('2000', { mandate_id })
    const { json } = await service.call(caller, `/v1/decisions/${answer.decision_id}/explain`)
    expect(json).toMatchObject({ differences: [], replay: { agrees: true, reason: 'mandate_budget_exceeded' } })
  })
})

describe('a token under a schedule', () => {
  it('is refused by each reason of its schedule, alone', async () => {
    const schedule_id = await under.schedule(caller)
    const { token } = await issue('100', { schedule_id })
    const check = () => verify(token, '100', { execute: false }, 'a')
    expect(await check()).toMatchObject({ valid: true, schedule_cycle: 3 })
    expect((await execute('100.01', { schedule_id })).answer).toMatchObject({ reason: 'schedule_amount_exceeded' })
    const elsewhere = under.payload('100', { counterparty: 'Example Books' })
    const other = await service.issue(caller, { ...elsewhere, schedule_id })
    expect(await service.verify(caller, other.token, elsewhere)).toMatchObject({
      reason: 'schedule_counterparty_mismatch',
    })
    await service.done(caller, `/v1/schedules/${schedule_id}/pause`)
    expect(await check()).toMatchObject({ reason: 'schedule_window_missed' })
    await service.done(caller, `/v1/schedules/${schedule_id}/resume`)
    expect(await verify(token, '100', {}, 'a')).toMatchObject({ valid: true, schedule_cycle: 3 })
    expect((await execute('100', { schedule_id })).answer).toMatchObject({ reason: 'schedule_already_executed' })
    const once = await under.schedule(caller, { occurrences: 1, anchor_at: new Date(Date.now() - 1_000).toISOString() })
    const used = await execute('100', { schedule_id: once })
    expect(used.answer).toMatchObject({ valid: true, schedule_cycle: 1 })
    await under.shift('schedules', once, { anchor_at: '-25 hours' })
    expect((await execute('100', { schedule_id: once })).answer).toMatchObject({
      reason: 'schedule_occurrences_exhausted',
    })
    const narrow = await under.schedule(caller, { window_seconds: 60 })
    expect((await execute('100', { schedule_id: narrow })).answer).toMatchObject({ reason: 'schedule_window_missed' })
    await service.done(caller, `/v1/schedules/${schedule_id}/cancel`)
    expect(await check()).toMatchObject({ reason: 'schedule_occurrences_exhausted' })
  })

  it('uses its cycle once, by one caller with one key, and gives it back when the action did not happen', async () => {
    const schedule_id = await under.schedule(caller)
    const { token, jti, answer } = await execute('100', { schedule_id })
    expect(answer).toMatchObject({ valid: true, schedule_cycle: 3 })
    expect(await verify(token, '100', {}, jti)).toMatchObject({ valid: true, already_executed: true })
    expect(await verify(token, '100', {}, 'other')).toMatchObject({ reason: 'schedule_already_executed' })
    expect(await under.entries(caller, 'execute')).toMatchObject([
      { inputs: { jti, schedule_id, cycle: '3', amount: '100', currency: 'EUR' } },
    ])
    await under.outcome(caller, jti, 'not_run')
    expect(await under.entries(caller, 'outcome')).toMatchObject([{ inputs: { jti, schedule_id, cycle: '3' } }])
    expect(await verify(token, '100', {}, 'other')).toMatchObject({ reason: 'schedule_already_executed' })
    expect((await execute('100', { schedule_id })).answer).toMatchObject({ valid: true })
  })
})

describe('at once', () => {
  it('200 executions under one mandate spend its budget to the cent, and refuse nothing that fits', async () => {
    const mandate_id = await under.mandate(caller, { budget: { limit: '100', currency: 'EUR', period: 'total' } })
    const tokens = await Promise.all(Array.from({ length: 200 }, () => issue('0.99', { mandate_id })))
    const answers = await Promise.all(tokens.map(({ token, jti }) => verify(token, '0.99', {}, jti)))
    expect(answers.filter(({ valid }) => valid === true)).toHaveLength(101)
    const refused = answers.filter(({ valid }) => valid !== true)
    expect(new Set(refused.map(({ reason }) => reason))).toEqual(new Set(['mandate_budget_exceeded']))
    expect(await remainingOf(mandate_id)).toBe('0.01')
    expect(await under.entries(caller, 'execute')).toHaveLength(101)
  })

  it('200 executions under the children of two parents spend neither parent to more than it has', async () => {
    const budget = (limit: string) => ({ budget: { limit, currency: 'EUR', period: 'total' } })
    const root = await under.mandate(caller, budget('150'))
    const parents = await Promise.all(
      ['80', '100'].map((limit) => under.mandate(caller, { parent_id: root, ...budget(limit) })),
    )
    const children = await Promise.all(
      parents.flatMap((parent_id) =>
        ['60', '70'].map((limit) => under.mandate(caller, { parent_id, ...budget(limit) })),
      ),
    )
    const tokens = await Promise.all(
      Array.from({ length: 200 }, (_, index) => issue('1', { mandate_id: children[index % children.length] ?? '' })),
    )
    const answers = await Promise.all(tokens.map(({ token, jti }) => verify(token, '1', {}, jti)))
    const valid = answers.filter((one) => one.valid === true).length
    const left = await Promise.all([root, ...parents, ...children].map(remainingOf))
    expect(left.map(Number).every((amount) => amount >= 0)).toBe(true)
    const [ofRoot, ...ofParents] = left.slice(0, 3).map(Number)
    expect(valid).toBe(150 - Number(ofRoot))
    expect(valid).toBe(80 + 100 - ofParents.reduce((sum, amount) => sum + amount, 0))
    // Nothing was refused that would have fit: for 200 euros, 150 are there, and each child had 50 of them to spend.
    expect(valid).toBe(150)
  })

  it('100 tokens for one cycle execute it once', async () => {
    const schedule_id = await under.schedule(caller)
    const tokens = await Promise.all(Array.from({ length: 100 }, () => issue('100', { schedule_id })))
    const answers = await Promise.all(tokens.map(({ token, jti }) => verify(token, '100', {}, jti)))
    expect(answers.filter(({ valid }) => valid === true)).toHaveLength(1)
    const reasons = answers.filter(({ valid }) => valid !== true).map(({ reason }) => reason)
    expect(new Set(reasons)).toEqual(new Set(['schedule_already_executed']))
    expect(await under.entries(caller, 'execute')).toHaveLength(1)
  })
})
