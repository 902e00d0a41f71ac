// What API keys do to a team: the roles that they grant, and what ends when a key ends or its creator loses a role.

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { NewKey } from '#src/account/keys/new-key.ts'
import { lockTeam } from '#src/account/users/team-rows.ts'
import { KEY_SCOPES, type Role } from '#src/catalogue/access.ts'
import { until } from '../../support/until.ts'
import { startTeamService, type TeamService } from './service.ts'

let service: TeamService
beforeAll(async () => {
  service = await startTeamService()
})
afterAll(() => service.close())

type Headers = Record<string, string>

const INVALID = {
  status: 400,
  json: { code: 'invalid_request', errors: [{ pointer: '/token', code: 'invalid_link' }] },
}

const live = (headers: Headers) => ({ ...headers, 'Service-Environment': 'live' })
const invite = (key: string, role: Role = 'analyst', email = service.newAddress()) =>
  service.call({ key }, '/v1/org/users/invite', { json: { email, role } })
const setRole = (key: string, userId: string, role: Role) =>
  service.call({ key }, `/v1/org/users/${userId}`, { method: 'PATCH', json: { role } })
const makeBy = (key: string) => service.call({ key }, '/v1/account/keys', { json: { name: 'made', scopes: ['admin'] } })
async function invited(key: string) {
  const email = service.newAddress()
  const { json } = await invite(key, 'analyst', email)
  return { id: String(json.invite_id), email, token: await service.inviteTokenFor(email) }
}
const auditOf = (id: string, action: string) =>
  service.test.owner<{ after: Record<string, unknown> }>(
    'SELECT after FROM audit_entries WHERE subject_id = $1 AND action = $2',
    [id, action],
  )
const change = (id: string, columns: string) => service.test.owner(`UPDATE api_keys SET ${columns} WHERE id = $1`, [id])

describe('revoking a key', () => {
  it.each([
    ['DELETE', (owner: Headers, id: string) => service.send(live(owner), 'DELETE', `/v1/account/keys/${id}`)],
    ['POST', (owner: Headers, id: string) => service.send(live(owner), 'POST', `/v1/account/keys/${id}/revoke`)],
  ])('with %s revokes the invites that it sent, and names the keys that it made', async (_, revoke) => {
    const { owner, accountId } = await service.makeTeam()
    const leaked = await service.makeKey(accountId)
    const other = await service.makeKey(accountId)
    const sent = await invited(leaked.key)
    const kept = await invited(other.key)
    const between = (await makeBy(leaked.key)).json
    const hidden = (await makeBy(String(between.key))).json
    // It would otherwise hide the key that it has made.
    await service.call(leaked, `/v1/account/keys/${between.api_key_id}`, { method: 'DELETE' })

    const answer = await revoke(owner, leaked.id)
    const ended = { invites_revoked: [sent.id], keys_created: [hidden.api_key_id] }
    expect(answer).toMatchObject({ status: 200, json: { status: 'revoked', ...ended } })
    expect(await auditOf(leaked.id, 'key.revoked')).toMatchObject([{ after: ended }])
    expect(await service.accept(sent.token)).toMatchObject(INVALID)
    expect((await service.accept(kept.token)).status).toBe(200)
    const again = { invites_revoked: [], keys_created: [hidden.api_key_id], warnings: [] }
    expect(await revoke({ ...owner, 'Idempotency-Key': 'revoke-1' }, leaked.id)).toMatchObject({ json: again })
    expect(await revoke({ ...owner, 'Idempotency-Key': 'revoke-1' }, leaked.id)).toMatchObject({ json: again })
    expect(await auditOf(leaked.id, 'key.revoked')).toHaveLength(1)
  })

  it('does the same for the operator, and an invite whose mail waits is not mailed', async () => {
    const { accountId } = await service.makeTeam()
    const leaked = await service.makeKey(accountId)
    const { invite_id: id } = (await invite(leaked.key)).json
    const made = (await makeBy(leaked.key)).json
    const revoked = await service.services.account.keys.revoke({ accountId, environment: 'live' }, leaked.id)
    expect(revoked).toMatchObject({ status: 'revoked', invitesRevoked: [id], keysCreated: [made.api_key_id] })
    expect(await service.deliver()).toEqual([])
    expect(await auditOf(leaked.id, 'key.revoked')).toMatchObject([
      { after: { invites_revoked: [id], keys_created: [made.api_key_id] } },
    ])
  })

  it('leaves no invite pending that was authenticated before it', async () => {
    const { owner, accountId } = await service.makeTeam()
    const pending = () =>
      service.test.owner('SELECT id FROM invites WHERE account_id = $1 AND revoked_at IS NULL', [accountId])
    for (let round = 0; round < 8; round += 1) {
      const leaked = await service.makeKey(accountId)
      const [sent] = await Promise.all([
        invite(leaked.key),
        service.send(live(owner), 'DELETE', `/v1/account/keys/${leaked.id}`),
      ])
      expect([200, 401]).toContain(sent.status)
      expect(await pending()).toEqual([])
    }

    const leaked = await service.makeKey(accountId)
    const sending = await service.test.db.tenant({ accountId, environment: 'live' }, async (tx) => {
      await lockTeam(tx, accountId)
      const request = invite(leaked.key)
      await until(async () => {
        const [row] = await service.test.owner<{ count: number }>(
          `SELECT count(*)::int AS count FROM pg_locks JOIN pg_database ON pg_database.oid = database
           WHERE datname = current_database() AND locktype = 'advisory' AND NOT granted`,
        )
        return row?.count === 1
      })
      await change(leaked.id, 'revoked_at = now()')
      return { request }
    })
    expect((await sending.request).json.code).toBe('api_key_revoked')
    expect(await pending()).toEqual([])
  })
})

