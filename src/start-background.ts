// What the processes do that answer no callers: each line of the Procfile but `web`, alone or several in one process. No
// handler may depend on which of them it runs in. On a laptop all of them share one process, since the Procfile takes 2 GB of memory.

import { PROCESS_NAMES, type ProcessName, type QueueName } from './catalogue/queues.ts'
import { startWorker } from './platform/jobs/consume.ts'
import { collectEngine, collectPostgres } from './platform/jobs/health-metrics.ts'
import { runDispatchLoops } from './platform/jobs/loops.ts'
import { collectQueues, createJobMetrics, type JobMetrics } from './platform/jobs/metrics.ts'
import { createRetentionMetrics, runRetention } from './platform/retention-run.ts'
import { collectOldest, createSequenceMetrics, runSequences } from './platform/sequence.ts'
import { runTasks } from './platform/tasks.ts'
import { type ProcessContext, type Running, runProcess } from './process.ts'
import { workOf } from './services.ts'

export type BackgroundName = Exclude<ProcessName, 'web'>

interface Context extends ProcessContext {
  /** Of all queues of this process. */
  jobMetrics: JobMetrics
}

type Start = (context: Context) => Promise<Running>

const WITHOUT_TENANTS: ReadonlySet<ProcessName> = new Set(['dispatch', 'sequence'])

const startDispatch: Start = async ({ services: { platform }, log, metrics, patiently }) => {
  const { db, engine, dispatcher } = platform
  await patiently(() => engine.check())
  collectQueues(metrics.registry, db)
  collectPostgres(metrics.registry, db)
  collectEngine(metrics.registry, engine)
  const loops = runDispatchLoops(dispatcher, log)
  return { stop: () => loops.close() }
}

const startSequence: Start = async ({ services: { platform, features }, log, metrics }) => {
  const sequences = features.flatMap(({ sequences = [] }) => sequences)
  collectOldest(metrics.registry, platform.db, sequences)
  const loops = runSequences(sequences, { ...platform, log, metrics: createSequenceMetrics(metrics.registry) })
  return { stop: () => loops.close() }
}

const startClock: Start = async ({ services: { features, platform, account }, log, metrics }) => {
  const loops = [
    runRetention(
      { db: platform.db, log, accounts: account.accounts, metrics: createRetentionMetrics(metrics.registry) },
      // Later features refer to rows of earlier ones: the references are deleted first.
      features.toReversed().flatMap(({ retention = [] }) => retention),
    ),
    runTasks(
      features.flatMap(({ tasks = [] }) => tasks),
      log,
    ),
  ]
  return { stop: async () => void (await Promise.all(loops.map((loop) => loop.close()))) }
}

function startQueue<Q extends QueueName>(queue: Q): Start {
  return async ({ config, services, log, jobMetrics, check, fail, patiently }) => {
    await patiently(() => services.platform.engine.check())
    const worker = await startWorker({
      queue,
      work: workOf(services, queue),
      db: services.platform.db,
      engine: services.platform.engine,
      log,
      metrics: jobMetrics,
      concurrency: config.concurrency(queue),
      stuckAfterMs: config.STUCK_AFTER_SECONDS * 1_000,
      // Delayed so that a probe can read the reason on the internal port before the process ends.
      onStuck: (reason) => void setTimeout(() => fail(reason), 2_000),
    })
    check('progress', async () => {
      const reason = worker.stuck()
      if (reason !== undefined) throw new Error(reason)
    })
    return { stop: (deadlineMs) => worker.close(deadlineMs) }
  }
}

/** Runs one process of the Procfile. */
export function runBackground(name: BackgroundName): Promise<void> {
  const start = startOf(name)
  return runProcess(name, (context) => start({ ...context, jobMetrics: createJobMetrics(context.metrics.registry) }), {
    processes: [name],
    worksWithoutTenants: WITHOUT_TENANTS.has(name),
  })
}

/** Runs every process of the Procfile but `web` in one, which needs a tenth of their memory. */
export function runAll(): Promise<void> {
  const names = PROCESS_NAMES.filter((name) => name !== 'web')
  const start = async (context: ProcessContext): Promise<Running> => {
    const jobMetrics = createJobMetrics(context.metrics.registry)
    const parts = await Promise.all(
      names.map((name) =>
        startOf(name)({ ...context, jobMetrics, check: (label, check) => context.check(`${name} ${label}`, check) }),
      ),
    )
    return { stop: async (deadlineMs) => void (await Promise.all(parts.map(({ stop }) => stop(deadlineMs)))) }
  }
  return runProcess('all', start, { processes: names })
}

function startOf(name: BackgroundName): Start {
  if (name === 'dispatch') return startDispatch
  if (name === 'sequence') return startSequence
  if (name === 'clock') return startClock
  return startQueue(name)
}
