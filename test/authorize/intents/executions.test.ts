import { sign as signBytes } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { INTENT_EXPLAINERS } from '#src/authorize/intents/explain.ts'
import { newId } from '#src/platform/ids.ts'
import type { DecisionEntry } from '#src/platform/ledger/entry.ts'
import type { TestCaller } from '../../support/callers.ts'
import type { SignedIn } from '../../support/service.ts'
import { createReceivers, decide } from '../webhooks/receivers.ts'
import { ACTION, type Intents, startIntents } from './service.ts'

const receivers = createReceivers()
let service: Intents
let caller: TestCaller

beforeAll(async () => {
  service = await startIntents()
})
beforeEach(async () => {
  caller = await service.makeCaller()
})
afterAll(async () => {
  await receivers.close()
  await service?.close()
})

const withKey = (key: string) => ({ headers: { 'Idempotency-Key': key } })
const executions = async () => (await service.decisions(caller)).filter(({ kind }) => kind === 'execute').length

describe('the execution of a token', () => {
  it('is the first valid verification that is no check; repeats are told so', async () => {
    const { token, jti } = await service.issue(caller)
    expect(await service.verify(caller, token, { execute: false })).not.toHaveProperty('already_executed')
    expect(await service.call(caller, `/v1/intent/executions/${jti}`)).toMatchObject({ status: 404 })
    await service.verify(caller, token, { action_description: 'other' })
    expect(await executions()).toBe(0)
    expect(await service.verify(caller, token, {}, withKey('a'))).not.toHaveProperty('already_executed')
    for (const sent of [withKey('a'), withKey('b'), {}]) {
      expect(await service.verify(caller, token, {}, sent)).toMatchObject({ valid: true, already_executed: true })
    }
    expect(await executions()).toBe(1)
    expect((await service.call(caller, `/v1/intent/executions/${jti}`)).json).toMatchObject({
      jti,
      status: 'executed',
      executed_at: expect.stringMatching(/Z$/),
      outcome_at: null,
    })
  })

  it('is one for 100 verifications at once with keys of their own', async () => {
    const { token, jti } = await service.issue(caller)
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, index) => service.verify(caller, token, {}, withKey(`key-${index}`))),
    )
    expect(answers.every(({ valid }) => valid === true)).toBe(true)
    expect(answers.filter((one) => one.already_executed !== true)).toHaveLength(1)
    expect(await executions()).toBe(1)
    const entries = (await service.decisions(caller)).filter(({ kind }) => kind === 'verify')
    expect(entries.map(({ id }) => id).toSorted()).toEqual(answers.map((one) => String(one.decision_id)).toSorted())
    const [row] = await service.test.owner('SELECT executed_by FROM intents WHERE jti = $1', [jti])
    expect(row).toMatchObject({ executed_by: expect.stringMatching(/^key_test_/) })
  })

  it('stays that of its caller: another caller is answered valid with already_executed where no mandate is bound', async () => {
    const { token, jti } = await service.issue(caller)
    const first = await service.verify(caller, token, {}, withKey('a'))
    const keyId = newId('key', 'sandbox')
    const other = { keyId, key: service.addKey({ ...caller, keyId }) }
    for (const sent of [withKey('a'), withKey('b'), {}]) {
      const answer = await service.verify(other, token, {}, sent)
      expect(answer).toMatchObject({ valid: true, reason: null, already_executed: true, jti })
      expect(answer.detail).not.toBe(first.detail)
    }
    expect(await executions()).toBe(1)
    const [row] = await service.test.owner('SELECT executed_by FROM intents WHERE jti = $1', [jti])
    expect(row?.executed_by).not.toBe(other.keyId)
  })

  it('has one key, which executes no other token and no other action', async () => {
    const reused = { status: 422, json: { code: 'idempotency_key_reused' } }
    const [first, second] = [await service.issue(caller), await service.issue(caller)]
    const ask = (token: string, body: object = {}, key = 'a') =>
      service.post(caller, '/v1/intent/verify', { ...ACTION, intent_token: token, ...body }, withKey(key))
    const tokenOfAnotherAccount = async () => (await service.issue(await service.makeCaller())).token
    // A key belongs to nothing before it executes.
    expect(await ask(first.token, { action_payload: {} })).toMatchObject({ json: { reason: 'payload_hash_mismatch' } })
    expect(await ask(second.token, { execute: false })).toMatchObject({ json: { valid: true } })
    expect(await ask(first.token)).toMatchObject({ status: 200, json: { valid: true } })
    const before = await service.decisions(caller)
    expect(await ask(second.token)).toMatchObject(reused)
    expect(await ask(second.token, { execute: false })).toMatchObject(reused)
    expect(await ask(first.token, { action_payload: {} })).toMatchObject(reused)
    expect(await ask(first.token, { action_description: 'Pay more' })).toMatchObject(reused)
    expect(await service.decisions(caller)).toEqual(before)
    for (const none of ['none', await tokenOfAnotherAccount()]) expect(await ask(none)).toMatchObject(reused)
    expect(await service.decisions(caller)).toEqual(before)
    expect(await ask(first.token)).toMatchObject({ json: { valid: true, already_executed: true } })
    // Nothing is replayed: what ends the token ends the repeat.
    await service.done(caller, '/v1/intent/revocations', { scope: 'token', jti: first.jti, reason: 'lost' })
    expect(await ask(first.token)).toMatchObject({ json: { valid: false, reason: 'token_revoked' } })
    expect(await ask(second.token, {}, 'b')).toMatchObject({ json: { valid: true } })
    const other = { key: service.addKey({ ...caller, keyId: newId('key', 'sandbox') }) }
    const third = await service.issue(caller)
    expect(await service.verify(other, third.token, {}, withKey('a'))).not.toHaveProperty('already_executed')
  })

  it('is one for a key with ten tokens at once', async () => {
    const issued = await Promise.all(Array.from({ length: 10 }, () => service.issue(caller)))
    const answers = await Promise.all(
      issued.map(({ token }) =>
        service.post(caller, '/v1/intent/verify', { ...ACTION, intent_token: token }, withKey('same')),
      ),
    )
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, ...Array.from({ length: 9 }, () => 422)])
    expect(answers.filter(({ json }) => json.code === 'idempotency_key_reused')).toHaveLength(9)
    expect(await executions()).toBe(1)
    expect((await service.decisions(caller)).filter(({ kind }) => kind === 'verify')).toHaveLength(1)
  })

  it('has one outcome, which the executing caller reports', async () => {
    const { token, jti } = await service.issue(caller)
    const path = `/v1/intent/executions/${jti}/outcome`
    const early = await service.post(caller, path, { status: 'succeeded' })
    expect(early).toMatchObject({ status: 409, json: { code: 'invalid_state_transition' } })
    await service.verify(caller, token)
    const other = { key: service.addKey({ ...caller, keyId: newId('key', 'sandbox') }) }
    expect(await service.post(other, path, { status: 'failed' })).toMatchObject({
      status: 409,
      json: { code: 'conflict' },
    })
    const reported = await service.done(caller, path, { status: 'succeeded' }, withKey('out'))
    expect(reported).toMatchObject({ jti, status: 'succeeded', outcome_at: expect.stringMatching(/Z$/) })
    expect(await service.done(caller, path, { status: 'succeeded' }, withKey('out'))).toMatchObject({
      status: 'succeeded',
    })
    const second = await service.post(caller, path, { status: 'failed' })
    expect(second).toMatchObject({ status: 409, json: { code: 'invalid_state_transition' } })
    const entries = (await service.decisions(caller)).filter(({ kind }) => kind === 'outcome')
    expect(entries).toMatchObject([{ jti, reason: 'succeeded' }])
    const unknown = `/v1/intent/executions/${newId('jti', 'sandbox')}`
    expect(await service.call(caller, unknown)).toMatchObject({ status: 404 })
    expect(await service.post(caller, `${unknown}/outcome`, { status: 'failed' })).toMatchObject({ status: 404 })
  })
})

