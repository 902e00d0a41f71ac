import { canonicalize, type Json } from '#src/platform/crypto/canonical.ts'
import type { Bundle } from './submission.ts'

const known = new WeakMap<Bundle, string>()

/**
 * The RFC 8785 text of a stored bundle: the bytes that the device signed, in whatever form they were sent. Each
 * signature check and the record need it, so it is computed once per bundle.
 */
export function canonicalBundle(bundle: Bundle): string {
  const before = known.get(bundle)
  if (before !== undefined) return before
  // A jsonb column yields plain JSON, although the type is wider.
  const text = canonicalize(bundle as unknown as Json)
  known.set(bundle, text)
  return text
}
