import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { purgeInvites } from '#src/account/team/rows.ts'
import { ROLES } from '#src/catalogue/access.ts'
import { sha256 } from '#src/platform/crypto/digest.ts'
import { until } from '../../support/until.ts'
import { browserOf, startTeamService, type TeamService } from './service.ts'

let service: TeamService
beforeAll(async () => {
  service = await startTeamService()
})
afterAll(() => service.close())

const DAY_MS = 24 * 3_600_000
const INVALID = {
  status: 400,
  json: { code: 'invalid_request', errors: [{ pointer: '/token', code: 'invalid_link' }] },
}

const WAITING = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`

const sessionOf = (headers: Record<string, string>) => service.send(headers, 'GET', '/v1/auth/session')
const idOf = ({ json }: { json: Record<string, unknown> }) => String(json.invite_id)
const stateOf = async (headers: Record<string, string>, id: string) => {
  const { json } = await service.send(headers, 'GET', '/v1/org/invites?limit=100')
  return (json.data as { invite_id: string; status: string }[]).find((one) => one.invite_id === id)?.status
}

describe('an invite', () => {
  it('is mailed, makes its reader a member with its role, and signs in once', async () => {
    const { owner, ownerId, accountId } = await service.makeTeam()
    const email = service.newAddress()
    const invited = await service.invite(owner, email.toUpperCase(), 'approver')
    expect(invited).toMatchObject({
      status: 200,
      json: {
        email,
        role: 'approver',
        status: 'pending',
        invited_by: { type: 'user', id: ownerId },
        accepted_at: null,
        user_id: null,
      },
    })
    const token = await service.inviteTokenFor(email)
    const answer = await service.accept(token)
    expect(answer).toMatchObject({
      status: 200,
      json: { user: { email }, account: { account_id: accountId }, role: 'approver', method: 'invite' },
    })
    const headers = browserOf(answer)
    expect((await sessionOf(headers)).json.session).toMatchObject({
      role: 'approver',
      environments: ['sandbox', 'live'],
    })
    expect((await service.send(headers, 'GET', '/v1/cases')).status).toBe(200)
    expect((await service.send(headers, 'GET', '/v1/webhook-endpoints')).json.code).toBe('insufficient_role')
    expect((await service.invite(headers, service.newAddress())).json.code).toBe('insufficient_role')
    expect(await service.accept(token)).toMatchObject(INVALID)
    expect(await stateOf(owner, idOf(invited))).toBe('accepted')

    const entries = await service.test.owner<{ action: string }>(
      'SELECT action, actor_kind, subject_id, after FROM audit_entries WHERE account_id = $1 ORDER BY id',
      [accountId],
    )
    expect(entries).toMatchObject([
      { action: 'user.invited', subject_id: idOf(invited), after: { role: 'approver', email_domain: 'example.com' } },
      { action: 'invite.accepted', subject_id: idOf(invited), after: { role: 'approver', was_removed: false } },
      { action: 'user.signed_in', after: { method: 'invite' } },
      { action: 'act.refused', after: { act: 'user.invited', code: 'insufficient_role' } },
    ])
  })

  it('waits for those of its account alone: callers are identified on the same connections', async () => {
    const [{ owner }, other] = await Promise.all([service.makeTeam(), service.makeTeam()])
    const holder = new pg.Client({ connectionString: service.test.ownerUrl })
    await holder.connect()
    onTestFinished(() => holder.end())
    await holder.query('BEGIN')
    await holder.query('LOCK TABLE attempts IN SHARE MODE')
    const invited = Array.from({ length: 4 }, () => service.invite(owner, service.newAddress()))
    const waiting = () => service.test.owner(WAITING).then(({ length }) => length)
    await until(async () => (await waiting()) > 0)
    // By then the other invites would wait as well, if they could.
    for (const end = performance.now() + 300; performance.now() < end; ) expect(await waiting()).toBeLessThan(2)
    expect((await sessionOf(other.owner)).status).toBe(200)
    await holder.query('COMMIT')
    expect((await Promise.all(invited)).map(({ status }) => status)).toEqual([200, 200, 200, 200])
  })

  it('is stored, mailed and logged without its token', async () => {
    const { owner, accountId } = await service.makeTeam()
    const email = service.newAddress()
    const invited = await service.invite(owner, email)
    const token = await service.inviteTokenFor(email)
    await service.accept(token)
    expect(token).toHaveLength(43)
    expect(invited.text).not.toContain(token)
    expect(JSON.stringify(service.app.logged)).not.toContain(token)
    for (const table of ['invites', 'mails', 'jobs', 'audit_entries']) {
      const rows = await service.test.owner(`SELECT * FROM ${table} WHERE account_id = $1`, [accountId])
      expect([table, JSON.stringify(rows).includes(token)]).toEqual([table, false])
    }
    const [row] = await service.test.owner<{ token_hash: Buffer }>('SELECT token_hash FROM invites WHERE id = $1', [
      idOf(invited),
    ])
    expect(row?.token_hash).toEqual(sha256(token))
  })

  it('can be accepted by one of several at the same moment', async () => {
    const { owner, accountId } = await service.makeTeam()
    const email = service.newAddress()
    await service.invite(owner, email)
    const token = await service.inviteTokenFor(email)
    const answers = await Promise.all(Array.from({ length: 8 }, () => service.accept(token)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(answers.filter(({ json }) => json.code === 'invalid_request')).toHaveLength(7)
    const users = await service.test.owner('SELECT id FROM users WHERE account_id = $1 AND email = $2', [
      accountId,
      email,
    ])
    expect(users).toHaveLength(1)
  })

  it('sent again works for another week, and its first token no longer', async () => {
    const start = Date.now()
    const { owner, accountId } = await service.makeTeam()
    const email = service.newAddress()
    const id = idOf(await service.invite(owner, email))
    const first = await service.inviteTokenFor(email)
    const resent = await service.send(owner, 'POST', `/v1/org/invites/${id}/resend`)
    expect(resent).toMatchObject({ status: 200, json: { invite_id: id, status: 'pending' } })
    const second = await service.inviteTokenFor(email)
    expect(second).not.toBe(first)
    expect(await service.accept(first)).toMatchObject(INVALID)

    // The owner's session has ended by then.
    service.clock.now = new Date(start + 8 * DAY_MS)
    expect(await service.accept(second)).toMatchObject(INVALID)
    const { headers } = await service.signIn(accountId)
    expect(await stateOf(headers, id)).toBe('expired')
    expect((await service.send(headers, 'POST', `/v1/org/invites/${id}/resend`)).json.status).toBe('pending')
    expect((await service.accept(await service.inviteTokenFor(email))).status).toBe(200)
    const again = await service.send(headers, 'POST', `/v1/org/invites/${id}/resend`)
    expect(again.json).toMatchObject({ code: 'invalid_state_transition', current_status: 'accepted' })
    expect((await service.send(headers, 'DELETE', `/v1/org/invites/${id}`)).json.code).toBe('invalid_state_transition')
    service.clock.now = undefined
  })

  it('revoked or sent again before its mail leaves is not mailed, nor accepted', async () => {
    const { owner } = await service.makeTeam()
    const email = service.newAddress()
    const id = idOf(await service.invite(owner, email))
    await service.send(owner, 'POST', `/v1/org/invites/${id}/resend`)
    expect(await service.deliver()).toHaveLength(1)
    const token = await service.inviteTokenFor(email)
    await service.send(owner, 'POST', `/v1/org/invites/${id}/resend`)
    const revoked = await service.send(owner, 'DELETE', `/v1/org/invites/${id}`)
    expect(revoked).toMatchObject({ status: 200, json: { status: 'revoked' } })
    expect((await service.send(owner, 'DELETE', `/v1/org/invites/${id}`)).json.revoked_at).toBe(revoked.json.revoked_at)
    expect(await service.deliver()).toEqual([])
    expect(await service.accept(token)).toMatchObject(INVALID)
    expect((await service.send(owner, 'POST', `/v1/org/invites/${id}/resend`)).json.code).toBe(
      'invalid_state_transition',
    )
  })

  it('is refused to members and beside a pending one, also when both are sent at once', async () => {
    const { owner } = await service.makeTeam()
    const email = service.newAddress()
    const answers = await Promise.all(Array.from({ length: 4 }, () => service.invite(owner, email)))
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409, 409, 409])
    expect((await service.accept(await service.inviteTokenFor(email))).status).toBe(200)
    expect((await service.invite(owner, email)).json).toMatchObject({
      code: 'conflict',
      errors: [{ pointer: '/email', code: 'conflict' }],
    })
  })

  it('is made once for an Idempotency-Key, and a replay shows it', async () => {
    const { owner } = await service.makeTeam()
    const email = service.newAddress()
    const headers = { ...owner, 'Idempotency-Key': 'invite-1' }
    const first = await service.invite(headers, email)
    const second = await service.invite(headers, email)
    expect(second).toMatchObject({ status: 200, json: first.json, headers: { 'idempotent-replayed': 'true' } })
    expect(await service.deliver()).toHaveLength(1)
    expect((await service.invite(headers, service.newAddress())).json.code).toBe('idempotency_key_reused')
  })

  it('counts once for an Idempotency-Key, whose repeats send no mail', async () => {
    const { owner } = await service.makeTeam()
    const email = service.newAddress()
    const keyed = { ...owner, 'Idempotency-Key': 'invite-1' }
    const { invite_id: id } = (await service.invite(keyed, email)).json
    for (let at = 0; at < 5; at += 1) expect((await service.invite(keyed, email)).status).toBe(200)
    const resend = (headers: Record<string, string>) => service.send(headers, 'POST', `/v1/org/invites/${id}/resend`)
    for (let at = 0; at < 5; at += 1) expect((await resend(keyed)).status).toBe(200)
    // Five mails a day to an address.
    for (let at = 2; at < 5; at += 1) expect((await resend(owner)).status).toBe(200)
    expect((await resend(owner)).json.code).toBe('rate_limited')
    expect((await resend(keyed)).status).toBe(200)
  })

  it('is revoked once for an Idempotency-Key: a replay shows one that was sent again since', async () => {
    const { owner } = await service.makeTeam()
    const { invite_id: id } = (await service.invite(owner, service.newAddress())).json
    await service.test.owner('UPDATE invites SET expires_at = now() WHERE id = $1', [id])
    const keyed = { ...owner, 'Idempotency-Key': 'revoke-1' }
    const revoke = () => service.send(keyed, 'DELETE', `/v1/org/invites/${id}`)
    expect((await revoke()).json.status).toBe('expired')
    expect((await service.send(owner, 'POST', `/v1/org/invites/${id}/resend`)).json.status).toBe('pending')
    expect(await revoke()).toMatchObject({
      status: 200,
      json: { status: 'pending' },
      headers: { 'idempotent-replayed': 'true' },
    })
  })

  it('is refused for what is no address or no role, naming the field', async () => {
    const { owner } = await service.makeTeam()
    expect((await service.invite(owner, 'a@b\r\nBcc: c@example.com')).json.errors?.[0]?.pointer).toBe('/email')
    const json = { email: service.newAddress(), role: 'superuser' }
    expect((await service.send(owner, 'POST', '/v1/org/users/invite', json)).json.errors?.[0]?.pointer).toBe('/role')
    for (const token of ['x', 'A'.repeat(43), '../../x']) expect(await service.accept(token)).toMatchObject(INVALID)
  })
})

describe('who may invite', () => {
  it('are owners and admins; only owners invite owners', async () => {
    const { owner, accountId } = await service.makeTeam()
    const expected = { owner: 200, admin: 200, approver: 403, analyst: 403, developer: 403 }
    for (const role of ROLES) {
      const { headers } = await service.signIn(accountId, { role })
      expect([role, (await service.invite(headers, service.newAddress())).status]).toEqual([role, expected[role]])
    }
    const { headers: admin } = await service.signIn(accountId, { role: 'admin' })
    const email = service.newAddress()
    expect((await service.invite(admin, email, 'owner')).json.code).toBe('role_limit')
    const id = idOf(await service.invite(owner, email, 'owner'))
    expect((await service.send(admin, 'POST', `/v1/org/invites/${id}/resend`)).json.code).toBe('role_limit')
    expect((await service.accept(await service.inviteTokenFor(email))).json.role).toBe('owner')
  })

  it('are live keys with the scope admin, which invite no owner; no others', async () => {
    const live = await service.makeKey((await service.makeTeam()).accountId)
    const send = (key: string, role: string) =>
      service.call({ key }, '/v1/org/users/invite', { json: { email: service.newAddress(), role } })
    expect((await send(live.key, 'analyst')).json).toMatchObject({
      status: 'pending',
      invited_by: { type: 'key', id: live.id },
    })
    expect((await send(live.key, 'owner')).json.code).toBe('session_required')
    const sandbox = await service.makeCaller({ scopes: ['all'] })
    expect((await send(sandbox.key, 'analyst')).json.code).toBe('environment_mismatch')
    const other = await service.makeCaller({ scopes: ['verify'], environment: 'live' })
    expect((await send(other.key, 'analyst')).json.code).toBe('insufficient_scope')
    const published = await service.makeCaller({ scopes: ['admin'], environment: 'live', isAccountBearing: false })
    expect((await send(published.key, 'analyst')).json.code).toBe('account_key_required')
    const growth = await service.makeCaller({ scopes: ['admin'], environment: 'live', plan: 'growth' })
    expect((await send(growth.key, 'analyst')).json.code).toBe('plan_required')
  })

  it('are none without the plan enterprise, nor with a session from a shown link', async () => {
    const { owner } = await service.makeTeam('growth')
    expect((await service.invite(owner, service.newAddress())).json.code).toBe('plan_required')
    const { headers } = await service.signIn((await service.makeTeam()).accountId, { isSandboxOnly: true })
    expect((await service.invite(headers, service.newAddress())).json.code).toBe('environment_mismatch')
    expect((await service.send(owner, 'GET', '/v1/org/users')).json.data).toHaveLength(1)
  })

  it('see the invites of their own account alone, by pages and states', async () => {
    const { owner } = await service.makeTeam()
    const ids = []
    for (let at = 0; at < 3; at += 1) ids.unshift(idOf(await service.invite(owner, service.newAddress())))
    await service.send(owner, 'DELETE', `/v1/org/invites/${ids[1]}`)
    const first = (await service.send(owner, 'GET', '/v1/org/invites?limit=2')).json
    const second = await service.send(owner, 'GET', `/v1/org/invites?limit=2&cursor=${first.next_cursor}`)
    const listed = [first, second.json].flatMap(({ data }) => data as { invite_id: string }[])
    expect(listed.map(({ invite_id }) => invite_id)).toEqual(ids)
    const pending = await service.send(owner, 'GET', '/v1/org/invites?status=pending')
    expect((pending.json.data as unknown[]).length).toBe(2)
    const stranger = (await service.makeTeam()).owner
    expect((await service.send(stranger, 'GET', '/v1/org/invites')).json.data).toEqual([])
    for (const [method, path] of [
      ['DELETE', `/v1/org/invites/${ids[0]}`],
      ['POST', `/v1/org/invites/${ids[0]}/resend`],
    ] as const) {
      expect((await service.send(stranger, method, path)).json.code).toBe('not_found')
    }
  })
})

describe('accepting', () => {
  it('is refused to the members of another account, and the inviter learns nothing', async () => {
    const { owner } = await service.makeTeam()
    const email = service.newAddress()
    const elsewhere = await service.enter(email)
    expect(elsewhere.answer.status).toBe(200)
    const invited = await service.invite(owner, email)
    expect(invited.json.status).toBe('pending')
    const token = await service.inviteTokenFor(email)
    expect(await service.accept(token)).toMatchObject({ status: 409, json: { code: 'conflict' } })
    expect(await stateOf(owner, idOf(invited))).toBe('pending')
    expect(await sessionOf(elsewhere.headers)).toMatchObject({ status: 200 })
  })

  it('is refused beside a session of another person, and ends the session of the same one', async () => {
    const { owner } = await service.makeTeam()
    const email = service.newAddress()
    await service.invite(owner, email)
    const token = await service.inviteTokenFor(email)
    const withOwner = { headers: { Cookie: owner.Cookie ?? '' } }
    expect((await service.accept(token, withOwner)).json.code).toBe('conflict')
    expect((await sessionOf(owner)).status).toBe(200)
    // A cookie that no longer counts is no session.
    await service.send(owner, 'DELETE', '/v1/auth/session')
    expect((await service.accept(token, withOwner)).status).toBe(200)
  })

  it('is refused to pages of other origins', async () => {
    for (const headers of [{ Origin: 'https://evil.example' }, { 'Sec-Fetch-Site': 'cross-site' }]) {
      expect((await service.accept('A'.repeat(43), { headers })).json.code).toBe('csrf_token_invalid')
    }
  })

  it('needs the plan enterprise then, too, and leaves the invite pending without it', async () => {
    const { owner, accountId } = await service.makeTeam()
    const email = service.newAddress()
    await service.invite(owner, email)
    const token = await service.inviteTokenFor(email)
    await service.test.owner(`UPDATE accounts SET plan = 'growth' WHERE id = $1`, [accountId])
    expect((await service.accept(token)).json.code).toBe('plan_required')
    await service.test.owner(`UPDATE accounts SET plan = 'enterprise' WHERE id = $1`, [accountId])
    expect((await service.accept(token)).status).toBe(200)
  })

  it('voids the login links of the address', async () => {
    const { owner } = await service.makeTeam()
    const email = service.newAddress()
    await service.request(email)
    const link = await service.tokenFor(email)
    await service.join(owner, email)
    expect(await service.use(link)).toMatchObject(INVALID)
  })
})

describe('the limits of invites', () => {
  it('allow an account five mails a day to one address, and all accounts together twenty', async () => {
    const { owner } = await service.makeTeam()
    const email = service.newAddress()
    const id = idOf(await service.invite(owner, email))
    const resend = () => service.send(owner, 'POST', `/v1/org/invites/${id}/resend`)
    for (let at = 0; at < 4; at += 1) expect((await resend()).status).toBe(200)
    const limited = await resend()
    expect(limited).toMatchObject({ status: 429, json: { code: 'rate_limited' } })
    expect(Number(limited.headers['retry-after'])).toBeGreaterThan(23 * 3_600)
    for (let at = 0; at < 15; at += 1) {
      expect((await service.invite((await service.makeTeam()).owner, email)).status).toBe(200)
    }
    expect((await service.invite((await service.makeTeam()).owner, email)).json.code).toBe('rate_limited')
  })

  it('do not count what is refused: a pending address, a member, a role beyond the key, an ended invite', async () => {
    const { owner, accountId } = await service.makeTeam()
    const { key } = await service.makeKey(accountId, { scopes: ['admin'] })
    const email = service.newAddress()
    const id = idOf(await service.invite(owner, email))
    const byKey = { Authorization: `Bearer ${key}` }
    const refused = async () => [
      (await service.invite(owner, email)).json.code,
      (await service.invite(byKey, service.newAddress(), 'admin')).json.code,
      (await service.invite(byKey, email, 'approver')).json.code,
    ]
    for (let at = 0; at < 3; at += 1) expect(await refused()).toEqual(['conflict', 'role_limit', 'role_limit'])
    // One after the other and at once.
    const atOnce = await Promise.all(Array.from({ length: 6 }, () => service.invite(owner, email)))
    expect(atOnce.every(({ json }) => json.code === 'conflict' || json.code === 'rate_limited')).toBe(true)
    const resend = () => service.send(owner, 'POST', `/v1/org/invites/${id}/resend`)
    for (let at = 0; at < 4; at += 1) expect((await resend()).status).toBe(200)
    expect((await resend()).json.code).toBe('rate_limited')

    const ended = idOf(await service.invite(owner, service.newAddress()))
    await service.send(owner, 'DELETE', `/v1/org/invites/${ended}`)
    for (let at = 0; at < 6; at += 1) {
      const { json } = await service.send(owner, 'POST', `/v1/org/invites/${ended}/resend`)
      expect(json.code).toBe('invalid_state_transition')
    }
    expect(await countsOf(accountId)).toEqual({ account: 6 })
  })

  it('do not count for the account what the limit of an address refuses', async () => {
    const { owner, accountId } = await service.makeTeam()
    const email = service.newAddress()
    for (let at = 0; at < 4; at += 1)
      expect((await service.invite((await service.makeTeam()).owner, email)).status).toBe(200)
    await service.test.owner(`UPDATE attempts SET times = array_fill(times[1], ARRAY[20]) WHERE subject_hash = $1`, [
      sha256(JSON.stringify(['invites to mailbox', email])),
    ])
    expect((await service.invite(owner, email)).json.code).toBe('rate_limited')
    expect(await countsOf(accountId)).toEqual({ account: 0 })
  })

  async function countsOf(accountId: string) {
    const [row] = await service.test.owner<{ count: number }>(
      'SELECT cardinality(times) AS count FROM attempts WHERE subject_hash = $1',
      [sha256(JSON.stringify(['invites of account', accountId]))],
    )
    return { account: row?.count ?? 0 }
  }
})

it('opening the page of invites uses nothing up', async () => {
  const { owner } = await service.makeTeam()
  const email = service.newAddress()
  await service.invite(owner, email)
  const token = await service.inviteTokenFor(email)
  const page = await service.call({}, '/login/invite')
  expect(page).toMatchObject({ status: 200, headers: { 'referrer-policy': 'no-referrer' } })
  expect((await service.accept(token)).status).toBe(200)
})

it('DASHBOARD_LOGIN_ALLOWLIST holds for inviting and for accepting', async () => {
  const limited = await startTeamService({ DASHBOARD_LOGIN_ALLOWLIST: '@example.com' })
  try {
    const { owner } = await limited.makeTeam()
    expect((await limited.invite(owner, 'a@example.net')).json.code).toBe('beta_access_required')
    const email = limited.newAddress()
    const id = idOf(await limited.invite(owner, email))
    const token = await limited.inviteTokenFor(email)
    // As if the list had been shortened meanwhile.
    await limited.test.owner(`UPDATE invites SET email = 'a@example.net' WHERE id = $1`, [id])
    expect((await limited.accept(token)).json.code).toBe('beta_access_required')
  } finally {
    await limited.close()
  }
})

it('invites that ended a month ago are deleted, and no others', async () => {
  const { owner: headers } = await service.makeTeam()
  const id = idOf(await service.invite(headers, service.newAddress()))
  await purgeInvites(service.test.db, new Date(Date.now() + 6 * DAY_MS))
  expect(await stateOf(headers, id)).toBe('pending')
  expect(await purgeInvites(service.test.db, new Date(Date.now() + 8 * DAY_MS))).toBeGreaterThan(0)
  expect(await stateOf(headers, id)).toBeUndefined()
})
