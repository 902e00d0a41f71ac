// One account's jobs hang, on as many lanes as it likes: the jobs of other accounts start at once, on every worker.

import { randomUUID } from 'node:crypto'
import pino from 'pino'
import { Registry } from 'prom-client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Scope } from '#src/platform/ids.ts'
import { enqueue } from '#src/platform/jobs/backlog.ts'
import { type RunningJob, startWorker, type Worker } from '#src/platform/jobs/consume.ts'
import { type Loop, runDispatchLoops } from '#src/platform/jobs/loops.ts'
import { createJobMetrics } from '#src/platform/jobs/metrics.ts'
import { makeAccount } from '../../support/database.ts'
import { type Dispatching, startDispatching, testedEngines } from '../../support/engines.ts'
import { until } from '../../support/until.ts'

const log = pino({ level: 'silent' })
const CONCURRENCY = 16
// Far above what a start takes on a loaded machine, and far below the time that the jobs hang: until the test ends.
const SOON_MS = 10_000

describe.each(testedEngines())('jobs that hang, on %s', (kind) => {
  let on: Dispatching
  let loops: Loop
  let hostile: Scope
  let honest: Scope
  let release = () => {}
  const released = new Promise<void>((done) => {
    release = done
  })
  const running: RunningJob[] = []
  const workers: Worker[] = []

  beforeAll(async () => {
    on = await startDispatching(kind)
    loops = runDispatchLoops(on.dispatcher, log)
    hostile = on.scope
    honest = await makeAccount(on.database)
  })
  afterAll(async () => {
    release()
    await Promise.all(workers.map((worker) => worker.close(5_000)))
    await loops?.close()
    await on?.close()
  })

  const start = () =>
    startWorker({
      queue: 'deliver',
      work: {
        run: async (_, job) => {
          running.push(job)
          if (job.scope.accountId === hostile.accountId) await released
          await on.database.db.tenant(job.scope, job.settle)
          return { kind: 'settled' }
        },
        onDead: async () => {},
        onRedrive: async () => {},
      },
      db: on.database.db,
      engine: on.engine,
      log,
      metrics: createJobMetrics(new Registry()),
      concurrency: CONCURRENCY,
    })
  const addJobs = (scope: Scope, count: number, laneOf: (index: number) => string) =>
    on.database.db.tenant(scope, (tx) =>
      enqueue(
        tx,
        'deliver',
        scope,
        Array.from({ length: count }, (_, index) => ({
          payload: { deliveryId: randomUUID() },
          lane: laneOf(index),
        })),
      ),
    )
  const runningOf = ({ accountId }: Scope) => running.filter((job) => job.scope.accountId === accountId).length

  it('never take more than half of the slots, and a new job of another account starts at once', {
    timeout: 90_000,
  }, async () => {
    workers.push(await start(), await start())
    await addJobs(hostile, 40 * 8, (index) => `hostile-${index % 40}`)
    // All slots that one account may have.
    await until(() => runningOf(hostile) === CONCURRENCY, { timeoutMs: 30_000 })

    for (let turn = 1; turn <= 6; turn += 1) {
      await addJobs(honest, 2, () => 'honest')
      await until(() => runningOf(honest) === 2 * turn, { timeoutMs: SOON_MS })
    }
    expect(runningOf(hostile)).toBe(CONCURRENCY)
    const [inFlight] = await on.database.owner<{ count: number }>(
      `SELECT count(*)::int AS count FROM jobs WHERE account_id = $1 AND state = 'dispatched'`,
      [hostile.accountId],
    )
    expect(inFlight?.count).toBe(2 * CONCURRENCY)

    release()
    await until(
      async () => {
        const open = await on.database.owner(`SELECT FROM jobs WHERE state <> 'succeeded' LIMIT 1`)
        return open.length === 0
      },
      { timeoutMs: 30_000 },
    )
    expect(new Set(running.map(({ id }) => id)).size).toBe(320 + 12)
  })
})
