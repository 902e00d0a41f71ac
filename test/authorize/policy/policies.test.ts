// The routes of policies: versions, what is refused, and what a document would say of facts.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createPolicyReader } from '#src/authorize/policy/current.ts'
import type { Tx } from '#src/platform/db/database.ts'
import type { KeyRow } from '#src/platform/http/caller.ts'
import type { Scope } from '#src/platform/ids.ts'
import { startTestService, type TestService } from '../../support/service.ts'

type Caller = Scope & { key: string }

let on: TestService
let caller: Caller

beforeAll(async () => {
  on = await startTestService({ scopes: ['all'] })
})
afterAll(() => on?.close())
const makeCaller = (row: Partial<KeyRow> = {}) => on.makeCaller({ scopes: ['all'], ...row })
beforeEach(async () => {
  caller = await makeCaller()
})

const get = (path = '', by: { key: string } = caller) => on.call(by, `/v1/policy${path}`)
const post = (path: string, json: unknown, headers: Record<string, string> = {}, by: { key: string } = caller) =>
  on.call(by, `/v1/policy${path}`, { method: 'POST', json, headers })
const put = (document: unknown, headers: Record<string, string> = { 'If-Match': '*' }, by: { key: string } = caller) =>
  on.call(by, '/v1/policy', { method: 'PUT', json: { document }, headers })
const rulesOf = ({ json }: { json: Record<string, unknown> }) => (json.document as { rules: unknown[] }).rules

const rule = (id: string, members: object = {}) => ({ id, require: { deny: true }, ...members })
const document = (...rules: object[]) => ({ rules })
const changes = () => on.entries(caller, 'policy_change')

