// Callers that wait for a job to end. One poller per process reads the jobs, and only while someone waits: a thousand
// waiting callers hold no connection. The first read comes when jobs usually end; the longer a job is waited for after
// that, the less often it is read. An engine with a channel reports ended jobs, which are then read at once.

import { setTimeout as delay } from 'node:timers/promises'
import { currentSubject, detached } from '#src/platform/context.ts'
import type { Database } from '#src/platform/db/database.ts'
import { createWaitingPlaces } from '#src/platform/waiting-places.ts'
import type { IdChannel } from './id-channel.ts'
import { createUsualTime, FIRST_INTERVAL_MS, minGapMs, minReportedGapMs, nextIntervalMs } from './wait-interval.ts'

export interface Waiters {
  /**
   * true when the job has ended in time. When too many callers already wait, of the account in progress or of all,
   * returns false after some seconds without having read the job. Returns false early where the place is another account's.
   */
  settled(jobId: string, timeoutMs: number, signal?: AbortSignal): Promise<boolean>
  /** Whether one more caller of the account in progress can wait. */
  hasRoom(): boolean
  /** Seconds that a caller should leave before it asks again: more when it could not wait then either. */
  retryAfterSeconds(): number
  close(): void
}

// Callers without a place are held back, which costs a timer each. Answered at once, those that ignore Retry-After would
// cause hundreds of reads per second.
const MAX_HELD_BACK = 4_000
// Jobs per statement: what Postgres reads in a millisecond or two. The others are due at the next poll.
const MAX_JOBS = 250
// Each answer reads a row and writes a body: hundreds in one turn of the event loop would delay every other request.
const MAX_WOKEN_A_TURN = 20

const RETRY_AFTER_SECONDS = 1
const RETRY_AFTER_FULL_SECONDS = 5

interface Awaited {
  wakers: Set<(ended: boolean) => void>
  /** From the next read to the one after it. */
  intervalMs: number
  dueAt: number
  /** Further reports are ignored: forged ones cause one read at most. */
  wasReported: boolean
}

interface WaitersDeps {
  db: Pick<Database, 'readSystem'>
  /** Reports ended jobs, sometimes. */
  reports: Pick<IdChannel, 'subscribe'>
}

