// Rules over HTTP, from the document to the answers of authorize and verify: unknown fields, elements of lists, and
// documents that were stored before unknown fields were refused.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { PolicyDocument } from '#src/authorize/policy/document.ts'
import { MEMBERS } from '#src/authorize/policy/fields.ts'
import { digestOf } from '#src/platform/http/documents.ts'
import type { TestCaller } from '../../support/callers.ts'
import { ACTION, type Intents, startIntents } from '../intents/service.ts'
import { createUnder } from '../intents/under.ts'

let service: Intents
let caller: TestCaller

beforeAll(async () => {
  service = await startIntents({ scopes: ['all'] })
})
beforeEach(async () => {
  caller = await service.makeCaller()
})
afterAll(() => service?.close())

const deny = (id: string, when: object, members: object = {}) => ({ id, when, require: { deny: true }, ...members })
const TYPO = { field: 'device.tierr', op: 'ne', value: 'strongbox' }
const item = (when: object) => ({ in: 'action_payload.items', as: 'item', when })
const isVodka = { field: 'item.sku', op: 'eq', value: 'vodka' }

/** The answers to an action with this payload: of the advance check of authorize, and of verify. */
async function answersTo(payload: object) {
  const action = { ...ACTION, action_payload: { ...ACTION.action_payload, ...payload } }
  const { intent_token, preflight } = await service.done(caller, '/v1/intent/authorize', {
    ...action,
    agent_session_id: 'session-1',
    device_id: 'device-1',
  })
  const verified = await service.verify(caller, String(intent_token), action)
  const { reason } = preflight as { reason: string | null }
  expect(verified.reason).toBe(reason)
  return verified
}

// As a version that accepted the document has stored it.
async function store(rules: object[], version = 1) {
  const document = { name: 'default', default_rules: { biometric_flag: true, hardware_above: 500 }, rules }
  const digest = digestOf(document as unknown as PolicyDocument)
  await service.test.owner(
    `INSERT INTO policy_versions (account_id, environment, version, document, digest, changed_by)
     VALUES ($1, $2, $3, $4, decode($5, 'hex'), 'key_test_before')`,
    [caller.accountId, caller.environment, version, JSON.stringify(document), digest],
  )
}
const stored = (rule: object) => ({ priority: 100, enabled: true, shadow: false, ...rule })

describe('a rule on a field that does not exist', () => {
  it('is refused by name by PUT, validate, analyze, simulate and replay', async () => {
    const document = { rules: [deny('weak-devices', TYPO)] }
    const asked = (path: string, json: Record<string, unknown>) => service.post(caller, `/v1/policy${path}`, json)
    const refused = (pointer: string) => [
      { pointer, code: 'unknown_policy_field', detail: expect.stringContaining('tier') },
    ]
    const sent = { method: 'PUT', json: { document }, headers: { 'If-Match': '*' } }
    expect(await service.call(caller, '/v1/policy', sent)).toMatchObject({
      status: 400,
      json: { errors: refused('/document/rules/0/when/field') },
    })
    expect((await asked('/validate', { document })).json).toMatchObject({
      valid: false,
      errors: refused('/rules/0/when/field'),
    })
    const range = { from: '2026-01-01T00:00:00Z', to: '2026-01-02T00:00:00Z' }
    for (const [path, more] of [
      ['/analyze', {}],
      ['/simulate', { input: {} }],
      ['/replay', range],
    ] as const) {
      const { status, json } = await asked(path, { document, ...more })
      expect({ path, status, errors: json.errors }).toMatchObject({
        status: 400,
        errors: refused('/document/rules/0/when/field'),
      })
    }
  })

  it('and that was stored before refuses what it may be about, is readable, and is named by analyze', async () => {
    const wire = { field: 'action_type', op: 'eq', value: 'wire' }
    await store([
      stored(deny('weak-devices', { all: [wire, TYPO] })),
      stored({
        id: 'no-list',
        when: { field: 'context.tags[0]', op: 'exists', value: false },
        require: { biometric: true },
      }),
    ])
    expect(await answersTo({})).toMatchObject({ valid: false, reason: 'policy_biometric_required' })
    expect(await answersTo({ action_type: 'wire' })).toMatchObject({
      reason: 'policy_denied',
      matched_rule_id: 'weak-devices',
    })
    const explained = await service.post(caller, '/v1/policy/simulate', { input: { action_type: 'wire' } })
    expect(explained.json.results).toMatchObject([
      {},
      {},
      { rule_id: 'no-list', matched: true, met: false, error: expect.stringContaining('context.tags[0]') },
      { rule_id: 'weak-devices', matched: true, met: false, error: expect.stringContaining('device.tierr') },
    ])
    expect((await service.call(caller, '/v1/policy')).json).toMatchObject({
      version: 1,
      document: { rules: [{}, { id: 'no-list' }] },
    })
    expect((await service.call(caller, '/v1/policy/versions/1')).status).toBe(200)
    const { findings } = (await service.post(caller, '/v1/policy/analyze', {})).json as { findings: { code: string }[] }
    expect(findings.filter(({ code }) => code === 'unknown_policy_field')).toMatchObject([
      { rule_id: 'weak-devices', pointer: '/rules/0/when/all/1/field', detail: expect.stringContaining('tier') },
      { rule_id: 'no-list', pointer: '/rules/1/when/field' },
    ])
  })

  it('does not return by a rollback', async () => {
    await store([stored(deny('weak-devices', TYPO))])
    await service.setPolicy(caller, [])
    const back = await service.post(caller, '/v1/policy/rollback', { version: 1 })
    expect(back).toMatchObject({
      status: 400,
      json: { errors: [{ pointer: '/rules/0/when/field', code: 'unknown_policy_field' }] },
    })
  })
})

