import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import { QUEUE_NAMES, QUEUES, type QueueName } from '#src/catalogue/queues.ts'
import type { Database, Tx } from '#src/platform/db/database.ts'
import { SHOWN_STATE, SUSPENDED_ACCOUNTS } from './backlog.ts'
import { IS_FULL, IS_LIMITED } from './lanes.ts'
import { WORKER_ALIVE } from './live-rows.ts'

export interface JobMetrics {
  outcomes: Counter<'queue' | 'outcome'>
  runTime: Histogram<'queue'>
}

/** What a worker counts about itself. */
export function createJobMetrics(registry: Registry): JobMetrics {
  return {
    outcomes: new Counter({
      name: 'countersign_job_outcomes_total',
      help: 'Deliveries by outcome: settled, retried, deferred, dead, stale (the job had moved on, or its queue is paused).',
      labelNames: ['queue', 'outcome'],
      registers: [registry],
    }),
    runTime: new Histogram({
      name: 'countersign_job_run_seconds',
      help: 'Time from claim to outcome.',
      labelNames: ['queue'],
      buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60],
      registers: [registry],
    }),
  }
}

export interface DispatchMetrics {
  dispatched: Counter<'queue'>
  requeued: Counter<'queue' | 'reason'>
}

/** Counters of jobs that go to the engine: from dispatch, and from web for callers that wait. */
export function createDispatchMetrics(registry: Registry): DispatchMetrics {
  return {
    dispatched: new Counter({
      name: 'countersign_jobs_dispatched_total',
      help: 'Jobs that the engine stored.',
      labelNames: ['queue'],
      registers: [registry],
    }),
    requeued: new Counter({
      name: 'countersign_jobs_requeued_total',
      help: 'Jobs queued again by reason: lapsed (their worker is gone), lost (by the engine), not_stored (it refused).',
      labelNames: ['queue', 'reason'],
      registers: [registry],
    }),
  }
}

export interface QueueState {
  queue: QueueName
  depth: Record<'queued' | 'dispatched' | 'running' | 'dead', number>
  /**
   * Seconds that the oldest due job has waited; 0 when none is due. Scale workers by this: lanes with limits of their
   * own, and lanes that have as many jobs in flight as they may, don't count.
   */
  oldestDueSeconds: number
  isPaused: boolean
  /** Jobs at once, summed over the live workers. */
  concurrency: number
}

/** The state of every queue in Postgres. */
export async function readQueues(db: Database): Promise<QueueState[]> {
  const [states, counts] = await Promise.all([readStates(db), countWaiting(db)])
  return withCounts(states, counts)
}

const FRESH_MS = 5_000
// A count reads each waiting job, and an index would read their rows in another order, which takes longer. So a hundredth
// of the time is spent on it: a million jobs are counted every two minutes, and some thousands at each scrape.
const PAUSE_PER_READ = 100

/**
 * Gauges that read Postgres when they are scraped, at most once in five seconds. For the dispatch process.
 * @param now Milliseconds of a clock that only advances.
 */
export function collectQueues(registry: Registry, db: Database, now = () => performance.now()): void {
  const readFresh = cached(() => readStates(db), now)
  const readCounts = cached(() => countWaiting(db), now)
  const states = async () => withCounts(await readFresh(), await readCounts())
  const gauge = (name: string, help: string, labels: string[], set: (gauge: Gauge, state: QueueState) => void) =>
    new Gauge({
      name,
      help,
      labelNames: labels,
      registers: [registry],
      async collect() {
        for (const state of await states()) set(this, state)
      },
    })
  gauge('countersign_queue_depth', 'Jobs by state.', ['queue', 'state'], (target, { queue, depth }) => {
    for (const [state, count] of Object.entries(depth)) target.set({ queue, state }, count)
  })
  gauge('countersign_queue_in_flight', 'Jobs dispatched or running.', ['queue'], (target, { queue, depth }) =>
    target.set({ queue }, depth.dispatched + depth.running),
  )
  gauge(
    'countersign_queue_oldest_due_seconds',
    'Age of the oldest due job: scale workers by this.',
    ['queue'],
    (target, state) => target.set({ queue: state.queue }, state.oldestDueSeconds),
  )
  gauge('countersign_queue_concurrency', 'Jobs at once that the live workers take.', ['queue'], (target, state) =>
    target.set({ queue: state.queue }, state.concurrency),
  )
  gauge('countersign_queue_paused', '1 while an operator has paused the queue.', ['queue'], (target, state) =>
    target.set({ queue: state.queue }, state.isPaused ? 1 : 0),
  )
}

