// A worker that is told to stop ends within its deadline, whatever hangs, and what it held runs elsewhere at once.

import { randomBytes, randomUUID } from 'node:crypto'
import pino from 'pino'
import { Registry } from 'prom-client'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import type { Database } from '#src/platform/db/database.ts'
import type { Scope } from '#src/platform/ids.ts'
import { enqueue, SHOWN_STATE, STALE_JOB } from '#src/platform/jobs/backlog.ts'
import { createEngine, type Engine } from '#src/platform/jobs/bull.ts'
import { type JobOutcome, type RunningJob, startWorker } from '#src/platform/jobs/consume.ts'
import { createDispatcher, type Dispatcher } from '#src/platform/jobs/dispatch.ts'
import { createJobMetrics } from '#src/platform/jobs/metrics.ts'
import { createTestDatabase, makeAccount, type TestDatabase } from '../../support/database.ts'
import { until } from '../../support/until.ts'

const log = pino({ level: 'silent' })
const redisUrl = inject('redisUrl')
const engines = ['postgres', ...(redisUrl === null ? [] : ['redis'])] as const
const DEADLINE_MS = 2_000
// What a loaded machine may add to a timer. A lease would lapse after 20 s.
const SLACK_MS = 3_000

describe.each(engines)('a worker that is stopped, on %s', (kind) => {
  let database: TestDatabase
  let engine: Engine
  let dispatcher: Dispatcher
  let scope: Scope
  const prefix = `t${randomBytes(4).toString('hex')}`
  const makeEngine = () =>
    kind === 'redis' && redisUrl !== null
      ? createEngine({ redisUrl, prefix })
      : createEngine({ databaseUrl: database.url })

  beforeAll(async () => {
    database = await createTestDatabase()
    engine = makeEngine()
    dispatcher = createDispatcher({ db: database.db, engine, log })
    scope = await makeAccount(database)
  })
  afterAll(async () => {
    await dispatcher?.close()
    await engine?.close()
    await database?.close()
  })

  const addJobs = (count: number) =>
    database.db.tenant(scope, (tx) =>
      enqueue(
        tx,
        'attest',
        scope,
        Array.from({ length: count }, () => ({ payload: { attestationId: randomUUID() } })),
      ),
    )
  const states = (ids: readonly string[]) =>
    database.owner<{ state: string; attempts: number; isLeased: boolean }>(
      `SELECT ${SHOWN_STATE} AS state, attempts, lease_until IS NOT NULL AS "isLeased" FROM jobs
       WHERE id = ANY($1::uuid[])`,
      [ids],
    )
  const start = (
    run: (job: RunningJob) => Promise<JobOutcome>,
    { db = database.db, concurrency = 4 }: { db?: Database; concurrency?: number } = {},
  ) =>
    startWorker({
      queue: 'attest',
      work: { run: (_, job) => run(job), onDead: async () => {}, onRedrive: async () => {} },
      db,
      engine,
      log,
      metrics: createJobMetrics(new Registry()),
      concurrency,
    })
  const settleNow = async (job: RunningJob): Promise<JobOutcome> => {
    await database.db.tenant(job.scope, job.settle)
    return { kind: 'settled' }
  }
  const dispatchUntil = (isSo: () => Promise<boolean>) =>
    until(
      async () => {
        await dispatcher.dispatch('attest')
        return isSo()
      },
      { timeoutMs: 15_000 },
    )

  it('returns in time when a handler ignores its signal, whose job another worker runs at once', {
    timeout: 60_000,
  }, async () => {
    const hung: RunningJob[] = []
    const worker = await start((job) => {
      hung.push(job)
      return new Promise(() => {})
    })
    const ids = await addJobs(3)
    await dispatchUntil(async () => hung.length === 3)

    const since = performance.now()
    await worker.close(DEADLINE_MS)
    expect(performance.now() - since).toBeLessThan(DEADLINE_MS + SLACK_MS)
    expect(hung.every(({ signal }) => signal.aborted)).toBe(true)
    for (const job of await states(ids)) expect(job).toEqual({ state: 'queued', attempts: 1, isLeased: false })

    const next = await start(settleNow)
    await dispatchUntil(async () => (await states(ids)).every(({ state }) => state === 'succeeded'))
    expect(performance.now() - since).toBeLessThan(20_000)
    // The handler that hung ends after all.
    for (const job of hung) await expect(database.db.tenant(scope, job.settle)).rejects.toBe(STALE_JOB)
    await next.close(5_000)
  })

  it('hands back at once what waits for a slot, while it finishes what runs', { timeout: 60_000 }, async () => {
    let release = () => {}
    const released = new Promise<void>((done) => {
      release = done
    })
    const ran: string[] = []
    const worker = await start(
      async (job) => {
        ran.push(job.id)
        await released
        return settleNow(job)
      },
      { concurrency: 1 },
    )
    const ids = await addJobs(2)
    // The window of one slot: one job runs, and the worker has fetched one more.
    await dispatchUntil(async () => ran.length === 1 && (await states(ids)).every(({ state }) => state !== 'queued'))
    const producer = engine.producer('attest')
    await until(async () => (await producer.waiting()) === 0)
    await producer.close()
    const closed = worker.close(30_000)
    await until(async () => (await states(ids)).some(({ state }) => state === 'queued'), { timeoutMs: 10_000 })
    expect((await states(ids)).map(({ state }) => state).sort()).toEqual(['queued', 'running'])
    release()
    await closed
    expect((await states(ids)).map(({ state }) => state).sort()).toEqual(['queued', 'succeeded'])
    expect(ran).toHaveLength(1)
    await database.owner(`DELETE FROM jobs WHERE id = ANY($1::uuid[])`, [ids])
  })

  it('returns in time when Postgres does not answer', async () => {
    let isAway = false
    const db: Database = {
      ...database.db,
      system: (reason, ...rest) => (isAway ? new Promise(() => {}) : database.db.system(reason, ...rest)),
    }
    const worker = await start(settleNow, { db })
    isAway = true
    const since = performance.now()
    await worker.close(DEADLINE_MS)
    expect(performance.now() - since).toBeLessThan(DEADLINE_MS + SLACK_MS)
  })
})
