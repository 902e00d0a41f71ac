import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { makeRawKey } from '#src/account/keys/format.ts'
import type { NewKey } from '#src/account/keys/new-key.ts'
import { newId } from '#src/platform/ids.ts'
import { makeAccount } from '../../support/database.ts'
import { call, startApp, type TestApp } from '../../support/http.ts'
import { routesOf } from '../../support/services.ts'
import { codeOf, KEYS, type KeyHolder, type KeysService, startKeysService } from './service.ts'

const NOW = new Date('2026-11-20T12:00:00.000Z')
let keys: KeysService
/** Behind a proxy at 127.0.0.1 that the operator trusts. */
let behindProxy: TestApp

beforeAll(async () => {
  keys = await startKeysService({ now: NOW })
  const { services, clock } = keys.service
  behindProxy = await startApp(routesOf(services), {
    findKey: services.account.keys.find,
    now: () => clock.now,
    trustedProxies: ['127.0.0.0/8', '10.0.0.0/8'],
  })
})
afterAll(async () => {
  await behindProxy.close()
  await keys.close()
})

async function lastUseOf(id: string): Promise<string | undefined> {
  await keys.service.services.account.keys.settle()
  const [row] = await keys.service.test.owner<{ last_used_at: Date | null }>(
    'SELECT last_used_at FROM api_keys WHERE id = $1',
    [id],
  )
  return row?.last_used_at?.toISOString()
}

it('a refused key is named by its id in the line of its refusal, where it is known', async () => {
  const [revoked, expired, elsewhere] = [
    await keys.makeHolder(),
    await keys.makeHolder({ expiresAt: new Date(NOW.getTime() + 1_000) }),
    await keys.makeHolder({ ipAllow: ['203.0.113.7'] }),
  ]
  await keys.service.services.account.keys.revoke(revoked, revoked.id)
  keys.service.clock.now = new Date(NOW.getTime() + 2_000)
  const { logged } = keys.service.app
  for (const [holder, code] of [
    [revoked, 'api_key_revoked'],
    [expired, 'api_key_expired'],
    [elsewhere, 'ip_not_allowed'],
  ] as const) {
    expect((await holder.ask('')).json.code).toBe(code)
    const line = logged.findLast(({ msg }) => msg === 'request refused')
    expect(line).toMatchObject({ code, key: holder.id, account: holder.accountId })
    expect(JSON.stringify(line)).not.toContain(holder.key)
  }
  await keys.send({ key: makeRawKey('sandbox') }, KEYS)
  expect(logged.findLast(({ msg }) => msg === 'request refused')).not.toHaveProperty('key')
  keys.service.clock.now = NOW
})

