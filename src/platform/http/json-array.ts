// The elements of a JSON array, read as they arrive: one element is in memory at a time, and a bad element does not
// affect the others. Only the array's own commas and brackets are read here; the caller parses each element.

import type { Readable } from 'node:stream'
import { Failure } from '#src/failure.ts'
import { createSlice } from '#src/platform/slices.ts'
import { createLineBuffer, type Line, type LineLimits } from './ndjson.ts'

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const OPEN_ARRAY = 0x5b
const CLOSE_ARRAY = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d

// Some 0.3 ms to read.
const PIECE_BYTES = 16 * 1024

/**
 * Splits a JSON array into its elements, numbered from 1. An element's bytes may be anything, or empty.
 * @throws {Failure} `payload_too_large` above `maxBytes` or after `maxLines` elements; `invalid_json` when the body is
 * not one array; and whatever the stream fails with.
 */
export async function* readElements(
  stream: Readable,
  { maxLines, maxLineBytes, maxBytes }: LineLimits & { maxBytes: number },
): AsyncGenerator<Line, void> {
  let place = 'before' as 'before' | 'inside' | 'after'
  let isInString = false
  let isEscaped = false
  let depth = 0
  let line = 0
  const buffer = createLineBuffer(maxLineBytes)

  for await (const piece of piecesOf(stream, maxBytes)) {
    let start = 0
    for (let at = 0; at < piece.length; at += 1) {
      const byte = piece[at] ?? 0
      if (place !== 'inside') {
        if (isSpace(byte)) continue
        if (place === 'after') throw notAnArray('text follows the array')
        if (byte !== OPEN_ARRAY) throw notAnArray('it does not begin with [')
        place = 'inside'
        start = at + 1
      } else if (isInString) {
        if (isEscaped) isEscaped = false
        else if (byte === BACKSLASH) isEscaped = true
        else if (byte === QUOTE) isInString = false
      } else if (byte === QUOTE) {
        isInString = true
      } else if (byte === OPEN_ARRAY || byte === OPEN_OBJECT) {
        depth += 1
      } else if (byte === CLOSE_OBJECT || (byte === CLOSE_ARRAY && depth > 0)) {
        depth = Math.max(0, depth - 1)
      } else if (byte === CLOSE_ARRAY || (byte === COMMA && depth === 0)) {
        buffer.add(piece.subarray(start, at))
        start = at + 1
        if (byte === CLOSE_ARRAY) place = 'after'
        const bytes = buffer.take()
        const isEmptyArray = place === 'after' && line === 0 && bytes?.every(isSpace) === true
        if (isEmptyArray) continue
        line += 1
        if (line > maxLines) throw new Failure('payload_too_large', `The body has more than ${maxLines} elements.`)
        yield { line, bytes }
      }
    }
    if (place === 'inside') buffer.add(piece.subarray(start))
  }
  if (place !== 'after') throw notAnArray(place === 'before' ? 'it is empty' : 'it ends before the array does')
}

// Other requests get their turn between the pieces, many of which may be there at once.
async function* piecesOf(stream: Readable, maxBytes: number): AsyncGenerator<Buffer, void> {
  const slice = createSlice()
  let received = 0
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    received += chunk.length
    if (received > maxBytes) {
      throw new Failure('payload_too_large', `The body must not be larger than ${maxBytes} bytes.`)
    }
    for (let from = 0; from < chunk.length; from += PIECE_BYTES) {
      if (slice.isOver()) await slice.next()
      yield chunk.subarray(from, from + PIECE_BYTES)
    }
  }
}

function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09
}

function notAnArray(why: string): Failure {
  return new Failure('invalid_json', `The body is not one JSON array: ${why}.`)
}
