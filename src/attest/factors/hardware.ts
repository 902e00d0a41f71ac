import type { Json } from '#src/platform/crypto/canonical.ts'
import { isEvidenceCounted } from '../hardware/revocations.ts'
import type { CapturedFacts, Facts, HardwareTier } from './facts.ts'
import { type ScoredFactor, scored } from './table.ts'

const RANK: Record<HardwareTier, number> = { none: 0, software: 1, tee: 2, strongbox: 3, secure_enclave: 3 }

/** `hardware_backing_absent`: at best software, or no evidence that the server verified and that is still valid. */
export function judgeHardware(facts: CapturedFacts): ScoredFactor<'hardware_backing_absent'> | null {
  const tier = tierOf(facts)
  if (isAttested(tier)) return null
  return scored('hardware_backing_absent', {
    compared: 'hardware tier that the server verified',
    expected: 'tee or better',
    found: tier,
    device_state: facts.device?.state ?? null,
    ...whyOf(facts),
  })
}

/**
 * The tier of the capture. A device that is not (or no longer) in the registry gives no tier, evidence below a revoked
 * key proves nothing, and an App Attest key must have signed this very bundle.
 */
export function tierOf({ bundle, device }: Facts): HardwareTier {
  const isKnown = bundle !== null && (device?.state === 'enrolled' || device?.state === 'revoked')
  if (!isKnown) return 'none'
  const { hardware, hardwareTier } = device
  if (hardware == null) return hardwareTier
  const isAsserted = hardware.assertion === null || hardware.assertion.state === 'valid'
  return isEvidenceCounted(hardware.revocation) && isAsserted ? hardwareTier : 'none'
}

export function isAttested(tier: HardwareTier): boolean {
  return RANK[tier] > RANK.software
}

function whyOf({ device }: CapturedFacts): Record<string, Json> {
  const isKnown = device?.state === 'enrolled' || device?.state === 'revoked'
  if (!isKnown) return { why: 'device_not_in_registry' }
  const { hardware, hardwareTier } = device
  if (hardware == null) return { why: 'no_evidence' }
  if (!isAttested(hardwareTier)) return { why: 'evidence_insufficient', reasons: [...hardware.reasons] }
  const { revocation, assertion } = hardware
  if (revocation.state === 'revoked') {
    return { why: 'vendor_key_revoked', serial: revocation.serial, status: revocation.status }
  }
  if (!isEvidenceCounted(revocation)) return { why: 'revocation_list_never_fetched' }
  return {
    why: `assertion_${assertion?.state ?? 'missing'}`,
    counter: assertion?.counter ?? null,
    used_by: assertion?.usedBy ?? null,
  }
}