describe('a key with ip_allow', () => {
  const from = (app: { port: number }, { key }: KeyHolder, forwarded?: string) =>
    call(app, KEYS, { key, headers: forwarded === undefined ? {} : { 'X-Forwarded-For': forwarded } })

  it('is accepted from its addresses, refused from others, and then counts as not used', async () => {
    const here = await keys.makeHolder({ ipAllow: ['203.0.113.0/24', '127.0.0.1'] })
    const elsewhere = await keys.makeHolder({ ipAllow: ['203.0.113.7', '2001:db8::/32'] })
    expect((await from(keys.service.app, here)).status).toBe(200)
    const refused = await from(keys.service.app, elsewhere)
    expect(codeOf(refused)).toEqual([403, 'ip_not_allowed'])
    expect(refused.json.detail).toContain('127.0.0.1')
    expect(refused.headers['www-authenticate']).toBeUndefined()
    expect([await lastUseOf(here.id), await lastUseOf(elsewhere.id)]).toEqual([NOW.toISOString(), undefined])
  })

  it('is refused before anything is said about environment, scope and body', async () => {
    const key = await keys.makeHolder({ ipAllow: ['203.0.113.7'], scopes: ['verify'] })
    expect(codeOf(await key.ask(`/${newId('key', 'live')}`))).toEqual([403, 'ip_not_allowed'])
    expect(codeOf(await key.create({ nonsense: 1 }))).toEqual([403, 'ip_not_allowed'])
    await keys.service.services.account.keys.revoke(key, key.id)
    expect(codeOf(await key.ask(''))).toEqual([401, 'api_key_revoked'])
  })

  it('ignores the X-Forwarded-For of a peer that is no trusted proxy', async () => {
    const key = await keys.makeHolder({ ipAllow: ['203.0.113.7'] })
    for (const forged of ['203.0.113.7', '203.0.113.7, 203.0.113.7', '203.0.113.7, 127.0.0.1']) {
      expect(codeOf(await from(keys.service.app, key, forged))).toEqual([403, 'ip_not_allowed'])
    }
    const local = await keys.makeHolder({ ipAllow: ['127.0.0.1'] })
    expect((await from(keys.service.app, local, '203.0.113.7')).status).toBe(200)
  })

  it.each<[string, string | undefined, number]>([
    ['the address that the proxy saw', '203.0.113.7', 200],
    ['the same, mapped to IPv6', '::ffff:203.0.113.7', 200],
    ['an IPv6 address of the list', '2001:db8:1::9', 200],
    ['an address behind two trusted proxies', '203.0.113.7, 10.1.2.3', 200],
    ['another address', '203.0.113.8', 403],
    ['a forged address before the one that the proxy saw', '203.0.113.7, 198.51.100.9', 403],
    ['a forged address behind two proxies', '203.0.113.7, 198.51.100.9, 10.1.2.3', 403],
    ['no address', undefined, 403],
    ['something that is none', '203.0.113.7, unknown', 403],
  ])('behind a trusted proxy counts %s', async (_what, forwarded, status) => {
    const key = await keys.makeHolder({ ipAllow: ['203.0.113.7', '2001:db8::/32'] })
    expect((await from(behindProxy, key, forwarded)).status).toBe(status)
  })
})

describe('the codes of keys, by rows of the database', () => {
  it.each<[string, number, string | undefined, Partial<NewKey> & { environment?: 'live' }]>([
    ['a valid key', 200, undefined, {}],
    ['a revoked key', 401, 'api_key_revoked', {}],
    ['an expired key', 401, 'api_key_expired', { expiresAt: new Date(NOW.getTime() + 1_000) }],
    ['a key without the scope', 403, 'insufficient_scope', { scopes: ['verify', 'attest'] }],
    ['a publishable key', 403, 'account_key_required', { isAccountBearing: false }],
    ['a key of the other environment', 403, 'environment_mismatch', { environment: 'live' }],
    ['a key for other addresses', 403, 'ip_not_allowed', { ipAllow: ['192.0.2.1'] }],
  ])('%s is %i %s', async (name, status, code, wanted) => {
    const holder = await keys.makeHolder(wanted)
    if (name.includes('revoked')) await keys.service.services.account.keys.revoke(holder, holder.id)
    if (name.includes('expired')) keys.service.clock.now = new Date(NOW.getTime() + 1_000)
    const path = name.includes('environment') ? `/${newId('key', 'sandbox')}` : ''
    for (const headers of [{ Authorization: `Bearer ${holder.key}` }, { 'X-API-Key': holder.key }]) {
      const { json, ...answer } = await call(keys.service.app, KEYS + path, { headers })
      expect([answer.status, json.code]).toEqual([status, code])
      expect(answer.headers['www-authenticate']).toBe(status === 401 ? 'Bearer' : undefined)
    }
    keys.service.clock.now = NOW
  })

  it('no key, an unknown one and two different ones are told apart', async () => {
    const holder = await keys.makeHolder()
    const other = await keys.makeHolder()
    const last = holder.key.endsWith('0') ? '1' : '0'
    for (const [headers, ...expected] of [
      [{}, 401, 'authentication_required'],
      [{ 'X-API-Key': makeRawKey('sandbox') }, 401, 'invalid_api_key'],
      [{ 'X-API-Key': makeRawKey('live') }, 401, 'invalid_api_key'],
      [{ 'X-API-Key': holder.key.slice(0, -1) + last }, 401, 'invalid_api_key'],
      [{ 'X-API-Key': holder.key.replace('svc_test_', 'svc_live_') }, 401, 'invalid_api_key'],
      [{ 'X-API-Key': holder.key, Authorization: `Bearer ${other.key}` }, 400, 'invalid_request'],
      [{ 'X-API-Key': holder.key, Authorization: `Bearer ${holder.key}` }, 200, undefined],
    ] as const) {
      expect(codeOf(await call(keys.service.app, KEYS, { headers }))).toEqual(expected)
    }
  })

  it('expiry takes effect at its moment', async () => {
    const holder = await keys.makeHolder({ expiresAt: new Date(NOW.getTime() + 1_000) })
    keys.service.clock.now = new Date(NOW.getTime() + 999)
    expect((await holder.ask('')).json.data).toMatchObject([{ status: 'active' }])
    keys.service.clock.now = new Date(NOW.getTime() + 1_000)
    expect(codeOf(await holder.ask(''))).toEqual([401, 'api_key_expired'])
    keys.service.clock.now = NOW
  })

  it('the last use is written at most once a minute', async () => {
    const holder = await keys.makeHolder()
    const at = async (ms: number) => {
      keys.service.clock.now = new Date(NOW.getTime() + ms)
      await holder.ask('')
      return lastUseOf(holder.id)
    }
    expect(await at(0)).toBe('2026-11-20T12:00:00.000Z')
    expect(await at(59_999)).toBe('2026-11-20T12:00:00.000Z')
    expect(await at(60_000)).toBe('2026-11-20T12:01:00.000Z')
    keys.service.clock.now = NOW
  })
})

