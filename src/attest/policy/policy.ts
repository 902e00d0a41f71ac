// The insurer's requirements for captures and the weights of findings. Pure: schemas, defaults and the form that the
// factors read.

import { z } from 'zod'
import type { Policy } from '../factors/facts.ts'

/** Half of the earth's circumference: a fence of this size excludes nothing. */
const MAX_GEOFENCE_METRES = 20_037_508

const threshold = z.number().int().min(0).max(1_000)

/** The policy as it is sent, stored and answered. */
export const policyDocument = z
  .strictObject({
    require_attestation: z.boolean().describe('true: a photo without a signed bundle is noted.'),
    require_biometric: z.boolean().describe('true: a capture that no biometric gated is noted.'),
    require_gps: z.boolean().describe('true: a capture without a GPS fix is noted.'),
    require_session_nonce: z
      .boolean()
      .default(false)
      .describe('true: a bundle without a nonce raises session_nonce_mismatch, as it always does for video.'),
    thresholds: z
      .strictObject({ review: threshold, failed: threshold })
      .meta({ id: 'RiskThresholds', verbatim: true })
      .describe('Least score of a claim for review, and least score of a failed claim.'),
    geofence_m: z
      .number()
      .min(0)
      .max(MAX_GEOFENCE_METRES)
      .describe('Metres that a capture may be away from the loss, less its own accuracy.'),
  })
  .refine(({ thresholds: { review, failed } }) => review <= failed, {
    path: ['thresholds', 'review'],
    message: 'must not be above failed',
  })
  .meta({ id: 'RiskPolicyDocument', verbatim: true })

export type RiskPolicyDocument = z.output<typeof policyDocument>

/** Until an account sets its own: a score of 25 requires a review, and any single sign of tampering reaches 50. */
export const DEFAULT_POLICY: RiskPolicyDocument = {
  require_attestation: false,
  require_biometric: false,
  require_gps: false,
  require_session_nonce: false,
  thresholds: { review: 25, failed: 50 },
  geofence_m: 1_000,
}

/** The policy as the factors read it. `version` 0: the defaults. */
export function toPolicy(body: RiskPolicyDocument, version: number): Required<Policy> {
  return {
    version,
    geofenceMetres: body.geofence_m,
    thresholds: { review: body.thresholds.review, failed: body.thresholds.failed },
    requireSessionNonce: body.require_session_nonce,
    requireAttestation: body.require_attestation,
    requireBiometric: body.require_biometric,
    requireGps: body.require_gps,
  }
}
