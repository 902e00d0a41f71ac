import { expect } from 'vitest'
import type { TestCaller } from '../../support/callers.ts'
import { type Sent, startTestService, type TestService, type TestServiceOptions } from '../../support/service.ts'

type Members = Record<string, unknown>

export const ACTION = {
  action_description: 'Pay 120.00 EUR to Example Garage',
  action_payload: { amount: '120.00', currency: 'EUR', counterparty: 'Example Garage' },
}
export const BOUND = { agent_session_id: 'session-1', device_id: 'device-1' }

export type Intents = Awaited<ReturnType<typeof startIntents>>

/** The service, with what tests of tokens do most. */
export async function startIntents(options: TestServiceOptions = {}) {
  const service: TestService = await startTestService({ env: { OUTBOUND_ALLOW: '127.0.0.1' }, ...options })

  const post = async (caller: { key: string }, path: string, json: Members = {}, sent: Sent = {}) =>
    service.call(caller, path, { method: 'POST', json, ...sent })

  async function done(caller: { key: string }, path: string, json: Members = {}, sent: Sent = {}): Promise<Members> {
    const answer = await post(caller, path, json, sent)
    expect({ path, status: answer.status, json: answer.json }).toMatchObject({ status: 200 })
    return answer.json
  }

  return {
    ...service,
    post,
    /** A request that succeeds. */
    done,
    authorize: (caller: TestCaller, body: Members = {}, sent: Sent = {}) =>
      post(caller, '/v1/intent/authorize', { ...ACTION, ...BOUND, ...body }, sent),
    /** The token of an authorization that succeeds. */
    async issue(caller: TestCaller, body: Members = {}): Promise<{ token: string; jti: string }> {
      const { intent_token, jti } = await done(caller, '/v1/intent/authorize', { ...ACTION, ...BOUND, ...body })
      return { token: String(intent_token), jti: String(jti) }
    },
    verify: (caller: { key: string }, token: string, body: Members = {}, sent: Sent = {}) =>
      done(caller, '/v1/intent/verify', { ...ACTION, intent_token: token, ...body }, sent),
    async setPolicy(caller: TestCaller, rules: Members[], more: Members = {}) {
      const sent = { method: 'PUT', json: { document: { ...more, rules } }, headers: { 'If-Match': '*' } }
      expect(await service.call(caller, '/v1/policy', sent)).toMatchObject({ status: 200 })
    },
    async makeAgent(caller: TestCaller): Promise<{ agentId: string; sessionId: string }> {
      const agent = await done(caller, '/v1/agents', { name: 'Buyer', owner: 'buying@example.com' })
      const session = await done(caller, `/v1/agents/${agent.agent_id}/sessions`)
      return { agentId: String(agent.agent_id), sessionId: String(session.agent_session_id) }
    },
    decisions: ({ accountId }: TestCaller) =>
      service.test.owner<{
        id: string
        kind: string
        reason: string | null
        jti: string | null
        entry: string
        at: Date
      }>('SELECT id, kind, reason, jti, entry, at FROM decisions WHERE account_id = $1 ORDER BY id', [accountId]),
  }
}
