import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { readEntry } from '#src/account/login/allowlist.ts'
import { readConfig } from '#src/config.ts'
import type { Database, Tx } from '#src/platform/db/database.ts'
import { makeAccount } from '../../support/database.ts'
import { browserOf, type LoginService, startLoginService } from './service.ts'

const REQUIRED = {
  DATABASE_URL: 'postgres://login@127.0.0.1:1/none',
  MASTER_KEY: 'uX1mC2sM1rJc0m0F3l2c5Yk8tq9w3EJb7p6Zr4Vn1aQ=',
  BLOB_STORE: 'disk:none',
}
const PRODUCTION = {
  ...REQUIRED,
  MODE: 'production',
  REDIS_URL: 'redis://127.0.0.1:1',
  BASE_URL: 'https://api.example.test',
}
const MAIL = { SMTP_URL: 'smtps://mail.example.test', MAIL_FROM: 'Countersign <no-reply@example.test>' }

const started: LoginService[] = []
async function start(...args: Parameters<typeof startLoginService>): Promise<LoginService> {
  const service = await startLoginService(...args)
  started.push(service)
  return service
}
afterAll(() => Promise.all(started.map((service) => service.close())))

describe('a request for a link, where nobody signs up', () => {
  // What each transaction did, in order.
  const did: string[][] = []
  afterEach(() => void did.splice(0))
  const watch = (db: Database): Database => ({
    ...db,
    system: (reason, work, options) => {
      const statements: string[] = []
      if (reason === 'request login link') did.push(statements)
      const watched = (tx: Tx): Tx => ({
        ...tx,
        query: (text, values) => {
          statements.push(text)
          return tx.query(text, values)
        },
      })
      return db.system(reason, (tx) => work(watched(tx)), options)
    },
  })

  it('does the same for known, unknown and removed addresses; a mail goes to known ones', async () => {
    const service = await start({ SIGNUP: 'closed' }, { overrides: ({ db }) => ({ db: { ...db, ...watch(db) } }) })
    const { accountId } = await makeAccount(service.test)
    await service.addUser(accountId, { email: 'known@example.com' })
    await service.addUser(accountId, { email: 'removed@example.com', isRemoved: true })
    const answers = []
    for (const name of ['known', 'unknown', 'removed']) answers.push(await service.request(`${name}@example.com`))
    for (const answer of answers) expect(answer).toMatchObject({ status: 200, text: answers[0]?.text })
    expect(did).toHaveLength(3)
    expect(did[0]?.length).toBeGreaterThan(5)
    for (const statements of did) expect(statements).toEqual(did[0])
    const lanes = await service.test.owner(`SELECT DISTINCT lane, account_id FROM jobs WHERE queue = 'mail'`)
    expect(lanes).toEqual([{ lane: 'login', account_id: 'acc_service' }])
    expect((await service.deliver()).map(({ to }) => to)).toEqual([['known@example.com']])
    const rows = await service.test.owner('SELECT status, count(*)::int FROM mails GROUP BY 1 ORDER BY 1')
    expect(rows).toEqual([
      { status: 'dropped', count: 2 },
      { status: 'sent', count: 1 },
    ])
  })
})

