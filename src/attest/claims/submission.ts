// The attest body (specification, POST /v1/claims/attest) and the checks of it that need no rows.

import { z } from 'zod'
import { Failure, type FieldError } from '#src/failure.ts'
import type { FieldErrorCode } from '#src/field-errors.ts'
import { parseChain } from '#src/platform/crypto/x509.ts'
import { timestamp } from '#src/platform/http/params.ts'
import { checkId, type Environment } from '#src/platform/ids.ts'
import { manifest } from './video-manifest.ts'

/** Inline media is sent as base64 within a 20 MB body; larger files go through POST /v1/media. */
export const MAX_BODY_BYTES = 20 * 1024 * 1024
/**
 * The longest video manifest has 70,000 values; a hostile one of that size costs the schema 0.1 s, which is acceptable.
 */
export const MAX_BODY_VALUES = 72_000
// Without its media and its video chunks, a submission is at most as long as a line of a batch: a page of evidence has
// a hundred.
const MAX_SUBMISSION_BYTES = 64 * 1024
// How far a phone's clock may be ahead of the server's.
const MAX_FUTURE_MS = 5 * 60_000

// jsonb can't hold U+0000, and no name or number needs it.
const text = (max: number) =>
  z
    .string()
    .min(1)
    .max(max)
    .refine((value) => !value.includes('\u0000'), 'must not contain U+0000')
// A certificate of 16 KiB, the longest accepted; nothing else that devices send is as long.
const base64 = z.base64().max(22 * 1024)
const base64url = z.base64url().min(1).max(1_024)
// 40 characters hold picoseconds and an offset.
const submittedTime = timestamp.max(40)

const location = z
  .strictObject({
    lat: z.number().min(-90).max(90).describe('Degrees north, WGS 84.'),
    lng: z.number().min(-180).max(180).describe('Degrees east, WGS 84.'),
  })
  .meta({ id: 'SentPosition' })

const claim = z
  .strictObject({
    reference: text(255)
      .optional()
      .describe('The insurer’s claim number: attestations that share it belong to one claim.'),
    loss_location: location
      .optional()
      .describe('Where the loss happened. The first one of a claim stands for all of its captures.'),
    loss_at: submittedTime.optional(),
    line: text(64).optional(),
  })
  .meta({ id: 'CaptureClaim' })

const bundle = z
  .strictObject({
    version: z.literal(1),
    captured_at: submittedTime,
    sensor_hash: z.string().regex(/^[0-9a-fA-F]{64}$/, 'must be a SHA-256 in hex'),
    gps: location
      .extend({
        accuracy_m: z
          .number()
          .min(0)
          .max(1e7)
          .describe(
            'Required. Accuracy in metres that the system reports (68 % of fixes). A value above 20,000 is no fix.',
          ),
        mock: z
          .boolean()
          .optional()
          .describe('Whether the system says that the position came from a mock provider. false when absent.'),
      })
      .meta({ id: 'CapturePosition' })
      .nullish()
      .describe('Absent where there is no fix. Otherwise lat, lng and accuracy_m are required, and mock is optional.'),
    biometric: z
      .strictObject({
        gated: z.boolean(),
        method: z.enum(['face', 'fingerprint', 'passcode']).meta({ id: 'BiometricMethod' }).optional(),
      })
      .meta({ id: 'BiometricGate' })
      .nullish(),
    device_id: text(64).optional(),
    // The device's nonce is evaluated, not refused: a wrong one is a finding.
    session_nonce: text(256).optional(),
    video_manifest: manifest.optional(),
    attestation: z
      .strictObject({
        format: z.enum(['android-key', 'apple-appattest', 'none']).meta({ id: 'CaptureEvidenceFormat' }),
        chain: z.array(base64).max(8).optional(),
        object: base64.optional(),
      })
      .meta({ id: 'CaptureEvidence' })
      .optional()
      .describe(
        'Stored as signed and not evaluated: send evidence with the enrollment of the device (POST /v1/admin/devices).',
      ),
  })
  .meta({ id: 'CaptureBundle', verbatim: true })

const signature = z.strictObject({ alg: z.literal('ES256'), value: base64url }).meta({ id: 'CaptureSignature' })

const common = {
  external_id: text(255)
    .optional()
    .describe('Name of this submission: sending the same content again returns the same attestation.'),
  claim: claim.optional(),
  media_type: z.enum(['image', 'video']).meta({ id: 'MediaType' }),
  bundle: bundle.optional(),
  assertion: base64.optional(),
  certificate_chain: z.array(base64).min(1).optional(),
  signature: signature.optional(),
}

const mediaReference = z.strictObject({ media_id: text(64) }).meta({ id: 'MediaReference' })
const inlineMedia = z
  .strictObject({ content_type: text(128), data: z.base64().max(MAX_BODY_BYTES) })
  .meta({ id: 'InlineMedia' })

const streamReference = z
  .strictObject({
    capture_session_id: text(64).describe(
      'Capture session whose chunks are the media. The submission closes the session.',
    ),
  })
  .meta({ id: 'StreamReference' })

