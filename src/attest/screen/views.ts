import { z } from 'zod'
import { documentMembers } from '#src/platform/http/documents.ts'
import { rejectedLineView } from '#src/platform/http/rejection.ts'
import { advisoryView, observationView } from '../judgement-views.ts'
import type { ScreeningBatchRow } from './batch-rows.ts'
import { settingsDocument } from './requests.ts'
import { type ScreeningRow, STATUSES } from './rows.ts'
import { needsReview } from './thresholds.ts'

const iso = z.iso.datetime()
const share = z.number().min(0).max(1)
const threshold = z.object({ review: share, likely: share }).meta({ id: 'ScreeningThreshold' })
const thresholds = z.object({ genai: threshold, deepfake: threshold }).meta({ id: 'ScreeningThresholds' })

export const screeningView = z
  .object({
    screening_id: z.string(),
    status: z.enum(STATUSES).meta({ id: 'ScreeningStatus' }),
    reason: z.string().nullable().describe('Why there is no score: a code; null when there is one, or none yet.'),
    claim_id: z.string().nullable(),
    batch_id: z.string().nullable(),
    batch_line: z.number().int().nullable(),
    media_id: z.string(),
    media_sha256: z.string(),
    genai_score: share.nullable().describe('0 to 1; null unless the detector said it.'),
    deepfake_score: share.nullable().describe('0 to 1; null unless the detector said it.'),
    models: z.array(z.object({ model: z.string(), score: share })).describe('Of single generators, highest first.'),
    review_recommended: z.boolean().nullable().describe('A score is at or above `review`; null without a score.'),
    factors: z.array(advisoryView).describe('Advisory: they never count toward a risk score.'),
    observations: z
      .array(observationView)
      .describe('What the file itself declares about how it was made; not a score.'),
    detector: z
      .object({ name: z.string(), version: z.string(), thresholds })
      .nullable()
      .describe('The detector that was asked, and the thresholds of the account at that time.'),
    is_cached: z.boolean().describe('The score is of an earlier screening of the same bytes.'),
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
    status: row.status,
    reason: row.reason,
    claim_id: row.claimId,
    batch_id: row.batchId,
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

const count = z.number().int()

export const screeningBatchView = z
  .object({
    batch_id: z.string(),
    accepted: count,
    rejected: z.array(rejectedLineView),
    counts: z
      .object({ queued: count, scored: count, unavailable: count, unsupported: count })
      .describe('Accepted lines by status; their sum is `accepted`.'),
    created_at: iso,
  })
  .meta({ id: 'ScreeningBatch' })

export const screeningSettingsView = z.object(documentMembers(settingsDocument)).meta({ id: 'ScreeningSettings' })

export function toScreeningBatchView(row: ScreeningBatchRow): z.input<typeof screeningBatchView> {
  const { id, accepted, rejected, counts, createdAt } = row
  return { batch_id: id, accepted, rejected, counts, created_at: createdAt.toISOString() }
}
