// What applies to one lane of a queue: a hold, a cap and a rate. Dispatch enforces all three, under the lock that lets
// one dispatcher choose at a time, so they hold across workers. A held lane costs one probe per round, however many jobs
// wait in it, and a hold or its end writes one row. A lane may have a direct lane beside it, for jobs that a hold must not
// stop: both together keep to the cap and the rate of the lane.

import type { Payload, QueueName } from '#src/catalogue/queues.ts'
import type { Statement, Tx } from '#src/platform/db/database.ts'
import type { Scope } from '#src/platform/ids.ts'
import { SUSPENDED_ACCOUNTS } from './backlog.ts'
import type { AccountLane } from './fair-share.ts'

export interface LaneLimits {
  /** Jobs dispatched or running at once. null: the cap of the queue. */
  mostInFlight: number | null
  /** Jobs per second. null: no limit. */
  perSecond: number | null
}

/** What a due lane may take. */
export interface DueLane {
  lane: string
  account: string
  mostInFlight: number | null
  isTrial: boolean
  /** Whole tokens in its bucket; null without a rate. */
  tokens: number | null
}

const DIRECT = ' direct'
/** Of jobs that go before those of a lane, and that a hold of the lane does not stop. */
export const directLaneOf = (lane: string): string => `${lane}${DIRECT}`
/** The lane whose limits apply to this one. */
export const limitedBy = (lane: string): string => (lane.endsWith(DIRECT) ? lane.slice(0, -DIRECT.length) : lane)
/** The same in SQL, of a row that has a lane. */
const limitedByOf = (row: string): string =>
  `CASE WHEN right(${row}.lane, ${DIRECT.length}) = '${DIRECT}' THEN left(${row}.lane, -${DIRECT.length}) ELSE ${row}.lane END`
const LIMITED_BY = limitedByOf('lanes')
const IS_OWN = 'limits.lane = lanes.lane'

// The burst is what one second admits, and at least one job.
const BURST = 'greatest(1, $5::float8)'
// A clock that was set back must not take tokens away.
const TOKENS = `least(limits.burst, limits.tokens
  + limits.per_second * greatest(0, extract(epoch FROM now() - limits.tokens_at)::float8))`

/** Sets the limits of a lane and its direct lane together. Tokens that it has are kept, up to the new burst. */
export async function limitLane<Q extends QueueName>(
  tx: Tx,
  scope: Scope,
  { queue, lane, mostInFlight, perSecond }: LaneLimits & { queue: Q; lane: string },
): Promise<void> {
  await tx.query(
    `INSERT INTO job_lanes AS limits (account_id, environment, queue, lane, per_second, burst, tokens, tokens_at, most_in_flight)
     SELECT $1, $2, $3, $4, $5::float8, CASE WHEN $5::float8 IS NOT NULL THEN ${BURST} END,
       CASE WHEN $5::float8 IS NOT NULL THEN ${BURST} END, CASE WHEN $5::float8 IS NOT NULL THEN now() END, $6::int
     ON CONFLICT (lane, queue, account_id, environment) DO UPDATE SET per_second = excluded.per_second,
       burst = excluded.burst, most_in_flight = excluded.most_in_flight, tokens_at = excluded.tokens_at,
       tokens = CASE WHEN limits.tokens IS NULL OR excluded.tokens IS NULL THEN excluded.tokens
         ELSE least(excluded.burst, ${TOKENS}) END`,
    [scope.accountId, scope.environment, queue, lane, perSecond, mostInFlight],
  )
}

/** Dispatches no job of the lane for this long, and from then on one at a time until `releaseLanes`. */
export async function holdLane(
  tx: Tx,
  scope: Scope,
  { queue, lane, delayMs }: { queue: QueueName; lane: string; delayMs: number },
): Promise<void> {
  await tx.query(
    `INSERT INTO job_lanes (account_id, environment, queue, lane, held_until, is_trial)
     VALUES ($1, $2, $3, $4, now() + $5::float8 * interval '1 millisecond', true)
     ON CONFLICT (lane, queue, account_id, environment) DO UPDATE SET held_until = excluded.held_until, is_trial = true`,
    [scope.accountId, scope.environment, queue, lane, delayMs],
  )
}

/** Ends holds. Limits stay. */
export async function releaseLanes(tx: Tx, queue: QueueName, lanes: readonly string[]): Promise<void> {
  if (lanes.length === 0) return
  await tx.query(
    `UPDATE job_lanes SET held_until = NULL, is_trial = false
     WHERE queue = $1 AND lane = ANY($2::text[]) AND (held_until IS NOT NULL OR is_trial)`,
    [queue, lanes],
  )
}

/** Removes the limits and the hold of a lane that gets no more jobs. */
export async function dropLane(tx: Tx, queue: QueueName, lane: string): Promise<void> {
  await tx.query('DELETE FROM job_lanes WHERE queue = $1 AND lane = $2', [queue, lane])
}

