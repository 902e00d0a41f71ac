// Limits on links: strangers can't use up what a person, an office or a browser needs to sign in, and no answer, cookie or
// counter shows who has an account.

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Tx } from '#src/platform/db/database.ts'
import { makeAccount } from '../../support/database.ts'
import type { TestAnswer } from '../../support/http.ts'
import { type LoginService, startLoginService } from './service.ts'

const MINUTE_MS = 60_000
const BROWSER =
  /^svc_browser=([A-Za-z0-9_-]{22}\.[0-9a-z]+\.[A-Za-z0-9_-]{43}); Path=\/; SameSite=Lax; Max-Age=15552000; HttpOnly$/

let service: LoginService
let accountId: string
// What each request for a link sent to Postgres, in order.
const requested: string[][] = []
beforeAll(async () => {
  service = await startLoginService(
    { SIGNUP: 'closed' },
    {
      overrides: ({ db }) => ({
        db: {
          ...db,
          system: (reason, work, options) => {
            const statements: string[] = []
            if (reason === 'request login link') requested.push(statements)
            return db.system(reason, (tx) => work(watched(tx, statements)), options)
          },
        },
      }),
    },
  )
  accountId = (await makeAccount(service.test)).accountId
})
afterAll(() => service.close())

const watched = (tx: Tx, statements: string[]): Tx => ({
  ...tx,
  query: (text, values) => {
    statements.push(text)
    return tx.query(text, values)
  },
  // Both ends of a savepoint cost the same.
  adhoc: (text, values) => {
    statements.push(text.replace(/^(RELEASE|ROLLBACK TO) /, 'END '))
    return tx.adhoc(text, values)
  },
})

let people = 0
async function newUser(): Promise<string> {
  const email = newAddress()
  await service.addUser(accountId, { email })
  return email
}
function newAddress(): string {
  people += 1
  return `user${people}@example.com`
}
const from = (ip: string, cookie?: string) => ({
  headers: { 'X-Forwarded-For': ip, ...(cookie !== undefined && { Cookie: cookie }) },
})
const request = (email: string, ip?: string, cookie?: string) =>
  service.request(email, ip === undefined ? {} : from(ip, cookie))