describe('an invite of a key', () => {
  it.each([
    ['that has expired', "expires_at = now() - interval '1 second'"],
    ['whose grace period is over', "successor_id = id, grace_expires_at = now() - interval '1 second'"],
  ])('%s is refused as a revoked one, until a user sends it again', async (_, columns) => {
    const { owner, ownerId, accountId } = await service.makeTeam()
    const key = await service.makeKey(accountId)
    const { id, email, token } = await invited(key.key)
    const { invite_id: unsent } = (await invite(key.key)).json
    await change(key.id, columns)
    expect(await service.accept(token)).toMatchObject(INVALID)
    expect(await service.deliver()).toEqual([])
    const resent = await service.send(owner, 'POST', `/v1/org/invites/${id}/resend`)
    expect(resent.json).toMatchObject({ status: 'pending', invited_by: { type: 'user', id: ownerId } })
    expect(await service.accept(token)).toMatchObject(INVALID)
    expect((await service.accept(await service.inviteTokenFor(email))).status).toBe(200)

    // The key has ended already, and the entry says which invites this revoked.
    const { json } = await service.send(live(owner), 'DELETE', `/v1/account/keys/${key.id}`)
    expect(json.invites_revoked).toEqual([unsent])
    expect(await auditOf(key.id, 'key.revoked')).toMatchObject([{ after: { invites_revoked: [unsent] } }])
  })

  it('that still works in its grace period is accepted', async () => {
    const { accountId } = await service.makeTeam()
    const key = await service.makeKey(accountId)
    const { token } = await invited(key.key)
    await change(key.id, "successor_id = id, grace_expires_at = now() + interval '1 hour'")
    expect((await service.accept(token)).status).toBe(200)
  })
})

const EVERY = { scopes: KEY_SCOPES }
const LIMITS = [
  { expiresAt: new Date('2100-01-01T00:00:00.000Z') },
  { ipAllow: ['0.0.0.0/0', '::/0'] },
  { products: ['attest', 'authorize', 'trace'] },
] satisfies Partial<NewKey>[]
const GIVEN = ['attest', 'verify', 'intent', 'screen'] as const

