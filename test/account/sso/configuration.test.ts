import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { createRecheck } from '#src/account/sso/recheck.ts'
import { until } from '../../support/until.ts'
import { discoveryOf, type HostileProvider, startHostileProvider } from './hostile-provider.ts'
import { type Organization, type SsoService, startSsoService } from './service.ts'

let service: SsoService
let provider: HostileProvider
beforeAll(async () => {
  service = await startSsoService()
  provider = await startHostileProvider()
})
afterAll(async () => {
  await service?.close()
  await provider?.close()
})

const WAITING = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`

const refusedAt = (pointer: string, code: string) => ({ status: 400, json: { errors: [{ pointer, code }] } })
async function signInOnce({ domain }: Organization, email = `first@${domain}`) {
  const begun = await service.begin(domain)
  provider.answers.token = {
    access_token: 'x',
    token_type: 'bearer',
    id_token: await provider.token({ nonce: begun.nonce, sub: email, email }),
  }
  const answer = await service.finish(begun, { code: 'x', state: begun.state })
  expect(answer.status).toBe(200)
  return answer
}

describe('a configuration', () => {
  it('is read back without its secret, which is sealed, and is the account’s own', async () => {
    const { owner, accountId, domain } = await service.connect({ ...provider, clientSecret: 'a secret ending in LAST' })
    const read = await service.send(owner, 'GET', '/v1/auth/sso/config')
    expect(read.json).toMatchObject({
      issuer: provider.issuer,
      client_secret_last4: 'LAST',
      redirect_uri: service.redirectUri,
      domain,
      domain_status: 'verified',
      enforce_sso: false,
      tested_at: null,
      version: 1,
    })
    expect(read.text).not.toContain('a secret ending')
    const [row] = await service.test.owner('SELECT sealed_client_secret FROM sso_configs WHERE account_id = $1', [
      accountId,
    ])
    expect(String(row?.sealed_client_secret)).not.toContain('ending')
    const other = await service.makeTeam()
    expect((await service.send(other.owner, 'GET', '/v1/auth/sso/config')).status).toBe(404)
    const analyst = await service.signIn(accountId, { role: 'analyst' })
    expect(await service.send(analyst.headers, 'GET', '/v1/auth/sso/config')).toMatchObject({
      json: { code: 'insufficient_role' },
    })
    const lesser = await service.makeTeam('growth')
    expect(await service.configure(lesser.owner, provider, 'lesser.example')).toMatchObject({
      json: { code: 'plan_required' },
    })
    expect(await service.send(owner, 'DELETE', '/v1/auth/sso/config')).toMatchObject({ json: { deleted: true } })
    expect((await service.send(owner, 'GET', '/v1/auth/sso/config')).status).toBe(404)
  })

  it('is refused by name for what the provider lacks', async () => {
    const { owner } = await service.makeTeam()
    const put = (issuer: string) => service.configure(owner, { issuer }, 'refused.example')
    const discovery = discoveryOf(provider.issuer)
    const cases: [object, string][] = [
      [{ ...discovery, issuer: `${provider.issuer}/` }, 'issuer_mismatch'],
      [{ ...discovery, issuer: 'https://other.example' }, 'issuer_mismatch'],
      [{ ...discovery, issuer: 'https://login.microsoftonline.com/{tenantid}/v2.0' }, 'many_tenants'],
      [{ ...discovery, code_challenge_methods_supported: ['plain'] }, 'pkce_unsupported'],
      [{ ...discovery, id_token_signing_alg_values_supported: ['PS256', 'HS256'] }, 'signing_unsupported'],
    ]
    for (const [answer, code] of cases) {
      provider.answers.discovery = answer
      expect(await put(provider.issuer), code).toMatchObject(refusedAt('/issuer', code))
    }
    provider.answers.discovery = { ...discovery, authorization_endpoint: 'javascript:alert(1)' }
    expect(await put(provider.issuer)).toMatchObject({ status: 502, json: { cause: 'refused_address' } })
    provider.answers.discovery = (_req, res) => void res.writeHead(302, { Location: '/other' }).end()
    expect(await put(provider.issuer)).toMatchObject({ status: 502, json: { cause: 'redirected' } })
    provider.answers = {}
    for (const tenant of ['common', 'organizations', 'consumers']) {
      expect(await put(`https://login.microsoftonline.com/${tenant}/v2.0`)).toMatchObject(
        refusedAt('/issuer', 'many_tenants'),
      )
    }
    for (const issuer of [
      'http://acme.example',
      'ftp://acme.example',
      'acme',
      'https://a@acme.example',
      'https://acme.example/?a',
    ]) {
      expect(await put(issuer), issuer).toMatchObject(refusedAt('/issuer', 'invalid_value'))
    }
    for (const issuer of ['https://10.0.0.1', 'https://169.254.169.254', 'https://localhost']) {
      expect(await put(issuer), issuer).toMatchObject({
        status: 502,
        json: { cause: expect.stringMatching(/refused_address|unreachable/) },
      })
    }
    for (const domain of ['a', 'a@b.example', '127.0.0.1', 'a..b', '']) {
      expect((await service.configure(owner, provider, domain)).status, domain).toBe(400)
    }
    expect(await service.configure(owner, provider, 'refused.example', { enforce_sso: true })).toMatchObject({
      status: 409,
      json: { code: 'not_ready' },
    })
    expect(
      await service.send(owner, 'PUT', '/v1/auth/sso/config', {
        issuer: provider.issuer,
        client_id: 'client',
        domain: 'x.example',
      }),
    ).toMatchObject(refusedAt('/client_secret', 'required'))
  })

  it('loses what its first login proved, and its links, with another issuer, client or domain; owners are told by mail', async () => {
    const org = await service.connect(provider)
    await signInOnce(org)
    const config = (more: object) =>
      service.send(org.owner, 'PUT', '/v1/auth/sso/config', {
        issuer: provider.issuer,
        client_id: 'client',
        domain: org.domain,
        ...more,
      })
    expect((await config({ enforce_sso: true })).json).toMatchObject({
      enforce_sso: true,
      tested_at: expect.any(String),
    })
    await service.deliver()
    const told = async () =>
      (await service.deliver()).filter(({ parsed }) => parsed.subject?.includes('Single sign-on')).length
    // A new secret of the same client is no other provider.
    expect((await config({ client_secret: 'another secret', enforce_sso: true })).json.enforce_sso).toBe(true)
    expect(await told()).toBe(0)
    const changed = await config({ client_id: 'other', client_secret: 'another secret' })
    expect(changed.json).toMatchObject({ enforce_sso: false, tested_at: null, domain_status: 'verified' })
    expect(await told()).toBe(1)
    expect(
      await service.test.owner('SELECT 1 FROM users WHERE account_id = $1 AND sso_subject IS NOT NULL', [
        org.accountId,
      ]),
    ).toEqual([])
    const moved = await config({ client_id: 'other', domain: `new.${org.domain}` })
    expect(moved.json).toMatchObject({ domain_status: 'pending', tested_at: null })
    expect(await told()).toBe(1)
    expect(
      (
        await service.send({ ...org.owner, 'If-Match': '"1"' }, 'PUT', '/v1/auth/sso/config', {
          issuer: provider.issuer,
          client_id: 'other',
          domain: org.domain,
        })
      ).status,
    ).toBe(412)
  })
})

