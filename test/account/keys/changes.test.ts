// What can be changed of a key: its name and its addresses. What it may do never changes.

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { codeOf, findings, type KeysService, startKeysService } from './service.ts'

const NOW = new Date('2026-11-20T12:00:00.000Z')
let keys: KeysService
beforeAll(async () => {
  keys = await startKeysService({ now: NOW })
})
afterAll(() => keys.close())

describe('changing a key', () => {
  it('gives it another name, and leaves what the request does not name', async () => {
    const holder = await keys.makeHolder()
    const made = (await holder.create({ ip_allow: ['127.0.0.1'], read_only: true })).json
    const changed = await holder.ask(`/${made.api_key_id}`, { method: 'PATCH', json: { name: 'intake, new office' } })
    const { key: _key, ...shown } = made
    expect([changed.status, changed.json]).toEqual([200, { ...shown, name: 'intake, new office' }])
    expect((await keys.audits(made.api_key_id)).at(-1)).toMatchObject({
      action: 'key.changed',
      actor_id: holder.id,
      before: { name: 'made', ip_allow: ['127.0.0.1'] },
      after: { name: 'intake, new office', ip_allow: ['127.0.0.1'] },
    })
  })

  it('sets its addresses from the next request on, and lifts them with null', async () => {
    const holder = await keys.makeHolder()
    const made = (await holder.create()).json
    const use = async () => (await keys.send({ key: String(made.key) }, '/v1/claims')).json.code
    const set = (ranges: string[] | null) =>
      holder.ask(`/${made.api_key_id}`, { method: 'PATCH', json: { ip_allow: ranges } })
    expect((await set(['203.0.113.0/24'])).json.ip_allow).toEqual(['203.0.113.0/24'])
    expect(await use()).toBe('ip_not_allowed')
    expect((await set(null)).json.ip_allow).toBeNull()
    expect(await use()).toBeUndefined()
  })

  it('takes the authority to create such a key for other addresses, and none for another name', async () => {
    const all = await keys.makeHolder()
    const bound = await keys.makeHolder({ in: all, scopes: ['admin'], ipAllow: ['127.0.0.0/8'] })
    const wide = (await all.create({ scopes: ['verify'] })).json
    const change = (json: object, id: unknown) => bound.ask(`/${id}`, { method: 'PATCH', json })
    expect(findings(await change({ ip_allow: null }, bound.id))).toEqual([403, 'role_limit', '/ip_allow role_limit'])
    expect(findings(await change({ ip_allow: ['10.0.0.0/8'] }, bound.id))).toEqual([
      403,
      'role_limit',
      '/ip_allow role_limit',
    ])
    expect(codeOf(await change({ ip_allow: ['127.0.0.1'] }, wide.api_key_id))).toEqual([403, 'insufficient_scope'])
    expect((await change({ ip_allow: ['127.0.0.1'] }, bound.id)).status).toBe(200)
    expect((await change({ name: 'wide' }, wide.api_key_id)).status).toBe(200)
  })

  it('is refused for what never changes, for nothing, and for a key that has ended', async () => {
    const holder = await keys.makeHolder()
    const made = (await holder.create()).json
    const change = (json: object) => holder.ask(`/${made.api_key_id}`, { method: 'PATCH', json })
    for (const json of [
      {},
      { scopes: ['all'] },
      { read_only: false },
      { name: ' ' },
      { ip_allow: [] },
      { name: null },
    ]) {
      expect(codeOf(await change(json))).toEqual([400, 'invalid_request'])
    }
    await holder.ask(`/${made.api_key_id}`, { method: 'DELETE' })
    const { status, json } = await change({ name: 'late' })
    expect([status, json.code, json.current_status]).toEqual([409, 'invalid_state_transition', 'revoked'])
  })

  it('hides the keys of others from a developer, and repeats nothing', async () => {
    const holder = await keys.makeHolder()
    const developer = await keys.signIn(holder, 'developer')
    const made = (await holder.create()).json
    expect((await developer.ask(`/${made.api_key_id}`, { method: 'PATCH', json: { name: 'mine' } })).status).toBe(404)
    const once = { method: 'PATCH', json: { name: 'first' }, headers: { 'Idempotency-Key': 'one' } }
    await holder.ask(`/${made.api_key_id}`, once)
    await holder.ask(`/${made.api_key_id}`, { method: 'PATCH', json: { name: 'second' } })
    const again = await holder.ask(`/${made.api_key_id}`, once)
    expect([again.headers['idempotent-replayed'], again.json.name]).toEqual(['true', 'second'])
  })
})

