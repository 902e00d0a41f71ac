import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { hashCanonical, hashDescription } from '#src/authorize/tokens/format.ts'
import { parseIntentToken } from '#src/authorize/tokens/parse.ts'
import { newId } from '#src/platform/ids.ts'
import type { TestCaller } from '../../support/callers.ts'
import { ACTION, BOUND, type Intents, startIntents } from './service.ts'

let service: Intents
let caller: TestCaller

beforeAll(async () => {
  service = await startIntents({ now: new Date(Date.now() - 3_600_000) })
  service.clock.now = undefined
})
beforeEach(async () => {
  caller = await service.makeCaller()
})
afterAll(() => service?.close())

const nested = (levels: number): object => (levels === 1 ? {} : { a: nested(levels - 1) })
const claimsOf = async (token: unknown) => {
  const { signingKeys } = service.services.platform
  const parsed = await parseIntentToken(String(token), signingKeys, { environment: 'sandbox' })
  return parsed.isValid ? parsed.claims : undefined
}

describe('authorize', () => {
  it('binds the token to the description byte for byte, and to the payload and the evidence as canonical JSON', async () => {
    const { agentId, sessionId } = await service.makeAgent(caller)
    const check = await service.done(caller, '/v1/trace/check', {
      readings: [{ family: 'exfiltration', score: 0.1 }],
      reading_at: new Date().toISOString(),
      canary_set: 'default',
      agent_session_id: sessionId,
    })
    const body = {
      action_description: 'Pay 20 € to Café «Mañana»\u2028 now',
      action_payload: { b: 1e21, a: [1, -0, 'é'] },
      context_evidence: 'the cart',
      agent_session_id: sessionId,
      device_id: 'phone',
      trace_id: check.trace_id,
      audience: 'shop',
      ttl_seconds: 60,
    }
    const { json, status } = await service.authorize(caller, body)
    expect({ status, json }).toMatchObject({ status: 200, json: { preflight: { would_be_valid: true, reason: null } } })
    const claims = await claimsOf(json.intent_token)
    expect(claims).toMatchObject({
      sub: caller.accountId,
      jti: json.jti,
      aud: 'shop',
      action_hash: hashDescription(body.action_description),
      payload_hash: hashCanonical({ a: [1, 0, 'é'], b: 1e21 }),
      context_hash: hashCanonical('the cart'),
      trace_id: check.trace_id,
      reading_hash: expect.any(String),
      // The session says whose it is.
      agent_id: agentId,
      agent_session_id: sessionId,
      device_id: 'phone',
      policy_version: 0,
    })
    expect(json.bindings).toMatchObject({ action_hash: claims?.action_hash, agent_id: agentId, audience: 'shop' })
    expect((claims?.exp ?? 0) - (claims?.iat ?? 0)).toBe(60)
    expect(json.expires_at).toBe(new Date((claims?.exp ?? 0) * 1_000).toISOString())
    const { token } = await service.issue(caller)
    const usual = await claimsOf(token)
    expect((usual?.exp ?? 0) - (usual?.iat ?? 0)).toBe(300)
  })

  it('stores neither the description nor the payload, the context and the token in the clear', async () => {
    const secret = 'crimson-walrus'
    const { token } = await service.issue(caller, {
      action_description: secret,
      action_payload: { secret },
      context: { secret },
      context_evidence: secret,
      metadata: { secret },
    })
    await service.verify(caller, token, { action_description: secret, action_payload: { secret } })
    const rows = await service.test.owner<{ text: string }>(
      `SELECT row_to_json(i)::text AS text FROM intents i UNION ALL SELECT row_to_json(d)::text FROM decisions d
       UNION ALL SELECT row_to_json(f)::text FROM decision_facts f`,
    )
    const hex = Buffer.from(secret).toString('hex')
    expect(rows.length).toBeGreaterThan(4)
    expect(rows.filter(({ text }) => text.includes(secret) || text.includes(hex) || text.includes(token))).toEqual([])
  })

  it('refuses what it can not bind, what is too large and what contradicts itself, by the field', async () => {
    const refused: [body: object, pointer: string, code: string][] = [
      [{ action_description: '' }, '/action_description', 'too_short'],
      [{ action_description: ' \u200b\u2800' }, '/action_description', 'too_short'],
      [{ action_description: 'x'.repeat(2_001) }, '/action_description', 'too_long'],
      [{ action_payload: [] }, '/action_payload', 'invalid_type'],
      [{ action_payload: nested(33) }, '/action_payload', 'too_deep'],
      [{ action_payload: { x: 'x'.repeat(65_536) } }, '/action_payload', 'too_long'],
      [{ context: { transaction_amount: '1,5' } }, '/context/transaction_amount', 'invalid_amount'],
      [{ context: { transaction_amount: 0.00001 } }, '/context/transaction_amount', 'invalid_amount'],
      [{ context: { require_biometric: 'no' } }, '/context/require_biometric', 'invalid_type'],
      [{ context_evidence: 7 }, '/context_evidence', 'invalid_type'],
      [{ ttl_seconds: 29 }, '/ttl_seconds', 'out_of_range'],
      [{ ttl_seconds: 3_601 }, '/ttl_seconds', 'out_of_range'],
      [{ agent_session_id: '' }, '/agent_session_id', 'too_short'],
      [{ amount: 1 }, '/amount', 'unknown_field'],
    ]
    for (const [body, pointer, code] of refused) {
      const { status, json } = await service.authorize(caller, { ...body })
      expect({ status, json }, pointer).toMatchObject({ status: 400, json: { errors: [{ pointer, code }] } })
    }
    const { status } = await service.authorize(caller, { action_payload: nested(32) })
    expect(status).toBe(200)
    const lone = '{"action_description":"\\ud800","action_payload":{},"agent_session_id":"s","device_id":"d"}'
    const headers = { 'Content-Type': 'application/json' }
    const answer = await service.post(caller, '/v1/intent/authorize', {}, { json: undefined, body: lone, headers })
    expect(answer).toMatchObject({ status: 400, json: { code: 'invalid_json' } })
  })

  it('refuses agents, sessions and traces that are unknown, ended or of another', async () => {
    const one = await service.makeAgent(caller)
    const two = await service.makeAgent(caller)
    const stranger = await service.makeAgent(await service.makeCaller())
    const failing: [body: object, status: number, code: string][] = [
      [{ agent_id: newId('agt', 'sandbox') }, 404, 'not_found'],
      [{ agent_id: stranger.agentId }, 404, 'not_found'],
      [{ agent_session_id: stranger.sessionId }, 404, 'not_found'],
      [{ agent_id: two.agentId, agent_session_id: one.sessionId }, 400, 'invalid_request'],
      [{ trace_id: newId('trc', 'sandbox') }, 404, 'not_found'],
      [{ agent_id: newId('agt', 'live') }, 403, 'environment_mismatch'],
      [{ agent_session_id: newId('ses', 'live') }, 403, 'environment_mismatch'],
      [{ device_id: newId('dev', 'live') }, 403, 'environment_mismatch'],
      [{ trace_id: newId('trc', 'live') }, 403, 'environment_mismatch'],
    ]
    for (const [body, status, code] of failing) {
      expect(await service.authorize(caller, { ...body }), JSON.stringify(body)).toMatchObject({
        status,
        json: { code },
      })
    }
    await service.done(caller, `/v1/agents/${one.agentId}/sessions/${one.sessionId}/end`)
    const ended = await service.authorize(caller, { agent_session_id: one.sessionId })
    expect(ended).toMatchObject({ status: 409, json: { code: 'agent_session_ended' } })
  })

  it('foresees what verify would answer, and uses nothing up', async () => {
    await service.setPolicy(caller, [
      { id: 'large', when: { field: 'context.transaction_amount', op: 'gt', value: 100 }, require: { deny: true } },
    ])
    const { json } = await service.authorize(caller)
    expect(json.preflight).toEqual({ would_be_valid: false, reason: 'policy_denied' })
    const small = { action_payload: { amount: 100 } }
    const { json: allowed } = await service.authorize(caller, small)
    expect(allowed.preflight).toEqual({ would_be_valid: true, reason: null })
    expect((await service.decisions(caller)).map(({ kind, reason }) => [kind, reason])).toEqual(
      [
        ['policy_change', expect.anything()],
        ['authorize', 'policy_denied'],
        ['authorize', null],
      ].map(([kind, reason]) => [kind, kind === 'policy_change' ? null : reason]),
    )
    expect(await service.verify(caller, String(allowed.intent_token), small)).toMatchObject({ valid: true })
  })

  it('foresees canary conditions by the stored reading of the trace, as verify answers them', async () => {
    let sessions = 0
    const check = async (score: number, source: 'server' | 'client', more: object = {}) => {
      // A trip of a session counts whatever else is presented.
      const agent_session_id = `session-${++sessions}`
      const { trace_id } = await service.done(caller, '/v1/trace/check', {
        readings: [{ family: 'exfiltration', score, threshold: 0.8 }],
        reading_at: new Date().toISOString(),
        canary_set: 'default-v1',
        agent_session_id,
        ...more,
      })
      const values = [trace_id, source, source === 'server' ? 'countersign-tiny@0' : null]
      await service.test.owner('UPDATE traces SET source = $2, model_version_id = $3 WHERE id = $1', values)
      return { trace_id: String(trace_id), agent_session_id }
    }
    const old = { reading_at: new Date(Date.now() - 3_600_000).toISOString() }
    const foreseen: [mode: string, bound: object, reason: string | null][] = [
      ['strict', await check(0.1, 'server'), null],
      ['strict', await check(0.95, 'server'), 'canary_tripped'],
      ['strict', await check(0.95, 'client'), 'canary_tripped'],
      ['strict', await check(0.1, 'client'), 'canary_unavailable'],
      ['strict', await check(0.1, 'server', old), 'canary_unavailable'],
      ['strict', {}, 'canary_unavailable'],
      ['best_effort', await check(0.1, 'server'), null],
      ['best_effort', await check(0.95, 'server'), 'canary_tripped'],
      ['best_effort', await check(0.1, 'client'), null],
      ['best_effort', {}, null],
    ]
    for (const [mode, bound, reason] of foreseen) {
      const when = { field: 'action_type', op: 'eq', value: 'wire' }
      await service.setPolicy(caller, [{ id: 'can', when, require: { canary: { set: 'default-v1', mode } } }])
      const title = `${mode} ${reason}`
      const { intent_token, preflight, jti } = await service.done(caller, '/v1/intent/authorize', {
        ...ACTION,
        ...BOUND,
        ...bound,
        action_type: 'wire',
      })
      expect(preflight, title).toEqual({ would_be_valid: reason === null, reason })
      const answer = await service.verify(caller, String(intent_token), { execute: false })
      expect(answer, title).toMatchObject({ valid: reason === null, reason })
      const entry = (await service.decisions(caller)).find((one) => one.kind === 'authorize' && one.jti === jti)
      expect(entry?.reason, title).toBe(reason)
      const { json } = await service.call(caller, `/v1/decisions/${entry?.id}/explain`)
      expect(json, title).toMatchObject({ same_answer: true, replay: { valid: reason === null, reason } })
    }
  })

  it('returns the same token for the same Idempotency-Key, to the same principal, until it expires', async () => {
    const sent = { headers: { 'Idempotency-Key': 'one' } }
    service.clock.now = new Date(Date.now() - 40_000)
    const first = await service.authorize(caller, { ttl_seconds: 60 }, sent)
    const again = await service.authorize(caller, { ttl_seconds: 60 }, sent)
    expect(again).toMatchObject({ status: 200, json: first.json, headers: { 'idempotent-replayed': 'true' } })
    const other = { key: service.addKey({ ...caller, keyId: newId('key', 'sandbox') }) }
    const body = { ...ACTION, agent_session_id: 'session-1', device_id: 'device-1', ttl_seconds: 60 }
    const { json } = await service.post(other, '/v1/intent/authorize', body, sent)
    expect(json.jti).not.toBe(first.json.jti)
    const reused = await service.authorize(caller, { ttl_seconds: 61 }, sent)
    expect(reused).toMatchObject({ status: 422, json: { code: 'idempotency_key_reused' } })
    service.clock.now = new Date(Date.now() + 30_000)
    const late = await service.authorize(caller, { ttl_seconds: 60 }, sent)
    expect(late.json).toEqual({ ...first.json, intent_token: null })
    service.clock.now = undefined
  })

  it('issues one token to ten requests with one Idempotency-Key at once', async () => {
    const sent = { headers: { 'Idempotency-Key': 'ten' } }
    const answers = await Promise.all(Array.from({ length: 10 }, () => service.authorize(caller, {}, sent)))
    const issued = answers.filter(({ status }) => status === 200)
    expect(new Set(issued.map(({ json }) => json.jti)).size).toBe(1)
    expect(answers.every(({ status, json }) => status === 200 || json.code === 'idempotency_in_progress')).toBe(true)
    const rows = await service.test.owner('SELECT 1 FROM intents WHERE account_id = $1', [caller.accountId])
    expect(rows).toHaveLength(1)
  })

  it('counts issued and verified tokens in the live environment, and nothing that was refused', async () => {
    const live = await service.makeCaller({ environment: 'live', scopes: ['intent', 'verify'] })
    const { token } = await service.issue(live)
    await service.verify(live, token)
    await service.verify(live, token, { action_description: 'other' })
    await service.verify(live, 'none')
    await service.authorize(live, { ttl_seconds: 1 })
    const counted = await service.test.owner<{ operation: string; units: number }>(
      'SELECT operation, sum(units)::int AS units FROM usage_entries WHERE account_id = $1 GROUP BY 1 ORDER BY 1',
      [live.accountId],
    )
    expect(counted).toEqual([
      { operation: 'authorize', units: 1 },
      { operation: 'verify', units: 3 },
    ])
  })
})
