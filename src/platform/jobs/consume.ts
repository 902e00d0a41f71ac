// A worker process's loop: claim a job, run its handler, and write the outcome to the row. The handler settles in its
// own transaction. A handler that throws does not know the answer yet, and its job is tried again.

import { randomUUID } from 'node:crypto'
import type { Logger } from 'pino'
import { leavesRoom, type Payload, QUEUES, type QueueName, retryDelayMs } from '#src/catalogue/queues.ts'
import { createBatcher } from '#src/platform/batching.ts'
import { type LogSubject, note, within } from '#src/platform/context.ts'
import type { Database, Tx } from '#src/platform/db/database.ts'
import { retryWhileAway } from '#src/platform/db/retry.ts'
import type { Scope } from '#src/platform/ids.ts'
import { attributesOf, failSpan, inSpanOf } from '#src/platform/trace.ts'
import { isLockTimeout } from '#src/platform/unavailable.ts'
import { claimAll, type Lease, putBack, RENEW_EVERY_MS, renew, STALE_JOB, settle, settleAll } from './backlog.ts'
import type { Engine, Ticket } from './bull.ts'
import { drain } from './drain.ts'
import { failpoint, hangAt } from './failpoint.ts'
import type { JobMetrics } from './metrics.ts'
import { createProgressWatch } from './progress.ts'
import { createSlots } from './slots.ts'

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
// A transaction that holds a row longer than the lock timeout is usually a bulk write. Jittered, because jobs that were
// settled together would otherwise retry at the same time.
const LOCKED_DELAY_MS = 1_000

interface WorkerDeps<Q extends QueueName> {
  queue: Q
  work: Work<Q>
  db: Database
  engine: Engine
  log: Logger
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
  const identity = { id: randomUUID(), queue, concurrency, isLeaving: false }
  const running = new Map<string, { claim: Lease; controller: AbortController; renewedAt: number }>()
  const claim = createBatcher<Ticket, Lease | undefined>({ run: (tickets) => claimAll(db, queue, tickets) })
  const finish = createBatcher<Lease, boolean>({
    run: (claims) => db.system(`settle ${queue}`, (tx) => settleAll(tx, claims)),
  })
  const inTurn = createSlots({ count: concurrency, leavesRoom: leavesRoom(queue) })
  const unclaimed = new Set<Ticket>()
  const unfinished = new Set<Promise<void>>()
  const checkEveryMs = Math.min(10_000, stuckAfterMs / 4)
  const producer = engine.producer(queue)
  const watch = createProgressWatch({
    queue,
    stuckAfterMs,
    checkEveryMs,
    // Jobs that this worker fetched and has not claimed wait too, though the engine no longer counts them.
    countWaiting: async () => unclaimed.size || producer.waiting(),
    onStuck: (reason) => deps.onStuck?.(reason),
    now,
  })

