// The only way in which JSON is read, and the only way in which it is hashed or signed. `canonicalize` writes what
// `parseJson` accepts, and `parseJson` accepts what `canonicalize` wrote: two readers of a signed body can't see two
// different bodies.

import { canonicalizeComputed as canonicalize } from '#client/verify/canonicalize.ts'
import { type Json, parseInPieces, type ScanOptions, scanJson } from '#client/verify/json-scan.ts'
import { JsonError } from '#client/verify/json-tokens.ts'
import { Failure, type FieldError } from '#src/failure.ts'
import { createSlice, runInSlices, type Slice } from '#src/platform/slices.ts'

export type { Json, JsonObject } from '#client/verify/json-scan.ts'
export { canonicalize }

export interface JsonLimits extends ScanOptions {
  maxBytes: number
  /** Maps an offset in the text, in bytes, to the caller's bytes. */
  offsetOf?: ((offset: number) => number) | undefined
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

/** The text of `canonicalize` for values of megabytes: given to `add` piece by piece, in slices. @throws {JsonError} as there. */
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
  try {
    scanJson(text, limits)
  } catch (error) {
    throw refusalOf(error, text, limits)
  }
  // The scan checked every byte, so this can't throw. The built-in parser makes strings that don't keep the body in
  // memory.
  return JSON.parse(text) as Json
}

/** `parseJson` for texts of megabytes, in slices. */
export async function parseJsonInSlices(bytes: Uint8Array, limits: JsonLimits): Promise<Json> {
  const text = decode(bytes, limits)
  try {
    return await runInSlices(parseInPieces(text, limits))
  } catch (error) {
    throw refusalOf(error, text, limits)
  }
}

// What the caller hears of a text that the scan refuses.
function refusalOf(error: unknown, text: string, { offsetOf = (offset) => offset }: JsonLimits): unknown {
  if (!(error instanceof JsonError)) return error
  const { code, pointer, detail, offset } = error
  if (offset === undefined) {
    const subject = pointer === '' ? 'The JSON' : pointer
    return new Failure('invalid_request', { detail: `${subject} ${detail}.`, errors: [{ pointer, code, detail }] })
  }
  return invalidJson({ code, pointer, detail }, offsetOf(Buffer.byteLength(text.slice(0, offset))))
}

/** `offset` is in bytes. */
function invalidJson({ code, pointer, detail }: FieldError, offset: number, cause?: unknown): Failure {
  const place = pointer === '' ? '' : ` in ${pointer}`
  return new Failure('invalid_json', {
    detail: `The JSON is refused at byte ${offset}${place}: ${detail}.`,
    errors: [{ pointer, code, detail: `${detail} (byte ${offset})` }],
    cause,
  })
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
