// The durable backlog. The row is the truth: enqueue is an INSERT in the caller's own transaction, settle is an UPDATE
// in the transaction of the result, and the fence decides between two workers that both hold the job.

import { leavesNoRow, type Payload, QUEUES, type QueueName } from '#src/catalogue/queues.ts'
import type { Database, Tx } from '#src/platform/db/database.ts'
import { type Environment, newJobId, type Scope } from '#src/platform/ids.ts'
import { inSpan, traceparentOf } from '#src/platform/trace.ts'
import type { Ticket } from './bull.ts'
import { type LiveWorker, recordWorker } from './live-rows.ts'

export interface NewJob<Q extends QueueName> {
  id?: string
  payload: Payload<Q>
  /** The unit that shares fairly: the account by default, the endpoint for `deliver`. */
  lane?: string
  priority?: 'interactive' | 'bulk'
  /** Not before this many milliseconds from now. */
  delayMs?: number
  /** Of the span that caused the job; by default the span that enqueues it. */
  traceparent?: string | undefined
}

export interface Lease {
  id: string
  queue: QueueName
  scope: Scope
  payload: unknown
  fence: number
  /** From 1. */
  attempt: number
  /** No attempts are left: this delivery may only call onDead. */
  isSpent: boolean
  /** A caller may wait for its end. */
  isInteractive: boolean
}

/** Thrown by `settle` when another delivery has taken the job over: the caller's transaction must roll back. */
export const STALE_JOB = Symbol('the job has moved on')

// A killed worker's jobs must run again within 25 s, also on a busy machine. A lease survives two missed renewals.
export const LEASE_MS = 15_000
const LEASE = `interval '${LEASE_MS / 1_000} seconds'`
export const RENEW_EVERY_MS = 4_000
/**
 * A job runs when it is dispatched and has a lease. The claim leaves `state` alone: it is a condition of four indexes, and
 * a change of it writes into each of them.
 */
export const RUNNING = `jobs.state = 'dispatched' AND jobs.lease_until IS NOT NULL`
/** The state that people read: a dispatched job with a lease is `running`. */
export const SHOWN_STATE = `CASE WHEN ${RUNNING} THEN 'running' ELSE jobs.state END`
// Written in a form that no partial index matches. From its estimates alone the planner would read every job in flight
// each time, and not the few rows named by id.
const IS_RUNNING = `CASE jobs.state WHEN 'dispatched' THEN lease_until IS NOT NULL ELSE false END`
const IS_IN_FLIGHT = `CASE jobs.state WHEN 'dispatched' THEN true ELSE false END`
const HAS_NOT_STARTED = `(state = 'queued' OR (state = 'dispatched' AND lease_until IS NULL))`
/**
 * The due time of a job that ran in a worker that is gone: before its account's others. The lines of a batch are due when its
 * transaction begins, and thousands may still wait, of its own batch and of one that began earlier and was committed later.
 */
export const NEXT = `jobs.run_at - interval '1 minute'`
/** Their jobs are not dispatched. Read once per statement, from an index that holds nothing else. */
export const SUSPENDED_ACCOUNTS = 'ARRAY(SELECT id FROM accounts WHERE suspended_at IS NOT NULL)'
// Read once per statement, from a table of a few rows.
const QUEUE_IS_PAUSED = 'EXISTS (SELECT FROM queues WHERE queues.queue = $3 AND queues.paused_at IS NOT NULL)'
/** As stored. */
export const PRIORITY = { interactive: 0, bulk: 1 } as const

