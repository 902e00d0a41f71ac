import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { TestCaller } from '../../support/callers.ts'
import type { SignedIn } from '../../support/service.ts'
import { BOUND, type PasskeyService, refusalOf, startPasskeys } from './service.ts'

let service: PasskeyService
let caller: TestCaller
let user: SignedIn

beforeAll(async () => {
  service = await startPasskeys()
  caller = await service.makeCaller()
  user = await service.signIn(caller.accountId)
})
afterAll(() => service?.close())

describe('POST /v1/intent/challenges', () => {
  const action = {
    action_description: 'Pay 120.00 EUR to Example Garage',
    action_payload: { amount: '120.00', currency: 'EUR' },
    agent_session_id: 'session-1',
    device_id: 'device-1',
  }
  const ask = (json: object, headers: Record<string, string> = {}) =>
    service.call(caller, '/v1/intent/challenges', { method: 'POST', json, headers })

  it('answers a challenge for exactly that action, which a repeat answers once more', async () => {
    const key = { 'Idempotency-Key': 'challenge-1' }
    const first = await ask(action, key)
    expect(first).toMatchObject({
      status: 200,
      json: { challenge_id: expect.stringMatching(/^pkc_test_/), options: { rpId: 'example.test', timeout: 120_000 } },
    })
    expect((await ask(action, key)).json).toEqual(first.json)
    const other = await ask(action)
    expect(other.json.challenge).not.toBe(first.json.challenge)
    // The hash of the action as tokens have it: the assertion is accepted for that one.
    const authenticator = service.makeAuthenticator()
    await service.register(user, authenticator)
    const { challenge_id, options } = other.json as {
      challenge_id: string
      options: { challenge: string; rpId: string }
    }
    const response = authenticator.assert(options)
    expect(await refusalOf(service.check(caller, { challenge_id }, response))).toMatch(/mismatch$/)
    const { action_hash, payload_hash } = await bindingsOf(action)
    const right = { ...BOUND, action_hash, payload_hash }
    expect(await refusalOf(service.check(caller, { challenge_id }, response, right))).toBe('accepted')
  })

  it('refuses what authorize refuses of an action', async () => {
    const foreign = 'ses_live_01m7x7eq9b2c4e4hv6x9s8n1q0'
    expect(await ask({ ...action, agent_session_id: foreign })).toMatchObject({
      json: { code: 'environment_mismatch' },
    })
    const deep = Array.from({ length: 40 }).reduce<object>((inner) => ({ inner }), {})
    for (const [change, code] of [
      [{ action_payload: deep }, 'too_deep'],
      [{ action_payload: { text: 'x'.repeat(70_000) } }, 'too_long'],
      [{ action_description: '' }, 'too_short'],
      [{ more: 1 }, 'unknown_field'],
    ] as const) {
      expect(await ask({ ...action, ...change })).toMatchObject({ status: 400, json: { errors: [{ code }] } })
    }
  })

  /** As authorize computes them. */
  async function bindingsOf(of: typeof action): Promise<{ action_hash: string; payload_hash: string }> {
    const answer = await service.call(caller, '/v1/intent/authorize', { method: 'POST', json: of })
    return (answer.json as { bindings: { action_hash: string; payload_hash: string } }).bindings
  }
})
