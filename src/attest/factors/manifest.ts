import type { Facts } from './facts.ts'
import { type ScoredFactor, scored } from './table.ts'

/** `no_manifest`: the asset came without a signed bundle. */
export function judgeManifest(facts: Facts): ScoredFactor<'no_manifest'> | null {
  if (facts.bundle !== null) return null
  return scored('no_manifest', { compared: 'bundle', expected: 'signed bundle', found: null })
}
