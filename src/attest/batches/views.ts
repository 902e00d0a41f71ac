import { z } from 'zod'
import type { KeySet } from '#src/platform/crypto/signing-keys.ts'
import { rejectedLineView } from '#src/platform/http/rejection.ts'
import { extended, timestampView } from '#src/platform/http/views.ts'
import { attestationView, toAttestationView } from '../claims/views.ts'
import type { Progress } from './progress.ts'
import type { BatchRow, BatchSummary, LineRow } from './rows.ts'

const count = z.number().int()
const iso = timestampView

export const batchSummary = z
  .object({
    batch_id: z.string(),
    accepted: count,
    rejected_count: count,
    repeated_count: count.describe(
      'Accepted lines that had been submitted before: they stand for the same attestation.',
    ),
    created_at: iso,
    cancelled_at: iso.nullable(),
  })
  .meta({ id: 'BatchSummary' })

export const batchView = extended(
  batchSummary,
  {
    counts: z
      .object({ queued: count, running: count, evaluated: count, failed: count, cancelled: count })
      .meta({ id: 'BatchCounts', description: 'Accepted lines by state; their sum is `accepted`.' }),
    settled: count.describe('Lines that have ended: evaluated, failed or cancelled. At `accepted`, the batch is done.'),
    risk_histogram: z.object({ passed: count, review: count, failed: count }).meta({ id: 'RiskHistogram' }),
    rate_per_second: z.number().nullable().describe('Evaluations of the last half minute; null when there were none.'),
    estimated_finish_at: iso.nullable(),
    rejected: z.array(rejectedLineView),
  },
  { id: 'Batch' },
)

export const cancelView = extended(
  batchView,
  { cancelled: count.describe('Lines that this call has cancelled.') },
  { id: 'CancelledBatch' },
)

/** One line of the results. */
export const resultLine = extended(
  attestationView,
  {
    line: count,
    cursor: z.string().describe('Resumes after this line.'),
    is_repeat: z.boolean(),
  },
  { id: 'BatchResult' },
)

/** The last line of the results; a download without it is incomplete. */
export const resultEnd = z
  .object({
    object: z.literal('cursor'),
    next_cursor: z.string().nullable().describe('Goes on with the first line that had not ended; null when all have.'),
    is_complete: z.boolean(),
  })
  .meta({ id: 'BatchResultsEnd' })

export function toBatchSummary(row: BatchSummary): z.input<typeof batchSummary> {
  return {
    batch_id: row.id,
    accepted: row.accepted,
    rejected_count: row.rejectedCount,
    repeated_count: row.repeatedCount,
    created_at: row.createdAt.toISOString(),
    cancelled_at: row.cancelledAt?.toISOString() ?? null,
  }
}

export function toBatchView({ row, progress }: { row: BatchRow; progress: Progress }): z.input<typeof batchView> {
  const { states, settled, risks, ratePerSecond, estimatedFinishAt } = progress
  return {
    ...toBatchSummary(row),
    counts: states,
    settled,
    risk_histogram: risks,
    rate_per_second: ratePerSecond,
    estimated_finish_at: estimatedFinishAt?.toISOString() ?? null,
    rejected: row.rejected,
  }
}

export function toResultLine(row: LineRow, cursor: string, keys: KeySet): z.input<typeof resultLine> {
  return { line: row.line, cursor, is_repeat: row.isRepeat, ...toAttestationView(row, keys) }
}
