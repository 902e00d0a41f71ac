// Who repeats an execution, and who would act a second time: only the principal that executed, with the Idempotency-Key that it
// executed with, repeats it.

import { connect, createServer } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { newId } from '#src/platform/ids.ts'
import { type PublicKey, verifyIntentTokenOffline } from '../../../clients/typescript/src/verify.ts'
import type { TestCaller } from '../../support/callers.ts'
import type { SignedIn } from '../../support/service.ts'
import { type Intents, startIntents } from './service.ts'
import { createUnder, type Under } from './under.ts'

type Members = Record<string, unknown>

let service: Intents
let under: Under
let caller: TestCaller
let owner: SignedIn

beforeAll(async () => {
  service = await startIntents()
  under = createUnder(service)
})
beforeEach(async () => {
  caller = await service.makeCaller()
  owner = await service.signIn(caller.accountId, { role: 'owner' })
})
afterAll(() => service?.close())

const AMOUNT = '100'
const AUDIENCE = 'tool:payments'
const TEN = Array.from({ length: 10 }, (_, index) => index)

/** What makes a token good for one execution, and what verify answers after that. */
const BINDINGS = [
  {
    name: 'its single use',
    used: 'token_already_executed',
    issue: async () => issue({ single_use: true }),
  },
  {
    name: 'its single use and a schedule',
    used: 'schedule_already_executed',
    issue: async () => issue({ single_use: true, schedule_id: await under.schedule(caller) }),
  },
  {
    name: 'its single use and a mandate',
    used: 'token_already_executed',
    issue: async () => issue({ single_use: true, mandate_id: await under.mandate(caller) }),
  },
  {
    name: 'a schedule',
    used: 'schedule_already_executed',
    issue: async () => issue({ schedule_id: await under.schedule(caller) }),
  },
  {
    name: 'a mandate',
    used: 'token_already_executed',
    issue: async () => issue({ mandate_id: await under.mandate(caller) }),
  },
  {
    name: 'an approval',
    used: 'token_already_executed',
    issue: () => issueApproved({}),
  },
  {
    name: 'its single use and an approval',
    used: 'token_already_executed',
    issue: () => issueApproved({ single_use: true }),
  },
] as const

async function issueApproved(bound: Members) {
  await service.setPolicy(caller, [{ id: 'all', require: { approval: { min_approvals: 1 } } }])
  const issued = await issue(bound)
  const headers = { ...owner.headers, 'Service-Environment': 'sandbox' }
  const path = `/v1/approvals/${issued.approvalId}/approve`
  expect(await service.call({}, path, { method: 'POST', json: {}, headers })).toMatchObject({ status: 200 })
  return issued
}

async function issue(bound: Members) {
  const { intent_token, jti, approval_id } = await service.done(caller, '/v1/intent/authorize', {
    ...under.payload(AMOUNT),
    agent_session_id: 'session-1',
    device_id: 'device-1',
    audience: AUDIENCE,
    ...bound,
  })
  return { token: String(intent_token), jti: String(jti), approvalId: String(approval_id) }
}

/** Another key of the same account: another principal. */
const another = (): TestCaller => ({
  ...caller,
  key: service.addKey({ ...caller, keyId: newId('key', 'sandbox') }),
})
const verify = (token: string, { by = caller, ...more }: Members & { by?: TestCaller; key?: string } = {}) =>
  under.verify(by, token, AMOUNT, more)
const check = (token: string, more: { by?: TestCaller; key?: string } = {}) =>
  verify(token, { ...more, execute: false })
const evaluationOf = (token: string) => ({
  subject: { type: 'agent_session', id: 'session-1' },
  action: { name: under.payload(AMOUNT).action_description, properties: under.payload(AMOUNT).action_payload },
  resource: { type: 'tool', id: 'payments' },
  context: { intent_token: token },
})
const sentWith = (key: string | undefined) => (key === undefined ? {} : { headers: { 'Idempotency-Key': key } })
/** The same question to the AuthZEN routes, alone and twice in one request: they have one answer. */
async function evaluate(token: string, { by = caller, key }: { by?: TestCaller; key?: string } = {}) {
  const asked = evaluationOf(token)
  const alone = await service.done(by, '/v1/access/evaluation', asked, sentWith(key))
  const both = await service.done(by, '/v1/access/evaluations', { evaluations: [asked, asked] }, sentWith(key))
  const answers = [alone, ...(both.evaluations as Members[])].map(({ decision, context }) => {
    const { reason, already_executed } = context as Members
    return { decision, reason, already_executed }
  })
  expect(new Set(answers.map((one) => JSON.stringify(one))).size).toBe(1)
  return answers[0]
}
const validOf = (answers: readonly Members[]) => answers.filter(({ valid }) => valid === true)
const firstOf = (answers: readonly Members[]) => validOf(answers).filter((one) => one.already_executed === undefined)
const reasonsOf = (answers: readonly Members[]) => [
  ...new Set(answers.flatMap(({ valid, reason }) => (valid === true ? [] : [reason]))),
]
const executed = () => under.entries(caller, 'execute')

