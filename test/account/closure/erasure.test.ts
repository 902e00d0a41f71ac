// What is stored during an erasure, who may come in meanwhile, and which accounts are not erased.

import { afterAll, beforeAll, expect, it } from 'vitest'
import { createClosure } from '#src/account/closure/closure.ts'
import { createClosedAccounts } from '#src/account/closure/erase.ts'
import { createExportWork } from '#src/account/exports/export.ts'
import { suspendAccount, unsuspendAccount } from '#src/account/keys/operate.ts'
import { newAccountId } from '#src/platform/ids.ts'
import { enqueue } from '#src/platform/jobs/backlog.ts'
import { readCommand } from '../../../commands/admin/commands.ts'
import { type Service, startService } from '../../attest/claims/service.ts'
import { createJobs } from '../../support/jobs.ts'
import { startTeamService } from '../team/service.ts'
import { type ClosureFixture, createClosureFixture, PATH } from './fixture.ts'

const DAY_MS = 86_400_000

let service: Service
let fixture: ClosureFixture
beforeAll(async () => {
  service = await startService()
  fixture = createClosureFixture(service)
})
afterAll(() => service?.close())

const usersOf = async (accountId: string) =>
  (await service.test.owner('SELECT FROM users WHERE account_id = $1', [accountId])).length
/** A run of the erasure, which does this before it lists the blobs of an account. */
function createRun(beforeList: () => Promise<void>, more: { now?: () => Date } = {}) {
  const { platform, features } = service.services
  return createClosedAccounts({
    ...platform,
    ...more,
    closure: { hold: async () => {}, release: async () => {} },
    tables: () => features.flatMap(({ data = [] }) => data),
    store: {
      delete: platform.store.delete,
      async *list(scope) {
        await beforeList()
        yield* platform.store.list(scope)
      },
    },
  })
}
const isErased = async (accountId: string) => {
  const [row] = await service.test.owner<{ isErased: boolean }>(
    'SELECT erased_at IS NOT NULL AS "isErased" FROM accounts WHERE id = $1',
    [accountId],
  )
  return row?.isErased
}

it('begins with the users, and repeats until nothing is left, whatever is stored meanwhile', async () => {
  const doomed = await fixture.makeOwned()
  const { accountId } = doomed
  await fixture.close(doomed)
  await fixture.backdate(accountId, 31)
  const usersAtList: number[] = []
  const run = createRun(async () => {
    usersAtList.push(await usersOf(accountId))
    // What a request that began before stores after its table was done.
    if (usersAtList.length <= 3) {
      await service.test.owner("INSERT INTO users (account_id, id, email, role) VALUES ($1, $2, $3, 'owner')", [
        accountId,
        newAccountId('usr'),
        `late${usersAtList.length}@example.com`,
      ])
    }
  })
  expect(await run(new AbortController().signal)).toBe(1)
  expect(usersAtList[0]).toBe(0)
  expect(await usersOf(accountId)).toBe(0)
  expect(await isErased(accountId)).toBe(true)
})

it('waits for an export that runs, and erases its archive', async () => {
  const owned = await fixture.makeOwned()
  const { accountId, owner } = owned
  const { platform, features } = service.services
  const blobsOf = async () =>
    (await Array.fromAsync(platform.store.list({ accountId, environment: 'live' }))).flat().length
  await fixture.close(owned)
  const { json } = await fixture.ask(owner, 'POST', '/v1/account/export', {})
  const [row] = await service.test.owner<{ id: string }>('SELECT job_id AS id FROM account_exports WHERE id = $1', [
    json.export_id,
  ])
  const jobs = createJobs(service.test, 'export')
  const taken = await jobs.take(row?.id ?? '')
  await fixture.backdate(accountId, 30.1)
  expect(await fixture.runClock()).toBe(0)
  expect([await usersOf(accountId), await isErased(accountId)]).toEqual([0, false])

  const tables = () => features.flatMap(({ data = [] }) => data)
  expect(await jobs.run(taken, createExportWork({ ...platform, tables }))).toBe('settled')
  expect(await blobsOf()).toBe(1)
  expect(await fixture.runClock()).toBe(1)
  expect([await blobsOf(), await isErased(accountId)]).toEqual([0, true])
})

