// Bodies of one JSON value per line, read as they arrive: one line is in memory, whatever the body's size.

import type { Readable } from 'node:stream'
import { Failure } from '#src/failure.ts'

export const NDJSON_TYPE = 'application/x-ndjson'

export interface Line {
  /** From 1, as an editor counts: empty lines count too, although they are skipped. */
  line: number
  /** Without its line end. Undefined when the line is longer than `maxLineBytes`. */
  bytes: Buffer | undefined
}

export interface LineLimits {
  maxLines: number
  maxLineBytes: number
}

/**
 * Splits a body into its non-empty lines.
 * @throws {Failure} `payload_too_large` after `maxLines` lines; and whatever the stream fails with.
 */
export async function* readLines(stream: Readable, { maxLines, maxLineBytes }: LineLimits): AsyncGenerator<Line, void> {
  const buffer = createLineBuffer(maxLineBytes)
  let line = 0
  let count = 0

  function finish(): Line | undefined {
    line += 1
    const whole = buffer.take()
    const bytes = whole && withoutReturn(whole)
    if (bytes !== undefined && isBlank(bytes)) return undefined
    count += 1
    if (count > maxLines) throw new Failure('payload_too_large', `The body has more than ${maxLines} lines.`)
    return { line, bytes }
  }

  for await (const chunk of stream as AsyncIterable<Buffer>) {
    let start = 0
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      buffer.add(chunk.subarray(start, end))
      start = end + 1
      const whole = finish()
      if (whole !== undefined) yield whole
    }
    buffer.add(chunk.subarray(start))
  }
  if (buffer.size() > 0) {
    const last = finish()
    if (last !== undefined) yield last
  }
}

/** Collects the bytes of one line, or of one element of an array. */
export function createLineBuffer(maxBytes: number) {
  let parts: Buffer[] = []
  let size = 0
  return {
    size: () => size,
    add(part: Buffer): void {
      size += part.length
      // Bytes over the limit are counted, not kept.
      if (size <= maxBytes) parts.push(part)
      else parts = []
    },
    /** What was added since the last call; undefined when it is longer than `maxBytes`. */
    take(): Buffer | undefined {
      const whole = size <= maxBytes ? Buffer.concat(parts) : undefined
      parts = []
      size = 0
      return whole
    },
  }
}

const NEWLINE = 0x0a
const RETURN = 0x0d

function withoutReturn(bytes: Buffer): Buffer {
  return bytes.at(-1) === RETURN ? bytes.subarray(0, -1) : bytes
}

function isBlank(bytes: Buffer): boolean {
  return bytes.every((byte) => byte === 0x20 || byte === 0x09 || byte === RETURN)
}