/** The tokens of mails that arrive now, in order. */
async function mailed(): Promise<string[]> {
  return (await service.deliver()).map(({ parsed }) => /link#([A-Za-z0-9_-]{43})\s/.exec(parsed.text ?? '')?.[1] ?? '')
}
async function signIn(email: string, ip: string): Promise<TestAnswer> {
  await request(email, ip)
  const [token = ''] = await mailed()
  return service.use(token, from(ip))
}
function browserCookieOf({ headers }: TestAnswer): string {
  const line = (headers['set-cookie'] ?? []).find((set) => set.startsWith('svc_browser='))
  return line?.split(';')[0] ?? ''
}
/** Requests from networks of which nobody signed in. */
let strangers = 0
async function requestAsStrangers(email: string, times: number): Promise<void> {
  for (let done = 0; done < times; done += 1) {
    strangers += 1
    const answer = await request(email, `203.${Math.floor(strangers / 250)}.7.${strangers % 250}`)
    expect(answer).toMatchObject({ status: 200, text: '{"status":"sent"}' })
  }
}
async function openLinks(email: string): Promise<number> {
  const rows = await service.test.owner(
    'SELECT id FROM login_links WHERE email = $1 AND used_at IS NULL AND voided_at IS NULL',
    [email],
  )
  return rows.length
}
async function sessionsOf(email: string): Promise<number> {
  const rows = await service.test.owner(
    'SELECT s.id FROM user_sessions s JOIN users u ON u.id = s.user_id WHERE u.email = $1 AND s.ended_at IS NULL',
    [email],
  )
  return rows.length
}
const setBack = (minutes: number) =>
  service.test.owner(
    'UPDATE attempts SET times = ARRAY(SELECT t - make_interval(mins => $1) FROM unnest(times) AS t ORDER BY t)',
    [minutes],
  )

describe('strangers who request links for a person', () => {
  it('end no link that the person has, and send a bounded number of mails', async () => {
    const email = await newUser()
    await request(email, '192.0.2.1')
    const [own = ''] = await mailed()
    await requestAsStrangers(email, 150)
    const others = await mailed()
    expect(others).toHaveLength(9)
    expect(await openLinks(email)).toBe(10)
    expect((await service.use(own)).status).toBe(200)
    for (const token of others) expect((await service.use(token)).json.code).toBe('invalid_request')
    expect(await openLinks(email)).toBe(0)
    // In an hour: ten in ten minutes.
    for (let part = 0; part < 6; part += 1) {
      await requestAsStrangers(email, 12)
      expect(await mailed()).toHaveLength(10)
      await setBack(10)
    }
  })

  it('use up neither the share of a browser that signed in before nor that of a network of a session', async () => {
    const email = await newUser()
    const cookie = browserCookieOf(await signIn(email, '192.0.2.10'))
    await requestAsStrangers(email, 150)
    expect(await mailed()).toHaveLength(10)

    await request(email, '192.0.2.11', cookie)
    const [byBrowser = ''] = await mailed()
    expect((await service.use(byBrowser, from('192.0.2.11'))).status).toBe(200)
    await requestAsStrangers(email, 150)
    await mailed()
    await request(email, '192.0.2.10')
    const [byNetwork = ''] = await mailed()
    expect((await service.use(byNetwork)).status).toBe(200)
    // A network of a session of somebody else.
    await requestAsStrangers(email, 20)
    await mailed()
    const other = await newUser()
    await signIn(other, '192.0.2.12')
    expect(await request(email, '192.0.2.12')).toMatchObject({ status: 200, text: '{"status":"sent"}' })
    expect(await mailed()).toEqual([])
  })

  it('in the network of the person leave the share of the browser, and links that work', async () => {
    const email = await newUser()
    const cookie = browserCookieOf(await signIn(email, '192.0.2.20'))
    await setBack(15)
    for (let at = 0; at < 5; at += 1) expect((await request(email, '192.0.2.20')).status).toBe(200)
    expect((await request(email, '192.0.2.20')).json.code).toBe('rate_limited')
    expect(await mailed()).toHaveLength(5)
    for (let at = 0; at < 5; at += 1) expect((await request(email, '192.0.2.20', cookie)).status).toBe(200)
    expect((await request(email, '192.0.2.20', cookie)).json.code).toBe('rate_limited')
    expect(await mailed()).toHaveLength(5)
  })

  it('leave a person without a mail only while earlier ones work', async () => {
    const email = await newUser()
    await requestAsStrangers(email, 20)
    const [token = ''] = await mailed()
    expect((await service.use(token, from('192.0.2.25'))).status).toBe(200)
    // The use ended the others, so the next request counts anew.
    await request(email, '192.0.2.26')
    expect(await mailed()).toHaveLength(1)
  })
})

describe('links of one address', () => {
  it('work side by side, and two that are used at the same moment give one session', async () => {
    for (let round = 0; round < 5; round += 1) {
      const email = await newUser()
      await request(email)
      await request(email)
      const tokens = await mailed()
      expect(tokens).toHaveLength(2)
      const answers = await Promise.all(tokens.map((token) => service.use(token)))
      expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 400])
      expect(await sessionsOf(email)).toBe(1)
      expect(await openLinks(email)).toBe(0)
    }
  })
})

