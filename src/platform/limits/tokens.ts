// A token bucket as one number (the generic cell rate algorithm): until when the refill belongs to tokens that were
// taken already. A full bucket has a time in the past. shared-buckets.ts does the same in Redis.

import type { Rate } from '#src/catalogue/plans.ts'

export interface Taking {
  isGranted: boolean
  /** Whole tokens that are left. */
  remaining: number
  /** Until the next token, where none is left; otherwise 0. */
  refillMs: number
  usedUntilMs: number
}

/** Takes one token. A refused request takes none. */
export function takeToken(usedUntilMs: number, nowMs: number, { perSecond, burst }: Rate): Taking {
  const intervalMs = 1_000 / perSecond
  const full = nowMs + burst * intervalMs
  // Above `full` the clock went back or the rate was lowered: the bucket is empty, and not more.
  let used = Math.min(Math.max(usedUntilMs, nowMs), full)
  const isGranted = wholeTokens(full - used, intervalMs) >= 1
  if (isGranted) used += intervalMs
  const remaining = wholeTokens(full - used, intervalMs)
  return { isGranted, remaining, refillMs: remaining >= 1 ? 0 : used + intervalMs - full, usedUntilMs: used }
}

/** The part of a rate that one of several processes grants when they can't count together. */
export function shareOf({ perSecond, burst }: Rate, processes: number): Rate {
  return { perSecond: perSecond / processes, burst: Math.max(1, Math.floor(burst / processes)) }
}

// Sums of fractions are off by less than a millionth of a token.
function wholeTokens(ms: number, intervalMs: number): number {
  return Math.max(0, Math.floor(ms / intervalMs + 1e-6))
}
