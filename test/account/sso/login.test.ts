// Single sign-on with a real provider.

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { browserOf } from '../login/service.ts'
import { type RealProvider, startRealProvider } from './real-provider.ts'
import { begunOf, type Organization, type SsoService, startSsoService } from './service.ts'

let service: SsoService
let provider: RealProvider
let org: Organization
beforeAll(async () => {
  service = await startSsoService()
  provider = await startRealProvider({ redirectUri: service.redirectUri })
  org = await service.connect(provider)
})
afterAll(async () => {
  await service?.close()
  await provider?.close()
})

let people = 0
const newPerson = (domain = org.domain) => {
  people += 1
  return { sub: `sub-${people}`, email: `person${people}@${domain}`, email_verified: true }
}
type Person = ReturnType<typeof newPerson>

async function enter(person: Partial<Person> & { sub: string }, { domain = org.domain, from = provider } = {}) {
  const begun = await service.begin(domain)
  const back = await from.signIn(begun.authorizeUrl, person)
  const { code, state, iss } = Object.fromEntries(back.searchParams)
  return { begun, sent: { code, state, iss }, answer: await service.finish(begun, { code, state, iss }) }
}
const CAUSE = (cause: string) => ({ status: 403, json: { code: 'sso_login_refused', cause } })
const audit = (accountId: string) =>
  service.test.owner<{ action: string; actor_kind: string; after: Record<string, unknown> }>(
    'SELECT action, actor_kind, after FROM audit_entries WHERE account_id = $1 ORDER BY id',
    [accountId],
  )

describe('a first login', () => {
  it('makes a user with the role analyst, links it to the subject, and later logins go by the subject alone', async () => {
    const person = newPerson()
    const { answer, begun, sent } = await enter(person)
    expect(answer).toMatchObject({
      status: 200,
      json: { user: { email: person.email }, role: 'analyst', method: 'sso', account: { account_id: org.accountId } },
    })
    const headers = browserOf(answer)
    expect((await service.send(headers, 'GET', '/v1/auth/session')).status).toBe(200)
    // A state works once, and the provider is asked once for a code.
    expect(await service.finish(begun, sent)).toMatchObject({ status: 400, json: { errors: [{ pointer: '/state' }] } })
    const again = await enter({ ...person, email: `renamed.${person.email}` })
    expect(again.answer.json.user).toMatchObject({ email: person.email })
    expect(
      await service.test.owner('SELECT 1 FROM users WHERE account_id = $1 AND role = $2', [org.accountId, 'analyst']),
    ).toHaveLength(1)
    const actions = (await audit(org.accountId)).map(({ action }) => action)
    expect(actions).toEqual(expect.arrayContaining(['user.provisioned', 'sso.linked', 'user.signed_in']))
    const config = await service.send(org.owner, 'GET', '/v1/auth/sso/config')
    expect(config.json.tested_at).toEqual(expect.any(String))
  })

  it('takes ES256, and an address that only userinfo has', async () => {
    const other = await startRealProvider({ redirectUri: service.redirectUri, algorithm: 'ES256' })
    const own = await service.connect(other)
    const { answer } = await enter(newPerson(own.domain), { domain: own.domain, from: other })
    expect(answer.status).toBe(200)
    await other.close()
  })

  it('links a member of the address with their role, uses a pending invite up, and never links or makes an owner', async () => {
    const member = newPerson()
    await service.addUser(org.accountId, { email: member.email, role: 'approver' })
    expect((await enter(member)).answer.json).toMatchObject({ role: 'approver', user: { email: member.email } })
    expect((await enter({ ...member, sub: 'another' })).answer).toMatchObject({
      status: 409,
      json: { code: 'conflict', errors: [{ code: 'other_subject' }] },
    })

    const invited = newPerson()
    await service.invite(org.owner, invited.email, 'developer')
    const token = await service.inviteTokenFor(invited.email)
    expect((await enter(invited)).answer.json).toMatchObject({ role: 'developer' })
    expect((await service.accept(token)).status).toBe(400)

    const owner = newPerson()
    await service.addUser(org.accountId, { email: owner.email, role: 'owner' })
    expect((await enter(owner)).answer).toMatchObject(CAUSE('owner_not_linked'))
    const second = newPerson()
    await service.invite(org.owner, second.email, 'owner')
    expect((await enter(second)).answer).toMatchObject(CAUSE('owner_not_linked'))
    expect(await service.test.owner('SELECT 1 FROM users WHERE email = $1', [second.email])).toEqual([])
  })

  it('links an owner from a new session of their own, which must still be in the browser', async () => {
    const person = newPerson()
    const { headers } = await service.signIn(org.accountId, { email: person.email, role: 'owner' })
    const link = async () => begunOf(await service.send(headers, 'POST', '/v1/auth/sso/link'))
    const cross = await link()
    const crossed = await provider.signIn(cross.authorizeUrl, person)
    expect(await service.finish(cross, Object.fromEntries(crossed.searchParams))).toMatchObject(
      CAUSE('session_mismatch'),
    )
    const other = await link()
    const cookie = { Cookie: `${other.browser.Cookie}; ${headers.Cookie}` }
    const others = await provider.signIn(other.authorizeUrl, { ...newPerson(), sub: 'other owner' })
    expect(await service.finish({ browser: cookie }, Object.fromEntries(others.searchParams))).toMatchObject(
      CAUSE('address_mismatch'),
    )
    const begun = await link()
    const own = { Cookie: `${begun.browser.Cookie}; ${headers.Cookie}` }
    const back = await provider.signIn(begun.authorizeUrl, person)
    expect(await service.finish({ browser: own }, Object.fromEntries(back.searchParams))).toMatchObject({
      status: 200,
      json: { role: 'owner' },
    })
    expect((await enter(person)).answer.json).toMatchObject({ role: 'owner' })
  })
})

