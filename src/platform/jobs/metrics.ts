import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import { QUEUE_NAMES, type QueueName } from '#src/catalogue/queues.ts'
import type { Database, Tx } from '#src/platform/db/database.ts'
import { SHOWN_STATE, SUSPENDED_ACCOUNTS } from './backlog.ts'
import { IS_LIMITED } from './lanes.ts'
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
      help: 'Deliveries by outcome: settled, retried, deferred, dead, stale (another delivery had taken the job over).',
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
  /** Of `queued` and `dead`, at most 100,000 are counted. */
  depth: Record<'queued' | 'dispatched' | 'running' | 'dead', number>
  /** Seconds that the oldest due job has waited; 0 when none is due. Scale workers by this: lanes with limits of their own don't count. */
  oldestDueSeconds: number
  isPaused: boolean
  /** Jobs at once, summed over the live workers. */
  concurrency: number
}

// A scrape every few seconds must not read a million waiting jobs each time. What to scale by is the age of the oldest.
const MAX_COUNTED = 100_000

/** The state of every queue in Postgres. */
export async function readQueues(db: Database, maxCounted = MAX_COUNTED): Promise<QueueState[]> {
  return db.system('queue metrics', async (tx) => {
    const states: QueueState[] = []
    for (const queue of QUEUE_NAMES) states.push(await readQueue(tx, queue, maxCounted))
    return states
  })
}

/** Gauges that read Postgres when they are scraped, at most once in five seconds. For the dispatch process. */
export function collectQueues(registry: Registry, db: Database): void {
  let cached: { at: number; states: Promise<QueueState[]> } | undefined
  const states = () => {
    if (cached === undefined || performance.now() - cached.at > 5_000)
      cached = { at: performance.now(), states: readQueues(db) }
    return cached.states
  }
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
  gauge(
    'countersign_queue_depth',
    `Jobs by state; of queued and dead ones, at most ${MAX_COUNTED} are counted.`,
    ['queue', 'state'],
    (target, { queue, depth }) => {
      for (const [state, count] of Object.entries(depth)) target.set({ queue, state }, count)
    },
  )
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

async function readQueue(tx: Tx, queue: QueueName, maxCounted: number): Promise<QueueState> {
  const counts = await tx.query<{ state: keyof QueueState['depth']; count: number }>(
    // What is in flight is few: the window bounds it. Each part is in the order of its index, so that it reads that index
    // and not the table.
    `SELECT state, count(*)::int AS count FROM (
       (SELECT 'queued' AS state FROM jobs WHERE queue = $1 AND state = 'queued' ORDER BY lane, priority, run_at LIMIT $2)
       UNION ALL
       (SELECT 'dead' FROM jobs WHERE queue = $1 AND state = 'dead' ORDER BY settled_at LIMIT $2)
       UNION ALL
       SELECT ${SHOWN_STATE} FROM jobs WHERE queue = $1 AND state IN ('dispatched', 'running')) AS counted GROUP BY state`,
    [queue, maxCounted],
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
     )
     SELECT greatest(0, coalesce(extract(epoch FROM now() - min(run_at)), 0))::float8 AS age,
       EXISTS (SELECT FROM queues WHERE queue = $1 AND paused_at IS NOT NULL) AS paused,
       (SELECT coalesce(sum(concurrency), 0)::int FROM workers
        WHERE queue = $1 AND heartbeat_at > now() - ${WORKER_ALIVE}) AS concurrency
     FROM oldest`,
    [queue],
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
