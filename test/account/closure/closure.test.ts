// Closing an account over HTTP, undoing it, and its erasure after 30 days.

import { afterAll, beforeAll, expect, it } from 'vitest'
import { createClosedAccounts } from '#src/account/closure/erase.ts'
import { newId } from '#src/platform/ids.ts'
import { enqueue } from '#src/platform/jobs/backlog.ts'
import { makePhone, shoot } from '../../attest/claims/phone.ts'
import { type Service, startService } from '../../attest/claims/service.ts'
import { fillEveryTable } from '../../support/rows.ts'
import { type ClosureFixture, createClosureFixture, PATH } from './fixture.ts'

const DAY_MS = 86_400_000

let service: Service
let fixture: ClosureFixture
beforeAll(async () => {
  service = await startService()
  fixture = createClosureFixture(service)
})
afterAll(() => service?.close())

/** Rows of the account in every table that has any. */
async function rowsOf(accountId: string): Promise<Record<string, number>> {
  const tables = await service.test.owner<{ name: string }>(
    `SELECT c.relname AS name FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'account_id'
     WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') ORDER BY 1`,
  )
  const counts: Record<string, number> = {}
  for (const { name } of tables) {
    const rows = await service.test.owner(`SELECT FROM ${name} WHERE account_id = $1`, [accountId])
    if (rows.length > 0) counts[name] = rows.length
  }
  return counts
}

async function blobsOf(accountId: string): Promise<number> {
  let count = 0
  for (const environment of ['sandbox', 'live'] as const) {
    for await (const page of service.store.list({ accountId, environment })) count += page.length
  }
  return count
}

it('is the decision of an owner, who names the account, in a session that proved its address', async () => {
  const owned = await fixture.makeOwned()
  const { accountId, owner } = owned
  const admin = await service.signIn(accountId, { role: 'admin' })
  const echoed = await service.signIn(accountId, { isSandboxOnly: true })
  const confirm = { confirm: accountId }
  expect((await fixture.ask(admin, 'POST', PATH, confirm)).json.code).toBe('insufficient_role')
  expect((await fixture.ask(echoed, 'POST', PATH, confirm)).json.code).toBe('environment_mismatch')
  const wrong = await fixture.ask(owner, 'POST', PATH, { confirm: 'another' })
  expect(wrong.json.errors).toMatchObject([{ pointer: '/confirm', code: 'mismatch' }])
  expect((await fixture.ask(owner, 'DELETE', PATH)).json.code).toBe('conflict')
  expect((await fixture.ask(owner, 'GET', PATH)).json).toEqual({
    account_id: accountId,
    closed_at: null,
    closed_by: null,
    erased_after: null,
  })
})

it('refuses keys and other users at once, holds jobs, and leaves owners to read, export and undo', async () => {
  const owned = await fixture.makeOwned()
  const { accountId, key, owner } = owned
  const admin = await service.signIn(accountId, { role: 'admin' })
  const scope = { accountId, environment: 'sandbox' as const }
  const add = () =>
    service.test.db.tenant(scope, (tx) =>
      enqueue(tx, 'attest', scope, [{ payload: { attestationId: newId('att', 'sandbox') } }]),
    )
  await add()
  const { json, status } = await fixture.close(owned)
  expect([status, json]).toEqual([
    200,
    {
      account_id: accountId,
      closed_at: expect.any(String),
      closed_by: { type: 'user', id: owner.userId, label: expect.any(String) },
      erased_after: expect.any(String),
    },
  ])
  expect(Date.parse(String(json.erased_after)) - Date.parse(String(json.closed_at))).toBe(30 * DAY_MS)
  expect((await fixture.close(owned)).json.code).toBe('conflict')

  const byKey = await service.call({ key }, '/v1/claims')
  expect([byKey.status, byKey.json.code]).toEqual([403, 'account_suspended'])
  expect((await fixture.ask(admin, 'GET', '/v1/claims')).json.code).toBe('account_suspended')
  expect((await fixture.ask(owner, 'GET', '/v1/claims')).status).toBe(200)
  const change = { url: 'https://a.example.com/', event_types: ['*'] }
  expect((await fixture.ask(owner, 'POST', '/v1/webhook-endpoints', change)).json.code).toBe('account_suspended')
  expect((await fixture.ask(owner, 'POST', '/v1/account/export', {})).status).toBe(202)

  // A job that was tried again later, and the export, which goes on.
  await add()
  expect(await fixture.dueJobs(accountId)).toBe(2)
  await fixture.runClock()
  expect(await fixture.dueJobs(accountId)).toBe(1)

  await fixture.backdate(accountId, 29)
  expect((await fixture.ask(owner, 'DELETE', PATH)).json).toMatchObject({ closed_at: null, erased_after: null })
  expect(await fixture.dueJobs(accountId)).toBe(3)
  expect((await service.call({ key }, '/v1/claims')).status).toBe(200)
  await fixture.runClock()
  expect(await fixture.dueJobs(accountId)).toBe(3)
  const log = await fixture.ask(owner, 'GET', '/v1/account/audit?limit=3')
  const actions = (log.json.data as { action: string }[]).map(({ action }) => action)
  expect(actions).toEqual(['account.reopened', 'account.exported', 'account.closed'])
})

