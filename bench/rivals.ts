// Two queues on Postgres alone, with no-op jobs and their own batching, as their manuals advise for throughput.

import { randomUUID } from 'node:crypto'
import { Logger, makeWorkerUtils, run } from 'graphile-worker'
import { PgBoss } from 'pg-boss'

interface Load {
  url: string
  jobs: number
  concurrency: number
}

const LOCAL_QUEUE = 200
const BATCH = 100

/** Jobs per second, from the start of its worker to the last commit. */
export async function runGraphileWorker({ url, jobs, concurrency }: Load): Promise<number> {
  const logger = new Logger(() => () => {})
  const utils = await makeWorkerUtils({ connectionString: url, logger })
  await utils.migrate()
  await utils.addJobs(Array.from({ length: jobs }, () => ({ identifier: 'noop', payload: { id: randomUUID() } })))
  const done = countdown(jobs)
  const startedAt = performance.now()
  const runner = await run({
    connectionString: url,
    logger,
    noHandleSignals: true,
    maxPoolSize: 8,
    taskList: { noop: async () => done.one() },
    preset: { worker: { concurrentJobs: concurrency, localQueue: { size: LOCAL_QUEUE }, completeJobBatchDelay: 0 } },
  })
  await done.all
  // Its completions are batched: stopping waits until they are written.
  await runner.stop()
  const rate = jobs / ((performance.now() - startedAt) / 1_000)
  await utils.release()
  return rate
}

/** The same for pg-boss. */
export async function runPgBoss({ url, jobs, concurrency }: Load): Promise<number> {
  const boss = new PgBoss({ connectionString: url, max: 8, supervise: false, schedule: false })
  boss.on('error', () => {})
  await boss.start()
  const queue = `noop-${randomUUID()}`
  await boss.createQueue(queue)
  await boss.insert(
    queue,
    Array.from({ length: jobs }, () => ({ data: { id: randomUUID() } })),
  )
  const done = countdown(jobs)
  const startedAt = performance.now()
  await boss.work(
    queue,
    {
      batchSize: BATCH,
      localConcurrency: Math.max(1, Math.round(concurrency / BATCH)),
      pollingIntervalSeconds: 0.5,
      burstWhenBatchFull: true,
    },
    async (batch) => {
      for (const _job of batch) done.one()
    },
  )
  await done.all
  await boss.stop({ graceful: true })
  return jobs / ((performance.now() - startedAt) / 1_000)
}

function countdown(count: number): { one(): void; all: Promise<void> } {
  let left = count
  const { promise, resolve } = Promise.withResolvers<void>()
  return {
    one() {
      left -= 1
      if (left === 0) resolve()
    },
    all: promise,
  }
}
