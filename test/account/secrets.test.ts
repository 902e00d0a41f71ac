// What the operator writes about an account stays with the operator; what browsers hold outlives a rotation of the master key.

import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { suspendAccount, unsuspendAccount } from '#src/account/keys/operate.ts'
import { createSessionCookies } from '#src/platform/http/session-cookie.ts'
import { makeAccount } from '../support/database.ts'
import { cookiesOf } from '../support/http.ts'
import { startTestService, type TestService } from '../support/service.ts'
import { routesOf } from '../support/services.ts'

const REASON = 'owes us for the whole of May'
let service: TestService
beforeAll(async () => {
  service = await startTestService()
})
afterAll(() => service.close())

it('no route answers the reason of a suspension, to a key, a session or nobody, during it or after it', async () => {
  const { db } = service.test
  const { accountId } = await makeAccount(service.test)
  const { headers } = await service.signIn(accountId)
  const { key } = await service.services.account.keys.create(
    { accountId, environment: 'sandbox' },
    { name: 'k', scopes: ['all'] },
  )
  const routes = routesOf(service.services)
  const knockAll = async () => {
    for (const { method, path, rawBody } of routes) {
      const at = path.replaceAll(/:([a-z]+)/g, (_, name) => (name === 'index' ? '0' : 'x'))
      const type = rawBody?.contentTypes[0]?.replace('*', 'jpeg')
      const content = type === undefined ? {} : { body: '{}', headers: { 'Content-Type': type } }
      const isChange = method !== 'GET'
      for (const sent of [{ key }, { headers }, {}]) {
        // Changes would end the session or close the account: they are refused for an unknown parameter.
        const answer = await service.call(sent, isChange ? `${at}?no_such=1` : at, {
          method,
          ...content,
          headers: { ...content.headers, ...('headers' in sent ? sent.headers : {}) },
        })
        expect([method, path, answer.text.includes(REASON)]).toEqual([method, path, false])
        expect(JSON.stringify(answer.headers)).not.toContain(REASON)
      }
    }
  }
  await db.system('test', (tx) => suspendAccount(tx, accountId, REASON))
  await knockAll()
  expect(JSON.stringify(service.app.logged)).not.toContain(REASON)
  const tables = await service.test.owner<{ name: string }>(
    `SELECT c.relname AS name FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'account_id'
     WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p')`,
  )
  for (const { name } of tables) {
    const rows = await service.test.owner(`SELECT to_jsonb(t)::text AS row FROM ${name} t WHERE account_id = $1`, [
      accountId,
    ])
    expect([name, JSON.stringify(rows).includes(REASON)]).toEqual([name, false])
  }
  const exported = service.services.features.flatMap(({ data = [] }) => data).find(({ table }) => table === 'accounts')
  expect(exported?.secrets).toContain('suspension_reason')
  await db.system('test', (tx) => unsuspendAccount(tx, accountId))
  await knockAll()
  expect((await service.call({}, '/v1/account', { headers })).status).toBe(200)
})

it('CSRF tokens from before a rotation of the master key still work, and those of a key that is gone do not', async () => {
  const [old, current, gone] = [randomBytes(32), randomBytes(32), randomBytes(32)]
  const baseUrl = 'http://127.0.0.1:1'
  const rotated = createSessionCookies({ key: current, previous: [old], baseUrl })
  const tokenUnder = (key: Buffer) => createSessionCookies({ key, baseUrl }).tokenOf('uss_1')
  const check = (token: string, sessionId = 'uss_1') => {
    const headers = { 'x-csrf-token': token }
    rotated.check({ headers, headersDistinct: { 'x-csrf-token': [token] } }, sessionId)
  }
  check(tokenUnder(old))
  check(tokenUnder(current))
  expect(rotated.tokenOf('uss_1')).toBe(tokenUnder(current))
  for (const refuse of [() => check(tokenUnder(gone)), () => check(tokenUnder(old), 'uss_2')]) {
    expect(refuse).toThrow(expect.objectContaining({ code: 'csrf_token_invalid' }))
  }

  // And so do the proofs of browsers that signed in before.
  const facts = { email: 'a@example.com', createdAt: new Date(), isSandboxOnly: false }
  const recognizedUnder = (key: Buffer) => {
    const issued = createSessionCookies({ key, baseUrl }).enter({ id: 'uss_1', secret: 's', maxAgeSeconds: 1 }, facts)
    const cookie = issued.map((line) => line.split(';')[0]).join('; ')
    return rotated.recognize({ headers: { cookie } }, facts.email, facts.createdAt)
  }
  expect([old, current, gone].map((key) => typeof recognizedUnder(key))).toEqual(['string', 'string', 'undefined'])

  // The same in the service: its key is the one before, for a browser that signed in under another one.
  const before = createSessionCookies({ key: Buffer.alloc(32, 9), baseUrl })
  const restarted = await startTestService({
    env: { MASTER_KEY_ID: 'k2', MASTER_KEYS_PREVIOUS: `k1=${Buffer.alloc(32, 9).toString('base64')}` },
  })
  const { accountId } = await makeAccount(restarted.test)
  const { sessionId, headers } = await restarted.signIn(accountId)
  const [, secret = ''] = /svc_session=([^;]+)/.exec(headers.Cookie ?? '') ?? []
  const kept = cookiesOf({ id: sessionId, secret }, { cookies: before })
  expect(kept['X-CSRF-Token']).not.toBe(headers['X-CSRF-Token'])
  const ended = await restarted.call({}, '/v1/auth/session', { method: 'DELETE', headers: kept })
  expect(ended.status).toBe(200)
  await restarted.close()
})
