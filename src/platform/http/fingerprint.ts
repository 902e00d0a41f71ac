// The SHA-256 of a request's body, by which an Idempotency-Key recognizes the same request: of JSON in its canonical form, of any
// other body as it is.

import { createHash } from 'node:crypto'
import { canonicalize, canonicalizeInSlices, type Json } from '#src/platform/crypto/canonical.ts'
import { sha256 } from '#src/platform/crypto/digest.ts'
import type { BodyOptions } from './body.ts'
import type { IdempotencyKey } from './idempotency.ts'
import type { LongStrings } from './long-strings.ts'

type Taken = LongStrings['taken']

/**
 * @param json undefined for a request without a body.
 * @param taken The long strings that were taken out of the body: each counts by its digest.
 */
export function fingerprintOf(json: Json | undefined, taken?: Taken): Buffer {
  return sha256(json === undefined ? '' : withDigests(canonicalize(json), taken))
}

/** The same fingerprint, of a large body. */
export async function fingerprintInSlices(json: Json | undefined, taken?: Taken): Promise<Buffer> {
  if (json === undefined) return fingerprintOf(json)
  const hash = createHash('sha256')
  await canonicalizeInSlices(json, (text) => hash.update(withDigests(text, taken)))
  return hash.digest()
}

/** Gives the key the fingerprint of a body that is not JSON, from its chunks. */
export function createFingerprintTap(key: Pick<IdempotencyKey, 'bodyIs'>): NonNullable<BodyOptions['tap']> {
  const hash = createHash('sha256')
  return { chunk: (bytes) => void hash.update(bytes), end: () => key.bodyIs(hash.digest()) }
}

// The token that replaces a long string is different each time.
function withDigests(text: string, taken: Taken = new Map()): string {
  let result = text
  for (const [token, { sha256: digest }] of taken) result = result.replace(token, `sha256:${digest.toString('hex')}`)
  return result
}