describe('the policy', () => {
  it('decides nothing when its row was changed below the service', async () => {
    // Of this test alone, so that no process has it compiled.
    await put({ name: 'changed below', ...document(rule('first')) })
    await on.test.owner(
      `UPDATE policy_versions SET document = jsonb_set(document, '{rules}', '[]') WHERE account_id = $1`,
      [caller.accountId],
    )
    const { readPolicy } = createPolicyReader()
    await expect(on.test.db.tenant(caller, readPolicy)).rejects.toThrow('does not have its digest')
    await put({
      name: 'changed below',
      ...document(rule('second', { when: { field: 'context.x', op: 'gt', value: 1e21 } })),
    })
    expect(await on.test.db.tenant(caller, createPolicyReader().readPolicy)).toMatchObject({ version: 2 })
  })

  it('is read and compiled once for those who need a new version at the same moment', async () => {
    await put({ name: 'read at once', ...document(rule('first')) })
    const { readPolicy } = createPolicyReader()
    let reads = 0
    const readers = (count: number, query: (tx: Tx, text: string, values?: readonly unknown[]) => Promise<unknown[]>) =>
      Promise.allSettled(
        Array.from({ length: count }, () =>
          on.test.db.tenant(caller, (tx) =>
            readPolicy({
              ...tx,
              query: <Row>(text: string, values?: readonly unknown[]) => query(tx, text, values) as Promise<Row[]>,
            }),
          ),
        ),
      )
    const settled = await readers(3, async (tx, text, values) => {
      const isDocument = text.includes('WHERE version = $1')
      if (isDocument) reads += 1
      const rows = await tx.query(text, values)
      // The first reader's connection breaks: the others read for themselves, one for all.
      if (isDocument && reads === 1) throw new Error('the connection broke')
      return rows
    })
    expect(settled.filter(({ status }) => status === 'rejected')).toHaveLength(1)
    const [one, other] = settled.flatMap((each) => (each.status === 'fulfilled' ? [each.value.compiled] : []))
    expect(one).toBe(other)
    expect(reads).toBe(2)
  })

  it('is the defaults until it is set, which are shown as rules', async () => {
    const { json, headers } = await get()
    expect(headers.etag).toBe('"0"')
    expect(json).toMatchObject({
      version: 0,
      document: { name: 'default', default_rules: { biometric_flag: true, hardware_above: 500 }, rules: [] },
      builtin_rules: [
        { id: 'default:biometric_flag', reason: 'biometric_required', require: { biometric: true } },
        { id: 'default:hardware_above', reason: 'hardware_required_above_500', require: { hardware: true } },
      ],
      changed_at: null,
      changed_by: null,
    })
    expect((await get('/versions/0')).json).toEqual(json)
  })

  it('keeps every version, who made it, its audit entry and its decision', async () => {
    const first = await put(document(rule('a')), { 'If-Match': '"0"' })
    expect(first).toMatchObject({ status: 200, headers: { etag: '"1"' } })
    expect(first.json).toMatchObject({
      version: 1,
      changed_by: { type: 'key', id: expect.stringMatching(/^key_test_/) },
      document: { rules: [{ id: 'a', priority: 100, enabled: true, shadow: false }] },
    })
    // The same document again is no change.
    expect((await put(document(rule('a')))).json).toEqual(first.json)
    expect((await put(document(rule('b')), { 'If-Match': '"1"' })).json.version).toBe(2)
    const page = (await get('/versions?limit=1')).json
    expect(page).toMatchObject({ data: [{ version: 2, name: 'default', rules: 1 }], has_more: true })
    expect((await get(`/versions?limit=1&cursor=${page.next_cursor}`)).json).toMatchObject({ data: [{ version: 1 }] })
    expect((await get('/versions/1')).json).toEqual(first.json)
    expect((await get('/versions/3')).status).toBe(404)
    expect((await get('/versions/one')).status).toBe(404)

    const decisions = await changes()
    expect(decisions).toMatchObject([
      { subject: '1', policy_version: 1, inputs: { document_sha256: first.json.digest } },
      { subject: '2', policy_version: 2, inputs: { previous_sha256: first.json.digest } },
    ])
    expect(decisions[0]?.actor).toMatchObject({ key_id: expect.stringMatching(/^key_test_/) })
    const audit = await on.test.owner('SELECT action FROM audit_entries WHERE account_id = $1', [caller.accountId])
    expect(audit).toEqual([{ action: 'policy.changed' }, { action: 'policy.changed' }])
    // Another account, and the other environment, have their own.
    expect((await get('', await makeCaller())).json.version).toBe(0)
  })

  it('is replaced by one of several concurrent changes of the same version', async () => {
    const answers = await Promise.all(['a', 'b', 'c', 'd'].map((id) => put(document(rule(id)), { 'If-Match': '"0"' })))
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 412, 412, 412])
    expect(answers.find(({ status }) => status === 412)).toMatchObject({
      json: { code: 'precondition_failed' },
      headers: { etag: '"1"' },
    })
    expect((await get('/versions')).json.data).toHaveLength(1)
  })

  it('is not replaced without If-Match', async () => {
    expect(await put(document(rule('a')), {})).toMatchObject({ status: 428, json: { code: 'precondition_required' } })
    expect((await put(document(rule('a')), { 'If-Match': 'W/"0"' })).json).toMatchObject({
      code: 'invalid_request',
      errors: [{ pointer: 'If-Match' }],
    })
    expect((await get()).json.version).toBe(0)
  })

  it('is changed once by a repeated request', async () => {
    const headers = { 'If-Match': '"0"', 'Idempotency-Key': 'one' }
    const first = await put(document(rule('a')), headers)
    expect((await put(document(rule('a')), headers)).json).toEqual(first.json)
    expect((await put(document(rule('b')), headers)).json.code).toBe('idempotency_key_reused')
    expect(await changes()).toHaveLength(1)
  })

  it('returns to an earlier version, as a new one', async () => {
    const first = await put(document(rule('a')))
    await put(document(rule('b')))
    expect((await post('/rollback', { version: 1 }, { 'If-Match': '"1"' })).status).toBe(412)
    const back = await post('/rollback', { version: 1 }, { 'If-Match': '"2"' })
    expect(back).toMatchObject({ status: 200, headers: { etag: '"3"' } })
    expect(back.json).toMatchObject({
      version: 3,
      rolled_back_to: 1,
      document: first.json.document,
      digest: first.json.digest,
    })
    expect((await post('/rollback', { version: 0 })).json).toMatchObject({
      version: 4,
      rolled_back_to: 0,
      document: { rules: [] },
    })
    expect((await post('/rollback', { version: 4 })).json.code).toBe('conflict')
    expect((await post('/rollback', { version: 9 })).json.code).toBe('not_found')
    expect((await changes()).map(({ subject }) => subject)).toEqual(['1', '2', '3', '4'])
  })

  it('refuses what it could not enforce, each finding with its pointer', async () => {
    const refused = document(
      rule('a', { when: { field: 'context.x', op: 'matches', value: '(' } }),
      rule('b', { require: { approval: { min_approvals: 2 } } }),
      rule('c', { require: { webhook: { url: 'http://10.0.0.1/ask' } } }),
    )
    const answer = await put(refused)
    expect(answer).toMatchObject({ status: 400, json: { code: 'invalid_request' } })
    expect(answer.json.errors).toMatchObject([{ pointer: '/document/rules/0/when/value', code: 'invalid_pattern' }])
    const misspelled = await put({ ...document(), approvals: { require_human: true } })
    expect(misspelled.json.errors).toMatchObject([
      { pointer: '/document/approvals/require_human', code: 'unknown_field' },
    ])
    const wellFormed = document(...refused.rules.slice(1))
    const pointers = [{ pointer: '/rules/1/require/webhook/url', code: 'address_not_public' }]
    const inBody = pointers.map((one) => ({ ...one, pointer: `/document${one.pointer}` }))
    expect((await put(wellFormed)).json.errors).toMatchObject(inBody)
    expect((await post('/validate', { document: wellFormed })).json).toMatchObject({ valid: false, errors: pointers })
    expect((await post('/validate', { document: { rules: 7 } })).json).toMatchObject({
      valid: false,
      errors: [{ pointer: '/rules' }],
    })
    const polluted = JSON.parse('{"rules": [], "__proto__": {}}')
    expect((await post('/validate', { document: polluted })).json).toMatchObject({
      valid: false,
      errors: [{ pointer: '/__proto__', code: 'unknown_field' }],
    })
    expect((await post('/validate', { document: document(rule('a')) })).json).toEqual({
      valid: true,
      errors: [],
      findings: [],
    })
    const wires = document(rule('a', { when: { field: 'action_type', op: 'eq', value: 'wire' } }))
    expect((await post('/validate', { document: wires })).json).toMatchObject({
      valid: true,
      findings: [{ code: 'ineffective_when_missing', rule_id: 'a', pointer: '/rules/0/when' }],
    })
    expect((await post('/simulate', { document: wellFormed, input: {} })).json.errors).toMatchObject(inBody)
    expect((await get()).json.version).toBe(0)
  })

  it('takes a webhook by https only in live', async () => {
    const live = await makeCaller({ environment: 'live' })
    const hook = (url: string) => document(rule('w', { require: { webhook: { url } } }))
    expect((await put(hook('http://policy.example.com/ask'))).status).toBe(200)
    expect((await put(hook('http://policy.example.com/ask'), undefined, live)).json.errors).toMatchObject([
      { pointer: '/document/rules/0/require/webhook/url', code: 'scheme_not_allowed' },
    ])
    expect((await put(hook('https://policy.example.com/ask'), undefined, live)).status).toBe(200)
  })

  it('takes a thousand rules, and is compiled once for all transactions', async () => {
    const when = (n: number) => ({
      all: [
        { field: 'action_type', op: 'in', value: [`type-${n}`, `kind-${n}`] },
        {
          any: [
            { field: 'context.amount', op: 'gt', value: n },
            { field: 'context.to', op: 'matches', value: '^DE' },
          ],
        },
      ],
    })
    const rules = Array.from({ length: 1_000 }, (_, n) =>
      rule(`rule-${n}`, n % 10 === 0 ? { when: when(n) } : { when: { ...when(n), all: when(n).all.slice(0, 1) } }),
    )
    const { status, json } = await put({ rules })
    expect({ status, rules: rulesOf({ json }).length }).toEqual({ status: 200, rules: 1_000 })
    const { readPolicy } = on.services.authorize.policy
    const read = () => on.test.db.tenant(caller, readPolicy)
    const [first, second] = [await read(), await read()]
    expect(first).toMatchObject({ version: 1, digest: json.digest })
    expect(second.compiled).toBe(first.compiled)
    await put(document(rule('a')))
    expect(await read()).toMatchObject({ version: 2, compiled: { rules: [{ id: 'a' }] } })
  })

  it('is for admins with a key of their account, or for sessions that may', async () => {
    const { accountId, environment } = caller
    const weak = { key: on.addKey({ accountId, environment, scopes: ['attest', 'verify', 'intent', 'escalate'] }) }
    const shared = { key: on.addKey({ accountId, environment, scopes: ['all'], isAccountBearing: false }) }
    const bodies: Record<string, object> = {
      '/validate': { document: {} },
      '/analyze': {},
      '/simulate': { input: {} },
      '/rollback': { version: 0 },
      '/replay': { document: {}, from: '2026-01-01T00:00:00Z', to: '2026-01-02T00:00:00Z' },
    }
    for (const [by, code] of [
      [weak, 'insufficient_scope'],
      [shared, 'account_key_required'],
    ] as const) {
      for (const path of ['', '/versions', '/versions/0', '/shadow-report']) {
        expect((await get(path, by)).json.code, path).toBe(code)
      }
      for (const [path, body] of Object.entries(bodies)) expect((await post(path, body, {}, by)).json.code).toBe(code)
      expect((await put({}, undefined, by)).json.code).toBe(code)
    }
    const analyst = await on.signIn(accountId, { role: 'analyst' })
    const admin = await on.signIn(accountId, { role: 'admin' })
    const send = (headers: Record<string, string>, method: string, json?: object) =>
      on.call({}, '/v1/policy', { method, headers: { ...headers, 'If-Match': '*' }, ...(json && { json }) })
    expect((await send(analyst.headers, 'GET')).status).toBe(200)
    expect((await send(analyst.headers, 'PUT', { document: {} })).json.code).toBe('insufficient_role')
    expect((await send(admin.headers, 'PUT', { document: {} })).json).toMatchObject({
      version: 1,
      changed_by: { type: 'user', id: admin.userId, label: expect.stringContaining('@') },
    })
  })
})