describe('a key that only reads', () => {
  it('reads within its scopes, is refused what changes something, and stays so when it is rotated', async () => {
    const holder = await keys.makeHolder()
    const made = (await holder.create({ scopes: ['admin', 'verify'], read_only: true })).json
    expect(made.read_only).toBe(true)
    const reader = { key: String(made.key) }
    expect((await keys.send(reader, '/v1/claims')).status).toBe(200)
    expect((await keys.send(reader, '/v1/account/keys')).status).toBe(200)
    const refused = await keys.send(reader, '/v1/account/keys', { json: { name: 'x', scopes: ['verify'] } })
    expect(codeOf(refused)).toEqual([403, 'key_read_only'])
    expect(codeOf(await keys.send(reader, '/v1/cases'))).toEqual([403, 'insufficient_scope'])
    const rotated = await holder.post(`/${made.api_key_id}/rotate`)
    expect(rotated.json.read_only).toBe(true)
    expect(codeOf(await keys.send({ key: String(rotated.json.key) }, '/v1/webhook-endpoints', { json: {} }))).toEqual([
      403,
      'key_read_only',
    ])
    expect(await keys.audits(made.api_key_id)).toMatchObject([
      { action: 'key.created', after: { read_only: true } },
      { action: 'key.rotated' },
    ])
  })
})

describe('GET /v1/auth/session', () => {
  it('tells any key what it is, whatever its scopes and products', async () => {
    const holder = await keys.makeHolder()
    const made = (await holder.create({ scopes: ['screen'], products: ['trace'], read_only: true })).json
    const { status, headers, json } = await keys.send({ key: String(made.key) }, '/v1/auth/session')
    expect([status, headers['cache-control']]).toEqual([200, 'no-store'])
    expect(json).toEqual({
      type: 'key',
      account: {
        account_id: holder.accountId,
        name: 'Test',
        plan: 'enterprise',
        products: ['attest', 'authorize', 'trace'],
      },
      environment: 'sandbox',
      api_key_id: made.api_key_id,
      scopes: ['screen'],
      products: ['trace'],
      read_only: true,
      session: null,
    })
  })

  it('tells a publishable key too, and refuses an unknown one', async () => {
    const publishable = await keys.makeHolder({ scopes: ['attest'], isAccountBearing: false })
    const { json } = await keys.send(publishable, '/v1/auth/session')
    expect(json).toMatchObject({ type: 'key', scopes: ['attest'], products: null, read_only: false })
    expect(codeOf(await keys.send({ key: 'svc_test_x' }, '/v1/auth/session'))).toEqual([401, 'invalid_api_key'])
  })

  it('tells a session its user, and the environment that the request names', async () => {
    const holder = await keys.makeHolder()
    const { userId, headers } = await keys.service.signIn(holder.accountId, { role: 'analyst' })
    const { json } = await keys.send({}, '/v1/auth/session', { headers: { ...headers, 'Service-Environment': 'live' } })
    expect(json).toMatchObject({
      type: 'session',
      environment: 'live',
      api_key_id: null,
      scopes: null,
      read_only: false,
      session: { user: { user_id: userId }, role: 'analyst', csrf_token: expect.any(String) },
    })
  })
})
