// Jobs without a worker process: a test takes a job over as a delivery does, and does with its outcome what a worker does.
// Or a worker in the test's own process.

import pino from 'pino'
import { Registry } from 'prom-client'
import { type Payload, QUEUES, type QueueName, retryDelayMs } from '#src/catalogue/queues.ts'
import type { Scope } from '#src/platform/ids.ts'
import { claimAll, enqueue, putBack, revive, STALE_JOB, settle, settleAll } from '#src/platform/jobs/backlog.ts'
import { createEngine } from '#src/platform/jobs/bull.ts'
import { type JobOutcome, type RunningJob, startWorker, type Work } from '#src/platform/jobs/consume.ts'
import { createDispatcher } from '#src/platform/jobs/dispatch.ts'
import { runDispatchLoops } from '#src/platform/jobs/loops.ts'
import { createJobMetrics } from '#src/platform/jobs/metrics.ts'
import type { TestDatabase } from './database.ts'

type Outcome = JobOutcome['kind'] | 'stale'

export interface Taken<Q extends QueueName> {
  job: RunningJob
  payload: Payload<Q>
}

export interface Jobs<Q extends QueueName> {
  /** Unsettled jobs whose payload names `subject`, oldest first. */
  of(subject: string): Promise<string[]>
  /** Takes a job over, due or not. */
  take(id: string): Promise<Taken<Q>>
  /** Runs a job that was taken. */
  run(taken: Taken<Q>, work: Work<Q>): Promise<Outcome>
  /** Enqueues one more job and runs it. */
  runNew(scope: Scope, payload: Payload<Q>, work: Work<Q>): Promise<Outcome>
  /** Runs jobs that are due until there are none; of one account, if it is given. */
  drain(work: Work<Q>, scope?: Scope): Promise<void>
  /** What the worker does when no attempts are left. */
  kill(taken: Taken<Q>, work: Work<Q>): Promise<void>
  /** What `jobs redrive` does. */
  redrive(taken: Taken<Q>, work: Work<Q>): Promise<void>
  /** Makes jobs that wait for a later time due. */
  hurry(): Promise<void>
}

export function createJobs<Q extends QueueName>({ db, owner }: TestDatabase, queue: Q): Jobs<Q> {
  async function take(id: string): Promise<Taken<Q>> {
    const [row] = await owner<{ dispatches: number }>(
      `UPDATE jobs SET state = 'dispatched', dispatches = dispatches + 1 WHERE id = $1 RETURNING dispatches`,
      [id],
    )
    const [lease] = await claimAll(db, queue, [{ id, dispatches: row?.dispatches ?? 0 }])
    if (lease === undefined) throw new Error(`the job ${id} can't be taken`)
    const { scope, fence, attempt } = lease
    const { signal } = new AbortController()
    const isLastAttempt = attempt >= QUEUES[queue].maxAttempts
    return {
      job: { id, scope, fence, attempt, isLastAttempt, signal, settle: (tx) => settle(tx, lease) },
      payload: QUEUES[queue].payload.parse(lease.payload) as Payload<Q>,
    }
  }

  async function run(taken: Taken<Q>, work: Work<Q>): Promise<Outcome> {
    const { job, payload } = taken
    const outcome = await work.run(payload, job).catch((error: unknown): JobOutcome | 'stale' => {
      if (error === STALE_JOB) return 'stale'
      return { kind: 'retry', error: String(error) }
    })
    if (outcome === 'stale') return outcome
    if (outcome.kind === 'done') {
      const [isMine] = await db.tenant(job.scope, (tx) => settleAll(tx, queue, [job]))
      return isMine === true ? outcome.kind : 'stale'
    }
    if (outcome.kind === 'defer')
      await putBack(db, job, { delayMs: outcome.delayMs, error: outcome.reason, isCounted: false })
    if (outcome.kind === 'dead' || (outcome.kind === 'retry' && job.isLastAttempt)) await kill(taken, work)
    else if (outcome.kind === 'retry')
      await putBack(db, job, { delayMs: retryDelayMs(queue, job.attempt), error: outcome.error, isCounted: true })
    return outcome.kind
  }

  async function kill({ job, payload }: Taken<Q>, work: Work<Q>): Promise<void> {
    await db.tenant(job.scope, async (tx) => {
      await settle(tx, { ...job, queue }, 'dead', 'spent')
      await work.onDead(tx, job.scope, payload, 'spent')
    })
  }

  return {
    async of(subject) {
      const rows = await owner<{ id: string }>(
        `SELECT id FROM jobs WHERE queue = $1 AND state IN ('queued', 'dispatched')
           AND $2 IN (payload ->> 'attestationId', payload ->> 'reevaluationId', payload ->> 'mailId', payload ->> 'diffId') ORDER BY created_at, id`,
        [queue, subject],
      )
      return rows.map(({ id }) => id)
    },
    take,
    run,
    kill,
    async runNew(scope, payload, work) {
      const [id = ''] = await db.tenant(scope, (tx) => enqueue(tx, queue, scope, [{ payload }]))
      return run(await take(id), work)
    },
    async drain(work, scope) {
      for (;;) {
        const due = await owner<{ id: string }>(
          `SELECT id FROM jobs WHERE queue = $1 AND state = 'queued' AND run_at <= now()
             AND ($2::text IS NULL OR account_id = $2) ORDER BY priority, run_at, id`,
          [queue, scope?.accountId ?? null],
        )
        if (due.length === 0) return
        for (const { id } of due) await run(await take(id), work)
      }
    },
    async redrive({ job, payload }, work) {
      await db.tenant(job.scope, async (tx) => {
        if (!(await revive(tx, job.id))) throw new Error('the job is not dead')
        await work.onRedrive(tx, job.scope, payload)
      })
    },
    async hurry() {
      await owner(`UPDATE jobs SET run_at = now() WHERE queue = $1 AND state = 'queued'`, [queue])
    },
  }
}

/** A worker and a dispatcher on an engine of their own. */
export async function startConsuming<Q extends QueueName>(
  { db, url }: TestDatabase,
  queue: Q,
  work: Work<Q>,
  concurrency: number,
): Promise<{ close(): Promise<void> }> {
  const log = pino({ level: 'silent' })
  const engine = createEngine({ databaseUrl: url })
  const dispatcher = createDispatcher({ db, engine, log })
  const metrics = createJobMetrics(new Registry())
  const worker = await startWorker({ queue, work, db, engine, log, metrics, concurrency })
  const loops = runDispatchLoops(dispatcher, log)
  return {
    async close() {
      await loops.close()
      await worker.close(5_000)
      await dispatcher.close()
      await engine.close()
    },
  }
}
