// Tokens that people approve, and tokens that a person confirms with a passkey, through the real service.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createAuthenticator } from '../../support/authenticator.ts'
import type { TestCaller } from '../../support/callers.ts'
import type { SignedIn } from '../../support/service.ts'
import { createReceivers } from '../webhooks/receivers.ts'
import { ACTION, BOUND, type Intents, startIntents } from './service.ts'
import { createUnder, type Under } from './under.ts'

type Members = Record<string, unknown>

const ORIGIN = 'https://claims.example.test'
const receivers = createReceivers()
let service: Intents
let under: Under
let caller: TestCaller

beforeAll(async () => {
  service = await startIntents({
    env: { OUTBOUND_ALLOW: '127.0.0.1', WEBAUTHN_RP_ID: 'example.test', WEBAUTHN_ORIGINS: ORIGIN },
  })
  under = createUnder(service)
})
beforeEach(async () => {
  caller = await service.makeCaller()
})
afterAll(async () => {
  await receivers.close()
  await service?.close()
})

const ask = (id: string, more: Members = {}) => ({ id, require: { approval: { min_approvals: 1, ...more } } })
const as = (user: SignedIn, path: string, json: Members = {}) =>
  service.call({}, path, {
    method: 'POST',
    json,
    headers: { ...user.headers, 'Service-Environment': 'sandbox' },
  })
const join = () => service.signIn(caller.accountId, { role: 'owner' })
const approve = async (user: SignedIn, id: unknown) =>
  expect(await as(user, `/v1/approvals/${id}/approve`)).toMatchObject({ status: 200 })
const deny = async (user: SignedIn, id: unknown) =>
  expect(await as(user, `/v1/approvals/${id}/deny`, { reason: 'No.' })).toMatchObject({ status: 200 })
const authorize = (body: Members = {}): Promise<Members> =>
  service.done(caller, '/v1/intent/authorize', { ...ACTION, ...BOUND, ...body })
const verify = (authorized: Members, body: Members = {}, key?: string) =>
  service.verify(
    caller,
    String(authorized.intent_token),
    body,
    key === undefined ? {} : { headers: { 'Idempotency-Key': key } },
  )
const claimsOf = (token: unknown) => JSON.parse(Buffer.from(String(token).split('.')[1] ?? '', 'base64url').toString())
const approvalsOf = (jti: unknown) =>
  service.test.owner<{ id: string; origin: string }>(
    'SELECT id, origin FROM approvals WHERE jti = $1 ORDER BY origin',
    [jti],
  )
const timeOf = (value: unknown) => Date.parse(String(value))

