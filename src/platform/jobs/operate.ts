// What operators do to queues. Every function names its subject and returns what it changed.

import { type Payload, QUEUE_NAMES, QUEUES, type QueueName } from '#src/catalogue/queues.ts'
import { Failure } from '#src/failure.ts'
import type { Database, Tx } from '#src/platform/db/database.ts'
import type { Environment } from '#src/platform/ids.ts'
import { revive, SHOWN_STATE } from './backlog.ts'
import type { Work } from './consume.ts'
import { WORKER_ALIVE } from './live-rows.ts'

export interface JobSummary {
  id: string
  queue: QueueName
  state: string
  accountId: string
  environment: Environment
  payload: unknown
  attempts: number
  lastError: string | null
  createdAt: Date
  runAt: Date
}

export interface JobFilter {
  queue?: QueueName | undefined
  state?: string | undefined
  id?: string | undefined
  /** The last job of the page before. */
  after?: string | undefined
  limit: number
}

const MATCHES = `($1::text IS NULL OR queue = $1) AND ($2::text IS NULL OR ${SHOWN_STATE} = $2) AND ($3::uuid IS NULL OR id = $3)`

const SUMMARY = `id, queue, ${SHOWN_STATE} AS state, account_id AS "accountId", environment, payload, attempts,
  last_error AS "lastError", created_at AS "createdAt", run_at AS "runAt"`

/** Newest first. */
export async function listJobs(db: Database, { queue, state, id, after, limit }: JobFilter): Promise<JobSummary[]> {
  return db.system('list jobs', (tx) =>
    tx.query<JobSummary>(
      `SELECT ${SUMMARY} FROM jobs WHERE ${MATCHES}
         AND ($5::uuid IS NULL OR (created_at, id) < (SELECT created_at, id FROM jobs WHERE id = $5))
       ORDER BY created_at DESC, id DESC LIMIT $4`,
      [queue ?? null, state ?? null, id ?? null, limit, after ?? null],
    ),
  )
}

export interface DeadJobFilter extends Pick<JobFilter, 'queue' | 'id' | 'after' | 'limit'> {
  /** The cause of a group. */
  cause?: string | undefined
  createdAfter?: Date | undefined
  createdBefore?: Date | undefined
}

// Words with a digit are ids, counts and addresses: errors of one kind differ in these alone.
const CAUSE = `left(regexp_replace(coalesce(last_error, ''), '[[:alnum:]_-]*[0-9][[:alnum:]_-]*', '#', 'g'), 200)`

const DEAD = `state = 'dead' AND ($1::text IS NULL OR queue = $1) AND ($2::uuid IS NULL OR id = $2)
  AND ($3::text IS NULL OR ${CAUSE} = $3) AND ($4::timestamptz IS NULL OR created_at >= $4)
  AND ($5::timestamptz IS NULL OR created_at < $5)`

/** Newest first. What a filter leaves out is any. */
export async function listDeadJobs(
  db: Database,
  { queue, id, cause, createdAfter, createdBefore, after, limit }: DeadJobFilter,
): Promise<JobSummary[]> {
  const filter = [queue, id, cause, createdAfter, createdBefore, after].map((value) => value ?? null)
  return db.system('list dead jobs', (tx) =>
    tx.query<JobSummary>(
      `SELECT ${SUMMARY} FROM jobs WHERE ${DEAD}
         AND ($6::uuid IS NULL OR (created_at, id) < (SELECT created_at, id FROM jobs WHERE id = $6))
       ORDER BY created_at DESC, id DESC LIMIT $7`,
      [...filter, limit],
    ),
  )
}

export interface DeadGroup {
  queue: QueueName
  /** The error with each word that has a digit replaced by `#`, 200 characters at most. */
  cause: string
  jobs: number
  oldestAt: Date
  newestAt: Date
  /** One of them. */
  lastError: string | null
}

/** Dead jobs by queue and cause, the largest group first. */
export async function listDeadGroups(db: Database, limit: number): Promise<DeadGroup[]> {
  return db.system('group dead jobs', (tx) =>
    tx.query<DeadGroup>(
      `SELECT queue, ${CAUSE} AS cause, count(*)::int AS jobs, min(created_at) AS "oldestAt", max(created_at) AS "newestAt",
         min(last_error) AS "lastError"
       FROM jobs WHERE state = 'dead' GROUP BY 1, 2 ORDER BY jobs DESC, queue, cause LIMIT $1`,
      [limit],
    ),
  )
}

/** How many jobs match. */
export async function countJobs(db: Database, { queue, state, id }: Omit<JobFilter, 'limit'>): Promise<number> {
  const [row] = await db.system('count jobs', (tx) =>
    tx.query<{ count: number }>(`SELECT count(*) AS count FROM jobs WHERE ${MATCHES}`, [
      queue ?? null,
      state ?? null,
      id ?? null,
    ]),
  )
  return row?.count ?? 0
}

export interface QueueSummary {
  queue: QueueName
  state: 'running' | 'paused'
  pausedAt: Date | null
  /** Live workers, and how many jobs they run at once together. */
  workers: number
  slots: number
  due: number
  /** Queued for a time that has not come: retries, and jobs of closed accounts. */
  later: number
  inFlight: number
  dead: number
  oldestDueSeconds: number | null
}

