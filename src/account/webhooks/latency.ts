// Durations in buckets that grow by a quarter of an octave: what is read from them is exact to 10 %, and a week of an endpoint
// with millions of attempts is some thousand rows. Pure.

const PER_OCTAVE = 4
// 2^28 ms are three days: the last attempt of the schedule.
const LAST_BUCKET = 28 * PER_OCTAVE

export interface BucketCount {
  bucket: number
  count: number
}

/** Bucket number; 0 is for 1 ms and less. */
export function bucketOf(durationMs: number): number {
  if (!(durationMs > 1)) return 0
  return Math.min(LAST_BUCKET, Math.ceil(Math.log2(durationMs) * PER_OCTAVE))
}

/** The middle of a bucket, in whole milliseconds. */
function middleMs(bucket: number): number {
  return bucket === 0 ? 1 : Math.round(2 ** ((bucket - 0.5) / PER_OCTAVE))
}

/** The duration that a share of all stays within, such as 0.99. Whole milliseconds; null without any. */
export function quantileMs(counts: readonly BucketCount[], share: number): number | null {
  const total = counts.reduce((sum, { count }) => sum + count, 0)
  // The smallest bucket that holds at least this many, as PERCENTILE_DISC does.
  const wanted = Math.max(1, Math.ceil(total * share))
  let seen = 0
  for (const { bucket, count } of counts.toSorted((a, b) => a.bucket - b.bucket)) {
    seen += count
    if (seen >= wanted) return middleMs(bucket)
  }
  return null
}