describe('a rule on the elements of a list', () => {
  it('sees the second item, which a rule on the first one misses', async () => {
    await service.setPolicy(caller, [deny('first', { field: 'action_payload.items.0.sku', op: 'eq', value: 'vodka' })])
    const hidden = { items: [{ sku: 'tea' }, { sku: 'vodka' }] }
    expect(await answersTo(hidden)).toMatchObject({ valid: true })
    await service.setPolicy(caller, [deny('every', { any: item(isVodka) })])
    expect(await answersTo(hidden)).toMatchObject({ reason: 'policy_denied', matched_rule_id: 'every' })
    expect(await answersTo({ items: [{ sku: 'tea' }, { sku: 'milk' }] })).toMatchObject({ valid: true })
    expect(await answersTo({})).toMatchObject({ valid: true })
  })

  it('refuses where the list is none, or costs too much', async () => {
    await service.setPolicy(caller, [deny('every', { any: item(isVodka) })])
    for (const items of [{ sku: 'vodka' }, 'vodka', 7, true]) {
      expect(await answersTo({ items })).toMatchObject({ reason: 'policy_denied', matched_rule_id: 'every' })
    }
    const nested = { any: item({ any: { in: 'action_payload.items', as: 'other', when: isVodka } }) }
    await service.setPolicy(caller, [deny('square', nested)])
    expect(await answersTo({ items: new Array(20).fill(0) })).toMatchObject({ valid: true })
    expect(await answersTo({ items: new Array(5_000).fill(0) })).toMatchObject({ matched_rule_id: 'square' })
  })

  it('refuses a missing name where the rule says that it must be one of a list', async () => {
    await service.setPolicy(caller, [deny('known', { field: 'action_payload.country', op: 'not_in', value: ['DE'] })])
    expect(await answersTo({ country: 'DE' })).toMatchObject({ valid: true })
    expect(await answersTo({ country: 'FR' })).toMatchObject({ matched_rule_id: 'known' })
    expect(await answersTo({})).toMatchObject({ matched_rule_id: 'known' })
  })
})

describe('the lists of fields', () => {
  it('are what the facts of decisions have', async () => {
    const under = createUnder(service)
    const { agentId: agent_id, sessionId: agent_session_id } = await service.makeAgent(caller)
    const { trace_id } = await service.done(caller, '/v1/trace/check', {
      readings: [{ family: 'deception', score: 0.95, threshold: 0.8 }],
      reading_at: new Date().toISOString(),
      canary_set: 'default-v1',
      agent_session_id,
    })
    const mandate = { mandate_id: await under.mandate(caller), agent_id, agent_session_id, trace_id }
    const schedule = { schedule_id: await under.schedule(caller) }
    const [ofMandate, ofSchedule] = await Promise.all(
      [mandate, schedule].map(async (bound) => {
        const { token } = await under.issue(caller, '100', bound)
        const { decision_id } = await under.verify(caller, token, '100')
        const { json } = await service.call(caller, `/v1/decisions/${decision_id}/explain`)
        return (json.replay as { facts: Facts }).facts
      }),
    )
    const roots = {
      agent: ofMandate?.agent.attributes,
      device: ofMandate?.device,
      session: ofMandate?.session,
      mandate: ofMandate?.mandate.attributes,
      schedule: ofSchedule?.schedule.attributes,
      canary: ofMandate?.canary,
    }
    for (const [root, members] of Object.entries(roots)) {
      const listed = MEMBERS[root as keyof typeof roots].map((member) => member.split('.')[0])
      expect(Object.keys(members ?? {}).toSorted(), root).toEqual(listed.toSorted())
    }
  })
})

interface Facts {
  agent: { attributes: object }
  device: object
  session: object
  mandate: { attributes: object }
  schedule: { attributes: object }
  canary: object | null
}
