// Callers that wait for a job to end. One poller per process asks for them, and only while someone waits: a thousand waiting
// callers hold no connection. A job is asked for less often the longer it is waited for, so that many callers who wait for long
// cost the others little; who came a moment ago is answered as soon as ever.

import { detached } from '#src/platform/context.ts'
import type { Database } from '#src/platform/db/database.ts'
import { findSettled } from './backlog.ts'

export interface Waiters {
  /** true when the job has ended in time. Answers false at once when too many callers wait already. */
  settled(jobId: string, timeoutMs: number, signal?: AbortSignal): Promise<boolean>
  /** Whether one more caller can wait. */
  hasRoom(): boolean
  /** Seconds that a caller should leave before asking again: more where it will not wait again either. */
  retryAfterSeconds(): number
  close(): void
}

const MAX_WAITERS = 1_000
const POLL_MIN_MS = 25
const POLL_MAX_MS = 1_000
// An answer is late by a quarter of what its caller has waited, at most.
const GROWTH = 1.25
// Of one statement: what Postgres looks up in a millisecond or two. The others are due at the next poll.
const MAX_JOBS = 250
// Each answer reads a row and writes a body: hundreds in one turn would hold up everybody else's.
const MAX_WOKEN_A_TURN = 20

const RETRY_AFTER_SECONDS = 1
// Of a crowd that can't wait, every second of it would be hundreds of reads per second.
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
  let polledAt = 0

  async function poll(): Promise<void> {
    next = undefined
    isPolling = true
    polledAt = performance.now()
    const due = takeDue()
    // A poll that fails is not the caller's failure: the next one may answer, or the wait ends with 202.
    const ended = due.length === 0 ? [] : await findSettled(db, due).catch(() => [])
    wakeInTurns(ended.flatMap((id) => [...(waiting.get(id)?.wakers ?? [])]))
    isPolling = false
    schedule()
  }

  // Longest due first, so that none is passed over again and again.
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

  // What comes due within one period is asked for together.
  function pollBy(dueAt: number): void {
    const at = Math.max(dueAt, polledAt + POLL_MIN_MS)
    if (isPolling || (next !== undefined && next.at <= at)) return
    clearTimeout(next?.timer)
    // It asks for all who wait, not for the one whose request came first.
    next = { at, timer: detached(() => setTimeout(() => void poll(), Math.max(0, at - performance.now()))) }
  }

  // Whoever comes to a job that others wait for wants to know as soon as if it was alone.
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
      if (timeoutMs <= 0 || count >= MAX_WAITERS || signal?.aborted) return Promise.resolve(false)
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
      clearTimeout(next?.timer)
      for (const { wakers } of [...waiting.values()]) for (const wake of [...wakers]) wake(false)
    },
  }
}
