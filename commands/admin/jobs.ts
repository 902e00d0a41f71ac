// `admin -- jobs` and `queue`.

import { isQueueName, QUEUE_NAMES, type QueueName } from '#src/catalogue/queues.ts'
import { Failure } from '#src/failure.ts'
import { countJobs, listJobs, listQueues, pauseQueue, redrive, resumeQueue } from '#src/platform/jobs/operate.ts'
import { workOf } from '#src/services.ts'
import { usageError } from '../sentence.ts'
import { oneOf, readLimit, required, type Values } from './arguments.ts'
import type { Act, Context } from './commands.ts'

export const STATES = ['queued', 'dispatched', 'running', 'succeeded', 'dead', 'cancelled'] as const

// Each redrive is a transaction; a run that takes minutes can be repeated.
const MAX_REDRIVEN = 10_000
const LISTED = 50

export function readJobsList({ queue, state, limit, after }: Values): Act {
  if (after !== undefined) checkJobId(after)
  const filter = {
    queue: queue === undefined ? undefined : queueOf(queue),
    state: state === undefined ? undefined : oneOf('--state', state, STATES),
    limit: readLimit(limit, LISTED),
  }
  return async ({ services, say }) => {
    const { db } = services.platform
    if (after !== undefined && (await countJobs(db, { id: after })) === 0) {
      throw new Error(`There is no job ${after} any more: settled jobs leave after a day. Begin without --after.`)
    }
    const found = await listJobs(db, { ...filter, after, limit: filter.limit + 1 })
    const jobs = found.slice(0, filter.limit)
    const total = await countJobs(db, filter)
    const next = found.length > filter.limit ? ` More: --after ${jobs.at(-1)?.id}` : ''
    say(`${jobs.length} of ${total} jobs.${next}`)
    return jobs
  }
}

export function readJobsRedrive({ queue: named }: Values, id: string | undefined): Act {
  if ((id === undefined) === (named === undefined)) throw usageError('Name one job, or --queue for all its dead jobs.')
  if (id !== undefined) checkJobId(id)
  const queue = named === undefined ? undefined : queueOf(named)
  return async ({ services, confirm, log }) => {
    const jobs = await listJobs(services.platform.db, { id, queue, state: 'dead', limit: MAX_REDRIVEN })
    if (jobs.length === 0 && id !== undefined) throw new Error(`There is no dead job ${id}.`)
    if (jobs.length === 0) return { redriven: 0 }
    await confirm(`Run ${jobs.length} dead job${jobs.length === 1 ? '' : 's'} again?`)
    let redriven = 0
    const refused: { id: string; because: string }[] = []
    for (const job of jobs) {
      try {
        if (await redrive(services.platform.db, job, workOf(services, job.queue))) redriven += 1
      } catch (error) {
        // A job that can never run again must not hold back the others.
        if (id !== undefined || !(error instanceof Failure)) throw error
        refused.push({ id: job.id, because: error.message })
      }
    }
    log('jobs redrive', { id, queue, redriven, refused: refused.length })
    return {
      redriven,
      ...(refused.length > 0 && { refused: refused.slice(0, LISTED) }),
      ...(jobs.length === MAX_REDRIVEN ? { note: 'There may be more: run this again.' } : {}),
    }
  }
}

export async function showQueues({ services }: Context): Promise<object[]> {
  return listQueues(services.platform.db)
}

export function readQueueChange(change: 'pause' | 'resume', word: string | undefined): Act {
  const queue = queueOf(required('QUEUE', word))
  return async ({ services, confirm, log }) => {
    if (change === 'pause') {
      await confirm(`Pause ${queue}? Nothing new of it starts until it is resumed.`)
      await pauseQueue(services.platform.db, queue)
    } else {
      await resumeQueue(services.platform.db, queue)
    }
    log(`queue ${change}`, { queue })
    return { queue, state: change === 'pause' ? 'paused' : 'running' }
  }
}

function checkJobId(id: string): void {
  if (/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(id)) return
  throw usageError(`${id} is no job id: \`jobs list\` shows them.`)
}

function queueOf(name: string): QueueName {
  if (!isQueueName(name)) throw usageError(`There is no queue "${name}": the queues are ${QUEUE_NAMES.join(', ')}.`)
  return name
}
