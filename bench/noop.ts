// A job's path through the backlog with a handler that does nothing: dispatched, claimed, settled.

import { randomUUID } from 'node:crypto'
import pino from 'pino'
import { Registry } from 'prom-client'
import { enqueue } from '#src/platform/jobs/backlog.ts'
import type { Engine } from '#src/platform/jobs/bull.ts'
import { startWorker } from '#src/platform/jobs/consume.ts'
import { createDispatcher } from '#src/platform/jobs/dispatch.ts'
import { runDispatchLoops } from '#src/platform/jobs/loops.ts'
import { createJobMetrics } from '#src/platform/jobs/metrics.ts'
import type { Stage } from './stage.ts'

const ENQUEUED_AT_ONCE = 5_000

export async function enqueueNoops({ db, scope }: Stage, count: number): Promise<void> {
  for (let done = 0; done < count; done += ENQUEUED_AT_ONCE) {
    const jobs = Array.from({ length: Math.min(ENQUEUED_AT_ONCE, count - done) }, () => ({
      payload: { attestationId: randomUUID() },
    }))
    await db.tenant(scope, (tx) => enqueue(tx, 'attest', scope, jobs))
  }
}

/**
 * Runs `count` of the waiting jobs, and returns how many per second: from the start of the dispatcher to the last
 * commit.
 */
export async function drain(
  { db }: Stage,
  engine: Engine,
  { count, concurrency }: { count: number; concurrency: number },
): Promise<number> {
  const log = pino({ level: 'silent' })
  let left = count
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
      onDead: async () => {},
      onRedrive: async () => {},
    },
    db,
    engine,
    log,
    metrics: createJobMetrics(new Registry()),
    concurrency,
  })
  const before = await settledCount(db)
  const startedAt = performance.now()
  const dispatcher = createDispatcher({ db, engine, log })
  const loops = runDispatchLoops(dispatcher, log)
  await finished
  // The last jobs have run; their rows may not be committed yet.
  while ((await settledCount(db)) - before < count) await new Promise(setImmediate)
  const seconds = (performance.now() - startedAt) / 1_000
  await loops.close()
  await worker.close(5_000)
  await dispatcher.close()
  return count / seconds
}

async function settledCount(db: Stage['db']): Promise<number> {
  const [row] = await db.system('bench', (tx) =>
    tx.query<{ count: number }>(`SELECT count(*) AS count FROM jobs WHERE state = 'succeeded'`),
  )
  return row?.count ?? 0
}
