// The queues as JSON below /jobs of the internal port: what Postgres knows of queues, workers and dead jobs, and an operator's redrive.
// Counts are readable as /metrics is. Dead jobs have ids of accounts and messages of errors, and a redrive changes something: both need
// the password of the board.

import type { IncomingMessage, ServerResponse } from 'node:http'
import { isQueueName, QUEUE_NAMES, type QueueName } from '#src/catalogue/queues.ts'
import { Failure } from '#src/failure.ts'
import type { Database } from '#src/platform/db/database.ts'
import { hasPassword, type InternalPart, isFromHere } from '#src/platform/http/internal.ts'
import type { Log } from '#src/platform/log.ts'
import type { Work } from './consume.ts'
import { type JobSummary, listDeadJobs, listJobs, listQueues, listWorkers, redrive } from './operate.ts'

const MAX_LISTED = 200
const LISTED = 50
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const REDRIVE = /^\/dead\/([^/]+)\/redrive$/

interface InternalJobsDeps {
  db: Database
  password: string | undefined
  log: Log
  /** Called at the first redrive of a queue. */
  workOf<Q extends QueueName>(queue: Q): Work<Q>
}

interface JsonAnswer {
  status: number
  body: object
  headers?: Record<string, string>
}

export function createInternalJobs({ db, password, log, workOf }: InternalJobsDeps): InternalPart {
  async function readQueues(): Promise<JsonAnswer> {
    const [queues, workers] = await Promise.all([listQueues(db), listWorkers(db)])
    return { status: 200, body: { queues: queues.map(toQueueView), workers: workers.map(toWorkerView) } }
  }

  async function readDead(query: URLSearchParams): Promise<JsonAnswer> {
    const { queue, cursor, limit } = Object.fromEntries(query)
    if (queue !== undefined && !isQueueName(queue))
      return refuse(400, `queue must be one of ${QUEUE_NAMES.join(', ')}.`)
    if (cursor !== undefined && !UUID.test(cursor)) return refuse(400, 'cursor must be a next_cursor.')
    if (limit !== undefined && !/^[1-9][0-9]{0,2}$/.test(limit)) return refuse(400, 'limit must be a number.')
    const size = Math.min(Number(limit ?? LISTED), MAX_LISTED)
    const found = await listDeadJobs(db, { queue, after: cursor, limit: size + 1 })
    const jobs = found.slice(0, size)
    const hasMore = found.length > size
    const nextCursor = hasMore ? (jobs.at(-1)?.id ?? null) : null
    return {
      status: 200,
      body: { object: 'list', data: jobs.map(toJobView), has_more: hasMore, next_cursor: nextCursor },
    }
  }

  /** Redrives a job. One of several concurrent redrives succeeds. */
  async function redriveJob(id: string): Promise<JsonAnswer> {
    const [job] = UUID.test(id) ? await listJobs(db, { id, limit: 1 }) : []
    if (job === undefined) return refuse(404, 'There is no such job.')
    const act = { act: 'jobs redrive', job: job.id, queue: job.queue, account: job.accountId }
    try {
      if (!(await redrive(db, job, workOf(job.queue)))) return refuse(409, 'This job is not dead, or no longer.')
    } catch (error) {
      if (error instanceof Failure) return refuse(409, error.message)
      throw error
    }
    log.info(act, 'operator command on the internal port')
    return { status: 200, body: { job_id: job.id, queue: job.queue, redriven: true } }
  }

  function answerOf(req: IncomingMessage): Promise<JsonAnswer> | JsonAnswer {
    const { pathname, searchParams } = new URL(req.url ?? '', 'http://internal')
    const path = pathname.slice(PATH.length)
    const isReading = req.method === 'GET' || req.method === 'HEAD'
    const redriven = REDRIVE.exec(path)?.[1]
    if (password !== undefined && !hasPassword(req, password)) {
      return { ...refuse(401, 'This needs the password.'), headers: { 'WWW-Authenticate': 'Basic realm="jobs"' } }
    }
    if (path === '') return isReading ? readQueues() : refuse(405, 'This is read-only.')
    if (path !== '/dead' && redriven === undefined) return refuse(404, 'There is nothing at this address.')
    if (password === undefined) return refuse(403, 'Dead jobs are shown and redriven with BULL_BOARD_PASSWORD only.')
    if (redriven === undefined) return isReading ? readDead(searchParams) : refuse(405, 'This is read-only.')
    if (req.method !== 'POST') return refuse(405, 'A redrive is a POST.')
    return isFromHere(req) ? redriveJob(redriven) : refuse(403, 'Another page sent this request.')
  }

  return {
    path: PATH,
    async answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
      req.resume()
      const { status, body, headers = {} } = await answerOf(req)
      res.writeHead(status, { ...HEADERS, ...headers }).end(JSON.stringify(body))
    },
  }
}

const PATH = '/jobs'
const HEADERS = {
  'Content-Type': 'application/json',
  'Cache-Control': 'no-store',
  'X-Content-Type-Options': 'nosniff',
}

function refuse(status: number, error: string): JsonAnswer {
  return { status, body: { error } }
}

const toQueueView = (queue: Awaited<ReturnType<typeof listQueues>>[number]) => ({
  queue: queue.queue,
  status: queue.state,
  paused_at: queue.pausedAt,
  workers: queue.workers,
  slots: queue.slots,
  due: queue.due,
  later: queue.later,
  in_flight: queue.inFlight,
  dead: queue.dead,
  oldest_due_seconds: queue.oldestDueSeconds,
})

const toWorkerView = (worker: Awaited<ReturnType<typeof listWorkers>>[number]) => ({
  worker_id: worker.id,
  kind: worker.kind,
  slots: worker.slots,
  heartbeat_at: worker.heartbeatAt,
})

const toJobView = (job: JobSummary) => ({
  job_id: job.id,
  queue: job.queue,
  account_id: job.accountId,
  environment: job.environment,
  payload: job.payload,
  attempts: job.attempts,
  last_error: job.lastError,
  created_at: job.createdAt,
})
