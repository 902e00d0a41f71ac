// Moves due jobs from Postgres to the engine, a few of each lane in turn, and requeues what the engine lost. Any number
// of dispatchers may run: a try-lock per queue lets one dispatcher choose at a time, so that a lane never exceeds its
// cap.

import type { Span } from '@opentelemetry/api'
import { Registry } from 'prom-client'
import { QUEUE_NAMES, QUEUES, type QueueName } from '#src/catalogue/queues.ts'
import type { Database, Statement, Tx } from '#src/platform/db/database.ts'
import type { Log } from '#src/platform/log.ts'
import { failSpan, startSpanOf, traceparentOf } from '#src/platform/trace.ts'
import { NEXT, PRIORITY, RUNNING, requeue } from './backlog.ts'
import type { Engine, JobBatch, Producer, Ticket } from './bull.ts'
import {
  type Chosen,
  chooseFairly,
  chooseOne,
  createTurns,
  findRoom,
  LAPSED,
  NO_ROOM,
  type QueueRoom,
  type Turns,
} from './choose.ts'
import { failpoint } from './failpoint.ts'
import { selectDueQueues } from './lanes.ts'
import { createDispatchMetrics, type DispatchMetrics } from './metrics.ts'
import type { Round } from './poll-interval.ts'

export interface Dispatcher {
  /** Moves as many jobs as the window has free. */
  dispatch(queue: QueueName): Promise<Round>
  /** Which of these queues have a due job, in one statement. */
  findDue(queues: readonly QueueName[]): Promise<QueueName[]>
  /** Which queues have jobs in flight. The others have nothing to reconcile. */
  findInFlight(): Promise<QueueName[]>
  /** Tries to move one job at once, for a caller that waits. If it fails, the loop finds the job. */
  dispatchOne(queue: QueueName, id: string): Promise<void>
  /** Requeues jobs that a dead worker or a flushed engine left behind. Returns how many. */
  reconcile(queue: QueueName): Promise<number>
  close(): Promise<void>
}

// Longer than the time between a dispatcher's commit and the engine's answer.
const UNCLAIMED = `interval '10 seconds'`
// The jobs of one worker, some dozens, start about a second apart.
const APART = `interval '60 seconds'`
// Each purpose has its own lock; the second key is the queue's name.
const DISPATCH_LOCK = 41
const RECONCILE_LOCK = 42

interface DispatcherDeps {
  db: Database
  engine: Engine
  log: Log
  /** The dispatcher's counters register at the first dispatch. */
  registry?: Registry
}

export function createDispatcher({ db, engine, log, registry = new Registry() }: DispatcherDeps): Dispatcher {
  let counters: DispatchMetrics | undefined
  const metrics = () => {
    counters ??= createDispatchMetrics(registry)
    return counters
  }
  const turns = createTurns()
  const producers = new Map<QueueName, Producer>()
  const producerOf = (queue: QueueName): Producer => {
    let producer = producers.get(queue)
    if (producer === undefined) {
      producer = engine.producer(queue)
      producers.set(queue, producer)
    }
    return producer
  }

  async function hand(queue: QueueName, chosen: Chosen[], batches: Chosen[][]): Promise<number> {
    if (chosen.length === 0) return 0
    failpoint('dispatch:committed')
    const spans = new Map(chosen.flatMap((job) => spanOf(queue, job)))
    const ticketOf = ({ id, dispatches, account, hasLapsed, ...job }: Chosen): Ticket => {
      const traceparent = traceparentOf(spans.get(id)) ?? job.traceparent
      return {
        id,
        dispatches,
        account,
        ...(traceparent !== null && { traceparent }),
        ...(hasLapsed && { goesFirst: true }),
      }
    }
    const { stored, error } = await producerOf(queue).add(batches.flatMap((jobs) => jobBatchesOf(jobs, ticketOf)))
    const lost = chosen.filter((job) => !stored.has(job.id))
    for (const [id, span] of spans) {
      if (!stored.has(id)) failSpan(span, 'not_stored')
      span.end()
    }
    metrics().dispatched.inc({ queue }, stored.size)
    if (lost.length > 0) {
      metrics().requeued.inc({ queue, reason: 'not_stored' }, lost.length)
      log.warn(
        { queue, lost: lost.length, err: error },
        'the engine did not store dispatched jobs; they are queued again',
      )
      await db.system('dispatch undo', (tx) => requeue(tx, lost))
    }
    return stored.size
  }

  return {
    async dispatch(queue) {
      const { chosen, room } = await db.system('dispatch', (tx) => choose(tx, queue, turns), { isDurable: false })
      const count = await hand(queue, chosen, toBatches(chosen, room.workers, QUEUES[queue].batchSize))
      return { count, free: room.free, window: room.window }
    },
    findDue: async (queues) => namesOf(await db.readSystem<Named>('find due', () => selectDueQueues(queues))),
    findInFlight: async () => namesOf(await db.readSystem<Named>('find in flight', selectInFlight)),
    async dispatchOne(queue, id) {
      const chosen = await db.writeSystem<Chosen>('dispatch one', () => chooseOne(queue, id))
      await hand(queue, chosen, [chosen])
    },
    async reconcile(queue) {
      const { lapsed, unclaimed } = await db.system('reconcile', (tx) => findAbandoned(tx, queue))
      metrics().requeued.inc({ queue, reason: 'lapsed' }, lapsed)
      if (unclaimed.length === 0) return lapsed
      const held = await producerOf(queue).held(unclaimed)
      const lost = unclaimed.filter((ticket) => !held.has(ticket.id))
      await db.system('reconcile', (tx) => requeue(tx, lost))
      metrics().requeued.inc({ queue, reason: 'lost' }, lost.length)
      if (lapsed + lost.length > 0) log.info({ queue, lapsed, lost: lost.length }, 'reconciled')
      return lapsed + lost.length
    },
    async close() {
      await Promise.all([...producers.values()].map((producer) => producer.close()))
    },
  }
}

