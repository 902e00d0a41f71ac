// How soon the process `sequence` looks for rows again. Rows may wait for two seconds; a round costs the same for one row
// and for a hundred, so rows are let collect for a moment.

export interface SequenceRound {
  /** Rows that got their place. */
  count: number
  /** There were more than one transaction takes. */
  isFull: boolean
}

export const PAUSE_SEQUENCE_MS = 100
/** One statement a second costs next to nothing, and is half of what a row may wait. */
export const PAUSE_SEQUENCE_IDLE_MS = 1_000

/** @param pauseMs the pause before the round. */
export function nextSequencePauseMs(pauseMs: number, { count, isFull }: SequenceRound): number {
  if (isFull) return 0
  if (count > 0) return PAUSE_SEQUENCE_MS
  return Math.min(PAUSE_SEQUENCE_IDLE_MS, Math.max(PAUSE_SEQUENCE_MS, pauseMs * 1.5))
}