it('is not finished while an export that was queued again meanwhile can run', async () => {
  const owned = await fixture.makeOwned()
  const { accountId } = owned
  const scope = { accountId, environment: 'live' as const }
  await fixture.close(owned)
  await fixture.backdate(accountId, 31)
  const { platform, features } = service.services
  let isQueued = false
  const run = createClosedAccounts({
    ...platform,
    closure: { hold: async () => {}, release: async () => {} },
    // What is queued after its table was erased for the last time.
    tables: () => features.flatMap(({ data = [] }) => data).filter(({ table }) => table !== 'jobs'),
    store: {
      delete: platform.store.delete,
      async *list(place) {
        if (!isQueued) {
          await service.test.db.tenant(scope, (tx) =>
            enqueue(tx, 'export', scope, [{ payload: { exportId: newAccountId('exp') } }]),
          )
        }
        isQueued = true
        yield* platform.store.list(place)
      },
    },
  })
  await run(new AbortController().signal)
  expect([isQueued, await isErased(accountId)]).toEqual([true, false])
  await fixture.runClock()
  expect(await isErased(accountId)).toBe(true)
})

it('erases the users of all due accounts before the media of the first', async () => {
  const due = [await fixture.makeOwned(), await fixture.makeOwned()]
  for (const owned of due) {
    await fixture.close(owned)
    await fixture.backdate(owned.accountId, 31)
  }
  const users: number[] = []
  const run = createRun(async () => {
    for (const { accountId } of due) users.push(await usersOf(accountId))
  })
  expect(await run(new AbortController().signal)).toBe(2)
  expect(new Set(users)).toEqual(new Set([0]))
})

it('erases the users of an account that becomes due while another is erased', async () => {
  const [first, second] = [await fixture.makeOwned(), await fixture.makeOwned()]
  for (const owned of [first, second]) await fixture.close(owned)
  await fixture.backdate(first.accountId, 31)
  let laterMs = 0
  const run = createRun(
    async () => {
      laterMs = 61_000
      await fixture.backdate(second.accountId, 31)
    },
    { now: () => new Date(Date.now() + laterMs) },
  )
  expect(await run(new AbortController().signal)).toBe(1)
  expect([await usersOf(second.accountId), await isErased(second.accountId)]).toEqual([0, false])
  expect(await fixture.runClock()).toBe(1)
})

it('holds exports too from the 30th day', async () => {
  const owned = await fixture.makeOwned()
  const { accountId, owner } = owned
  expect((await fixture.ask(owner, 'POST', '/v1/account/export', {})).status).toBe(202)
  await fixture.close(owned)
  const { hold } = createClosure(service.services.platform)
  await fixture.backdate(accountId, 29.9)
  await hold(accountId)
  expect(await fixture.dueJobs(accountId)).toBe(1)
  await fixture.backdate(accountId, 30.1)
  await hold(accountId)
  expect(await fixture.dueJobs(accountId)).toBe(0)
  // This account remains, and with it the entries of its export and its closure in the audit log.
  await fixture.backdate(accountId, 1)
})

it('waits while the operator has suspended the account, whose owner has 30 days again when that ends', async () => {
  const { db } = service.test
  const owned = await fixture.makeOwned()
  const { accountId, owner } = owned
  await fixture.close(owned)
  await db.system('test', (tx) => suspendAccount(tx, accountId, 'unpaid'))
  await fixture.backdate(accountId, 31)
  await fixture.runClock()
  const erase = () => db.system('test', (tx) => tx.query('SELECT erase_closed_rows($1, $2, 10)', ['users', accountId]))
  await expect(erase()).rejects.toThrow(/is suspended/)
  expect([await usersOf(accountId), await isErased(accountId)]).toEqual([1, false])

  await db.system('test', (tx) => unsuspendAccount(tx, accountId))
  await fixture.runClock()
  await expect(erase()).rejects.toThrow(/was not closed 30 days ago/)
  const { json } = await fixture.ask(owner, 'GET', '/v1/account')
  expect(Date.parse(String(json.erased_after)) - Date.now()).toBeGreaterThan(29.9 * DAY_MS)
  const { closed_at, erased_after } = (await fixture.ask(owner, 'GET', PATH)).json
  expect(json).toMatchObject({ closed_at, erased_after })
  await service.test.owner("UPDATE accounts SET suspension_ended_at = now() - interval '31 days' WHERE id = $1", [
    accountId,
  ])
  await expect(db.system('test', (tx) => suspendAccount(tx, accountId, 'late'))).rejects.toMatchObject({
    code: 'conflict',
  })
  await fixture.runClock()
  expect([await usersOf(accountId), await isErased(accountId)]).toEqual([0, true])
})

