// The verdict on hardware evidence: plain data, one code per reason. A verdict depends only on its arguments, and a
// verifier throws for no input.

import type { BootState, SecurityLevel } from './key-description.ts'
import type { Revocation } from './revocations.ts'

/** none < software < tee < strongbox = secure_enclave. From `tee` on, a device is hardware-attested. */
export type HardwareTier = 'none' | 'software' | 'tee' | 'strongbox' | 'secure_enclave'

export type EvidenceFormat = 'android-key' | 'apple-appattest'

/**
 * Reasons for which evidence says nothing about this key: it is not by the vendor, not about this key, or not fresh.
 */
export const UNPROVEN = [
  'malformed',
  'ml_dsa_key',
  'chain_too_short',
  'chain_broken',
  'issuer_name_differs',
  'issuer_not_ca',
  'root_missing',
  'root_unknown',
  'not_yet_valid',
  'expired',
  'extension_missing',
  'extension_elsewhere',
  'extension_malformed',
  'nonce_mismatch',
  'key_id_mismatch',
  'counter_not_zero',
  'key_mismatch',
  'challenge_mismatch',
  'challenge_unknown',
  'challenge_expired',
  'challenge_used',
] as const

/** Reasons for which the vendor's statement about this key is not sufficient. */
const INSUFFICIENT = [
  'app_unknown',
  'app_environment',
  'levels_differ',
  'issuer_level_differs',
  'software_only',
  'key_not_generated',
  'root_of_trust_missing',
  'device_unlocked',
  'boot_not_verified',
] as const

/** Reasons from a vendor's current list: they appear and disappear without new evidence. */
export const REVOKED = ['revoked', 'revocation_unknown'] as const

export const EVIDENCE_REASON_CODES = [...UNPROVEN, ...INSUFFICIENT, ...REVOKED] as const

export type EvidenceReasonCode = (typeof EVIDENCE_REASON_CODES)[number]

export interface Reason {
  code: EvidenceReasonCode
  detail: string
}

export const USER_GATES = ['none', 'credential', 'biometric', 'either'] as const

/**
 * How the hardware requires a key to be unlocked. `either`: by biometric or by passcode, and the hardware doesn't say
 * which. `none`: not at all, or so long before that it gates no capture.
 */
export type UserGate = (typeof USER_GATES)[number]

/**
 * How the vendor's key came into the device: in the factory, or over the air (its certificates are then valid for weeks).
 */
export const PROVISIONINGS = ['factory', 'remote'] as const

export const APP_ENVIRONMENTS = ['production', 'development'] as const

export interface AndroidFacts {
  format: 'android-key'
  securityLevel: SecurityLevel
  attestationVersion: number
  keyMintVersion: number
  provisioning: (typeof PROVISIONINGS)[number]
  bootState: BootState | null
  isDeviceLocked: boolean | null
  osVersion: number | null
  /** YYYY-MM or YYYY-MM-DD. */
  osPatchLevel: string | null
  vendorPatchLevel: string | null
  bootPatchLevel: string | null
  /** Age at the time of the verification. */
  osPatchAgeDays: number | null
  userGate: UserGate
  authTimeoutSeconds: number | null
  packages: { name: string | null; version: number }[]
  /** SHA-256, lower-case hex. */
  signingDigests: string[]
  brand: string | null
  model: string | null
}

export interface AppleFacts {
  format: 'apple-appattest'
  environment: (typeof APP_ENVIRONMENTS)[number]
  /** Team and bundle identifier; null for an app that is not expected, of which only the digest is known. */
  appId: string | null
  /** Base64 of SHA-256 of the App Attest key. */
  keyId: string
  counter: number
}

export type HardwareFacts = AndroidFacts | AppleFacts

export interface EvidenceVerdict {
  format: EvidenceFormat
  /** The tier that counts now. */
  tier: HardwareTier
  /** The tier without regard to revocation lists. */
  provenTier: HardwareTier
  /** Empty: verified. */
  reasons: Reason[]
  /** Null where evidence proves nothing: its content is then unproven. */
  facts: HardwareFacts | null
  /** Serial numbers of the chain, as revocation lists name them. */
  serials: string[]
  revocation: Revocation
  /** Apple: the key that signs assertions (DER SubjectPublicKeyInfo). */
  attestKey: { spki: Buffer; counter: number } | null
}

const PROVES_NOTHING: ReadonlySet<EvidenceReasonCode> = new Set(UNPROVEN)

/** Whether the reasons still leave a vendor's statement about this very key. */
export function isProven(reasons: readonly { code: EvidenceReasonCode }[]): boolean {
  return !reasons.some(({ code }) => PROVES_NOTHING.has(code))
}

export function reason(code: EvidenceReasonCode, detail: string): Reason {
  return { code, detail }
}

/** A verdict about evidence that proves nothing. */
export function unproven(format: EvidenceFormat, ...reasons: Reason[]): EvidenceVerdict {
  return {
    format,
    tier: 'none',
    provenTier: 'none',
    reasons,
    facts: null,
    serials: [],
    revocation: { state: 'not_applicable' },
    attestKey: null,
  }
}
