import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { MAX_ACTIVE_KEYS, MAX_ROTATING_KEYS } from '#src/account/keys/administration.ts'
import { KEY_SCOPES, ROLES, type Role } from '#src/catalogue/access.ts'
import type { Environment } from '#src/platform/ids.ts'
import { newId } from '#src/platform/ids.ts'
import { makeAccount } from '../../support/database.ts'
import type { TestAnswer } from '../../support/http.ts'
import { codeOf, findings, type KeysService, startKeysService } from './service.ts'

const NOW = new Date('2026-11-20T12:00:00.000Z')
const IN_A_DAY = '2026-11-21T12:00:00.000Z'
let keys: KeysService

beforeAll(async () => {
  keys = await startKeysService({ now: NOW })
})
afterAll(() => keys.close())

const listed = ({ json }: TestAnswer) => json.data as Record<string, unknown>[]

describe('creating a key', () => {
  it('answers the raw key, which works at once and which no other answer shows', async () => {
    const holder = await keys.makeHolder()
    const made = await holder.create({
      name: 'intake',
      scopes: ['attest', 'verify', 'attest'],
      expires_at: '2026-11-21T13:00:00+01:00',
      ip_allow: ['127.0.0.1', '10.0.0.0/8', '2001:DB8:0::/32', '10.0.0.0/8'],
    })
    expect(made.status).toBe(200)
    const { key, ...shown } = made.json
    expect(key).toMatch(/^svc_test_[0-9A-Za-z]{32}$/)
    expect(shown).toEqual({
      api_key_id: expect.stringMatching(/^key_test_/),
      name: 'intake',
      prefix: 'svc_test',
      last4: String(key).slice(-4),
      scopes: ['attest', 'verify'],
      environment: 'sandbox',
      plan: 'enterprise',
      status: 'active',
      created_at: NOW.toISOString(),
      created_by: { type: 'key', id: holder.id, label: 'holder' },
      expires_at: IN_A_DAY,
      revoked_at: null,
      last_used_at: null,
      grace_expires_at: null,
      ip_allow: ['127.0.0.1', '10.0.0.0/8', '2001:db8::/32'],
      products: null,
      read_only: false,
      replaced_by_api_key_id: null,
      replaces_api_key_id: null,
      version: 1,
    })
    expect((await holder.ask(`/${shown.api_key_id}`)).json).toEqual(shown)
    expect((await keys.send({ key: String(key) }, '/v1/claims')).status).toBe(200)
    expect(await keys.audits(shown.api_key_id)).toEqual([
      {
        action: 'key.created',
        actor_kind: 'key',
        actor_id: holder.id,
        environment: 'sandbox',
        before: null,
        after: {
          name: 'intake',
          scopes: ['attest', 'verify'],
          prefix: 'svc_test',
          last4: shown.last4,
          expires_at: IN_A_DAY,
          ip_allow: shown.ip_allow,
          products: null,
          read_only: false,
        },
      },
    ])
  })

  it('repeated with its Idempotency-Key shows the same key without its secret', async () => {
    const holder = await keys.makeHolder()
    const repeated = { 'Idempotency-Key': 'create-1' }
    const made = await holder.create({ name: 'once' }, repeated)
    const replay = await holder.create({ name: 'once' }, repeated)
    const { key, ...shown } = made.json
    expect(key).toBeDefined()
    expect(replay.headers['idempotent-replayed']).toBe('true')
    expect(replay.json).toEqual({ ...shown, secret_shown: false })
    expect(codeOf(await holder.create({ name: 'other' }, repeated))).toEqual([422, 'idempotency_key_reused'])
    expect(
      listed(await holder.ask(''))
        .map(({ name }) => name)
        .sort(),
    ).toEqual(['holder', 'once'])
    expect(await keys.audits(shown.api_key_id)).toHaveLength(1)

    // A session chooses the environment in the body: there its Idempotency-Key belongs.
    const owner = await keys.signIn(holder, 'owner')
    const inLive = { name: 'live once', environment: 'live' }
    const first = await owner.create(inLive, repeated)
    const again = await owner.create(inLive, repeated)
    expect([again.status, again.json.api_key_id, again.json.secret_shown]).toEqual([200, first.json.api_key_id, false])
    expect(first.json.api_key_id).toMatch(/^key_live_/)
  })

  it.each<[Record<string, unknown>, string]>([
    [{ name: '' }, '/name too_short'],
    [{ name: ' ' }, '/name out_of_range'],
    [{ name: '\u200b\u2060' }, '/name out_of_range'],
    [{ name: 'x'.repeat(201) }, '/name too_long'],
    [{ name: 'a\0' }, '/name invalid_character'],
    [{ scopes: [] }, '/scopes too_few'],
    [{ scopes: ['verify', 'root'] }, '/scopes/1 invalid_value'],
    [{ environment: 'production' }, '/environment invalid_value'],
    [{ expires_at: 'tomorrow' }, '/expires_at invalid_format'],
    [{ expires_at: NOW.toISOString() }, '/expires_at out_of_range'],
    [{ ip_allow: [] }, '/ip_allow too_few'],
    [{ ip_allow: Array.from({ length: 51 }, (_, index) => `10.0.0.${index}`) }, '/ip_allow too_many'],
    [{ ip_allow: ['10.0.0.1', 'example.com'] }, '/ip_allow/1 invalid_format'],
    [{ ip_allow: ['10.1.2.3/8'] }, '/ip_allow/0 invalid_format'],
    [{ ip_allow: ['10.0.0.0/33'] }, '/ip_allow/0 invalid_format'],
    [{ ip_allow: ['010.0.0.1'] }, '/ip_allow/0 invalid_format'],
    [{ ip_allow: ['::ffff:10.0.0.0/104'] }, '/ip_allow/0 invalid_format'],
    [{ ip_allow: ['fe80::1%eth0'] }, '/ip_allow/0 invalid_format'],
    [{ plan: 'enterprise' }, '/plan unknown_field'],
  ])('refuses %j', async (json, finding) => {
    const holder = await keys.makeHolder()
    expect(findings(await holder.create(json))).toEqual([400, 'invalid_request', finding])
    expect(
      await keys.service.test.owner('SELECT 1 FROM api_keys WHERE account_id = $1', [holder.accountId]),
    ).toHaveLength(1)
  })

  it(`refuses more than ${MAX_ACTIVE_KEYS} active keys in an environment, revoked and expired ones not counted`, async () => {
    const holder = await keys.makeHolder()
    await keys.service.test.owner(
      `INSERT INTO api_keys (account_id, environment, id, name, hash, prefix, last4, scopes, created_by, revoked_at,
         expires_at)
       SELECT $1, 'sandbox', 'key_test_' || n, 'k', sha256(convert_to($1 || n, 'UTF8')), 'svc_test', '4', '{verify}', 'operator',
         CASE WHEN n > 400 THEN now() END, CASE WHEN n BETWEEN 201 AND 400 THEN '2026-11-20T11:00:00Z'::timestamptz END
       FROM generate_series(2, 600) AS n`,
      [holder.accountId],
    )
    expect(codeOf(await holder.create())).toEqual([409, 'limit_reached'])
    expect((await holder.post(`/${holder.id}/rotate`, { grace_period_seconds: 60 })).status).toBe(200)
    expect((await holder.ask('/key_test_2', { method: 'DELETE' })).status).toBe(404)
    await keys.service.test.owner(`UPDATE api_keys SET revoked_at = now() WHERE id = 'key_test_2'`)
    expect((await holder.create()).status).toBe(200)
    expect(codeOf(await holder.create())).toEqual([409, 'limit_reached'])
  })

  it(`rotates while fewer than ${MAX_ROTATING_KEYS} rotated keys still work, and always without a grace period`, async () => {
    const holder = await keys.makeHolder()
    const fresh = (await holder.create()).json
    await keys.service.test.owner(
      `INSERT INTO api_keys (account_id, environment, id, name, hash, prefix, last4, scopes, created_by, successor_id,
         grace_expires_at)
       SELECT $1, 'sandbox', 'key_test_r' || n, 'k', sha256(convert_to($1 || n, 'UTF8')), 'svc_test', '4', '{verify}', 'operator',
         CASE WHEN n = 1 THEN $2 ELSE 'key_test_r' || n - 1 END,
         '2026-11-20T12:00:00Z'::timestamptz + CASE WHEN n <= 200 THEN interval '1 hour' ELSE -interval '1 hour' END
       FROM generate_series(1, 300) AS n`,
      [holder.accountId, holder.id],
    )
    expect(codeOf(await holder.post(`/${fresh.api_key_id}/rotate`, { grace_period_seconds: 60 }))).toEqual([
      409,
      'limit_reached',
    ])
    const atOnce = await holder.post(`/${fresh.api_key_id}/rotate`, { grace_period_seconds: 0 })
    expect(atOnce.status).toBe(200)
    await keys.service.test.owner(`UPDATE api_keys SET revoked_at = now() WHERE id = 'key_test_r1'`)
    expect((await holder.post(`/${atOnce.json.api_key_id}/rotate`, { grace_period_seconds: 60 })).status).toBe(200)
  })
})

