import { z } from 'zod'
import { timestampView } from '#src/platform/http/views.ts'
import { BOOT_STATES, SECURITY_LEVELS } from '../hardware/key-description.ts'
import {
  type AndroidFacts,
  APP_ENVIRONMENTS,
  type AppleFacts,
  EVIDENCE_REASON_CODES,
  PROVISIONINGS,
  USER_GATES,
} from '../hardware/verdict.ts'
import { hardwareTierView, listed } from '../judgement-views.ts'
import type { Device } from './devices.ts'

// What was stored by another version of the service is shown as it is.
const reasonCode = listed('HardwareReasonCode', EVIDENCE_REASON_CODES)

const androidView = z
  .object({
    security_level: listed('AndroidSecurityLevel', SECURITY_LEVELS),
    attestation_version: z.number(),
    keymint_version: z.number(),
    provisioning: listed('AndroidProvisioning', PROVISIONINGS).describe(
      'How the vendor’s key was provisioned in the device.',
    ),
    boot_state: listed('AndroidBootState', BOOT_STATES).nullable(),
    device_locked: z.boolean().nullable(),
    os_version: z.number().nullable(),
    os_patch_level: z.string().nullable(),
    vendor_patch_level: z.string().nullable(),
    boot_patch_level: z.string().nullable(),
    os_patch_age_days: z.number().nullable().describe('Age when the evidence was verified.'),
    user_authentication: listed('UserAuthentication', USER_GATES).describe(
      'How the key is unlocked, according to the hardware. `either`: the hardware does not tell which of the two.',
    ),
    auth_timeout_seconds: z.number().nullable(),
    packages: z.array(z.object({ name: z.string().nullable(), version: z.number() }).meta({ id: 'AndroidPackage' })),
    signing_digests: z.array(z.string()),
    brand: z.string().nullable(),
    model: z.string().nullable(),
  })
  .meta({ id: 'AndroidHardware' })

const appleView = z
  .object({
    app_attest_environment: listed('AppAttestEnvironment', APP_ENVIRONMENTS),
    app_id: z.string().nullable(),
    app_attest_key_id: z.string(),
    counter: z.number(),
  })
  .meta({ id: 'AppleHardware' })

/** What the server verified of a device's hardware, and the reasons for a lower tier. */
export const hardwareView = z
  .object({
    format: z.enum(['android-key', 'apple-appattest']).meta({ id: 'EvidenceFormat' }),
    proven_tier: hardwareTierView.describe(
      'Tier that the evidence proves; hardware_tier also takes the list of revoked keys into account.',
    ),
    reasons: z
      .array(z.object({ code: reasonCode, detail: z.string() }).meta({ id: 'HardwareReason' }))
      .describe('Empty when the evidence proved the tier.'),
    android: androidView.nullable(),
    apple: appleView.nullable(),
    verified_at: timestampView,
    revocation: z
      .object({
        status: z
          .enum(['good', 'stale', 'revoked', 'never_fetched', 'off', 'not_applicable'])
          .meta({ id: 'HardwareRevocationStatus' }),
        list_fetched_at: timestampView.nullable(),
        serial: z.string().nullable(),
        listed_as: z.string().nullable().describe('Status in the vendor’s list.'),
      })
      .meta({ id: 'HardwareRevocation', description: 'Revocation by the vendor’s list as last fetched.' }),
  })
  .meta({ id: 'Hardware' })

export function toHardwareView({ evidence, provenTier, revocation }: Device): z.input<typeof hardwareView> | null {
  if (evidence === null) return null
  const { format, reasons, facts, verifiedAt } = evidence
  return {
    format,
    proven_tier: provenTier,
    reasons,
    android: facts?.format === 'android-key' ? toAndroid(facts) : null,
    apple: facts?.format === 'apple-appattest' ? toApple(facts) : null,
    verified_at: verifiedAt,
    revocation: {
      status: revocation.state,
      list_fetched_at: 'fetchedAt' in revocation ? revocation.fetchedAt : null,
      serial: 'serial' in revocation ? revocation.serial : null,
      listed_as: 'status' in revocation ? revocation.status : null,
    },
  }
}

function toAndroid(facts: AndroidFacts): z.input<typeof androidView> {
  return {
    security_level: facts.securityLevel,
    attestation_version: facts.attestationVersion,
    keymint_version: facts.keyMintVersion,
    provisioning: facts.provisioning,
    boot_state: facts.bootState,
    device_locked: facts.isDeviceLocked,
    os_version: facts.osVersion,
    os_patch_level: facts.osPatchLevel,
    vendor_patch_level: facts.vendorPatchLevel,
    boot_patch_level: facts.bootPatchLevel,
    os_patch_age_days: facts.osPatchAgeDays,
    user_authentication: facts.userGate,
    auth_timeout_seconds: facts.authTimeoutSeconds,
    packages: facts.packages,
    signing_digests: facts.signingDigests,
    brand: facts.brand,
    model: facts.model,
  }
}

function toApple(facts: AppleFacts): z.input<typeof appleView> {
  return {
    app_attest_environment: facts.environment,
    app_id: facts.appId,
    app_attest_key_id: facts.keyId,
    counter: facts.counter,
  }
}