describe('an echoed link', () => {
  it('is in the answer, signs in to the sandbox only, and makes no account where nobody signs up', async () => {
    const service = await start({ LOGIN_ECHO: '1', SIGNUP: 'closed' })
    const { accountId } = await makeAccount(service.test)
    await service.addUser(accountId, { email: 'known@example.com' })
    const asked = await service.request('known@example.com')
    const { link, token } = asked.json as { link: string; token: string }
    expect(link).toBe(`${service.services.platform.baseUrl}/login/link#${token}`)
    // The mail has the same link, which proves no more.
    expect(await service.tokenFor('known@example.com')).toBe(token)
    const answer = await service.use(token)
    expect(answer).toMatchObject({ status: 200, json: { environments: ['sandbox'], permissions: { live: [] } } })
    const headers = browserOf(answer)
    expect((await service.call({}, '/v1/claims', { headers })).status).toBe(200)
    const live = { ...headers, 'Service-Environment': 'live' }
    expect((await service.call({}, '/v1/claims', { headers: live })).json.code).toBe('environment_mismatch')
    expect((await service.call({}, '/v1/auth/session', { method: 'DELETE', headers })).status).toBe(200)

    // A page whose name was made to point here is of the same origin as its requests.
    const rebound = { Host: 'evil.example:8080', Origin: 'http://evil.example:8080' }
    expect((await service.request('known@example.com', { headers: rebound })).json).toEqual({ status: 'sent' })
    expect((await service.request('known@example.com', { headers: { Host: 'localhost:8080' } })).json).toMatchObject({
      token: expect.any(String),
    })

    // A link that is shown works, or is refused in so many words.
    for (let at = 0; at < 25; at += 1) {
      const { status } = await service.request(`nobody${at}@example.com`, {
        headers: { 'X-Forwarded-For': '203.0.113.9' },
      })
      expect([at, status]).toEqual([at, at < 20 ? 200 : 429])
    }
    expect(answer.headers['set-cookie']?.join()).not.toContain('svc_browser')

    const unknown = await service.request('unknown@example.com')
    expect(Object.keys(unknown.json)).toEqual(Object.keys(asked.json))
    expect((await service.use(String(unknown.json.token))).json.errors).toMatchObject([{ code: 'invalid_link' }])
  })
})

describe('the allowlist', () => {
  it('refuses at the request, at the use of a link and for operators, and does not tell who has an account', async () => {
    const service = await start({ DASHBOARD_LOGIN_ALLOWLIST: 'mika@example.com, @Acme.example', SIGNUP: 'open' })
    const outside = await service.request('other@example.com')
    expect(outside).toMatchObject({ status: 403, json: { code: 'beta_access_required' } })
    expect((await service.request('a@sub.acme.example')).json.code).toBe('beta_access_required')
    expect(await service.deliver()).toEqual([])
    for (const email of ['mika@example.com', 'anna@acme.example']) {
      expect((await service.enter(email)).answer.status).toBe(200)
    }
    const { accountId } = await makeAccount(service.test)
    const print = service.services.account.printLink
    await expect(print('other@example.com', { accountId })).rejects.toThrow('DASHBOARD_LOGIN_ALLOWLIST')
    // A link from before the list had another content.
    await service.request('mika@example.com')
    const token = await service.tokenFor('mika@example.com')
    await service.test.owner(`UPDATE login_links SET email = 'other@example.com' WHERE used_at IS NULL`)
    expect((await service.use(token)).json.code).toBe('beta_access_required')
    expect((await service.use(token)).json.code).toBe('invalid_request')
    // Guesses of addresses are limited: what is refused then looks like a listed address, which goes on.
    const headers = { 'X-Forwarded-For': '203.0.113.50' }
    const guess = (at: number) => service.request(`guess${at}@example.com`, { headers })
    for (let at = 0; at < 20; at += 1) expect((await guess(at)).json.code).toBe('beta_access_required')
    expect(await guess(20)).toMatchObject({ status: 200, text: '{"status":"sent"}' })
    expect(await service.request('anna@acme.example', { headers })).toMatchObject({ text: '{"status":"sent"}' })
    expect((await service.deliver()).map(({ to }) => to)).toEqual([['anna@acme.example']])
  })

  it('has entries that are addresses or domains', () => {
    expect(readEntry('@MÜNCHEN.example')).toBe('@xn--mnchen-3ya.example')
    for (const entry of ['example.com', '@', 'a@b@c']) expect(() => readEntry(entry)).toThrow(/neither/)
    expect(() => readConfig({ ...REQUIRED, DASHBOARD_LOGIN_ALLOWLIST: 'x' })).toThrow('DASHBOARD_LOGIN_ALLOWLIST')
  })
})

