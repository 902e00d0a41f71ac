// Whether verify has to name what a token is bound to: the setting `require_bindings` of the policy.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { TestCaller } from '../../support/callers.ts'
import { ACTION, BOUND, type Intents, startIntents } from './service.ts'

type Members = Record<string, unknown>

let service: Intents
let caller: TestCaller

beforeAll(async () => {
  service = await startIntents()
})
beforeEach(async () => {
  caller = await service.makeCaller()
})
afterAll(() => service?.close())

const EVIDENCE = { invoice: '2026-118' }
const AUDIENCE = 'tool:payments'
const ALL: Members = { ...BOUND, audience: AUDIENCE, context_evidence: EVIDENCE }
/** What verify answers to a token of `ALL` where one of them is left out. */
const LEFT_OUT = {
  agent_session_id: 'invalid_token',
  device_id: 'invalid_token',
  audience: 'invalid_token',
  context_evidence: 'context_hash_mismatch',
} as const

const issueBound = () => service.issue(caller, { audience: AUDIENCE, context_evidence: EVIDENCE })
const require = (isRequired: boolean) => service.setPolicy(caller, [], { require_bindings: isRequired })
const without = (name: string) => Object.fromEntries(Object.entries(ALL).filter(([key]) => key !== name))
const range = () => ({
  from: new Date(Date.now() - 3_600_000).toISOString(),
  to: new Date(Date.now() + 3_600_000).toISOString(),
})
const replay = (document: object) => service.done(caller, '/v1/policy/replay', { document, ...range() })
const explain = async ({ decision_id: id }: Members) =>
  (await service.call(caller, `/v1/decisions/${id}/explain`)).json as Members

describe('a verification of three members', () => {
  it('is valid for a token with every binding, without a policy and where the policy does not require them', async () => {
    for (const set of [() => Promise.resolve(), () => service.setPolicy(caller, []), () => require(false)]) {
      await set()
      const { token } = await issueBound()
      expect(await service.verify(caller, token)).toMatchObject({ valid: true, reason: null })
    }
  })
})

describe('a policy that requires bindings', () => {
  it('refuses a verification that leaves one out with the reason of another one, and accepts one that names all', async () => {
    await require(true)
    const { token } = await issueBound()
    for (const execute of [true, false]) {
      for (const [name, reason] of Object.entries(LEFT_OUT)) {
        const answer = await service.verify(caller, token, { ...without(name), execute })
        expect([name, answer.valid, answer.reason]).toEqual([name, false, reason])
        const differs = await service.verify(caller, token, { ...ALL, [name]: 'another', execute })
        expect([name, differs.valid, differs.reason]).toEqual([name, false, reason])
      }
      expect(await service.verify(caller, token, { execute })).toMatchObject({ valid: false, reason: 'invalid_token' })
    }
    const first = await service.verify(caller, token, ALL)
    expect(first).toMatchObject({ valid: true, reason: null })
    expect(first).not.toHaveProperty('already_executed')
  })

  it('requires no binding that the token does not have', async () => {
    await require(true)
    const { token } = await service.issue(caller)
    expect(await service.verify(caller, token, BOUND)).toMatchObject({ valid: true })
  })

  it('counts from the next verification on, and for tokens that were issued before', async () => {
    const { token } = await issueBound()
    expect(await service.verify(caller, token, { execute: false })).toMatchObject({ valid: true })
    await require(true)
    expect(await service.verify(caller, token, { execute: false })).toMatchObject({ reason: 'invalid_token' })
    await require(false)
    expect(await service.verify(caller, token, { execute: false })).toMatchObject({ valid: true })
  })

  it('is foreseen as met by authorize, and asked of a gateway too', async () => {
    await require(true)
    const authorized = await service.authorize(caller, { audience: AUDIENCE })
    expect(authorized.json).toMatchObject({ preflight: { would_be_valid: true, reason: null } })
    const evaluate = (properties?: Members) =>
      service.done(caller, '/v1/access/evaluation', {
        subject: { type: 'agent_session', id: BOUND.agent_session_id, ...(properties && { properties }) },
        action: { name: ACTION.action_description, properties: ACTION.action_payload },
        resource: { type: 'tool', id: 'payments' },
        context: { intent_token: authorized.json.intent_token },
      })
    expect(await evaluate()).toMatchObject({ decision: false, context: { reason: 'invalid_token' } })
    expect(await evaluate({ device_id: BOUND.device_id })).toMatchObject({ decision: true })
  })

  it('is shown as it was set, kept by a rollback, checked by validate and accepted by simulate', async () => {
    await require(true)
    await service.setPolicy(caller, [])
    const shown = async () => (await service.call(caller, '/v1/policy')).json.document
    expect(await shown()).not.toHaveProperty('require_bindings')
    await service.done(caller, '/v1/policy/rollback', { version: 1 })
    expect(await shown()).toMatchObject({ require_bindings: true })
    const document = { rules: [], require_bindings: true }
    expect(await service.done(caller, '/v1/policy/validate', { document })).toMatchObject({ valid: true })
    const wrong = { rules: [], require_bindings: 'yes' }
    expect(await service.done(caller, '/v1/policy/validate', { document: wrong })).toMatchObject({
      valid: false,
      errors: [{ pointer: '/require_bindings' }],
    })
    expect(await service.done(caller, '/v1/policy/analyze', { document })).toMatchObject({ findings: [] })
    expect(await service.done(caller, '/v1/policy/simulate', { document, input: {} })).toMatchObject({
      would_be_valid: true,
    })
  })

  it('is on record: explain repeats its answers by the policy of then', async () => {
    await require(true)
    const { token } = await issueBound()
    const refused = await service.verify(caller, token, without('context_evidence'))
    await require(false)
    const valid = await service.verify(caller, token)
    expect(await explain(refused)).toMatchObject({ same_answer: true, replay: { reason: 'context_hash_mismatch' } })
    const { replay: replayed } = (await explain(refused)) as { replay: { steps: Members[] } }
    expect(replayed.steps.find(({ result }) => result === 'refused')).toMatchObject({
      reasons: ['context_hash_mismatch'],
    })
    expect(await explain(valid)).toMatchObject({ same_answer: true, replay: { valid: true } })
  })

  it('is replayed over past decisions: what it would have refused, and what it refused', async () => {
    const { token } = await issueBound()
    const { decision_id: free } = await service.verify(caller, token)
    await service.verify(caller, token, ALL)
    const wrong = { ...ALL, action_payload: { amount: '1' } }
    await service.verify(caller, token, wrong)
    expect(await replay({ rules: [], require_bindings: true })).toMatchObject({
      looked: 3,
      would_change: 1,
      unaffected: 1,
      data: [{ decision_id: free, before: { valid: true }, after: { valid: false, reason: 'invalid_token' } }],
    })
    await require(true)
    const { decision_id: refused } = await service.verify(caller, token)
    const changes = await replay({ rules: [] })
    expect(changes).toMatchObject({
      looked: 4,
      would_change: 1,
      data: [{ decision_id: refused, before: { reason: 'invalid_token' }, after: { valid: true, reason: null } }],
    })
    expect(await replay({ rules: [], require_bindings: true })).toMatchObject({ looked: 4, unaffected: 2 })
  })
})
