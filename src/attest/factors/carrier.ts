// Requirements of the insurer's own policy. Advisory: the specification's factors have already scored a missing bundle,
// fix or biometric.

import { judgeBiometric } from './biometric.ts'
import type { CapturedFacts, Facts } from './facts.ts'
import { judgeGps } from './gps.ts'
import { type AdvisoryFactor, advisory } from './table.ts'

/** `carrier_policy_attestation_missing`: no signed bundle came with the media. */
export function judgeCarrierAttestation({
  bundle,
  policy,
}: Facts): AdvisoryFactor<'carrier_policy_attestation_missing'> | null {
  if (policy.requireAttestation !== true || bundle !== null) return null
  return advisory('carrier_policy_attestation_missing', {
    compared: 'attestation that the risk policy requires',
    expected: 'a signed bundle',
    found: null,
  })
}

/**
 * `carrier_policy_biometric_missing`: no bundle, or one not gated by a biometric, by the rule of `biometric_absent`.
 */
export function judgeCarrierBiometric(facts: Facts): AdvisoryFactor<'carrier_policy_biometric_missing'> | null {
  if (facts.policy.requireBiometric !== true) return null
  const absent = hasBundle(facts) ? judgeBiometric(facts)?.evidence.found : 'no bundle'
  if (absent === undefined) return null
  return advisory('carrier_policy_biometric_missing', {
    compared: 'biometric gate that the risk policy requires',
    expected: 'gated by a biometric',
    found: absent,
  })
}

/** `carrier_policy_gps_missing`: no bundle, or one without a fix, by the rule of `gps_absent`. */
export function judgeCarrierGps(facts: Facts): AdvisoryFactor<'carrier_policy_gps_missing'> | null {
  if (facts.policy.requireGps !== true) return null
  const absent = hasBundle(facts) ? judgeGps(facts)?.evidence.found : 'no bundle'
  if (absent === undefined) return null
  return advisory('carrier_policy_gps_missing', {
    compared: 'GPS fix that the risk policy requires',
    expected: 'a fix',
    found: absent,
  })
}

function hasBundle(facts: Facts): facts is CapturedFacts {
  return facts.bundle !== null
}