it('lets every user sign out and leave, and do nothing else', async () => {
  const owned = await fixture.makeOwned()
  const [admin, analyst] = [
    await service.signIn(owned.accountId, { role: 'admin' }),
    await service.signIn(owned.accountId, { role: 'analyst' }),
  ]
  await fixture.close(owned)
  for (const user of [admin, analyst]) {
    expect((await fixture.ask(user, 'GET', '/v1/auth/session')).status).toBe(200)
    expect((await fixture.ask(user, 'GET', '/v1/org/users')).json.code).toBe('account_suspended')
  }
  expect((await fixture.ask(admin, 'DELETE', '/v1/auth/session')).status).toBe(200)
  expect((await fixture.ask(admin, 'GET', '/v1/auth/session')).json.code).toBe('session_expired')
  expect((await fixture.ask(analyst, 'DELETE', '/v1/org/users/me')).status).toBe(200)
})

it('erases everything of the account after 30 days and nothing of others, also when it is interrupted', async () => {
  const [doomed, other] = [await fixture.makeOwned(), await fixture.makeOwned()]
  for (const { accountId } of [doomed, other]) {
    const caller = { ...(await service.makeCaller()), accountId }
    const key = service.addKey({ ...caller, scopes: ['all'] })
    const phone = await makePhone(service, caller)
    await service.judge({ ...caller, key }, shoot(phone))
    await fillEveryTable(service.test, { accountId, environment: 'sandbox' })
    await fillEveryTable(service.test, { accountId, environment: 'live' })
    expect(await blobsOf(accountId)).toBeGreaterThan(0)
  }
  const kept = { rows: await rowsOf(other.accountId), blobs: await blobsOf(other.accountId) }
  const { db } = service.test
  const eraseNow = (accountId: string) =>
    db.system('test', (tx) => tx.query('SELECT erase_closed_rows($1, $2, 10)', ['claims', accountId]))
  await expect(eraseNow(other.accountId)).rejects.toThrow(/was not closed 30 days ago/)
  await fixture.close(doomed)
  await fixture.backdate(doomed.accountId, 29.9)
  await expect(eraseNow(doomed.accountId)).rejects.toThrow(/was not closed 30 days ago/)
  await fixture.runClock()
  expect(await rowsOf(doomed.accountId)).toMatchObject({ claims: 3, attestations: 5 })

  await fixture.backdate(doomed.accountId, 30.1)
  expect((await fixture.ask(doomed.owner, 'GET', '/v1/claims')).json.code).toBe('account_suspended')
  expect((await fixture.ask(doomed.owner, 'DELETE', PATH)).json.code).toBe('account_suspended')
  // Ends after some steps, as a process that stops does.
  const { platform } = service.services
  const controller = new AbortController()
  let steps = 0
  const interrupted = createClosedAccounts({
    ...platform,
    closure: { hold: async () => {}, release: async () => {} },
    tables: () => service.services.features.flatMap(({ data = [] }) => data),
    stepRows: 1,
    db: {
      system: (reason, work, options) => {
        steps += 1
        if (steps === 12) controller.abort()
        return platform.db.system(reason, work, options)
      },
    },
  })
  expect(await interrupted(controller.signal)).toBe(0)
  const left = Object.keys(await rowsOf(doomed.accountId)).length
  expect(left).toBeGreaterThan(5)
  expect(left).toBeLessThan(Object.keys(kept.rows).length)
  expect(await fixture.runClock()).toBe(1)

  expect(await rowsOf(doomed.accountId)).toEqual({})
  expect(await blobsOf(doomed.accountId)).toBe(0)
  const tombstone = await service.test.owner(
    'SELECT name, products, closed_by, erased_at IS NOT NULL AS is_erased FROM accounts WHERE id = $1',
    [doomed.accountId],
  )
  expect(tombstone).toEqual([{ name: 'Erased account', products: [], closed_by: null, is_erased: true }])
  expect({ rows: await rowsOf(other.accountId), blobs: await blobsOf(other.accountId) }).toEqual(kept)
  expect(await fixture.runClock()).toBe(0)
  const walked: string[] = []
  for await (const { id } of service.services.account.accounts.walk()) walked.push(id)
  expect(walked).toContain(other.accountId)
  expect(walked).not.toContain(doomed.accountId)
  expect((await service.call({ key: doomed.key }, '/v1/claims')).json.code).toBe('invalid_api_key')
})
