// A circuit breaker as plain data. Each worker process has its own: it detects an outage with a few calls and needs no
// coordination.

export interface Circuit {
  /** Failures since the last success. */
  failures: number
  /** Milliseconds; undefined while closed. */
  openUntil: number | undefined
  /** How often it opened since the last success: each pause is twice as long as the one before. */
  openings: number
  /** A probe call is under way. */
  isProbing: boolean
}

// One failure may be chance; five without a success are an outage.
const MAX_FAILURES = 5
const PAUSE_MS = 15_000
const MAX_PAUSE_MS = 300_000
// While a probe is under way, other jobs ask again after this long.
const PROBE_WAIT_MS = 2_000

export const CLOSED: Circuit = { failures: 0, openUntil: undefined, openings: 0, isProbing: false }

/** For how long no call will be made, as far as is known without a probe. */
export function closedForMs({ openUntil = 0 }: Circuit, nowMs: number): number {
  return Math.max(0, openUntil - nowMs)
}

/** Whether a call may be made now; if not, when to ask again. After a pause a single call probes the detector. */
export function ask(circuit: Circuit, nowMs: number): { circuit: Circuit; waitMs: number } {
  if (circuit.openUntil === undefined) return { circuit, waitMs: 0 }
  if (nowMs < circuit.openUntil) return { circuit, waitMs: circuit.openUntil - nowMs }
  if (circuit.isProbing) return { circuit, waitMs: PROBE_WAIT_MS }
  return { circuit: { ...circuit, isProbing: true }, waitMs: 0 }
}

/** A call that began before a pause says nothing about the pause, so a pause that the detector asked for stays. */
export function afterSuccess(circuit: Circuit, nowMs: number): Circuit {
  const isPaused = !circuit.isProbing && closedForMs(circuit, nowMs) > 0
  return isPaused ? { ...CLOSED, openUntil: circuit.openUntil } : CLOSED
}

/** @param isCertain the detector itself said that it accepts no calls: opens at once instead of after five failures. */
export function afterFailure(circuit: Circuit, nowMs: number, isCertain = false): Circuit {
  const failures = circuit.failures + 1
  // Calls that were under way when the circuit opened add no information.
  const isOpen = circuit.openUntil !== undefined && !circuit.isProbing
  if (isOpen || (failures < MAX_FAILURES && !isCertain && !circuit.isProbing)) return { ...circuit, failures }
  const pauseMs = Math.min(MAX_PAUSE_MS, PAUSE_MS * 2 ** Math.min(circuit.openings, 10))
  return { failures, openUntil: nowMs + pauseMs, openings: circuit.openings + 1, isProbing: false }
}

/** The detector asked for a pause. This is no failure and counts as none; a longer pause stays. */
export function pause(circuit: Circuit, nowMs: number, pauseMs: number): Circuit {
  return { ...circuit, openUntil: Math.max(circuit.openUntil ?? 0, nowMs + pauseMs), isProbing: false }
}

/** The call ended without a result, for example because its worker stops. */
export function afterNothing(circuit: Circuit): Circuit {
  return { ...circuit, isProbing: false }
}