describe('a key that was rotated', () => {
  const manage = async (owner: SignedIn, path: string, json: object) => {
    const headers = { ...owner.headers, 'Service-Environment': 'sandbox' }
    const answer = await service.call({}, `/v1/account/keys${path}`, { method: 'POST', json, headers })
    expect(answer).toMatchObject({ status: 200 })
    return { id: String(answer.json.api_key_id), key: String(answer.json.key) }
  }

  it('is the caller that executed: the outcome is reported by any key of its line, and by no other', async () => {
    const owner = await service.signIn(caller.accountId)
    const old = await manage(owner, '', { name: 'tool', scopes: ['verify'] })
    const other = await manage(owner, '', { name: 'other', scopes: ['verify'] })
    const [first, second] = [await service.issue(caller), await service.issue(caller)]
    await service.verify(old, first.token)
    const next = await manage(owner, `/${old.id}/rotate`, { grace_period_seconds: 600 })
    const last = await manage(owner, `/${next.id}/rotate`, { grace_period_seconds: 600 })
    await service.verify(last, second.token)
    const report = (key: { key: string }, jti: string) =>
      service.post(key, `/v1/intent/executions/${jti}/outcome`, { status: 'failed' })
    for (const { jti } of [first, second]) {
      expect(await report(other, jti)).toMatchObject({ status: 409, json: { code: 'conflict' } })
    }
    expect(await report(last, first.jti)).toMatchObject({ status: 200, json: { status: 'failed' } })
    expect(await report(old, second.jti)).toMatchObject({ status: 200, json: { status: 'failed' } })
    expect(await report(last, first.jti)).toMatchObject({ status: 409, json: { code: 'invalid_state_transition' } })
    expect(await service.entries(caller, 'outcome')).toMatchObject([
      { subject: first.jti, actor: { id: last.id } },
      { subject: second.jti, actor: { id: old.id } },
    ])
  })
})