/**
 * Cancels queued jobs of a lane, at most `limit`, and returns what they were about. Found by the index of due jobs: a
 * lane may hold a million.
 */
export async function cancelQueued<Q extends QueueName>(
  tx: Tx,
  queue: Q,
  lane: string,
  limit: number,
): Promise<Payload<Q>[]> {
  // A job that is being dispatched is locked, and ends by what its handler reads.
  const found = await tx.query<{ id: string; payload: Payload<Q> }>(
    `SELECT id, payload FROM jobs WHERE queue = $1 AND lane = $2 AND state = 'queued' LIMIT $3 FOR UPDATE SKIP LOCKED`,
    [queue, lane, limit],
  )
  if (found.length === 0) return []
  await tx.query(`UPDATE jobs SET state = 'cancelled', settled_at = now() WHERE id = ANY($1::uuid[])`, [
    found.map(({ id }) => id),
  ])
  return found.map(({ payload }) => payload)
}

/**
 * Takes a token of a bucket that no job is in, where a job is enqueued. Returns 0, or the milliseconds until there is one.
 * Concurrent callers wait for each other's transactions, so that the rate is exact.
 */
export async function takeOneToken(
  tx: Tx,
  scope: Scope,
  { queue, lane, perSecond, burst }: { queue: QueueName; lane: string; perSecond: number; burst: number },
): Promise<number> {
  const values = [scope.accountId, scope.environment, queue, lane]
  const taken = await tx.query(
    `INSERT INTO job_lanes AS limits (account_id, environment, queue, lane, per_second, burst, tokens, tokens_at)
     VALUES ($1, $2, $3, $4, $5::float8, $6::float8, $6::float8 - 1, now())
     ON CONFLICT (lane, queue, account_id, environment) DO UPDATE SET per_second = excluded.per_second,
       burst = excluded.burst, tokens = ${TOKENS} - 1, tokens_at = greatest(limits.tokens_at, now())
     WHERE ${TOKENS} >= 1 RETURNING 1`,
    [...values, perSecond, burst],
  )
  if (taken.length > 0) return 0
  const [row] = await tx.query<{ waitMs: number }>(
    `SELECT (1 - ${TOKENS}) / limits.per_second * 1000 AS "waitMs" FROM job_lanes limits
     WHERE account_id = $1 AND environment = $2 AND queue = $3 AND lane = $4`,
    values,
  )
  return Math.max(1, Math.ceil(row?.waitMs ?? 1))
}

/** The lanes with due jobs that are not held, and what each may take. */
export async function findDueLanes(tx: Tx, queue: QueueName): Promise<DueLane[]> {
  return tx.query<DueLane>(
    // A loose index scan: one probe per lane, however many jobs wait. All jobs of a lane are one account's.
    `WITH RECURSIVE lanes AS (
       (SELECT lane FROM jobs WHERE queue = $1 AND state = 'queued' ORDER BY lane LIMIT 1)
       UNION ALL
       SELECT (SELECT j.lane FROM jobs j WHERE j.queue = $1 AND j.state = 'queued' AND j.lane > lanes.lane
               ORDER BY j.lane LIMIT 1)
       FROM lanes WHERE lanes.lane IS NOT NULL
     )
     SELECT lane, due.account_id AS account, limits.most_in_flight AS "mostInFlight",
       coalesce(limits.is_trial, false) AS "isTrial", floor(limits.now_tokens)::int AS tokens
     FROM lanes CROSS JOIN LATERAL (
       SELECT j.account_id FROM (VALUES (0::smallint), (1::smallint)) AS p (priority) JOIN jobs j
         ON j.queue = $1 AND j.lane = lanes.lane AND j.priority = p.priority AND j.state = 'queued' AND j.run_at <= now()
       LIMIT 1) AS due
     LEFT JOIN LATERAL (
       SELECT most_in_flight, is_trial AND ${IS_OWN} AS is_trial, CASE WHEN ${IS_OWN} THEN held_until END AS held_until,
         ${TOKENS} AS now_tokens
       FROM job_lanes limits WHERE limits.lane = ${LIMITED_BY} AND limits.queue = $1 OFFSET 0) AS limits ON true
     WHERE lane IS NOT NULL AND due.account_id <> ALL (${SUSPENDED_ACCOUNTS})
       AND (limits.held_until IS NULL OR limits.held_until <= now())`,
    [queue],
  )
}

/**
 * The due lanes, each with the most that it may have in flight now. Where a lane and its direct lane both have due jobs, each
 * gets half of what they may take together, and the direct one the odd job.
 */
