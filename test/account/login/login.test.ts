import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { makeAccount } from '../../support/database.ts'
import { until } from '../../support/until.ts'
import { browserOf, type LoginService, startLoginService } from './service.ts'

let service: LoginService
beforeAll(async () => {
  service = await startLoginService({ SIGNUP: 'open' })
})
afterAll(() => service.close())

let people = 0
function newPerson(): string {
  people += 1
  return `person${people}@example.com`
}
const INVALID = {
  status: 400,
  json: { code: 'invalid_request', errors: [{ pointer: '/token', code: 'invalid_link' }] },
}

describe('a login link', () => {
  it('is mailed, signs its reader in once, and makes an account for an unknown address', async () => {
    const email = newPerson()
    const asked = await service.request(email.toUpperCase())
    expect(asked).toMatchObject({ status: 200, json: { status: 'sent' } })
    expect(asked.json).not.toHaveProperty('token')
    const token = await service.tokenFor(email)
    const answer = await service.use(token, { headers: { 'User-Agent': 'A browser' } })
    expect(answer).toMatchObject({
      status: 200,
      json: {
        user: { email },
        account: { name: email, plan: 'developer' },
        role: 'owner',
        method: 'magic_link',
        environments: ['sandbox', 'live'],
        idle_timeout_seconds: 3_600,
      },
    })
    const [session = '', csrf = ''] = answer.headers['set-cookie'] ?? []
    expect(session).toMatch(/^svc_session=[A-Za-z0-9_-]{43}; Path=\/; SameSite=Lax; Max-Age=43200; HttpOnly$/)
    expect(csrf).toBe(`svc_csrf=${answer.json.csrf_token}; Path=/; SameSite=Lax; Max-Age=43200`)
    expect(answer.headers['cache-control']).toBe('no-store')
    expect(await service.use(token)).toMatchObject(INVALID)

    const { account } = answer.json as { account: { account_id: string } }
    const entries = await service.test.owner(
      'SELECT action, actor_kind, user_agent, subject_id, after FROM audit_entries WHERE account_id = $1 ORDER BY id',
      [account.account_id],
    )
    expect(entries).toMatchObject([
      { action: 'account.created', actor_kind: 'session', subject_id: account.account_id },
      { action: 'user.signed_in', user_agent: 'A browser', after: { method: 'magic_link', sandbox_only: false } },
      { action: 'user.sign_in_refused', after: { reason: 'link_ended' } },
    ])
    // The second login finds the account of the first.
    const again = await service.enter(email)
    expect(again.answer.json.account).toEqual(answer.json.account)
  })

  it('works beside later ones until one is used, ends after ten minutes, and its mail is not sent then', async () => {
    const email = newPerson()
    await service.request(email)
    const first = await service.tokenFor(email)
    await service.request(email)
    const second = await service.tokenFor(email)
    expect(second).not.toBe(first)
    expect((await service.use(first)).status).toBe(200)
    expect(await service.use(second)).toMatchObject(INVALID)

    const start = Date.now()
    const other = newPerson()
    service.clock.now = new Date(start)
    await service.request(other)
    const third = await service.tokenFor(other)
    service.clock.now = new Date(start + 10 * 60_000)
    expect(await service.use(third)).toMatchObject(INVALID)
    await service.request(other)
    await service.request(other)
    service.clock.now = new Date(start + 20 * 60_000)
    expect(await service.deliver()).toEqual([])
    service.clock.now = undefined
    // A link that was used before the mail of another one ends that mail, too.
    await service.request(other)
    const fourth = await service.tokenFor(other)
    await service.request(other)
    expect((await service.use(fourth)).status).toBe(200)
    expect(await service.deliver()).toEqual([])
  })

  it('lets one of two uses at the same moment win', async () => {
    const email = newPerson()
    await service.request(email)
    const token = await service.tokenFor(email)
    const answers = await Promise.all(Array.from({ length: 8 }, () => service.use(token)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(answers.filter(({ json }) => json.code === 'invalid_request')).toHaveLength(7)
    const [row] = await service.test.owner('SELECT count(*)::int AS users FROM users WHERE email = $1', [email])
    expect(row).toEqual({ users: 1 })
  })

  it('of two people with one new address at the same moment makes one account', async () => {
    const email = newPerson()
    await Promise.all(Array.from({ length: 4 }, () => service.request(email)))
    const tokens = (await service.deliver()).map(({ parsed }) => /#([A-Za-z0-9_-]{43})\s/.exec(parsed.text ?? '')?.[1])
    const answers = await Promise.all(tokens.map((token) => service.use(token ?? '')))
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 400, 400, 400])
    expect(await service.test.owner('SELECT id FROM users WHERE email = $1', [email])).toHaveLength(1)
  })

  it('does not work for a removed user, nor for what is no token', async () => {
    const email = newPerson()
    const { answer } = await service.enter(email)
    const { user } = answer.json as { user: { user_id: string } }
    await service.request(email)
    const token = await service.tokenFor(email)
    await service.test.owner('UPDATE users SET deprovisioned_at = now() WHERE id = $1', [user.user_id])
    expect(await service.use(token)).toMatchObject(INVALID)
    await service.request(email)
    // The mail is not sent either.
    expect(await service.deliver()).toEqual([])
    for (const wrong of ['x', '0'.repeat(43), `${token}=`, '../../etc/passwd']) {
      expect(await service.use(wrong)).toMatchObject(INVALID)
    }
  })

  it('ends the session that the browser had before', async () => {
    const before = await service.enter(newPerson())
    const email = newPerson()
    await service.request(email)
    const answer = await service.use(await service.tokenFor(email), {
      headers: { Cookie: before.headers.Cookie ?? '' },
    })
    expect(answer.status).toBe(200)
    expect((await service.call({}, '/v1/auth/session', { headers: before.headers })).json.code).toBe('session_expired')
  })

  it('is only requested and used by our own pages and by programs', async () => {
    const email = newPerson()
    await service.request(email)
    const token = await service.tokenFor(email)
    for (const headers of [
      { Origin: 'https://evil.example' },
      { Origin: 'null' },
      { 'Sec-Fetch-Site': 'cross-site' },
    ]) {
      expect((await service.request(email, { headers })).json.code).toBe('csrf_token_invalid')
      expect((await service.use(token, { headers })).json.code).toBe('csrf_token_invalid')
    }
    const form = { 'Content-Type': 'application/x-www-form-urlencoded' }
    expect((await service.use(token, { headers: form })).status).toBe(415)
    const headers = {
      Origin: service.services.platform.baseUrl,
      'Sec-Fetch-Site': 'same-origin',
      'Idempotency-Key': 'k',
    }
    expect((await service.use(token, { headers })).status).toBe(200)
    expect(await service.use(token, { headers })).toMatchObject(INVALID)
  })

  it('is refused for what is no address, naming the field', async () => {
    for (const email of ['', 'a@', 'a@b@c', 'a@example.com\r\nBcc: b@example.com', `${'a'.repeat(300)}@example.com`]) {
      const answer = await service.request(email)
      expect([email, answer.json]).toMatchObject([email, { code: 'invalid_request', errors: [{ pointer: '/email' }] }])
    }
    expect((await service.request('a@example.com', { json: { email: 1 } })).json.code).toBe('invalid_request')
    expect((await service.request('a@example.com', { json: { email: 'a@example.com', role: 'owner' } })).status).toBe(
      400,
    )
  })
})

describe('the limits', () => {
  it('allow five requests for an address in 15 minutes to one client, and others go on', async () => {
    const email = newPerson()
    const headers = { 'X-Forwarded-For': '203.0.113.1' }
    for (let at = 0; at < 5; at += 1) expect((await service.request(email, { headers })).status).toBe(200)
    const limited = await service.request(email, { headers })
    expect(limited).toMatchObject({ status: 429, json: { code: 'rate_limited' } })
    expect(Number(limited.headers['retry-after'])).toBeGreaterThan(14 * 60)
    expect((await service.request(email, { headers: { 'X-Forwarded-For': '203.0.113.2' } })).status).toBe(200)
    expect((await service.request(newPerson(), { headers })).status).toBe(200)
  })

  it('let a client that floods the service wait for itself, while keys are looked up as ever', async () => {
    const email = newPerson()
    const key = await service.makeCaller()
    const blocker = new pg.Client({ connectionString: service.test.ownerUrl })
    await blocker.connect()
    await blocker.query('BEGIN')
    await blocker.query(`SELECT pg_advisory_xact_lock(hashtextextended('login address ' || $1, 0))`, [email])
    const headers = { 'Content-Type': 'application/json', 'X-Forwarded-For': '203.0.113.77' }
    const ask = async () => {
      const init = { method: 'POST', headers, body: JSON.stringify({ email }) }
      return (await fetch(`${service.app.url}/v1/auth/magic-link`, init)).status
    }
    const statuses: number[] = []
    const flood = Array.from({ length: 40 }, () => ask().then((status) => void statuses.push(status)))
    // One runs and waits for the lock, twenty wait for it.
    await until(() => statuses.length === 19)
    expect(statuses).toEqual(Array(19).fill(503))
    expect((await service.call(key, '/v1/claims')).status).toBe(200)
    await blocker.query('COMMIT')
    await blocker.end()
    await Promise.all(flood)
    // More than five only where the lock's time-out, a 503, came before the commit.
    expect(statuses.slice(19).filter((status) => status === 200).length).toBeLessThanOrEqual(5)
    expect(statuses.slice(19)).toContain(429)
  })
})

it('a user of an account signs in with the role of the account', async () => {
  const { accountId } = await makeAccount(service.test)
  const email = newPerson()
  await service.addUser(accountId, { email, role: 'analyst' })
  const { answer, headers } = await service.enter(email)
  expect(answer.json).toMatchObject({ account: { account_id: accountId }, role: 'analyst' })
  expect((await service.call({}, '/v1/claims', { headers })).status).toBe(200)
  expect((await service.call({}, '/v1/webhook-endpoints', { headers })).json.code).toBe('insufficient_role')
  expect(browserOf(answer)).toEqual(headers)
})
