// Refused acts and failed sign-ins, as an account reads them in its audit log.

import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { createRefusalAudit } from '#src/account/audit/refusals.ts'
import { newId } from '#src/platform/ids.ts'
import { createLog } from '#src/platform/log.ts'
import { makeAccount } from '../../support/database.ts'
import type { TestAnswer } from '../../support/http.ts'
import { until } from '../../support/until.ts'
import { startLoginService } from '../login/service.ts'
import { startTeamService, type TeamService } from '../team/service.ts'

let service: TeamService
beforeAll(async () => {
  service = await startTeamService()
})
afterAll(() => service?.close())

interface Entry {
  action: string
  environment: string | null
  actor: { type: string; id: string; label: string | null }
  from: { ip: string | null; user_agent: string | null }
  request_id: string | null
  after: Record<string, unknown>
}

async function refusalsOf(owner: Record<string, string>, action = 'act.refused'): Promise<Entry[]> {
  const { status, json } = await service.send(owner, 'GET', `/v1/account/audit?limit=100&action=${action}`)
  expect(status).toBe(200)
  return json.data as Entry[]
}

const silent = createLog({ process: 'test', level: 'silent' })

describe('a refused act', () => {
  it('is an entry with its principal, route and code', async () => {
    const { accountId, owner, ownerId } = await service.makeTeam()
    const { headers: analyst, userId } = await service.signIn(accountId, { role: 'analyst' })
    const { key, id: keyId } = await service.makeKey(accountId)
    const { key: narrow, id: narrowId } = await service.makeKey(accountId, { scopes: ['verify'] })
    const { key: elsewhere, id: elsewhereId } = await service.makeKey(accountId, { ipAllow: ['203.0.113.7'] })
    const bearer = (raw: string) => ({ Authorization: `Bearer ${raw}` })
    const { 'X-CSRF-Token': _token, ...forged } = owner
    await service.test.owner(
      `UPDATE user_sessions SET created_at = created_at - interval '10 minutes' WHERE account_id = $1 AND user_id = $2`,
      [accountId, ownerId],
    )
    const invite = (headers: Record<string, string>, role: string) =>
      service.send({ 'User-Agent': 'curl/8', ...headers }, 'POST', '/v1/org/users/invite', {
        email: 'a@example.com',
        role,
      })
    const tried: [TestAnswer, string, { type: string; id: string }][] = [
      [await invite(analyst, 'analyst'), 'insufficient_role', { type: 'user', id: userId }],
      [await invite(bearer(key), 'owner'), 'session_required', { type: 'key', id: keyId }],
      [await invite(bearer(narrow), 'analyst'), 'insufficient_scope', { type: 'key', id: narrowId }],
      [await invite(bearer(elsewhere), 'analyst'), 'ip_not_allowed', { type: 'key', id: elsewhereId }],
      [await invite(forged, 'analyst'), 'csrf_token_invalid', { type: 'user', id: ownerId }],
      [await invite(owner, 'owner'), 'session_required', { type: 'user', id: ownerId }],
    ]
    expect(tried.map(([{ json }]) => json.code)).toEqual(tried.map(([, code]) => code))
    const entries = await refusalsOf(owner)
    expect(entries.toReversed()).toMatchObject(
      tried.map(([{ headers }, code, actor]) => ({
        actor,
        environment: null,
        from: { ip: '127.0.0.1', user_agent: 'curl/8' },
        request_id: headers['request-id'],
        after: { act: 'user.invited', route: 'POST /v1/org/users/invite', code },
      })),
    )
  })

  it('is one of an environment where its route is, and one of the account after a downgrade', async () => {
    const { accountId, owner } = await service.makeTeam()
    const { key } = await service.makeKey(accountId, { scopes: ['attest'] })
    const path = `/v1/media/${newId('med', 'live')}`
    const { json } = await service.send({ Authorization: `Bearer ${key}` }, 'GET', path)
    expect(json.code).toBe('insufficient_scope')
    await service.test.owner(`UPDATE accounts SET plan = 'growth' WHERE id = $1`, [accountId])
    expect((await service.invite(owner, service.newAddress())).json.code).toBe('plan_required')
    expect(await refusalsOf(owner)).toMatchObject([
      { environment: null, after: { act: 'user.invited', code: 'plan_required' } },
      { environment: 'live', after: { act: 'media.read', route: 'GET /v1/media/:id', code: 'insufficient_scope' } },
    ])
  })

  it('is none where the request is wrong, the act is not recorded, the account is closed, or anybody has the key', async () => {
    const { accountId, owner } = await service.makeTeam()
    const { headers: analyst } = await service.signIn(accountId, { role: 'analyst' })
    const shared = service.addKey({ accountId, isAccountBearing: false, environment: 'live' })
    const codes = [
      await service.invite(owner, 'no address'),
      await service.send(owner, 'DELETE', '/v1/org/users/usr_01m7x7ennfe7dsmvdzwjp06y9w'),
      await service.send(analyst, 'GET', '/v1/account/keys'),
      await service.invite({ Authorization: `Bearer ${shared}` }, service.newAddress()),
      await service.invite({ Authorization: 'Bearer svc_live_unknown' }, service.newAddress()),
      await service.invite({}, service.newAddress()),
    ].map(({ json }) => json.code)
    expect(codes).toEqual([
      'invalid_request',
      'not_found',
      'insufficient_role',
      'account_key_required',
      'invalid_api_key',
      'authentication_required',
    ])
    await service.send(owner, 'POST', '/v1/account/closure', { confirm: accountId })
    expect((await service.invite(owner, service.newAddress())).json.code).toBe('account_suspended')
    expect(await refusalsOf(owner)).toEqual([])
  })

  it('that is tried again and again fills no log: the tenth is the last entry, and the others are counted in one', async () => {
    const { accountId, owner } = await service.makeTeam()
    const { headers: analyst, userId, sessionId } = await service.signIn(accountId, { role: 'analyst' })
    const tried = await Promise.all(Array.from({ length: 50 }, () => service.invite(analyst, service.newAddress())))
    expect(new Set(tried.map(({ json }) => json.code))).toEqual(new Set(['insufficient_role']))
    expect(await refusalsOf(owner)).toHaveLength(10)

    const refusals = createRefusalAudit({ db: service.test.db, now: () => new Date(), log: silent, windowMs: 300 })
    onTestFinished(() => refusals.close())
    const route = {
      method: 'POST',
      path: '/v1/org/users/invite',
      audits: 'user.invited',
      isAccountLevel: true,
    } as const
    const principal = { kind: 'session', sessionId, userId, role: 'analyst', isSandboxOnly: false } as const
    const refuse = () => refusals.recordAct({ accountId, principal }, route, 'insufficient_role')
    await Promise.all(Array.from({ length: 1_000 }, refuse))
    const counted = async () => (await refusalsOf(owner)).filter(({ after }) => 'refusals' in after)
    await until(async () => (await counted()).length === 1)
    expect(await counted()).toMatchObject([
      { actor: { type: 'user', id: userId }, from: { ip: null }, after: { refusals: 990, since: expect.any(String) } },
    ])
    // A new window begins, and what it counts is not lost when the process ends.
    await Promise.all(Array.from({ length: 12 }, refuse))
    await refusals.close()
    expect((await counted()).map(({ after }) => after.refusals)).toEqual([2, 990])
    expect(await refusalsOf(owner)).toHaveLength(10 + 10 + 1 + 10 + 1)
  })

  it('is answered also where it can’t be recorded', async () => {
    const { accountId } = await makeAccount(service.test)
    const db = { tenant: () => Promise.reject(new Error('Postgres is away')) }
    const refusals = createRefusalAudit({ db, now: () => new Date(), log: silent })
    const principal = { kind: 'key', keyId: newId('key', 'live'), scopes: ['verify'] } as const
    const route = { method: 'POST', path: '/v1/org/users/invite' } as const
    await refusals.recordAct({ accountId, principal }, route, 'insufficient_scope')
  })
})