describe('the raw key', () => {
  it('is in no column of any table and in no line of the log, after it was made, used, replayed and rotated', async () => {
    const scope = await makeAccount(keys.service.test)
    const user = await keys.signIn(scope, 'owner')
    const once = (name: string) => ({ 'Idempotency-Key': `secret-${name}` })
    const made = (await user.create({ scopes: ['all'] }, once('create'))).json
    await user.create({ scopes: ['all'] }, once('create'))
    const holder = { key: String(made.key) }
    await keys.send(holder, KEYS)
    await keys.send(holder, `/v1/claims?reference=${made.key}&no_such=1`)
    await keys.send(holder, KEYS, { json: { name: 'second', scopes: ['verify'] }, headers: once('second') })
    const rotated = await keys.send(holder, `${KEYS}/${made.api_key_id}/rotate`, {
      method: 'POST',
      headers: once('rotate'),
    })
    await keys.send(holder, `${KEYS}/${made.api_key_id}/rotate`, { method: 'POST', headers: once('rotate') })
    await user.ask(`/${made.api_key_id}`, { method: 'DELETE' })
    await keys.send(holder, KEYS)
    await keys.service.services.account.keys.settle()

    const secrets = [made.key, rotated.json.key].map(String)
    expect(secrets.every((secret) => /^svc_test_/.test(secret))).toBe(true)
    const tables = await keys.service.test.owner<{ name: string }>(
      `SELECT quote_ident(relname) AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')`,
    )
    const dump: string[] = []
    for (const { name } of tables) {
      const rows = await keys.service.test.owner<{ row: string }>(`SELECT one::text AS row FROM ${name} AS one`)
      dump.push(...rows.map(({ row }) => row))
    }
    const stored = dump.join('\n')
    expect(stored).toContain(String(made.api_key_id))
    const logged = JSON.stringify(keys.service.app.logged)
    expect(logged).toContain(scope.accountId)
    for (const secret of secrets) {
      // 14 characters of the random part: a shortened key counts too.
      for (const part of [secret.slice(9, 23), secret.slice(21, 35)]) {
        expect(stored).not.toContain(part)
        expect(stored).not.toContain(Buffer.from(part).toString('hex'))
        expect(stored).not.toContain(Buffer.from(part).toString('base64').slice(2, -4))
        expect(logged).not.toContain(part)
      }
    }
  })
})
