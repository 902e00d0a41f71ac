// How soon a process reads again whether the jobs that its callers wait for have ended. For one caller, delay counts;
// for a thousand, the reads do.

const MIN_MS = 3
const MAX_MS = 100
// An answer is late by at most about a quarter of the time that its caller has waited.
const GROWTH = 1.25
// A thousand waiting callers cause about 35 statements per second, and each is read once per second.
const GAP_PER_WAITER_MS = 0.025
const MAX_PER_WAITER_MS = 1

/** Interval before the second read; the first read comes at the usual time from accept to settle. */
export const FIRST_INTERVAL_MS = MIN_MS

/** The interval after one of `intervalMs`, while `waiting` jobs are waited for. */
export function nextIntervalMs(intervalMs: number, waiting: number): number {
  return Math.min(Math.max(MAX_MS, waiting * MAX_PER_WAITER_MS), intervalMs * GROWTH)
}

/** Least time between two statements. */
export function minGapMs(waiting: number): number {
  return MIN_MS + waiting * GAP_PER_WAITER_MS
}

/** The same before a read of a job that was reported as ended, which happens once for each. */
export function minReportedGapMs(waiting: number): number {
  return waiting * GAP_PER_WAITER_MS
}

export interface UsualTime {
  add(tookMs: number): void
  ms(): number
}

// Enough that one slow job does not count, and few enough to follow a change of load within seconds.
const REMEMBERED = 31
const START_MS = 12
// Jobs of minutes must not delay the first read of a job of milliseconds.
const LATEST_FIRST_MS = 25

/** The median of the last times from accept to settle, within bounds. */
export function createUsualTime(): UsualTime {
  const recent: number[] = []
  let usualMs = START_MS
  return {
    ms: () => usualMs,
    add(tookMs) {
      if (!Number.isFinite(tookMs)) return
      recent.push(tookMs)
      if (recent.length > REMEMBERED) recent.shift()
      const median = recent.toSorted((a, b) => a - b)[recent.length >> 1] ?? START_MS
      usualMs = Math.min(LATEST_FIRST_MS, Math.max(MIN_MS, median))
    },
  }
}
