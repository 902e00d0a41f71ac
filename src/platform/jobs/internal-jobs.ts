// The queues as JSON below /jobs of the internal port: what Postgres knows of queues, workers and dead jobs, and the acts of an
// operator. Counts are readable as /metrics is. Dead jobs have ids of accounts and messages of errors, and an act changes something:
// both need the password of the board.

import type { IncomingMessage, ServerResponse } from 'node:http'
import { isQueueName, QUEUE_NAMES, type QueueName } from '#src/catalogue/queues.ts'
import { Failure } from '#src/failure.ts'
import type { Database } from '#src/platform/db/database.ts'
import { hasPassword, type InternalPart, isFromHere } from '#src/platform/http/internal.ts'
import type { Log } from '#src/platform/log.ts'
import type { Work } from './consume.ts'
import { toGroupView, toHistoryView, toJobView, toQueueView, toWorkerView } from './internal-views.ts'
import {
  type DeadJobFilter,
  type JobSummary,
  listDeadGroups,
  listDeadJobs,
  listJobs,
  listQueues,
  listWorkers,
  pauseQueue,
  redrive,
  resumeQueue,
} from './operate.ts'
import { listSamples } from './samples.ts'

const MAX_LISTED = 200
const LISTED = 50
/** A job takes some milliseconds, so a request ends within seconds; it says what is left. */
const MAX_REDRIVEN = 500
const MAX_CAUSE = 200
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const LIMIT = /^[1-9][0-9]{0,2}$/

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

interface JobsRoute {
  method: 'GET' | 'POST'
  /** Below /jobs; its group is the subject. */
  path: RegExp
  /** Shows what is of accounts. */
  needsPassword?: true
  answer(query: URLSearchParams, subject: string): Promise<JsonAnswer>
}

