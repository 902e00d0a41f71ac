import { Registry } from 'prom-client'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createRequestLimits } from '#src/platform/http/limits.ts'
import { createGuesses } from '#src/platform/limits/guesses.ts'
import { createLimiter } from '#src/platform/limits/limiter.ts'
import type { TestCaller } from '../../support/callers.ts'
import { startTestService, type TestService } from '../../support/service.ts'

let service: TestService
let caller: TestCaller

beforeAll(async () => {
  service = await startTestService()
})
afterAll(() => service.close())
beforeEach(async () => {
  caller = await service.makeCaller()
})

const DESCRIPTION = 'Pay 120.00 EUR to Example Garage'
const PAYLOAD = { amount: '120.00', currency: 'EUR', counterparty: 'Example Garage' }

const post = (path: string, json: unknown, by: { key: string } = caller, headers = {}) =>
  service.call(by, path, { method: 'POST', json, headers })
const evaluate = async (json: unknown) => (await post('/v1/access/evaluation', json)).json
const evaluateAll = async (json: unknown) => (await post('/v1/access/evaluations', json)).json

async function mint(more: object = {}, by = caller): Promise<string> {
  const { json } = await post(
    '/v1/intent/authorize',
    {
      action_description: DESCRIPTION,
      action_payload: PAYLOAD,
      agent_session_id: 'checkout-1',
      device_id: 'laptop-4',
      audience: 'tool:payments',
      ...more,
    },
    by,
  )
  return String(json.intent_token)
}

const evaluationOf = (token: unknown, more: object = {}) => ({
  subject: { type: 'agent_session', id: 'checkout-1' },
  action: { name: DESCRIPTION, properties: PAYLOAD },
  resource: { type: 'tool', id: 'payments' },
  context: { intent_token: token },
  ...more,
})

const answerOf = ({ decision, context }: Record<string, unknown>) => {
  const { reason, error } = (context ?? {}) as { reason?: string; error?: { status: number; errors?: object[] } }
  return [decision, error === undefined ? reason : error.status]
}

