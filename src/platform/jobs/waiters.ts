// Callers that wait for a job to end. One poller per process asks for all of them at once, and only while someone waits:
// a thousand waiting callers hold no connection.

import { detached } from '#src/platform/context.ts'
import type { Database } from '#src/platform/db/database.ts'
import { findSettled } from './backlog.ts'

export interface Waiters {
  /** true when the job has ended in time. Answers false at once when too many callers wait already. */
  settled(jobId: string, timeoutMs: number, signal?: AbortSignal): Promise<boolean>
  close(): void
}

const MAX_WAITERS = 1_000
// Quick while something just began, slower while nothing ends: 40 polls per second at the most.
const POLL_MIN_MS = 25
const POLL_MAX_MS = 100

export function createWaiters(db: Database): Waiters {
  const waiting = new Map<string, Set<(ended: boolean) => void>>()
  let count = 0
  let delayMs = POLL_MIN_MS
  let timer: NodeJS.Timeout | undefined

  async function poll(): Promise<void> {
    timer = undefined
    // A poll that fails is not the caller's failure: the next one may answer, or the wait ends with 202.
    const ended = await findSettled(db, [...waiting.keys()]).catch(() => [])
    for (const id of ended) for (const wake of [...(waiting.get(id) ?? [])]) wake(true)
    delayMs = ended.length > 0 ? POLL_MIN_MS : Math.min(POLL_MAX_MS, delayMs * 1.25)
    schedule()
  }
  function schedule(): void {
    if (timer !== undefined || waiting.size === 0) return
    // It asks for all who wait, not for the one whose request came first.
    timer = detached(() => setTimeout(() => void poll(), delayMs))
  }

  return {
    settled(jobId, timeoutMs, signal) {
      if (timeoutMs <= 0 || count >= MAX_WAITERS || signal?.aborted) return Promise.resolve(false)
      return new Promise((resolve) => {
        const wake = (ended: boolean) => {
          clearTimeout(deadline)
          signal?.removeEventListener('abort', leave)
          const others = waiting.get(jobId)
          others?.delete(wake)
          if (others?.size === 0) waiting.delete(jobId)
          count -= 1
          resolve(ended)
        }
        const leave = () => wake(false)
        const deadline = setTimeout(leave, timeoutMs)
        signal?.addEventListener('abort', leave, { once: true })
        const others = waiting.get(jobId) ?? new Set()
        waiting.set(jobId, others.add(wake))
        count += 1
        delayMs = POLL_MIN_MS
        schedule()
      })
    },
    close() {
      clearTimeout(timer)
      for (const wakers of waiting.values()) for (const wake of [...wakers]) wake(false)
    },
  }
}
