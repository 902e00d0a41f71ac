// Evaluates an attestation with pure functions over plain facts. A factor counts at most once by construction (one
// function per code), and an advisory code can't count at all (it has no points).

import type { Evidence } from '#src/attest/media/declared.ts'
import { declaredProvenance } from '../media/declared.ts'
import { judgeBiometric } from './biometric.ts'
import { judgeC2paAbsent, judgeC2paInvalid, judgeC2paValid } from './c2pa.ts'
import { judgeCarrierAttestation, judgeCarrierBiometric, judgeCarrierGps } from './carrier.ts'
import { judgeChain } from './chain.ts'
import { judgeDeviceEnrollment, judgeRevocation } from './device.ts'
import { judgeExifEditor, judgeExifPresence, judgeExifTime, observeExif } from './exif.ts'
import type { CapturedFacts, Facts, HardwareTier } from './facts.ts'
import { judgeFrames } from './frames.ts'
import { judgeGeofence } from './geofence.ts'
import { judgeGps } from './gps.ts'
import { judgeHardware, tierOf } from './hardware.ts'
import { judgeHash } from './hash.ts'
import { judgeLiveness } from './liveness.ts'
import { judgeManifest } from './manifest.ts'
import { judgeAiGenerated, judgeDeepfake } from './screening.ts'
import { judgeSession } from './session.ts'
import { judgeSignature } from './signature.ts'
import { judgeStaleness } from './staleness.ts'
import {
  ADVISORIES,
  type AdvisoryCode,
  type AdvisoryFactor,
  BREAKS_PROVENANCE,
  FACTOR_CODES,
  type FactorCode,
  RULES_VERSION,
  type ScoredFactor,
} from './table.ts'
import { judgeVideoManifest } from './video-manifest.ts'

export type ProvenanceStatus = 'verified' | 'attested_unverified' | 'unattested' | 'broken'
export type RiskStatus = 'passed' | 'review' | 'failed'

/** A finding of our own, in addition to the specification's codes. */
export interface Observation {
  code: string
  evidence: Evidence
}

export interface Judgement {
  provenanceStatus: ProvenanceStatus
  riskStatus: RiskStatus
  riskScore: number
  factors: ScoredFactor[]
  advisoryFactors: AdvisoryFactor[]
  hardwareTier: HardwareTier
  observations: Observation[]
  rulesVersion: string
}

/** What a claim takes over from one of its attestations. */
export interface AttestationStanding {
  provenanceStatus: ProvenanceStatus
  riskStatus: RiskStatus
  riskScore: number
  factors: readonly { code: FactorCode }[]
  advisoryFactors: readonly { code: AdvisoryCode }[]
}

export interface ClaimStanding {
  provenanceStatus: ProvenanceStatus
  riskStatus: RiskStatus
  riskScore: number
  factorCodes: FactorCode[]
  advisoryCodes: AdvisoryCode[]
}

/** The codes that need a bundle: `no_manifest` is about its absence. Some are for videos only. */
export type CaptureCode = Exclude<FactorCode, 'no_manifest'>

const CAPTURE_JUDGES: { readonly [C in CaptureCode]: (facts: CapturedFacts) => ScoredFactor<C> | null } = {
  device_revoked: judgeRevocation,
  session_nonce_mismatch: judgeSession,
  signature_invalid: judgeSignature,
  frame_hash_mismatch: judgeFrames,
  sensor_hash_mismatch: judgeHash,
  cert_unknown_ca: judgeChain,
  hardware_backing_absent: judgeHardware,
  liveness_check_failed: judgeLiveness,
  video_manifest_incomplete: judgeVideoManifest,
  gps_absent: judgeGps,
  timestamp_stale: judgeStaleness,
  device_not_enrolled: judgeDeviceEnrollment,
  biometric_absent: judgeBiometric,
}

const ADVISORY_JUDGES: { readonly [C in AdvisoryCode]: (facts: Facts) => AdvisoryFactor<C> | null } = {
  exif_missing: judgeExifPresence,
  exif_timestamp_mismatch: judgeExifTime,
  exif_editor_trace: judgeExifEditor,
  geofence_mismatch: judgeGeofence,
  c2pa_absent: judgeC2paAbsent,
  c2pa_invalid: judgeC2paInvalid,
  c2pa_present_valid: judgeC2paValid,
  carrier_policy_attestation_missing: judgeCarrierAttestation,
  carrier_policy_biometric_missing: judgeCarrierBiometric,
  carrier_policy_gps_missing: judgeCarrierGps,
  ai_generated_likely: judgeAiGenerated,
  deepfake_likely: judgeDeepfake,
}

