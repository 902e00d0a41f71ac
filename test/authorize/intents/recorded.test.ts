// What the policy's tools say of decisions that verify recorded, and what its rules see of canary readings.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { TestCaller } from '../../support/callers.ts'
import { type Intents, startIntents } from './service.ts'

let service: Intents
let caller: TestCaller

beforeAll(async () => {
  service = await startIntents()
})
beforeEach(async () => {
  caller = await service.makeCaller()
})
afterAll(() => service?.close())

const HOUR_MS = 3_600_000
const range = () => ({
  from: new Date(Date.now() - HOUR_MS).toISOString(),
  to: new Date(Date.now() + HOUR_MS).toISOString(),
})
const replay = (document: object) => service.done(caller, '/v1/policy/replay', { document, ...range() })
const inCountry = (country: string, more: object = {}) => ({
  id: 'country',
  when: { field: 'context.country', op: 'eq', value: country },
  require: { deny: true },
  ...more,
})

describe('a replay of real decisions', () => {
  it('counts as changed what the document denies, and nothing else', async () => {
    const { token } = await service.issue(caller)
    const denied = await service.verify(caller, token, { context: { country: 'XX' } })
    await service.verify(caller, token, { context: { country: 'DE' } })
    await service.verify(caller, token, { context: { country: 'XX' }, action_payload: {} })
    await service.verify(caller, 'none', { context: { country: 'XX' } })
    const answer = await replay({ rules: [inCountry('XX')] })
    expect(answer).toMatchObject({
      looked: 4,
      would_change: 1,
      unaffected: 2,
      unknown: 0,
      rules: [{ rule_id: 'country', refused_before: 0, refuses_after: 1 }],
      data: [
        {
          decision_id: denied.decision_id,
          before: { valid: true, reason: null },
          after: { valid: false, reason: 'policy_denied', matched_rule_id: 'country' },
        },
      ],
    })
    expect(await replay({ rules: [] })).toMatchObject({ looked: 4, would_change: 0 })
  })

  it('leaves alone what a stop refused: no document makes it valid', async () => {
    await service.setPolicy(caller, [inCountry('XX')])
    const { token } = await service.issue(caller)
    await service.done(caller, '/v1/intent/stop', { reason: 'incident' })
    expect(await service.verify(caller, token, { context: { country: 'DE' } })).toMatchObject({
      matched_rule_id: 'system:stop',
    })
    for (const rules of [[], [inCountry('DE')]]) {
      expect(await replay({ rules })).toMatchObject({ looked: 1, would_change: 0, unaffected: 1, data: [] })
    }
  })

  it('agrees with simulate, and with what the same rule reports as a shadow', async () => {
    await service.setPolicy(caller, [inCountry('XX', { shadow: true })])
    const { token } = await service.issue(caller)
    const ids: unknown[] = []
    for (const country of ['XX', 'DE', 'XX']) {
      const answer = await service.verify(caller, token, { context: { country } })
      expect(answer).toMatchObject({ valid: true })
      if (country === 'XX') ids.push(answer.decision_id)
      expect(
        await service.done(caller, '/v1/policy/simulate', {
          document: { rules: [inCountry('XX')] },
          input: { context: { country } },
        }),
      ).toMatchObject({ would_be_valid: country !== 'XX' })
    }
    const { from, to } = range()
    const report = await service.call(caller, `/v1/policy/shadow-report?from=${from}&to=${to}`)
    expect(report).toMatchObject({ status: 200, json: { looked: 3 } })
    expect(report.json.data).toMatchObject([
      { rule_id: 'country', matched: 2, would_deny: 2, divergent: 2, examples: ids },
    ])
    expect(await replay({ rules: [inCountry('XX')] })).toMatchObject({ looked: 3, would_change: 2 })
  })
})

describe('an explanation', () => {
  it('agrees where the searches of rules that did not match used up the budget of the others', async () => {
    const quiet = Array.from({ length: 10 }, (_, n) => ({
      id: `quiet${n}`,
      when: { field: 'context.text', op: 'matches', value: `[ab]*a[ab]{36}c${n}` },
      require: { deny: true },
    }))
    await service.setPolicy(caller, quiet)
    const { token } = await service.issue(caller)
    const denied = await service.verify(caller, token, { context: { text: 'ab'.repeat(1_000) } })
    expect(denied).toMatchObject({ valid: false, reason: 'policy_denied' })
    const { json } = await service.call(caller, `/v1/decisions/${denied.decision_id}/explain`)
    const { matched_rule_id } = denied
    expect(json).toMatchObject({ same_answer: true, replay: { matched_rule_id } })
    expect(JSON.stringify(json)).toContain('cost too much')
  })
})

describe('a rule over canary readings', () => {
  const check = async (score: number, more: object = {}) => {
    const { trace_id } = await service.done(caller, '/v1/trace/check', {
      readings: [{ family: 'exfiltration', score, threshold: 0.8 }],
      reading_at: new Date().toISOString(),
      canary_set: 'default',
      agent_session_id: 'session-1',
      ...more,
    })
    return String(trace_id)
  }
  const when = (...all: object[]) => ({ all })
  const field = (name: string, op: string, value?: unknown) => ({ field: `canary.${name}`, op, value })
  const TRIPPED = when(
    field('tripped', 'eq', true),
    field('families', 'contains', 'exfiltration'),
    field('source', 'eq', 'client'),
    field('set', 'eq', 'default'),
    field('scores.exfiltration', 'gte', 0.9),
  )

  it('sees the reading of the trace that the token or the request names', async () => {
    await service.setPolicy(caller, [{ id: 'canary', when: TRIPPED, require: { deny: true } }])
    const tripped = await check(0.95)
    const denied = { valid: false, reason: 'policy_denied', matched_rule_id: 'canary' }
    const bound = await service.issue(caller, { trace_id: tripped })
    const answer = await service.verify(caller, bound.token)
    expect(answer).toMatchObject(denied)
    const free = await service.issue(caller)
    expect(await service.verify(caller, free.token, { trace_id: tripped })).toMatchObject(denied)
    // The newest trip of the session counts, whatever is named.
    expect(await service.verify(caller, free.token)).toMatchObject(denied)
    // The fact is on record: without the rule the same decision would have been valid.
    expect(await replay({ rules: [] })).toMatchObject({ would_change: 3 })
  })

  it("sees nothing of a client's quiet, old or foreign reading", async () => {
    const any = field('set', 'exists', true)
    await service.setPolicy(caller, [{ id: 'canary', when: any, require: { deny: true } }])
    const { token } = await service.issue(caller)
    const old = await check(0.95, { reading_at: new Date(Date.now() - HOUR_MS).toISOString() })
    const foreign = await check(0.95, { agent_session_id: 'session-2' })
    for (const trace_id of [await check(0.1), old, foreign]) {
      expect(await service.verify(caller, token, { trace_id, execute: false })).toMatchObject({ valid: true })
    }
    const trace_id = await check(0.1)
    await service.test.owner(
      "UPDATE traces SET source = 'server', model_version_id = 'countersign-tiny@0' WHERE id = $1",
      [trace_id],
    )
    expect(await service.verify(caller, token, { trace_id })).toMatchObject({ matched_rule_id: 'canary' })
  })
})