describe('an access evaluation', () => {
  it('permits what the token was issued for, as often as it is asked, and executes nothing', async () => {
    const token = await mint()
    for (let i = 0; i < 2; i += 1) {
      const { decision, context } = await evaluate(evaluationOf(token))
      expect([decision, context]).toEqual([
        true,
        {
          reason: null,
          detail: expect.any(String),
          jti: expect.stringMatching(/^jti_test_/),
          decision_id: expect.stringMatching(/^dec_test_/),
          evaluated_at: expect.stringMatching(/Z$/),
        },
      ])
    }
    const [row] = await service.test.owner('SELECT executed_at FROM intents WHERE account_id = $1', [caller.accountId])
    expect(row).toEqual({ executed_at: null })
    const recorded = await service.test.owner(
      `SELECT kind FROM decisions WHERE account_id = $1 AND kind IN ('verify', 'execute')`,
      [caller.accountId],
    )
    expect(recorded).toEqual([{ kind: 'verify' }, { kind: 'verify' }])
  })

  it('compares every entity with the token', async () => {
    const token = await mint()
    const cases: [object, string][] = [
      [{ subject: { type: 'agent_session', id: 'checkout-2' } }, 'invalid_token'],
      [
        { subject: { type: 'agent_session', id: 'checkout-1', properties: { device_id: 'laptop-5' } } },
        'invalid_token',
      ],
      [{ action: { name: `${DESCRIPTION}.`, properties: PAYLOAD } }, 'action_hash_mismatch'],
      [{ action: { name: DESCRIPTION, properties: { ...PAYLOAD, amount: '120.01' } } }, 'payload_hash_mismatch'],
      [{ action: { name: DESCRIPTION } }, 'payload_hash_mismatch'],
      [{ resource: { type: 'tool', id: 'refunds' } }, 'invalid_token'],
      [{ resource: { type: 'Tool', id: 'payments' } }, 'invalid_token'],
      [{ resource: { type: 'tool', id: ':payments' } }, 'invalid_token'],
      [{ context: { intent_token: token.replace(/[^.]+$/, 'A'.repeat(86)) } }, 'invalid_token'],
      [{ context: { intent_token: 'x' } }, 'invalid_token'],
      [{ context: { intent_token: token, context_evidence: 'other' } }, 'context_hash_mismatch'],
    ]
    for (const [more, reason] of cases) {
      expect([more, ...answerOf(await evaluate(evaluationOf(token, more)))]).toEqual([more, false, reason])
    }
    const device = { type: 'agent_session', id: 'checkout-1', properties: { device_id: 'laptop-4' } }
    expect(answerOf(await evaluate(evaluationOf(token, { subject: device })))).toEqual([true, null])
  })

  it('denies a token without an audience, and one of another account', async () => {
    expect(answerOf(await evaluate(evaluationOf(await mint({ audience: undefined }))))).toEqual([
      false,
      'invalid_token',
    ])
    const other = await service.makeCaller()
    expect(answerOf(await evaluate(evaluationOf(await mint({}, other))))).toEqual([false, 'invalid_token'])
  })

  it('denies an action that was executed before: a gateway knows permit and deny alone', async () => {
    const token = await mint()
    const action = { intent_token: token, action_description: DESCRIPTION, action_payload: PAYLOAD }
    expect((await post('/v1/intent/verify', action)).json.valid).toBe(true)
    expect(answerOf(await evaluate(evaluationOf(token)))).toEqual([false, 'token_already_executed'])
  })

  it('takes the key of an execution for a question about its token alone', async () => {
    const [first, second] = [await mint(), await mint()]
    const key = { 'Idempotency-Key': 'attempt-1' }
    const action = { intent_token: first, action_description: DESCRIPTION, action_payload: PAYLOAD }
    expect((await post('/v1/intent/verify', action, caller, key)).json.valid).toBe(true)
    expect((await post('/v1/access/evaluation', evaluationOf(first), caller, key)).json).toMatchObject({
      decision: true,
      context: { already_executed: true },
    })
    const reused = await post('/v1/access/evaluation', evaluationOf(second), caller, key)
    expect([reused.status, reused.json.code]).toEqual([422, 'idempotency_key_reused'])
    const asked = { evaluations: [evaluationOf(first), evaluationOf(second)] }
    const { evaluations } = (await post('/v1/access/evaluations', asked, caller, key)).json
    expect((evaluations as Record<string, unknown>[]).map(answerOf)).toEqual([
      [true, null],
      [false, 422],
    ])
  })

  it('shows rules of the policy the context, and the properties of subject and resource', async () => {
    const rule = (id: string, field: string, value: unknown) => ({
      id,
      priority: 1,
      enabled: true,
      when: { field, op: 'eq', value },
      require: { deny: true },
    })
    const rules = [
      rule('no-archived', 'context.resource.status', 'archived'),
      rule('no-interns', 'context.subject.role', 'intern'),
      rule('no-fridays', 'context.day', 'friday'),
    ]
    const put = await service.call(caller, '/v1/policy', {
      method: 'PUT',
      json: { document: { name: 'default', rules } },
      headers: { 'If-Match': '*' },
    })
    expect([put.status, put.json.errors]).toEqual([200, undefined])
    const token = await mint()
    const matchedBy = async (more: object) => {
      const { context } = await evaluate(evaluationOf(token, more))
      return (context as { matched_rule_id?: string }).matched_rule_id
    }
    expect(await matchedBy({})).toBe(undefined)
    const resource = { type: 'tool', id: 'payments', properties: { status: 'archived' } }
    expect(await matchedBy({ resource })).toBe('no-archived')
    const subject = { type: 'agent_session', id: 'checkout-1', properties: { role: 'intern' } }
    expect(await matchedBy({ subject })).toBe('no-interns')
    expect(await matchedBy({ context: { intent_token: token, day: 'friday' } })).toBe('no-fridays')
    const forged = { intent_token: token, resource: { status: 'active' } }
    expect(await matchedBy({ resource, context: forged })).toBe('no-archived')
  })

  it('is a denial with an error where the request is well-formed and no token can answer it', async () => {
    const token = await mint()
    const cases: [object, string][] = [
      [{ context: undefined }, '/context/intent_token'],
      [{ context: { intent_token: 7 } }, '/context/intent_token'],
      [{ context: { intent_token: '' } }, '/context/intent_token'],
      [{ context: { intent_token: token, transaction_amount: 'much' } }, '/context/transaction_amount'],
      [{ context: { intent_token: token, trace_id: {} } }, '/context/trace_id'],
      [{ subject: { type: 'user', id: 'alice' } }, '/subject/type'],
      [{ subject: { type: 'agent_session', id: 'x'.repeat(201) } }, '/subject/id'],
      [{ subject: { type: 'agent_session', id: 'x', properties: { device_id: 7 } } }, '/subject/properties/device_id'],
      [{ resource: { type: 'tool:a', id: 'b' } }, '/resource/type'],
      [{ resource: { type: 'tool', id: 'x'.repeat(201) } }, '/resource/id'],
    ]
    for (const [more, pointer] of cases) {
      const { status, json } = await post('/v1/access/evaluation', evaluationOf(token, more))
      const { error } = json.context as { error: { status: number; code: string; errors: { pointer: string }[] } }
      const found = [status, json.decision, error.status, error.code, error.errors[0]?.pointer]
      expect([more, ...found]).toEqual([more, 200, false, 400, 'invalid_request', pointer])
    }
  })

  it('is refused as a request where a required part is missing or of a wrong type; unknown members are ignored', async () => {
    const token = await mint()
    const { subject, action, resource, context } = evaluationOf(token)
    const bad: [unknown, string][] = [
      [{ action, resource, context }, '/subject'],
      [{ subject, resource, context }, '/action'],
      [{ subject, action, context }, '/resource'],
      [{ subject: { id: 'a' }, action, resource }, '/subject/type'],
      [{ subject: { type: 'agent_session' }, action, resource }, '/subject/id'],
      [{ subject, action: {}, resource }, '/action/name'],
      [{ subject, action: { name: 123 }, resource }, '/action/name'],
      [{ subject, action, resource: { id: 'a' } }, '/resource/type'],
      [{ subject, action, resource: { type: 'tool' } }, '/resource/id'],
      [{ subject: 'alice', action, resource }, '/subject'],
      [{ subject, action: { name: 'a', properties: [] }, resource }, '/action/properties'],
      [{ subject, action, resource, context: 'x' }, '/context'],
    ]
    for (const path of ['/v1/access/evaluation', '/v1/access/evaluations']) {
      for (const [json, pointer] of bad) {
        const answer = await post(path, json)
        expect([json, answer.status, answer.json.errors?.[0]?.pointer]).toEqual([json, 400, pointer])
      }
      const more = { ...evaluationOf(token), foo: 'bar', futureField: { nested: true } }
      const known = { ...more, subject: { ...subject, realm: 'x' }, action: { ...action, verb: 'x' } }
      expect(answerOf((await post(path, known)).json)).toEqual([true, null])
    }
  })

  it('of a token of the other environment is refused as a request, and denied among others', async () => {
    const live = await service.makeCaller({ environment: 'live' })
    const token = await mint({}, live)
    expect((await evaluate(evaluationOf(token))).code).toBe('environment_mismatch')
    const { evaluations } = await evaluateAll({ evaluations: [evaluationOf(token), evaluationOf(await mint())] })
    expect((evaluations as Record<string, unknown>[]).map(answerOf)).toEqual([
      [false, 403],
      [true, null],
    ])
  })
})

