import type { CapturedFacts, Facts, HardwareTier } from './facts.ts'
import { type ScoredFactor, scored } from './table.ts'

const RANK: Record<HardwareTier, number> = { none: 0, software: 1, tee: 2, strongbox: 3, secure_enclave: 3 }

/** `hardware_backing_absent`: software at best, or no evidence that the server verified. */
export function judgeHardware(facts: CapturedFacts): ScoredFactor<'hardware_backing_absent'> | null {
  const tier = tierOf(facts)
  if (RANK[tier] > RANK.software) return null
  return scored('hardware_backing_absent', {
    compared: 'hardware tier that the server verified',
    expected: 'tee or better',
    found: tier,
    device_state: facts.device?.state ?? null,
  })
}

/** The tier of the capture: a device that is not (or no longer) in the registry lends its tier to nobody. */
export function tierOf({ bundle, device }: Facts): HardwareTier {
  const isKnown = bundle !== null && (device?.state === 'enrolled' || device?.state === 'revoked')
  return isKnown ? device.hardwareTier : 'none'
}
