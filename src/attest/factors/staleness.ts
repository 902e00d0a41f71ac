import type { CapturedFacts } from './facts.ts'
import { type ScoredFactor, scored } from './table.ts'

// Specification, Limits: more than 72 hours before claim submission.
const MAX_AGE_MS = 72 * 60 * 60 * 1000

/** `timestamp_stale`: exactly 72 hours is still fresh. */
export function judgeStaleness({ bundle, acceptedAt }: CapturedFacts): ScoredFactor<'timestamp_stale'> | null {
  const ageMs = acceptedAt.getTime() - bundle.capturedAt.getTime()
  if (ageMs <= MAX_AGE_MS) return null
  return scored('timestamp_stale', {
    compared: 'age of the capture at submission',
    expected: { max_age_seconds: MAX_AGE_MS / 1000 },
    found: { age_seconds: ageMs / 1000 },
    captured_at: bundle.capturedAt.toISOString(),
    accepted_at: acceptedAt.toISOString(),
  })
}