describe('a token that is not ours', () => {
  it('is invalid in every hostile form, in one decision each, and never valid', async () => {
    const { token, jti } = await service.issue(caller)
    const [head = '', body = '', signature = ''] = token.split('.')
    const encode = (value: object | string) =>
      Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url')
    const header = JSON.parse(Buffer.from(head, 'base64url').toString())
    const claims = JSON.parse(Buffer.from(body, 'base64url').toString())
    const N = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n
    const raw = Buffer.from(signature, 'base64url')
    const s = BigInt(`0x${raw.subarray(32).toString('hex')}`)
    const twin = Buffer.concat([raw.subarray(0, 32), Buffer.from((N - s).toString(16).padStart(64, '0'), 'hex')])
    const { signingKeys } = service.services.platform
    const hostile: Record<string, string> = {
      'alg none': `${encode({ ...header, alg: 'none' })}.${body}.`,
      'HS256 by the public key': `${encode({ ...header, alg: 'HS256' })}.${body}.${signature}`,
      'another kid': `${encode({ ...header, kid: 'none' })}.${body}.${signature}`,
      'a jwk': `${encode({ ...header, jwk: { kty: 'EC' } })}.${body}.${signature}`,
      crit: `${encode({ ...header, crit: ['b64'], b64: false })}.${body}.${signature}`,
      'the other signature': `${head}.${body}.${twin.toString('base64url')}`,
      'a DER signature': `${head}.${body}.${encode(signBytes.name)}`,
      'trailing bytes': `${token}AA`,
      padding: `${token}=`,
      'a megabyte': `${head}.${'A'.repeat(1_000_000)}.${signature}`,
      'changed claims': `${head}.${encode({ ...claims, exp: claims.exp + 600 })}.${signature}`,
      'a fourth segment': `${token}.`,
      'a record': await signingKeys.signRecord('sandbox', 'intent+jwt', claims),
      'a token that was not stored': await signingKeys.signToken('sandbox', 'intent+jwt', {
        ...claims,
        jti: newId('jti', 'sandbox'),
      }),
      'the claims of another account': await signingKeys.signToken('sandbox', 'intent+jwt', {
        ...claims,
        sub: 'acc_01m7x7enn9exb9d4gh0kbvf97d',
      }),
      'the same claims signed again': await signingKeys.signToken('sandbox', 'intent+jwt', claims),
      'no token': 'x',
    }
    for (const [name, text] of Object.entries(hostile)) {
      expect(await service.verify(caller, text), name).toMatchObject({
        valid: false,
        reason: 'invalid_token',
        jti: null,
      })
    }
    const stranger = await service.makeCaller()
    expect(await service.verify(stranger, token)).toMatchObject({ valid: false, reason: 'invalid_token' })
    const live = await service.makeCaller({ environment: 'live' })
    const crossing = await service.post(live, '/v1/intent/verify', {
      intent_token: token,
      action_description: 'x',
      action_payload: {},
    })
    expect(crossing).toMatchObject({ status: 403, json: { code: 'environment_mismatch' } })
    const entries = (await service.decisions(caller)).filter(({ kind }) => kind === 'verify')
    expect(entries).toHaveLength(Object.keys(hostile).length)
    expect(entries.every(({ jti: named }) => named === null)).toBe(true)
    expect(await service.verify(caller, token)).toMatchObject({ valid: true, jti })
  })
})

describe('the explanation of a decision', () => {
  it('repeats each answer from its recorded facts, step by step', async () => {
    await service.done(caller, '/v1/policy/webhook-secret/rotate')
    const { url } = await receivers.plain(decide('deny', { reason: 'no' }))
    const many = Array.from({ length: 20 }, (_, index) => ({
      id: `rule-${index}`,
      when: { field: 'context.country', op: 'eq', value: `X${index}` },
      require: { deny: true },
    }))
    const large = { field: 'context.transaction_amount', op: 'gt', value: 10 }
    await service.setPolicy(caller, [...many, { id: 'ask', when: large, require: { webhook: { url } } }])
    const { token } = await service.issue(caller, { context: { country: 'DE' } })
    await service.verify(caller, token)
    await service.verify(caller, token, { context: { country: 'X7' } })
    await service.verify(caller, token, { action_payload: {} })
    await service.verify(caller, 'none')
    const decisions = await service.decisions(caller)
    const explained = decisions.filter(({ kind }) => kind === 'verify' || kind === 'authorize')
    const reasons = [
      'policy_webhook_pending',
      'policy_webhook_denied',
      'policy_denied',
      'payload_hash_mismatch',
      'invalid_token',
    ]
    expect(explained.map(({ reason }) => reason)).toEqual(reasons)
    const { ledger, db } = service.services.platform
    for (const { id, entry, reason } of explained) {
      const recorded = await db.tenant(caller, (tx) => ledger.readFacts(tx, id))
      const parsed = JSON.parse(entry) as DecisionEntry
      const explanation = INTENT_EXPLAINERS.verify(recorded ?? null, parsed)
      expect(explanation, String(reason)).toMatchObject({ agrees: true, reason, valid: parsed.valid })
      expect(INTENT_EXPLAINERS.verify(recorded ?? null, { ...parsed, reason: 'other' })).toMatchObject({
        agrees: false,
      })
    }
  })
})
