// A circuit breaker as plain data. One per worker process: each finds out for itself that a detector is away, at the price
// of a few calls, and none has to ask another.

export interface Circuit {
  /** Failures since the last success. */
  failures: number
  /** Milliseconds; undefined while closed. */
  openUntil: number | undefined
  /** Times it opened since the last success: each pause is twice the one before. */
  openings: number
  /** Somebody is finding out whether the detector is back. */
  isProbing: boolean
}

// A single failure is a hiccup, five without a success are an outage.
const MAX_FAILURES = 5
const PAUSE_MS = 15_000
const MAX_PAUSE_MS = 300_000
// While somebody probes, the others look again after this long.
const PROBE_WAIT_MS = 2_000

export const CLOSED: Circuit = { failures: 0, openUntil: undefined, openings: 0, isProbing: false }

/** How long no call will be made, as far as is known without asking for one. */
export function closedForMs({ openUntil = 0 }: Circuit, nowMs: number): number {
  return Math.max(0, openUntil - nowMs)
}

/** Whether a call may be made now; if not, when to ask again. After a pause one call finds out for all. */
export function ask(circuit: Circuit, nowMs: number): { circuit: Circuit; waitMs: number } {
  if (circuit.openUntil === undefined) return { circuit, waitMs: 0 }
  if (nowMs < circuit.openUntil) return { circuit, waitMs: circuit.openUntil - nowMs }
  if (circuit.isProbing) return { circuit, waitMs: PROBE_WAIT_MS }
  return { circuit: { ...circuit, isProbing: true }, waitMs: 0 }
}

/** A call that was under way before a pause says nothing of the pause: what the detector asked for is kept. */
export function afterSuccess(circuit: Circuit, nowMs: number): Circuit {
  const isPaused = !circuit.isProbing && closedForMs(circuit, nowMs) > 0
  return isPaused ? { ...CLOSED, openUntil: circuit.openUntil } : CLOSED
}

/** @param isCertain The detector said itself that it takes nothing now: no need to try five times. */
export function afterFailure(circuit: Circuit, nowMs: number, isCertain = false): Circuit {
  const failures = circuit.failures + 1
  // Calls that were under way when it opened say nothing new.
  const isOpen = circuit.openUntil !== undefined && !circuit.isProbing
  if (isOpen || (failures < MAX_FAILURES && !isCertain && !circuit.isProbing)) return { ...circuit, failures }
  const pauseMs = Math.min(MAX_PAUSE_MS, PAUSE_MS * 2 ** Math.min(circuit.openings, 10))
  return { failures, openUntil: nowMs + pauseMs, openings: circuit.openings + 1, isProbing: false }
}

/** The detector asked for a pause. No failure: it counts nothing, and a pause that is longer already stays. */
export function pause(circuit: Circuit, nowMs: number, pauseMs: number): Circuit {
  return { ...circuit, openUntil: Math.max(circuit.openUntil ?? 0, nowMs + pauseMs), isProbing: false }
}

/** The call ended without an answer either way, as when its worker stops. */
export function afterNothing(circuit: Circuit): Circuit {
  return { ...circuit, isProbing: false }
}
