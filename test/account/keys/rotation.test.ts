import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { lockKeys, revokeKey } from '#src/account/keys/rows.ts'
import { createDatabase } from '#src/platform/db/database.ts'
import { createFindEffect } from '#src/platform/http/idempotency.ts'
import { makeAccount } from '../../support/database.ts'
import { call, startApp, type TestAnswer } from '../../support/http.ts'
import { makeServices, routesOf } from '../../support/services.ts'
import { until } from '../../support/until.ts'
import { codeOf, findings, KEYS, type KeysService, startKeysService } from './service.ts'

const NOW = new Date('2026-11-20T12:00:00.000Z')
const DAY_MS = 86_400_000
const MINUTE_MS = 60_000
let keys: KeysService
/** Another process on the same database. */
let other: { port: number; close(): Promise<void> }

beforeAll(async () => {
  keys = await startKeysService({ now: NOW })
  const { test, clock } = keys.service
  const db = createDatabase({ url: test.url })
  const services = makeServices({ db, now: () => clock.now })
  const { find, settle } = services.account.keys
  const deps = { findKey: find, findEffect: createFindEffect(db), now: () => clock.now }
  const app = await startApp(routesOf(services), deps)
  other = {
    port: app.port,
    async close() {
      await app.close()
      await settle()
      await services.close()
      await db.close()
    },
  }
})
afterEach(() => {
  keys.service.clock.now = NOW
})
afterAll(async () => {
  await other.close()
  await keys.close()
})

const later = (ms: number) => new Date(NOW.getTime() + ms)
const predecessorOf = ({ json }: TestAnswer) => json.predecessor as Record<string, unknown>

/** What a raw key is answered by both processes. */
async function useOf(key: unknown): Promise<unknown[]> {
  const answers = [
    await call(keys.service.app, KEYS, { key: String(key) }),
    await call(other, KEYS, { key: String(key) }),
  ]
  return answers.map(({ status, json }) => json.code ?? status)
}