export function capLanes(
  due: readonly DueLane[],
  inFlight: ReadonlyMap<string, number>,
  laneCap: number,
): AccountLane[] {
  const lanes = new Set(due.map(({ lane }) => lane))
  return due.map(({ lane, account, mostInFlight, isTrial, tokens }) => {
    const limited = limitedBy(lane)
    const direct = directLaneOf(limited)
    const running = (inFlight.get(limited) ?? 0) + (inFlight.get(direct) ?? 0)
    const free = Math.max(0, Math.min((mostInFlight ?? laneCap) - running, tokens ?? Number.POSITIVE_INFINITY))
    const half = lane === direct ? Math.ceil(free / 2) : Math.floor(free / 2)
    const own = inFlight.get(lane) ?? 0
    const cap = own + (lanes.has(limited) && lanes.has(direct) ? half : free)
    return { lane, account, inFlight: own, cap: isTrial ? Math.min(1, cap) : cap }
  })
}

/** Takes the tokens of jobs that were dispatched, by the lanes that they are in. */
export async function takeTokens(tx: Tx, queue: QueueName, lanes: readonly string[]): Promise<void> {
  if (lanes.length === 0) return
  const taken = new Map([...Map.groupBy(lanes, limitedBy)].map(([lane, jobs]) => [lane, jobs.length]))
  await tx.query(
    `UPDATE job_lanes limits SET tokens = ${TOKENS} - taken.count, tokens_at = now()
     FROM unnest((SELECT $2::text[]), (SELECT $3::int[])) AS taken (lane, count)
     WHERE limits.lane = taken.lane AND limits.queue = $1 AND limits.per_second IS NOT NULL`,
    [queue, [...taken.keys()], [...taken.values()]],
  )
}

/**
 * Which of these queues have a job that could be dispatched. Asked several times a second while nothing happens: in one
 * round trip, and planned once, because the list stands behind a SELECT (see settleAll).
 */
export function selectDueQueues(queues: readonly QueueName[]): Statement {
  return {
    text: `WITH RECURSIVE lanes AS (
       SELECT queue, (SELECT j.lane FROM jobs j WHERE j.queue = asked.queue AND j.state = 'queued'
                      ORDER BY j.lane LIMIT 1) AS lane
       FROM unnest((SELECT $1::text[])) AS asked (queue)
       UNION ALL
       SELECT queue, (SELECT j.lane FROM jobs j WHERE j.queue = lanes.queue AND j.state = 'queued' AND j.lane > lanes.lane
                      ORDER BY j.lane LIMIT 1)
       FROM lanes WHERE lanes.lane IS NOT NULL
     )
     SELECT DISTINCT queue FROM lanes CROSS JOIN LATERAL (
       SELECT j.account_id FROM (VALUES (0::smallint), (1::smallint)) AS p (priority) JOIN jobs j
         ON j.queue = lanes.queue AND j.lane = lanes.lane AND j.priority = p.priority AND j.state = 'queued'
         AND j.run_at <= now()
       LIMIT 1) AS due
     WHERE lane IS NOT NULL AND due.account_id <> ALL (${SUSPENDED_ACCOUNTS})
       AND NOT EXISTS (SELECT FROM job_lanes limits WHERE limits.lane = ${LIMITED_BY} AND limits.queue = lanes.queue
         AND (${IS_OWN} AND limits.held_until > now() OR ${TOKENS} < 1) OFFSET 0)`,
    values: [queues],
  }
}

/**
 * SQL: the lane of the row `lanes` of queue $1 waits by a limit of its own, not for workers. $2 is the cap of the queue: a
 * lane with a larger one asks for more.
 */
export const IS_LIMITED = `EXISTS (SELECT FROM job_lanes limits WHERE limits.lane = ${LIMITED_BY} AND limits.queue = $1
  AND (${IS_OWN} AND (limits.held_until IS NOT NULL OR limits.is_trial)
    OR limits.per_second IS NOT NULL OR limits.most_in_flight < $2) OFFSET 0)`

// Longer than a worker with a free slot takes to claim what was dispatched.
const SOON_CLAIMED = `interval '10 seconds'`
/**
 * SQL: the lane of the row `lanes` of queue $1 has as many jobs in flight as it may, so that more workers would not start
 * another one. A job that no worker claims is not counted: it waits for a worker itself. Reads the jobs in flight once per
 * statement, and hashes the lanes. $2 as above.
 */
export const IS_FULL = `${LIMITED_BY} IN (SELECT taken.lane FROM (
    SELECT ${limitedByOf('j')} AS lane, count(*) AS count FROM jobs j
    WHERE j.queue = $1 AND j.state = 'dispatched'
      AND (j.lease_until IS NOT NULL OR j.dispatched_at > now() - ${SOON_CLAIMED})
    GROUP BY 1) AS taken
  WHERE taken.count >= coalesce((SELECT max(limits.most_in_flight) FROM job_lanes limits
    WHERE limits.lane = taken.lane AND limits.queue = $1), $2))`
