// The registry's NDJSON: one request per line, each checked on its own.

import type { Readable } from 'node:stream'
import type { z } from 'zod'
import type { FieldError } from '#src/failure.ts'
import type { JsonBodyLimits } from '#src/platform/http/body.ts'
import { parseLine } from '#src/platform/http/bulk.ts'
import type { Caller } from '#src/platform/http/endpoint.ts'
import { readLines } from '#src/platform/http/ndjson.ts'

export const LINES_TYPE = 'application/x-ndjson'

// A line needs 10. The schema reports each wrong value, and an import has 10,000 lines.
const LINE_LIMITS: JsonBodyLimits = { maxBytes: 64 * 1024, maxDepth: 8, maxValues: 500 }
export const MAX_IMPORT_LINES = 10_000
/** For the publishable sandbox keys, which anyone may hold. */
export const MAX_PUBLIC_IMPORT_LINES = 1_000
// Ten thousand chains of three certificates are 30 MB. A body may stay in memory until its last line has arrived.
export const MAX_IMPORT_BYTES = 64 * 1024 * 1024
// An invalid line needs no complete list of errors, and ten thousand of them must fit into one response.
const MAX_ERRORS_PER_LINE = 10

export type JsonLine<R> = { line: number } & ({ request: R } | { errors: FieldError[] })

export function maxLinesOf({ isAccountBearing }: Caller): number {
  return isAccountBearing ? MAX_IMPORT_LINES : MAX_PUBLIC_IMPORT_LINES
}

/**
 * Each line after the check of its shape. @throws {Failure} for more than `maxLines`, and for a body that is cut off.
 */
export async function* readJsonLines<S extends z.ZodType>(
  stream: Readable,
  maxLines: number,
  schema: S,
): AsyncGenerator<JsonLine<z.output<S>>> {
  for await (const { line, bytes } of readLines(stream, { maxLines, maxLineBytes: LINE_LIMITS.maxBytes })) {
    yield { line, ...readLine(bytes, schema) }
  }
}

function readLine<S extends z.ZodType>(
  bytes: Buffer | undefined,
  schema: S,
): { request: z.output<S> } | { errors: FieldError[] } {
  if (bytes === undefined) {
    return { errors: [{ pointer: '', code: 'too_large', detail: `has more than ${LINE_LIMITS.maxBytes} bytes` }] }
  }
  const parsed = parseLine(bytes, schema, LINE_LIMITS)
  return 'errors' in parsed ? { errors: parsed.errors.slice(0, MAX_ERRORS_PER_LINE) } : { request: parsed.value }
}