describe('an approval that the policy requires', () => {
  it('is opened by authorize, bound into the token, awaited, and good for one execution', async () => {
    await service.setPolicy(caller, [ask('all', { ttl_seconds: 600 })])
    const authorized = await authorize({ ttl_seconds: 60 })
    const { approval_id, approval, jti } = authorized
    expect(authorized).toMatchObject({
      approval: { approval_id, status: 'pending', min_approvals: 1, rule_ids: ['all'] },
      preflight: { would_be_valid: false, reason: 'approval_pending' },
    })
    const { expires_at } = approval as Members
    expect(timeOf(authorized.expires_at) - timeOf(expires_at)).toBeGreaterThanOrEqual(300_000)
    expect(claimsOf(authorized.intent_token)).toMatchObject({ approval_id, exp: timeOf(authorized.expires_at) / 1_000 })
    const waiting = { valid: false, reason: 'approval_pending', approval_id }
    expect(await verify(authorized)).toMatchObject(waiting)
    expect(await verify(authorized, { execute: false })).toMatchObject(waiting)
    await approve(await join(), approval_id)
    expect(await verify(authorized, { execute: false })).toMatchObject({ valid: true })
    expect(await verify(authorized, {}, 'a')).toMatchObject({ valid: true })
    expect(await verify(authorized, {}, 'a')).toMatchObject({ valid: true, already_executed: true })
    expect(await verify(authorized, {}, 'b')).toMatchObject({ reason: 'token_already_executed' })
    expect(await approvalsOf(jti)).toHaveLength(1)
    expect(await under.entries(caller, 'execute')).toMatchObject([{ inputs: { jti, approval_id } }])
    const explained = await service.call(caller, `/v1/decisions?jti=${jti}&kind=authorize`)
    const [entry] = explained.json.data as { decision_id: string }[]
    expect((await service.call(caller, `/v1/decisions/${entry?.decision_id}/explain`)).json).toMatchObject({
      differences: [],
      replay: { agrees: true, reason: 'approval_pending' },
    })
  })

  it('ends the token when it is denied, or when nobody decides in time', async () => {
    await service.setPolicy(caller, [ask('all')])
    const denied = await authorize()
    await deny(await join(), denied.approval_id)
    expect(await verify(denied)).toMatchObject({ reason: 'approval_denied', approval_id: denied.approval_id })
    const forgotten = await authorize()
    await service.test.owner('UPDATE approvals SET expires_at = clock_timestamp() WHERE id = $1', [
      forgotten.approval_id,
    ])
    expect(await verify(forgotten)).toMatchObject({ reason: 'approval_expired', approval_id: forgotten.approval_id })
  })

  it('makes its token good for its lifetime from the decision on', async () => {
    await service.setPolicy(caller, [ask('all')])
    const authorized = await authorize({ ttl_seconds: 60 })
    await approve(await join(), authorized.approval_id)
    expect(await verify(authorized, { execute: false })).toMatchObject({ valid: true })
    await service.test.owner(`UPDATE approvals SET decided_at = decided_at - interval '60 seconds' WHERE id = $1`, [
      authorized.approval_id,
    ])
    expect(await verify(authorized)).toMatchObject({ reason: 'token_expired' })
  })

  it('ends its token 300 s after it can be decided, however long the lifetime is that the token asks for', async () => {
    await service.setPolicy(caller, [ask('all', { ttl_seconds: 60 })])
    for (const ttl_seconds of [30, 3_600]) {
      const { expires_at, approval } = await authorize({ ttl_seconds })
      const left = timeOf(expires_at) - timeOf((approval as Members).expires_at)
      expect(Math.floor(left / 1_000)).toBe(300)
    }
  })

  it('is cancelled with what is revoked', async () => {
    await service.setPolicy(caller, [ask('all')])
    const authorized = await authorize()
    await service.done(caller, '/v1/intent/revocations', { scope: 'token', jti: authorized.jti, reason: 'lost' })
    expect(await verify(authorized)).toMatchObject({ reason: 'token_revoked' })
    const late = await as(await join(), `/v1/approvals/${authorized.approval_id}/approve`)
    expect(late).toMatchObject({ status: 409 })
  })

  it('is not asked of people for an action that is refused anyway', async () => {
    const deny = { id: 'no', require: { deny: true } }
    await service.setPolicy(caller, [ask('all'), deny])
    const denied = await authorize()
    expect(denied).not.toHaveProperty('approval_id')
    expect(denied).toMatchObject({ preflight: { reason: 'policy_denied' } })
    await service.setPolicy(caller, [ask('all')])
    const mandate_id = await under.mandate(caller, { constraints: { max_amount: '1', currency: 'EUR' } })
    const over = await authorize({ mandate_id })
    expect(over).not.toHaveProperty('approval_id')
    expect(await approvalsOf(over.jti)).toEqual([])
    expect(await verify(over)).toMatchObject({ reason: 'mandate_constraint_violated' })
    expect(await approvalsOf(over.jti)).toEqual([])
  })

  it('is asked for before a webhook is, and the webhook at verify', async () => {
    await service.done(caller, '/v1/policy/webhook-secret/rotate')
    const { url, questions } = await receivers.plain((response) => response.end('{"decision":"allow"}'))
    await service.setPolicy(caller, [ask('all'), { id: 'ask', require: { webhook: { url } } }])
    const authorized = await authorize()
    expect(authorized).toMatchObject({
      approval_id: expect.any(String),
      preflight: { reason: 'policy_webhook_pending' },
    })
    expect(questions).toHaveLength(0)
    expect(await verify(authorized)).toMatchObject({ reason: 'approval_pending' })
    await approve(await join(), authorized.approval_id)
    expect(await verify(authorized)).toMatchObject({ valid: true })
  })

  it('is opened once by verify where the policy was tightened since', async () => {
    const authorized = await authorize()
    await service.setPolicy(caller, [ask('later')])
    const answers = await Promise.all(Array.from({ length: 8 }, () => verify(authorized)))
    const [{ approval_id } = {}] = answers
    for (const answer of answers) {
      expect(answer).toMatchObject({ reason: 'approval_pending', approval_id, matched_rule_id: 'later' })
    }
    expect(await approvalsOf(authorized.jti)).toEqual([{ id: approval_id, origin: 'verify' }])
    const { json } = await service.call(caller, `/v1/approvals/${approval_id}`)
    expect(timeOf(json.expires_at)).toBeLessThanOrEqual(timeOf(authorized.expires_at))
    await approve(await join(), approval_id)
    expect(await verify(authorized)).toMatchObject({ valid: true })
    const other = await authorize()
    await service.setPolicy(caller, [ask('later'), ask('latest')])
    const second = await verify(other)
    expect(second).toMatchObject({ reason: 'approval_pending', approval_id: other.approval_id })
    expect((await approvalsOf(other.jti)).map(({ origin }) => origin)).toEqual(['authorize', 'verify'])
  })

  it('that verify opens ends with what is left of an earlier approval', async () => {
    await service.setPolicy(caller, [ask('all')])
    const authorized = await authorize({ ttl_seconds: 60 })
    await approve(await join(), authorized.approval_id)
    const [decided] = await service.test.owner<{ at: Date }>(
      `UPDATE approvals SET decided_at = decided_at - interval '40 seconds' WHERE id = $1 RETURNING decided_at AS at`,
      [authorized.approval_id],
    )
    await service.setPolicy(caller, [ask('all'), ask('later', { min_approvals: 2 })])
    const second = await verify(authorized)
    expect(second).toMatchObject({ reason: 'approval_pending', matched_rule_id: 'later' })
    const { json } = await service.call(caller, `/v1/approvals/${second.approval_id}`)
    expect(timeOf(json.expires_at)).toBeLessThanOrEqual(Number(decided?.at.getTime()) + 60_000)
  })

  it('outlives an unrelated change of the policy, and not one of its rule', async () => {
    await service.setPolicy(caller, [ask('all')])
    const authorized = await authorize()
    await approve(await join(), authorized.approval_id)
    await service.setPolicy(caller, [ask('all'), { id: 'x', when: { any: [] }, require: { deny: true } }])
    expect(await verify(authorized, { execute: false })).toMatchObject({ valid: true })
    await service.setPolicy(caller, [ask('all', { min_approvals: 2 })])
    const tightened = await verify(authorized)
    expect(tightened).toMatchObject({ valid: false, reason: 'approval_pending' })
    expect(tightened.approval_id).not.toBe(authorized.approval_id)
  })

  it('is returned by a replay of authorize, as it is now', async () => {
    await service.setPolicy(caller, [ask('all')])
    const body = { ...ACTION, ...BOUND }
    const sent = { headers: { 'Idempotency-Key': 'one' } }
    const first = await service.done(caller, '/v1/intent/authorize', body, sent)
    await approve(await join(), first.approval_id)
    const again = await service.done(caller, '/v1/intent/authorize', body, sent)
    expect(again).toMatchObject({ intent_token: first.intent_token, approval: { status: 'approved' } })
    expect(await approvalsOf(first.jti)).toHaveLength(1)
  })
})