describe('a login', () => {
  it('is refused for addresses that are missing, unverified, of a subdomain, of another domain or account', async () => {
    expect((await enter({ sub: 'none' })).answer).toMatchObject(CAUSE('email_missing'))
    expect((await enter({ ...newPerson(), email_verified: false })).answer).toMatchObject(CAUSE('email_unverified'))
    expect((await enter(newPerson(`eu.${org.domain}`))).answer).toMatchObject(CAUSE('domain_mismatch'))
    expect((await enter(newPerson('elsewhere.example'))).answer).toMatchObject(CAUSE('domain_mismatch'))
    const taken = newPerson()
    const other = await service.makeTeam()
    await service.addUser(other.accountId, { email: taken.email, role: 'analyst' })
    expect((await enter(taken)).answer).toMatchObject({
      status: 409,
      json: { code: 'conflict', errors: [{ code: 'address_elsewhere' }] },
    })
    const last = (await audit(org.accountId)).findLast(({ action }) => action === 'sso.login_refused')
    expect(last).toMatchObject({ actor_kind: 'service', after: { cause: 'address_elsewhere' } })
  })

  it('makes no way back for a removed user: by link, first login, subject or an old invite', async () => {
    const person = newPerson()
    const { answer } = await enter(person)
    const { user } = answer.json as { user: { user_id: string } }
    const headers = browserOf(answer)
    expect((await service.send(org.owner, 'DELETE', `/v1/org/users/${user.user_id}`)).status).toBe(200)
    expect((await service.send(headers, 'GET', '/v1/auth/session')).status).toBe(401)
    expect((await enter(person)).answer).toMatchObject(CAUSE('user_removed'))
    // The same person by another address, and another person by the same address.
    expect((await enter({ ...newPerson(), sub: person.sub })).answer).toMatchObject(CAUSE('user_removed'))
    expect((await enter({ ...person, sub: 'successor' })).answer).toMatchObject(CAUSE('user_removed'))
    await service.request(person.email)
    expect(await service.tokenFor(person.email)).toBe('')
    // An invite makes the person a user again, whom the next login links anew.
    await service.join(org.owner, person.email, 'analyst')
    expect((await enter({ ...person, sub: 'successor' })).answer.status).toBe(200)
  })

  it('is refused without the plan, of a closed and of a suspended account', async () => {
    const own = await service.connect(provider)
    const begun = await service.begin(own.domain)
    const back = await provider.signIn(begun.authorizeUrl, newPerson(own.domain))
    const sent = Object.fromEntries(back.searchParams)
    const states: [string, string][] = [
      [`plan = 'developer'`, 'plan_required'],
      [`plan = 'enterprise', suspended_at = now(), suspension_reason = 'a test'`, 'account_suspended'],
      [`suspended_at = NULL, suspension_reason = NULL, closed_at = now()`, 'account_suspended'],
    ]
    await service.test.owner(`UPDATE accounts SET plan = 'developer' WHERE id = $1`, [own.accountId])
    expect(await service.finish(begun, sent)).toMatchObject({ status: 403, json: { code: 'plan_required' } })
    for (const [change, code] of states) {
      await service.test.owner(`UPDATE accounts SET ${change} WHERE id = $1`, [own.accountId])
      const start = await service.call({}, `/v1/auth/sso/start?domain=${own.domain}`)
      expect([start.status, start.json.code]).toEqual([403, code])
    }
  })

  it('starts with a redirect and a cookie that scripts do not read, for known domains', async () => {
    const start = await service.call({}, `/v1/auth/sso/start?domain=${org.domain}`)
    expect(start.status).toBe(302)
    expect(start.headers.location).toMatch(new RegExp(`^${provider.issuer}/auth\\?`))
    expect(start.headers['set-cookie']?.[0]).toMatch(
      /^svc_sso=[\w-]{43}; Path=\/; SameSite=Lax; Max-Age=600; HttpOnly$/,
    )
    const url = new URL(start.headers.location ?? '')
    expect(Object.fromEntries(url.searchParams)).toMatchObject({
      response_type: 'code',
      code_challenge_method: 'S256',
      redirect_uri: service.redirectUri,
      scope: 'openid email profile',
    })
    expect(await service.call({}, '/v1/auth/sso/start?domain=unknown.example')).toMatchObject({ status: 404 })
    expect(await service.call({}, '/v1/auth/sso/start?domain=a')).toMatchObject({ status: 400 })
  })

  it('belongs to its browser, for ten minutes', async () => {
    const begun = await service.begin(org.domain)
    const back = await provider.signIn(begun.authorizeUrl, newPerson())
    const sent = Object.fromEntries(back.searchParams)
    const other = await service.begin(org.domain)
    const invalid = { status: 400, json: { errors: [{ pointer: '/state', code: 'invalid_link' }] } }
    expect(await service.finish(other, sent)).toMatchObject(invalid)
    expect(await service.finish({ browser: {} }, sent)).toMatchObject(invalid)
    expect(await service.finish(begun, { ...sent, state: 'A'.repeat(43) })).toMatchObject(invalid)
    expect(await service.finish(begun, sent, { Origin: 'https://evil.example' })).toMatchObject({
      json: { code: 'csrf_token_invalid' },
    })
    service.clock.now = new Date(Date.now() + 10 * 60_000)
    expect(await service.finish(begun, sent)).toMatchObject(invalid)
    service.clock.now = undefined
    expect((await service.finish(begun, sent)).status).toBe(200)
  })
})

