// The canonical JSON of RFC 8785: one text for each value. Its SHA-256 is the `payload_hash` of a token.

import { hasLoneSurrogate, type Json, JsonError, type ParseOptions, parseJson } from './strict-json.ts'

// Far above what the service accepts, and it ends a cycle long before the stack overflows.
const MAX_DEPTH = 1_000

/**
 * @throws {JsonError} on what I-JSON can't express: NaN and infinities, integers that a double may have rounded, lone
 * surrogates, undefined, functions, dates and other class instances, cycles.
 */
export function canonicalize(value: Json): string {
  return write(value, 0, writeExact)
}

/** Accepts integers beyond 2^53 too: what a program counted itself was not rounded on its way here. @throws {JsonError} like `canonicalize`. */
export function canonicalizeComputed(value: Json): string {
  return write(value, 0, writeNumber)
}

/** The canonical form of a JSON text. @throws {JsonError} */
export function canonicalizeJson(source: string | Uint8Array, options?: ParseOptions): string {
  return canonicalize(parseJson(source, options))
}

// Loops take half the time of map and join.
function write(value: unknown, depth: number, ofNumber: (number: number) => string): string {
  if (typeof value === 'string') return writeString(value)
  if (value === null || typeof value === 'boolean') return String(value)
  if (typeof value === 'number') return ofNumber(value)
  if (typeof value !== 'object') throw new JsonError('malformed')
  if (depth >= MAX_DEPTH) throw new JsonError('too_deep')
  let text = ''
  if (Array.isArray(value)) {
    // Also visits holes, which are refused.
    for (const element of value) text += `${text && ','}${write(element, depth + 1, ofNumber)}`
    return `[${text}]`
  }
  const prototype = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null) throw new JsonError('malformed')
  // RFC 8785 3.2.3: names in the order of their UTF-16 code units, which is how strings compare.
  for (const name of Object.keys(value).sort()) {
    const member = write((value as Record<string, unknown>)[name], depth + 1, ofNumber)
    text += `${text && ','}${writeString(name)}:${member}`
  }
  return `{${text}}`
}

function writeString(text: string): string {
  if (hasLoneSurrogate(text)) throw new JsonError('lone_surrogate')
  return JSON.stringify(text)
}

function writeExact(number: number): string {
  const isRounded = Number.isInteger(number) && !Number.isSafeInteger(number) && Math.abs(number) < 1e21
  if (isRounded) throw new JsonError('number_out_of_range')
  return writeNumber(number)
}

function writeNumber(number: number): string {
  if (!Number.isFinite(number)) throw new JsonError('number_out_of_range')
  return JSON.stringify(number)
}
