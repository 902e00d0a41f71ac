// No interleaving of verify with what ends a token yields a valid answer after the end has committed.

import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { TestCaller } from '../../support/callers.ts'
import { createReceivers } from '../webhooks/receivers.ts'
import { type Intents, startIntents } from './service.ts'

const receivers = createReceivers()
let service: Intents
let caller: TestCaller

beforeAll(async () => {
  service = await startIntents({ poolSize: 12 })
})
beforeEach(async () => {
  caller = await service.makeCaller()
})
afterAll(async () => {
  await receivers.close()
  await service?.close()
})

interface Issued {
  token: string
  jti: string
  agentId: string
  sessionId: string
}

const ENDS: Record<string, { reason: string; end(issued: Issued): Promise<unknown> }> = {
  'a revocation of the token': {
    reason: 'token_revoked',
    end: ({ jti }) => service.done(caller, '/v1/intent/revocations', { scope: 'token', jti, reason: 'r' }),
  },
  'a revocation of the session': {
    reason: 'token_revoked',
    end: ({ sessionId }) =>
      service.done(caller, '/v1/intent/revocations', { scope: 'session', agent_session_id: sessionId, reason: 'r' }),
  },
  'a revocation of the device': {
    reason: 'token_revoked',
    end: () => service.done(caller, '/v1/intent/revocations', { scope: 'device', device_id: 'device-1', reason: 'r' }),
  },
  'a suspension of the agent': {
    reason: 'agent_suspended',
    end: ({ agentId }) => service.done(caller, `/v1/agents/${agentId}/suspend`, { reason: 'r' }),
  },
  'a stop': { reason: 'policy_denied', end: () => service.done(caller, '/v1/intent/stop', { reason: 'r' }) },
}

const issue = async (): Promise<Issued> => {
  const made = await service.makeAgent(caller)
  return { ...made, ...(await service.issue(caller, { agent_session_id: made.sessionId })) }
}