describe('at the same moment', () => {
  it('one state used eight times signs in once', async () => {
    const begun = await service.begin(org.domain)
    const back = await provider.signIn(begun.authorizeUrl, newPerson())
    const sent = Object.fromEntries(back.searchParams)
    const answers = await Promise.all(Array.from({ length: 8 }, () => service.finish(begun, sent)))
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 400, 400, 400, 400, 400, 400, 400])
  })

  it('two first logins, and a login and an invite, make one user and one membership', async () => {
    const person = newPerson()
    const both = await Promise.all([enter(person), enter(person)])
    expect(both.map(({ answer }) => answer.status)).toEqual([200, 200])
    const invited = newPerson()
    await service.invite(org.owner, invited.email, 'developer')
    const token = await service.inviteTokenFor(invited.email)
    const [{ answer }, accepted] = await Promise.all([enter(invited), service.accept(token)])
    expect([200, 409]).toContain(answer.status)
    expect([200, 400, 409]).toContain(accepted.status)
    for (const { email } of [person, invited]) {
      expect(await service.test.owner('SELECT 1 FROM users WHERE email = $1', [email])).toHaveLength(1)
    }
  })

  it('a removal and a login leave no session of a removed user', async () => {
    const person = newPerson()
    const { answer } = await enter(person)
    const { user } = answer.json as { user: { user_id: string } }
    const begun = await service.begin(org.domain)
    const back = await provider.signIn(begun.authorizeUrl, person)
    const [finished, removed] = await Promise.all([
      service.finish(begun, Object.fromEntries(back.searchParams)),
      service.send(org.owner, 'DELETE', `/v1/org/users/${user.user_id}`),
    ])
    expect(removed.status).toBe(200)
    expect([200, 403]).toContain(finished.status)
    const open = 'SELECT 1 FROM user_sessions WHERE user_id = $1 AND ended_at IS NULL'
    expect(await service.test.owner(open, [user.user_id])).toEqual([])
  })
})
