// A person who signed in before, and so owns an account, accepts an invite to another one.

import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { contentTables, WITH_OTHERS } from '#src/account/team/own-account.ts'
import type { Role } from '#src/catalogue/access.ts'
import { newId } from '#src/platform/ids.ts'
import { until } from '../../support/until.ts'
import { browserOf, startTeamService, type TeamService } from './service.ts'

let service: TeamService
beforeAll(async () => {
  service = await startTeamService()
})
afterAll(() => service.close())

type Headers = Record<string, string>

/** A person with an account of their own, who is invited to another one. */
async function makeInvited() {
  const email = service.newAddress()
  const { answer, headers } = await service.enter(email)
  const { owner, accountId: inviter } = await service.makeTeam()
  await service.invite(owner, email, 'admin')
  const token = await service.inviteTokenFor(email)
  const { account } = answer.json as { account: { account_id: string } }
  const accept = (isConfirmed: boolean, sent: Headers = headers) =>
    service.accept(token, { json: { token, ...(isConfirmed && { close_own_account: true }) }, headers: sent })
  return { email, headers, accountId: account.account_id, inviter, owner, accept }
}

const finding = (code: string) => ({
  status: 409,
  json: { code: 'conflict', errors: [{ pointer: '/close_own_account', code }] },
})
const stateOf = async (accountId: string) => {
  const [row] = await service.test.owner(
    `SELECT closed_at IS NOT NULL AS is_closed, closed_by, (SELECT count(*)::int FROM users
       WHERE account_id = accounts.id AND deprovisioned_at IS NULL) AS users FROM accounts WHERE id = $1`,
    [accountId],
  )
  return row
}
const actionsOf = (accountId: string) =>
  service.test
    .owner<{ action: string }>('SELECT action FROM audit_entries WHERE account_id = $1 ORDER BY id', [accountId])
    .then((rows) => rows.map(({ action }) => action))
const addUser = async (accountId: string, role: Role) => (await service.signIn(accountId, { role })).userId

it('is told each step, confirms, and is a member with a closed account left behind', async () => {
  const { email, headers, accountId, inviter, accept } = await makeInvited()
  // The token alone speaks of no other account.
  const unknown = await accept(true, {})
  expect(unknown).toMatchObject(finding('session_required'))
  expect(unknown.text).not.toContain(accountId)
  const asked = await accept(false)
  expect(asked).toMatchObject(finding('confirmation_required'))
  expect(asked.json.detail).toContain(accountId)
  expect((await accept(true, { Cookie: headers.Cookie ?? '' })).json.code).toBe('csrf_token_invalid')
  expect(await stateOf(accountId)).toEqual({ is_closed: false, closed_by: null, users: 1 })
  // Of the person, like a session: no content of the account, and not kept.
  await service.test.owner(
    `INSERT INTO passkeys (account_id, id, user_id, name, credential_id, public_key, algorithm, counter, aaguid, transports,
       is_backup_eligible, is_backed_up, created_at)
     SELECT account_id, 'psk_1', id, 'Laptop', 'c', 'k', 'ES256', 0, gen_random_uuid(), '{}', false, false, now()
     FROM users WHERE account_id = $1`,
    [accountId],
  )

  const answer = await accept(true)
  expect(answer).toMatchObject({
    status: 200,
    json: { user: { email }, account: { account_id: inviter }, role: 'admin' },
  })
  expect(await stateOf(accountId)).toMatchObject({
    is_closed: true,
    closed_by: expect.stringMatching(/^usr_/),
    users: 0,
  })
  expect(await service.test.owner('SELECT id FROM passkeys WHERE account_id = $1', [accountId])).toEqual([])
  expect((await service.send(headers, 'GET', '/v1/auth/session')).json.code).toBe('session_expired')
  expect((await service.send(browserOf(answer), 'GET', '/v1/org/users')).status).toBe(200)
  expect(await actionsOf(accountId)).toEqual([
    'account.created',
    'user.signed_in',
    'account.closed',
    'user.deprovisioned',
  ])
  // The address signs in to its one account from now on.
  expect((await service.enter(email)).answer.json).toMatchObject({ account: { account_id: inviter } })
})

it('of several confirmations at once, one wins', async () => {
  const { accountId, inviter, accept } = await makeInvited()
  const answers = await Promise.all(Array.from({ length: 6 }, () => accept(true)))
  expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 400, 400, 400, 400, 400])
  expect((await actionsOf(accountId)).filter((action) => action === 'account.closed')).toHaveLength(1)
  expect(await stateOf(inviter)).toMatchObject({ is_closed: false, users: 2 })
})

it('loses nothing that a request stores at the same moment', async () => {
  const { accountId, headers, accept } = await makeInvited()
  const other = new pg.Client({ connectionString: service.test.ownerUrl })
  await other.connect()
  // A transaction that has inserted a row of the account and not committed yet.
  await other.query('BEGIN')
  await other.query(
    `INSERT INTO api_keys (account_id, environment, id, name, hash, prefix, last4, scopes, created_by)
     VALUES ($1, 'sandbox', $2, 'late', $3, 'svc_test', 'abcd', '{verify}', 'operator')`,
    [accountId, newId('key', 'sandbox'), randomBytes(32)],
  )
  const accepting = accept(true)
  await until(async () => {
    const waiting =
      "SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%FROM accounts WHERE id = $1 FOR UPDATE%'"
    return (await service.test.owner(waiting)).length === 1
  })
  await other.query('COMMIT')
  await other.end()
  expect(await accepting).toMatchObject(finding('account_not_empty'))
  expect(await stateOf(accountId)).toMatchObject({ is_closed: false, users: 1 })
  expect((await service.send(headers, 'GET', '/v1/account/keys')).status).toBe(200)
})