describe('rotating a key', () => {
  it('makes a successor like it; both work until the grace period is over, in every process', async () => {
    const holder = await keys.makeHolder()
    const wanted = { name: 'x', scopes: ['admin', 'verify'], ip_allow: ['127.0.0.1'] }
    const { key: oldKey, ...old } = (await holder.create(wanted)).json
    const rotated = await holder.post(`/${old.api_key_id}/rotate`, { grace_period_seconds: 600 })
    const { key, predecessor, ...successor } = rotated.json
    expect(key).toMatch(/^svc_test_[0-9A-Za-z]{32}$/)
    expect(successor).toEqual({
      ...old,
      api_key_id: expect.stringMatching(/^key_test_/),
      last4: String(key).slice(-4),
      created_by: { type: 'key', id: holder.id, label: 'holder' },
      replaces_api_key_id: old.api_key_id,
    })
    const ends = later(600_000).toISOString()
    expect(predecessor).toEqual({
      ...old,
      status: 'rotating',
      grace_expires_at: ends,
      replaced_by_api_key_id: successor.api_key_id,
    })
    expect(await useOf(oldKey)).toEqual([200, 200])
    expect(await useOf(key)).toEqual([200, 200])
    expect((await keys.audits(old.api_key_id)).at(-1)).toEqual({
      action: 'key.rotated',
      actor_kind: 'key',
      actor_id: holder.id,
      environment: 'sandbox',
      before: { name: 'x', scopes: ['admin', 'verify'], status: 'active' },
      after: {
        status: 'rotating',
        grace_expires_at: ends,
        replaced_by_api_key_id: successor.api_key_id,
        prefix: 'svc_test',
        last4: successor.last4,
        expires_at: null,
      },
    })
    expect(await keys.audits(successor.api_key_id)).toMatchObject([
      { action: 'key.created', after: { replaces_api_key_id: old.api_key_id } },
    ])
    expect((await holder.ask(`/${successor.api_key_id}`)).json).toMatchObject({
      replaces_api_key_id: old.api_key_id,
      replaced_by_api_key_id: null,
    })

    keys.service.clock.now = later(599_999)
    expect(await useOf(oldKey)).toEqual([200, 200])
    keys.service.clock.now = later(600_000)
    expect(await useOf(oldKey)).toEqual(['api_key_revoked', 'api_key_revoked'])
    expect(await useOf(key)).toEqual([200, 200])
    expect((await holder.ask(`/${old.api_key_id}`)).json).toMatchObject({ status: 'revoked', revoked_at: ends })
    // Revoked by then already: nothing changes.
    expect((await holder.ask(`/${old.api_key_id}`, { method: 'DELETE' })).json).toMatchObject({ revoked_at: ends })
    expect(await keys.audits(old.api_key_id)).toHaveLength(2)
  })

  it('grants a day when no period is named, and none at 0', async () => {
    const holder = await keys.makeHolder()
    const [first, second] = [await holder.create(), await holder.create()]
    const slow = await holder.post(`/${first.json.api_key_id}/rotate`)
    expect(predecessorOf(slow).grace_expires_at).toBe(later(DAY_MS).toISOString())
    const atOnce = await holder.post(`/${second.json.api_key_id}/rotate`, { grace_period_seconds: 0 })
    expect(predecessorOf(atOnce)).toMatchObject({ status: 'revoked', revoked_at: NOW.toISOString() })
    expect(await useOf(second.json.key)).toEqual(['api_key_revoked', 'api_key_revoked'])
    for (const seconds of [-1, 0.5, 86_401, '60', null]) {
      const refused = await holder.post(`/${first.json.api_key_id}/rotate`, { grace_period_seconds: seconds })
      expect(codeOf(refused)).toEqual([400, 'invalid_request'])
      expect(refused.json.errors?.[0]?.pointer).toBe('/grace_period_seconds')
    }
  })

  it('repeated with its Idempotency-Key shows both keys without the secret', async () => {
    const holder = await keys.makeHolder()
    const { api_key_id: id } = (await holder.create()).json
    const rotate = () => holder.post(`/${id}/rotate`, undefined, { 'Idempotency-Key': 'rotate-1' })
    const { key, ...shown } = (await rotate()).json
    expect(key).toBeDefined()
    const replay = await rotate()
    expect([replay.status, replay.headers['idempotent-replayed']]).toEqual([200, 'true'])
    expect(replay.json).toEqual({ ...shown, secret_shown: false })
  })

  it('refuses a key that is revoked, expired or rotated already', async () => {
    const holder = await keys.makeHolder()
    const ids: Record<string, string> = {}
    for (const state of ['revoked', 'expired', 'rotating']) {
      ids[state] = String((await holder.create({ expires_at: later(60_000).toISOString() })).json.api_key_id)
    }
    await holder.ask(`/${ids.revoked}`, { method: 'DELETE' })
    await holder.post(`/${ids.rotating}/rotate`, { grace_period_seconds: 30 })
    const rotate = (state: string) => holder.post(`/${ids[state]}/rotate`)
    for (const state of ['revoked', 'rotating']) {
      const { status, json } = await rotate(state)
      expect([status, json.code, json.current_status, json.allowed]).toEqual([
        409,
        'invalid_state_transition',
        state,
        ['active'],
      ])
    }
    keys.service.clock.now = later(60_000)
    expect((await rotate('expired')).json).toMatchObject({
      code: 'invalid_state_transition',
      current_status: 'expired',
    })
    expect((await rotate('rotating')).json).toMatchObject({
      code: 'invalid_state_transition',
      current_status: 'revoked',
    })
  })

  it('takes a key whose name is older than the check of names', async () => {
    const holder = await keys.makeHolder()
    const { api_key_id: id } = (await holder.create()).json
    await keys.service.test.owner('UPDATE api_keys SET name = $2 WHERE id = $1', [id, '\u200b'])
    const rotated = await holder.post(`/${id}/rotate`, { grace_period_seconds: 0 })
    expect(rotated).toMatchObject({ status: 200, json: { name: '\u200b', replaces_api_key_id: id } })
  })

  it('of two rotations at once one succeeds', async () => {
    const holder = await keys.makeHolder()
    for (let round = 0; round < 5; round += 1) {
      const { api_key_id: id } = (await holder.create()).json
      const path = `${KEYS}/${id}/rotate`
      const answers = await Promise.all(
        [keys.service.app, other, keys.service.app, other].map((app) =>
          call(app, path, { method: 'POST', key: holder.key }),
        ),
      )
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409])
      const made = await keys.service.test.owner('SELECT 1 FROM api_keys WHERE successor_id = $1', [
        answers.find(({ status }) => status === 200)?.json.api_key_id,
      ])
      expect(made).toHaveLength(1)
    }
  })

  it('gives the successor the length of life of the old key, and ends the old key no later than it expires', async () => {
    const holder = await keys.makeHolder()
    const user = await keys.signIn(holder, 'owner')
    const { api_key_id: id } = (await holder.create({ expires_at: later(40 * MINUTE_MS).toISOString() })).json
    keys.service.clock.now = later(30 * MINUTE_MS)
    const rotated = await user.post(`/${id}/rotate`)
    expect(rotated.json.expires_at).toBe(later(70 * MINUTE_MS).toISOString())
    expect(predecessorOf(rotated).grace_expires_at).toBe(later(40 * MINUTE_MS).toISOString())
    const forLong = { expires_at: '9999-12-31T23:59:59.999Z' }
    const last = (await holder.create(forLong)).json
    keys.service.clock.now = later(31 * MINUTE_MS)
    expect((await user.post(`/${last.api_key_id}/rotate`)).json).toMatchObject(forLong)
    const beyond = await holder.create({ expires_at: '9999-12-31T23:59:59-12:00' })
    expect(codeOf(beyond)).toEqual([400, 'invalid_request'])
  })
})

