// The SHA-256 of a JSON body's canonical form, by which an Idempotency-Key recognizes the same request.

import { createHash } from 'node:crypto'
import { canonicalize, type Json } from '#src/platform/crypto/canonical.ts'
import { sha256 } from '#src/platform/crypto/digest.ts'
import { createSlice, type Slice } from '#src/platform/slices.ts'
import type { LongStrings } from './long-strings.ts'

type Taken = LongStrings['taken']

/** @param json undefined for a request without a body. */
export function fingerprintOf(json: Json | undefined, taken?: Taken): Buffer {
  return sha256(json === undefined ? '' : withDigests(canonicalize(json), taken))
}

/** The same fingerprint, of a large body. */
export async function fingerprintInSlices(json: Json | undefined, taken?: Taken): Promise<Buffer> {
  if (json === undefined) return fingerprintOf(json)
  const hash = createHash('sha256')
  await write(json, 0, { add: (text) => void hash.update(withDigests(text, taken)), slice: createSlice() })
  return hash.digest()
}

interface Output {
  add(text: string): void
  slice: Slice
}

// A list of 10,000 chunks has its elements at this depth: bundle, video_manifest, chunks.
const WHOLE_BELOW = 3
const PIECE_CHARACTERS = 16 * 1024

async function write(json: Json, depth: number, output: Output): Promise<void> {
  if (json === null || typeof json !== 'object' || depth > WHOLE_BELOW) return output.add(canonicalize(json))
  if (Array.isArray(json)) return writeArray(json, depth, output)
  output.add('{')
  let separator = ''
  // RFC 8785 3.2.3: sorted by UTF-16 code units, as `sort` compares.
  for (const name of Object.keys(json).sort()) {
    output.add(`${separator}${canonicalize(name)}:`)
    await write(json[name] as Json, depth + 1, output)
    separator = ','
  }
  output.add('}')
}

// Short elements are written together.
async function writeArray(elements: readonly Json[], depth: number, output: Output): Promise<void> {
  let text = '['
  for (const [index, element] of elements.entries()) {
    if (index > 0) text += ','
    if (depth === WHOLE_BELOW || element === null || typeof element !== 'object') text += canonicalize(element)
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

// The token that replaces a long string is different each time.
function withDigests(text: string, taken: Taken = new Map()): string {
  let result = text
  for (const [token, { sha256: digest }] of taken) result = result.replace(token, `sha256:${digest.toString('hex')}`)
  return result
}
