// No-op jobs from committed to settled, three durable writes each, against the engine's own process rate.

import { randomUUID } from 'node:crypto'
import { createPostgresBackend, type PostgresConnectionOptions, Queue, Worker, withBackend } from 'bullmq'
import { Redis } from 'ioredis'
import pg from 'pg'
import pino from 'pino'
import { Registry } from 'prom-client'
import { enqueue } from '#src/platform/jobs/backlog.ts'
import { createEngine, type Engine } from '#src/platform/jobs/bull.ts'
import { startWorker } from '#src/platform/jobs/consume.ts'
import { createDispatcher } from '#src/platform/jobs/dispatch.ts'
import { runDispatchLoops } from '#src/platform/jobs/loops.ts'
import { createJobMetrics } from '#src/platform/jobs/metrics.ts'
import { compare, openStage, type Stage, type Verdict } from './harness.ts'
import { startRedis } from './redis.ts'

const JOBS = 3_000
const CONCURRENCY = 50

export async function runBacklog(): Promise<Verdict[]> {
  const stage = await openStage({ poolSize: 8 })
  const redis = await startRedis(stage.directory)
  try {
    const verdicts: Verdict[] = []
    if (redis !== undefined) {
      const engine = createEngine({ redisUrl: redis.url, prefix: 'bench' })
      verdicts.push(
        await compare({
          name: 'backlog on Redis',
          unit: 'jobs/s',
          floor: { label: 'bare BullMQ', run: () => bareRedis(redis.url) },
          ours: { label: 'committed to settled', run: () => ours(stage, engine) },
          bar: 0.25,
        }),
      )
      await engine.close()
    }
    const engine = createEngine({ databaseUrl: stage.url })
    verdicts.push(
      await compare({
        name: 'backlog on Postgres',
        unit: 'jobs/s',
        floor: { label: 'bare BullMQ', run: () => barePostgres(stage.url) },
        ours: { label: 'committed to settled', run: () => ours(stage, engine) },
        bar: 0.5,
      }),
    )
    await engine.close()
    return verdicts
  } finally {
    redis?.stop()
    await stage.close()
  }
}

async function ours({ db, scope }: Stage, engine: Engine): Promise<number> {
  const log = pino({ level: 'silent' })
  let left = JOBS
  let finish = () => {}
  const finished = new Promise<void>((done) => {
    finish = done
  })
  const worker = await startWorker({
    queue: 'attest',
    work: {
      async run() {
        left -= 1
        if (left === 0) finish()
        return { kind: 'done' }
      },
      bury: async () => {},
      unbury: async () => {},
    },
    db,
    engine,
    log,
    metrics: createJobMetrics(new Registry()),
    concurrency: CONCURRENCY,
  })
  await db.tenant(scope, (tx) =>
    enqueue(
      tx,
      'attest',
      scope,
      Array.from({ length: JOBS }, () => ({ payload: { attestationId: randomUUID() } })),
    ),
  )
  const startedAt = performance.now()
  const dispatcher = createDispatcher({ db, engine, log })
  const loops = runDispatchLoops(dispatcher, log)
  await finished
  while (!(await isSettled(db))) await new Promise(setImmediate)
  const seconds = (performance.now() - startedAt) / 1_000
  await loops.close()
  await worker.close(5_000)
  await dispatcher.close()
  return JOBS / seconds
}

// The last job has run; its row may still be on its way.
async function isSettled(db: Stage['db']): Promise<boolean> {
  const open = await db.system('bench', (tx) =>
    tx.query(`SELECT FROM jobs WHERE state IN ('queued', 'dispatched', 'running') LIMIT 1`),
  )
  return open.length === 0
}

async function bareRedis(url: string): Promise<number> {
  const connection = new Redis(url, { maxRetriesPerRequest: null })
  const name = `bare-${randomUUID()}`
  const queue = new Queue(name, { connection })
  const rate = await bare(queue, (process) => {
    const worker = new Worker(name, process, { connection: connection.duplicate(), concurrency: CONCURRENCY })
    return () => worker.close()
  })
  connection.disconnect()
  return rate
}

async function barePostgres(url: string): Promise<number> {
  const classes = withBackend(createPostgresBackend)
  const options = '-c search_path=bullmq -c synchronous_commit=off'
  const pool = new pg.Pool({ connectionString: url, max: 6, keepAlive: true, options })
  pool.setMaxListeners(0)
  const connection = pool as unknown as PostgresConnectionOptions
  const name = `bare-${randomUUID()}`
  const queue = new classes.Queue(name, { connection })
  const rate = await bare(queue, (process) => {
    const worker = new classes.Worker(name, process, { connection, concurrency: CONCURRENCY })
    return () => worker.close()
  })
  await pool.end()
  return rate
}

interface BareQueue {
  addBulk(jobs: { name: string; data: object; opts: object }[]): Promise<unknown>
  close(): Promise<void>
}

// From the first delivery: adding is what `enqueue` is compared to nowhere.
async function bare(queue: BareQueue, start: (process: () => Promise<void>) => () => Promise<void>): Promise<number> {
  const opts = { removeOnComplete: true, removeOnFail: true }
  for (let added = 0; added < JOBS; added += 500) {
    await queue.addBulk(Array.from({ length: 500 }, () => ({ name: 'noop', data: { id: randomUUID() }, opts })))
  }
  let left = JOBS
  let finish = () => {}
  const finished = new Promise<void>((done) => {
    finish = done
  })
  const startedAt = performance.now()
  const stop = start(async () => {
    left -= 1
    if (left === 0) finish()
  })
  await finished
  const seconds = (performance.now() - startedAt) / 1_000
  await stop()
  await queue.close()
  return JOBS / seconds
}