describe('several access evaluations', () => {
  it('are answered in their order; what one lacks is that of the request as a whole', async () => {
    const token = await mint()
    const other = await mint({ action_description: 'Refund', action_payload: {} })
    const { evaluations } = await evaluateAll({
      ...evaluationOf(token, { context: { intent_token: token, day: 'monday' } }),
      evaluations: [
        {},
        { action: { name: DESCRIPTION } },
        { action: { name: 'Refund' }, context: { intent_token: other } },
        { context: { day: 'tuesday' } },
        { resource: { type: 'tool', id: 'refunds' } },
        { subject: null },
        { action: { name: 7 } },
      ],
    })
    expect((evaluations as Record<string, unknown>[]).map(answerOf)).toEqual([
      [true, null],
      [false, 'payload_hash_mismatch'],
      [true, null],
      [false, 400],
      [false, 'invalid_token'],
      [false, 400],
      [false, 400],
    ])
  })

  it('end with the first denial or the first permission where that is asked for', async () => {
    const token = await mint()
    const wrong = { action: { name: 'Refund' } }
    const decisionsOf = async (evaluations: object[], evaluations_semantic?: string) => {
      const options = evaluations_semantic === undefined ? undefined : { evaluations_semantic, another: 'ignored' }
      const answer = await evaluateAll({ ...evaluationOf(token), evaluations, options })
      expect(answer).not.toHaveProperty('decision')
      return (answer.evaluations as { decision: boolean }[]).map(({ decision }) => decision)
    }
    expect(await decisionsOf([{}, wrong, {}, wrong, {}])).toEqual([true, false, true, false, true])
    expect(await decisionsOf([{}, wrong, {}], 'execute_all')).toEqual([true, false, true])
    expect(await decisionsOf([{}, {}, wrong, {}], 'deny_on_first_deny')).toEqual([true, true, false])
    expect(await decisionsOf([{ subject: 1 }, {}], 'deny_on_first_deny')).toEqual([false])
    expect(await decisionsOf([wrong, {}, {}], 'permit_on_first_permit')).toEqual([false, true])
    expect(await decisionsOf([wrong, wrong], 'permit_on_first_permit')).toEqual([false, false])
    const unknown = await post('/v1/access/evaluations', {
      ...evaluationOf(token),
      evaluations: [{}],
      options: { evaluations_semantic: 'any' },
    })
    expect(unknown.json.errors?.[0]?.pointer).toBe('/options/evaluations_semantic')
  })

  it('without the array, or with an empty one, are one evaluation; more than 20 are refused', async () => {
    const token = await mint()
    expect(answerOf(await evaluateAll(evaluationOf(token)))).toEqual([true, null])
    expect(answerOf(await evaluateAll({ ...evaluationOf(token), evaluations: [] }))).toEqual([true, null])
    const many = { ...evaluationOf(token), evaluations: Array.from({ length: 21 }, () => ({})) }
    expect((await post('/v1/access/evaluations', many)).json.errors?.[0]?.pointer).toBe('/evaluations')
    const most = await evaluateAll({ ...many, evaluations: many.evaluations.slice(1) })
    expect(most.evaluations).toHaveLength(20)
  })
})

