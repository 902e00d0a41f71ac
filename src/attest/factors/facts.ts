import type { AssertionCode } from '../hardware/apple.ts'
import type { Revocation } from '../hardware/revocations.ts'
import type { EvidenceReasonCode, HardwareTier, UserGate } from '../hardware/verdict.ts'
import type { Evidence } from '../media/declared.ts'
import type { MediaFacts } from '../media/media-facts.ts'
import type { VideoFacts } from '../video/facts.ts'

export type { HardwareTier }

/** The verified facts of a device's hardware that an evaluation uses. */
export interface DeviceHardware {
  /** Why its evidence proved no more; empty: it proved the tier. */
  reasons: readonly EvidenceReasonCode[]
  /** The serial numbers that vendors' lists would name. */
  serials?: readonly string[]
  /** Revocation by the vendor's list at the time of the evaluation. */
  revocation: Revocation
  /** How the hardware requires the key to be unlocked; null where it says nothing about that. */
  userGate: UserGate | null
  authTimeoutSeconds: number | null
  /** Null for devices whose bundle key itself is attested: they make no assertions. */
  assertion: AssertionFacts | null
}

/** The capture's assertion by the device's App Attest key. */
export interface AssertionFacts {
  state: 'valid' | 'missing' | 'counter_reused' | AssertionCode
  counter: number | null
  /** The attestation that used the counter before. */
  usedBy: string | null
}

/** WGS 84, degrees. */
export interface Position {
  lat: number
  lng: number
}

/** The signed statement of the capture device, with the members that the factors use. */
export interface BundleFacts {
  capturedAt: Date
  /** SHA-256 of the media's bytes, lower-case hex. */
  sensorHash: string
  gps: (Position & { accuracyMetres: number; isMock: boolean }) | null
  biometric: { isGated: boolean; method: string | null } | null
  deviceId: string | null
  sessionNonce: string | null
}

/**
 * Everything that an evaluation of an image attestation depends on, and nothing that changes on its own: the same facts
 * give the same result, whenever and however often they are evaluated.
 */
export interface Facts extends MediaFacts {
  /**
   * When the submission was stored: staleness and revocation are measured from this time, never from the evaluation.
   */
  acceptedAt: Date
  bundle: BundleFacts | null
  media: { sha256: string; contentType: string; mediaType: 'image' | 'video' }
  /** The insurer's claim number in the submission. Null, or left out: it has none. */
  claimReference?: string | null
  /** Null without a bundle. */
  signature: {
    isValid: boolean
    code: 'valid' | 'mismatch' | 'no_key' | 'unsupported_key' | 'malformed'
    keySource: 'certificate' | 'device' | null
  } | null
  /** Checked at `capturedAt`. Null without a bundle; `no_chain` when none was sent and none is enrolled. */
  chain: {
    isTrusted: boolean
    code: string | null
    detail: string | null
    anchor: string | null
    subject: string | null
  } | null
  device: {
    id: string | null
    state: 'enrolled' | 'not_enrolled' | 'expired' | 'revoked'
    /** For example `unknown_id`, `key_differs`, `certificate_lapsed`, `no_device`. */
    why: string
    revokedAt: Date | null
    revokeEffectiveAt: Date | null
    /** What the server itself verified at enrollment. */
    hardwareTier: HardwareTier
    /** Null, or left out: no evidence was ever sent. */
    hardware?: DeviceHardware | null
  } | null
  /** Null when the bundle carries no nonce. */
  session: {
    nonce: string
    state: 'accepted' | 'unknown' | 'reused'
    issuedAt: Date | null
    expiresAt: Date | null
    /** The attestation that used the nonce: this one when the state is `accepted`. */
    consumedBy: string | null
    /** The device that the nonce was issued for, if any. */
    deviceId: string | null
    /** The insurer's claim number that the nonce was issued for. Null, or left out: for any. */
    claimReference?: string | null
  } | null
  /** Null, or left out: the media is no video. */
  video?: VideoFacts | null
  /** Factors of the latest screening with a score for these bytes; absent without such a screening. */
  screening?: readonly { code: 'ai_generated_likely' | 'deepfake_likely'; evidence: Evidence }[]
  /** The place of the loss: from the submission, otherwise from its claim. */
  lossLocation: Position | null
  /** The place that a submission first stated for the claim. Null, or left out: none did. */
  claimLossLocation?: Position | null
  policy: Policy
}

/** The insurer's risk policy. */
export interface Policy {
  /** 0, or left out: the defaults, because the account has set no policy. */
  version?: number
  geofenceMetres: number
  thresholds: { review: number; failed: number }
  requireSessionNonce?: boolean
  requireAttestation?: boolean
  requireBiometric?: boolean
  requireGps?: boolean
}

/** The input of a factor that needs a bundle: it never runs without one. */
export type CapturedFacts = Facts & { bundle: BundleFacts }
