import type { CapturedFacts } from './facts.ts'
import { type ScoredFactor, scored } from './table.ts'

/** `biometric_absent`: nothing gated the capture, or a passcode did, which is no biometric. */
export function judgeBiometric({ bundle: { biometric } }: CapturedFacts): ScoredFactor<'biometric_absent'> | null {
  if (biometric?.isGated === true && biometric.method !== 'passcode') return null
  return scored('biometric_absent', {
    compared: 'biometric gate of the capture',
    expected: 'gated',
    found: biometric === null ? null : biometric.isGated ? 'gated by passcode' : 'not gated',
    method: biometric?.method ?? null,
  })
}
