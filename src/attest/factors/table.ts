import type { Evidence } from '../media/declared.ts'

/** Part of every result: raise it with any change of a code, a point, a tolerance or a comparison. */
export const RULES_VERSION = 'attest-rules/7'

/** Specification, Limits: the points that one factor can add. */
export type Points = 10 | 20 | 25 | 30 | 40 | 50 | 60 | 70 | 80

/**
 * Risk factors and their points (specification, Reason codes). The heaviest come first; results list their factors in
 * this order.
 */
export const FACTORS = {
  device_revoked: 80,
  session_nonce_mismatch: 70,
  signature_invalid: 70,
  no_manifest: 60,
  frame_hash_mismatch: 50,
  sensor_hash_mismatch: 50,
  cert_unknown_ca: 40,
  hardware_backing_absent: 40,
  liveness_check_failed: 40,
  video_manifest_incomplete: 40,
  gps_absent: 30,
  timestamp_stale: 25,
  device_not_enrolled: 20,
  biometric_absent: 10,
} as const satisfies Record<string, Points>

/** Whether a factor alone makes the provenance `broken`. */
export const BREAKS_PROVENANCE: Readonly<Record<FactorCode, boolean>> = {
  device_revoked: true,
  session_nonce_mismatch: true,
  signature_invalid: true,
  no_manifest: false,
  frame_hash_mismatch: true,
  sensor_hash_mismatch: true,
  cert_unknown_ca: false,
  hardware_backing_absent: false,
  liveness_check_failed: false,
  video_manifest_incomplete: true,
  gps_absent: false,
  timestamp_stale: false,
  device_not_enrolled: false,
  biometric_absent: false,
}

/** Codes that never count toward the score (specification, Reason codes). Results list them in this order. */
export const ADVISORIES = [
  'exif_missing',
  'exif_timestamp_mismatch',
  'exif_editor_trace',
  'geofence_mismatch',
  'c2pa_absent',
  'c2pa_invalid',
  'c2pa_present_valid',
  'carrier_policy_attestation_missing',
  'carrier_policy_biometric_missing',
  'carrier_policy_gps_missing',
  'ai_generated_likely',
  'deepfake_likely',
] as const

export type FactorCode = keyof typeof FACTORS
export type AdvisoryCode = (typeof ADVISORIES)[number]

// Object.keys of a literal with string keys keeps the order of writing (ECMA-262 OrdinaryOwnPropertyKeys).
export const FACTOR_CODES = Object.keys(FACTORS) as readonly FactorCode[]

/** A finding that counts. Only `scored` creates one, so its points are the table's. */
export interface ScoredFactor<C extends FactorCode = FactorCode> {
  code: C
  points: (typeof FACTORS)[C]
  evidence: Evidence
}

/** A finding that is shown and never counts: it has no points, and the types don't accept it as a scored factor. */
export interface AdvisoryFactor<C extends AdvisoryCode = AdvisoryCode> {
  code: C
  points?: never
  evidence: Evidence
}

export function scored<C extends FactorCode>(code: C, evidence: Evidence): ScoredFactor<C> {
  return { code, points: FACTORS[code], evidence }
}

export function advisory<C extends AdvisoryCode>(code: C, evidence: Evidence): AdvisoryFactor<C> {
  return { code, evidence }
}
