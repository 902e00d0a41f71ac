// Bounded concurrency that several owners share. Free slots go round among the owners that wait, so that an owner with
// a thousand tasks delays another's by one, and each owner has its own bounded queue.

import { Failure } from '#src/failure.ts'

export interface FairSemaphoreOptions {
  /** Works that run at the same time. */
  slots: number
  /** Of them, how many may be of one owner. Below `slots`, the slow works of one owner leave room for another's. */
  slotsEach: number
  /** Works of one owner that may wait. */
  maxWaitingEach: number
  /** Works of all owners that may wait. */
  maxWaiting: number
  /** How long a work may wait; without it, as long as it takes. */
  maxWaitMs?: number | undefined
  /** The error for a caller whose work may not wait. */
  refusal: { detail: string; retryAfterSeconds: number }
}

/** @throws {Failure} `service_unavailable` with Retry-After when too many works wait, of the owner or of all, or one for too long. */
export type FairSemaphore = <R>(owner: string, work: () => Promise<R>) => Promise<R>

interface Queue {
  running: number
  waiting: (() => void)[]
}

export function createFairSemaphore({
  slots,
  slotsEach,
  maxWaitingEach,
  maxWaiting,
  maxWaitMs,
  refusal,
}: FairSemaphoreOptions): FairSemaphore {
  // A Map iterates in insertion order: an owner that had its turn is inserted again, behind all others.
  const queues = new Map<string, Queue>()
  let running = 0
  let waiting = 0

  function startNext(): void {
    for (const [owner, queue] of queues) {
      if (running >= slots) return
      if (queue.running >= slotsEach) continue
      const start = queue.waiting.shift()
      if (start === undefined) continue
      waiting -= 1
      running += 1
      queue.running += 1
      queues.delete(owner)
      queues.set(owner, queue)
      start()
    }
  }

  return async (owner, work) => {
    const queue = queues.get(owner) ?? { running: 0, waiting: [] }
    const mustWait = running >= slots || queue.running >= slotsEach
    if (mustWait && (queue.waiting.length >= maxWaitingEach || waiting >= maxWaiting)) throw refused(refusal)
    queues.set(owner, queue)
    await new Promise<void>((resolve, reject) => {
      const start = () => {
        clearTimeout(timer)
        resolve()
      }
      const giveUp = () => {
        queue.waiting.splice(queue.waiting.indexOf(start), 1)
        waiting -= 1
        if (queue.running === 0 && queue.waiting.length === 0) queues.delete(owner)
        reject(refused(refusal))
      }
      const timer = mustWait && maxWaitMs !== undefined ? setTimeout(giveUp, maxWaitMs) : undefined
      queue.waiting.push(start)
      waiting += 1
      startNext()
    })
    try {
      return await work()
    } finally {
      running -= 1
      queue.running -= 1
      queues.delete(owner)
      // Inserted behind the owners that came while the work ran.
      if (queue.running > 0 || queue.waiting.length > 0) queues.set(owner, queue)
      startNext()
    }
  }
}

function refused({ detail, retryAfterSeconds }: FairSemaphoreOptions['refusal']): Failure {
  return new Failure('service_unavailable', { detail, headers: { 'Retry-After': String(retryAfterSeconds) } })
}
