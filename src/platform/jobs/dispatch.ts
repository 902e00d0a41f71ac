// Moves due jobs from Postgres to the engine, a few of each lane in turn, and requeues what the engine lost. Any number
// of dispatchers may run: a try-lock per queue lets one dispatcher choose at a time, so that a lane never exceeds its
// cap.

import type { Span } from '@opentelemetry/api'
import { Registry } from 'prom-client'
import { leavesRoom, QUEUE_NAMES, QUEUES, type QueueName } from '#src/catalogue/queues.ts'
import type { Database, Statement, Tx } from '#src/platform/db/database.ts'
import type { Log } from '#src/platform/log.ts'
import { failSpan, startSpanOf, traceparentOf } from '#src/platform/trace.ts'
import { NEXT, RUNNING, requeue } from './backlog.ts'
import type { Engine, JobBatch, Producer, Ticket } from './bull.ts'
import { failpoint } from './failpoint.ts'
import { type AccountLane, shareByAccount, shareFairly } from './fair-share.ts'
import { capLanes, findDueLanes, selectDueQueues, takeTokens } from './lanes.ts'
import { WORKER_ALIVE } from './live-rows.ts'
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

// Twice the concurrency keeps every worker busy while the next round is chosen, and keeps the engine small.
const WINDOW_FACTOR = 2
// Longer than the time between a dispatcher's commit and the engine's answer.
const UNCLAIMED = `interval '10 seconds'`
// The jobs of one worker, some dozens, start about a second apart.
const APART = `interval '60 seconds'`
/** What `last_error` says of a job whose worker is gone. */
const LAPSED = 'the lease lapsed'
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
      const { chosen, room } = await db.system('dispatch', (tx) => choose(tx, queue), { isDurable: false })
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