// Jobs that overtake share a batch with each other, and not with jobs that wait. Every worker gets two batches before
// any batch has more than one job: a batch runs on one worker.
function toBatches(chosen: readonly Chosen[], workers: number, most: number): Chosen[][] {
  const size = Math.max(1, Math.min(most, Math.floor(chosen.length / (2 * Math.max(1, workers)))))
  const sorted = chosen.toSorted((a, b) => a.ahead - b.ahead)
  return Array.from({ length: Math.ceil(sorted.length / size) }, (_, index) =>
    sorted.slice(index * size, (index + 1) * size),
  )
}

// An account with nothing running overtakes one with much in flight: BullMQ takes the lowest priority number first.
function jobBatchesOf(jobs: readonly Chosen[], ticketOf: (job: Chosen) => Ticket): JobBatch[] {
  const [first, ...rest] = jobs
  if (first === undefined) return []
  return [{ tickets: [ticketOf(first), ...rest.map(ticketOf)], priority: Math.min(1 + first.ahead, 2_000_000) }]
}

// Each job of a bulk upload is a trace of its own.
function spanOf(queue: QueueName, { id, priority, traceparent }: Chosen): [string, Span][] {
  const describe = () => ({
    name: `dispatch ${queue}`,
    kind: 'producer' as const,
    attributes: { 'messaging.destination.name': queue, 'messaging.message.id': id },
  })
  const span = startSpanOf(traceparent, describe, { isOneOfMany: priority === PRIORITY.bulk })
  return span === undefined ? [] : [[id, span]]
}

async function choose(tx: Tx, queue: QueueName, turns: Turns): Promise<{ chosen: Chosen[]; room: QueueRoom }> {
  if (!(await tryLock(tx, DISPATCH_LOCK, queue))) return { chosen: [], room: NO_ROOM }
  const room = await findRoom(tx, queue)
  return { chosen: room.free <= 0 ? [] : await chooseFairly(tx, queue, room, turns), room }
}

type Named = { queue: QueueName }
const namesOf = (rows: readonly Named[]) => rows.map(({ queue }) => queue)

// Asked several times a second while nothing happens: see selectDueQueues.
function selectInFlight(): Statement {
  return {
    // One probe per queue, however many jobs it has.
    text: `SELECT queue FROM unnest((SELECT $1::text[])) AS asked (queue)
     WHERE EXISTS (SELECT FROM jobs j WHERE j.queue = asked.queue AND j.state = 'dispatched' OFFSET 0)`,
    values: [QUEUE_NAMES],
  }
}

async function findAbandoned(
  tx: Tx,
  queue: QueueName,
): Promise<{ lapsed: number; unclaimed: Pick<Ticket, 'id' | 'dispatches'>[] }> {
  if (!(await tryLock(tx, RECONCILE_LOCK, queue))) return { lapsed: 0, unclaimed: [] }
  const lapsed = await tx.query(
    // A locked row is being settled, or Postgres will end its transaction for idling: the next round sees the result.
    // It is next: behind the whole backlog, a killed worker's jobs would run again only when the backlog is empty. Not
    // from the third attempt on: one of them may kill each worker, and together they would run with it until the
    // attempts of all are spent.
    `UPDATE jobs SET state = 'queued', lease_until = NULL, last_error = '${LAPSED}',
       run_at = CASE WHEN attempts < 3 THEN ${NEXT} ELSE now() + random() * ${APART} END
     WHERE id = ANY(ARRAY(SELECT id FROM jobs WHERE queue = $1 AND ${RUNNING} AND lease_until < now()
       FOR UPDATE SKIP LOCKED)) RETURNING id`,
    [queue],
  )
  const unclaimed = await tx.query<Pick<Ticket, 'id' | 'dispatches'>>(
    `SELECT id, dispatches FROM jobs
     WHERE queue = $1 AND state = 'dispatched' AND lease_until IS NULL AND dispatched_at < now() - ${UNCLAIMED}`,
    [queue],
  )
  return { lapsed: lapsed.length, unclaimed }
}

async function tryLock(tx: Tx, purpose: number, queue: QueueName): Promise<boolean> {
  const [row] = await tx.query<{ locked: boolean }>('SELECT pg_try_advisory_xact_lock($1, hashtext($2)) AS locked', [
    purpose,
    queue,
  ])
  return row?.locked ?? false
}
