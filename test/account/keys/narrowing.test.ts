// Keys that are narrowed to products, and how much one refusal of a new key says.

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { makeAccount } from '../../support/database.ts'
import { codeOf, findings, type KeysService, startKeysService } from './service.ts'

const NOW = new Date('2026-11-20T12:00:00.000Z')
let keys: KeysService
beforeAll(async () => {
  keys = await startKeysService({ now: NOW })
})
afterAll(() => keys.close())

const claims = (key: unknown) => keys.send({ key: String(key) }, '/v1/claims')

describe('a key that is narrowed to products', () => {
  it('calls the routes of these products, and those of the account, within its scopes', async () => {
    const holder = await keys.makeHolder()
    const own = await holder.create({ scopes: ['verify', 'admin'], products: ['trace', 'attest'] })
    expect(own.json).toMatchObject({ products: ['attest', 'trace'] })
    expect((await claims(own.json.key)).status).toBe(200)

    const { json } = await holder.create({ scopes: ['verify', 'admin'], products: ['trace', 'authorize'] })
    const refused = await claims(json.key)
    expect(codeOf(refused)).toEqual([403, 'insufficient_scope'])
    expect(refused.json).toMatchObject({ required_scope: 'verify', required_products: ['attest'] })
    expect(refused.json.detail).toContain('authorize, trace')
    expect((await keys.send({ key: String(json.key) }, '/v1/webhook-endpoints')).status).toBe(200)
    expect((await holder.ask(`/${json.api_key_id}`)).json.products).toEqual(['authorize', 'trace'])
    expect((await keys.audits(json.api_key_id))[0]).toMatchObject({ after: { products: ['authorize', 'trace'] } })
  })

  it('gives no key that is wider, its own products where none are named, and rotates none that is wider', async () => {
    const all = await keys.makeHolder()
    const narrow = await keys.makeHolder({ in: all, products: ['attest', 'trace'] })
    expect((await narrow.create()).json).toMatchObject({ products: ['attest', 'trace'] })
    expect((await narrow.create({ products: ['trace'] })).json).toMatchObject({ products: ['trace'] })
    const beyond = [403, 'insufficient_scope', '/products insufficient_scope']
    expect(findings(await narrow.create({ products: ['attest', 'authorize'] }))).toEqual(beyond)
    const wide = await all.create({ products: ['attest', 'authorize'] })
    expect(findings(await narrow.post(`/${wide.json.api_key_id}/rotate`))).toEqual(beyond)
    const whole = await all.create()
    expect(whole.json.products).toBeNull()
    expect(findings(await narrow.post(`/${whole.json.api_key_id}/rotate`))).toEqual(beyond)

    const rotated = await all.post(`/${wide.json.api_key_id}/rotate`)
    expect(rotated.json).toMatchObject({ products: ['attest', 'authorize'], replaces_api_key_id: wide.json.api_key_id })
    expect((await narrow.post(`/${narrow.id}/rotate`)).json).toMatchObject({ products: ['attest', 'trace'] })
  })

  it.each([
    [{ products: [] }, '/products too_few'],
    [{ products: ['attest', 'gold'] }, '/products/1 invalid_value'],
  ])('is refused as %j', async (json, finding) => {
    const holder = await keys.makeHolder()
    expect(findings(await holder.create(json))).toEqual([400, 'invalid_request', finding])
  })
})

describe('the refusal of a new key', () => {
  it('names everything that is wrong with the body at once', async () => {
    const holder = await keys.makeHolder()
    const json = {
      name: ' ',
      scopes: ['root'],
      expires_at: '2026-11-20T11:00:00Z',
      ip_allow: ['10.1.2.3/8', '::1', 'example.com'],
      products: ['gold'],
      plan: 'x',
    }
    const { json: answer } = await holder.create(json)
    expect(answer.code).toBe('invalid_request')
    expect(answer.errors?.map(({ pointer }) => pointer).toSorted()).toEqual([
      '/expires_at',
      '/ip_allow/0',
      '/ip_allow/2',
      '/name',
      '/plan',
      '/products/0',
      '/scopes/0',
    ])
  })

  it('names everything that the calling key can not give at once', async () => {
    const holder = await keys.makeHolder({
      scopes: ['admin', 'verify'],
      products: ['attest'],
      expiresAt: new Date('2026-11-21T12:00:00Z'),
      ipAllow: ['127.0.0.1'],
    })
    const wider = {
      scopes: ['verify', 'attest', 'intent'],
      products: ['trace'],
      expires_at: '2026-12-01T00:00:00Z',
      ip_allow: ['127.0.0.0/8', '::1'],
    }
    const answer = await holder.create(wider)
    expect(findings(answer)).toEqual([
      403,
      'insufficient_scope',
      '/scopes/1 insufficient_scope',
      '/scopes/2 insufficient_scope',
      '/products insufficient_scope',
      '/expires_at role_limit',
      '/ip_allow role_limit',
      '/ip_allow role_limit',
    ])
    expect(answer.json.required_scope).toBe('attest')
  })

  it('names what is invalid beside what can not be given, and is a 400 then', async () => {
    const scope = await makeAccount(keys.service.test, { environment: 'live' })
    const developer = await keys.signIn(scope, 'developer')
    expect(findings(await developer.create({ scopes: ['all', 'admin'] }))).toEqual([
      400,
      'invalid_request',
      '/scopes/0 invalid_value',
      '/scopes/1 role_limit',
    ])
  })
})

it('the list of working keys has the active and the rotating ones', async () => {
  const holder = await keys.makeHolder()
  const [active, rotated, revoked] = [await holder.create(), await holder.create(), await holder.create()]
  const { json } = await holder.post(`/${rotated.json.api_key_id}/rotate`)
  await holder.ask(`/${revoked.json.api_key_id}`, { method: 'DELETE' })
  const listed = (await holder.ask('?status=working&include=total_count')).json
  expect(listed.total_count).toBe(4)
  const ids = (listed.data as { api_key_id: string }[]).map((key) => key.api_key_id)
  expect(ids.toSorted()).toEqual(
    [json.api_key_id, active.json.api_key_id, rotated.json.api_key_id, holder.id].map(String).toSorted(),
  )
})
