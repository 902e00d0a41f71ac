// Bulk work of all accounts takes at most a third of the time while others have requests, and a fifth where processors are
// short: after each part its account pauses, the longer the more accounts have bulk work. Its statements keep a processor of
// Postgres busy, which has no priorities. Alone, bulk work has no pauses. An account has one bulk transaction in a process at a time.

import { setTimeout as delay } from 'node:timers/promises'
import { type Activity, requestActivity } from './activity.ts'
import { createFairSemaphore } from './fair-semaphore.ts'
import { readUse } from './priority.ts'
import { createShortage } from './yielding.ts'

/** For each part of the work of one account. Beside a bulk that takes a third of the time, others wait for processors themselves. */
const PAUSE_PER_PART = { usual: 2, short: 4 }
/** Of all threads. Without bulk work they wait for 3 to 4 %, with a third of the time for it 10 %. */
const SHORT_WAIT_SHARE = 0.05
/** A part takes 5 to 100 ms; longer, it waited itself. Must stay below the idle time-out of a transaction. */
const MAX_PAUSE_MS = 500
/** An account without parts for as long has none now: the others need not leave time to it. */
const SHARING_MS = 1_000

/**
 * Lines of a part. Alone, 50 at a time are stored at 0.49 of the rate of bare INSERTs, 250 at 0.54. While 250 are, a processor is
 * busy for 15 to 50 ms, which delays each statement of another account meanwhile: with 50, half as many requests were slow.
 */
const PART_LINES = { alone: 250, besideOthers: 50 }

export interface BulkPace {
  /** Call it before each part but the first: waits as long as the one before demands. */
  pause(): Promise<void>
  /** Of the part that begins now, at most. */
  lines(): number
}

/** Cuts lines into parts, and pauses between them. Those of two chunks are never in one part. */
export async function* inParts<Line>(
  chunks: Iterable<readonly Line[]> | AsyncIterable<readonly Line[]>,
  pace: BulkPace,
): AsyncGenerator<readonly Line[], void> {
  let isFirst = true
  for await (const chunk of chunks) {
    for (let from = 0; from < chunk.length; ) {
      if (!isFirst) await pace.pause()
      isFirst = false
      const part = chunk.slice(from, from + pace.lines())
      from += part.length
      yield part
    }
  }
}

/** The pauses of the accounts that have bulk work in a process. */
export interface BulkPauses {
  /** Returns for how long the account must pause after a part. */
  add(account: string, partMs: number): number
  /** Returns how much of its pause is left. */
  left(account: string): number
}

interface PausesOptions {
  now?: () => number
  maxPauseMs?: number
  /** Whether the processors are short. */
  isShort?: () => boolean
}

export function createBulkPauses({
  now = () => performance.now(),
  maxPauseMs = MAX_PAUSE_MS,
  isShort = () => false,
}: PausesOptions = {}): BulkPauses {
  // In the order in which their parts ended.
  const pausedUntil = new Map<string, number>()
  return {
    add(account, partMs) {
      for (const [name, until] of pausedUntil) if (until + SHARING_MS < now()) pausedUntil.delete(name)
      pausedUntil.delete(account)
      const sharing = pausedUntil.size + 1
      // With parts of one length, each account has one part in the time of three, or five, parts of each account.
      const perPart = isShort() ? PAUSE_PER_PART.short : PAUSE_PER_PART.usual
      const pauseMs = Math.min(maxPauseMs, ((1 + perPart) * sharing - 1) * partMs)
      pausedUntil.set(account, now() + pauseMs)
      return pauseMs
    },
    left: (account) => Math.max(0, (pausedUntil.get(account) ?? 0) - now()),
  }
}

interface PaceOptions {
  /** Shorter parts have no pause. */
  minPartMs?: number
  pauses?: BulkPauses
  activity?: Activity
  now?: () => number
  sleep?: (delayMs: number) => Promise<unknown>
}

const processPauses = createBulkPauses({
  isShort: createShortage({
    read: readUse,
    isShort: ({ waitedMs, elapsedMs }) => waitedMs >= SHORT_WAIT_SHARE * elapsedMs,
  }),
})

/** Begins the first part now. */
export function createBulkPace(
  account: string,
  {
    minPartMs = 0,
    pauses = processPauses,
    activity = requestActivity,
    now = () => performance.now(),
    sleep = (delayMs) => delay(delayMs),
  }: PaceOptions = {},
): BulkPace & { end(): void } {
  let since = now()
  const end = () => {
    const partMs = now() - since
    return partMs >= minPartMs && activity.isOtherActive(account) ? pauses.add(account, partMs) : 0
  }
  return {
    async pause() {
      const pauseMs = end()
      if (pauseMs > 0) await sleep(pauseMs)
      since = now()
    },
    lines: () => (activity.isOtherActive(account) ? PART_LINES.besideOthers : PART_LINES.alone),
    end,
  }
}

/** What takes no longer than a part. */
export const SMALL_LINES = PART_LINES.alone
// A bulk transaction takes seconds and one of the process's few connections, which single calls need too: the default is
// four. A third large one would cost the others time, because they keep Postgres busy.
const LARGE_AT_ONCE = 2
const SMALL_AT_ONCE = 1
// What waits is kept in memory or on disk, of the account's own share.
const MAX_WAITING_EACH = 8
// An idle connection is cut after 120 s, and a work waits twice: behind its own account's, and behind others.
const MAX_WAIT_MS = 50_000

/**
 * Runs a bulk transaction when it is the account's turn. Sandbox and live of an account are one, and so are the callers of a
 * published key.
 * @throws {Failure} `service_unavailable` with Retry-After when too many of the account wait, or one for too long.
 */
export type BulkWork = <R>(account: string, lines: number, work: (pace: BulkPace) => Promise<R>) => Promise<R>

interface BulkWorkOptions extends Omit<PaceOptions, 'minPartMs'> {
  /** The process's, for tenants. */
  connections: number
}

export function createBulkWork({
  connections,
  pauses = processPauses,
  sleep = (delayMs) => delay(delayMs),
  ...options
}: BulkWorkOptions): BulkWork {
  const refusal = {
    detail: 'Other batches or imports of this account are being accepted. Retry.',
    retryAfterSeconds: 5,
  }
  const shared = { slotsEach: 1, maxWaiting: Number.POSITIVE_INFINITY, maxWaitMs: MAX_WAIT_MS, refusal }
  const own = createFairSemaphore({ ...shared, slots: Number.POSITIVE_INFINITY, maxWaitingEach: MAX_WAITING_EACH })
  const large = createFairSemaphore({
    ...shared,
    slots: Math.max(1, Math.min(LARGE_AT_ONCE, connections - 1)),
    maxWaitingEach: 1,
  })
  // A few lines do not wait for the thousands of another account.
  const small = createFairSemaphore({ ...shared, slots: SMALL_AT_ONCE, maxWaitingEach: 1 })
  return (account, lines, work) =>
    own(account, async () => {
      const leftMs = pauses.left(account)
      if (leftMs > 0) await sleep(leftMs)
      return (lines <= SMALL_LINES ? small : large)(account, async () => {
        const pace = createBulkPace(account, { ...options, pauses, sleep })
        try {
          return await work(pace)
        } finally {
          pace.end()
        }
      })
    })
}