describe('a domain', () => {
  it('is verified by its record, belongs to one organization, and unverified claims block nobody', async () => {
    const [first, second] = [await service.makeTeam(), await service.makeTeam()]
    const domain = 'shared.example'
    const claims = [
      await service.configure(first.owner, provider, domain),
      await service.configure(second.owner, provider, domain),
    ]
    expect(await service.verify(second.owner)).toMatchObject({ status: 409, json: { code: 'not_ready' } })
    service.setRecord(claims[0] as never)
    expect(await service.verify(second.owner)).toMatchObject({ json: { code: 'not_ready' } })
    service.setRecord(claims[1] as never)
    expect((await service.verify(second.owner)).json.domain_status).toBe('verified')
    service.setRecord(claims[0] as never)
    expect(await service.verify(first.owner)).toMatchObject({
      status: 409,
      json: { code: 'conflict', errors: [{ code: 'domain_elsewhere' }] },
    })
  })

  it('is looked up daily: three other answers in a row end it, and a name server that does not answer never does', async () => {
    const org = await service.connect(provider)
    await signInOnce(org)
    const name = `_countersign.${org.domain}`
    const good = service.records.get(name) ?? []
    const recheck = createRecheck(service.services.platform)
    const state = async () => (await service.send(org.owner, 'GET', '/v1/auth/sso/config')).json
    let day = 0
    const lookUpWith = async (record: string[][] | string) => {
      service.records.set(name, record)
      day += 1
      service.clock.now = new Date(Date.now() + day * 25 * 3_600_000)
      await recheck(new AbortController().signal)
      service.clock.now = undefined
    }
    for (let times = 0; times < 5; times += 1) await lookUpWith('ETIMEOUT')
    await lookUpWith('ENOTFOUND')
    await lookUpWith([['countersign-domain-verification=other']])
    await lookUpWith('ESERVFAIL')
    await lookUpWith(good)
    await lookUpWith('ENODATA')
    await lookUpWith('ENOTFOUND')
    expect((await state()).domain_status).toBe('verified')
    await lookUpWith('ENOTFOUND')
    expect(await state()).toMatchObject({ domain_status: 'pending', tested_at: null, enforce_sso: false })
    expect(await service.call({}, `/v1/auth/sso/start?domain=${org.domain}`)).toMatchObject({ status: 404 })
  })
})

