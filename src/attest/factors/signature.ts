import type { CapturedFacts } from './facts.ts'
import { type ScoredFactor, scored } from './table.ts'

/** `signature_invalid`: a signature that nothing could check counts as one that failed. */
export function judgeSignature({ signature }: CapturedFacts): ScoredFactor<'signature_invalid'> | null {
  if (signature?.isValid === true) return null
  return scored('signature_invalid', {
    compared: 'ECDSA signature over the canonical bundle',
    expected: 'valid',
    found: signature?.code ?? null,
    key_source: signature?.keySource ?? null,
  })
}