describe('a role that a key grants', () => {
  it.each<[Role, Partial<NewKey>, number]>([
    ['admin', EVERY, 200],
    ...KEY_SCOPES.filter((name) => name !== 'admin').map((lacking): [Role, Partial<NewKey>, number] => [
      'admin',
      { scopes: KEY_SCOPES.filter((name) => name !== lacking) },
      403,
    ]),
    ...LIMITS.map((limit): [Role, Partial<NewKey>, number] => ['admin', { ...EVERY, ...limit }, 403]),
    ['approver', { scopes: ['admin', 'escalate'] }, 200],
    ['approver', { scopes: ['admin', 'intent', 'verify', 'attest', 'screen'] }, 403],
    ...LIMITS.map((limit): [Role, Partial<NewKey>, number] => ['approver', { ...EVERY, ...limit }, 403]),
    ['developer', { scopes: ['admin', ...GIVEN] }, 200],
    ['developer', { scopes: ['admin', 'attest', 'verify', 'intent'] }, 403],
    ...LIMITS.map((limit): [Role, Partial<NewKey>, number] => ['developer', { ...EVERY, ...limit }, 403]),
    ['analyst', { ...LIMITS[0], ...LIMITS[1], ...LIMITS[2] }, 200],
  ])('is not more than the key has: %s by %j is %i', async (role, wanted, status) => {
    const { owner, accountId } = await service.makeTeam()
    const { key } = await service.makeKey(accountId, wanted)
    const expected = [status, status === 200 ? undefined : 'role_limit']
    const codeOf = (answer: Awaited<ReturnType<typeof invite>>) => [answer.status, answer.json.code]
    expect(codeOf(await invite(key, role))).toEqual(expected)
    const { json } = await service.invite(owner, service.newAddress(), role)
    expect(codeOf(await service.call({ key }, `/v1/org/invites/${json.invite_id}/resend`, { method: 'POST' }))).toEqual(
      expected,
    )
    const { userId } = await service.signIn(accountId, { role: role === 'analyst' ? 'developer' : 'analyst' })
    expect(codeOf(await setRole(key, userId, role))).toEqual(expected)
  })

  it('is not given to an admin, who has it: a narrowed key lowers one to any role', async () => {
    const { accountId } = await service.makeTeam()
    const { key } = await service.makeKey(accountId, { ...LIMITS[0], ...LIMITS[2] })
    for (const role of ['approver', 'developer', 'analyst'] as const) {
      const { userId } = await service.signIn(accountId, { role: 'admin' })
      expect((await setRole(key, userId, role)).json).toMatchObject({ role, sessions_ended: 1 })
    }
  })

  it('says what the key lacks, and to sign in', async () => {
    const { accountId } = await service.makeTeam()
    const { key } = await service.makeKey(accountId, { scopes: ['admin', 'verify'], products: ['attest'] })
    const { detail } = (await invite(key, 'admin')).json
    expect(detail).toMatch(/lacks attest, escalate, intent, screen, is narrowed to attest.*Sign in/)
  })
})

describe('an admin who is lowered', () => {
  it('is named with the keys of both environments that still work, and the invites that ended', async () => {
    const { owner, accountId } = await service.makeTeam()
    const { userId, headers } = await service.join(owner, service.newAddress(), 'admin')
    const make = (environment: string) =>
      service.send(headers, 'POST', '/v1/account/keys', { name: 'own', scopes: ['admin'], environment })
    const made = [(await make('sandbox')).json, (await make('live')).json]
    const { invite_id: sent } = (await service.invite(headers, service.newAddress())).json
    const lower = (role: Role, more: Headers = {}) =>
      service.send({ ...owner, ...more }, 'PATCH', `/v1/org/users/${userId}`, { role })
    const keys_created = made.map((key) => String(key.api_key_id)).toSorted()
    const lowered = await lower('analyst', { 'Idempotency-Key': 'lower-1' })
    expect(lowered.json).toMatchObject({
      role: 'analyst',
      previous_role: 'admin',
      invites_revoked: [sent],
      keys_created,
    })
    for (const repeat of [await lower('analyst', { 'Idempotency-Key': 'lower-1' }), await lower('analyst')]) {
      expect(repeat.json).toMatchObject({ previous_role: null, sessions_ended: 0, invites_revoked: [], keys_created })
    }

    // Their own key does not bring the role back.
    const key = String(made[1]?.key)
    expect((await setRole(key, userId, 'admin')).json.code).toBe('role_limit')
    const rows = await service.test.owner('SELECT role FROM users WHERE account_id = $1 AND id = $2', [
      accountId,
      userId,
    ])
    expect(rows).toEqual([{ role: 'analyst' }])
  })
})
