// Every reason that a token can be refused for today, each alone, through the real service.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { verifyRecord } from '#client/verify/records.ts'
import type { TestCaller } from '../../support/callers.ts'
import { createReceivers, decide } from '../webhooks/receivers.ts'
import { ACTION, type Intents, startIntents } from './service.ts'

const receivers = createReceivers()
let service: Intents
let caller: TestCaller

beforeAll(async () => {
  // The signing keys are older than every token.
  service = await startIntents({ now: new Date(Date.now() - 3_600_000) })
  service.clock.now = undefined
})
beforeEach(async () => {
  caller = await service.makeCaller()
})
afterAll(async () => {
  await receivers.close()
  await service?.close()
})

const verifying = async (body: object = {}, issued: object = {}) => {
  const { token } = await service.issue(caller, { ...issued })
  return service.verify(caller, token, { ...body })
}
const readings = (score: number, more: object = {}) => ({
  readings: [{ family: 'exfiltration', score, threshold: 0.8 }],
  reading_at: new Date().toISOString(),
  canary_set: 'default',
  agent_session_id: 'session-1',
  ...more,
})

describe('a verification', () => {
  it('is valid for the authorized action, once recorded, and says when', async () => {
    const { token, jti } = await service.issue(caller)
    const answer = await service.verify(caller, token)
    expect(answer).toEqual({
      valid: true,
      reason: null,
      detail: expect.any(String),
      jti,
      decision_id: expect.stringMatching(/^dec_test_/),
      evaluated_at: expect.stringMatching(/Z$/),
    })
    const entries = await service.decisions(caller)
    expect(entries.map(({ kind }) => kind)).toEqual(['authorize', 'verify', 'execute'])
    expect(entries[1]).toMatchObject({ id: answer.decision_id, reason: null, jti })
  })

  it('refuses another description, payload or evidence, each by its own reason', async () => {
    const evidence = { cart: ['a', 'b'] }
    const issued = { context_evidence: evidence }
    expect(await verifying({}, issued)).toMatchObject({ valid: true })
    expect(await verifying({ context_evidence: { cart: ['a', 'b'] } }, issued)).toMatchObject({ valid: true })
    for (const description of [`${ACTION.action_description} `, ACTION.action_description.toLowerCase(), '']) {
      expect(await verifying({ action_description: description })).toMatchObject({ reason: 'action_hash_mismatch' })
    }
    for (const payload of [{}, { ...ACTION.action_payload, amount: '120.0' }, { ...ACTION.action_payload, x: null }]) {
      expect(await verifying({ action_payload: payload })).toMatchObject({ reason: 'payload_hash_mismatch' })
    }
    for (const given of [{ cart: ['b', 'a'] }, 'cart', {}]) {
      expect(await verifying({ context_evidence: given }, issued)).toMatchObject({ reason: 'context_hash_mismatch' })
    }
    expect(await verifying({ context_evidence: evidence })).toMatchObject({ reason: 'context_hash_mismatch' })
  })

  it('compares a payload by its canonical form, with a member that is called __proto__', async () => {
    const sent = (text: string) => ({ json: undefined, body: text, headers: { 'Content-Type': 'application/json' } })
    const body = (payload: string, more: string) =>
      `{"action_description":"Pay","action_payload":${payload},"agent_session_id":"s","device_id":"d"${more}}`
    const text = body('{"b":1,"__proto__":{"x":1},"a":2}', '')
    const { intent_token: token } = await service.done(caller, '/v1/intent/authorize', {}, sent(text))
    const verify = async (payload: string) =>
      service.done(caller, '/v1/intent/verify', {}, sent(body(payload, `,"intent_token":"${token}"`)))
    expect(await verify('{"__proto__": {"x": 1.0}, "a": 2, "b": 1}')).toMatchObject({ valid: true })
    expect(await verify('{"a":2,"b":1}')).toMatchObject({ reason: 'payload_hash_mismatch' })
  })

  it('refuses a token for another device, session or audience as invalid', async () => {
    expect(await verifying({ device_id: 'device-1', agent_session_id: 'session-1' })).toMatchObject({ valid: true })
    expect(await verifying({ audience: 'shop' }, { audience: 'shop' })).toMatchObject({ valid: true })
    for (const wrong of [{ device_id: 'device-2' }, { agent_session_id: 'session-2' }, { audience: 'shop' }]) {
      expect(await verifying(wrong), JSON.stringify(wrong)).toMatchObject({ valid: false, reason: 'invalid_token' })
    }
  })

  it('refuses an expired token', async () => {
    service.clock.now = new Date(Date.now() - 40_000)
    const { token } = await service.issue(caller, { ttl_seconds: 30 })
    service.clock.now = undefined
    expect(await service.verify(caller, token)).toMatchObject({ valid: false, reason: 'token_expired' })
  })

  it('refuses a token that was issued more than a minute ahead of its clock, until then', async () => {
    const issuedAt = Date.now() + 24 * 3_600_000
    service.clock.now = new Date(issuedAt)
    const { token } = await service.issue(caller)
    service.clock.now = undefined
    expect(await service.verify(caller, token)).toMatchObject({ valid: false, reason: 'invalid_token' })
    service.clock.now = new Date(issuedAt - 62_000)
    expect(await service.verify(caller, token)).toMatchObject({ valid: false, reason: 'invalid_token' })
    service.clock.now = new Date(issuedAt - 50_000)
    expect(await service.verify(caller, token)).toMatchObject({ valid: true })
    service.clock.now = undefined
  })

  it('refuses a revoked token, session or device, and names the scope', async () => {
    for (const scope of ['token', 'session', 'device'] as const) {
      const named = { agent_session_id: `s-${scope}`, device_id: `d-${scope}` }
      const { token, jti } = await service.issue(caller, named)
      const subject = {
        token: { jti },
        session: { agent_session_id: `s-${scope}` },
        device: { device_id: `d-${scope}` },
      }
      await service.done(caller, '/v1/intent/revocations', { scope, ...subject[scope], reason: 'lost' })
      expect(await service.verify(caller, token)).toMatchObject({ reason: 'token_revoked', revoked_scope: scope })
      if (scope === 'token') continue
      expect(await service.authorize(caller, named)).toMatchObject({
        status: 409,
        json: { code: scope === 'session' ? 'agent_session_revoked' : 'device_revoked' },
      })
    }
  })

  it('refuses while the account is stopped, and no longer', async () => {
    const { token } = await service.issue(caller)
    await service.done(caller, '/v1/intent/stop', { reason: 'incident' })
    expect(await service.verify(caller, token)).toMatchObject({
      reason: 'policy_denied',
      matched_rule_id: 'system:stop',
    })
    expect(await service.authorize(caller)).toMatchObject({ status: 409, json: { code: 'account_stopped' } })
    await service.done(caller, '/v1/intent/resume')
    expect(await service.verify(caller, token)).toMatchObject({ valid: true })
  })

  it('refuses the tokens of a suspended agent', async () => {
    const { agentId, sessionId } = await service.makeAgent(caller)
    const { token } = await service.issue(caller, { agent_id: agentId, agent_session_id: sessionId })
    // The session alone says whose agent it is.
    const { token: second } = await service.issue(caller, { agent_session_id: sessionId })
    expect(await service.verify(caller, second)).toMatchObject({ valid: true })
    await service.done(caller, `/v1/agents/${agentId}/suspend`, { reason: 'review' })
    for (const one of [token, second]) {
      expect(await service.verify(caller, one)).toMatchObject({ reason: 'agent_suspended' })
    }
    const refused = await service.authorize(caller, { agent_session_id: sessionId })
    expect(refused).toMatchObject({ status: 409, json: { code: 'agent_suspended' } })
    await service.done(caller, `/v1/agents/${agentId}/unsuspend`)
    expect(await service.verify(caller, token)).toMatchObject({ valid: true })
  })

  it('refuses a session that a canary trip locked, and names the lock', async () => {
    const { token } = await service.issue(caller)
    await setKillSwitch('block_and_lock')
    const { lock_id } = await service.done(caller, '/v1/trace/check', readings(0.95))
    expect(await service.verify(caller, token)).toMatchObject({ reason: 'session_canary_locked', lock_id })
    const refused = await service.authorize(caller)
    expect(refused).toMatchObject({ status: 409, json: { code: 'session_canary_locked', lock_id } })
    await service.done(caller, `/v1/trace/session-locks/${lock_id}/clear`)
    expect(await service.verify(caller, token)).toMatchObject({ valid: true })
  })

  it("refuses another reading than the token's trace had, and another trace", async () => {
    const { trace_id: trace } = await service.done(caller, '/v1/trace/check', readings(0.1))
    const { trace_id: other } = await service.done(caller, '/v1/trace/check', readings(0.2))
    const issued = { trace_id: trace }
    expect(await verifying({}, issued)).toMatchObject({ valid: true })
    expect(await verifying({ trace_id: trace }, issued)).toMatchObject({ valid: true })
    expect(await verifying({ trace_id: other }, issued)).toMatchObject({ reason: 'canary_reading_mismatch' })
    expect(await verifying({ trace_id: 'none' }, issued)).toMatchObject({ reason: 'canary_reading_mismatch' })
  })

  it('applies the default rules to the largest amount and to any wish for a biometric', async () => {
    expect(await verifying({ context: { transaction_amount: 500 } })).toMatchObject({ valid: true })
    const hardware = { reason: 'hardware_required_above_500' }
    expect(await verifying({ context: { transaction_amount: '500.01' } })).toMatchObject(hardware)
    expect(await verifying({}, { context: { transaction_amount: 501 } })).toMatchObject(hardware)
    const large = { action_payload: { amount: 1_000 } }
    expect(await verifying({ ...large, context: { transaction_amount: 1 } }, large)).toMatchObject(hardware)
    const biometric = { reason: 'biometric_required' }
    expect(await verifying({}, { context: { require_biometric: true } })).toMatchObject(biometric)
    expect(await verifying({ context: { require_biometric: true } })).toMatchObject(biometric)
  })

  it('applies rules of the policy: deny, biometric, hardware, tier, and a reason of their own', async () => {
    const rule = (id: string, require: object, more: object = {}) => ({ id, require, ...more })
    for (const [reason, require] of Object.entries({
      policy_denied: { deny: true },
      policy_biometric_required: { biometric: true },
      policy_hardware_required: { hardware: true },
      policy_tier_required: { min_tier: 'tee' },
    })) {
      await service.setPolicy(caller, [rule('the-rule', require)])
      expect(await verifying(), reason).toMatchObject({ valid: false, reason, matched_rule_id: 'the-rule' })
    }
    await service.setPolicy(caller, [rule('own', { deny: true }, { reason: 'closed_on_sundays' })])
    expect(await verifying()).toMatchObject({ reason: 'closed_on_sundays', matched_rule_id: 'own' })
    await service.setPolicy(caller, [rule('shadow', { deny: true }, { shadow: true })])
    expect(await verifying()).toMatchObject({ valid: true })
    const entries = await service.decisions(caller)
    expect(entries.filter(({ kind }) => kind === 'policy_shadow')).toHaveLength(1)
  })

  it('evaluates the context of authorize and its own, each by itself', async () => {
    const when = { field: 'context.country', op: 'eq', value: 'XX' }
    await service.setPolicy(caller, [{ id: 'country', when, require: { deny: true } }])
    expect(await verifying({ context: { country: 'DE' } }, { context: { country: 'FR' } })).toMatchObject({
      valid: true,
    })
    const denied = { reason: 'policy_denied', matched_rule_id: 'country' }
    expect(await verifying({ context: { country: 'DE' } }, { context: { country: 'XX' } })).toMatchObject(denied)
    expect(await verifying({ context: { country: 'XX' } }, { context: { country: 'DE' } })).toMatchObject(denied)
  })

  it('asks the webhook of a rule, and refuses when it denies or is away', async () => {
    await service.done(caller, '/v1/policy/webhook-secret/rotate')
    const cases = [
      { answer: decide('allow'), expected: { valid: true } },
      {
        answer: decide('deny', { reason: 'unknown supplier' }),
        expected: { reason: 'policy_webhook_denied', webhook_reason: 'unknown supplier', matched_rule_id: 'ask' },
      },
      {
        answer: decide('perhaps'),
        expected: {
          reason: 'policy_webhook_unavailable',
          unavailable_check: 'webhook',
          webhook_unavailable_cause: 'malformed',
          matched_rule_id: 'ask',
        },
      },
    ]
    for (const { answer, expected } of cases) {
      const { url, questions } = await receivers.plain(answer)
      await service.setPolicy(caller, [{ id: 'ask', require: { webhook: { url } } }])
      const preflight = (await service.authorize(caller)).json.preflight
      expect(preflight).toEqual({ would_be_valid: false, reason: 'policy_webhook_pending' })
      const verified = await verifying({ context: { supplier: 7 } })
      expect(verified).toMatchObject(expected)
      const { json } = await service.call(caller, `/v1/decisions/${verified.decision_id}/explain`)
      expect(json.replay).toMatchObject({ ...expected, agrees: true })
      expect(questions).toHaveLength(1)
      expect(questions[0]?.json).toMatchObject({
        evaluation_id: verified.decision_id,
        rule_id: 'ask',
        ...ACTION,
        context: { supplier: 7 },
        agent_session_id: 'session-1',
      })
      // The amount as rules of the policy compare it.
      expect(questions[0]?.json.context).toEqual({ supplier: 7, transaction_amount: '120.00' })
    }
    const kinds = (await service.decisions(caller)).filter(({ kind }) => kind === 'webhook_decision')
    expect(kinds.map(({ reason }) => reason)).toEqual([null, 'policy_webhook_denied', 'policy_webhook_unavailable'])
    expect(kinds.map(({ entry }) => JSON.parse(entry).inputs.cause)).toEqual([undefined, undefined, 'malformed'])
  })

  it('tells a receiver the largest amount that authorize, verify and the payload name', async () => {
    await service.done(caller, '/v1/policy/webhook-secret/rotate')
    const { url, questions } = await receivers.plain(decide('allow'))
    await service.setPolicy(caller, [{ id: 'ask', require: { webhook: { url } } }], {
      default_rules: { hardware_above: null },
    })
    const amounts = [
      { authorized: { transaction_amount: '900.00' }, verified: { supplier: 7 }, told: '900.00' },
      { authorized: undefined, verified: { transaction_amount: 700 }, told: 700 },
      { authorized: { transaction_amount: 1 }, verified: undefined, told: '120.00' },
    ]
    for (const { authorized, verified, told } of amounts) {
      const given = (context: object | undefined) => (context === undefined ? {} : { context })
      expect(await verifying(given(authorized), given(verified))).toMatchObject({ valid: true })
      expect(questions.at(-1)?.json.context).toMatchObject({ transaction_amount: told })
    }
  })

  it('answers by a webhook that denied before one that gave no answer, and records both', async () => {
    await service.done(caller, '/v1/policy/webhook-secret/rotate')
    const silent = await receivers.plain((response) => response.writeHead(500).end())
    const denying = await receivers.plain(decide('deny', { reason: 'unknown supplier' }))
    const rule = (id: string, priority: number, { url }: { url: string }) => ({
      id,
      priority,
      require: { webhook: { url } },
    })
    const denied = {
      valid: false,
      reason: 'policy_webhook_denied',
      matched_rule_id: 'denying',
      webhook_reason: 'unknown supplier',
    }
    for (const [first, second] of [
      [1, 100],
      [100, 1],
      [1, 1],
    ] as const) {
      await service.setPolicy(caller, [rule('silent', first, silent), rule('denying', second, denying)])
      const answer = await verifying()
      expect([first, second, answer]).toMatchObject([first, second, denied])
      const { json } = await service.call(caller, `/v1/decisions/${answer.decision_id}/explain`)
      expect(json).toMatchObject({ same_answer: true, replay: denied })
    }
    expect([silent.questions.length, denying.questions.length]).toEqual([3, 3])
    const recorded = (await service.decisions(caller)).filter(({ kind }) => kind === 'webhook_decision')
    expect(recorded.map(({ reason }) => reason).toSorted()).toEqual([
      ...Array.from({ length: 3 }, () => 'policy_webhook_denied'),
      ...Array.from({ length: 3 }, () => 'policy_webhook_unavailable'),
    ])
    expect((await service.decisions(caller)).filter(({ kind }) => kind === 'execute')).toEqual([])
  })

  it('records one of the questions that were not sent for the same cause', async () => {
    const { url } = await receivers.plain(decide('allow'))
    const webhook = { url }
    await service.setPolicy(
      caller,
      Array.from({ length: 40 }, (_, n) => ({ id: `ask-${n}`, require: { webhook } })),
    )
    expect(await verifying()).toMatchObject({ reason: 'policy_webhook_unavailable' })
    const entries = await service.decisions(caller)
    const of = (kind: string) => entries.filter((one) => one.kind === kind).map(({ entry }) => JSON.parse(entry))
    expect(of('webhook_decision')).toMatchObject([{ inputs: { cause: 'no_secret' } }])
    expect(of('verify')[0].rule_results).toHaveLength(40)
  })

  it('asks no webhook about an action that a rule before it denies', async () => {
    const { url, questions } = await receivers.plain(decide('allow'))
    const rules = [
      { id: 'ask', require: { webhook: { url } } },
      { id: 'no', require: { deny: true }, priority: 900 },
    ]
    await service.setPolicy(caller, rules)
    expect(await verifying()).toMatchObject({ reason: 'policy_denied', matched_rule_id: 'no' })
    expect(await verifying({ action_description: 'other' })).toMatchObject({ reason: 'action_hash_mismatch' })
    expect(questions).toEqual([])
  })

  it('reads canaries: a strict condition needs a reading, and a tripped one refuses and locks', async () => {
    const canary = { set: 'default', families: ['exfiltration'] }
    const condition = (mode: string) => [{ id: 'canary', require: { canary: { ...canary, mode } } }]
    await service.setPolicy(caller, condition('strict'))
    expect(await verifying()).toMatchObject({
      reason: 'canary_unavailable',
      unavailable_check: 'canary',
      canary_set: 'default',
    })
    await service.setPolicy(caller, condition('best_effort'))
    expect(await verifying()).toMatchObject({ valid: true })
    const { trace_id } = await service.done(caller, '/v1/trace/check', readings(0.95))
    // The kill switch itself leaves the family out, and the condition names it.
    await setKillSwitch('block_and_lock', false)
    const tripped = await verifying({ trace_id })
    expect(tripped).toMatchObject({
      reason: 'canary_tripped',
      matched_rule_id: 'canary',
      canary_set: 'default',
      canary_readings: [{ family: 'exfiltration', score: 0.95, threshold: expect.any(Number), tripped: true }],
      lock_id: expect.stringMatching(/^lck_test_/),
    })
    const events = (await service.events(caller)).filter(({ type }) => type === 'trace.canary_tripped')
    expect(events.at(-1)?.data).toMatchObject({
      source: 'verify',
      jti: tripped.jti,
      lock_id: tripped.lock_id,
      matched_rule_id: 'canary',
    })
    expect(await service.authorize(caller)).toMatchObject({ json: { code: 'session_canary_locked' } })
  })

  it('reads a canary under best_effort also where the rule appears while another question is asked', async () => {
    await service.done(caller, '/v1/policy/webhook-secret/rotate')
    const { trace_id } = await service.done(caller, '/v1/trace/check', readings(0.1))
    const isOfModel = "source = 'server', model_version_id = 'countersign-tiny@0'"
    await service.test.owner(`UPDATE traces SET ${isOfModel} WHERE id = $1`, [trace_id])
    const { url, questions } = await receivers.plain(async (response) => {
      const canary = { set: 'default', mode: 'best_effort' }
      await service.setPolicy(caller, [ask, { id: 'canary', require: { canary } }])
      response.end('{"decision":"allow"}')
    })
    const ask = { id: 'ask', require: { webhook: { url } } }
    await service.setPolicy(caller, [ask])
    const { decision_id } = await verifying({ trace_id })
    expect(questions).toHaveLength(2)
    const { json } = await service.call(caller, `/v1/decisions/${decision_id}/explain`)
    const of = { rule_id: 'canary', effect: 'canary' }
    expect((json.replay as { rules: object[] }).rules).toContainEqual({
      ...of,
      matched: true,
      met: true,
      shadow: false,
    })
  })

  it('denies by a trip of its session that comes while a webhook is asked, whatever reading it has', async () => {
    await service.done(caller, '/v1/policy/webhook-secret/rotate')
    const { trace_id } = await service.done(caller, '/v1/trace/check', readings(0.1))
    const isOfModel = "source = 'server', model_version_id = 'countersign-tiny@0'"
    await service.test.owner(`UPDATE traces SET ${isOfModel} WHERE id = $1`, [trace_id])
    const { url, questions } = await receivers.plain(async (response) => {
      await service.done(caller, '/v1/trace/check', readings(0.95))
      response.end('{"decision":"allow"}')
    })
    const canary = { id: 'canary', require: { canary: { set: 'default', mode: 'strict' } } }
    await service.setPolicy(caller, [{ id: 'ask', require: { webhook: { url } } }, canary])
    expect(await verifying({ trace_id })).toMatchObject({ reason: 'canary_tripped', matched_rule_id: 'canary' })
    expect(questions).toHaveLength(1)
  })

  it('gives a receipt on request, signed by a record key, for refusals too', async () => {
    const { token, jti } = await service.issue(caller)
    const { receipt, decision_id } = await service.verify(caller, token, { receipt: true })
    const { signingKeys } = service.services.platform
    expect(await verifyRecord(String(receipt), await signingKeys.jwks())).toMatchObject({
      isValid: true,
      typ: 'verify-receipt+jwt',
      payload: { jti, decision_id, valid: true, executed: true },
    })
    const refused = await service.verify(caller, token, { receipt: true, action_description: 'x' })
    expect(JSON.parse(Buffer.from(String(refused.receipt).split('.')[1] ?? '', 'base64url').toString())).toMatchObject({
      valid: false,
      reason: 'action_hash_mismatch',
      executed: false,
    })
  })
})

async function setKillSwitch(mode: string, enabled = true): Promise<void> {
  const document = { mode, families: [{ family: 'exfiltration', threshold: 0.8, enabled }] }
  const sent = { method: 'PUT', json: { document }, headers: { 'If-Match': '*' } }
  expect(await service.call(caller, '/v1/trace/kill-switch', sent)).toMatchObject({ status: 200 })
}