export function createInternalJobs({ db, password, log, workOf }: InternalJobsDeps): InternalPart {
  const routes: readonly JobsRoute[] = [
    { method: 'GET', path: /^$/, answer: readQueues },
    { method: 'GET', path: /^\/history$/, answer: readHistory },
    { method: 'GET', path: /^\/dead$/, needsPassword: true, answer: readDead },
    { method: 'GET', path: /^\/dead\/groups$/, needsPassword: true, answer: readGroups },
    { method: 'POST', path: /^\/dead\/redrive$/, needsPassword: true, answer: redriveGroup },
    { method: 'POST', path: /^\/dead\/([^/]+)\/redrive$/, needsPassword: true, answer: redriveJob },
    { method: 'POST', path: /^\/queues\/([^/]+)\/pause$/, needsPassword: true, answer: pause },
    { method: 'POST', path: /^\/queues\/([^/]+)\/resume$/, needsPassword: true, answer: resume },
  ]

  async function readQueues(): Promise<JsonAnswer> {
    const [queues, workers] = await Promise.all([listQueues(db), listWorkers(db)])
    const acts = password === undefined ? [] : ['redrive', 'pause', 'resume']
    return { status: 200, body: { queues: queues.map(toQueueView), workers: workers.map(toWorkerView), acts } }
  }

  async function readHistory(): Promise<JsonAnswer> {
    return { status: 200, body: { object: 'list', data: toHistoryView(await listSamples(db)) } }
  }

  async function readDead(query: URLSearchParams): Promise<JsonAnswer> {
    const filter = readFilter(query)
    if ('status' in filter) return filter
    const found = await listDeadJobs(db, { ...filter, limit: filter.limit + 1 })
    const jobs = found.slice(0, filter.limit)
    const hasMore = found.length > filter.limit
    const nextCursor = hasMore ? (jobs.at(-1)?.id ?? null) : null
    return {
      status: 200,
      body: { object: 'list', data: jobs.map(toJobView), has_more: hasMore, next_cursor: nextCursor },
    }
  }

  async function readGroups(): Promise<JsonAnswer> {
    const groups = await listDeadGroups(db, MAX_LISTED)
    return { status: 200, body: { object: 'list', data: groups.map(toGroupView) } }
  }

  /** Redrives a job. One of several concurrent redrives succeeds. */
  async function redriveJob(_query: URLSearchParams, id: string): Promise<JsonAnswer> {
    const [job] = UUID.test(id) ? await listJobs(db, { id, limit: 1 }) : []
    if (job === undefined) return refuse(404, 'There is no such job.')
    const outcome = await redriveOne(job)
    if (outcome !== 'redriven') return refuse(409, outcome)
    return { status: 200, body: { job_id: job.id, queue: job.queue, redriven: true } }
  }

  /** Redrives the dead jobs of a queue and cause, the newest first. */
  async function redriveGroup(query: URLSearchParams): Promise<JsonAnswer> {
    const filter = readFilter(query)
    if ('status' in filter) return filter
    const { queue, cause } = filter
    if (queue === undefined || cause === undefined) return refuse(400, 'queue and cause are those of a group.')
    const jobs = await listDeadJobs(db, { queue, cause, limit: MAX_REDRIVEN })
    let redriven = 0
    const refused: string[] = []
    for (const job of jobs) {
      const outcome = await redriveOne(job)
      if (outcome === 'redriven') redriven += 1
      else refused.push(job.id)
    }
    const groups = await listDeadGroups(db, MAX_LISTED)
    const left = groups.find((group) => group.queue === queue && group.cause === cause)?.jobs ?? 0
    return { status: 200, body: { queue, cause, redriven, refused: refused.length, left } }
  }

  /** 'redriven', or why not. */
  async function redriveOne(job: JobSummary): Promise<string> {
    try {
      if (!(await redrive(db, job, workOf(job.queue)))) return 'This job is not dead, or no longer.'
    } catch (error) {
      if (error instanceof Failure) return error.message
      throw error
    }
    log.info({ act: 'jobs redrive', job: job.id, queue: job.queue, account: job.accountId }, LOGGED)
    return 'redriven'
  }

  async function pause(_query: URLSearchParams, queue: string): Promise<JsonAnswer> {
    return setPaused(queue, true)
  }

  async function resume(_query: URLSearchParams, queue: string): Promise<JsonAnswer> {
    return setPaused(queue, false)
  }

  async function setPaused(queue: string, isPaused: boolean): Promise<JsonAnswer> {
    if (!isQueueName(queue)) return refuse(404, 'There is no such queue.')
    await (isPaused ? pauseQueue : resumeQueue)(db, queue)
    log.info({ act: isPaused ? 'queue pause' : 'queue resume', queue }, LOGGED)
    const found = (await listQueues(db)).find((one) => one.queue === queue)
    return found === undefined ? refuse(404, 'There is no such queue.') : { status: 200, body: toQueueView(found) }
  }

  function answerOf(req: IncomingMessage): Promise<JsonAnswer> | JsonAnswer {
    const { pathname, searchParams } = new URL(req.url ?? '', 'http://internal')
    const path = pathname.slice(PATH.length)
    if (password !== undefined && !hasPassword(req, password)) {
      return { ...refuse(401, 'This needs the password.'), headers: { 'WWW-Authenticate': 'Basic realm="jobs"' } }
    }
    const here = routes.filter((route) => route.path.test(path))
    if (here.length === 0) return refuse(404, 'There is nothing at this address.')
    if (password === undefined && here.some(({ needsPassword }) => needsPassword)) {
      return refuse(403, 'Dead jobs are shown, and queues changed, with BULL_BOARD_PASSWORD only.')
    }
    const method = req.method === 'HEAD' ? 'GET' : req.method
    const route = here.find((one) => one.method === method)
    if (route === undefined) return refuse(405, `This takes ${here.map((one) => one.method).join(', ')}.`)
    if (method === 'POST' && !isFromHere(req)) return refuse(403, 'Another page sent this request.')
    return route.answer(searchParams, route.path.exec(path)?.[1] ?? '')
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
const LOGGED = 'operator command on the internal port'
const HEADERS = {
  'Content-Type': 'application/json',
  'Cache-Control': 'no-store',
  'X-Content-Type-Options': 'nosniff',
}

function refuse(status: number, error: string): JsonAnswer {
  return { status, body: { error } }
}

/** The filter of a query, or why it is none. */
function readFilter(query: URLSearchParams): DeadJobFilter | JsonAnswer {
  const { queue, job_id: id, cause, created_after, created_before, cursor, limit } = Object.fromEntries(query)
  if (queue !== undefined && !isQueueName(queue)) return refuse(400, `queue must be one of ${QUEUE_NAMES.join(', ')}.`)
  if (id !== undefined && !UUID.test(id)) return refuse(400, 'job_id must be the id of a job.')
  if (cursor !== undefined && !UUID.test(cursor)) return refuse(400, 'cursor must be a next_cursor.')
  if (limit !== undefined && !LIMIT.test(limit)) return refuse(400, 'limit must be a number from 1 to 999.')
  if (cause !== undefined && (cause.length > MAX_CAUSE || cause.includes('\0'))) {
    return refuse(400, 'cause must be that of a group.')
  }
  const times = { created_after, created_before }
  for (const [name, value] of Object.entries(times)) {
    if (value !== undefined && timeOf(value) === undefined) return refuse(400, `${name} must be a time of ISO 8601.`)
  }
  return {
    ...{ queue, id, cause, after: cursor, limit: Math.min(Number(limit ?? LISTED), MAX_LISTED) },
    ...{ createdAfter: timeOf(created_after), createdBefore: timeOf(created_before) },
  }
}

const TIME = /^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]{5,15}Z$/

function timeOf(value: string | undefined): Date | undefined {
  if (value === undefined || !TIME.test(value) || Number.isNaN(Date.parse(value))) return undefined
  return new Date(value)
}