describe('a key that creates a key', () => {
  it('gives no environment but its own, and `all` in the sandbox only', async () => {
    const sandbox = await keys.makeHolder()
    expect(codeOf(await sandbox.create({ environment: 'live' }))).toEqual([403, 'environment_mismatch'])
    expect((await sandbox.create({ environment: 'sandbox', scopes: ['all'] })).status).toBe(200)
    const live = await keys.makeHolder({ environment: 'live' })
    expect(codeOf(await live.create({ environment: 'sandbox' }))).toEqual([403, 'environment_mismatch'])
    expect(findings(await live.create({ scopes: ['all'] }))).toEqual([
      400,
      'invalid_request',
      '/scopes/0 invalid_value',
    ])
  })

  it('gives no scope that it lacks', async () => {
    const holder = await keys.makeHolder({ environment: 'live', scopes: ['admin', 'verify'] })
    for (const scope of KEY_SCOPES) {
      const made = await holder.create({ scopes: ['admin', scope] })
      if (scope === 'admin' || scope === 'verify') expect([scope, made.status]).toEqual([scope, 200])
      else {
        expect(findings(made)).toEqual([403, 'insufficient_scope', '/scopes/1 insufficient_scope'])
        expect(made.json.required_scope).toBe(scope)
      }
    }
    const named = await keys.makeHolder({ scopes: KEY_SCOPES })
    expect(codeOf(await named.create({ scopes: ['all'] }))).toEqual([403, 'insufficient_scope'])
  })

  it('gives no longer life and no more addresses than its own, and its own where none are named', async () => {
    const holder = await keys.makeHolder({ expiresAt: new Date(IN_A_DAY), ipAllow: ['127.0.0.0/8', '2001:db8::/32'] })
    const inherited = await holder.create()
    expect(inherited.json).toMatchObject({ expires_at: IN_A_DAY, ip_allow: ['127.0.0.0/8', '2001:db8::/32'] })
    const narrower = await holder.create({
      expires_at: '2026-11-20T13:00:00Z',
      ip_allow: ['127.0.0.1', '2001:db8:1::/48'],
    })
    expect(narrower.status).toBe(200)
    expect(findings(await holder.create({ expires_at: '2026-11-21T12:00:00.001Z' }))).toEqual([
      403,
      'role_limit',
      '/expires_at role_limit',
    ])
    for (const range of ['126.0.0.0/7', '0.0.0.0/0', '128.0.0.1', '::/0', '2001:db8::/31', '::1']) {
      expect([range, ...findings(await holder.create({ ip_allow: ['127.0.0.1', range] }))]).toEqual([
        range,
        403,
        'role_limit',
        '/ip_allow role_limit',
      ])
    }
  })
})