describe.each(BINDINGS)('a token of one execution by $name', ({ issue: issueBound, used }) => {
  it('is valid once for ten verifications at once without an Idempotency-Key', async () => {
    const { token } = await issueBound()
    const answers = await Promise.all(TEN.map(() => verify(token)))
    expect([validOf(answers).length, firstOf(answers).length, reasonsOf(answers)]).toEqual([1, 1, [used]])
    expect(await executed()).toHaveLength(1)
  })

  it('is valid for ten at once of one principal with one key, and executed by one of them', async () => {
    const { token } = await issueBound()
    const answers = await Promise.all(TEN.map(() => verify(token, { key: 'one' })))
    expect([validOf(answers).length, firstOf(answers).length]).toEqual([10, 1])
    expect(await executed()).toHaveLength(1)
  })

  it('is valid once for ten keys at once, and for ten principals at once with the same key', async () => {
    for (const askerOf of [(index: number) => ({ key: `key-${index}` }), () => ({ by: another(), key: 'same' })]) {
      caller = await service.makeCaller()
      owner = await service.signIn(caller.accountId, { role: 'owner' })
      const { token } = await issueBound()
      const answers = await Promise.all(TEN.map((index) => verify(token, askerOf(index))))
      expect([validOf(answers).length, firstOf(answers).length, reasonsOf(answers)]).toEqual([1, 1, [used]])
      expect(await executed()).toHaveLength(1)
    }
  })

  it('can be repeated by no request after an execution without a key, also not by one of the same principal', async () => {
    const { token } = await issueBound()
    expect(await verify(token)).toMatchObject({ valid: true, reason: null })
    for (const given of [{}, { key: 'later' }, { by: another() }]) {
      expect(await verify(token, given)).toMatchObject({ valid: false, reason: used })
      expect(await check(token, given)).toMatchObject({ valid: false, reason: used })
      expect(await evaluate(token, given)).toMatchObject({ decision: false, reason: used })
    }
  })

  it('is answered by a check as an execution of the same caller would be, before and after', async () => {
    const { token, jti } = await issueBound()
    const other = another()
    const callers = [{}, { key: 'a' }, { key: 'b' }, { by: other }, { by: other, key: 'a' }]
    for (const given of callers) {
      const answer = await check(token, given)
      expect(answer).toMatchObject({ valid: true, reason: null })
      expect(answer).not.toHaveProperty('already_executed')
      expect(await evaluate(token, given)).toEqual({ decision: true, reason: null, already_executed: undefined })
    }
    expect(await executed()).toHaveLength(0)
    expect(await verify(token, { key: 'a' })).not.toHaveProperty('already_executed')
    const [, same, ...others] = callers
    for (const given of [{}, ...others]) {
      for (const ask of [check, verify]) {
        const answer = await ask(token, given)
        expect([given, answer.valid, answer.reason]).toEqual([given, false, used])
        expect(answer).not.toHaveProperty('already_executed')
      }
      const denied = await evaluate(token, given)
      expect([given, denied]).toEqual([given, { decision: false, reason: used, already_executed: undefined }])
    }
    for (const ask of [check, verify]) {
      expect(await ask(token, same)).toMatchObject({ valid: true, reason: null, already_executed: true })
    }
    expect(await evaluate(token, same)).toEqual({ decision: true, reason: null, already_executed: true })
    expect(await executed()).toHaveLength(1)
    // What is given back is not used again by a repeat, and the token stays used for all others.
    await under.outcome(caller, jti, 'failed')
    expect(await verify(token, { key: 'b' })).toMatchObject({ valid: false, reason: used })
    expect(await verify(token, same)).toMatchObject({ valid: true, already_executed: true })
    expect(await executed()).toHaveLength(1)
  })

  it('is valid for a client that repeats its request with the same key since the connection ended before the answer', async () => {
    const { token } = await issueBound()
    const cutting = await cutFirstAnswer(service.app.port)
    try {
      const ask = (key?: string) =>
        fetch(`http://127.0.0.1:${cutting.port}/v1/intent/verify`, {
          method: 'POST',
          headers: {
            Authorization: `Bearer ${caller.key}`,
            'Content-Type': 'application/json',
            Connection: 'close',
            ...sentWith(key).headers,
          },
          body: JSON.stringify({ ...under.payload(AMOUNT), intent_token: token }),
        }).then(async (response) => (await response.json()) as Members)
      await expect(ask('attempt-1')).rejects.toThrow()
      expect(await executed()).toHaveLength(1)
      expect(await ask()).toMatchObject({ valid: false, reason: used })
      expect(await ask('attempt-2')).toMatchObject({ valid: false, reason: used })
      expect(await ask('attempt-1')).toMatchObject({ valid: true, already_executed: true })
      expect(await executed()).toHaveLength(1)
    } finally {
      await cutting.close()
    }
  })
})