const CAPTURE_CODES = FACTOR_CODES.filter((code): code is CaptureCode => code in CAPTURE_JUDGES)

// Best first, so that the worst has the highest rank.
const PROVENANCE_RANK = ['verified', 'attested_unverified', 'unattested', 'broken'] as const
const RISK_RANK = ['passed', 'review', 'failed'] as const

/** Evaluates one attestation. The same facts always give the same result. */
export function judge(facts: Facts): Judgement {
  const factors = judgeFactors(facts)
  const riskScore = scoreOf(factors)
  return {
    provenanceStatus: provenanceOf(facts, factors),
    riskStatus: statusOf(riskScore, facts.policy.thresholds),
    riskScore,
    factors,
    advisoryFactors: ADVISORIES.flatMap((code) => ADVISORY_JUDGES[code](facts) ?? []),
    hardwareTier: tierOf(facts),
    observations: [...declaredProvenance(facts), ...observeExif(facts)],
    rulesVersion: RULES_VERSION,
  }
}

/** A plain sum without a cap, of factors with points only. */
export function scoreOf(factors: readonly ScoredFactor[]): number {
  return factors.reduce((sum, factor) => sum + factor.points, 0)
}

/**
 * A claim's standing follows from those of its attestations: the highest score with its risk status, the worst
 * provenance, and all codes. Null as long as nothing has been evaluated.
 */
export function aggregate(standings: readonly AttestationStanding[]): ClaimStanding | null {
  if (standings.length === 0) return null
  // Not Math.max(...): a claim can have more attestations than a call may have arguments.
  const riskScore = standings.reduce((highest, standing) => Math.max(highest, standing.riskScore), 0)
  // Equal scores can differ in status when the thresholds were changed between two evaluations.
  const highest = standings.filter((standing) => standing.riskScore === riskScore)
  const factorCodes = new Set(standings.flatMap(({ factors }) => factors.map(({ code }) => code)))
  const advisoryCodes = new Set(standings.flatMap(({ advisoryFactors }) => advisoryFactors.map(({ code }) => code)))
  return {
    provenanceStatus: worst(
      PROVENANCE_RANK,
      standings.map((standing) => standing.provenanceStatus),
    ),
    riskStatus: worst(
      RISK_RANK,
      highest.map((standing) => standing.riskStatus),
    ),
    riskScore,
    factorCodes: FACTOR_CODES.filter((code) => factorCodes.has(code)),
    advisoryCodes: ADVISORIES.filter((code) => advisoryCodes.has(code)),
  }
}

// Without a bundle the facts for the other factors are unknown: one absence is not counted twice.
function judgeFactors(facts: Facts): ScoredFactor[] {
  const absent = judgeManifest(facts)
  if (absent !== null) return [absent]
  return hasBundle(facts) ? CAPTURE_CODES.flatMap((code) => CAPTURE_JUDGES[code](facts) ?? []) : []
}

function hasBundle(facts: Facts): facts is CapturedFacts {
  return facts.bundle !== null
}

function provenanceOf(facts: Facts, factors: readonly ScoredFactor[]): ProvenanceStatus {
  if (facts.bundle === null) return 'unattested'
  const codes = new Set(factors.map(({ code }) => code))
  if (factors.some(({ code }) => BREAKS_PROVENANCE[code])) return 'broken'
  return codes.has('cert_unknown_ca') || codes.has('device_not_enrolled') ? 'attested_unverified' : 'verified'
}

function statusOf(score: number, thresholds: Facts['policy']['thresholds']): RiskStatus {
  if (score >= thresholds.failed) return 'failed'
  return score >= thresholds.review ? 'review' : 'passed'
}

function worst<S extends string>(rank: readonly S[], statuses: readonly S[]): S {
  return statuses.reduce((worst, status) => (rank.indexOf(status) > rank.indexOf(worst) ? status : worst))
}
