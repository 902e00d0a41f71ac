// What an analysis costs: counted and not timed, so that the same document always gives the same findings.

/** Units, each some 0.2 µs: one comparison of plain terms. */
export interface AnalysisWork {
  /** Since the analysis began. The caller ends it beyond its budget. */
  spent: number
  /** A comparison was left out because it alone costs too much. */
  hasSkipped: boolean
  /** Counts what comes next. true: so much was done since the last pause that the caller yields first. */
  charge(units: number): boolean
}

/** Yields where the caller can pause. */
export type Pausing<Result> = Generator<void, Result>

// Some 1 ms: a generator that yields more often costs more, and the event loop waits for what one yield lets pass.
const UNITS_AT_ONCE = 5_000
// Instructions times characters of a pattern take 0.05 µs at worst, and steps of searches less.
const STEPS_OF_UNIT = 4
/** Steps of one pattern on one text, which nothing interrupts: some 3 ms. */
export const MAX_STEPS_AT_ONCE = 60_000

export function createWork(): AnalysisWork {
  let pauseAt = UNITS_AT_ONCE
  const work: AnalysisWork = {
    spent: 0,
    hasSkipped: false,
    charge(units) {
      work.spent += units
      if (work.spent < pauseAt) return false
      pauseAt = work.spent + UNITS_AT_ONCE
      return true
    },
  }
  return work
}

/** Units of so many steps of patterns. */
export function unitsOf(steps: number): number {
  return Math.ceil(steps / STEPS_OF_UNIT)
}
