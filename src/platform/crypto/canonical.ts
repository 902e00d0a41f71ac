// The only way in which JSON is read, and the only way in which it is hashed or signed. `canonicalize` writes what
// `parseJson` accepts, and `parseJson` accepts what `canonicalize` wrote: two readers of a signed body can't see two
// different bodies.

import serialize from 'canonicalize'
import { Failure } from '#src/failure.ts'
import { createSlice, runInSlices, type Slice } from '#src/platform/slices.ts'
import { parseInPieces, type ScanOptions, scanJson } from './json-scan.ts'
import { invalidJson } from './json-tokens.ts'

export type Json = null | boolean | number | string | Json[] | JsonObject
export type JsonObject = { [name: string]: Json }

export interface JsonLimits extends ScanOptions {
  maxBytes: number
}

// Far above any limit that a route sets, and it ends a cycle long before the stack overflows.
const MAX_CANONICAL_DEPTH = 1_000

/**
 * RFC 8785 text of a value; its UTF-8 bytes are hashed and signed.
 * @throws {TypeError} on values that JSON can't express: NaN and infinities, lone surrogates (also in keys), undefined,
 * functions, bigints, symbols, dates and other class instances, more than 1,000 levels or a cycle.
 */
export function canonicalize(value: Json): string {
  checkValue(value, 0)
  return serialize(value) as string
}

// A value below this depth is written whole, and so is each element of a list that has MANY_ELEMENTS: member by member, a list of
// 10,000 chunks would take 80,000 steps.
const WHOLE_BELOW = 3
const MANY_ELEMENTS = 50
const PIECE_CHARACTERS = 16 * 1024

interface Pieces {
  add(text: string): void
  slice: Slice
}

/** The text of `canonicalize` for values of megabytes: given to `add` piece by piece, in slices. @throws {TypeError} as there. */
export async function canonicalizeInSlices(value: Json, add: (text: string) => void): Promise<void> {
  await write(value, 0, { add, slice: createSlice() })
}

async function write(value: Json, depth: number, output: Pieces): Promise<void> {
  if (value === null || typeof value !== 'object' || depth > WHOLE_BELOW) return output.add(canonicalize(value))
  if (Array.isArray(value)) return writeArray(value, depth, output)
  output.add('{')
  let separator = ''
  // RFC 8785 3.2.3: sorted by UTF-16 code units, as `sort` compares.
  for (const name of Object.keys(value).sort()) {
    output.add(`${separator}${canonicalize(name)}:`)
    await write(value[name] as Json, depth + 1, output)
    separator = ','
  }
  output.add('}')
}

// Short elements are written together.
async function writeArray(elements: readonly Json[], depth: number, output: Pieces): Promise<void> {
  const areWhole = depth === WHOLE_BELOW || elements.length >= MANY_ELEMENTS
  let text = '['
  for (const [index, element] of elements.entries()) {
    if (index > 0) text += ','
    if (areWhole || element === null || typeof element !== 'object') text += canonicalize(element)
    else {
      output.add(text)
      text = ''
      await write(element, depth + 1, output)
    }
    if (text.length < PIECE_CHARACTERS) continue
    output.add(text)
    text = ''
    if (output.slice.isOver()) await output.slice.next()
  }
  output.add(`${text}]`)
}

/**
 * Parses I-JSON (RFC 7493), stricter than `JSON.parse`: UTF-8 without a byte order mark, no duplicate names (compared
 * after unescaping), no lone surrogates, and no number whose value would change on the way through a double: integers
 * stay within ±(2^53 - 1). Numbers from 1e21 on, which RFC 8785 writes with an exponent, are accepted when a double
 * holds their digits. `__proto__` is an ordinary own property.
 * @throws {Failure} `payload_too_large` above `maxBytes`; else `invalid_json` with the byte offset in `detail` and one
 * entry in `errors`: its pointer is the nearest known place, its code one of `malformed`, `invalid_utf8`,
 * `duplicate_key`, `lone_surrogate`, `number_out_of_range`, `too_deep`.
 */
export function parseJson(bytes: Uint8Array, limits: JsonLimits): Json {
  const text = decode(bytes, limits)
  scanJson(text, limits)
  // The scan checked every byte, so this can't throw. The built-in parser makes strings that don't keep the body in
  // memory.
  return JSON.parse(text) as Json
}

/** `parseJson` for texts of megabytes, in slices. */
export async function parseJsonInSlices(bytes: Uint8Array, limits: JsonLimits): Promise<Json> {
  return runInSlices(parseInPieces(decode(bytes, limits), limits))
}

function checkValue(value: unknown, depth: number): void {
  switch (typeof value) {
    case 'boolean':
      return
    case 'string':
      if (!value.isWellFormed()) throw new TypeError('a string has a lone surrogate')
      return
    case 'number':
      if (!Number.isFinite(value)) throw new TypeError(`${value} is not a JSON number`)
      return
    case 'object':
      if (value !== null) checkContainer(value, depth)
      return
    default:
      throw new TypeError(`${typeof value} is not a JSON value`)
  }
}

function checkContainer(value: object, depth: number): void {
  if (depth >= MAX_CANONICAL_DEPTH) throw new TypeError(`more than ${MAX_CANONICAL_DEPTH} levels, or a cycle`)
  if (Array.isArray(value)) {
    for (const element of value) checkValue(element, depth + 1)
    return
  }
  const prototype = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null) throw new TypeError('only plain objects are JSON')
  for (const [key, member] of Object.entries(value)) {
    if (!key.isWellFormed()) throw new TypeError('a key has a lone surrogate')
    checkValue(member, depth + 1)
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const lenientUtf8 = new TextDecoder('utf-8', { ignoreBOM: true })

function decode(bytes: Uint8Array, { maxBytes, offsetOf = (offset) => offset }: JsonLimits): string {
  if (bytes.byteLength > maxBytes) {
    throw new Failure('payload_too_large', `The JSON has ${bytes.byteLength} bytes; at most ${maxBytes} are read.`)
  }
  try {
    return utf8.decode(bytes)
  } catch (cause) {
    const finding = { pointer: '', code: 'invalid_utf8', detail: 'the bytes are not UTF-8' } as const
    throw invalidJson(finding, offsetOf(firstInvalidByte(bytes)), cause)
  }
}

const BLOCK_BYTES = 4_096

// A decoder doesn't report where it stopped. The first invalid byte is where the re-encoded text, with its replacement
// characters, differs from the bytes. Blocks first: reading megabytes byte by byte blocks the event loop.
function firstInvalidByte(bytes: Uint8Array): number {
  const repaired = Buffer.from(lenientUtf8.decode(bytes))
  let start = 0
  while (start < bytes.length) {
    const end = start + BLOCK_BYTES
    if (repaired.subarray(start, end).compare(bytes.subarray(start, end)) !== 0) break
    start = end
  }
  const index = bytes.subarray(start, start + BLOCK_BYTES).findIndex((byte, i) => byte !== repaired[start + i])
  return index === -1 ? bytes.length : start + index
}
