// The engines that jobs are tested on, and jobs in the test's own process: a database, an engine, its dispatcher, and the
// workers that a test starts.

import { randomBytes, randomUUID } from 'node:crypto'
import pino from 'pino'
import { Registry } from 'prom-client'
import { inject } from 'vitest'
import type { Database } from '#src/platform/db/database.ts'
import type { Scope } from '#src/platform/ids.ts'
import { enqueue } from '#src/platform/jobs/backlog.ts'
import { createEngine, type Engine } from '#src/platform/jobs/bull.ts'
import { type JobOutcome, type RunningJob, startWorker, type Work, type Worker } from '#src/platform/jobs/consume.ts'
import { createDispatcher, type Dispatcher } from '#src/platform/jobs/dispatch.ts'
import { createJobMetrics } from '#src/platform/jobs/metrics.ts'
import type { Log } from '#src/platform/log.ts'
import { createTestDatabase, makeAccount, type TestDatabase } from './database.ts'

export type EngineKind = 'redis' | 'postgres'

/** The engines that this machine can test. */
export function testedEngines(): EngineKind[] {
  return inject('redisUrl') === null ? ['postgres'] : ['postgres', 'redis']
}

/** An engine on Redis uses a prefix of its own. */
export function makeEngine(kind: EngineKind, { url }: Pick<TestDatabase, 'url'>): Engine {
  const redisUrl = inject('redisUrl')
  if (kind === 'postgres' || redisUrl === null) return createEngine({ databaseUrl: url })
  return createEngine({ redisUrl, prefix: `t${randomBytes(4).toString('hex')}` })
}

export interface Dispatching {
  database: TestDatabase
  engine: Engine
  dispatcher: Dispatcher
  scope: Scope
  /** Enqueues jobs of the queue `attest`, of `scope` when no other is named. */
  addJobs(count: number, of?: Scope): Promise<string[]>
  /** Jobs that the engine has given to a worker, which may hold them until a slot is free. */
  delivered: ReadonlySet<string>
  /** A worker of the queue `attest`. */
  start(run: (job: RunningJob) => Promise<JobOutcome>, options?: WorkerOptions): Promise<Worker>
  settleNow(job: RunningJob): Promise<JobOutcome>
  close(): Promise<void>
}

interface WorkerOptions {
  onDead?: Work<'attest'>['onDead']
  db?: Database
  concurrency?: number
  endsAtOnce?: boolean
  /** A third of it is also the longest time between two renewals of leases. */
  stuckAfterMs?: number
}

/** Nothing is dispatched by itself. @param log Silent when absent. */
export async function startDispatching(kind: EngineKind, log: Log = pino({ level: 'silent' })): Promise<Dispatching> {
  const database = await createTestDatabase()
  const engine = makeEngine(kind, database)
  const dispatcher = createDispatcher({ db: database.db, engine, log })
  const scope = await makeAccount(database)
  const delivered = new Set<string>()
  const observed: Engine = {
    ...engine,
    consume: (queue, options) =>
      engine.consume(queue, {
        ...options,
        process(tickets) {
          for (const { id } of tickets) delivered.add(id)
          return options.process(tickets)
        },
      }),
  }
  return {
    database,
    engine,
    dispatcher,
    scope,
    delivered,
    addJobs(count, of = scope) {
      const jobs = Array.from({ length: count }, () => ({ payload: { attestationId: randomUUID() } }))
      return database.db.tenant(of, (tx) => enqueue(tx, 'attest', of, jobs))
    },
    start: (
      run,
      { onDead = async () => {}, db = database.db, concurrency = 4, endsAtOnce = false, stuckAfterMs = 60_000 } = {},
    ) =>
      startWorker({
        queue: 'attest',
        work: { run: (_, job) => run(job), onDead, onRedrive: async () => {}, endsAtOnce },
        db,
        engine: observed,
        log,
        metrics: createJobMetrics(new Registry()),
        concurrency,
        stuckAfterMs,
      }),
    async settleNow(job) {
      await database.db.tenant(job.scope, job.settle)
      return { kind: 'settled' }
    },
    async close() {
      await dispatcher.close()
      await engine.close()
      await database.close()
    },
  }
}