describe('a passkey assertion', () => {
  const authenticatorOf = async (user: SignedIn) => {
    const authenticator = createAuthenticator({ origin: ORIGIN })
    const begun = await as(user, '/v1/passkeys/registration-options')
    const options = (begun.json as { options: Parameters<typeof authenticator.register>[0] }).options
    const response = authenticator.register(options)
    const made = await as(user, '/v1/passkeys/register', { name: 'Phone', response })
    return { authenticator, passkeyId: (made.json as Members).passkey_id }
  }
  const challenge = (body: Members = {}) =>
    service.done(caller, '/v1/intent/challenges', { ...ACTION, ...BOUND, ...body })
  const confirm = async (person: Awaited<ReturnType<typeof authenticatorOf>>, body: Members = {}) => {
    const { challenge_id, options } = await challenge(body)
    return { challenge_id, response: person.authenticator.assert(options as never) }
  }

  it('binds the token to the person, which rules ask for', async () => {
    const person = await authenticatorOf(await join())
    const required = { context: { require_biometric: true } }
    const plain = await authorize(required)
    expect(await verify(plain)).toMatchObject({ reason: 'biometric_required' })
    const passkey_assertion = await confirm(person)
    const authorized = await authorize({ ...required, passkey_assertion })
    expect(authorized).toMatchObject({ bindings: { biometric: true }, preflight: { would_be_valid: true } })
    expect(claimsOf(authorized.intent_token).biometric).toEqual({
      verified: true,
      uv: true,
      credential: person.passkeyId,
      at: expect.any(Number),
    })
    expect(await verify(authorized)).toMatchObject({ valid: true })
    await service.setPolicy(caller, [{ id: 'person', require: { biometric: true } }])
    expect(await verify(await authorize())).toMatchObject({ reason: 'policy_biometric_required' })
  })

  it('counts once, for exactly this action, and a replay does not need it again', async () => {
    const person = await authenticatorOf(await join())
    const passkey_assertion = await confirm(person)
    const other = { ...ACTION, ...BOUND, action_description: 'Pay more', passkey_assertion }
    const refused = await service.post(caller, '/v1/intent/authorize', other)
    expect(refused).toMatchObject({ status: 400, json: { code: 'invalid_request' } })
    const body = { ...ACTION, ...BOUND, passkey_assertion }
    const sent = { headers: { 'Idempotency-Key': 'one' } }
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => service.post(caller, '/v1/intent/authorize', body, sent)),
    )
    const issued = answers.filter(({ status }) => status === 200)
    expect(new Set(issued.map(({ json }) => json.jti)).size).toBe(1)
    const again = await service.post(caller, '/v1/intent/authorize', body, sent)
    expect(again).toMatchObject({ status: 200, json: { jti: issued[0]?.json.jti, bindings: { biometric: true } } })
    expect(await service.post(caller, '/v1/intent/authorize', body)).toMatchObject({ status: 400 })
    const rows = await service.test.owner('SELECT jti FROM intents WHERE account_id = $1', [caller.accountId])
    expect(rows).toHaveLength(1)
  })

  it('names who asks for the action, who then does not approve it', async () => {
    const [person, second] = [await join(), await join()]
    const passkey_assertion = await confirm(await authenticatorOf(person))
    await service.setPolicy(caller, [ask('all')])
    const { approval_id } = await authorize({ passkey_assertion })
    expect((await as(person, `/v1/approvals/${approval_id}/approve`)).status).not.toBe(200)
    await approve(second, approval_id)
  })
})