it('is undone by an operator, of a suspended account at any time, and not once it has begun', async () => {
  const { db } = service.test
  const owned = await fixture.makeOwned()
  const { accountId, owner, key } = owned
  const said: object[] = []
  const run = (words: string) =>
    readCommand(words.split(' '))?.act({
      services: service.services,
      confirm: async () => {},
      say: () => {},
      log: (act, fields) => void said.push({ act, ...fields }),
    })
  await expect(run(`account reopen ${accountId}`)).rejects.toMatchObject({ code: 'conflict' })
  await fixture.close(owned)
  expect(await run(`account show ${accountId}`)).toMatchObject({
    closedAt: expect.any(Date),
    erasedAfter: expect.any(Date),
    erasedAt: null,
  })
  expect(await run('account list --closed')).toContainEqual(expect.objectContaining({ id: accountId }))
  await db.system('test', (tx) => suspendAccount(tx, accountId, 'unpaid'))
  await fixture.backdate(accountId, 40)
  expect(await run(`account reopen ${accountId}`)).toMatchObject({ closedAt: null, suspendedAt: expect.any(Date) })
  expect(said).toMatchObject([{ act: 'account reopen', account: accountId }])
  await db.system('test', (tx) => unsuspendAccount(tx, accountId))
  expect((await service.call({ key }, '/v1/claims')).status).toBe(200)
  expect((await fixture.ask(owner, 'GET', '/v1/account')).json).toMatchObject({ closed_at: null, erased_after: null })
  const log = await fixture.ask(owner, 'GET', '/v1/account/audit?action=account.reopened')
  expect(log.json.data).toMatchObject([
    { actor: { type: 'operator', id: null }, before: { closed_at: expect.any(String) } },
  ])

  expect(await run('account list --closed')).not.toContainEqual(expect.objectContaining({ id: accountId }))
  await fixture.close(owned)
  await service.test.owner("UPDATE accounts SET suspension_ended_at = now() - interval '31 days' WHERE id = $1", [
    accountId,
  ])
  await fixture.backdate(accountId, 31)
  await expect(run(`account reopen ${accountId}`)).rejects.toMatchObject({ code: 'conflict' })
})

it('nobody signs in to an account whose 30 days are over, by a link or an invite', async () => {
  const team = await startTeamService()
  try {
    const { accountId, owner } = await team.makeTeam()
    const [member, invited] = [team.newAddress(), team.newAddress()]
    await team.join(owner, member)
    await team.invite(owner, invited)
    const invite = await team.inviteTokenFor(invited)
    const closeAgo = (days: number) =>
      team.test.owner("UPDATE accounts SET closed_at = now() - $2 * interval '1 day' WHERE id = $1", [accountId, days])
    await closeAgo(29.9)
    await team.request(member)
    expect((await team.use(await team.tokenFor(member))).status).toBe(200)
    await team.request(member)
    const link = await team.tokenFor(member)
    await closeAgo(30.1)
    const refused = { status: 400, json: { errors: [{ pointer: '/token', code: 'invalid_link' }] } }
    expect(await team.use(link)).toMatchObject(refused)
    expect(await team.accept(invite)).toMatchObject(refused)
    await team.request(member)
    expect(await team.deliver()).toEqual([])
  } finally {
    await team.close()
  }
})
