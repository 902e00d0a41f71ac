// Bodies of one JSON value per line, read as they arrive: one line is in memory, whatever the body's size.

import type { Readable } from 'node:stream'
import { Failure } from '#src/failure.ts'

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
  let line = 0
  let count = 0
  let parts: Buffer[] = []
  let held = 0

  function take(part: Buffer): void {
    held += part.length
    // Bytes over the limit are counted, not kept.
    if (held <= maxLineBytes) parts.push(part)
    else parts = []
  }

  function finish(): Line | undefined {
    line += 1
    const bytes = held <= maxLineBytes ? withoutReturn(Buffer.concat(parts)) : undefined
    parts = []
    held = 0
    if (bytes !== undefined && isBlank(bytes)) return undefined
    count += 1
    if (count > maxLines) throw new Failure('payload_too_large', `The body has more than ${maxLines} lines.`)
    return { line, bytes }
  }

  for await (const chunk of stream as AsyncIterable<Buffer>) {
    let start = 0
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      take(chunk.subarray(start, end))
      start = end + 1
      const whole = finish()
      if (whole !== undefined) yield whole
    }
    take(chunk.subarray(start))
  }
  if (held > 0) {
    const last = finish()
    if (last !== undefined) yield last
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
