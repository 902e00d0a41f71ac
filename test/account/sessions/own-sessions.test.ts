import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { purgeSessions } from '#src/account/sessions/rows.ts'
import { makeAccount } from '../../support/database.ts'
import { cookiesOf } from '../../support/http.ts'
import { startTestService, type TestService } from '../../support/service.ts'

const HOUR_MS = 3_600_000
let service: TestService
beforeAll(async () => {
  service = await startTestService()
})
afterAll(() => service.close())

/** Another browser of a user who has signed in. */
async function addBrowser(accountId: string, userId: string) {
  const session = await service.test.db.system('test', (tx) =>
    service.services.account.sessions.create(tx, {
      accountId,
      userId,
      method: 'magic_link',
      origin: { ip: '203.0.113.7', userAgent: 'Another browser' },
    }),
  )
  return { id: session.id, headers: cookiesOf(session, { cookies: service.services.platform.cookies }) }
}
const read = (headers: Record<string, string>, path = '/v1/auth/session') => service.call({}, path, { headers })
const end = (headers: Record<string, string>, path: string) => service.call({}, path, { method: 'DELETE', headers })

describe('a session', () => {
  it('says who is signed in, what they may do, and the CSRF token', async () => {
    const { accountId } = await makeAccount(service.test)
    const { headers, sessionId, userId } = await service.signIn(accountId, {
      role: 'developer',
      email: 'dev@example.com',
    })
    const json = (await read(headers)).json.session as Record<string, unknown>
    expect(json).toMatchObject({
      session_id: sessionId,
      user: { user_id: userId, email: 'dev@example.com' },
      account: { account_id: accountId, plan: 'enterprise' },
      role: 'developer',
      csrf_token: headers['X-CSRF-Token'],
    })
    const { sandbox, live } = json.permissions as { sandbox: string[]; live: string[] }
    expect(sandbox).toContain('claims.submit')
    expect(live).not.toContain('claims.submit')
    expect(live).toContain('session.own')
  })

  it('names only what it may do: by an echoed link, after a downgrade, and of a closed account', async () => {
    const { accountId } = await makeAccount(service.test)
    const permissionsOf = async (headers: Record<string, string>) =>
      ((await read(headers)).json.session as Record<string, unknown>).permissions as {
        sandbox: string[]
        live: string[]
      }
    const [owner, echoed, admin] = [
      await service.signIn(accountId),
      await service.signIn(accountId, { isSandboxOnly: true }),
      await service.signIn(accountId, { role: 'admin' }),
    ]
    expect((await permissionsOf(owner.headers)).live).toEqual(expect.arrayContaining(['plan.write', 'team.write']))
    const shown = await permissionsOf(echoed.headers)
    expect(shown.live).toEqual([])
    expect(shown.sandbox).toEqual(expect.arrayContaining(['claims.submit', 'keys.manage', 'account.read']))
    for (const name of ['plan.write', 'team.write', 'usage.read', 'account.close']) {
      expect(shown.sandbox).not.toContain(name)
    }
    await service.test.owner("UPDATE accounts SET plan = 'growth' WHERE id = $1", [accountId])
    expect(await permissionsOf(admin.headers)).toEqual({ sandbox: ['session.own'], live: ['session.own'] })
    expect((await permissionsOf(owner.headers)).live).toContain('keys.manage')
    await service.test.owner('UPDATE accounts SET closed_at = now() WHERE id = $1', [accountId])
    const { live } = await permissionsOf(owner.headers)
    expect(live).toEqual(expect.arrayContaining(['account.close', 'account.export', 'claims.read']))
    expect(live).not.toContain('keys.manage')
  })

  it('ends after an hour without a request, and after twelve hours whatever is requested', async () => {
    const start = Date.now()
    service.clock.now = new Date(start)
    const { accountId } = await makeAccount(service.test)
    const { headers, sessionId } = await service.signIn(accountId)
    const idle = await service.signIn(accountId)
    const seen = async () =>
      (await service.test.owner('SELECT last_seen_at FROM user_sessions WHERE id = $1', [sessionId]))[0]
    for (let minutes = 50; minutes < 12 * 60; minutes += 50) {
      service.clock.now = new Date(start + minutes * 60_000)
      expect([minutes, (await read(headers)).status]).toEqual([minutes, 200])
      await service.services.account.sessions.settle()
      expect(await seen()).toEqual({ last_seen_at: service.clock.now })
    }
    expect((await read(idle.headers)).json.code).toBe('session_expired')
    service.clock.now = new Date(start + 12 * HOUR_MS)
    expect((await read(headers)).json.code).toBe('session_expired')
    service.clock.now = undefined
  })

  it('is ended by its user: the cookies are cleared, the act is in the audit log, and only once', async () => {
    const { accountId } = await makeAccount(service.test)
    const { headers, sessionId } = await service.signIn(accountId)
    const withoutToken = { Cookie: headers.Cookie ?? '' }
    expect((await end(withoutToken, '/v1/auth/session')).json.code).toBe('csrf_token_invalid')
    const answer = await end(headers, '/v1/auth/session')
    expect(answer).toMatchObject({ status: 200, json: { session_id: sessionId, ended: true } })
    for (const line of answer.headers['set-cookie'] ?? []) expect(line).toMatch(/^svc_(session|csrf)=; .*Max-Age=0/)
    expect((await read(headers)).json.code).toBe('session_expired')
    expect((await end(headers, '/v1/auth/session')).json.code).toBe('session_expired')
    const entries = await service.test.owner(
      'SELECT action, subject_id FROM audit_entries WHERE account_id = $1 ORDER BY id',
      [accountId],
    )
    expect(entries).toEqual([
      // Without the token.
      { action: 'act.refused', subject_id: null },
      { action: 'user.signed_out', subject_id: sessionId },
    ])
  })

  it('is listed with the others of its user alone, page by page', async () => {
    const { accountId } = await makeAccount(service.test)
    const { headers, sessionId, userId } = await service.signIn(accountId)
    await service.signIn(accountId)
    const others = [await addBrowser(accountId, userId), await addBrowser(accountId, userId)]
    const ended = await addBrowser(accountId, userId)
    await end(ended.headers, '/v1/auth/session')
    const first = await read(headers, '/v1/auth/sessions?limit=2')
    expect(first.json).toMatchObject({
      data: [
        { session_id: others[1]?.id, current: false, ip: '203.0.113.7', user_agent: 'Another browser' },
        { session_id: others[0]?.id, current: false },
      ],
      has_more: true,
    })
    expect(first.text).not.toContain('secret')
    const rest = await read(headers, `/v1/auth/sessions?limit=2&cursor=${first.json.next_cursor}`)
    expect(rest.json).toMatchObject({ data: [{ session_id: sessionId, current: true }], has_more: false })
    const stranger = await service.signIn(accountId)
    expect((await read(stranger.headers, `/v1/auth/sessions?cursor=${first.json.next_cursor}`)).status).toBe(400)
  })

  it('is ended from another browser of its user, and not by another user; one request ends all of a user', async () => {
    const { accountId } = await makeAccount(service.test)
    const { headers, userId } = await service.signIn(accountId)
    const [lost, other] = [await addBrowser(accountId, userId), await addBrowser(accountId, userId)]
    const stranger = await service.signIn(accountId)
    expect((await end(stranger.headers, `/v1/auth/sessions/${lost.id}`)).status).toBe(404)
    expect((await read(lost.headers)).status).toBe(200)
    const keyed = { ...headers, 'Idempotency-Key': 'k-1' }
    for (const isReplayed of [undefined, 'true']) {
      const answer = await end(keyed, `/v1/auth/sessions/${lost.id}`)
      expect(answer.status).toBe(200)
      expect(answer.headers['idempotent-replayed']).toBe(isReplayed)
    }
    expect((await read(lost.headers)).json.code).toBe('session_expired')
    expect((await end(headers, '/v1/auth/sessions/uss_none')).status).toBe(404)
    expect((await end(headers, '/v1/auth/sessions')).json).toEqual({ ended: 2 })
    for (const one of [headers, other.headers]) expect((await read(one)).json.code).toBe('session_expired')
    expect((await read(stranger.headers)).status).toBe(200)
  })

  it('is ended once for an Idempotency-Key: a replay from a later session ends none', async () => {
    const { accountId } = await makeAccount(service.test)
    const { headers, userId } = await service.signIn(accountId)
    for (const path of ['/v1/auth/sessions', '/v1/auth/session']) {
      const keyed = { 'Idempotency-Key': `end ${path}`.replace(' ', '-') }
      const [before, after] = [await addBrowser(accountId, userId), await addBrowser(accountId, userId)]
      expect((await end({ ...before.headers, ...keyed }, path)).status).toBe(200)
      const later = path.endsWith('s') ? await addBrowser(accountId, userId) : after
      const replayed = await end({ ...later.headers, ...keyed }, path)
      expect(replayed).toMatchObject({ status: 200, headers: { 'idempotent-replayed': 'true' } })
      expect(replayed.headers).not.toHaveProperty('set-cookie')
      expect((await read(later.headers)).status).toBe(200)
    }
    expect((await read(headers)).json.code).toBe('session_expired')
  })

  it('is signed out once in the audit log, and counted only while it is open', async () => {
    const { accountId } = await makeAccount(service.test)
    const { headers, userId } = await service.signIn(accountId)
    const [lost, idle] = [await addBrowser(accountId, userId), await addBrowser(accountId, userId)]
    await service.test.owner(`UPDATE user_sessions SET last_seen_at = now() - interval '61 minutes' WHERE id = $1`, [
      idle.id,
    ])
    for (let times = 0; times < 2; times += 1) {
      expect((await end(headers, `/v1/auth/sessions/${lost.id}`)).status).toBe(200)
    }
    expect((await end(headers, '/v1/auth/sessions')).json).toEqual({ ended: 1 })
    const entries = await service.test.owner(
      'SELECT subject_id, after FROM audit_entries WHERE account_id = $1 ORDER BY id',
      [accountId],
    )
    expect(entries).toEqual([
      { subject_id: lost.id, after: null },
      { subject_id: userId, after: { sessions: 1 } },
    ])
  })

  it('stays open to users beside the owner after a downgrade, so that they can sign out', async () => {
    const { accountId } = await makeAccount(service.test, { plan: 'growth' })
    const { headers } = await service.signIn(accountId, { role: 'analyst' })
    expect((await read(headers, '/v1/claims')).json.code).toBe('plan_required')
    expect((await read(headers)).json).toMatchObject({ account: { plan: 'growth' } })
    expect((await end(headers, '/v1/auth/session')).status).toBe(200)
  })

  it('gets another secret when its user changes what it may do, and the one before ends', async () => {
    const { accountId } = await makeAccount(service.test)
    const { headers, sessionId, userId } = await service.signIn(accountId)
    const { ownSessions } = service.services.account
    const scope = { accountId, environment: 'sandbox' } as const
    const session = await service.test.db.tenant(scope, (tx) => ownSessions.rotate(tx, { accountId, sessionId }))
    expect(session).toMatchObject({ id: sessionId })
    expect((await read(headers)).json.code).toBe('session_expired')
    const renewed = cookiesOf(session, { cookies: service.services.platform.cookies })
    expect((await read(renewed)).json).toMatchObject({ session: { session_id: sessionId } })
    // A change by somebody else ends all of them.
    const count = await service.test.db.tenant(scope, (tx) => ownSessions.endOfUser(tx, { accountId, userId }))
    expect(count).toBe(1)
    expect((await read(renewed)).json.code).toBe('session_expired')
    await expect(
      service.test.db.tenant(scope, (tx) => ownSessions.rotate(tx, { accountId, sessionId })),
    ).rejects.toMatchObject({ code: 'session_expired' })
  })

  it('is deleted when it has been over for long', async () => {
    const { accountId } = await makeAccount(service.test)
    const { headers, sessionId } = await service.signIn(accountId)
    const old = await service.signIn(accountId)
    await service.test.owner(`UPDATE user_sessions SET expires_at = now() - interval '31 days' WHERE id = $1`, [
      old.sessionId,
    ])
    expect(await purgeSessions(service.test.db, new Date(Date.now() - 30 * 24 * HOUR_MS))).toBe(1)
    expect((await read(headers)).json).toMatchObject({ session: { session_id: sessionId } })
  })
})
