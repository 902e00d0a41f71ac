// The rate at which a body must arrive. A body costs its reader what it holds until its end, so the larger it is, the faster
// it must come.

import { Failure } from '#src/failure.ts'

/** A minimum rate instead of a total time-out: 2 GiB may take an hour, 500 bytes may not. */
export interface MinimumRate {
  windowMs: number
  /** Bytes of every body in each window. */
  minBytes: number
  /** In how many windows a JSON body arrives, which is held in memory, whatever its size. */
  jsonWindows: number
  /** The same of a body whose lines are kept until the last one has come. */
  linesWindows: number
}

/**
 * JSON in five minutes, lines in an hour. A photo of 3.5 MB inline is a body of 4.7 MB and must come with 125 kbit/s: a third
 * of what UMTS gives a phone, 384 kbit/s. The largest body, of 20 MB, must come with 560 kbit/s. Slower phones use
 * `POST /v1/media`, whose bytes go to the store: they hold no memory, and 8 kbit/s are enough.
 */
export const DEFAULT_MINIMUM_RATE: MinimumRate = {
  windowMs: 10_000,
  minBytes: 10 * 1024,
  jsonWindows: 30,
  linesWindows: 360,
}

/** What of a body is held until its end. */
export type Kept = 'json' | 'lines' | 'nothing'

// What came faster counts for slower windows, as on a phone in a train. More would let a body of which all but the end came
// quickly hold its memory for minutes.
const MAX_AHEAD_WINDOWS = 3

/** Judges a body at the end of each window. */
export type JudgeWindow = (bytes: { inWindow: number; received: number }) => Failure | undefined

/** @param announcedBytes By its Content-Length; 0 without one, and then what has come counts. */
export function createRateJudge(
  pace: MinimumRate,
  { kept, announcedBytes }: { kept: Kept; announcedBytes: number },
): JudgeWindow {
  const windows = kept === 'nothing' ? Number.POSITIVE_INFINITY : kept === 'json' ? pace.jsonWindows : pace.linesWindows
  let ahead: number | undefined
  return ({ inWindow, received }) => {
    const due = Math.max(pace.minBytes, Math.ceil(Math.max(announcedBytes, received) / windows))
    // A window more than `windows` in all: the first one may be slow.
    ahead = Math.min((ahead ?? due) + inWindow - due, MAX_AHEAD_WINDOWS * due)
    if (inWindow >= pace.minBytes && ahead >= 0) return undefined
    const detail = `a body of its size must bring ${due} bytes in each ${pace.windowMs / 1_000} seconds`
    return new Failure('request_timeout', `The body came too slowly: ${detail}. Nothing was changed.`)
  }
}
