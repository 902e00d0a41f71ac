import type { CapturedFacts } from './facts.ts'
import { type ScoredFactor, scored } from './table.ts'

/** `signature_invalid`: a signature that could not be checked counts as invalid. */
export function judgeSignature({ signature }: CapturedFacts): ScoredFactor<'signature_invalid'> | null {
  if (signature?.isValid === true) return null
  return scored('signature_invalid', {
    compared: 'ECDSA signature over the canonical bundle',
    expected: 'valid',
    found: signature?.code ?? null,
    key_source: signature?.keySource ?? null,
  })
}
