// Which due jobs are dispatched: a few of each lane in turn, and of a lane interactive jobs before bulk ones, which have one
// turn in eight.

import { LRUCache } from 'lru-cache'
import { leavesRoom, QUEUES, type QueueName } from '#src/catalogue/queues.ts'
import type { Statement, Tx } from '#src/platform/db/database.ts'
import { PRIORITY } from './backlog.ts'
import { type AccountLane, BULK_EVERY, bulkTurnsOf, countTurns, shareByAccount, shareFairly } from './fair-share.ts'
import { capLanes, findDueLanes, takeTokens } from './lanes.ts'
import { WORKER_ALIVE } from './live-rows.ts'

// Twice the concurrency keeps every worker busy while the next round is chosen, and keeps the engine small.
const WINDOW_FACTOR = 2
// Lanes whose turns one process counts. For a forgotten lane the count begins anew.
const MAX_COUNTED = 10_000
/** What `last_error` says of a job whose worker is gone. */
export const LAPSED = 'the lease lapsed'
const { bulk: BULK } = PRIORITY

export interface Chosen {
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

export interface QueueRoom {
  /** Jobs that the window has free. */
  free: number
  window: number
  workers: number
  /** By lane; lanes with none in flight are absent. */
  inFlight: ReadonlyMap<string, number>
  accountsInFlight: ReadonlyMap<string, number>
}

export const NO_ROOM: QueueRoom = { free: 0, window: 0, workers: 0, inFlight: new Map(), accountsInFlight: new Map() }

/** Counts turns of each lane since its last bulk job. Each dispatcher counts those that it gives. */
export interface Turns {
  sinceBulk(queue: QueueName, lane: string): number
  count(queue: QueueName, lane: string, taken: { interactive: number; bulk: number }): void
}

export function createTurns(): Turns {
  const counts = new LRUCache<string, number>({ max: MAX_COUNTED })
  const sinceBulk: Turns['sinceBulk'] = (queue, lane) => counts.get(`${queue} ${lane}`) ?? 0
  return {
    sinceBulk,
    count: (queue, lane, taken) => void counts.set(`${queue} ${lane}`, countTurns(sinceBulk(queue, lane), taken)),
  }
}

export async function chooseFairly(
  tx: Tx,
  queue: QueueName,
  { free, inFlight, accountsInFlight }: QueueRoom,
  turns: Turns,
): Promise<Chosen[]> {
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
       SELECT due.id, due.lane, due.priority, due.run_at, quotas.quota, quotas.bulk
       FROM unnest((SELECT $2::text[]), (SELECT $3::int[]), (SELECT $4::int[])) AS quotas (lane, quota, bulk)
       CROSS JOIN (VALUES (0::smallint), (1::smallint)) AS p (priority)
       CROSS JOIN LATERAL (
         SELECT id, lane, priority, run_at FROM jobs
         WHERE queue = $1 AND state = 'queued' AND lane = quotas.lane AND priority = p.priority AND run_at <= now()
         ORDER BY run_at LIMIT quotas.quota FOR UPDATE SKIP LOCKED
       ) AS due
     ), ranked AS (
       SELECT *, row_number() OVER (PARTITION BY lane, priority ORDER BY run_at) AS place FROM due
     ), ordered AS (
       SELECT id, quota, row_number() OVER (PARTITION BY lane
         ORDER BY priority = 0 OR place > bulk, priority, place) AS turn FROM ranked
     )
     UPDATE jobs SET state = 'dispatched', dispatches = dispatches + 1, dispatched_at = now(), lease_until = NULL
     WHERE id = ANY(ARRAY(SELECT id FROM ordered WHERE turn <= quota))
     RETURNING id, dispatches, account_id AS account, priority, traceparent, lane,
       extract(epoch FROM run_at)::float8 AS "runAt", last_error IS NOT DISTINCT FROM '${LAPSED}' AND attempts < 3 AS "hasLapsed"`,
    [
      queue,
      quotas.map(({ lane }) => lane),
      quotas.map(({ take }) => take),
      quotas.map(({ lane, take }) => bulkTurnsOf(turns.sinceBulk(queue, lane), take)),
    ],
  )
  for (const [lane, jobs] of Map.groupBy(rows, (row) => row.lane)) {
    const bulk = jobs.filter(({ priority }) => priority === BULK).length
    turns.count(queue, lane, { interactive: jobs.length - bulk, bulk })
  }
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

// One statement with the same room as in `findRoom`: a caller waits for the round trip. While bulk jobs of the lane are due
// and have less than their part of what it has in flight, the job is left to `chooseFairly`, which counts the turns.
export function chooseOne(queue: QueueName, id: string): Statement {
  return {
    text: `UPDATE jobs SET state = 'dispatched', dispatches = dispatches + 1, dispatched_at = now(), lease_until = NULL
     WHERE id = $1 AND queue = $2 AND state = 'queued' AND run_at <= now()
       AND NOT EXISTS (SELECT FROM queues q WHERE q.queue = $2 AND q.paused_at IS NOT NULL)
       AND (SELECT count(*) FROM jobs j WHERE j.queue = $2 AND j.state = 'dispatched')
         < (SELECT ${WINDOW_FACTOR} * coalesce(sum(w.concurrency), 0) FROM workers w WHERE w.queue = $2 AND w.heartbeat_at > now() - ${WORKER_ALIVE})
       AND NOT (EXISTS (SELECT FROM jobs j WHERE j.queue = $2 AND j.lane = jobs.lane AND j.priority = ${BULK} AND j.state = 'queued'
           AND j.run_at <= now() OFFSET 0)
         AND (SELECT ${BULK_EVERY} * count(*) FILTER (WHERE j.priority = ${BULK}) <= count(*) FROM jobs j
           WHERE j.queue = $2 AND j.lane = jobs.lane AND j.state = 'dispatched'))
     RETURNING id, dispatches, account_id AS account, priority, traceparent, (SELECT count(*)::int FROM jobs j WHERE j.queue = jobs.queue AND j.lane = jobs.lane
       AND j.state = 'dispatched') AS ahead`,
    values: [id, queue],
  }
}

export async function findRoom(tx: Tx, queue: QueueName): Promise<QueueRoom> {
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
       WHERE queue = (SELECT $1) AND state = 'dispatched' GROUP BY lane, account_id`,
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
