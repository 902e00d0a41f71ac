// Callers that wait for a job to end. One poller per process reads the jobs, and only while someone waits: a thousand
// waiting callers hold no connection. The longer a job is waited for, the less often it is read: many callers that wait
// for long cost the others little, and a new caller is answered without delay.

import { detached } from '#src/platform/context.ts'
import type { Database } from '#src/platform/db/database.ts'
import { findSettled } from './backlog.ts'

export interface Waiters {
  /** true when the job has ended in time. Returns false at once when too many callers already wait. */
  settled(jobId: string, timeoutMs: number, signal?: AbortSignal): Promise<boolean>
  /** Whether one more caller can wait. */
  hasRoom(): boolean
  /** Seconds that a caller should leave before it asks again: more when it could not wait then either. */
  retryAfterSeconds(): number
  close(): void
}

const MAX_WAITERS = 1_000
const POLL_MIN_MS = 25
const POLL_MAX_MS = 1_000
// An answer is late by at most a quarter of the time that its caller has waited.
const GROWTH = 1.25
// Jobs per statement: what Postgres reads in a millisecond or two. The others are due at the next poll.
const MAX_JOBS = 250
// Each answer reads a row and writes a body: hundreds in one turn of the event loop would delay every other request.
const MAX_WOKEN_A_TURN = 20

const RETRY_AFTER_SECONDS = 1
// Callers that can't wait come in large numbers: at one second each they would cause hundreds of reads per second.
const RETRY_AFTER_FULL_SECONDS = 5

interface Awaited {
  wakers: Set<(ended: boolean) => void>
  delayMs: number
  dueAt: number
}

export function createWaiters(db: Pick<Database, 'readSystem'>): Waiters {
  const waiting = new Map<string, Awaited>()
  let count = 0
  let next: { at: number; timer: NodeJS.Timeout } | undefined
  let isPolling = false
  let isClosed = false
  let polledAt = 0

  async function poll(): Promise<void> {
    next = undefined
    isPolling = true
    polledAt = performance.now()
    const due = takeDue()
    // A failed poll is not the caller's failure: the next poll may answer, or the wait ends with 202.
    const ended = due.length === 0 ? [] : await findSettled(db, due).catch(() => [])
    wakeInTurns(ended.flatMap((id) => [...(waiting.get(id)?.wakers ?? [])]))
    isPolling = false
    schedule()
  }

  // Longest due first, so that no job is passed over repeatedly.
  function takeDue(): string[] {
    const now = performance.now()
    const due = [...waiting].filter(([, { dueAt }]) => dueAt <= now)
    if (due.length > MAX_JOBS) due.sort(([, a], [, b]) => a.dueAt - b.dueAt)
    return due.slice(0, MAX_JOBS).map(([id, awaited]) => {
      awaited.delayMs = Math.min(POLL_MAX_MS, awaited.delayMs * GROWTH)
      awaited.dueAt = now + awaited.delayMs
      return id
    })
  }

  function wakeInTurns(wakers: readonly ((ended: boolean) => void)[]): void {
    for (const wake of wakers.slice(0, MAX_WOKEN_A_TURN)) wake(true)
    const left = wakers.slice(MAX_WOKEN_A_TURN)
    if (left.length > 0) setImmediate(() => wakeInTurns(left))
  }

  function schedule(): void {
    if (waiting.size === 0) return
    let dueAt = Number.POSITIVE_INFINITY
    for (const awaited of waiting.values()) if (awaited.dueAt < dueAt) dueAt = awaited.dueAt
    pollBy(dueAt)
  }

  // Jobs that fall due within one period are read together.
  function pollBy(dueAt: number): void {
    const at = Math.max(dueAt, polledAt + POLL_MIN_MS)
    if (isPolling || (next !== undefined && next.at <= at)) return
    clearTimeout(next?.timer)
    // The poll reads for every waiting caller, so it must not run in the context of the first one's request.
    next = { at, timer: detached(() => setTimeout(() => void poll(), Math.max(0, at - performance.now()))) }
  }

  // A new caller for a job that others wait for is answered as soon as if it waited alone.
  function awaitSoon(jobId: string): Awaited {
    const dueAt = performance.now() + POLL_MIN_MS
    const known = waiting.get(jobId)
    const awaited = known ?? { wakers: new Set<(ended: boolean) => void>(), delayMs: POLL_MIN_MS, dueAt }
    awaited.delayMs = POLL_MIN_MS
    awaited.dueAt = Math.min(awaited.dueAt, dueAt)
    if (known === undefined) waiting.set(jobId, awaited)
    pollBy(awaited.dueAt)
    return awaited
  }

  return {
    hasRoom: () => count < MAX_WAITERS,
    retryAfterSeconds: () => (count < MAX_WAITERS ? RETRY_AFTER_SECONDS : RETRY_AFTER_FULL_SECONDS),
    settled(jobId, timeoutMs, signal) {
      if (isClosed || timeoutMs <= 0 || count >= MAX_WAITERS || signal?.aborted) return Promise.resolve(false)
      return new Promise((resolve) => {
        const awaited = awaitSoon(jobId)
        let isAwake = false
        const wake = (ended: boolean) => {
          if (isAwake) return
          isAwake = true
          clearTimeout(deadline)
          signal?.removeEventListener('abort', leave)
          awaited.wakers.delete(wake)
          if (awaited.wakers.size === 0 && waiting.get(jobId) === awaited) waiting.delete(jobId)
          count -= 1
          resolve(ended)
        }
        const leave = () => wake(false)
        const deadline = setTimeout(leave, timeoutMs)
        signal?.addEventListener('abort', leave, { once: true })
        awaited.wakers.add(wake)
        count += 1
      })
    },
    close() {
      isClosed = true
      clearTimeout(next?.timer)
      for (const { wakers } of [...waiting.values()]) for (const wake of [...wakers]) wake(false)
    },
  }
}
