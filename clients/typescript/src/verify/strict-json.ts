// Parses I-JSON (RFC 7493): what two parsers could read differently is refused. `JSON.parse` keeps the last of two equal
// names and rounds integers, so that a signature over the text would cover another value than the one that is read.

import { type Json, scanJson } from './json-scan.ts'
import { JsonError } from './json-tokens.ts'

export type { Json } from './json-scan.ts'
export { JsonError, type JsonErrorCode } from './json-tokens.ts'

export interface ParseOptions {
  /** Nested objects and arrays: 1 allows `[]`. 32 when absent. */
  maxDepth?: number
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
// With the flag u it matches no half of a pair.
const LONE_SURROGATE = /\p{Surrogate}/u

/** @throws {JsonError} */
export function parseJson(source: string | Uint8Array, { maxDepth = 32 }: ParseOptions = {}): Json {
  const text = typeof source === 'string' ? source : decode(source)
  scanJson(text, { maxDepth })
  // The scan finds escaped ones.
  if (hasLoneSurrogate(text)) throw new JsonError('lone_surrogate', { offset: text.search(LONE_SURROGATE) })
  // The scan checked every character, so this can't throw.
  return JSON.parse(text) as Json
}

/** Half of a character beyond U+FFFF, which UTF-8 can't express. */
export function hasLoneSurrogate(text: string): boolean {
  return !text.isWellFormed()
}

function decode(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes)
  } catch {
    throw new JsonError('invalid_utf8')
  }
}