describe('a failed sign-in', () => {
  it('of a user is an entry: with a link that was used or is too old, and of a user who was removed', async () => {
    const { accountId, owner } = await service.makeTeam()
    const email = service.newAddress()
    const userId = await service.addUser(accountId, { email, role: 'analyst' })
    await service.request(email)
    const used = await service.tokenFor(email)
    expect((await service.use(used)).status).toBe(200)
    const again = await service.use(used, { headers: { 'X-Forwarded-For': '198.51.100.9', 'User-Agent': 'curl/8' } })
    expect(again.json.code).toBe('invalid_request')
    await service.request(email)
    const old = await service.tokenFor(email)
    await service.test.owner(`UPDATE login_links SET expires_at = now() WHERE email = $1`, [email])
    expect((await service.use(old)).status).toBe(400)
    await service.request(email)
    const late = await service.tokenFor(email)
    await service.send(owner, 'DELETE', `/v1/org/users/${userId}`)
    expect((await service.use(late)).status).toBe(400)

    const [removed, expired, first, ...more] = await refusalsOf(owner, 'user.sign_in_refused')
    expect(more).toEqual([])
    const route = 'POST /v1/auth/magic-link/verify'
    expect(first).toMatchObject({
      actor: { type: 'user', id: userId, label: email },
      environment: null,
      from: { ip: '198.51.100.9', user_agent: 'curl/8' },
      request_id: again.headers['request-id'],
      after: { route, code: 'invalid_link', reason: 'link_ended' },
    })
    expect(expired?.after).toEqual({ route, code: 'invalid_link', reason: 'link_ended' })
    expect(removed?.after).toEqual({ route, code: 'invalid_link', reason: 'user_removed' })
  })

  it('of an address without a user, with a token that nobody was sent, or beyond the limit of a network is none', async () => {
    const closed = await startLoginService({ SIGNUP: 'closed' })
    onTestFinished(() => closed.close())
    const email = 'stranger@example.com'
    await closed.request(email)
    await closed.test.owner(`UPDATE login_links SET used_at = now()`)
    for (const token of ['x'.repeat(43), 'short']) expect((await closed.use(token)).status).toBe(400)
    expect(await closed.count('audit_entries')).toBe(0)
  })

  it('of a user whom the allowlist leaves out is an entry', async () => {
    const limited = await startLoginService({ DASHBOARD_LOGIN_ALLOWLIST: '@example.com' })
    onTestFinished(() => limited.close())
    const { accountId } = await makeAccount(limited.test)
    const email = 'ada@example.net'
    const userId = await limited.addUser(accountId, { email })
    await limited.request('ada@example.com')
    const open = await limited.tokenFor('ada@example.com')
    // As where the list was shortened after the mail.
    await limited.test.owner('UPDATE login_links SET email = $1', [email])
    expect((await limited.use(open)).json.code).toBe('beta_access_required')
    const rows = await limited.test.owner('SELECT action, actor_id, after FROM audit_entries WHERE account_id = $1', [
      accountId,
    ])
    expect(rows).toMatchObject([
      {
        action: 'user.sign_in_refused',
        actor_id: userId,
        after: { code: 'beta_access_required', reason: 'address_not_allowed' },
      },
    ])
  })

  it('that is repeated with one link fills no log', async () => {
    const { accountId, owner } = await service.makeTeam()
    const email = service.newAddress()
    await service.addUser(accountId, { email, role: 'analyst' })
    await service.request(email)
    const token = await service.tokenFor(email)
    expect((await service.use(token)).status).toBe(200)
    for (let at = 0; at < 15; at += 1) expect((await service.use(token)).status).toBe(400)
    expect(await refusalsOf(owner, 'user.sign_in_refused')).toHaveLength(10)
  })
})