describe('a gateway', () => {
  it('gets its request id back with every answer, as it sent it', async () => {
    const token = await mint()
    const id = 'bfe9eb29-ab87-4ca3-be83-a1d5d8305716'
    const sent = (json: unknown, by: { key: string }, own = id) =>
      post('/v1/access/evaluation', json, by, { 'X-Request-ID': own })
    const answers = [await sent(evaluationOf(token), caller), await sent({}, caller), await sent({}, { key: 'none' })]
    expect(answers.map(({ status, headers }) => [status, headers['x-request-id']])).toEqual([
      [200, id],
      [400, id],
      [401, id],
    ])
    expect((await sent(evaluationOf(token), caller, 'a b: c')).headers['x-request-id']).toBe('a b: c')
    expect((await sent(evaluationOf(token), caller, 'x'.repeat(201))).headers).not.toHaveProperty('x-request-id')
    expect((await post('/v1/access/evaluation', evaluationOf(token))).headers).not.toHaveProperty('x-request-id')
  })

  it('finds the endpoints by the metadata of the decision point, without a key', async () => {
    const { status, headers, json } = await service.call({}, '/.well-known/authzen-configuration')
    const { baseUrl } = service.services.platform
    expect([status, json]).toEqual([
      200,
      {
        policy_decision_point: baseUrl,
        access_evaluation_endpoint: `${baseUrl}/access/v1/evaluation`,
        access_evaluations_endpoint: `${baseUrl}/access/v1/evaluations`,
      },
    ])
    expect(headers['content-type']).toMatch(/^application\/json/)
    expect(headers['cache-control']).toBe('public, max-age=3600')
  })

  it('asks at the paths of the standard too, where another content type is 400', async () => {
    const token = await mint()
    const one = await post('/access/v1/evaluation', evaluationOf(token))
    expect([one.status, answerOf(one.json), one.headers['cache-control']]).toEqual([200, [true, null], 'no-store'])
    const several = await post('/access/v1/evaluations', { ...evaluationOf(token), evaluations: [{}, { action: 7 }] })
    expect((several.json.evaluations as Record<string, unknown>[]).map(answerOf)).toEqual([
      [true, null],
      [false, 400],
    ])
    for (const name of ['evaluation', 'evaluations']) {
      for (const type of ['text/plain', 'application/xml', 'application/json; charset=latin1', undefined]) {
        const headers: Record<string, string> = type === undefined ? {} : { 'Content-Type': type }
        const request = { method: 'POST', body: JSON.stringify(evaluationOf(token)), headers }
        const standard = await service.call(caller, `/access/v1/${name}`, request)
        expect([type, standard.status, standard.json.code]).toEqual([type, 400, 'invalid_request'])
        expect((await service.call(caller, `/v1/access/${name}`, request)).status).toBe(415)
      }
    }
  })

  it('needs the scope verify: one that issues tokens does not check them', async () => {
    const { accountId } = caller
    const issuing = service.addKey({ accountId, scopes: ['intent'] })
    const { status, json } = await post('/v1/access/evaluation', {}, { key: issuing })
    expect([status, json.code]).toEqual([403, 'insufficient_scope'])
  })
})

