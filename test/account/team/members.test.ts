import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { countKeysOf } from '#src/account/keys/operate.ts'
import { ROLES, type Role } from '#src/catalogue/access.ts'
import { startTeamService, type TeamService } from './service.ts'

let service: TeamService
beforeAll(async () => {
  service = await startTeamService()
})
afterAll(() => service.close())

type Headers = Record<string, string>

const sessionOf = (headers: Headers) => service.send(headers, 'GET', '/v1/auth/session')
const setRole = (headers: Headers, id: string, role: Role) =>
  service.send(headers, 'PATCH', `/v1/org/users/${id}`, { role })
const remove = (headers: Headers, id: string) => service.send(headers, 'DELETE', `/v1/org/users/${id}`)
const activeOwners = async (accountId: string) =>
  service.test.owner<{ id: string }>(
    `SELECT id FROM users WHERE account_id = $1 AND role = 'owner' AND deprovisioned_at IS NULL`,
    [accountId],
  )
const actionsOf = async (accountId: string) =>
  (
    await service.test.owner<{ action: string }>('SELECT action FROM audit_entries WHERE account_id = $1 ORDER BY id', [
      accountId,
    ])
  ).map(({ action }) => action)

describe('the list of users', () => {
  it('shows every role the members, newest first, by pages and states', async () => {
    const { owner, ownerId, accountId } = await service.makeTeam()
    const email = service.newAddress()
    const { userId } = await service.join(owner, email, 'developer')
    for (const role of ROLES) {
      const { headers } = await service.signIn(accountId, { role })
      expect([role, (await service.send(headers, 'GET', '/v1/org/users')).status]).toEqual([role, 200])
    }
    const { json } = await service.send(owner, 'GET', '/v1/org/users?limit=100')
    const data = json.data as { user_id: string }[]
    expect(data).toHaveLength(7)
    expect(data.at(-1)).toMatchObject({ user_id: ownerId, role: 'owner', status: 'active', last_login_at: null })
    expect(data.at(-2)).toMatchObject({ user_id: userId, email, role: 'developer', last_login_at: expect.any(String) })
    await remove(owner, userId)
    const removed = await service.send(owner, 'GET', '/v1/org/users?status=deprovisioned')
    expect(removed.json.data).toMatchObject([{ user_id: userId, email, status: 'deprovisioned' }])
    const first = await service.send(owner, 'GET', '/v1/org/users?status=active&limit=5')
    const next = await service.send(
      owner,
      'GET',
      `/v1/org/users?status=active&limit=5&cursor=${first.json.next_cursor}`,
    )
    expect([first.json.has_more, (next.json.data as unknown[]).length]).toEqual([true, 1])
    const otherFilter = await service.send(owner, 'GET', `/v1/org/users?cursor=${first.json.next_cursor}`)
    expect(otherFilter.json.code).toBe('invalid_request')
  })

  it('shows one member to a single-user account, which no one can leave', async () => {
    const { answer, headers } = await service.enter(service.newAddress())
    const { user } = answer.json as { user: { user_id: string } }
    const { json } = await service.send(headers, 'GET', '/v1/org/users')
    expect(json.data).toMatchObject([{ user_id: user.user_id, role: 'owner', status: 'active' }])
    expect((await remove(headers, user.user_id)).json.code).toBe('last_owner')
    expect((await service.send(headers, 'DELETE', '/v1/org/users/me')).json.code).toBe('last_owner')
    expect((await setRole(headers, user.user_id, 'admin')).json.code).toBe('plan_required')
    expect((await sessionOf(headers)).status).toBe(200)
  })
})

