import { canonicalize, type Json } from '#src/platform/crypto/canonical.ts'
import type { Bundle } from './submission.ts'

const known = new WeakMap<Bundle, string>()

/**
 * RFC 8785 text of a bundle as its row has it: what the device signed, however it travelled. Asked for by each check of a
 * signature and by the record, and written once.
 */
export function canonicalBundle(bundle: Bundle): string {
  const before = known.get(bundle)
  if (before !== undefined) return before
  // Out of a row comes plain JSON, whatever its type leaves open.
  const text = canonicalize(bundle as unknown as Json)
  known.set(bundle, text)
  return text
}
