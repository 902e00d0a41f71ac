import { z } from 'zod'
import type { KeySet } from '#src/platform/crypto/signing-keys.ts'
import type { Rejection } from '#src/platform/http/bulk.ts'
import { rejectedLineView } from '#src/platform/http/rejection.ts'
import { extended, timestampView, workCountsView, workStatusView } from '#src/platform/http/views.ts'
import { attestationView, toAttestationView } from '../claims/views.ts'
import { type BatchCounts, type Progress, statusOf } from './progress.ts'
import type { BatchSummary, LineRow } from './rows.ts'

const count = z.number().int()
const iso = timestampView

export const batchSummary = z
  .object({
    batch_id: z.string(),
    status: workStatusView.describe('`cancelled`: the batch was cancelled, and all started lines have ended.'),
    failure: z.null().describe('A line that fails says why in its own attestation.'),
    accepted: count,
    counts: workCountsView.describe('Accepted lines by status; their sum is `accepted`.'),
    rejected_count: count,
    repeated_count: count.describe('Accepted lines that were submitted before: they return the same attestation.'),
    created_at: iso,
    cancelled_at: iso.nullable(),
  })
  .meta({ id: 'BatchSummary' })

export const batchView = extended(
  batchSummary,
  {
    settled: count.describe('Lines that have ended: succeeded, failed or cancelled. At `accepted`, the batch is done.'),
    risk_histogram: z.object({ passed: count, review: count, failed: count }).meta({ id: 'RiskHistogram' }),
    rate_per_second: z
      .number()
      .nullable()
      .describe('Evaluations per second in the last half minute; null when there were none.'),
    estimated_finish_at: iso.nullable(),
  },
  { id: 'Batch' },
)

export const submittedView = extended(
  batchView,
  { rejected: z.array(rejectedLineView).describe('Refused lines, later at `GET /v1/claims/batches/{id}/rejected`.') },
  { id: 'SubmittedBatch' },
)

export const cancelView = extended(
  batchView,
  { cancelled: count.describe('Number of lines that this call cancelled.') },
  { id: 'CancelledBatch' },
)

/** One line of the results. */
export const resultLine = extended(
  attestationView,
  {
    line: count,
    cursor: z.string().describe('Cursor that resumes after this line.'),
    is_repeat: z.boolean(),
  },
  { id: 'BatchResult' },
)

/** The last line of the results; a download without it is incomplete. */
export const resultEnd = z
  .object({
    object: z.literal('cursor'),
    next_cursor: z
      .string()
      .nullable()
      .describe('Cursor that continues with the first line that had not ended; null when all lines have ended.'),
    is_complete: z.boolean(),
  })
  .meta({ id: 'BatchResultsEnd' })

export function toBatchSummary(row: BatchSummary, counts: BatchCounts): z.input<typeof batchSummary> {
  return {
    batch_id: row.id,
    status: statusOf(counts, row),
    failure: null,
    accepted: row.accepted,
    counts,
    rejected_count: row.rejectedCount,
    repeated_count: row.repeatedCount,
    created_at: row.createdAt.toISOString(),
    cancelled_at: row.cancelledAt?.toISOString() ?? null,
  }
}

export function toBatchView({ row, progress }: { row: BatchSummary; progress: Progress }): z.input<typeof batchView> {
  const { counts, settled, risks, ratePerSecond, estimatedFinishAt } = progress
  return {
    ...toBatchSummary(row, counts),
    settled,
    risk_histogram: risks,
    rate_per_second: ratePerSecond,
    estimated_finish_at: estimatedFinishAt?.toISOString() ?? null,
  }
}

export function toSubmittedView(
  state: { row: BatchSummary; progress: Progress },
  rejected: readonly Rejection[],
): z.input<typeof submittedView> {
  return { ...toBatchView(state), rejected: [...rejected] }
}

export function toResultLine(row: LineRow, cursor: string, keys: KeySet): z.input<typeof resultLine> {
  return { line: row.line, cursor, is_repeat: row.isRepeat, ...toAttestationView(row, keys) }
}
