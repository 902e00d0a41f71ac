// The exact findings that a verifier must report for each kind of capture. The figures come from the specification: a
// rehearsal that took them from the verifier would prove nothing.

/** The ways a capture is tampered with. Each except `honest` is detected by a factor, or by an advisory one. */
export const TAMPERINGS = [
  'wrong_hash',
  'wrong_signer',
  'unknown_ca',
  'not_enrolled',
  'revoked',
  'stale',
  'replayed_nonce',
  'no_gps',
  'no_biometric',
  'edited_exif',
  'missing_exif',
  'exif_time',
  'far_from_loss',
  'no_manifest',
] as const

export type Tampering = (typeof TAMPERINGS)[number]
export type CaptureKind = 'honest' | Tampering

/** What happens to a video's chunks in transit. */
export const VIDEO_KINDS = ['video', 'dropped_chunk', 'edited_chunk'] as const
export type VideoKind = (typeof VIDEO_KINDS)[number]

export interface Expectation {
  /** Codes that score, sorted. */
  factors: string[]
  /** Codes that never score, sorted. */
  advisoryFactors: string[]
  riskScore: number
  riskStatus: 'passed' | 'review' | 'failed'
  provenanceStatus: 'verified' | 'attested_unverified' | 'unattested' | 'broken'
}

/** Points of each factor that a rehearsal can raise (specification, Reason codes). */
export const POINTS: Readonly<Record<string, number>> = {
  signature_invalid: 70,
  sensor_hash_mismatch: 50,
  cert_unknown_ca: 40,
  device_not_enrolled: 20,
  device_revoked: 80,
  hardware_backing_absent: 40,
  no_manifest: 60,
  session_nonce_mismatch: 70,
  gps_absent: 30,
  biometric_absent: 10,
  timestamp_stale: 25,
  frame_hash_mismatch: 50,
  video_manifest_incomplete: 40,
}

/** `isProven`: the device enrolled with evidence of its hardware. */
export function expectationOf(kind: CaptureKind | VideoKind, isProven = false): Expectation {
  const { factors, advisory } = FINDINGS[kind]
  const all = kind === 'no_manifest' || isProven ? factors : [...factors, 'hardware_backing_absent']
  const riskScore = all.reduce((sum, code) => sum + (POINTS[code] ?? 0), 0)
  return {
    factors: [...all].sort(),
    advisoryFactors: [...advisory, ...ALWAYS].sort(),
    riskScore,
    riskStatus: riskScore >= FAILED_FROM ? 'failed' : riskScore >= REVIEW_FROM ? 'review' : 'passed',
    provenanceStatus: provenanceOf(all),
  }
}

/** How a result differs from the plan, one sentence each; empty means that it matches exactly. */
export function compareResult(expected: Expectation, result: FleetResult): string[] {
  const differences: string[] = []
  const compare = (name: string, planned: string | number, found: string | number | null | undefined): void => {
    if (planned === found) return
    differences.push(
      `${name}: planned ${planned === '' ? 'none' : planned}, found ${found === '' ? 'none' : (found ?? 'no answer')}`,
    )
  }
  compare('factors', expected.factors.join(' '), codes(result.factors))
  compare('advisory_factors', expected.advisoryFactors.join(' '), codes(result.advisory_factors))
  compare('risk_score', expected.riskScore, result.risk_score)
  compare('risk_status', expected.riskStatus, result.risk_status)
  compare('provenance_status', expected.provenanceStatus, result.provenance_status)
  return differences
}

/** The part of an attestation's result that a plan predicts. */
export interface FleetResult {
  factors?: readonly { code: string }[] | null
  advisory_factors?: readonly { code: string }[] | null
  risk_score?: number | null
  risk_status?: string | null
  provenance_status?: string | null
}

const REVIEW_FROM = 25
const FAILED_FROM = 50
/** The factors that make the provenance `broken`. */
export const BREAKING: readonly string[] = [
  'signature_invalid',
  'sensor_hash_mismatch',
  'frame_hash_mismatch',
  'video_manifest_incomplete',
  'session_nonce_mismatch',
  'device_revoked',
]
// Simulated phones write no C2PA manifest into their captures.
const ALWAYS = ['c2pa_absent']

interface Finding {
  factors: string[]
  advisory: string[]
}

// Every capture with a bundle has hardware_backing_absent if no hardware evidence of its device was verified: its tier
// is `none`. An absent bundle says nothing about its device, place or owner, so no_manifest stands alone.
const FINDINGS: Record<CaptureKind | VideoKind, Finding> = {
  honest: { factors: [], advisory: [] },
  wrong_hash: { factors: ['sensor_hash_mismatch'], advisory: [] },
  // Another key signed, but the submitted certificate is the enrolled device's: chain and registry find no fault.
  wrong_signer: { factors: ['signature_invalid'], advisory: [] },
  unknown_ca: { factors: ['cert_unknown_ca', 'device_not_enrolled'], advisory: [] },
  not_enrolled: { factors: ['device_not_enrolled'], advisory: [] },
  revoked: { factors: ['device_revoked'], advisory: [] },
  stale: { factors: ['timestamp_stale'], advisory: [] },
  replayed_nonce: { factors: ['session_nonce_mismatch'], advisory: [] },
  no_gps: { factors: ['gps_absent'], advisory: [] },
  no_biometric: { factors: ['biometric_absent'], advisory: [] },
  edited_exif: { factors: [], advisory: ['exif_editor_trace'] },
  missing_exif: { factors: [], advisory: ['exif_missing'] },
  exif_time: { factors: [], advisory: ['exif_timestamp_mismatch'] },
  far_from_loss: { factors: [], advisory: ['geofence_mismatch'] },
  no_manifest: { factors: ['no_manifest'], advisory: [] },
  video: { factors: [], advisory: [] },
  // The device signed a hash of the whole file too.
  dropped_chunk: { factors: ['sensor_hash_mismatch', 'video_manifest_incomplete'], advisory: [] },
  edited_chunk: { factors: ['frame_hash_mismatch', 'sensor_hash_mismatch'], advisory: [] },
}

function codes(factors: readonly { code: string }[] | null | undefined): string | undefined {
  return factors
    ?.map(({ code }) => code)
    .sort()
    .join(' ')
}

function provenanceOf(factors: string[]): Expectation['provenanceStatus'] {
  if (factors.includes('no_manifest')) return 'unattested'
  if (factors.some((code) => BREAKING.includes(code))) return 'broken'
  const isKnown = !factors.includes('cert_unknown_ca') && !factors.includes('device_not_enrolled')
  return isKnown ? 'verified' : 'attested_unverified'
}
