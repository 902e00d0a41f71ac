// The leases that one worker holds. A lease that is not renewed lapses, and reconcile gives the job to another worker.
// Each renewal also records the worker itself, so that dispatch knows how much it takes.

import type { QueueName } from '#src/catalogue/queues.ts'
import type { Database } from '#src/platform/db/database.ts'
import type { Log } from '#src/platform/log.ts'
import { LEASE_MS, type Lease, RENEW_EVERY_MS, renew } from './backlog.ts'
import { deregister, IDLE_HEARTBEAT_MS } from './live-rows.ts'

export interface LeaseRenewal {
  /** Renews a lease until it is released. Its signal aborts when this worker no longer holds the job. */
  hold(lease: Lease): { signal: AbortSignal; release(): void }
  /** Renews every held lease, once. Without one it records the worker, at most every ten seconds. */
  renewAll(): Promise<void>
  /** Removes the worker from the list, so that dispatch adds nothing for it. Held leases are still renewed. */
  leave(): Promise<void>
  held(): Lease[]
  /** Aborts the signals of the held jobs, and of those that are held later. */
  abortAll(reason: Error): void
}

interface LeaseRenewalDeps {
  db: Database
  log: Log
  worker: { id: string; queue: QueueName; concurrency: number }
  /** At least one lease was renewed. */
  onRenewed: () => void
  now: () => number
}

// Timers are late and early by some milliseconds; without it every other heartbeat would slip to the next renewal.
const HALF_RENEWAL_MS = RENEW_EVERY_MS / 2

export function createLeaseRenewal({ db, log, worker, onRenewed, now }: LeaseRenewalDeps): LeaseRenewal {
  const held = new Map<string, { lease: Lease; controller: AbortController; renewedAt: number }>()
  // Read when the renewal's transaction begins, which may be after `leave`.
  const self = { ...worker, isLeaving: false }
  let aborted: Error | undefined
  let recordedAt = Number.NEGATIVE_INFINITY

  return {
    hold(lease) {
      const mine = { lease, controller: new AbortController(), renewedAt: now() }
      // The same job, delivered to this worker once more: the earlier run has lost its fence.
      held.get(lease.id)?.controller.abort()
      held.set(lease.id, mine)
      if (aborted !== undefined) mine.controller.abort(aborted)
      const release = () => {
        if (held.get(lease.id) === mine) held.delete(lease.id)
      }
      return { signal: mine.controller.signal, release }
    },

    async renewAll() {
      const jobs = [...held.values()]
      if (jobs.length === 0 && now() - recordedAt < IDLE_HEARTBEAT_MS - HALF_RENEWAL_MS) return
      const fences = jobs.map(({ lease: { id, fence } }) => ({ id, fence }))
      try {
        const kept = await renew(db, self, fences)
        recordedAt = now()
        for (const job of jobs) {
          if (kept.has(job.lease.id)) job.renewedAt = now()
          else if (held.get(job.lease.id) === job) job.controller.abort(new Error('the job has moved on'))
        }
        if (kept.size > 0) onRenewed()
      } catch (error) {
        log.warn({ queue: worker.queue, err: error }, 'leases could not be renewed')
        // The job may run elsewhere by now, and to go on would only do work that the fence refuses.
        for (const job of jobs) if (now() - job.renewedAt > LEASE_MS) job.controller.abort(error)
      }
    },

    async leave() {
      self.isLeaving = true
      await deregister(db, worker.id).catch(() => {})
    },

    held: () => [...held.values()].map(({ lease }) => lease),

    abortAll(reason) {
      aborted ??= reason
      for (const { controller } of held.values()) controller.abort(reason)
    },
  }
}