describe('a link of the operator', () => {
  it('gives a full session to a user, makes an owner where an account is named, and is replaced by the next only', async () => {
    const service = await start({ LOGIN_LINKS: 'off', SIGNUP: 'closed' })
    const { accountId } = await makeAccount(service.test)
    const { printLink } = service.services.account
    expect((await service.request('mika@example.com')).status).toBe(404)
    await expect(printLink('mika@example.com')).rejects.toThrow('--account')
    await expect(printLink('mika')).rejects.toThrow('address')
    await expect(printLink('mika@example.com', { accountId: 'acc_nobody' })).rejects.toThrow('no account')
    const tokenOf = async (...args: Parameters<typeof printLink>) => (await printLink(...args)).link.split('#')[1] ?? ''

    const first = await tokenOf('Mika@example.com', { accountId })
    const second = await tokenOf('mika@example.com')
    expect((await service.use(first)).status).toBe(400)
    const answer = await service.use(second)
    const expected = { method: 'operator_link', role: 'owner', environments: ['sandbox', 'live'] }
    expect(answer.json).toMatchObject({ ...expected, account: { account_id: accountId } })
    await expect(printLink('mika@example.com', { accountId: 'acc_other' })).rejects.toThrow(accountId)
    expect(await printLink('mika@example.com', { at: 'https://other.example' })).toMatchObject({
      link: expect.stringMatching(/^https:\/\/other\.example\/login\/link#/),
      account: accountId,
    })
    const actions = await service.test.owner('SELECT action, actor_kind FROM audit_entries ORDER BY id')
    expect(actions).toMatchObject([
      { action: 'login_link.printed', actor_kind: 'operator' },
      { action: 'login_link.printed', actor_kind: 'operator' },
      // With the link that the second has replaced.
      { action: 'user.sign_in_refused', actor_kind: 'session' },
      { action: 'user.signed_in', actor_kind: 'session' },
      { action: 'login_link.printed', actor_kind: 'operator' },
    ])
    await service.test.owner(`UPDATE users SET deprovisioned_at = now() WHERE email = 'mika@example.com'`)
    await expect(printLink('mika@example.com', { accountId })).rejects.toThrow('removed')
  })

  it('is refused for an account that is being erased or was, and makes no owner in it', async () => {
    const service = await start({})
    const { accountId } = await makeAccount(service.test)
    const { printLink } = service.services.account
    const closeAgo = (days: number) =>
      service.test.owner("UPDATE accounts SET closed_at = now() - $2 * interval '1 day' WHERE id = $1", [
        accountId,
        days,
      ])
    await closeAgo(31)
    await expect(printLink('mika@example.com', { accountId })).rejects.toThrow(/erased/)
    await service.test.db.system('test', (tx) => tx.query('SELECT finish_erasure($1)', [accountId]))
    await expect(printLink('mika@example.com', { accountId })).rejects.toThrow(/erased/)
    expect(await service.test.owner('SELECT FROM users WHERE account_id = $1', [accountId])).toEqual([])

    const other = await makeAccount(service.test)
    expect(await printLink('kim@example.com', { accountId: other.accountId })).toMatchObject({
      email: 'kim@example.com',
    })
    await service.test.owner("UPDATE accounts SET closed_at = now() - interval '31 days' WHERE id = $1", [
      other.accountId,
    ])
    await expect(printLink('kim@example.com')).rejects.toThrow(/erased/)
  })
})

describe('the configuration', () => {
  it('refuses what production must not do, and demands a mail server where links are mailed', () => {
    expect(() => readConfig(PRODUCTION)).toThrow('SMTP_URL')
    expect(() => readConfig({ ...PRODUCTION, LOGIN_LINKS: 'off' })).not.toThrow()
    expect(() => readConfig({ ...PRODUCTION, ...MAIL })).not.toThrow()
    expect(() => readConfig({ ...PRODUCTION, SMTP_URL: MAIL.SMTP_URL })).toThrow('MAIL_FROM')
    expect(() => readConfig({ ...PRODUCTION, ...MAIL, LOGIN_ECHO: '1' })).toThrow('LOGIN_ECHO')
    expect(() => readConfig({ ...PRODUCTION, ...MAIL, MAIL_DIR: '/tmp' })).toThrow('MAIL_DIR')
    for (const MAIL_FROM of ['nobody', 'A <b@c>\r\nBcc: d@e', 'A <b@c>, D <e@f>', '"A" <b>']) {
      expect(() => readConfig({ ...REQUIRED, MAIL_FROM }), MAIL_FROM).toThrow('MAIL_FROM')
    }
    expect(() => readConfig({ ...REQUIRED, SMTP_URL: 'http://mail.example.test' })).toThrow('SMTP_URL')
  })
})
