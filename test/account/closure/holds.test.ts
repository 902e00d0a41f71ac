// Which jobs wait while an account is closed, and that none of them waits for ever.

import { afterAll, beforeAll, expect, it } from 'vitest'
import { createClosure } from '#src/account/closure/closure.ts'
import { createClosedAccounts } from '#src/account/closure/erase.ts'
import { newId } from '#src/platform/ids.ts'
import { enqueue } from '#src/platform/jobs/backlog.ts'
import { type Service, startService } from '../../attest/claims/service.ts'
import { type ClosureFixture, createClosureFixture, PATH } from './fixture.ts'

let service: Service
let fixture: ClosureFixture
beforeAll(async () => {
  service = await startService()
  fixture = createClosureFixture(service)
})
afterAll(() => service?.close())

const addJob = (accountId: string) => {
  const scope = { accountId, environment: 'sandbox' as const }
  const payload = { attestationId: newId('att', 'sandbox') }
  return service.test.db.tenant(scope, (tx) => enqueue(tx, 'attest', scope, [{ payload }]))
}
// As a release that failed leaves it.
const strand = (accountId: string) =>
  service.test.owner("UPDATE jobs SET run_at = run_at + interval '100 years' WHERE account_id = $1", [accountId])

it('jobs of a reopened account are not held by a run that began before, and the clock releases held ones', async () => {
  const owned = await fixture.makeOwned()
  const { accountId } = owned
  await addJob(accountId)
  await fixture.close(owned)
  expect(await fixture.dueJobs(accountId)).toBe(0)
  await fixture.ask(owned.owner, 'DELETE', PATH)
  await createClosure(service.services.platform).hold(accountId)
  expect(await fixture.dueJobs(accountId)).toBe(1)

  await strand(accountId)
  await fixture.runClock()
  expect(await fixture.dueJobs(accountId)).toBe(1)
})

it('a hold waits for the end of a reopening that runs', async () => {
  const owned = await fixture.makeOwned()
  const { accountId } = owned
  await fixture.close(owned)
  await addJob(accountId)
  const { promise: opened, resolve: markOpened } = Promise.withResolvers<void>()
  const { promise: mayCommit, resolve: commit } = Promise.withResolvers<void>()
  const reopening = service.test.db.tenant({ accountId, environment: 'sandbox' }, async (tx) => {
    await tx.query('UPDATE accounts SET closed_at = NULL, closed_by = NULL')
    markOpened()
    await mayCommit
  })
  await opened
  const holding = createClosure(service.services.platform).hold(accountId)
  // It ended, or it waits for the lock.
  const isWaiting = async () => {
    const [row] = await service.test.owner<{ waiting: number }>(
      "SELECT count(*)::int AS waiting FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
    )
    return row?.waiting === 1
  }
  const ended = holding.then(() => true)
  while (!(await isWaiting()) && !(await Promise.race([ended, Promise.resolve(false)]))) {}
  commit()
  await Promise.all([reopening, holding])
  expect(await fixture.dueJobs(accountId)).toBe(1)
})

it('undoing the closure again releases what the first time has left, with and without an Idempotency-Key', async () => {
  const owned = await fixture.makeOwned()
  const { accountId, owner } = owned
  await addJob(accountId)
  await fixture.close(owned)
  const reopen = () =>
    service.call({}, PATH, { method: 'DELETE', headers: { ...owner.headers, 'Idempotency-Key': 'reopen' } })
  expect((await reopen()).status).toBe(200)
  await strand(accountId)
  expect((await reopen()).status).toBe(200)
  expect(await fixture.dueJobs(accountId)).toBe(1)
  await strand(accountId)
  expect((await fixture.ask(owner, 'DELETE', PATH)).json.code).toBe('conflict')
  expect(await fixture.dueJobs(accountId)).toBe(1)
})

it('jobs of all closed accounts are held before an erasure begins, and again while it runs', async () => {
  const [doomed, closed, later] = [await fixture.makeOwned(), await fixture.makeOwned(), await fixture.makeOwned()]
  // Nothing waits in it: it is not looked at again.
  const idle = await fixture.makeOwned()
  await fixture.close(idle)
  await fixture.close(doomed)
  await fixture.backdate(doomed.accountId, 31)
  await fixture.close(closed)
  await addJob(closed.accountId)
  const { platform, features } = service.services
  const seen: string[] = []
  let nowMs = Date.now()
  const run = createClosedAccounts({
    ...platform,
    // Each look at the clock is a minute after the one before.
    now() {
      nowMs += 60_000
      return new Date(nowMs)
    },
    closure: {
      release: async () => {},
      async hold(accountId) {
        seen.push(accountId)
      },
    },
    tables: () => features.flatMap(({ data = [] }) => data),
    db: {
      async system(reason, work, options) {
        if (reason === 'erase account' && seen.at(-1) !== 'step') {
          seen.push('step')
          if (seen.filter((one) => one === 'step').length === 2) {
            await fixture.close(later)
            await addJob(later.accountId)
          }
        }
        return platform.db.system(reason, work, options)
      },
    },
  })
  expect(await run(new AbortController().signal)).toBe(1)
  const first = seen.indexOf('step')
  expect(seen.slice(0, first)).toContain(closed.accountId)
  expect(seen.slice(first)).toContain(later.accountId)
  expect(seen).not.toContain(idle.accountId)
})