describe('a token of single use', () => {
  it('is executed by exactly one of fifty verifications at once, whatever their keys', async () => {
    const { token, jti } = await issue({ single_use: true })
    const askers = Array.from({ length: 50 }, (_, index) => (index % 2 === 0 ? {} : { key: `key-${index}` }))
    const answers = await Promise.all(askers.map((asker) => verify(token, asker)))
    expect([validOf(answers).length, firstOf(answers).length]).toEqual([1, 1])
    expect(reasonsOf(answers)).toEqual(['token_already_executed'])
    expect(await executed()).toHaveLength(1)
    await under.outcome(caller, jti, 'succeeded')
    expect(await check(token)).toMatchObject({ valid: false, reason: 'token_already_executed' })
  })

  it('says so in its claims and in the bindings, also in a replay of authorize; any other token does not', async () => {
    const sent = { headers: { 'Idempotency-Key': 'authorize-once' } }
    const first = await service.authorize(caller, { single_use: true }, sent)
    const replayed = await service.authorize(caller, { single_use: true }, sent)
    const plain = await service.authorize(caller)
    expect(first).toMatchObject({ status: 200, json: { bindings: { single_use: true } } })
    expect(replayed.json).toEqual(first.json)
    expect(plain).toMatchObject({ status: 200, json: { bindings: { single_use: false } } })
    expect(claimsOf(first.json)).toMatchObject({ single_use: true })
    expect(claimsOf(plain.json)).not.toHaveProperty('single_use')
    const keySet = await service.call({}, '/.well-known/jwks.json')
    const offline = (json: Members) =>
      verifyIntentTokenOffline(String(json.intent_token), {
        keys: keySet.json as unknown as { keys: PublicKey[] },
        environment: 'sandbox',
      })
    expect(await offline(first.json)).toMatchObject({ valid: true, requiresOnline: true })
    expect(await offline(plain.json)).toMatchObject({ valid: true, requiresOnline: false })
  })

  it('is not used up by a verification that is refused', async () => {
    const { token } = await issue({ single_use: true })
    expect(await verify(token, { action_description: 'Another' })).toMatchObject({ reason: 'action_hash_mismatch' })
    expect(await check(token)).toMatchObject({ valid: true })
    expect(await verify(token)).toMatchObject({ valid: true })
  })
})

describe('a check', () => {
  it('asks nobody for an approval that the policy requires since authorize; an execution does', async () => {
    const { token, jti } = await issue({})
    await service.setPolicy(caller, [{ id: 'later', require: { approval: { min_approvals: 1 } } }])
    const opened = () => service.test.owner('SELECT id FROM approvals WHERE jti = $1', [jti])
    const waiting = { valid: false, reason: 'approval_pending', matched_rule_id: 'later' }
    const before = await check(token)
    expect(before).toMatchObject(waiting)
    expect(before).not.toHaveProperty('approval_id')
    expect(await evaluate(token)).toMatchObject({ decision: false, reason: 'approval_pending' })
    expect(await opened()).toEqual([])
    const { approval_id } = await verify(token)
    expect(await opened()).toEqual([{ id: approval_id }])
    expect(await check(token)).toMatchObject({ ...waiting, approval_id })
    expect(await executed()).toHaveLength(0)
  })
})

describe('a token that nothing bounds', () => {
  it('is valid again for everybody with already_executed, and denied to a gateway that does not repeat the execution', async () => {
    const { token } = await issue({})
    expect(await verify(token, { key: 'a' })).not.toHaveProperty('already_executed')
    for (const given of [{}, { key: 'a' }, { key: 'b' }, { by: another(), key: 'a' }]) {
      for (const ask of [verify, check]) {
        expect(await ask(token, given)).toMatchObject({ valid: true, already_executed: true })
      }
    }
    expect(await evaluate(token)).toMatchObject({ decision: false, reason: 'token_already_executed' })
    expect(await evaluate(token, { key: 'a' })).toMatchObject({ decision: true, already_executed: true })
    expect(await evaluate(token, { by: another(), key: 'a' })).toMatchObject({ decision: false })
    expect(await executed()).toHaveLength(1)
  })
})

function claimsOf({ intent_token: token }: Members): Members {
  return JSON.parse(Buffer.from(String(token).split('.')[1] ?? '', 'base64url').toString())
}

/** Passes connections on to a port of this machine, and ends the first one when its answer begins. */
async function cutFirstAnswer(target: number): Promise<{ port: number; close(): Promise<void> }> {
  let isFirst = true
  const server = createServer((client) => {
    const isCut = isFirst
    isFirst = false
    const upstream = connect(target, '127.0.0.1')
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      one.on('error', () => other.destroy())
      one.on('close', () => other.destroy())
    }
    client.pipe(upstream)
    if (isCut) upstream.once('data', () => client.destroy())
    else upstream.pipe(client)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('a server without a port')
  return { port: address.port, close: () => new Promise((resolve) => void server.close(() => resolve())) }
}