export function createWaiters({ db, reports }: WaitersDeps): Waiters {
  const waiting = new Map<string, Awaited>()
  const usualTime = createUsualTime()
  const places = createWaitingPlaces()
  const closing = new AbortController()
  let heldBack = 0
  let next: { at: number; cancel: () => void } | undefined
  let isPolling = false
  let hasReports = false
  let polledAt = 0
  let isSubscribed = false

  async function poll(): Promise<void> {
    next = undefined
    isPolling = true
    const due = takeDue()
    // A failed poll is not the caller's failure: the next poll may answer, or the wait ends with 202.
    const ended = due.length === 0 ? [] : await findSettled(db, due).catch(() => [])
    for (const { tookMs } of ended) usualTime.add(tookMs)
    wakeInTurns(ended.flatMap(({ id }) => [...(waiting.get(id)?.wakers ?? [])]))
    polledAt = performance.now()
    isPolling = false
    schedule()
  }

  // Jobs that fall due soon are read too, so that a statement of their own is saved.
  function takeDue(): string[] {
    const now = performance.now()
    hasReports = false
    const due = [...waiting].filter(([, { dueAt, intervalMs }]) => dueAt <= now + intervalMs / 4)
    // Longest due first, so that no job is passed over repeatedly.
    if (due.length > MAX_JOBS) due.sort(([, a], [, b]) => a.dueAt - b.dueAt)
    return due.slice(0, MAX_JOBS).map(([id, awaited]) => {
      awaited.dueAt = now + awaited.intervalMs
      awaited.intervalMs = nextIntervalMs(awaited.intervalMs, waiting.size)
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

  // Jobs that fall due within one gap are read together.
  function pollBy(dueAt: number): void {
    const gapMs = hasReports ? minReportedGapMs(waiting.size) : minGapMs(waiting.size)
    const at = Math.max(dueAt, polledAt + gapMs)
    if (isPolling || (next !== undefined && next.at <= at)) return
    next?.cancel()
    // The poll reads for every waiting caller, so it must not run in the context of the first one's request.
    next = { at, cancel: detached(() => callIn(at - performance.now(), () => void poll())) }
  }

  // A new caller for a job that others wait for is answered as soon as if it waited alone.
  function awaitSoon(jobId: string): Awaited {
    const dueAt = performance.now() + usualTime.ms()
    const known = waiting.get(jobId)
    const awaited = known ?? { wakers: new Set(), intervalMs: FIRST_INTERVAL_MS, dueAt, wasReported: false }
    awaited.intervalMs = FIRST_INTERVAL_MS
    awaited.dueAt = Math.min(awaited.dueAt, dueAt)
    if (known === undefined) waiting.set(jobId, awaited)
    pollBy(awaited.dueAt)
    return awaited
  }

  function readReported(jobIds: readonly string[]): void {
    const now = performance.now()
    for (const id of jobIds) {
      const awaited = waiting.get(id)
      if (awaited === undefined || awaited.wasReported) continue
      awaited.wasReported = true
      awaited.dueAt = now
      hasReports = true
    }
    if (hasReports) pollBy(now)
  }

  function subscribeOnce(): void {
    if (isSubscribed) return
    isSubscribed = true
    detached(() => reports.subscribe(readReported))
  }

  const hasRoom = () => places.hasRoom(accountInProgress())

  async function holdBack(timeoutMs: number, signal: AbortSignal | undefined): Promise<false> {
    if (heldBack >= MAX_HELD_BACK) return false
    heldBack += 1
    const heldMs = Math.min(timeoutMs, RETRY_AFTER_FULL_SECONDS * 1_000)
    // The caller left, or the process ends.
    await delay(heldMs, undefined, { signal: AbortSignal.any([closing.signal, ...(signal ? [signal] : [])]) }).catch(
      () => {},
    )
    heldBack -= 1
    return false
  }

  return {
    hasRoom,
    retryAfterSeconds: () => (hasRoom() ? RETRY_AFTER_SECONDS : RETRY_AFTER_FULL_SECONDS),
    settled(jobId, timeoutMs, signal) {
      if (closing.signal.aborted || timeoutMs <= 0 || signal?.aborted) return Promise.resolve(false)
      return new Promise((resolve) => {
        const leave = () => wake(false)
        const free = places.take(accountInProgress(), leave)
        if (free === undefined) {
          resolve(holdBack(timeoutMs, signal))
          return
        }
        subscribeOnce()
        const awaited = awaitSoon(jobId)
        let isAwake = false
        const wake = (ended: boolean) => {
          if (isAwake) return
          isAwake = true
          clearTimeout(deadline)
          signal?.removeEventListener('abort', leave)
          awaited.wakers.delete(wake)
          if (awaited.wakers.size === 0 && waiting.get(jobId) === awaited) waiting.delete(jobId)
          free()
          resolve(ended)
        }
        const deadline = setTimeout(leave, timeoutMs)
        signal?.addEventListener('abort', leave, { once: true })
        awaited.wakers.add(wake)
      })
    },
    close() {
      closing.abort()
      next?.cancel()
      for (const { wakers } of [...waiting.values()]) for (const wake of [...wakers]) wake(false)
    },
  }
}

// A timer of 0 takes a millisecond or two.
function callIn(delayMs: number, call: () => void): () => void {
  if (delayMs > 0) {
    const timer = setTimeout(call, delayMs)
    return () => clearTimeout(timer)
  }
  const immediate = setImmediate(call)
  return () => clearImmediate(immediate)
}

function accountInProgress(): string {
  return currentSubject()?.account ?? ''
}

/** Which of these jobs have ended, and how long they took since they were accepted, for callers that wait. */
async function findSettled(
  db: Pick<Database, 'readSystem'>,
  ids: readonly string[],
): Promise<{ id: string; tookMs: number }[]> {
  return db.readSystem<{ id: string; tookMs: number }>('wait', () => ({
    text: `SELECT id, (extract(epoch FROM coalesce(settled_at, now()) - created_at) * 1000)::float8 AS "tookMs"
       FROM jobs WHERE id = ANY($1::uuid[]) AND state IN ('succeeded', 'dead', 'cancelled')`,
    values: [ids],
  }))
}