/** Every queue with its workers and its jobs that have not succeeded, in the order of the catalogue. */
export async function listQueues(db: Database): Promise<QueueSummary[]> {
  return db.system('list queues', (tx) =>
    tx.query<QueueSummary>(
      `SELECT named.queue, CASE WHEN q.paused_at IS NULL THEN 'running' ELSE 'paused' END AS state, q.paused_at AS "pausedAt",
         coalesce(w.workers, 0) AS workers, coalesce(w.slots, 0) AS slots, coalesce(j.due, 0) AS due, coalesce(j.later, 0) AS later,
         coalesce(j.in_flight, 0) AS "inFlight", coalesce(j.dead, 0) AS dead, j.oldest_due_seconds AS "oldestDueSeconds"
       FROM unnest($1::text[]) WITH ORDINALITY AS named(queue, place)
       LEFT JOIN queues q ON q.queue = named.queue
       LEFT JOIN (SELECT queue, count(*)::int AS workers, sum(concurrency)::int AS slots
         FROM workers WHERE heartbeat_at > now() - ${WORKER_ALIVE} GROUP BY queue) w ON w.queue = named.queue
       LEFT JOIN (SELECT queue,
           count(*) FILTER (WHERE state = 'queued' AND run_at <= now())::int AS due,
           count(*) FILTER (WHERE state = 'queued' AND run_at > now())::int AS later,
           count(*) FILTER (WHERE state = 'dispatched')::int AS in_flight,
           count(*) FILTER (WHERE state = 'dead')::int AS dead,
           extract(epoch FROM now() - min(run_at) FILTER (WHERE state = 'queued' AND run_at <= now()))::int AS oldest_due_seconds
         FROM jobs WHERE state IN ('queued', 'dispatched', 'dead') GROUP BY queue) j ON j.queue = named.queue
       ORDER BY named.place`,
      [QUEUE_NAMES],
    ),
  )
}

export interface WorkerSummary {
  id: string
  /** Kind of its jobs, or what a process without a queue does. */
  kind: string
  slots: number
  heartbeatAt: Date
}

/** Processes that are alive and have a queue or do what only a few processes do. */
export async function listWorkers(db: Database): Promise<WorkerSummary[]> {
  return db.system('list workers', (tx) =>
    tx.query<WorkerSummary>(
      `SELECT id, queue AS kind, concurrency AS slots, heartbeat_at AS "heartbeatAt"
       FROM workers WHERE heartbeat_at > now() - ${WORKER_ALIVE} ORDER BY queue, id`,
    ),
  )
}

/** How many jobs of an account are in which state; those that have settled leave after a day. */
export async function countJobsOf(tx: Tx, accountId: string): Promise<Record<string, number>> {
  const rows = await tx.query<{ state: string; count: number }>(
    `SELECT ${SHOWN_STATE} AS state, count(*)::int AS count FROM jobs WHERE account_id = $1 GROUP BY 1 ORDER BY 1`,
    [accountId],
  )
  return Object.fromEntries(rows.map(({ state, count }) => [state, count]))
}

/** Queues a dead job again and tells its subject. false when it is not dead (any more). */
export async function redrive<Q extends QueueName>(db: Database, job: JobSummary, work: Work<Q>): Promise<boolean> {
  const payload = QUEUES[job.queue].payload.safeParse(job.payload)
  if (!payload.success) throw new Failure('conflict', `The payload of ${job.id} is not one of the queue ${job.queue}.`)
  const scope = { accountId: job.accountId, environment: job.environment }
  return db.tenant(scope, async (tx) => {
    if (!(await revive(tx, job.id))) return false
    await work.onRedrive(tx, scope, payload.data as Payload<Q>)
    return true
  })
}

/** Starts no further job of a queue; running jobs finish. What was dispatched and has not started is queued again. */
export async function pauseQueue(db: Database, queue: QueueName): Promise<void> {
  await db.system('pause', async (tx) => {
    await tx.query(
      `INSERT INTO queues (queue, paused_at) VALUES ($1, now())
       ON CONFLICT (queue) DO UPDATE SET paused_at = coalesce(queues.paused_at, now())`,
      [queue],
    )
    // A locked row is being claimed. A job that is being dispatched at this moment is refused by its claim.
    await tx.query(
      `UPDATE jobs SET state = 'queued' WHERE id = ANY(ARRAY(SELECT id FROM jobs
         WHERE queue = $1 AND state = 'dispatched' AND lease_until IS NULL FOR UPDATE SKIP LOCKED))`,
      [queue],
    )
  })
}

export async function resumeQueue(db: Database, queue: QueueName): Promise<void> {
  await db.system('resume', (tx) => tx.query('UPDATE queues SET paused_at = NULL WHERE queue = $1', [queue]))
}

export async function isPaused(db: Database, queue: QueueName): Promise<boolean> {
  const rows = await db.system('paused', (tx) =>
    tx.query('SELECT queue FROM queues WHERE queue = $1 AND paused_at IS NOT NULL', [queue]),
  )
  return rows.length > 0
}
