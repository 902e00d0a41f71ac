// The end of a worker: it finishes what it can before its deadline, and hands back the rest, to run elsewhere at once.

import type { QueueName } from '#src/catalogue/queues.ts'
import type { Database } from '#src/platform/db/database.ts'
import type { Log } from '#src/platform/log.ts'
import { endsWithin, timeStep } from '#src/platform/time-limit.ts'
import { handBack, type Lease } from './backlog.ts'
import type { Consumer, Producer, Ticket } from './bull.ts'
import type { LeaseRenewal } from './lease-renewal.ts'

export interface Draining {
  queue: QueueName
  db: Database
  log: Log
  consumer: Consumer
  producer: Pick<Producer, 'close'>
  /** Fetched, and not yet claimed. */
  unclaimed: ReadonlySet<Ticket>
  leases: Pick<LeaseRenewal, 'leave' | 'held' | 'abortAll'>
  /** One promise for each fetched ticket. */
  unfinished: ReadonlySet<Promise<void>>
  /** Its jobs run elsewhere rather than here to their end. */
  endsAtOnce?: boolean | undefined
  /** Ends the renewal of leases. */
  stopTimers(): void
}

// Most of the stop time that is kept for handlers to notice their signal, and for handing back the jobs of handlers
// that don't.
const ENDING_MS = 3_000

// For the engine to end its fetches. A worker that holds no job has nothing else to wait for.
const FETCHING_MS = 3_000

/** Returns after at most `deadlineMs`, whatever hangs. */
export async function drain(
  { queue, db, log, consumer, producer, leases, unclaimed, unfinished, endsAtOnce, stopTimers }: Draining,
  deadlineMs: number,
): Promise<void> {
  const endingMs = Math.min(ENDING_MS, deadlineMs / 4)
  const giveBack = (running: readonly Lease[]) =>
    handBack(db, { unclaimed: [...unclaimed], running }).catch((error: unknown) =>
      log.warn({ queue, err: error }, 'jobs could not be handed back; reconcile requeues them'),
    )
  const step = <Result>(name: string, run: () => Promise<Result>) => timeStep(log, name, run)
  const abort = () => leases.abortAll(new Error('the worker is stopping'))
  if (endsAtOnce === true) abort()
  // What waits here for a slot need not wait for the jobs that run.
  const drained = Promise.all([
    step('leave', leases.leave),
    step('hand back what waits', () => giveBack([])),
    step('end fetching', () => endsWithin(consumer.close(), FETCHING_MS)).then(() =>
      step('finish jobs', () => Promise.all(unfinished)),
    ),
  ])
  await endsWithin(drained, deadlineMs - endingMs)
  stopTimers()
  const left = leases.held()
  abort()
  // A handler that ends by its signal puts its job back itself.
  await endsWithin(Promise.all(unfinished), endingMs / 3)
  await step('hand back what runs', () => endsWithin(giveBack(left), endingMs / 3))
  await step('close the producer', () => endsWithin(producer.close(), endingMs / 3))
}
