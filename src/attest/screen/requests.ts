import { z } from 'zod'

/** Inline media is sent as base64 within a 20 MB body; larger files go through POST /v1/media. */
export const MAX_BODY_BYTES = 20 * 1024 * 1024

const id = z.string().min(1).max(64)
const claimId = id.optional().describe('A claim that gets the advisory codes of this screening.')
const mediaId = z.strictObject({ media_id: id }).meta({ id: 'MediaReference' })
const inline = z
  .strictObject({ content_type: z.string().min(1).max(128), data: z.base64().max(MAX_BODY_BYTES) })
  .meta({ id: 'InlineMedia' })

// Declared only to be refused with a message: a caller that sends a URL learns what to send instead.
const address = z
  .strictObject({ url: z.string().max(2_048) })
  .refine(() => false, {
    path: ['url'],
    message: 'is an address, which is not fetched: upload the media with POST /v1/media, or send them as data',
    params: { code: 'remote_media_refused' },
  })
  .meta({ id: 'MediaAddress', description: 'Always refused: media are not fetched from addresses.' })

export const screenRequest = z.strictObject({
  claim_id: claimId,
  media: z.union([mediaId, inline, address]),
})

/** Lines of a batch name media that are already stored. */
export const screenLine = z.strictObject({ claim_id: claimId, media_id: id }).meta({ id: 'ScreeningLine' })

const share = z.number().min(0).max(1)
const threshold = z
  .strictObject({
    review: share.describe('A score of at least this value recommends a review.'),
    likely: share.describe('A score of at least this value is an advisory factor.'),
  })
  .refine(({ review, likely }) => review <= likely, { path: ['review'], message: 'must not be above likely' })
  .meta({ id: 'ScreeningSettingsThreshold', verbatim: true })

/** The settings as they are sent and answered. */
export const settingsDocument = z
  .strictObject({
    thresholds: z
      .strictObject({ genai: threshold, deepfake: threshold })
      .meta({ id: 'ScreeningSettingsThresholds', verbatim: true }),
  })
  .meta({ id: 'ScreeningSettingsDocument', verbatim: true })

export type ScreenRequest = z.infer<typeof screenRequest>
export type ScreenLine = z.infer<typeof screenLine>
export type SettingsDocument = z.infer<typeof settingsDocument>
