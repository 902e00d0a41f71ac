// Sample tables are run-length coded (ISO/IEC 14496-12 8.6.1) and stay so in memory: a count may be four billion, and
// costs no more than a count of one.

export interface Runs {
  counts: number[]
  values: number[]
  /** The sum of all counts. */
  total: number
}

export interface Span {
  /** The earliest presentation time, in ticks. */
  first: number
  /** Where the presentation of the last sample ends. */
  end: number
}

export function createRuns(): Runs {
  return { counts: [], values: [], total: 0 }
}

export function addRun(runs: Runs, count: number, value: number): void {
  if (count === 0) return
  runs.counts.push(count)
  runs.values.push(value)
  runs.total += count
}

/** The sum of all values, each times its count. */
export function sumOf({ counts, values }: Runs): number {
  return counts.reduce((sum, count, at) => sum + count * (values[at] ?? 0), 0)
}

/**
 * The presentation span of samples with these durations, shifted by their composition offsets. Samples without an
 * offset are not shifted. Takes as many steps as there are runs.
 */
export function spanOf(durations: Runs, offsets: Runs): Span {
  const span: Span = { first: Number.POSITIVE_INFINITY, end: Number.NEGATIVE_INFINITY }
  let time = 0
  let place = 0
  let used = 0
  // The loop counts an index: an iterator over a million runs takes three times as long.
  for (let at = 0; at < durations.counts.length; at += 1) {
    const duration = durations.values[at] ?? 0
    for (let left = durations.counts[at] ?? 0; left > 0; ) {
      const offset = offsets.values[place] ?? 0
      const same = Math.min(left, (offsets.counts[place] ?? Number.POSITIVE_INFINITY) - used)
      widen(span, time + offset, time + offset + duration * same)
      time += duration * same
      left -= same
      used += same
      if (used === offsets.counts[place]) {
        place += 1
        used = 0
      }
    }
  }
  return span
}

export function widen(span: Span, first: number, end: number): void {
  span.first = Math.min(span.first, first)
  span.end = Math.max(span.end, end)
}
