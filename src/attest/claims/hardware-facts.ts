// The hardware facts of one capture: what was verified of its device, whether the vendor's list still allows it, and
// whether the device's App Attest key signed this bundle.

import { sha256 } from '#src/platform/crypto/digest.ts'
import type { DeviceRow } from '../devices/rows.ts'
import type { AssertionFacts, DeviceHardware } from '../factors/facts.ts'
import { verifyAppleAssertion } from '../hardware/apple.ts'
import { lookUpRevocation, type RevocationSnapshot } from '../hardware/revocations.ts'
import { canonicalBundle } from './record.ts'
import type { Bundle, Submission } from './submission.ts'

/** The counter of a valid assertion. */
export interface CounterUse {
  deviceId: string
  /** SHA-256 of the App Attest key. */
  keyDigest: Buffer
  counter: number
}

/** What vendors' lists say at the time of the evaluation. */
export interface RevocationsAt {
  revocations: RevocationSnapshot
  now: Date
}

interface VerifiedHardware {
  hardware: DeviceHardware | null
  /** Only a valid signature uses up a counter; otherwise anyone could exhaust the counters of a device. */
  counterUse: CounterUse | undefined
}

export async function verifyHardware(
  device: DeviceRow,
  { bundle, assertion }: Submission,
  { revocations, now }: RevocationsAt,
): Promise<VerifiedHardware> {
  const { evidence, attestationSerials } = device
  if (evidence === null) return { hardware: null, counterUse: undefined }
  const { facts, reasons } = evidence
  const android = facts?.format === 'android-key' ? facts : undefined
  const asserted = bundle === undefined ? null : await verifyOwnAssertion(device, bundle, assertion)
  const hardware = {
    reasons: reasons.map(({ code }) => code),
    serials: attestationSerials,
    revocation: lookUpRevocation(attestationSerials, revocations, now),
    userGate: android?.userGate ?? null,
    authTimeoutSeconds: android?.authTimeoutSeconds ?? null,
    assertion: asserted?.facts ?? null,
  }
  return { hardware, counterUse: asserted?.counterUse }
}

async function verifyOwnAssertion(
  { id, attestKey, attestCounter, evidence }: DeviceRow,
  bundle: Bundle,
  assertion: string | undefined,
): Promise<{ facts: AssertionFacts; counterUse?: CounterUse } | null> {
  if (attestKey === null) return null
  if (assertion === undefined) return { facts: { state: 'missing', counter: null, usedBy: null } }
  const appId = evidence?.facts?.format === 'apple-appattest' ? evidence.facts.appId : null
  const verdict = await verifyAppleAssertion({
    assertion: Buffer.from(assertion, 'base64'),
    spki: attestKey,
    appId: appId ?? '',
    clientDataHash: sha256(canonicalBundle(bundle)),
    counterAbove: attestCounter ?? 0,
  })
  const { counter } = verdict
  if (!verdict.isValid) return { facts: { state: verdict.code, counter, usedBy: null } }
  return {
    facts: { state: 'valid', counter: verdict.counter, usedBy: null },
    counterUse: { deviceId: id, keyDigest: sha256(attestKey), counter: verdict.counter },
  }
}