/** Writes jobs in the caller's transaction, so that commit and enqueue can't diverge. Returns their ids, in order. */
export async function enqueue<Q extends QueueName>(
  tx: Tx,
  queue: Q,
  scope: Scope,
  jobs: readonly NewJob<Q>[],
): Promise<string[]> {
  if (jobs.length === 0) return []
  const ids = jobs.map((job) => job.id ?? newJobId())
  const describe = () => ({
    name: `enqueue ${queue}`,
    kind: 'producer' as const,
    attributes: { 'messaging.destination.name': queue, 'messaging.batch.message_count': ids.length },
  })
  await inSpan(describe, (span) =>
    tx.query(
      `INSERT INTO jobs (id, queue, lane, priority, account_id, environment, payload, run_at, traceparent)
       SELECT id, $1, lane, priority, $2, $3, payload, now() + delay_ms * interval '1 millisecond', traceparent
       FROM unnest($4::uuid[], $5::text[], $6::smallint[], $7::jsonb[], $8::bigint[], $9::text[])
         AS t (id, lane, priority, payload, delay_ms, traceparent)`,
      [
        queue,
        scope.accountId,
        scope.environment,
        ids,
        jobs.map((job) => job.lane ?? scope.accountId),
        jobs.map((job) => PRIORITY[job.priority ?? 'interactive']),
        jobs.map((job) => JSON.stringify(job.payload)),
        jobs.map((job) => job.delayMs ?? 0),
        // Null when there is no trace.
        jobs.map((job) => job.traceparent ?? traceparentOf(span) ?? null),
      ],
    ),
  )
  return ids
}

/**
 * Takes over the jobs that the deliveries name. Returns in order a lease for each, or undefined where nothing happens.
 * A delivery always takes over from the previous worker, whatever the lease. A dispatch number that is not the row's
 * own is from an old delivery and is ignored. In a paused queue nothing is claimed: "nothing new starts" holds for jobs
 * that were dispatched before the pause, too. Reconcile queues again those that the pause did not.
 */
export async function claimAll(
  db: Database,
  queue: QueueName,
  tickets: readonly Pick<Ticket, 'id' | 'dispatches'>[],
): Promise<(Lease | undefined)[]> {
  const sorted = inLockOrder(tickets)
  const rows = await db.writeSystem<ClaimRow>(`claim ${queue}`, () => ({
    text: `UPDATE jobs SET fence = fence + 1, attempts = attempts + 1, started_at = now(), lease_until = now() + ${LEASE}
           FROM unnest((SELECT $1::uuid[]), (SELECT $2::int[])) AS delivered (id, dispatches)
           WHERE jobs.id = delivered.id AND jobs.dispatches = delivered.dispatches AND jobs.queue = $3
             AND ${IS_IN_FLIGHT} AND NOT ${QUEUE_IS_PAUSED}
           RETURNING jobs.id, jobs.dispatches, account_id, environment, payload, fence, attempts, priority`,
    values: [sorted.map(({ id }) => id), sorted.map(({ dispatches }) => dispatches), queue],
  }))
  const claims = new Map(
    rows.map((row) => [
      `${row.id} ${row.dispatches}`,
      {
        id: row.id,
        queue,
        scope: { accountId: row.account_id, environment: row.environment },
        payload: row.payload,
        fence: row.fence,
        attempt: row.attempts,
        isSpent: row.attempts > QUEUES[queue].maxAttempts,
        isInteractive: row.priority === PRIORITY.interactive,
      },
    ]),
  )
  return tickets.map(({ id, dispatches }) => claims.get(`${id} ${dispatches}`))
}

interface ClaimRow {
  id: string
  dispatches: number
  account_id: string
  environment: Environment
  payload: unknown
  fence: number
  attempts: number
  priority: number
}

type Terminal = 'succeeded' | 'dead'

/**
 * Ends a job inside the transaction of its result.
 * @throws {STALE_JOB} when another delivery has taken the job over: then this transaction must roll back.
 */
