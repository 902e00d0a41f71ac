import { afterAll, beforeAll, expect, it } from 'vitest'
import type { TestAnswer } from '../../support/http.ts'
import { startTeamService, type TeamService } from '../team/service.ts'

let service: TeamService
beforeAll(async () => {
  service = await startTeamService()
})
afterAll(() => service?.close())

const REFUSED = { status: 401, json: { code: 'session_required' } }

interface Team {
  accountId: string
  owner: Record<string, string>
  ownerId: string
  userId: string
  secondOwner: string
  inviteId: string
  exportId: string
}

type Act = (team: Team, send: (method: string, path: string, json?: unknown) => Promise<TestAnswer>) => unknown

const ACTS: Record<string, Act> = {
  'request an export': (_, send) => send('POST', '/v1/account/export', {}),
  'download an export': ({ exportId }, send) => send('GET', `/v1/account/exports/${exportId}/download`),
  'close the account': ({ accountId }, send) => send('POST', '/v1/account/closure', { confirm: accountId }),
  'undo a closure': (_, send) => send('DELETE', '/v1/account/closure'),
  'grant the role owner': ({ userId }, send) => send('PATCH', `/v1/org/users/${userId}`, { role: 'owner' }),
  'take the role owner': ({ secondOwner }, send) => send('PATCH', `/v1/org/users/${secondOwner}`, { role: 'admin' }),
  'remove an owner': ({ secondOwner }, send) => send('DELETE', `/v1/org/users/${secondOwner}`),
  'invite an owner': (_, send) => send('POST', '/v1/org/users/invite', { email: service.newAddress(), role: 'owner' }),
  'invite an owner again': ({ inviteId }, send) => send('POST', `/v1/org/invites/${inviteId}/resend`),
  'leave as an owner': (_, send) => send('DELETE', '/v1/org/users/me'),
}

it.each(Object.entries(ACTS))('takes a session that has just begun: to %s', async (name, act) => {
  const team = await makeTeam()
  const by = (headers: Record<string, string>) => (method: string, path: string, json?: unknown) =>
    service.send(headers, method, path, json)
  if (name === 'undo a closure') await ACTS['close the account']?.(team, by(team.owner))
  if (name === 'download an export') {
    await service.test.owner(
      `INSERT INTO account_exports (account_id, id, state, includes_media, requested_by, job_id)
       VALUES ($1, $2, 'failed', false, $3, gen_random_uuid())`,
      [team.accountId, team.exportId, team.ownerId],
    )
  }
  await service.test.owner(
    `UPDATE user_sessions SET created_at = created_at - interval '10 minutes' WHERE account_id = $1`,
    [team.accountId],
  )
  const before = await snapshotOf(team)
  expect(await act(team, by(team.owner))).toMatchObject(REFUSED)
  expect(await snapshotOf(team)).toEqual(before)
  // Nearly ten minutes.
  await service.test.owner(
    `UPDATE user_sessions SET created_at = created_at + interval '30 seconds' WHERE account_id = $1`,
    [team.accountId],
  )
  const { status, json } = (await act(team, by(team.owner))) as TestAnswer
  // This export has no archive.
  expect([status, json]).toEqual([
    name === 'download an export' ? 409 : expect.toBeOneOf([200, 202]),
    expect.anything(),
  ])
})

it('leaves everything else to the sessions of a day: an admin is invited, and a member removed', async () => {
  const team = await makeTeam()
  await service.test.owner(
    `UPDATE user_sessions SET created_at = created_at - interval '10 minutes' WHERE account_id = $1`,
    [team.accountId],
  )
  expect((await service.invite(team.owner, service.newAddress(), 'admin')).status).toBe(200)
  expect((await service.send(team.owner, 'PATCH', `/v1/org/users/${team.userId}`, { role: 'admin' })).status).toBe(200)
  expect((await service.send(team.owner, 'DELETE', `/v1/org/users/${team.userId}`)).status).toBe(200)
  expect((await service.send(team.owner, 'GET', '/v1/account/exports')).status).toBe(200)
  expect((await service.send(team.owner, 'GET', '/v1/account/closure')).status).toBe(200)
})

it('repeats what a fresh session did, for its Idempotency-Key', async () => {
  const { owner, accountId } = await makeTeam()
  const close = () =>
    service.send({ ...owner, 'Idempotency-Key': 'close-1' }, 'POST', '/v1/account/closure', { confirm: accountId })
  const first = await close()
  await service.test.owner(
    `UPDATE user_sessions SET created_at = created_at - interval '1 hour' WHERE account_id = $1`,
    [accountId],
  )
  expect(await close()).toMatchObject({ status: 200, json: first.json, headers: { 'idempotent-replayed': 'true' } })
})

async function makeTeam(): Promise<Team> {
  const { accountId, owner, ownerId } = await service.makeTeam()
  const { userId } = await service.signIn(accountId, { role: 'analyst' })
  const { userId: secondOwner } = await service.signIn(accountId)
  const invited = await service.invite(owner, service.newAddress(), 'owner')
  const exportId = `exp_${accountId.slice(4)}`
  return { accountId, owner, ownerId, userId, secondOwner, inviteId: String(invited.json.invite_id), exportId }
}

async function snapshotOf({ accountId }: Team): Promise<unknown> {
  return Promise.all(
    [
      'SELECT id, role, deprovisioned_at FROM users WHERE account_id = $1 ORDER BY id',
      'SELECT closed_at FROM accounts WHERE id = $1',
      'SELECT id, sends FROM invites WHERE account_id = $1 ORDER BY id',
      'SELECT id FROM account_exports WHERE account_id = $1 ORDER BY id',
    ].map((text) => service.test.owner(text, [accountId])),
  )
}
