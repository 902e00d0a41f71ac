import { randomUUID } from 'node:crypto'
import { Registry } from 'prom-client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Scope } from '#src/platform/ids.ts'
import { enqueue, renew } from '#src/platform/jobs/backlog.ts'
import { collectQueues, readQueues } from '#src/platform/jobs/metrics.ts'
import { listJobs, pauseQueue, redrive, resumeQueue } from '#src/platform/jobs/operate.ts'
import { purgeSettledJobs, purgeSilentWorkers } from '#src/platform/jobs/retention.ts'
import { createTestDatabase, makeAccount, type TestDatabase } from '../../support/database.ts'

describe('operating queues', () => {
  let database: TestDatabase
  let scope: Scope
  beforeAll(async () => {
    database = await createTestDatabase()
    scope = await makeAccount(database)
  })
  afterAll(() => database?.close())

  const addJobs = (count: number, lane?: string) =>
    database.db.tenant(scope, (tx) =>
      enqueue(
        tx,
        'attest',
        scope,
        Array.from({ length: count }, () => ({
          payload: { attestationId: randomUUID() },
          ...(lane === undefined ? {} : { lane }),
        })),
      ),
    )
  const attest = async () => (await readQueues(database.db)).find(({ queue }) => queue === 'attest')

  it('measures depth by state, the age of the oldest due job over all lanes, and the workers’ concurrency', async () => {
    const [first, second, future] = await addJobs(3)
    const [other] = await addJobs(1, 'another lane')
    await database.owner("UPDATE jobs SET run_at = now() - interval '90 seconds' WHERE id = $1", [other])
    await database.owner("UPDATE jobs SET run_at = now() + interval '1 hour' WHERE id = $1", [future])
    await database.owner("UPDATE jobs SET state = 'dispatched', lease_until = now() WHERE id = $1", [first])
    await database.owner("UPDATE jobs SET state = 'dead' WHERE id = $1", [second])
    await renew(database.db, { id: randomUUID(), queue: 'attest', concurrency: 5, isLeaving: false }, [])

    const state = await attest()
    expect(await listJobs(database.db, { state: 'running', limit: 9 })).toMatchObject([{ id: first, state: 'running' }])
    expect(await listJobs(database.db, { state: 'dispatched', limit: 9 })).toEqual([])
    expect(state?.depth).toEqual({ queued: 2, dispatched: 0, running: 1, dead: 1 })
    expect(state?.oldestDueSeconds).toBeGreaterThan(89)
    expect(state?.oldestDueSeconds).toBeLessThan(120)
    expect(state?.concurrency).toBe(5)

    const registry = new Registry()
    collectQueues(registry, database.db)
    const text = await registry.metrics()
    expect(text).toMatch(/countersign_queue_depth\{queue="attest",state="dead"\} 1/)
    expect(text).toMatch(/countersign_queue_in_flight\{queue="attest"\} 1/)
    expect(text).toMatch(/countersign_queue_oldest_due_seconds\{queue="attest"\} (89|9\d)\./)
    expect(text).toMatch(/countersign_queue_oldest_due_seconds\{queue="deliver"\} 0/)
  })

  it('spends a hundredth of the time on counting waiting jobs, and reads the rest afresh', async () => {
    let ms = 0
    const reads = { 'count jobs': 0, 'queue metrics': 0 }
    const slow: TestDatabase['db'] = {
      ...database.db,
      system: async (reason, work, options) => {
        if (reason === 'count jobs') ms += 300
        if (reason in reads) reads[reason as keyof typeof reads] += 1
        return database.db.system(reason, work, options)
      },
    }
    const registry = new Registry()
    collectQueues(registry, slow, () => ms)
    for (const [at, counts, states] of [
      [0, 1, 1],
      [4_000, 1, 1],
      [10_000, 1, 2],
      [29_000, 1, 3],
      [31_000, 2, 3],
      [40_000, 2, 4],
    ] as const) {
      ms = at
      await registry.metrics()
      expect([at, ...Object.values(reads)]).toEqual([at, counts, states])
    }
  })

  it('pauses and resumes', async () => {
    await pauseQueue(database.db, 'attest')
    await pauseQueue(database.db, 'attest')
    expect((await attest())?.isPaused).toBe(true)
    await resumeQueue(database.db, 'attest')
    expect((await attest())?.isPaused).toBe(false)
  })

  it('lists jobs and redrives a dead one, with one call for its subject', async () => {
    const [id = ''] = await addJobs(1)
    await database.owner("UPDATE jobs SET state = 'dead', attempts = 8, last_error = 'broke' WHERE id = $1", [id])
    const [job] = await listJobs(database.db, { id, state: 'dead', limit: 10 })
    expect(job).toMatchObject({ id, queue: 'attest', attempts: 8, lastError: 'broke', accountId: scope.accountId })
    if (job === undefined) return
    const told: string[] = []
    const work = {
      run: async () => ({ kind: 'settled' as const }),
      onDead: async () => {},
      onRedrive: async (_tx: unknown, _scope: Scope, payload: { attestationId: string }) =>
        void told.push(payload.attestationId),
    }
    const tries = await Promise.all([redrive(database.db, job, work), redrive(database.db, job, work)])
    expect(tries.sort()).toEqual([false, true])
    expect(told).toHaveLength(1)
    expect((await listJobs(database.db, { id, limit: 1 }))[0]).toMatchObject({ state: 'queued', attempts: 0 })
  })

  it('purges succeeded jobs after a day, keeps dead ones, and removes silent workers', async () => {
    const [old = '', fresh = '', dead = ''] = await addJobs(3)
    await database.owner(
      "UPDATE jobs SET state = 'succeeded', settled_at = now() - interval '25 hours' WHERE id = $1",
      [old],
    )
    await database.owner(
      "UPDATE jobs SET state = 'succeeded', settled_at = now() - interval '23 hours' WHERE id = $1",
      [fresh],
    )
    await database.owner("UPDATE jobs SET state = 'dead', settled_at = now() - interval '9 days' WHERE id = $1", [dead])
    expect(await purgeSettledJobs(database.db)).toBe(1)
    const left = await database.owner<{ id: string }>('SELECT id FROM jobs WHERE id = ANY($1::uuid[])', [
      [old, fresh, dead],
    ])
    expect(left.map((row) => row.id).sort()).toEqual([fresh, dead].sort())

    await database.owner("UPDATE workers SET heartbeat_at = now() - interval '11 minutes'")
    expect(await purgeSilentWorkers(database.db)).toBe(1)
  })
})
