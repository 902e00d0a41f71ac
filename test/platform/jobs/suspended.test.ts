import { randomUUID } from 'node:crypto'
import pino from 'pino'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { suspendAccount, unsuspendAccount } from '#src/account/keys/operate.ts'
import type { Scope } from '#src/platform/ids.ts'
import { enqueue } from '#src/platform/jobs/backlog.ts'
import { createEngine, type Engine } from '#src/platform/jobs/bull.ts'
import { createDispatcher, type Dispatcher } from '#src/platform/jobs/dispatch.ts'
import { readQueues } from '#src/platform/jobs/metrics.ts'
import { createTestDatabase, makeAccount, type TestDatabase } from '../../support/database.ts'

let database: TestDatabase
let engine: Engine
let dispatcher: Dispatcher

beforeAll(async () => {
  database = await createTestDatabase()
  engine = createEngine({ databaseUrl: database.url })
  dispatcher = createDispatcher({ db: database.db, engine, log: pino({ level: 'silent' }) })
  await database.owner(
    `INSERT INTO workers (id, queue, concurrency) VALUES ($1, 'attest', 100), ($2, 'deliver', 100)`,
    [randomUUID(), randomUUID()],
  )
})
afterAll(async () => {
  await dispatcher?.close()
  await engine?.close()
  await database?.close()
})

const addJobs = (scope: Scope, count: number) =>
  database.db.tenant(scope, async (tx) => {
    const jobs = Array.from({ length: count }, () => randomUUID())
    await enqueue(
      tx,
      'attest',
      scope,
      jobs.map((attestationId) => ({ payload: { attestationId } })),
    )
    // One lane for each endpoint.
    await enqueue(
      tx,
      'deliver',
      scope,
      jobs.map((deliveryId) => ({ payload: { deliveryId }, lane: deliveryId, priority: 'bulk' as const })),
    )
  })
const dispatched = async ({ accountId }: Scope) => {
  const [row] = await database.owner<{ count: number }>(
    `SELECT count(*)::int AS count FROM jobs WHERE account_id = $1 AND state = 'dispatched'`,
    [accountId],
  )
  return row?.count
}

it('jobs of a suspended account wait, in every queue, and none of another account wait for them', async () => {
  const [suspended, other] = [await makeAccount(database), await makeAccount(database)]
  await addJobs(suspended, 3)
  await database.owner(`UPDATE jobs SET run_at = now() - interval '90 seconds'`)
  await database.db.system('test', (tx) => suspendAccount(tx, suspended.accountId, 'unpaid'))
  for (const queue of ['attest', 'deliver'] as const) {
    expect(await dispatcher.findDue([queue])).toEqual([])
    expect(await dispatcher.dispatch(queue)).toMatchObject({ count: 0 })
  }
  // Nothing that an autoscaler could act upon.
  for (const { oldestDueSeconds } of await readQueues(database.db)) expect(oldestDueSeconds).toBe(0)

  await addJobs(other, 2)
  expect((await dispatcher.findDue(['attest', 'deliver'])).toSorted()).toEqual(['attest', 'deliver'])
  await dispatcher.dispatch('attest')
  await dispatcher.dispatch('deliver')
  expect([await dispatched(suspended), await dispatched(other)]).toEqual([0, 4])

  await database.db.system('test', (tx) => unsuspendAccount(tx, suspended.accountId))
  await dispatcher.dispatch('attest')
  await dispatcher.dispatch('deliver')
  expect(await dispatched(suspended)).toBe(6)
})