export async function settle(
  tx: Tx,
  job: Pick<Lease, 'id' | 'queue' | 'fence'>,
  state: Terminal = 'succeeded',
  error: string | null = null,
): Promise<void> {
  if (state === 'succeeded') {
    const [isMine] = await settleAll(tx, job.queue, [job])
    if (isMine !== true) throw STALE_JOB
    return
  }
  const rows = await tx.query(
    `UPDATE jobs SET state = $3, settled_at = now(), lease_until = NULL, last_error = coalesce($4, last_error)
     WHERE id = $1 AND fence = $2 AND ${IS_RUNNING} RETURNING id`,
    [job.id, job.fence, state, error],
  )
  if (rows.length === 0) throw STALE_JOB
}

// A list behind a SELECT hides its length from the planner, so that one plan serves every length. A plain list gets a
// new plan each time, which takes as long as the statement itself.
const ENDED = 'unnest((SELECT $1::uuid[]), (SELECT $2::int[])) AS ended (id, fence)'
const IS_ENDED = `jobs.id = ended.id AND jobs.fence = ended.fence AND ${IS_RUNNING} RETURNING jobs.id, jobs.fence`

/**
 * Ends jobs as succeeded. Returns for each, in order, whether the caller still held it. Effects of the others must not
 * stay.
 */
export async function settleAll(
  tx: Tx,
  queue: QueueName,
  jobs: readonly Pick<Lease, 'id' | 'fence'>[],
): Promise<boolean[]> {
  const sorted = inLockOrder(jobs)
  const rows = await tx.query<{ id: string; fence: number }>(
    leavesNoRow(queue)
      ? `DELETE FROM jobs USING ${ENDED} WHERE ${IS_ENDED}`
      : `UPDATE jobs SET state = 'succeeded', settled_at = now(), lease_until = NULL FROM ${ENDED} WHERE ${IS_ENDED}`,
    [sorted.map(({ id }) => id), sorted.map(({ fence }) => fence)],
  )
  const settled = new Set(rows.map(({ id, fence }) => `${id} ${fence}`))
  return jobs.map(({ id, fence }) => settled.has(`${id} ${fence}`))
}

// Renewals and settlements overlap in one worker: both lock their rows in one order, so that they can't deadlock.
function inLockOrder<Job extends { id: string }>(jobs: readonly Job[]): Job[] {
  return jobs.toSorted((a, b) => (a.id < b.id ? -1 : 1))
}

/**
 * Queues a running job again for later. `isCounted: false` gives its attempt back (the job is not at fault: a circuit
 * is open).
 */
export async function putBack(
  db: Database,
  job: Pick<Lease, 'id' | 'fence'>,
  { delayMs, error, isCounted }: { delayMs: number; error: string; isCounted: boolean },
): Promise<void> {
  await db.system('put back', (tx) =>
    tx.query(
      `UPDATE jobs SET state = 'queued', lease_until = NULL, last_error = $3,
         run_at = now() + $4 * interval '1 millisecond', attempts = attempts - CASE WHEN $5 THEN 0 ELSE 1 END
       WHERE id = $1 AND fence = $2 AND ${IS_RUNNING}`,
      [job.id, job.fence, error.slice(0, 2_000), delayMs, isCounted],
    ),
  )
}

/**
 * Extends the leases of one worker's jobs. Unless the worker is leaving, also records that it takes more. Answers the
 * ids that the worker still holds.
 */
export async function renew(
  db: Database,
  worker: LiveWorker,
  jobs: readonly Pick<Lease, 'id' | 'fence'>[],
): Promise<Set<string>> {
  // An idle worker has nothing else to write: one round trip instead of three, in each process every few seconds.
  if (jobs.length === 0) {
    await db.writeSystem(`renew ${worker.queue}`, () => recordWorker(worker))
    return new Set()
  }
  return db.system(
    `renew ${worker.queue}`,
    async (tx) => {
      const { text, values } = recordWorker(worker)
      await tx.query(text, values)
      const sorted = inLockOrder(jobs)
      const rows = await tx.query<{ id: string }>(
        `UPDATE jobs SET lease_until = now() + ${LEASE}
         FROM unnest($1::uuid[], $2::int[]) AS mine (id, fence)
         WHERE jobs.id = mine.id AND jobs.fence = mine.fence AND ${IS_RUNNING} RETURNING jobs.id`,
        [sorted.map((job) => job.id), sorted.map((job) => job.fence)],
      )
      return new Set(rows.map((row) => row.id))
    },
    { isDurable: false },
  )
}