describe('a user who creates a key', () => {
  it.each<[Role, Environment, readonly string[]]>([
    ['owner', 'sandbox', [...KEY_SCOPES, 'all']],
    ['owner', 'live', KEY_SCOPES],
    ['admin', 'sandbox', [...KEY_SCOPES, 'all']],
    ['admin', 'live', KEY_SCOPES],
    ['developer', 'sandbox', [...KEY_SCOPES, 'all']],
    ['developer', 'live', ['verify', 'attest', 'intent', 'screen']],
  ])('with the role %s gives in %s exactly the scopes of the role', async (role, environment, given) => {
    const scope = await makeAccount(keys.service.test)
    // The header names the sandbox; the body chooses.
    const user = await keys.signIn(scope, role)
    for (const name of [...KEY_SCOPES, 'all']) {
      const made = await user.create({ scopes: [name], environment })
      if (given.includes(name)) {
        expect([name, made.status, made.json.environment]).toEqual([name, 200, environment])
        expect(made.json.created_by).toMatchObject({ type: 'user', id: user.id })
      } else if (name === 'all') expect(codeOf(made)).toEqual([400, 'invalid_request'])
      else expect(findings(made)).toEqual([403, 'role_limit', '/scopes/0 role_limit'])
    }
    const inHeader = await user.create({}, { 'Service-Environment': environment })
    expect(inHeader.json.environment).toBe(environment)
  })

  it('with another role, or by an echoed link for live, gives none', async () => {
    const scope = await makeAccount(keys.service.test)
    for (const role of ROLES.filter((one) => one === 'approver' || one === 'analyst')) {
      const user = await keys.signIn(scope, role)
      expect(codeOf(await user.create())).toEqual([403, 'insufficient_role'])
      expect(codeOf(await user.ask(''))).toEqual([403, 'insufficient_role'])
    }
    const echoed = await keys.signIn(scope, 'owner', true)
    expect(codeOf(await echoed.create({ environment: 'live' }))).toEqual([403, 'environment_mismatch'])
    expect(codeOf(await echoed.create({}, { 'Service-Environment': 'live' }))).toEqual([403, 'environment_mismatch'])
    expect((await echoed.create({ scopes: ['all'] })).status).toBe(200)
  })

  it('as a developer sees and changes only keys of their own', async () => {
    const holder = await keys.makeHolder()
    const developer = await keys.signIn(holder, 'developer')
    const own = String((await developer.create({ name: 'own' })).json.api_key_id)
    expect(listed(await developer.ask('?include=total_count')).map((key) => key.api_key_id)).toEqual([own])
    expect((await developer.ask('?include=total_count')).json.total_count).toBe(1)
    for (const [path, method] of [
      ['', 'GET'],
      ['', 'DELETE'],
      ['/revoke', 'POST'],
      ['/rotate', 'POST'],
    ] as const) {
      expect([path, ...codeOf(await developer.ask(`/${holder.id}${path}`, { method }))]).toEqual([
        path,
        404,
        'not_found',
      ])
    }
    const rotated = await developer.post(`/${own}/rotate`)
    expect(rotated.json.created_by).toMatchObject({ type: 'user', id: developer.id })
    expect(listed(await developer.ask(''))).toHaveLength(2)
    const admin = await keys.signIn(holder, 'admin')
    expect(listed(await admin.ask(''))).toHaveLength(3)
    expect((await developer.ask(`/${own}`, { method: 'DELETE' })).json.status).toBe('revoked')
  })
})

