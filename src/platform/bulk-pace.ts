// Bulk work of one account takes at most half of the time while other accounts have requests: after each part of it, as
// long a pause as the part took. Its statements keep a processor of Postgres busy, which has no priorities. Alone, bulk
// work has no pauses.

import { setTimeout as delay } from 'node:timers/promises'

/** How long after a request its account counts as active. */
const ACTIVE_MS = 1_000
/** A part takes some 100 ms; longer, it waited itself. Must stay below the idle time-out of a transaction. */
const MAX_PAUSE_MS = 250

export interface BulkPace {
  /** Call it after each part of the work. */
  pause(): Promise<void>
}

interface PaceOptions {
  activity?: Activity
  now?: () => number
  sleep?: (delayMs: number) => Promise<unknown>
}

export interface Activity {
  /** A request of this account has come. */
  note(account: string): void
  /** Whether any other account had a request lately. */
  isOtherActive(account: string): boolean
}

/** Keeps two times, not one for each account: the newest request, and the newest one of any other account. */
export function createActivity(now = () => performance.now()): Activity {
  let latest = { account: '', at: Number.NEGATIVE_INFINITY }
  let otherAt = Number.NEGATIVE_INFINITY
  return {
    note(account) {
      if (account !== latest.account) otherAt = latest.at
      latest = { account, at: now() }
    },
    isOtherActive: (account) => (account === latest.account ? otherAt : latest.at) > now() - ACTIVE_MS,
  }
}

/** Of this process: authentication notes each request, and bulk work anywhere in the process reads it. */
export const requestActivity = createActivity()

/** Begins the first part now. */
export function createBulkPace(
  account: string,
  { activity = requestActivity, now = () => performance.now(), sleep = (delayMs) => delay(delayMs) }: PaceOptions = {},
): BulkPace {
  let since = now()
  return {
    async pause() {
      if (activity.isOtherActive(account)) await sleep(Math.min(MAX_PAUSE_MS, now() - since))
      since = now()
    },
  }
}