describe('many people behind one address', () => {
  it('sign in within a quarter of an hour, sixty of them', async () => {
    for (let person = 0; person < 60; person += 1) {
      expect((await signIn(await newUser(), '192.0.2.30')).status).toBe(200)
    }
  })

  it('get links while one of them names addresses without a user, of which twenty an hour leave rows behind', async () => {
    const rows = () => service.test.owner<{ id: string }>(`SELECT id FROM login_links WHERE email LIKE 'nobody%'`)
    for (let at = 0; at < 25; at += 1) {
      expect(await request(`nobody${at}@example.com`, '192.0.2.31')).toMatchObject({ status: 200 })
    }
    expect(await rows()).toHaveLength(20)
    expect(await service.count('mails')).toBe(await service.count("jobs WHERE queue = 'mail'"))
    expect((await signIn(await newUser(), '192.0.2.31')).status).toBe(200)
    for (let at = 25; at < 400; at += 1) await request(`nobody${at}@example.com`, '192.0.2.31')
    expect(await rows()).toHaveLength(20)
    // Beyond 300 requests of the network, a person gets one mail in ten minutes: who has one can sign in.
    const email = await newUser()
    await request(email, '192.0.2.31')
    await request(email, '192.0.2.31')
    const tokens = await mailed()
    expect(tokens).toHaveLength(1)
    const answer = await service.use(tokens[0] ?? '', from('192.0.2.31'))
    expect(answer.status).toBe(200)
    // The network is known to be that of the person from now on, and so is the browser.
    await request(email, '192.0.2.31')
    await request(email, '192.0.2.31')
    await request(email, '192.0.2.31', browserCookieOf(answer))
    expect(await mailed()).toHaveLength(3)
  })

  it('use their links while one of them guesses tokens, whose guesses are refused after twenty', async () => {
    const email = await newUser()
    await request(email, '192.0.2.32')
    const [token = ''] = await mailed()
    const codes = []
    for (let at = 0; at < 25; at += 1) {
      const answer = await service.use(String(at).padStart(43, 'A'), from('192.0.2.32'))
      codes.push(answer.json.code)
      if (at >= 20) expect(Number(answer.headers['retry-after'])).toBeGreaterThan(3_000)
    }
    expect(codes).toEqual([...Array(20).fill('invalid_request'), ...Array(5).fill('rate_limited')])
    expect((await service.use(token, from('192.0.2.32'))).status).toBe(200)
    expect((await service.use(token, from('192.0.2.32'))).json.code).toBe('rate_limited')
  })

  it('count as one network with an IPv6 /64, and a /48 has limits of its own', async () => {
    const at = (network: number, host = 1) => `2001:db8:1:${network.toString(16)}::${host.toString(16)}`
    const email = await newUser()
    for (let host = 0; host < 5; host += 1) expect((await request(email, at(1, host))).status).toBe(200)
    expect((await request(email, at(1, 9))).json.code).toBe('rate_limited')
    for (let network = 2; network < 17; network += 1) expect((await request(email, at(network))).status).toBe(200)
    expect((await request(email, at(99))).json.code).toBe('rate_limited')
    expect((await request(email, '2001:db8:2::1')).status).toBe(200)
    const codes = []
    for (let network = 0; network < 101; network += 1) {
      codes.push((await service.use(String(network).padStart(43, 'B'), from(at(network)))).json.code)
    }
    expect(codes.filter((code) => code === 'invalid_request')).toHaveLength(100)
    expect(codes.at(-1)).toBe('rate_limited')
  })
})