interface Chosen {
  id: string
  dispatches: number
  account: string
  /** Jobs in flight of the same account that went before this one. */
  ahead: number
  priority: number
  traceparent: string | null
  /** Its worker died while it ran for the first or second time. */
  hasLapsed?: boolean
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

// Each job of a bulk upload (priority 1) is a trace of its own.
function spanOf(queue: QueueName, { id, priority, traceparent }: Chosen): [string, Span][] {
  const describe = () => ({
    name: `dispatch ${queue}`,
    kind: 'producer' as const,
    attributes: { 'messaging.destination.name': queue, 'messaging.message.id': id },
  })
  const span = startSpanOf(traceparent, describe, { isOneOfMany: priority === 1 })
  return span === undefined ? [] : [[id, span]]
}

interface Room {
  /** Jobs that the window has free. */
  free: number
  window: number
  workers: number
  /** By lane; lanes with none in flight are absent. */
  inFlight: ReadonlyMap<string, number>
  accountsInFlight: ReadonlyMap<string, number>
}

const NO_ROOM: Room = { free: 0, window: 0, workers: 0, inFlight: new Map(), accountsInFlight: new Map() }

async function choose(tx: Tx, queue: QueueName): Promise<{ chosen: Chosen[]; room: Room }> {
  if (!(await tryLock(tx, DISPATCH_LOCK, queue))) return { chosen: [], room: NO_ROOM }
  const room = await findRoom(tx, queue)
  return { chosen: room.free <= 0 ? [] : await chooseFairly(tx, queue, room), room }
}

type Named = { queue: QueueName }
const namesOf = (rows: readonly Named[]) => rows.map(({ queue }) => queue)

// Asked several times a second while nothing happens: see selectDueQueues.
function selectInFlight(): Statement {
  return {
    // One probe per queue, however many jobs it has.
    text: `SELECT queue FROM unnest((SELECT $1::text[])) AS asked (queue)
     WHERE EXISTS (SELECT FROM jobs j WHERE j.queue = asked.queue AND j.state IN ('dispatched', 'running') OFFSET 0)`,
    values: [QUEUE_NAMES],
  }
}

async function chooseFairly(tx: Tx, queue: QueueName, { free, inFlight, accountsInFlight }: Room): Promise<Chosen[]> {
  const { laneCap } = QUEUES[queue]
  const due = await findDueLanes(tx, queue)
  const lanes = capLanes(due, inFlight, laneCap)
  const quotas = leavesRoom(queue)
    ? shareByAccount(lanes, accountsInFlight, free, laneCap)
    : shareFairly(lanes, free, laneCap)
  if (quotas.length === 0) return []

  const rows = await tx.query<Omit<Chosen, 'ahead'> & { lane: string; runAt: number; hasLapsed: boolean }>(
    // The lists stand behind a SELECT: see settleAll. The chosen ids are an array: as a join the planner, which expects
    // thousands of them in a deep backlog, would read the whole table for it.
    `WITH due AS (
       SELECT due.id, due.lane, due.priority, due.run_at, quotas.quota
       FROM unnest((SELECT $2::text[]), (SELECT $3::int[])) AS quotas (lane, quota)
       CROSS JOIN (VALUES (0::smallint), (1::smallint)) AS p (priority)
       CROSS JOIN LATERAL (
         SELECT id, lane, priority, run_at FROM jobs
         WHERE queue = $1 AND state = 'queued' AND lane = quotas.lane AND priority = p.priority AND run_at <= now()
         ORDER BY run_at LIMIT quotas.quota FOR UPDATE SKIP LOCKED
       ) AS due
     ), ranked AS (
       SELECT id, quota, row_number() OVER (PARTITION BY lane ORDER BY priority, run_at) AS turn FROM due
     )
     UPDATE jobs SET state = 'dispatched', dispatches = dispatches + 1, dispatched_at = now(), lease_until = NULL
     WHERE id = ANY(ARRAY(SELECT id FROM ranked WHERE turn <= quota))
     RETURNING id, dispatches, account_id AS account, priority, traceparent, lane,
       extract(epoch FROM run_at)::float8 AS "runAt", last_error IS NOT DISTINCT FROM '${LAPSED}' AND attempts < 3 AS "hasLapsed"`,
    [queue, quotas.map((quota) => quota.lane), quotas.map((quota) => quota.take)],
  )
  const rated = new Set(due.flatMap(({ lane, tokens }) => (tokens === null ? [] : [lane])))
  const dispatched = rows.map(({ lane }) => lane)
  await takeTokens(
    tx,
    queue,
    dispatched.filter((lane) => rated.has(lane)),
  )
  const ahead = new Map(accountsInFlight)
  const sorted = rows.toSorted((a, b) => a.priority - b.priority || a.runAt - b.runAt)
  return sorted.map(({ id, dispatches, account, priority, traceparent, hasLapsed }) => {
    const before = ahead.get(account) ?? 0
    ahead.set(account, before + 1)
    // It had its turn, and lost 15 s with its worker: behind the window of a busy queue it would wait for seconds more.
    return { id, dispatches, account, priority, traceparent, hasLapsed, ahead: hasLapsed ? 0 : before }
  })
}

// One statement with the same room as in `findRoom`: a caller waits for the round trip.
function chooseOne(queue: QueueName, id: string): Statement {
  return {
    text: `UPDATE jobs SET state = 'dispatched', dispatches = dispatches + 1, dispatched_at = now(), lease_until = NULL
     WHERE id = $1 AND queue = $2 AND state = 'queued' AND run_at <= now()
       AND NOT EXISTS (SELECT FROM queues q WHERE q.queue = $2 AND q.paused_at IS NOT NULL)
       AND (SELECT count(*) FROM jobs j WHERE j.queue = $2 AND j.state IN ('dispatched', 'running'))
         < (SELECT ${WINDOW_FACTOR} * coalesce(sum(w.concurrency), 0) FROM workers w WHERE w.queue = $2 AND w.heartbeat_at > now() - ${WORKER_ALIVE})
     RETURNING id, dispatches, account_id AS account, priority, traceparent, (SELECT count(*)::int FROM jobs j WHERE j.queue = jobs.queue AND j.lane = jobs.lane
       AND j.state IN ('dispatched', 'running')) AS ahead`,
    values: [id, queue],
  }
}

async function findRoom(tx: Tx, queue: QueueName): Promise<Room> {
  // One pass over the jobs in flight, which the window bounds. A query per lane would cost as many probes as there are
  // lanes.
  const [rows, lanes] = await Promise.all([
    tx.query<{ isPaused: boolean; workers: number; window: number }>(
      `SELECT EXISTS (SELECT FROM queues WHERE queue = $1 AND paused_at IS NOT NULL) AS "isPaused",
         count(*)::int AS workers, ${WINDOW_FACTOR} * coalesce(sum(concurrency), 0)::int AS window
       FROM workers WHERE queue = $1 AND heartbeat_at > now() - ${WORKER_ALIVE}`,
      [queue],
    ),
    tx.query<AccountLane>(
      // Behind a SELECT the queue is unknown to the planner, so that one plan serves every queue: see settleAll.
      `SELECT lane, account_id AS account, count(*)::int AS "inFlight" FROM jobs
       WHERE queue = (SELECT $1) AND state IN ('dispatched', 'running') GROUP BY lane, account_id`,
      [queue],
    ),
  ])
  const [row] = rows
  if (row === undefined || row.isPaused) return NO_ROOM
  const inFlight = new Map(lanes.map((one) => [one.lane, one.inFlight]))
  const accountsInFlight = new Map<string, number>()
  for (const one of lanes) accountsInFlight.set(one.account, (accountsInFlight.get(one.account) ?? 0) + one.inFlight)
  const busy = lanes.reduce((sum, one) => sum + one.inFlight, 0)
  return { free: row.window - busy, window: row.window, workers: row.workers, inFlight, accountsInFlight }
}

async function findAbandoned(tx: Tx, queue: QueueName): Promise<{ lapsed: number; unclaimed: Ticket[] }> {
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
  const unclaimed = await tx.query<Ticket>(
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