it('first closes an account that has data, and can then leave it', async () => {
  const { accountId, headers, accept } = await makeInvited()
  expect((await service.send(headers, 'POST', '/v1/account/keys', { name: 'k', scopes: ['all'] })).status).toBe(200)
  const refused = await accept(true)
  expect(refused).toMatchObject(finding('account_not_empty'))
  expect(refused.json.detail).toMatch(/POST \/v1\/account\/closure/)
  expect((await service.send(headers, 'POST', '/v1/account/closure', { confirm: accountId })).status).toBe(200)
  expect(await accept(false)).toMatchObject(finding('confirmation_required'))
  expect((await accept(true)).status).toBe(200)
  expect(await stateOf(accountId)).toMatchObject({ is_closed: true, users: 0 })
  expect((await actionsOf(accountId)).filter((action) => action === 'account.closed')).toHaveLength(1)
})

it('an invite to a closed account is pending until it is opened again, and is revoked when its sender leaves', async () => {
  const { accountId, headers, accept } = await makeInvited()
  await service.test.owner("UPDATE accounts SET plan = 'enterprise' WHERE id = $1", [accountId])
  const email = service.newAddress()
  expect((await service.invite(headers, email, 'owner')).status).toBe(200)
  const token = await service.inviteTokenFor(email)
  expect((await service.send(headers, 'POST', '/v1/account/closure', { confirm: accountId })).status).toBe(200)
  expect(await service.accept(token)).toMatchObject({ status: 409, json: { code: 'conflict' } })
  expect((await service.send(headers, 'GET', '/v1/org/invites')).json.data).toMatchObject([{ status: 'pending' }])

  const other = service.newAddress()
  await service.send(headers, 'DELETE', '/v1/account/closure')
  expect((await service.invite(headers, other, 'analyst')).status).toBe(200)
  expect((await service.accept(await service.inviteTokenFor(other))).status).toBe(200)
  await service.test.owner('UPDATE users SET deprovisioned_at = now() WHERE email = $1', [other])

  await service.send(headers, 'POST', '/v1/account/closure', { confirm: accountId })
  expect((await accept(true)).status).toBe(200)
  const [entry] = await service.test.owner<{ after: object }>(
    "SELECT after FROM audit_entries WHERE account_id = $1 AND action = 'user.deprovisioned'",
    [accountId],
  )
  expect(entry?.after).toMatchObject({ invites_revoked: [expect.stringMatching(/^inv_/)] })
  // The operator opens the account that has no user any more.
  await service.test.owner('UPDATE accounts SET closed_at = NULL, closed_by = NULL WHERE id = $1', [accountId])
  expect(await service.accept(token)).toMatchObject({ status: 400, json: { errors: [{ code: 'invalid_link' }] } })
  expect(await stateOf(accountId)).toMatchObject({ users: 0 })
})

it('whether an account has anything is read by indexes, and no table is left out that says more', async () => {
  const declared = service.services.features.flatMap(({ data = [] }) => data)
  const read = contentTables(declared)
  const indexed = await service.test.owner<{ name: string }>(
    `SELECT DISTINCT i.indrelid::regclass::text AS name FROM pg_index i
     JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]
     WHERE a.attname = 'account_id' AND i.indpred IS NULL AND i.indisvalid`,
  )
  const names = new Set(indexed.map(({ name }) => name))
  expect(read.filter((table) => !names.has(table))).toEqual([])
  const bound = await service.test.owner<{ child: string; parent: string }>(
    `SELECT conrelid::regclass::text AS child, confrelid::regclass::text AS parent FROM pg_constraint
     WHERE contype = 'f' AND NOT EXISTS (
       SELECT FROM pg_attribute WHERE attrelid = conrelid AND attnum = ANY (conkey) AND NOT attnotnull)
     AND EXISTS (SELECT FROM pg_attribute WHERE attrelid = conrelid AND attnum = ANY (conkey) AND attname = 'account_id')`,
  )
  const hasParent = (table: string) => bound.some(({ child, parent }) => child === table && read.includes(parent))
  expect(WITH_OTHERS.filter((table) => !hasParent(table))).toEqual([])
  expect(declared.length - read.length).toBe(11 + WITH_OTHERS.length)
})

it('closes no account that others use, that is suspended, or by a session that proves nothing', async () => {
  const shared = await makeInvited()
  const colleague = await addUser(shared.accountId, 'analyst')
  expect(await shared.accept(true)).toMatchObject(finding('other_users'))
  await service.test.owner("UPDATE users SET role = 'owner' WHERE id = $1", [colleague])
  expect(await shared.accept(true)).toMatchObject(finding('leave_first'))
  expect((await service.send(shared.headers, 'DELETE', '/v1/org/users/me')).status).toBe(200)
  expect((await shared.accept(false, {})).status).toBe(200)

  const suspended = await makeInvited()
  await service.test.owner("UPDATE accounts SET suspended_at = now(), suspension_reason = 'x' WHERE id = $1", [
    suspended.accountId,
  ])
  expect(await suspended.accept(true)).toMatchObject(finding('account_suspended'))

  const echoed = await makeInvited()
  await service.test.owner('UPDATE user_sessions SET is_sandbox_only = true WHERE account_id = $1', [echoed.accountId])
  expect(await echoed.accept(true)).toMatchObject(finding('session_required'))
  for (const { accountId } of [shared, suspended, echoed]) {
    expect(await stateOf(accountId)).toMatchObject({ is_closed: false, users: 1 })
  }
})
