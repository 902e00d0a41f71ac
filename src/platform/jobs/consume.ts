// A worker process's loop: takes deliveries from the engine, claims their rows, and runs the claimed jobs.

import { randomUUID } from 'node:crypto'
import { isAwaited, leavesRoom, type Payload, QUEUES, type QueueName } from '#src/catalogue/queues.ts'
import { createBatcher } from '#src/platform/batching.ts'
import type { Database, Tx } from '#src/platform/db/database.ts'
import type { Scope } from '#src/platform/ids.ts'
import type { Log } from '#src/platform/log.ts'
import { claimAll, type Lease, RENEW_EVERY_MS } from './backlog.ts'
import type { Engine, Ticket } from './bull.ts'
import { drain } from './drain.ts'
import { failpoint, hangAt } from './failpoint.ts'
import { createLeaseRenewal } from './lease-renewal.ts'
import type { JobMetrics } from './metrics.ts'
import { createRunner } from './runner.ts'
import { createSlots } from './slots.ts'
import { createWatchdog } from './watchdog.ts'

export interface RunningJob {
  id: string
  scope: Scope
  fence: number
  /** From 1. */
  attempt: number
  isLastAttempt: boolean
  /** Aborted when this worker no longer holds the job. */
  signal: AbortSignal
  /**
   * Ends the job in the handler's transaction. Throws when another delivery has taken the job over, so that the
   * transaction rolls back.
   */
  settle(tx: Tx): Promise<void>
}

export type JobOutcome =
  /** The handler's transaction ended the job. */
  | { kind: 'settled' }
  /**
   * The handler had nothing to write besides the job's end. The worker writes that: it is cheaper than a separate
   * transaction.
   */
  | { kind: 'done' }
  | { kind: 'retry'; error: string; delayMs?: number }
  /** Does not count as an attempt: the fault is elsewhere (an open circuit, a 429). */
  | { kind: 'defer'; reason: string; delayMs: number }
  | { kind: 'dead'; error: string }

export interface Work<Q extends QueueName> {
  /** Safe to run twice: it reads its row again and does nothing when the row is settled. */
  run(payload: Payload<Q>, job: RunningJob): Promise<JobOutcome>
  /** Tells the job's subject that there is no further attempt, in the transaction that ends the job. */
  onDead(tx: Tx, scope: Scope, payload: Payload<Q>, error: string): Promise<void>
  /** The same for a payload that can't be parsed: the subject is found by its job. */
  onUnreadableDead?(tx: Tx, scope: Scope, jobId: string): Promise<void>
  /** Undoes `onDead`, in the transaction that queues the dead job again. */
  onRedrive(tx: Tx, scope: Scope, payload: Payload<Q>): Promise<void>
  /**
   * Its jobs may wait long in this process, and are cheap to begin again: a worker that stops aborts their signals at
   * once, not at its deadline.
   */
  endsAtOnce?: boolean
}

export interface Worker {
  id: string
  /** Why this process should be replaced, or undefined while it makes progress. */
  stuck(): string | undefined
  /**
   * Stops taking jobs and waits for those that run. Returns after at most `deadlineMs`; what still runs then is queued
   * again, to run elsewhere.
   */
  close(deadlineMs: number): Promise<void>
}

// One batch is fetched while another batch's rows are claimed. More fetchers would take jobs that other workers could
// run sooner.
const FETCHERS = 4
// Between claims of several jobs. A job that comes alone is claimed at once.
const CLAIM_PAUSE_MS = 10

interface WorkerDeps<Q extends QueueName> {
  queue: Q
  work: Work<Q>
  db: Database
  engine: Engine
  log: Log
  metrics: JobMetrics
  concurrency?: number
  /** A worker that has waiting jobs and neither finishes nor renews one for this long is stuck. */
  stuckAfterMs?: number
  onStuck?: (reason: string) => void
  now?: () => number
}

