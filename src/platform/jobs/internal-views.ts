// What the internal port shows of queues, workers and jobs.

import { QUEUE_NAMES } from '#src/catalogue/queues.ts'
import type { DeadGroup, JobSummary, QueueSummary, WorkerSummary } from './operate.ts'
import type { QueueSample } from './samples.ts'

export const toQueueView = (queue: QueueSummary) => ({
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

export const toWorkerView = (worker: WorkerSummary) => ({
  worker_id: worker.id,
  kind: worker.kind,
  slots: worker.slots,
  heartbeat_at: worker.heartbeatAt,
})

export const toJobView = (job: JobSummary) => ({
  job_id: job.id,
  queue: job.queue,
  account_id: job.accountId,
  environment: job.environment,
  payload: job.payload,
  attempts: job.attempts,
  last_error: job.lastError,
  created_at: job.createdAt,
})

export const toGroupView = (group: DeadGroup) => ({
  queue: group.queue,
  cause: group.cause,
  jobs: group.jobs,
  oldest_at: group.oldestAt,
  newest_at: group.newestAt,
  last_error: group.lastError,
})

/** A list of samples for each queue, oldest first. */
export function toHistoryView(samples: readonly QueueSample[]) {
  return QUEUE_NAMES.map((queue) => ({
    queue,
    samples: samples
      .filter((sample) => sample.queue === queue)
      .map(({ sampledAt, oldestDueSeconds, inFlight }) => ({
        sampled_at: sampledAt,
        oldest_due_seconds: oldestDueSeconds,
        in_flight: inFlight,
      })),
  }))
}
