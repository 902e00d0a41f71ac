// JSON objects of callers that are hashed, and that policies read: the payload of an action, its context and its evidence.

import { z } from 'zod'
import { invalidField } from '#src/failure.ts'
import { canonicalize, type Json, type JsonObject } from '#src/platform/crypto/canonical.ts'
import { isJsonObject } from '#src/platform/http/params.ts'

/** Size of each object as canonical JSON. */
export const MAX_JSON_BYTES = 64 * 1024
/** Levels of each. */
export const MAX_JSON_DEPTH = 32

// An object's schema would drop a member with the name `__proto__`, which is a part of what is hashed.
export const hashedObject = z
  .custom<JsonObject>(isJsonObject, { message: 'must be an object', abort: true, params: { code: 'invalid_type' } })
  .refine(isShallow, { message: `must have at most ${MAX_JSON_DEPTH} levels`, params: { code: 'too_deep' } })
  .meta({ type: 'object', description: 'At most 64 KiB as canonical JSON (RFC 8785) and 32 levels.' })

/** The canonical JSON of a value. @throws {Failure} `invalid_request` where it is too long. */
export function boundedText(pointer: string, value: Json): string {
  const text = canonicalize(value)
  if (Buffer.byteLength(text) <= MAX_JSON_BYTES) return text
  throw invalidField(pointer, 'too_long', `must have at most ${MAX_JSON_BYTES} bytes as canonical JSON`)
}

// The reader of bodies bounds the depth of what arrives here, so this recursion ends.
export function isShallow(value: Json): boolean {
  const depthOf = (node: Json): number => {
    if (typeof node !== 'object' || node === null) return 0
    let deepest = 0
    for (const member of Object.values(node)) deepest = Math.max(deepest, depthOf(member))
    return deepest + 1
  }
  return depthOf(value) <= MAX_JSON_DEPTH
}
