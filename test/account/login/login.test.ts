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
    ])
    // The second login finds the account of the first.
    const again = await service.enter(email)
    expect(again.answer.json.account).toEqual(answer.json.account)
  })

  it('is replaced by the next one, ends after ten minutes, and its mail is not sent then', async () => {
    const email = newPerson()
    await service.request(email)
    const first = await service.tokenFor(email)
    await service.request(email)
    const second = await service.tokenFor(email)
    expect(second).not.toBe(first)
    expect(await service.use(first)).toMatchObject(INVALID)
    expect((await service.use(second)).status).toBe(200)

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
    // Of two requests before the mail, one mail.
    await service.request(other)
    await service.request(other)
    expect(await service.deliver()).toHaveLength(1)
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
    await service.deliver()
    const open = await service.test.owner(
      'SELECT id FROM login_links WHERE email = $1 AND used_at IS NULL AND voided_at IS NULL',
      [email],
    )
    expect(open).toHaveLength(1)
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

  it('allow twenty requests an hour to one client, an IPv6 network counting as one', async () => {
    for (let at = 0; at < 20; at += 1) {
      const headers = { 'X-Forwarded-For': `2001:db8::${at}` }
      expect((await service.request(newPerson(), { headers })).status).toBe(200)
    }
    const headers = { 'X-Forwarded-For': '2001:db8::ffff' }
    expect((await service.request(newPerson(), { headers })).json.code).toBe('rate_limited')
  })

  it('allow an IPv6 site more than one of its networks, and not all the mails of a person', async () => {
    const from = (network: number, site = 1) => ({ 'X-Forwarded-For': `2001:db8:${site}:${network.toString(16)}::1` })
    const email = newPerson()
    for (let at = 0; at < 15; at += 1) {
      expect((await service.request(email, { headers: from(at) })).status).toBe(200)
    }
    expect((await service.request(email, { headers: from(99) })).json.code).toBe('rate_limited')
    expect((await service.request(email, { headers: from(0, 2) })).status).toBe(200)
    // Each network far below its own limit.
    for (let at = 0; at < 85; at += 1) {
      expect((await service.request(newPerson(), { headers: from(100 + at) })).status).toBe(200)
    }
    expect((await service.request(newPerson(), { headers: from(300) })).json.code).toBe('rate_limited')
    expect((await service.request(newPerson(), { headers: from(300, 2) })).status).toBe(200)
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

  it('allow one client fifteen requests an hour for an address, so that a few clients lock no person out', async () => {
    const email = newPerson()
    for (let client = 1; client <= 4; client += 1) {
      const headers = { 'X-Forwarded-For': `203.0.114.${client}` }
      // As often as it may, every quarter of an hour.
      for (let quarter = 0; quarter < 3; quarter += 1) {
        for (let at = 0; at < 5; at += 1) expect((await service.request(email, { headers })).status).toBe(200)
        await service.test.owner(
          "UPDATE attempts SET times = ARRAY(SELECT t - interval '15 minutes' FROM unnest(times) t ORDER BY t)",
        )
      }
      const limited = await service.request(email, { headers })
      expect([client, limited.json.code]).toEqual([client, 'rate_limited'])
      await service.test.owner(
        "UPDATE attempts SET times = ARRAY(SELECT t + interval '45 minutes' FROM unnest(times) t ORDER BY t)",
      )
    }
    expect((await service.request(email)).status).toBe(200)
  })

  it('allow one mailbox 150 mails an hour, from all clients together', async () => {
    const email = newPerson()
    for (let at = 0; at < 150; at += 1) expect((await service.request(email)).status).toBe(200)
    expect((await service.request(email)).json.code).toBe('rate_limited')
  })

  it('refuse a client that guesses tokens, within a few dozen guesses', async () => {
    const headers = { 'X-Forwarded-For': '203.0.113.9' }
    const codes = new Map<string, number>()
    for (let round = 0; round < 10; round += 1) {
      const guesses = Array.from({ length: 20 }, (_, at) =>
        service.use(String(round * 20 + at).padStart(43, 'A'), { headers }),
      )
      for (const { json } of await Promise.all(guesses))
        codes.set(json.code ?? '', (codes.get(json.code ?? '') ?? 0) + 1)
    }
    expect(Object.fromEntries(codes)).toEqual({ invalid_request: 60, rate_limited: 140 })
    const email = newPerson()
    await service.request(email)
    const token = await service.tokenFor(email)
    expect((await service.use(token, { headers })).json.code).toBe('rate_limited')
    // The limit did not use the link up.
    expect((await service.use(token)).status).toBe(200)
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