it('each evaluation of several counts against the rate limit, and those beyond it are denied', async () => {
  const limited = await startTestService({
    app: {
      limits: createRequestLimits({
        limiter: createLimiter(),
        guesses: createGuesses({ perSecond: 1_000, prefix: 't' }),
        limitOf: ({ accountId }) => ({
          name: 'key',
          subject: accountId,
          rate: { perSecond: 0.001, burst: 8 },
          detail: '-',
        }),
        registry: new Registry(),
      }),
    },
  })
  try {
    const own = await limited.makeCaller()
    const send = (path: string, json: unknown) => limited.call(own, path, { method: 'POST', json })
    const action = { action_description: DESCRIPTION, action_payload: PAYLOAD }
    const bound = { agent_session_id: 'checkout-1', device_id: 'laptop-4', audience: 'tool:payments' }
    const { json: minted } = await send('/v1/intent/authorize', { ...action, ...bound })
    // Of 8, authorize took one and this request takes one with its first evaluation: six more are made.
    const body = { ...evaluationOf(minted.intent_token), evaluations: Array.from({ length: 10 }, () => ({})) }
    const { status, json, headers } = await send('/v1/access/evaluations', body)
    const made = (json.evaluations as Record<string, unknown>[]).map(answerOf)
    expect([status, made.slice(0, 7), made.slice(7)]).toEqual([
      200,
      new Array(7).fill([true, null]),
      new Array(3).fill([false, 429]),
    ])
    expect(headers.ratelimit).toContain('r=0')
    expect((await send('/v1/access/evaluation', evaluationOf(minted.intent_token))).json.code).toBe('rate_limited')
    expect(await limited.count('decisions')).toBe(8)
  } finally {
    await limited.close()
  }
})