describe('changing a role', () => {
  it('ends the sessions of the user, and the next one has the new role', async () => {
    const { owner, accountId } = await service.makeTeam()
    const email = service.newAddress()
    const { userId, headers } = await service.join(owner, email, 'analyst')
    const changed = await setRole(owner, userId, 'admin')
    expect(changed).toMatchObject({ status: 200, json: { user_id: userId, role: 'admin', sessions_ended: 1 } })
    expect((await sessionOf(headers)).json.code).toBe('session_expired')
    const again = await service.enter(email)
    expect(again.answer.json.role).toBe('admin')
    // The same role once more changes nothing.
    expect((await setRole(owner, userId, 'admin')).json.sessions_ended).toBe(0)
    expect((await sessionOf(again.headers)).status).toBe(200)
    expect((await actionsOf(accountId)).filter((action) => action === 'user.role_changed')).toHaveLength(1)
  })

  it('is done once for an Idempotency-Key: a replay shows the role that the user has since', async () => {
    const { owner, accountId } = await service.makeTeam()
    const { userId } = await service.signIn(accountId, { role: 'developer' })
    const keyed = { ...owner, 'Idempotency-Key': 'role-1' }
    expect((await setRole(keyed, userId, 'admin')).json.role).toBe('admin')
    expect((await setRole(owner, userId, 'analyst')).json.role).toBe('analyst')
    expect(await setRole(keyed, userId, 'admin')).toMatchObject({
      status: 200,
      json: { role: 'analyst', sessions_ended: 0 },
      headers: { 'idempotent-replayed': 'true' },
    })
    expect((await setRole(keyed, userId, 'owner')).json.code).toBe('idempotency_key_reused')
  })

  it('of oneself gives the session another secret and ends the others', async () => {
    const { owner, ownerId, accountId } = await service.makeTeam()
    // A second owner: the last one could not be lowered.
    await service.signIn(accountId)
    const other = await service.test.db.system('test', (tx) =>
      service.services.account.sessions.create(tx, { accountId, userId: ownerId, method: 'magic_link' }),
    )
    const changed = await setRole(owner, ownerId, 'admin')
    expect(changed).toMatchObject({ status: 200, json: { role: 'admin', sessions_ended: 1 } })
    expect((await sessionOf(owner)).json.code).toBe('session_expired')
    const renewed = (changed.headers['set-cookie'] ?? []).map((line) => line.split(';')[0]).join('; ')
    const csrf = /svc_csrf=([^;]+)/.exec(renewed)?.[1] ?? ''
    const headers = { Cookie: renewed, 'X-CSRF-Token': csrf }
    expect((await sessionOf(headers)).json).toMatchObject({ session: { role: 'admin' } })
    expect(renewed).not.toContain(other.secret)
    // Nobody raises themself.
    expect((await setRole(headers, ownerId, 'owner')).json.code).toBe('role_limit')
  })

  it('to or from owner is an owner’s alone, and no key’s', async () => {
    const { accountId, ownerId } = await service.makeTeam()
    const { headers: admin, userId: adminId } = await service.signIn(accountId, { role: 'admin' })
    const { headers: second, userId: secondId } = await service.signIn(accountId)
    expect((await setRole(admin, adminId, 'owner')).json.code).toBe('role_limit')
    expect((await setRole(admin, secondId, 'admin')).json.code).toBe('role_limit')
    expect((await remove(admin, secondId)).json.code).toBe('role_limit')
    const { key } = await service.makeKey(accountId)
    const path = `/v1/org/users/${secondId}`
    const byKey = await service.call({ key }, path, { method: 'PATCH', json: { role: 'admin' } })
    expect(byKey.json.code).toBe('session_required')
    expect((await service.call({ key }, path, { method: 'DELETE' })).json.code).toBe('session_required')
    const ofAdmin = `/v1/org/users/${adminId}`
    const lowered = await service.call({ key }, ofAdmin, { method: 'PATCH', json: { role: 'analyst' } })
    expect(lowered.json).toMatchObject({ role: 'analyst', sessions_ended: 1 })
    expect((await setRole(second, ownerId, 'admin')).json.role).toBe('admin')
    expect((await setRole(second, adminId, 'owner')).json.role).toBe('owner')
  })

  it('revokes the invites that the user could not send any more', async () => {
    const { owner, accountId } = await service.makeTeam()
    const { headers: second, userId } = await service.signIn(accountId)
    const addresses = { owner: service.newAddress(), analyst: service.newAddress() }
    for (const [role, email] of Object.entries(addresses)) await service.invite(second, email, role as Role)
    const tokens = {
      owner: await service.inviteTokenFor(addresses.owner),
      analyst: await service.inviteTokenFor(addresses.analyst),
    }
    await setRole(owner, userId, 'admin')
    expect((await service.accept(tokens.owner)).json.code).toBe('invalid_request')
    await setRole(owner, userId, 'developer')
    expect((await service.accept(tokens.analyst)).json.code).toBe('invalid_request')
  })

  it('never leaves an account without an owner, also when owners lower or remove each other at once', async () => {
    for (let round = 0; round < 4; round += 1) {
      const { owner, ownerId, accountId } = await service.makeTeam()
      const { headers: second, userId: secondId } = await service.signIn(accountId)
      const acts = [
        () => setRole(owner, secondId, 'admin'),
        () => setRole(second, ownerId, 'admin'),
        () => remove(owner, secondId),
        () => remove(second, ownerId),
        () => service.send(owner, 'DELETE', '/v1/org/users/me'),
        () => service.send(second, 'DELETE', '/v1/org/users/me'),
      ]
      const answers = await Promise.all(acts.map((act) => act()))
      expect(answers.filter(({ status }) => status === 200).length).toBeGreaterThan(0)
      expect(await activeOwners(accountId)).toHaveLength(1)
    }
    const { owner, ownerId } = await service.makeTeam()
    expect(await setRole(owner, ownerId, 'admin')).toMatchObject({ status: 409, json: { code: 'last_owner' } })
  })
})