describe('what a rotation may grant', () => {
  it('a key that rotates itself keeps its scopes, addresses and end', async () => {
    const own = await keys.makeHolder({ expiresAt: later(DAY_MS), ipAllow: ['127.0.0.1'] })
    keys.service.clock.now = later(DAY_MS / 2)
    const rotated = await own.post(`/${own.id}/rotate`)
    expect(rotated.json).toMatchObject({
      scopes: ['all'],
      expires_at: later(DAY_MS).toISOString(),
      ip_allow: ['127.0.0.1'],
    })
    // In its grace period it makes no key that outlives it.
    const made = await own.create()
    expect(made.json.expires_at).toBe(predecessorOf(rotated).grace_expires_at)
  })

  it('no key is given what the calling key lacks by rotating another', async () => {
    const strong = await keys.makeHolder({ environment: 'live', scopes: ['admin', 'escalate'] })
    const weak = await keys.makeHolder({ in: strong, scopes: ['admin', 'verify'] })
    expect(codeOf(await weak.post(`/${strong.id}/rotate`))).toEqual([403, 'insufficient_scope'])
    const ending = await keys.makeHolder({ in: strong, scopes: ['admin', 'escalate'], expiresAt: later(DAY_MS) })
    expect(findings(await ending.post(`/${strong.id}/rotate`))).toEqual([403, 'role_limit', '/expires_at role_limit'])
    const bound = await keys.makeHolder({ in: strong, scopes: ['admin', 'escalate'], ipAllow: ['127.0.0.1'] })
    expect(codeOf(await bound.post(`/${strong.id}/rotate`))).toEqual([403, 'role_limit'])
    expect((await strong.ask(`/${strong.id}`)).json).toMatchObject({ status: 'active', replaced_by_api_key_id: null })
    expect((await strong.post(`/${weak.id}/rotate`)).json.code).toBe('insufficient_scope')
  })

  it('a developer rotates no live key whose scopes they could not give', async () => {
    const scope = await makeAccount(keys.service.test, { environment: 'live' })
    const developer = await keys.signIn(scope, 'developer')
    const { api_key_id: id } = (await developer.create()).json
    await keys.service.test.owner(`UPDATE api_keys SET scopes = '{verify,admin}' WHERE id = $1`, [id])
    expect(codeOf(await developer.post(`/${id}/rotate`))).toEqual([403, 'role_limit'])
  })
})

describe('revoking a key', () => {
  it('takes effect on the next request in every process, and once', async () => {
    const holder = await keys.makeHolder()
    for (const [path, method] of [
      ['', 'DELETE'],
      ['/revoke', 'POST'],
    ] as const) {
      const { api_key_id: id, key } = (await holder.create({ scopes: ['admin'] })).json
      expect(await useOf(key)).toEqual([200, 200])
      const revoke = (headers = {}) => holder.ask(`/${id}${path}`, { method, headers })
      const revoked = await revoke()
      expect(revoked.json).toMatchObject({
        api_key_id: id,
        status: 'revoked',
        revoked_at: NOW.toISOString(),
        warnings: [],
      })
      expect(await useOf(key)).toEqual(['api_key_revoked', 'api_key_revoked'])
      keys.service.clock.now = later(1_000)
      expect((await revoke()).json).toEqual(revoked.json)
      const withKey = { 'Idempotency-Key': `revoke-${method}` }
      expect((await revoke(withKey)).json).toEqual(revoked.json)
      expect((await revoke(withKey)).headers['idempotent-replayed']).toBe('true')
      keys.service.clock.now = NOW
      expect(await keys.audits(id)).toMatchObject([
        { action: 'key.created' },
        {
          action: 'key.revoked',
          actor_id: holder.id,
          before: { status: 'active' },
          after: { status: 'revoked', revoked_at: NOW.toISOString() },
        },
      ])
    }
  })

  it('warns when no active key with the scope admin or all is left', async () => {
    const holder = await keys.makeHolder()
    const user = await keys.signIn(holder, 'admin')
    const second = (await holder.create({ scopes: ['admin'] })).json
    const reader = (await holder.create({ scopes: ['verify'] })).json
    const warned = async (id: unknown) => {
      const { json } = await user.ask(`/${id}`, { method: 'DELETE' })
      return (json.warnings as { code: string }[]).map(({ code }) => code)
    }
    expect(await warned(reader.api_key_id)).toEqual([])
    expect(await warned(second.api_key_id)).toEqual([])
    // A rotated key does not last: its successor counts.
    const successor = (await holder.post(`/${holder.id}/rotate`)).json
    expect(await warned(successor.api_key_id)).toEqual(['last_admin_key'])
    expect(await warned(holder.id)).toEqual(['last_admin_key'])
    expect(await useOf(holder.key)).toEqual(['api_key_revoked', 'api_key_revoked'])
  })

  it('stops a request of the revoked key that is under way', async () => {
    const holder = await keys.makeHolder()
    const { test } = keys.service
    let creating: Promise<TestAnswer> | undefined
    await test.db.tenant(holder, async (tx) => {
      await lockKeys(tx, holder)
      creating = holder.create()
      await until(async () => {
        const waiting = await test.owner(
          `SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
             AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
        )
        return waiting.length > 0
      })
      await revokeKey(tx, holder.id, NOW)
    })
    expect(codeOf((await creating) as TestAnswer)).toEqual([401, 'api_key_revoked'])
    expect(await test.owner('SELECT 1 FROM api_keys WHERE account_id = $1', [holder.accountId])).toHaveLength(1)
  })
})