/** Reads again what is older than five seconds, and than a hundred times what its read took. */
function cached<Value>(read: () => Promise<Value>, now: () => number): () => Promise<Value> {
  let known: { until: number; value: Promise<Value> } | undefined
  return () => {
    if (known !== undefined && now() <= known.until) return known.value
    const startedAt = now()
    const made = { until: Number.POSITIVE_INFINITY, value: read() }
    const end = () => {
      made.until = startedAt + Math.max(FRESH_MS, PAUSE_PER_READ * (now() - startedAt))
    }
    made.value.then(end, end)
    known = made
    return made.value
  }
}

type Waiting = { queue: QueueName; state: 'queued' | 'dead'; count: number }

function countWaiting(db: Database): Promise<Waiting[]> {
  return db.system('count jobs', (tx) =>
    tx.query<Waiting>(
      `SELECT queue, state, count(*)::int AS count FROM jobs WHERE state IN ('queued', 'dead') GROUP BY queue, state`,
    ),
  )
}

function withCounts(states: readonly QueueState[], counts: readonly Waiting[]): QueueState[] {
  return states.map((one) => {
    const own = counts.filter(({ queue }) => queue === one.queue).map(({ state, count }) => [state, count])
    return { ...one, depth: { ...one.depth, ...Object.fromEntries(own) } }
  })
}

/** Without the jobs that wait, and dead ones. */
export function readStates(db: Database): Promise<QueueState[]> {
  return db.system('queue metrics', async (tx) => {
    const states: QueueState[] = []
    for (const queue of QUEUE_NAMES) states.push(await readQueue(tx, queue))
    return states
  })
}

async function readQueue(tx: Tx, queue: QueueName): Promise<QueueState> {
  const counts = await tx.query<{ state: keyof QueueState['depth']; count: number }>(
    `SELECT ${SHOWN_STATE} AS state, count(*)::int AS count FROM jobs
     WHERE queue = $1 AND state = 'dispatched' GROUP BY 1`,
    [queue],
  )
  const [rest] = await tx.query<{ age: number; paused: boolean; concurrency: number }>(
    `WITH RECURSIVE lanes AS (
       (SELECT lane FROM jobs WHERE queue = $1 AND state = 'queued' ORDER BY lane LIMIT 1)
       UNION ALL
       SELECT (SELECT j.lane FROM jobs j WHERE j.queue = $1 AND j.state = 'queued' AND j.lane > lanes.lane
               ORDER BY j.lane LIMIT 1)
       FROM lanes WHERE lanes.lane IS NOT NULL
     ), oldest AS (
       SELECT first.run_at FROM lanes CROSS JOIN (VALUES (0::smallint), (1::smallint)) AS p (priority)
       CROSS JOIN LATERAL (
         SELECT j.run_at, j.account_id FROM jobs j WHERE j.queue = $1 AND j.lane = lanes.lane
           AND j.priority = p.priority AND j.state = 'queued' ORDER BY j.run_at LIMIT 1) AS first
       WHERE lane IS NOT NULL AND first.account_id <> ALL (${SUSPENDED_ACCOUNTS}) AND NOT ${IS_LIMITED}
         AND NOT ${IS_FULL}
     )
     SELECT greatest(0, coalesce(extract(epoch FROM now() - min(run_at)), 0))::float8 AS age,
       EXISTS (SELECT FROM queues WHERE queue = $1 AND paused_at IS NOT NULL) AS paused,
       (SELECT coalesce(sum(concurrency), 0)::int FROM workers
        WHERE queue = $1 AND heartbeat_at > now() - ${WORKER_ALIVE}) AS concurrency
     FROM oldest`,
    [queue, QUEUES[queue].laneCap],
  )
  const depth = { queued: 0, dispatched: 0, running: 0, dead: 0 }
  for (const { state, count } of counts) depth[state] = count
  return {
    queue,
    depth,
    oldestDueSeconds: rest?.age ?? 0,
    isPaused: rest?.paused ?? false,
    concurrency: rest?.concurrency ?? 0,
  }
}