export async function startWorker<Q extends QueueName>(deps: WorkerDeps<Q>): Promise<Worker> {
  const { queue, work, db, engine, log, metrics, stuckAfterMs = 60_000, now = () => performance.now() } = deps
  const concurrency = deps.concurrency ?? QUEUES[queue].concurrency
  const id = randomUUID()
  const claim = createBatcher<Ticket, Lease | undefined>({
    pauseMs: CLAIM_PAUSE_MS,
    run: (tickets) => claimAll(db, queue, tickets),
  })
  const run = createRunner({ queue, work, db, log })
  const withSlot = createSlots({ count: concurrency, leavesRoom: leavesRoom(queue) })
  const unclaimed = new Set<Ticket>()
  const unfinished = new Set<Promise<void>>()
  const checkEveryMs = Math.min(15_000, stuckAfterMs / 4)
  const producer = engine.producer(queue)
  const watchdog = createWatchdog({
    queue,
    stuckAfterMs,
    checkEveryMs,
    // Jobs that this worker fetched and has not claimed wait too, though the engine no longer counts them.
    countWaiting: async () => unclaimed.size || producer.waiting(),
    onStuck: (reason) => deps.onStuck?.(reason),
    now,
  })
  const leases = createLeaseRenewal({
    db,
    log,
    worker: { id, queue, concurrency },
    onRenewed: watchdog.progressed,
    now,
  })

  // The engine's job is done when the row is claimed: from then on the lease says which worker runs it. A job that
  // waits for its turn keeps its batch, and with it one of the few fetchers, so that no worker hoards jobs that others
  // could run. What waits for its own account's jobs gives it back at once, or after a moment when many wait: jobs of other
  // accounts must get past.
  function begin(ticket: Ticket): Promise<void> {
    unclaimed.add(ticket)
    return new Promise((taken, refused) => {
      const start = async () => {
        await hangAt(`${queue}:delivered`)
        const lease = await claim(ticket)
        failpoint(`${queue}:claimed`)
        unclaimed.delete(ticket)
        taken()
        if (lease === undefined) metrics.outcomes.inc({ queue, outcome: 'stale' })
        else await process(ticket, lease)
      }
      const ended = withSlot(ticket.account, start, { onPassed: taken, goesFirst: ticket.goesFirst })
        .catch((error: unknown) => {
          // Postgres did not answer. Nothing is lost: reconcile finds the row again, claimed or not.
          log.warn({ queue, job: ticket.id, err: error }, 'Postgres failed in a delivery; reconcile requeues the job')
          refused(error)
        })
        .finally(() => {
          unclaimed.delete(ticket)
          unfinished.delete(ended)
        })
      unfinished.add(ended)
    })
  }

  async function process(ticket: Ticket, lease: Lease): Promise<void> {
    const startedAt = now()
    const { signal, release } = leases.hold(lease)
    watchdog.progressed()
    try {
      const outcome = await run(ticket, lease, signal)
      metrics.outcomes.inc({ queue, outcome })
      metrics.runTime.observe({ queue }, (now() - startedAt) / 1_000)
      if (lease.isInteractive && isAwaited(queue) && hasEnded(outcome)) engine.settled.publish(lease.id)
      watchdog.progressed()
    } finally {
      release()
    }
  }

  await leases.renewAll()
  const consumer = engine.consume(queue, {
    concurrency: FETCHERS,
    async process(tickets) {
      const begun = await Promise.allSettled(tickets.map(begin))
      // Failing the engine's job gives the batch back.
      for (const one of begun) if (one.status === 'rejected') throw one.reason
    },
    onError: (error) => log.warn({ queue, err: error }, 'the engine reports an error'),
    onForgotten: (reason) =>
      log.info({ queue, reason }, 'the engine no longer has a job of this worker, as after FLUSHALL; its row decides'),
  })
  const timers = [
    // A renewal counts as progress, so it must come more than once in `stuckAfterMs`.
    setInterval(() => void leases.renewAll(), Math.min(RENEW_EVERY_MS, stuckAfterMs / 3)),
    setInterval(() => void watchdog.check(), checkEveryMs),
  ]

  return {
    id,
    stuck: watchdog.reason,
    async close(deadlineMs) {
      const stopTimers = () => timers.forEach(clearInterval)
      await drain(
        { queue, db, log, consumer, producer, leases, unclaimed, unfinished, endsAtOnce: work.endsAtOnce, stopTimers },
        deadlineMs,
      )
    },
  }
}

function hasEnded(outcome: string): boolean {
  return outcome === 'settled' || outcome === 'dead'
}