export const attestRequest = z
  .strictObject({
    ...common,
    media: z.union([mediaReference, inlineMedia, streamReference]),
  })
  .meta({ id: 'AttestClaimRequest' })
/** Lines of a batch name media that is already stored. */
export const batchLine = z.strictObject({ ...common, media: mediaReference }).meta({ id: 'BatchLine' })

export type AttestRequest = z.infer<typeof attestRequest>
/** `stream`: the capture session whose chunks became the media. Only we set it: the schema has no such member. */
export type BatchLine = z.infer<typeof batchLine> & { stream?: string | undefined }
export type Bundle = z.infer<typeof bundle>

/**
 * What is stored and evaluated: the body without its media. `bundle` is exactly as sent, because its signature covers
 * it.
 */
export interface Submission {
  claim?: z.infer<typeof claim> | undefined
  media_type: 'image' | 'video'
  bundle?: Bundle | undefined
  assertion?: string | undefined
  certificate_chain?: string[] | undefined
  signature?: z.infer<typeof signature> | undefined
  /** The capture session that the media was streamed to. */
  stream?: string | undefined
}

export function toSubmission(body: AttestRequest | BatchLine): Submission {
  const { claim, media_type, bundle, assertion, certificate_chain, signature } = body
  const stream = 'stream' in body ? body.stream : undefined
  return {
    claim,
    media_type,
    bundle,
    assertion,
    certificate_chain,
    signature,
    ...(stream === undefined ? {} : { stream }),
  }
}

/** Findings that a schema can't express; empty when the submission can be accepted. */
export function checkSubmission(
  body: AttestRequest | BatchLine,
  environment: Environment,
  nowMs: number,
): FieldError[] {
  const errors: FieldError[] = []
  const refuse = (pointer: string, code: FieldErrorCode, detail: string) => errors.push({ pointer, code, detail })

  const hasChunks = body.bundle?.video_manifest?.chunks !== undefined
  const text = JSON.stringify(toSubmission(body), hasChunks ? withoutChunks : undefined)
  if (Buffer.byteLength(text) > MAX_SUBMISSION_BYTES) {
    refuse('', 'too_large', `has more than ${MAX_SUBMISSION_BYTES} bytes beside its media`)
  }
  if (body.bundle?.video_manifest !== undefined && body.media_type !== 'video') {
    refuse('/bundle/video_manifest', 'unexpected', 'belongs to a video')
  }
  if (body.bundle !== undefined && body.signature === undefined) {
    refuse('/signature', 'required', 'is required with a bundle')
  }
  if (body.bundle === undefined && body.signature !== undefined) {
    refuse('/bundle', 'required', 'is required with a signature')
  }
  if (body.bundle && Date.parse(body.bundle.captured_at) > nowMs + MAX_FUTURE_MS) {
    refuse('/bundle/captured_at', 'in_future', 'lies more than 5 minutes in the future')
  }
  if (body.bundle?.device_id !== undefined) {
    errors.push(...findingsOfId(body.bundle.device_id, 'dev', '/bundle/device_id', environment))
  }
  if ('media_id' in body.media) {
    errors.push(...findingsOfId(body.media.media_id, 'med', '/media/media_id', environment))
  } else if ('capture_session_id' in body.media) {
    errors.push(...findingsOfId(body.media.capture_session_id, 'cap', '/media/capture_session_id', environment))
    if (body.media_type !== 'video')
      refuse('/media/capture_session_id', 'wrong_media_type', 'belongs to a video, not to an image')
  } else {
    const kind = /^\s*(image|video)\//i.exec(body.media.content_type)?.[1]?.toLowerCase()
    if (kind !== undefined && kind !== body.media_type) {
      refuse(
        '/media/content_type',
        'wrong_media_type',
        `belongs to ${ARTICLE[kind]}, not to ${ARTICLE[body.media_type]}`,
      )
    }
  }
  if (body.certificate_chain) {
    const chain = parseChain(body.certificate_chain.map((der) => Buffer.from(der, 'base64')))
    if (!chain.ok) {
      const place = chain.code === 'too_many' ? '/certificate_chain' : `/certificate_chain/${chain.index}`
      refuse(place, chain.code, chain.detail)
    }
  }
  return errors
}

const ARTICLE: Readonly<Record<string, string>> = { image: 'an image', video: 'a video' }

// Bounded on their own: at most 10,000 chunks, each of a few short fields.
const withoutChunks = (name: string, value: unknown): unknown => (name === 'chunks' ? undefined : value)

// An id of the other environment gets its own message; a malformed id is not found, for every caller.
function findingsOfId(
  id: string,
  type: 'dev' | 'med' | 'cap',
  pointer: string,
  environment: Environment,
): FieldError[] {
  try {
    checkId(id, type, environment)
    return []
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    // A malformed device id is a finding of the evaluation, like an unknown device.
    if (type === 'dev' && error.code === 'not_found') return []
    return [{ pointer, code: error.code, detail: error.message }]
  }
}