describe('enforcement', () => {
  it('takes no links and invites of the domain, ends other sessions, and spares owners and the operator’s links', async () => {
    const org = await service.connect(provider)
    const member = `member@${org.domain}`
    await service.addUser(org.accountId, { email: member, role: 'analyst' })
    const owner = `owner@${org.domain}`
    await service.addUser(org.accountId, { email: owner, role: 'owner' })
    const sso = await signInOnce(org)
    const { headers: session } = await service.enter(member)
    await service.request(member)
    const link = await service.tokenFor(member)
    const invited = `invited@${org.domain}`
    await service.invite(org.owner, invited, 'developer')
    const invite = await service.inviteTokenFor(invited)
    const enforced = await service.send(org.owner, 'PUT', '/v1/auth/sso/config', {
      issuer: provider.issuer,
      client_id: 'client',
      domain: org.domain,
      enforce_sso: true,
    })
    expect(enforced.json.enforce_sso).toBe(true)
    expect((await service.send(session, 'GET', '/v1/auth/session')).status).toBe(401)
    const kept = { Cookie: (sso.headers['set-cookie'] ?? []).map((line) => line.split(';')[0]).join('; ') }
    expect((await service.send(kept, 'GET', '/v1/auth/session')).status).toBe(200)
    const required = { status: 403, json: { code: 'sso_required', start_url: expect.stringContaining(org.domain) } }
    expect(await service.use(link)).toMatchObject(required)
    expect(await service.accept(invite)).toMatchObject(required)
    for (const email of [member, `unknown@${org.domain}`]) {
      expect((await service.request(email)).json).toEqual({ status: 'sent' })
      expect((await service.deliver()).flatMap(({ to }) => to)).not.toContain(email)
    }
    expect((await service.enter(owner)).answer.json.role).toBe('owner')
    const printed = await service.services.account.printLink(member)
    expect((await service.use(printed.link.split('#')[1] ?? '')).status).toBe(200)
    // A member of another account is none of this organization's.
    const other = await service.makeTeam()
    await service.addUser(other.accountId, { email: `elsewhere@${org.domain}`, role: 'owner' })
    expect((await service.enter(`elsewhere@${org.domain}`)).answer.status).toBe(200)
    // Without the plan only owners sign in, as everywhere.
    expect((await signInOnce(org, invited)).json.role).toBe('developer')
  })

  it.each([
    // The new session refers to its user: it waits for the row, after it has read whether single sign-on is enforced.
    ['before', 'SELECT 1 FROM users WHERE email = $1 FOR UPDATE'],
    // The sessions that the change ends wait for the row, after the change has been written.
    ['after', 'SELECT 1 FROM user_sessions s JOIN users u ON u.id = s.user_id WHERE u.email = $1 FOR UPDATE OF s'],
  ])('leaves no session of a link that is used %s it, while both have begun', async (order, held) => {
    const org = await service.connect(provider)
    await signInOnce(org)
    const email = `racer@${org.domain}`
    await service.addUser(org.accountId, { email, role: 'analyst' })
    await service.enter(email)
    await service.request(email)
    const token = await service.tokenFor(email)
    const holder = new pg.Client({ connectionString: service.test.ownerUrl })
    await holder.connect()
    onTestFinished(() => holder.end())
    await holder.query('BEGIN')
    await holder.query(held, [email])
    let answered = 0
    const send = async <Answer>(request: Promise<Answer>): Promise<Answer> => {
      const answer = await request
      answered += 1
      return answer
    }
    const enforce = () =>
      send(
        service.send(org.owner, 'PUT', '/v1/auth/sso/config', {
          issuer: provider.issuer,
          client_id: 'client',
          domain: org.domain,
          enforce_sso: true,
        }),
      )
    const use = () => send(service.use(token))
    // An answer counts as well: without the lock the second request does not wait.
    const begun = (count: number) => until(async () => answered + (await service.test.owner(WAITING)).length >= count)
    const requests: Promise<{ status: number }>[] = []
    for (const request of order === 'before' ? [use, enforce] : [enforce, use]) {
      requests.push(request())
      await begun(requests.length)
    }
    await holder.query('COMMIT')
    const statuses = (await Promise.all(requests)).map(({ status }) => status)
    expect(statuses).toEqual(order === 'before' ? [200, 200] : [200, 403])
    const open = await service.test.owner(
      `SELECT s.method FROM user_sessions s JOIN users u ON u.id = s.user_id WHERE u.email = $1 AND s.ended_at IS NULL`,
      [email],
    )
    expect(open).toEqual([])
  })
})