describe('a verification', () => {
  for (const [name, { reason, end }] of Object.entries(ENDS)) {
    it(`is not valid after ${name} has answered, whatever was under way`, async () => {
      for (let round = 0; round < 6; round += 1) {
        caller = await service.makeCaller()
        const issued = await issue()
        let hasEnded = false
        const late: unknown[] = []
        const verify = async (index: number) => {
          await delay((index * (round + 1)) % 9)
          const beganAfter = hasEnded
          const answer = await service.verify(caller, issued.token, {}, { headers: { 'Idempotency-Key': `${index}` } })
          if (beganAfter && answer.valid === true) late.push(answer)
          return answer
        }
        const before = Array.from({ length: 8 }, (_, index) => verify(index))
        const ended = end(issued).then(() => {
          hasEnded = true
        })
        const answers = await Promise.all([...before, ended.then(() => verify(0))])
        expect(late).toEqual([])
        expect(answers.at(-1)).toMatchObject({ valid: false, reason })
        // By Postgres's own clock, which the entries of the ledger carry.
        const entries = await service.decisions(caller)
        const kinds = ['revocation', 'agent_suspend', 'stop']
        const endedAt = entries.find(({ kind }) => kinds.includes(kind))?.at ?? new Date(0)
        const valid = entries.filter(({ kind, reason: why }) => kind === 'verify' && why === null)
        expect(valid.filter(({ at }) => at > endedAt)).toEqual([])
      }
    })
  }

  it('is not valid when a revocation commits while its webhook is asked', async () => {
    await service.done(caller, '/v1/policy/webhook-secret/rotate')
    let answer: (() => void) | undefined
    const asked = Promise.withResolvers<void>()
    const { url } = await receivers.plain((response) => {
      answer = () => response.end('{"decision":"allow"}')
      asked.resolve()
    })
    await service.setPolicy(caller, [{ id: 'ask', require: { webhook: { url } } }])
    const issued = await issue()
    const verified = service.verify(caller, issued.token)
    await asked.promise
    await service.done(caller, '/v1/intent/revocations', { scope: 'token', jti: issued.jti, reason: 'r' })
    answer?.()
    expect(await verified).toMatchObject({ valid: false, reason: 'token_revoked' })
  })

  it('is by the policy of its transaction: a rule that appears while the webhook is asked refuses', async () => {
    await service.done(caller, '/v1/policy/webhook-secret/rotate')
    const rules: { id: string; require: object }[] = []
    const { url } = await receivers.plain(async (response) => {
      await service.setPolicy(caller, [...rules, { id: 'later', require: { webhook: { url: `${url}&later` } } }])
      response.end('{"decision":"allow"}')
    })
    rules.push({ id: 'ask', require: { webhook: { url } } })
    await service.setPolicy(caller, rules)
    const { token } = await service.issue(caller)
    // Its answer was never asked for, and is missing now.
    const answer = await service.verify(caller, token)
    expect(answer).toMatchObject({ reason: 'policy_webhook_unavailable', matched_rule_id: 'later' })
    const explained = await service.call(caller, `/v1/decisions/${answer.decision_id}/explain`)
    expect(explained.json).toMatchObject({ differences: [], replay: { agrees: true } })
  })

  it('takes no answer of another receiver for a rule that kept its id', async () => {
    await service.done(caller, '/v1/policy/webhook-secret/rotate')
    const strict = await receivers.plain((response) => response.end('{"decision":"deny"}'))
    const lax = await receivers.plain(async (response) => {
      await service.setPolicy(caller, [{ id: 'ask', require: { webhook: { url: strict.url } } }])
      response.end('{"decision":"allow"}')
    })
    await service.setPolicy(caller, [{ id: 'ask', require: { webhook: { url: lax.url } } }])
    const { token } = await service.issue(caller)
    const answer = await service.verify(caller, token)
    expect(answer).toMatchObject({ valid: false, reason: 'policy_webhook_unavailable', matched_rule_id: 'ask' })
    const entries = await service.decisions(caller)
    const asked = entries.filter(({ kind }) => kind === 'webhook_decision').map(({ entry }) => JSON.parse(entry))
    expect(asked).toMatchObject([{ valid: false, inputs: { rule_id: 'ask', cause: 'policy_changed' } }])
    const explained = await service.call(caller, `/v1/decisions/${answer.decision_id}/explain`)
    expect(explained.json).toMatchObject({ differences: [], replay: { agrees: true } })
    expect(await service.verify(caller, token)).toMatchObject({ reason: 'policy_webhook_denied' })
  })

  it('asks the webhook of a policy that this process has not seen yet', async () => {
    await service.done(caller, '/v1/policy/webhook-secret/rotate')
    const { token } = await service.issue(caller)
    expect(await service.verify(caller, token)).toMatchObject({ valid: true })
    const { url, questions } = await receivers.plain((response) => response.end('{"decision":"deny"}'))
    await service.setPolicy(caller, [{ id: 'ask', require: { webhook: { url } } }])
    expect(await service.verify(caller, token)).toMatchObject({ reason: 'policy_webhook_denied' })
    expect(questions).toHaveLength(1)
    const verifies = (await service.decisions(caller)).filter(({ kind }) => kind === 'verify')
    expect(verifies).toHaveLength(2)
  })
})

describe('authorize', () => {
  it('issues no token after a revocation, a suspension or a stop has answered', async () => {
    for (const { end } of Object.values(ENDS).slice(1)) {
      caller = await service.makeCaller()
      const issued = await issue()
      const body = { agent_session_id: issued.sessionId }
      let hasEnded = false
      const late: unknown[] = []
      const authorize = async (index: number) => {
        await delay(index % 5)
        const beganAfter = hasEnded
        const answer = await service.authorize(caller, body)
        if (beganAfter && answer.status === 200) late.push(answer.json)
        return answer
      }
      const under = Array.from({ length: 6 }, (_, index) => authorize(index))
      const ended = end(issued).then(() => {
        hasEnded = true
      })
      await Promise.all([...under, ended.then(() => authorize(0))])
      expect(late).toEqual([])
    }
  })
})
