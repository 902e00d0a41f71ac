import type { AssertionCode } from '../hardware/apple.ts'
import type { Revocation } from '../hardware/revocations.ts'
import type { EvidenceReasonCode, HardwareTier, UserGate } from '../hardware/verdict.ts'
import type { Evidence } from '../media/declared.ts'
import type { MediaFacts } from '../media/media-facts.ts'
import type { VideoFacts } from '../video/facts.ts'

export type { HardwareTier }

/** What was verified of a device's hardware, as far as a capture of it is judged by that. */
export interface DeviceHardware {
  /** Why its evidence proved no more than it did; none: it proved the tier. */
  reasons: readonly EvidenceReasonCode[]
  /** What vendors' lists would name of the evidence. */
  serials?: readonly string[]
  /** By the vendor's list as it was known when this was judged. */
  revocation: Revocation
  /** How the hardware says the key must be unlocked; null where it says nothing about that. */
  userGate: UserGate | null
  authTimeoutSeconds: number | null
  /** Null for devices whose bundle key is attested itself: they have none to show. */
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

/** The signed statement of the capture device, as far as images are judged by it. */
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
 * Everything that a judgement of an image attestation depends on, and nothing that changes by itself: the same facts
 * give the same judgement whenever and however often they are judged.
 */
export interface Facts extends MediaFacts {
  /** When the submission was stored: staleness and revocation are measured from it, never from the evaluation. */
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
  /** Judged at `capturedAt`. Null without a bundle; no chain sent and none enrolled is `no_chain`. */
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
    /** The attestation that used the nonce: the judged one when the state is `accepted`. */
    consumedBy: string | null
    /** The device that the nonce was issued for, if for one. */
    deviceId: string | null
    /** The insurer's claim number that the nonce was issued for. Null, or left out: for any. */
    claimReference?: string | null
  } | null
  /** Null, or left out: the media is no video. */
  video?: VideoFacts | null
  /** What the latest screening with a score says of these bytes; left out: none has one. */
  screening?: readonly { code: 'ai_generated_likely' | 'deepfake_likely'; evidence: Evidence }[]
  /** Where the loss happened: as the submission says, or else its claim. */
  lossLocation: Position | null
  /** The place that was stated first for the claim, by whichever submission. Null, or left out: none was. */
  claimLossLocation?: Position | null
  policy: Policy
}

/** What the insurer's risk policy says. */
export interface Policy {
  /** 0, or left out: the defaults, as nobody has set one. */
  version?: number
  geofenceMetres: number
  thresholds: { review: number; failed: number }
  requireSessionNonce?: boolean
  requireAttestation?: boolean
  requireBiometric?: boolean
  requireGps?: boolean
}

/** What a bundle-dependent factor is judged on: without a bundle there is nothing that it could call. */
export type CapturedFacts = Facts & { bundle: BundleFacts }