describe('a simulation', () => {
  const hook = rule('ask', { require: { webhook: { url: 'https://policy.example.com/ask' } } })

  it('says what the stored policy, a version or a document would answer', async () => {
    await put(document(rule('wires', { when: { field: 'action_type', op: 'eq', value: 'wire' }, reason: 'no_wires' })))
    await put(document())
    const wire = { action_type: 'wire', action_payload: { amount: '500.01' }, device: { tier: 'software' } }
    const stored = await post('/simulate', { input: wire })
    expect(stored.json).toMatchObject({
      policy_version: 2,
      would_be_valid: false,
      reason: 'hardware_required_above_500',
      matched_rule_id: 'default:hardware_above',
    })
    const earlier = await post('/simulate', { version: 1, input: { ...wire, device: { tier: 'tee' } } })
    expect(earlier.json).toMatchObject({ policy_version: 1, reason: 'no_wires', matched_rule_id: 'wires' })
    expect(earlier.json.results).toMatchObject([
      { rule_id: 'default:biometric_flag', matched: false, met: true },
      { rule_id: 'default:hardware_above', matched: true, met: true },
      { rule_id: 'wires', effect: 'deny', matched: true, met: false },
    ])
    const sent = await post('/simulate', { document: document(rule('all')), input: {} })
    expect(sent.json).toMatchObject({ policy_version: null, reason: 'policy_denied', matched_rule_id: 'all' })
    expect((await post('/simulate', { input: {} })).json).toMatchObject({ would_be_valid: true, reason: null })
    expect((await post('/simulate', { version: 7, input: {} })).status).toBe(404)
    const contexts = { context: {}, authorize_context: { transaction_amount: 900 } }
    expect((await post('/simulate', { input: contexts })).json.reason).toBe('hardware_required_above_500')
  })

  it('takes a member that is called __proto__ for a member, which no path names', async () => {
    const action_payload = JSON.parse('{"__proto__": {"tier": 1}, "items": [{"__proto__": {"tier": 1}}]}')
    const tier = (field: string) => ({ field, op: 'exists' })
    const inherited = [
      rule('a', { when: tier('action_payload.tier') }),
      rule('b', { when: { any: { in: 'action_payload.items', as: 'item', when: tier('item.tier') } } }),
    ]
    const simulated = await post('/simulate', { document: document(...inherited), input: { action_payload } })
    expect(simulated.json).toMatchObject({ would_be_valid: true, reason: null })
    const nested = document(rule('nested', { when: tier('action_payload.__proto__.tier') }))
    expect((await post('/simulate', { document: nested, input: { action_payload } })).json).toMatchObject({
      errors: [{ pointer: '/document/rules/0/when/field', code: 'unknown_policy_field' }],
    })
  })

  it('calls no webhook: it is pending, or answers what the caller says', async () => {
    const pending = await post('/simulate', { document: document(hook), input: {} })
    expect(pending.json).toMatchObject({
      reason: 'policy_webhook_pending',
      needs: [{ kind: 'webhook', rule_id: 'ask', url: 'https://policy.example.com/ask', timeout_ms: 3_000 }],
      results: [
        { rule_id: 'default:biometric_flag' },
        { rule_id: 'default:hardware_above' },
        { note: 'policy_webhook_pending' },
      ],
    })
    const answered = (answer: unknown) =>
      post('/simulate', { document: document(hook), input: {}, answers: { webhooks: { ask: answer } } })
    expect((await answered({ decision: 'allow' })).json).toMatchObject({ would_be_valid: true, needs: [] })
    expect((await answered({ decision: 'deny', reason: 'no' })).json).toMatchObject({
      reason: 'policy_webhook_denied',
      refusals: [{ webhook_reason: 'no' }],
    })
    expect((await answered('unavailable')).json.reason).toBe('policy_webhook_unavailable')
  })
})