/** Queues again dispatched jobs that no worker has claimed. */
export async function requeue(tx: Tx, tickets: readonly Pick<Ticket, 'id' | 'dispatches'>[]): Promise<void> {
  if (tickets.length === 0) return
  await tx.query(
    `UPDATE jobs SET state = 'queued' FROM unnest($1::uuid[], $2::int[]) AS lost (id, dispatches)
     WHERE jobs.id = lost.id AND jobs.dispatches = lost.dispatches AND jobs.state = 'dispatched'
       AND jobs.lease_until IS NULL`,
    [tickets.map((ticket) => ticket.id), tickets.map((ticket) => ticket.dispatches)],
  )
}

/**
 * Queues again what a stopping worker holds: tickets that it has not claimed, and jobs that it still runs, whose attempt
 * counts as after a crash. They are next.
 */
export async function handBack(
  db: Database,
  {
    unclaimed,
    running,
  }: { unclaimed: readonly Pick<Ticket, 'id' | 'dispatches'>[]; running: readonly Pick<Lease, 'id' | 'fence'>[] },
): Promise<void> {
  if (unclaimed.length + running.length === 0) return
  const sorted = inLockOrder(running)
  await db.system('hand back', async (tx) => {
    await requeue(tx, unclaimed)
    await tx.query(
      `UPDATE jobs SET state = 'queued', lease_until = NULL, last_error = 'its worker was stopped', run_at = ${NEXT}
       FROM unnest($1::uuid[], $2::int[]) AS mine (id, fence)
       WHERE jobs.id = mine.id AND jobs.fence = mine.fence AND ${IS_RUNNING}`,
      [sorted.map(({ id }) => id), sorted.map(({ fence }) => fence)],
    )
  })
}

/** Cancels the jobs that have not started; running ones finish. Returns the ids that will not run. */
export async function cancelJobs(tx: Tx, ids: readonly string[]): Promise<string[]> {
  if (ids.length === 0) return []
  const locked = await tx.query<{ id: string }>(
    `SELECT id FROM jobs WHERE id = ANY($1::uuid[]) AND ${HAS_NOT_STARTED} ORDER BY id FOR UPDATE`,
    [ids],
  )
  const cancelled = locked.map(({ id }) => id)
  await tx.query(`UPDATE jobs SET state = 'cancelled', settled_at = now() WHERE id = ANY($1::uuid[])`, [cancelled])
  return cancelled
}

/**
 * Ends jobs whose subject was deleted: those that have not started, and dead ones, which can't be redriven. Running
 * ones finish.
 */
export async function dropJobs(tx: Tx, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return
  const locked = await tx.query<{ id: string }>(
    `SELECT id FROM jobs WHERE id = ANY($1::uuid[]) AND (${HAS_NOT_STARTED} OR state = 'dead') ORDER BY id FOR UPDATE`,
    [ids],
  )
  await tx.query(`UPDATE jobs SET state = 'cancelled', settled_at = now() WHERE id = ANY($1::uuid[])`, [
    locked.map(({ id }) => id),
  ])
}

/** Gives a dead job all its attempts back, in the transaction that tells its subject. false when it is not dead. */
export async function revive(tx: Tx, id: string): Promise<boolean> {
  const rows = await tx.query(
    `UPDATE jobs SET state = 'queued', attempts = 0, run_at = now(), settled_at = NULL
     WHERE id = $1 AND state = 'dead' RETURNING id`,
    [id],
  )
  return rows.length === 1
}
