// Bounded concurrency that several owners share. Free slots go round among the owners that wait, so that an owner with
// a thousand tasks delays another's by one. The works wait in a fair queue: where it is full, a newcomer takes the place of the
// newest work of the owner that has most. A work that runs is never ended for another.

import { Failure } from '#src/failure.ts'
import { createFairQueue } from './fair-queue.ts'

export interface FairSemaphoreOptions {
  /** Works that run at the same time. */
  slots: number
  /** Slots that one owner may take. Below `slots`, the slow works of one owner leave room for another's. */
  slotsEach: number
  /** Works of one owner that may wait. */
  maxWaitingEach: number
  /** Works of all owners that may wait. */
  maxWaiting: number
  /** How long a work may wait; without it, as long as it takes. */
  maxWaitMs?: number | undefined
  /** The error for a caller whose work may not wait, or not any longer. */
  refusal: { detail: string; retryAfterSeconds: number; cause?: unknown }
}

/**
 * Runs the work when a slot is free for its owner. The owner is an account or, for strangers, a network address (`siteOf`).
 * @throws {Failure} `service_unavailable` with Retry-After when too many works wait, of the owner or of all, or one for too long.
 */
export type FairSemaphore = <R>(owner: string, work: () => Promise<R>) => Promise<R>

interface Waiting {
  start(): void
  refuse(): void
}

export function createFairSemaphore({
  slots,
  slotsEach,
  maxWaitingEach,
  maxWaiting,
  maxWaitMs,
  refusal,
}: FairSemaphoreOptions): FairSemaphore {
  const queue = createFairQueue<Waiting>({ max: maxWaiting, maxEach: maxWaitingEach })
  const runningOf = new Map<string, number>()
  let running = 0

  const mayStart = (owner: string): boolean => running < slots && (runningOf.get(owner) ?? 0) < slotsEach

  function count(owner: string, change: 1 | -1): void {
    running += change
    const left = (runningOf.get(owner) ?? 0) + change
    if (left === 0) runningOf.delete(owner)
    else runningOf.set(owner, left)
  }

  // The slot is taken when the work is told to start: its promise resolves later.
  function waitForSlot(owner: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const waiting: Waiting = {
        start() {
          clearTimeout(timer)
          count(owner, 1)
          resolve()
        },
        refuse() {
          clearTimeout(timer)
          reject(refused(refusal))
        },
      }
      const giveUp = () => {
        if (queue.remove(owner, waiting)) waiting.refuse()
      }
      const timer = maxWaitMs === undefined ? undefined : setTimeout(giveUp, maxWaitMs)
      queue.push(owner, waiting)?.refuse()
    })
  }

  return async (owner, work) => {
    // Starting a work passes no other work of its owner: where the owner has a free slot, none of its works waits.
    if (mayStart(owner)) count(owner, 1)
    else await waitForSlot(owner)
    try {
      return await work()
    } finally {
      count(owner, -1)
      // Behind the owners that came while the work ran.
      queue.passTurn(owner)
      for (let next = queue.shift(mayStart); next !== undefined; next = queue.shift(mayStart)) next.start()
    }
  }
}

function refused({ detail, retryAfterSeconds, cause }: FairSemaphoreOptions['refusal']): Failure {
  return new Failure('service_unavailable', { detail, headers: { 'Retry-After': String(retryAfterSeconds) }, cause })
}
