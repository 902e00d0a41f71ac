// Runs the handler of one claimed job and writes the outcome to its row. The handler settles in its own transaction. A
// handler that throws does not know the answer yet, and its job is tried again.

import type { LogSubject } from '#src/catalogue/log-fields.ts'
import { type Payload, QUEUES, type QueueName, retryDelayMs } from '#src/catalogue/queues.ts'
import { createBatcher } from '#src/platform/batching.ts'
import { note, within } from '#src/platform/context.ts'
import type { Database, Tx } from '#src/platform/db/database.ts'
import { retryWhileAway } from '#src/platform/db/retry.ts'
import type { Log } from '#src/platform/log.ts'
import { attributesOf, failSpan, inSpanOf } from '#src/platform/trace.ts'
import { isLockTimeout } from '#src/platform/unavailable.ts'
import { type Lease, putBack, STALE_JOB, settle, settleAll } from './backlog.ts'
import type { Ticket } from './bull.ts'
import type { JobOutcome, RunningJob, Work } from './consume.ts'
import { failpoint } from './failpoint.ts'

// A transaction that holds a row longer than the lock timeout is usually a bulk write. Jittered, because jobs that were
// settled together would otherwise retry at the same time.
const LOCKED_DELAY_MS = 1_000

interface RunnerDeps<Q extends QueueName> {
  queue: Q
  work: Work<Q>
  db: Database
  log: Log
}

/** The values of the metric label `outcome`. */
type Outcome = 'settled' | 'stale' | 'deferred' | 'retried' | 'dead'

export function createRunner<Q extends QueueName>({
  queue,
  work,
  db,
  log,
}: RunnerDeps<Q>): (ticket: Ticket, lease: Lease, signal: AbortSignal) => Promise<Outcome> {
  const finish = createBatcher<Lease, boolean>({
    run: (leases) => db.system(`settle ${queue}`, (tx) => settleAll(tx, queue, leases)),
  })
  return (ticket, lease, signal) => runAs(ticket, lease, () => runLeased(lease, signal))

  // Log lines and spans of this call carry the job's ids.
  function runAs({ traceparent }: Ticket, lease: Lease, run: () => Promise<Outcome>): Promise<Outcome> {
    const subject = { queue, job: lease.id, account: lease.scope.accountId, attempt: lease.attempt }
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
        log.debug({ outcome }, 'a job has run')
        return outcome
      }),
    )
  }

  async function runLeased(lease: Lease, signal: AbortSignal): Promise<Outcome> {
    const payload = QUEUES[queue].payload.safeParse(lease.payload)
    if (!payload.success) return end(lease, 'the payload is not one of this queue', undefined, signal)
    const known = payload.data as Payload<Q>
    note(subjectOf(payload.data))
    if (lease.isSpent) return end(lease, 'no attempts are left', known, signal)

    const isLastAttempt = lease.attempt >= QUEUES[queue].maxAttempts
    const job: RunningJob = {
      id: lease.id,
      scope: lease.scope,
      fence: lease.fence,
      attempt: lease.attempt,
      isLastAttempt,
      signal,
      settle: async (tx) => {
        failpoint(`${queue}:settling`)
        await settle(tx, lease)
      },
    }
    // A job that failed because Postgres is away must not also wait for its lease to lapse.
    const giveBack = (back: Parameters<typeof putBack>[2]) => retryWhileAway(() => putBack(db, lease, back), signal)
    const outcome = await attempt(() => work.run(known, job), log)
    failpoint(`${queue}:ran`)
    if (outcome === 'stale') return 'stale'
    if (outcome.kind === 'settled') return 'settled'
    if (outcome.kind === 'done') return (await finish(lease)) ? 'settled' : 'stale'
    if (outcome.kind === 'defer') {
      await giveBack({ delayMs: outcome.delayMs, error: outcome.reason, isCounted: false })
      return 'deferred'
    }
    if (outcome.kind === 'dead' || isLastAttempt) return end(lease, outcome.error, known, signal)
    const delayMs = outcome.delayMs ?? retryDelayMs(queue, lease.attempt)
    log.warn({ error: outcome.error, delayMs }, 'the job will be tried again')
    await giveBack({ delayMs, error: outcome.error, isCounted: true })
    return 'retried'
  }

  async function end(
    lease: Lease,
    error: string,
    payload: Payload<Q> | undefined,
    signal: AbortSignal,
  ): Promise<Outcome> {
    log.error({ error }, 'the job is dead')
    try {
      const onDead = async (tx: Tx) => {
        await settle(tx, lease, 'dead', error.slice(0, 2_000))
        if (payload === undefined) await work.onUnreadableDead?.(tx, lease.scope, lease.id)
        else await work.onDead(tx, lease.scope, payload, error)
      }
      // Retried while the subject is locked too: if only the lease ended the job, it would run once more.
      await retryWhileAway(() => db.tenant(lease.scope, onDead), signal)
    } catch (reason) {
      if (reason !== STALE_JOB) throw reason
      return 'stale'
    }
    return 'dead'
  }
}

// `attestationId` names an attestation: payloads carry ids only.
function subjectOf(payload: Readonly<Record<string, string>>): LogSubject {
  return Object.fromEntries(Object.entries(payload).map(([key, id]) => [key.replace(/Id$/, ''), id]))
}

async function attempt(run: () => Promise<JobOutcome>, log: Log): Promise<JobOutcome | 'stale'> {
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
