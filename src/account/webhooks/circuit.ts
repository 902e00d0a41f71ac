// The circuit breaker of an endpoint. After failures in a row it opens: deliveries are parked, without spending their
// attempts. From time to time one delivery probes the receiver, and a success closes the circuit. Pure arithmetic.

import { directLaneOf } from '#src/platform/jobs/lanes.ts'

const SECOND = 1_000
const MINUTE = 60 * SECOND

/** Failures in a row that open a circuit, within `CIRCUIT_WINDOW_MS`. An endpoint with little traffic keeps to the schedule. */
export const OPEN_AFTER = 10
export const CIRCUIT_WINDOW_MS = 5 * MINUTE
/** A probe that has not ended after this died with its worker: an attempt takes 15 s, and so does a lease to lapse. */
export const PROBE_MS = MINUTE

const FIRST_WAIT_MS = 30 * SECOND
// Parked deliveries of a receiver that is back wait at most this long.
const MAX_WAIT_MS = 15 * MINUTE
const MAX_RETRY_AFTER_MS = 60 * MINUTE
const JITTER = 0.1

export interface CircuitState {
  /** Consecutive failures within the window, the one just recorded included. */
  failures: number
  isOpen: boolean
  /** Times that it opened since the last success. */
  openings: number
  /** The failed attempt was the probe. */
  isProbe: boolean
}

interface Chance {
  retryAfterMs?: number | undefined
  /** 0 (included) to 1. */
  random: () => number
  /** Same as in `schedule.ts`. */
  timeDivisor: number
}

/** For how long a failure opens the circuit, in milliseconds, or undefined when it changes nothing. */
export function judgeCircuit(
  state: CircuitState,
  { retryAfterMs = 0, random, timeDivisor }: Chance,
): number | undefined {
  // Attempts that began before the circuit opened end while it is open.
  if (state.isOpen ? !state.isProbe : state.failures < OPEN_AFTER) return undefined
  const wait = Math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** Math.min(state.openings, 20))
  const jittered = (wait / timeDivisor) * (1 - JITTER + 2 * JITTER * random())
  return Math.round(Math.max(jittered, Math.min(retryAfterMs, MAX_RETRY_AFTER_MS)))
}

/**
 * The lane of a delivery's job. Pings and what a person sends again are in the direct lane, which is never held: they
 * probe an open circuit at once.
 */
export function laneOf(endpointId: string, { isDirect }: { isDirect: boolean }): string {
  return isDirect ? directLaneOf(endpointId) : endpointId
}
