import { z } from 'zod'
import { documentMembers } from '#src/platform/http/documents.ts'
import { rejectedLineView } from '#src/platform/http/rejection.ts'
import { extended, timestampView, type WorkStatus, workCountsView, workStatusView } from '#src/platform/http/views.ts'
import { advisoryView, observationView } from '../judgement-views.ts'
import type { ScreeningBatchRow } from './batch-rows.ts'
import type { SubmittedScreeningBatch } from './batches.ts'
import { settingsDocument } from './requests.ts'
import { REASONS, type ScreeningReason, type ScreeningRow, type ScreeningStatus } from './rows.ts'
import { needsReview } from './thresholds.ts'

const iso = timestampView
const share = z.number().min(0).max(1)
const threshold = z.object({ review: share, likely: share }).meta({ id: 'ScreeningThreshold' })
const thresholds = z.object({ genai: threshold, deepfake: threshold }).meta({ id: 'ScreeningThresholds' })

export const screeningView = z
  .object({
    screening_id: z.string(),
    status: workStatusView,
    failure: z
      .object({ code: z.enum(REASONS).meta({ id: 'ScreeningFailureCode' }), detail: z.string() })
      .meta({ id: 'ScreeningFailure' })
      .nullable()
      .describe('Why there is no score; null when there is a score, or the screening has not ended.'),
    claim_id: z.string().nullable(),
    screening_batch_id: z.string().nullable(),
    batch_line: z.number().int().nullable(),
    media_id: z.string(),
    media_sha256: z.string(),
    genai_score: share.nullable().describe('Score from 0 to 1; null when the detector gave none.'),
    deepfake_score: share.nullable().describe('Score from 0 to 1; null when the detector gave none.'),
    models: z
      .array(z.object({ model: z.string(), score: share }).meta({ id: 'GeneratorScore' }))
      .describe('Scores of single generators, highest first.'),
    review_recommended: z.boolean().nullable().describe('A score is at or above `review`; null without a score.'),
    factors: z.array(advisoryView).describe('Advisory factors, which never count toward a risk score.'),
    observations: z
      .array(observationView)
      .describe('What the file itself declares about how it was made; not a score.'),
    detector: z
      .object({ name: z.string(), version: z.string(), thresholds })
      .meta({ id: 'ScreeningDetector' })
      .nullable()
      .describe('The detector that was asked, and the thresholds of the account at that time.'),
    is_cached: z.boolean().describe('true: the score is from an earlier screening of the same bytes.'),
    created_at: iso,
    completed_at: iso.nullable(),
    erased_at: iso.nullable(),
  })
  .meta({ id: 'Screening' })

export function toScreeningView(row: ScreeningRow): z.input<typeof screeningView> {
  const { detector: name, detectorVersion: version, thresholds } = row
  const scores = { genai: row.genaiScore, deepfake: row.deepfakeScore }
  return {
    screening_id: row.id,
    status: workStatusOf(row.status),
    failure: failureOf(row),
    claim_id: row.claimId,
    screening_batch_id: row.batchId,
    batch_line: row.batchLine,
    media_id: row.mediaId,
    media_sha256: row.mediaSha256.toString('hex'),
    genai_score: row.genaiScore,
    deepfake_score: row.deepfakeScore,
    models: row.models,
    review_recommended: thresholds === null ? null : needsReview(scores, thresholds),
    factors: row.factors,
    observations: row.observations,
    detector: name === null || version === null || thresholds === null ? null : { name, version, thresholds },
    is_cached: row.isCached,
    created_at: row.createdAt.toISOString(),
    completed_at: row.completedAt?.toISOString() ?? null,
    erased_at: row.erasedAt?.toISOString() ?? null,
  }
}

const STATUS_OF: Record<ScreeningStatus, WorkStatus> = {
  queued: 'queued',
  scored: 'succeeded',
  unavailable: 'failed',
  unsupported: 'failed',
}

function workStatusOf(status: ScreeningStatus): WorkStatus {
  return STATUS_OF[status]
}

/** The statuses of rows that a filter by these statuses finds. */
export function statusesOf(wanted: readonly WorkStatus[]): ScreeningStatus[] {
  return (Object.keys(STATUS_OF) as ScreeningStatus[]).filter((status) => wanted.includes(STATUS_OF[status]))
}

const FAILURES: Record<ScreeningReason, string> = {
  no_detector: 'This deployment has no detector.',
  detector_failed: 'The detector did not answer.',
  detector_refused: 'The detector refuses calls of this deployment.',
  detector_busy: 'The detector was busy for too long.',
  media_erased: 'The media were erased.',
  erased: 'The claim was erased.',
  video: 'The detector takes no videos.',
  content_type: 'The detector does not take this type of media.',
  too_large: 'The file is larger than the detector takes.',
  unreadable: 'The detector could not read the file.',
}

function failureOf({ status, reason }: ScreeningRow): z.input<typeof screeningView>['failure'] {
  return reason === null || workStatusOf(status) !== 'failed' ? null : { code: reason, detail: FAILURES[reason] }
}

const count = z.number().int()

export const screeningBatchView = z
  .object({
    screening_batch_id: z.string(),
    status: workStatusView,
    failure: z.null().describe('A line that fails says why in its own screening.'),
    accepted: count,
    rejected_count: count,
    counts: workCountsView.describe('Accepted lines by status; their sum is `accepted`.'),
    created_at: iso,
  })
  .meta({ id: 'ScreeningBatch' })

export const submittedView = extended(
  screeningBatchView,
  {
    rejected: z
      .array(rejectedLineView)
      .describe('Refused lines, later at `GET /v1/media/screenings/batches/{id}/rejected`.'),
  },
  { id: 'SubmittedScreeningBatch' },
)

export const screeningSettingsView = z.object(documentMembers(settingsDocument)).meta({ id: 'ScreeningSettings' })

export function toSubmittedView(batch: SubmittedScreeningBatch): z.input<typeof submittedView> {
  return { ...toScreeningBatchView(batch), rejected: batch.rejected }
}

export function toScreeningBatchView(row: ScreeningBatchRow): z.input<typeof screeningBatchView> {
  const { id, accepted, rejectedCount, counts, createdAt } = row
  const { queued, scored, unavailable, unsupported } = counts
  return {
    screening_batch_id: id,
    status: queued === 0 ? 'succeeded' : queued < accepted ? 'running' : 'queued',
    failure: null,
    accepted,
    rejected_count: rejectedCount,
    counts: { queued, running: 0, succeeded: scored, failed: unavailable + unsupported, cancelled: 0 },
    created_at: createdAt.toISOString(),
  }
}
