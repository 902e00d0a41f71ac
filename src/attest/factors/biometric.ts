import type { CapturedFacts } from './facts.ts'
import { isAttested, tierOf } from './hardware.ts'
import { type ScoredFactor, scored } from './table.ts'

/**
 * `biometric_absent`: nothing gated the capture, or a passcode did, which is no biometric. What the hardware enforces
 * takes precedence over the app's statement; where the hardware allows both, the app's statement decides.
 */
export function judgeBiometric(facts: CapturedFacts): ScoredFactor<'biometric_absent'> | null {
  const { biometric } = facts.bundle
  const gate = attestedGate(facts)
  if (gate === 'biometric') return null
  if (gate === 'none' || gate === 'credential') {
    return scored('biometric_absent', {
      compared: 'user authentication that the hardware enforces',
      expected: 'biometric',
      found: gate,
      auth_timeout_seconds: facts.device?.hardware?.authTimeoutSeconds ?? null,
      claimed: biometric?.method ?? (biometric?.isGated === true ? 'gated' : null),
    })
  }
  if (biometric?.isGated === true && biometric.method !== 'passcode') return null
  return scored('biometric_absent', {
    compared: 'biometric gate of the capture',
    expected: 'gated',
    found: biometric === null ? null : biometric.isGated ? 'gated by passcode' : 'not gated',
    method: biometric?.method ?? null,
  })
}

// Revoked or unproven evidence says nothing about the key that signed.
function attestedGate(facts: CapturedFacts) {
  return isAttested(tierOf(facts)) ? (facts.device?.hardware?.userGate ?? null) : null
}