describe('what a request shows', () => {
  it('is the same for users, removed users and unknown addresses, below and beyond each limit', async () => {
    const known = await newUser()
    const here = await newUser()
    const removed = newAddress()
    await service.addUser(accountId, { email: removed, isRemoved: true })
    const unknown = newAddress()
    const ip = '192.0.2.40'
    await signIn(here, ip)
    const emails = [known, here, removed, unknown]
    for (const email of [known, removed, unknown]) await request(email, ip)
    const ask = async (by: string) => {
      const answers = []
      requested.splice(0)
      for (const email of emails) answers.push(await request(email, by))
      const shown = answers.map(({ status, json, headers }) => [status, json.status, json.code, headers['set-cookie']])
      for (const one of shown) expect(one).toEqual(shown[0])
      expect(requested).toHaveLength(emails.length)
      for (const statements of requested) expect(statements).toEqual(requested[0])
      return answers[0]?.json.code
    }
    expect(await ask(ip)).toBeUndefined()
    // The first requests of the network, then all of them.
    for (let at = 0; at < 25; at += 1) await request(`anybody${at}@example.com`, ip)
    expect(await ask(ip)).toBeUndefined()
    for (let at = 25; at < 310; at += 1) await request(`anybody${at}@example.com`, ip)
    expect(await ask(ip)).toBeUndefined()
    // Mails to the address from everywhere.
    for (const email of emails) await requestAsStrangers(email, 15)
    expect(await ask('192.0.2.41')).toBeUndefined()
    expect(await ask(ip)).toBeUndefined()
    expect(await ask(ip)).toBe('rate_limited')
  })

  it('changes no counter of others by whether the address has an account', async () => {
    const countersOf = async (email: string) => {
      await service.test.owner('DELETE FROM attempts')
      for (let at = 0; at < 3; at += 1) await request(email, '2001:db8:50::1')
      const rows = await service.test.owner<{ hash: string; counted: number }>(
        `SELECT encode(subject_hash, 'hex') AS hash, cardinality(times) AS counted FROM attempts ORDER BY 1`,
      )
      return rows.map(({ hash, counted }) => `${hash} ${counted}`)
    }
    const ofUser = await countersOf(await newUser())
    const ofUnknown = await countersOf(newAddress())
    // Of the network and its site alone: twice each. Those of the address count the address.
    expect(ofUser).toHaveLength(7)
    expect(ofUnknown).toHaveLength(7)
    expect(ofUser.filter((counter) => ofUnknown.includes(counter))).toHaveLength(4)
  })
})

describe('the cookie of a browser that signed in', () => {
  it('is one that scripts can’t read, is no session, and stays after signing out', async () => {
    const email = await newUser()
    const answer = await signIn(email, '192.0.2.60')
    const [, , line = ''] = answer.headers['set-cookie'] ?? []
    expect(line).toMatch(BROWSER)
    expect(line).not.toContain('user')
    const Cookie = browserCookieOf(answer)
    expect((await service.call({}, '/v1/auth/session', { headers: { Cookie } })).status).toBe(401)
    const [session = '', csrf = ''] = (answer.headers['set-cookie'] ?? []).map((set) => set.split(';')[0] ?? '')
    const headers = { Cookie: `${session}; ${csrf}; ${Cookie}`, 'X-CSRF-Token': String(answer.json.csrf_token) }
    const left = await service.call({}, '/v1/auth/session', { method: 'DELETE', headers })
    expect(left.status).toBe(200)
    expect(left.headers['set-cookie']?.join()).not.toContain('svc_browser')
  })

  it('is worth nothing for another user, changed, after half a year, or twice', async () => {
    const email = await newUser()
    const other = await newUser()
    const cookie = browserCookieOf(await signIn(email, '192.0.2.70'))
    const others = browserCookieOf(await signIn(other, '192.0.2.71'))
    const [id = '', until = '', mac = ''] = cookie.slice('svc_browser='.length).split('.')
    const later = (Number.parseInt(until, 36) + 1_000_000).toString(36)
    await requestAsStrangers(email, 15)
    await mailed()
    let clients = 0
    const isKnown = async (sent: string) => {
      clients += 1
      await request(email, `192.0.3.${clients}`, sent)
      return (await mailed()).length === 1
    }
    for (const wrong of [
      others,
      `svc_browser=${id}.${later}.${mac}`,
      `svc_browser=${'A'.repeat(22)}.${until}.${mac}`,
      `svc_browser=${id}.${until}.${'A'.repeat(43)}`,
      `svc_browser=${id}.${until}`,
      `${cookie}; ${cookie}`,
      cookie.replace('svc_', ''),
    ]) {
      expect([wrong, await isKnown(wrong)]).toEqual([wrong, false])
    }
    expect(await isKnown(cookie)).toBe(true)
    service.clock.now = new Date(Date.now() + 180 * 24 * 60 * MINUTE_MS + 1_000)
    for (let at = 0; at < 10; at += 1) await request(email, `192.0.4.${at}`)
    await mailed()
    expect(await isKnown(cookie)).toBe(false)
    service.clock.now = undefined
  })
})
