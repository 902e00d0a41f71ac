// Bulk work of one account takes at most a third of the time while other accounts have requests: after each part of it,
// twice as long a pause as the part took. Its statements keep a processor of Postgres busy, which has no priorities. Alone,
// bulk work has no pauses. An account has one bulk transaction in a process at a time.

import { setTimeout as delay } from 'node:timers/promises'
import { createFairSemaphore, type FairSemaphore } from './fair-semaphore.ts'

/** How long after a request its account counts as active. */
const ACTIVE_MS = 1_000
const PAUSE_PER_PART = 2
/** A part takes 20 to 100 ms; longer, it waited itself. Must stay below the idle time-out of a transaction. */
const MAX_PAUSE_MS = 250

export interface BulkPace {
  /** Call it after each part of the work. */
  pause(): Promise<void>
}

interface PaceOptions {
  /** Shorter parts have no pause. */
  minPartMs?: number
  /** The longest pause. */
  maxPauseMs?: number
  activity?: Activity
  now?: () => number
  sleep?: (delayMs: number) => Promise<unknown>
}

export interface Activity {
  /** A request of this account has come. */
  note(account: string): void
  /** Whether any other account had a request lately. */
  isOtherActive(account: string): boolean
  /** Calls `report` with the newest one or two active accounts, at a request, and at most twice a second. */
  follow(report: (accounts: readonly string[]) => void): void
}

const REPORT_EVERY_MS = 500

/** Keeps two times, not one for each account: the newest request, and the newest one of any other account. */
export function createActivity(now = () => performance.now(), activeMs = ACTIVE_MS): Activity {
  const never = { account: '', at: Number.NEGATIVE_INFINITY }
  let [latest, other] = [never, never]
  let reportedAt = Number.NEGATIVE_INFINITY
  let report: ((accounts: readonly string[]) => void) | undefined
  const isActive = ({ at }: typeof latest) => at > now() - activeMs
  return {
    note(account) {
      if (account !== latest.account) other = latest
      latest = { account, at: now() }
      if (report === undefined || latest.at - reportedAt < REPORT_EVERY_MS) return
      reportedAt = latest.at
      report([latest, other].filter(isActive).map((one) => one.account))
    },
    isOtherActive: (account) => isActive(account === latest.account ? other : latest),
    follow(next) {
      report = next
    },
  }
}

/** Of this process: authentication notes each request, and bulk work anywhere in the process reads it. */
export const requestActivity = createActivity()

/** Begins the first part now. */
export function createBulkPace(
  account: string,
  {
    minPartMs = 0,
    maxPauseMs = MAX_PAUSE_MS,
    activity = requestActivity,
    now = () => performance.now(),
    sleep = (delayMs) => delay(delayMs),
  }: PaceOptions = {},
): BulkPace {
  let since = now()
  return {
    async pause() {
      const partMs = now() - since
      if (partMs >= minPartMs && activity.isOtherActive(account)) {
        await sleep(Math.min(maxPauseMs, PAUSE_PER_PART * partMs))
      }
      since = now()
    },
  }
}

// A bulk transaction takes seconds and one of the process's few connections, which single calls need too: the default is
// four. A third one would cost the others time, because they keep Postgres busy.
const TRANSACTIONS_AT_ONCE = 2
// What waits is kept in memory or on disk, of the account's own share.
const MAX_WAITING_EACH = 8
// An idle connection is cut after 120 s.
const MAX_WAIT_MS = 60_000

/**
 * Turns of the bulk transactions of a process, by account. Sandbox and live of an account are one, and so are the callers
 * of a published key.
 * @param connections The process's, for tenants.
 */
export function createBulkSemaphore(connections: number): FairSemaphore {
  return createFairSemaphore({
    slots: Math.max(1, Math.min(TRANSACTIONS_AT_ONCE, connections - 1)),
    slotsEach: 1,
    maxWaitingEach: MAX_WAITING_EACH,
    maxWaiting: Number.POSITIVE_INFINITY,
    maxWaitMs: MAX_WAIT_MS,
    refusal: { detail: 'Other batches or imports of this account are being accepted. Retry.', retryAfterSeconds: 5 },
  })
}
