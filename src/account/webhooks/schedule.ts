// When a delivery is tried again, and when an endpoint is disabled for failing. Pure arithmetic.

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** The wait before each attempt, counted from the end of the one before: 10 attempts over 75 h 35 min. */
export const WAITS_MS = [
  0,
  5 * SECOND,
  5 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
  14 * HOUR,
  20 * HOUR,
  24 * HOUR,
] as const

export const MAX_ATTEMPTS = WAITS_MS.length
/** A receiver that hangs holds a connection and a worker's slot for at most this long. */
export const ATTEMPT_TIMEOUT_MS = 15 * SECOND

// Receivers that fail together must not be called again together.
const JITTER = 0.1
// A receiver may ask for a pause, not for permanent silence.
const MAX_RETRY_AFTER_MS = HOUR
const DISABLE_AFTER_MS = 5 * DAY
const DISABLE_AFTER_FAILURES = 20

export interface Retry {
  /** The attempt that failed, from 1. */
  attempt: number
  /** The wait that the receiver asked for. */
  retryAfterMs?: number | undefined
  /** 0 (included) to 1. */
  random: () => number
  /** Divides the waits: 1 in production, 60 in tests that can't wait for days. */
  timeDivisor: number
}

/**
 * Milliseconds until the next attempt, or undefined when that was the last. Retry-After can lengthen a wait, up to an
 * hour, and never shorten it.
 */
export function nextDelayMs({ attempt, retryAfterMs = 0, random, timeDivisor }: Retry): number | undefined {
  const wait = WAITS_MS[attempt]
  if (wait === undefined) return undefined
  const jittered = (wait / timeDivisor) * (1 - JITTER + 2 * JITTER * random())
  return Math.round(Math.max(jittered, Math.min(retryAfterMs, MAX_RETRY_AFTER_MS)))
}

/** An endpoint that has failed at least 20 times and for five days, with no success in between, is to be disabled. */
export function isHopeless(endpoint: { consecutiveFailures: number; firstFailureAt: Date; now: Date }): boolean {
  const failingMs = endpoint.now.getTime() - endpoint.firstFailureAt.getTime()
  return endpoint.consecutiveFailures >= DISABLE_AFTER_FAILURES && failingMs >= DISABLE_AFTER_MS
}