it('starts and failed callbacks of one network are limited, and those that sign in are not', async () => {
  const org = await service.connect(provider)
  const from = (ip: string) => ({ headers: { 'X-Forwarded-For': ip, Accept: 'application/json' } })
  const unknown = []
  for (let time = 0; time < 31; time += 1) {
    unknown.push((await service.call({}, '/v1/auth/sso/start?domain=unknown.example', from('192.0.2.7'))).status)
  }
  expect(unknown).toEqual([...Array(30).fill(404), 429])
  // Those of known domains have a limit of their own.
  const known = await service.call({}, `/v1/auth/sso/start?domain=${org.domain}`, from('192.0.2.7'))
  expect(known.status).toBe(200)
  const begun = await service.begin(org.domain)
  const bad = { code: 'x', state: 'B'.repeat(43) }
  const failed = []
  for (let time = 0; time < 61; time += 1) {
    failed.push((await service.finish(begun, bad, { 'X-Forwarded-For': '192.0.2.8' })).status)
  }
  expect(failed).toEqual([...Array(60).fill(400), 429])
  provider.answers.token = {
    access_token: 'x',
    token_type: 'bearer',
    id_token: await provider.token({ nonce: begun.nonce, sub: 'limited', email: `limited@${org.domain}` }),
  }
  const good = await service.finish(begun, { code: 'x', state: begun.state }, { 'X-Forwarded-For': '192.0.2.8' })
  expect(good.status).toBe(200)
})
