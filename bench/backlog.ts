// No-op jobs from committed to settled, three durable writes each, against the engine's own process rate.

import { randomUUID } from 'node:crypto'
import { createPostgresBackend, type PostgresConnectionOptions, Queue, Worker, withBackend } from 'bullmq'
import { Redis } from 'ioredis'
import pg from 'pg'
import { createEngine, type Engine } from '#src/platform/jobs/bull.ts'
import { compare, describe, note, type Options, type Verdict } from './harness.ts'
import { drain, enqueueNoops } from './noop.ts'
import { runGraphileWorker, runPgBoss } from './rivals.ts'
import { openStage } from './stage.ts'

const JOBS = 3_000
const CONCURRENCY = 50

export async function runBacklog({ isQuick, rounds }: Options): Promise<Verdict[]> {
  const stage = await openStage({ poolSize: 8, redis: true })
  const { redisUrl } = stage
  const jobs = isQuick ? JOBS / 10 : JOBS
  const ours = async (engine: Engine): Promise<number> => {
    await enqueueNoops(stage, jobs)
    return drain(stage, engine, { count: jobs, concurrency: CONCURRENCY })
  }
  const compareOn = async (name: string, engine: Engine, floor: () => Promise<number>, bar: number) => {
    const verdict = await compare({
      name: `backlog on ${name}`,
      unit: 'jobs/s',
      floor: { label: 'bare BullMQ', run: floor },
      ours: { label: 'committed to settled', run: () => ours(engine) },
      bar,
      rounds,
    })
    await engine.close()
    return verdict
  }
  try {
    const verdicts: Verdict[] = []
    if (redisUrl !== undefined) {
      const engine = createEngine({ redisUrl, prefix: 'bench' })
      verdicts.push(await compareOn('Redis', engine, () => bareRedis(redisUrl, jobs), 0.25))
    }
    const engine = createEngine({ databaseUrl: stage.url })
    verdicts.push(await compareOn('Postgres', engine, () => barePostgres(stage.url, jobs), 0.5))

    const load = { url: stage.ownerUrl, jobs, concurrency: CONCURRENCY }
    for (const [name, rival] of Object.entries({ 'graphile-worker': runGraphileWorker, 'pg-boss': runPgBoss })) {
      await rival(load)
      const rates: number[] = []
      for (let round = 0; round < rounds; round += 1) rates.push(await rival(load))
      verdicts.push(note(`backlog, ${name}`, `${describe(rates, 'jobs/s')}, for the record`))
    }
    return verdicts
  } finally {
    await stage.close()
  }
}

async function bareRedis(url: string, jobs: number): Promise<number> {
  const connection = new Redis(url, { maxRetriesPerRequest: null })
  const blocking = connection.duplicate()
  const name = `bare-${randomUUID()}`
  const queue = new Queue(name, { connection })
  const rate = await bare(queue, jobs, (process) => {
    const worker = new Worker(name, process, { connection: blocking, concurrency: CONCURRENCY })
    return () => worker.close()
  })
  blocking.disconnect()
  connection.disconnect()
  return rate
}

async function barePostgres(url: string, jobs: number): Promise<number> {
  const classes = withBackend(createPostgresBackend)
  const options = '-c search_path=bullmq -c synchronous_commit=off'
  const pool = new pg.Pool({ connectionString: url, max: 6, keepAlive: true, options })
  pool.setMaxListeners(0)
  const connection = pool as unknown as PostgresConnectionOptions
  const name = `bare-${randomUUID()}`
  const queue = new classes.Queue(name, { connection })
  const rate = await bare(queue, jobs, (process) => {
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

// Timed from the first delivery: adding is not compared with `enqueue` here.
async function bare(
  queue: BareQueue,
  jobs: number,
  start: (process: () => Promise<void>) => () => Promise<void>,
): Promise<number> {
  const opts = { removeOnComplete: true, removeOnFail: true }
  for (let added = 0; added < jobs; added += 100) {
    await queue.addBulk(Array.from({ length: 100 }, () => ({ name: 'noop', data: { id: randomUUID() }, opts })))
  }
  let left = jobs
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
  return jobs / seconds
}