describe('listing keys', () => {
  it('pages through them, newest first, and filters by status and time', async () => {
    const holder = await keys.makeHolder()
    const made: string[] = [holder.id]
    for (let i = 0; i < 4; i += 1) {
      keys.service.clock.now = new Date(NOW.getTime() + 1_000 * (i + 1))
      made.unshift(String((await holder.create({ expires_at: '2026-11-20T12:10:00Z' })).json.api_key_id))
    }
    const [newest, , third, fourth] = made
    keys.service.clock.now = new Date(NOW.getTime() + 10_000)
    await holder.post(`/${third}/rotate`, { grace_period_seconds: 60 })
    await holder.ask(`/${fourth}`, { method: 'DELETE' })
    const idsOf = async (search: string) => listed(await holder.ask(search)).map((key) => key.api_key_id)
    const successor = (await idsOf(''))[0]
    expect(await idsOf('')).toEqual([successor, ...made])
    expect(await idsOf('?status=active')).toEqual([successor, made[0], made[1], holder.id])
    expect(await idsOf('?status=rotating')).toEqual([third])
    expect(await idsOf('?status=rotating&status=revoked')).toEqual([third, fourth])
    expect(await idsOf('?status=revoked')).toEqual([fourth])
    expect(await idsOf('?created_gte=2026-11-20T12:00:04Z&created_lt=2026-11-20T12:00:05Z')).toEqual([newest])

    const seen: unknown[] = []
    let cursor = ''
    do {
      const page = await holder.ask(`?limit=2&include=total_count${cursor}`)
      expect(page.json.total_count).toBe(6)
      seen.push(...listed(page).map((key) => key.api_key_id))
      cursor = page.json.next_cursor === null ? '' : `&cursor=${page.json.next_cursor}`
    } while (cursor !== '')
    expect(seen).toEqual([successor, ...made])

    keys.service.clock.now = new Date('2026-11-20T12:10:00Z')
    expect(await idsOf('?status=expired')).toEqual([made[0], made[1]])
    expect(await idsOf('?status=rotating')).toEqual([])
    expect(await idsOf('?status=revoked')).toEqual([third, fourth])
    keys.service.clock.now = NOW
    expect(findings(await holder.ask('?status=dead'))).toEqual([400, 'invalid_request', '?status invalid_value'])
    const other = await keys.makeHolder()
    expect(listed(await other.ask('')).map((key) => key.api_key_id)).toEqual([other.id])
    expect(codeOf(await other.ask(`/${newest}`))).toEqual([404, 'not_found'])
    expect(codeOf(await other.ask(`/${newId('key', 'live')}`))).toEqual([403, 'environment_mismatch'])
  })
})
