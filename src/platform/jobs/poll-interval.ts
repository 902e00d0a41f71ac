// How soon a dispatcher polls again. A round costs the same for one job and for a hundred, and time in which workers
// are idle because the dispatcher pauses is lost.

/** What a round found: jobs dispatched, free places in the window, and the window's size. */
export interface Round {
  count: number
  free: number
  /** 0: no worker is alive, or another dispatcher holds the lock. */
  window: number
}

// When workers keep emptying the window, refill half of it at a time. Refilling later lets them run dry; refilling
// sooner wastes rounds.
const HALF = 0.5
const FLOWING = 0.2
const SLOW = 0.1
// With fewer jobs in flight, each would be a large share of them.
const QUARTER = 0.25
export const PAUSE_BUSY_MS = 2
const PAUSE_FLOWING_MS = 8
/** For few jobs, and for slow workers. */
export const PAUSE_MS = 25
/** For workers that are slow to end the many jobs that they have. */
export const PAUSE_SLOW_MS = 100
/** For no due jobs. */
export const PAUSE_IDLE_MS = 250

// The next jobs often come soon after the last: for a third of a second the pause hardly grows.
const LINGER_MS = 40

const QUIET_AFTER_MS = 10_000
const PAUSE_QUIET_MS = 500

/**
 * The pause while no queue has anything to do, since `quietForMs`. Half of what an idle deployment costs is this
 * polling; jobs that callers wait for are dispatched without it.
 */
export function idlePauseMs(quietForMs: number): number {
  return quietForMs < QUIET_AFTER_MS ? PAUSE_IDLE_MS : PAUSE_QUIET_MS
}

/** @param pauseMs the pause before the round. */
export function nextPauseMs(pauseMs: number, { count, free, window }: Round): number {
  if (window > 0 && count >= free) {
    // More jobs may be due than the window had free: how many the workers took says how soon it has free places again.
    const taken = free / window
    if (taken <= 0) return Math.min(PAUSE_IDLE_MS, pauseMs * 1.5)
    const next = taken >= HALF ? Math.min(PAUSE_FLOWING_MS, pauseMs / 2) : taken < FLOWING ? pauseMs * 1.5 : pauseMs
    return Math.min(PAUSE_MS, Math.max(PAUSE_BUSY_MS, next))
  }
  // Lanes at their caps, or an account at its half of the room, leave a part of the window free: what counts is how much
  // of all that is in flight is new.
  const inFlight = window - free + count
  const many = window * QUARTER
  const share = window === 0 ? 0 : count / Math.max(inFlight, many)
  if (share >= HALF) return PAUSE_BUSY_MS
  if (share >= FLOWING) return PAUSE_FLOWING_MS
  if (count > 0 && inFlight < many) return PAUSE_MS
  // A round reads past the jobs of batches that are being stored or cancelled: beside one of 10,000 lines 40 rounds a second of two
  // queues took 8 % of a processor.
  if (count > 0) return Math.min(PAUSE_SLOW_MS, Math.max(PAUSE_MS, pauseMs * (SLOW / share)))
  return Math.min(PAUSE_IDLE_MS, Math.max(PAUSE_MS, pauseMs * (pauseMs < LINGER_MS ? 1.05 : 1.5)))
}