describe('removing a user', () => {
  it('ends sessions, invites and links at once; the address stays out until it is invited', async () => {
    const { owner, accountId } = await service.makeTeam()
    const email = service.newAddress()
    const { userId, headers } = await service.join(owner, email, 'admin')
    const invited = service.newAddress()
    const inviteId = String((await service.invite(headers, invited)).json.invite_id)
    const token = await service.inviteTokenFor(invited)
    await service.request(email)
    const link = await service.tokenFor(email)

    const removed = await remove(owner, userId)
    expect(removed).toMatchObject({
      status: 200,
      json: {
        status: 'deprovisioned',
        role: 'admin',
        sessions_ended: 1,
        invites_revoked: [inviteId],
        keys_created: [],
      },
    })
    expect((await sessionOf(headers)).json.code).toBe('session_expired')
    expect((await service.accept(token)).json.code).toBe('invalid_request')
    expect((await service.use(link)).json.code).toBe('invalid_request')
    await service.request(email)
    expect(await service.deliver()).toEqual([])
    expect((await setRole(owner, userId, 'owner')).json.code).toBe('conflict')
    const repeated = await remove(owner, userId)
    expect(repeated.json).toMatchObject({ sessions_ended: 0, deprovisioned_at: removed.json.deprovisioned_at })

    const back = await service.join(owner, email, 'analyst')
    expect([back.userId, back.answer.json.role]).toEqual([userId, 'analyst'])
    // What was there before the removal stays dead.
    expect((await sessionOf(headers)).json.code).toBe('session_expired')
    expect((await service.use(link)).json.code).toBe('invalid_request')
    expect((await sessionOf(back.headers)).status).toBe(200)
    expect((await actionsOf(accountId)).filter((action) => action === 'user.deprovisioned')).toHaveLength(1)
  })

  it('ends a session that a login beside it left behind, before the address comes back', async () => {
    const { owner, accountId } = await service.makeTeam()
    const email = service.newAddress()
    const { userId } = await service.join(owner, email)
    await remove(owner, userId)
    const { headers, sessionId } = await service.signIn(accountId)
    await service.test.owner('UPDATE user_sessions SET user_id = $1 WHERE id = $2', [userId, sessionId])
    expect((await sessionOf(headers)).json.code).toBe('session_expired')
    await service.join(owner, email)
    expect((await sessionOf(headers)).json.code).toBe('session_expired')
  })

  it('lists the keys of both environments that the user created and that still work', async () => {
    const { owner, accountId } = await service.makeTeam()
    const { userId } = await service.join(owner, service.newAddress(), 'developer')
    const keys = []
    for (const environment of ['sandbox', 'live'] as const) {
      const { id } = await service.services.account.keys.create(
        { accountId, environment },
        { name: 'k', scopes: ['verify'] },
      )
      keys.push(id)
    }
    await service.test.owner('UPDATE api_keys SET created_by = $1 WHERE id = ANY ($2)', [userId, keys])
    expect((await remove(owner, userId)).json.keys_created).toEqual(keys.toSorted())
    await service.test.owner('UPDATE api_keys SET revoked_at = now() WHERE id = $1', [keys[0]])
    expect((await remove(owner, userId)).json.keys_created).toEqual([keys[1]])
    // A rotated key ends with its grace period.
    await service.test.owner(
      "UPDATE api_keys SET successor_id = id, grace_expires_at = now() - interval '1 second' WHERE id = $1",
      [keys[1]],
    )
    expect((await remove(owner, userId)).json.keys_created).toEqual([])
    const counted = await service.test.db.system('test', (tx) => countKeysOf(tx, accountId))
    expect(counted).toMatchObject([
      { environment: 'live', valid: 0 },
      { environment: 'sandbox', valid: 0 },
    ])
  })

  it('is leaving, for oneself: whatever the role, and also after the plan was left', async () => {
    const { owner, ownerId, accountId } = await service.makeTeam()
    for (const role of ['admin', 'approver', 'analyst', 'developer'] as const) {
      const { headers, userId } = await service.signIn(accountId, { role })
      const left = await service.send(headers, 'DELETE', '/v1/org/users/me')
      expect(left).toMatchObject({ status: 200, json: { user_id: userId, status: 'deprovisioned' } })
      expect(left.headers['set-cookie']?.[0]).toContain('Max-Age=0')
      expect((await sessionOf(headers)).json.code).toBe('session_expired')
    }
    const { headers } = await service.signIn(accountId, { role: 'analyst' })
    await service.test.owner(`UPDATE accounts SET plan = 'growth' WHERE id = $1`, [accountId])
    expect((await service.send(headers, 'GET', '/v1/org/users')).json.code).toBe('plan_required')
    expect((await service.send(headers, 'DELETE', '/v1/org/users/me')).status).toBe(200)
    // An owner can take access away on every plan, and give none.
    const { userId: other } = await service.signIn(accountId, { role: 'analyst' })
    expect((await setRole(owner, other, 'admin')).json.code).toBe('plan_required')
    expect((await remove(owner, other)).status).toBe(200)
    expect((await remove(owner, ownerId)).json.code).toBe('last_owner')
  })

  it('is done once for an Idempotency-Key: a replay shows the user, also one who was invited again since', async () => {
    const { owner } = await service.makeTeam()
    const email = service.newAddress()
    const { userId } = await service.join(owner, email)
    const headers = { ...owner, 'Idempotency-Key': 'remove-1' }
    expect((await remove(headers, userId)).json.sessions_ended).toBe(1)
    const replayed = { status: 200, headers: { 'idempotent-replayed': 'true' } }
    expect(await remove(headers, userId)).toMatchObject({ ...replayed, json: { status: 'deprovisioned' } })
    await service.join(owner, email)
    expect(await remove(headers, userId)).toMatchObject({ ...replayed, json: { status: 'active', sessions_ended: 0 } })

    const leave = async (who: Headers) =>
      service.send({ ...who, 'Idempotency-Key': 'leave-1' }, 'DELETE', '/v1/org/users/me')
    expect((await leave((await service.enter(email)).headers)).json.status).toBe('deprovisioned')
    const { headers: back } = await service.join(owner, email)
    expect(await leave(back)).toMatchObject({ ...replayed, json: { status: 'active' } })
    expect((await sessionOf(back)).status).toBe(200)
  })

  it('finds nobody of another account, nor a made-up id', async () => {
    const { ownerId } = await service.makeTeam()
    const { owner: stranger } = await service.makeTeam()
    for (const id of [ownerId, 'usr_none']) {
      expect([id, (await remove(stranger, id)).json.code]).toEqual([id, 'not_found'])
      expect([id, (await setRole(stranger, id, 'admin')).json.code]).toEqual([id, 'not_found'])
    }
  })
})

it('no cache keeps an answer with a CSRF token: signing in, accepting an invite, changing the own role', async () => {
  const { owner, accountId } = await service.makeTeam()
  const { answer: accepted } = await service.join(owner, service.newAddress())
  const email = service.newAddress()
  await service.addUser(accountId, { email })
  const { answer: entered, headers } = await service.enter(email)
  const { user } = entered.json as { user: { user_id: string } }
  const changed = await service.send(headers, 'PATCH', `/v1/org/users/${user.user_id}`, { role: 'admin' })
  for (const answer of [accepted, entered, changed]) {
    expect(answer).toMatchObject({ status: 200, headers: { 'cache-control': 'no-store' } })
    expect(answer.headers['set-cookie']?.some((line) => line.startsWith('svc_csrf='))).toBe(true)
  }
})