  // The engine's job is done when the row is claimed: from then on the lease says which worker runs it. A job that
  // waits for its turn keeps its batch, and with it one of the few fetchers, so that no worker hoards jobs that others
  // could run. What waits for its own account's jobs keeps it only for a moment: jobs of other accounts must get past.
  function begin(ticket: Ticket): Promise<void> {
    unclaimed.add(ticket)
    return new Promise((taken, refused) => {
      const run = async () => {
        await hangAt(`${queue}:delivered`)
        const claimed = await claim(ticket)
        failpoint(`${queue}:claimed`)
        unclaimed.delete(ticket)
        taken()
        if (claimed === undefined) metrics.outcomes.inc({ queue, outcome: 'stale' })
        else await process(ticket, claimed)
      }
      const ended = inTurn(ticket.account ?? '', run, taken)
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

  async function process(ticket: Ticket, claimed: Lease): Promise<void> {
    const startedAt = now()
    const controller = new AbortController()
    running.get(claimed.id)?.controller.abort()
    const mine = { claim: claimed, controller, renewedAt: startedAt }
    running.set(claimed.id, mine)
    watch.progressed()
    try {
      const outcome = await runAs(ticket, claimed, () => runClaimed(claimed, controller.signal))
      metrics.outcomes.inc({ queue, outcome })
      metrics.runTime.observe({ queue }, (now() - startedAt) / 1_000)
      watch.progressed()
    } finally {
      if (running.get(claimed.id) === mine) running.delete(claimed.id)
    }
  }

  // Log lines and spans of this call carry the job's ids.
  function runAs({ traceparent }: Ticket, claimed: Lease, run: () => Promise<string>): Promise<string> {
    const subject = { queue, job: claimed.id, account: claimed.scope.accountId, attempt: claimed.attempt }
    const describe = () => ({
      name: `run ${queue}`,
      kind: 'consumer' as const,
      attributes: { 'messaging.destination.name': queue, ...attributesOf(subject) },
    })
    return within(subject, () =>
      inSpanOf(traceparent, describe, async (span) => {
        const outcome = await run()
        span.setAttribute('countersign.outcome', outcome)
        if (outcome === 'retried' || outcome === 'dead') failSpan(span, outcome)
        log.debug({ outcome }, 'run')
        return outcome
      }),
    )
  }

  async function runClaimed(claimed: Lease, signal: AbortSignal): Promise<string> {
    const payload = QUEUES[queue].payload.safeParse(claimed.payload)
    if (!payload.success) return end(claimed, 'the payload is not one of this queue', undefined, signal)
    const known = payload.data as Payload<Q>
    note(subjectOf(payload.data))
    if (claimed.isSpent) return end(claimed, 'no attempts are left', known, signal)

    const isLastAttempt = claimed.attempt >= QUEUES[queue].maxAttempts
    const job: RunningJob = {
      id: claimed.id,
      scope: claimed.scope,
      fence: claimed.fence,
      attempt: claimed.attempt,
      isLastAttempt,
      signal,
      settle: async (tx) => {
        failpoint(`${queue}:settling`)
        await settle(tx, claimed)
      },
    }
    // A job that failed because Postgres is away must not also wait for its lease to lapse.
    const giveBack = (back: Parameters<typeof putBack>[2]) => retryWhileAway(() => putBack(db, claimed, back), signal)
    const outcome = await attempt(() => work.run(known, job), log)
    failpoint(`${queue}:ran`)
    if (outcome === 'stale') return 'stale'
    if (outcome.kind === 'settled') return 'settled'
    if (outcome.kind === 'done') return (await finish(claimed)) ? 'settled' : 'stale'
    if (outcome.kind === 'defer') {
      await giveBack({ delayMs: outcome.delayMs, error: outcome.reason, isCounted: false })
      return 'deferred'
    }
    if (outcome.kind === 'dead' || isLastAttempt) return end(claimed, outcome.error, known, signal)
    const delayMs = outcome.delayMs ?? retryDelayMs(queue, claimed.attempt)
    log.warn({ error: outcome.error, delayMs }, 'the job will be tried again')
    await giveBack({ delayMs, error: outcome.error, isCounted: true })
    return 'retried'
  }

  async function end(
    claimed: Lease,
    error: string,
    payload: Payload<Q> | undefined,
    signal: AbortSignal,
  ): Promise<string> {
    log.error({ error }, 'the job is dead')
    try {
      const onDead = async (tx: Tx) => {
        await settle(tx, claimed, 'dead', error.slice(0, 2_000))
        if (payload === undefined) await work.onUnreadableDead?.(tx, claimed.scope, claimed.id)
        else await work.onDead(tx, claimed.scope, payload, error)
      }
      // Retried while the subject is locked too: if only the lease ended the job, it would run once more.
      await retryWhileAway(() => db.tenant(claimed.scope, onDead), signal)
    } catch (reason) {
      if (reason !== STALE_JOB) throw reason
      return 'stale'
    }
    return 'dead'
  }

  async function renewLeases(): Promise<void> {
    const held = [...running.values()]
    try {
      const kept = await renew(
        db,
        identity,
        held.map(({ claim: { id, fence } }) => ({ id, fence })),
      )
      for (const job of held) {
        if (kept.has(job.claim.id)) job.renewedAt = now()
        else if (running.get(job.claim.id) === job) job.controller.abort(new Error('the job has moved on'))
      }
      if (kept.size > 0) watch.progressed()
    } catch (error) {
      log.warn({ queue, err: error }, 'leases could not be renewed')
      // After its lease a job may run elsewhere. To go on would only do work that the fence refuses.
      for (const job of held) if (now() - job.renewedAt > 20_000) job.controller.abort(error)
    }
  }

  await renewLeases()
  const consumer = engine.consume(queue, {
    concurrency: FETCHERS,
    async process(tickets) {
      const begun = await Promise.allSettled(tickets.map(begin))
      // Failing the engine's job gives the batch back.
      for (const one of begun) if (one.status === 'rejected') throw one.reason
    },
    onError: (error) => log.warn({ queue, err: error }, 'the engine reports an error'),
  })
  const timers = [
    // A renewal counts as progress, so it must come more than once in `stuckAfterMs`.
    setInterval(() => void renewLeases(), Math.min(RENEW_EVERY_MS, stuckAfterMs / 3)),
    setInterval(() => void watch.check(), checkEveryMs),
  ]

  return {
    id: identity.id,
    stuck: watch.reason,
    async close(deadlineMs) {
      identity.isLeaving = true
      const stopTimers = () => timers.forEach(clearInterval)
      const workerId = identity.id
      await drain(
        { queue, workerId, db, log, consumer, producer, unclaimed, running, unfinished, stopTimers },
        deadlineMs,
      )
    },
  }
}

// `attestationId` names an attestation: payloads carry ids only.
function subjectOf(payload: Readonly<Record<string, string>>): LogSubject {
  return Object.fromEntries(Object.entries(payload).map(([key, id]) => [key.replace(/Id$/, ''), id]))
}

async function attempt(run: () => Promise<JobOutcome>, log: Logger): Promise<JobOutcome | 'stale'> {
  try {
    return await run()
  } catch (error) {
    if (error === STALE_JOB) return 'stale'
    if (isLockTimeout(error)) {
      const delayMs = Math.round(LOCKED_DELAY_MS * (0.5 + Math.random()))
      return { kind: 'defer', reason: 'a row that it needs is locked', delayMs }
    }
    log.warn({ err: error }, 'job handler threw')
    return { kind: 'retry', error: error instanceof Error ? error.message : String(error) }
  }
}
