// How soon a dispatcher looks again. A round costs the same for one job and for a hundred, and workers that ran dry while it
// paused are lost time.

/** What a round found: jobs that it handed over, room that there was for them, and the window whose part the room is. */
export interface Round {
  count: number
  free: number
  /** 0: nobody works, or another dispatcher looked. */
  window: number
}

// Of a window that workers keep emptying half is refilled at a time. Less often they run dry, more often is work for nothing.
const HALF = 0.5
const FLOWING = 0.2
export const PAUSE_BUSY_MS = 2
const PAUSE_FLOWING_MS = 8
/** A trickle, and workers that are slow. */
export const PAUSE_MS = 25
/** Nothing to do. */
export const PAUSE_IDLE_MS = 250

/** @param pauseMs the pause before the round. */
export function nextPauseMs(pauseMs: number, { count, free, window }: Round): number {
  if (window > 0 && count >= free) {
    // More may be due than there was room for: the workers say how soon there is room again. Those that took nothing take long.
    const taken = free / window
    if (taken <= 0) return Math.min(PAUSE_IDLE_MS, pauseMs * 1.5)
    const next = taken >= HALF ? Math.min(PAUSE_FLOWING_MS, pauseMs / 2) : taken < FLOWING ? pauseMs * 1.5 : pauseMs
    return Math.min(PAUSE_MS, Math.max(PAUSE_BUSY_MS, next))
  }
  const share = window === 0 ? 0 : count / window
  if (share >= HALF) return PAUSE_BUSY_MS
  if (share >= FLOWING) return PAUSE_FLOWING_MS
  if (count > 0) return PAUSE_MS
  return Math.min(PAUSE_IDLE_MS, Math.max(PAUSE_MS, pauseMs * 1.5))
}
