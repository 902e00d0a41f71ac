// NDJSON of the registry: one request per line, each judged by itself.

import type { Readable } from 'node:stream'
import type { z } from 'zod'
import type { FieldError } from '#src/failure.ts'
import type { JsonBodyLimits } from '#src/platform/http/body.ts'
import { parseLine } from '#src/platform/http/bulk.ts'
import type { Caller } from '#src/platform/http/endpoint.ts'
import { readLines } from '#src/platform/http/ndjson.ts'

export const LINES_TYPE = 'application/x-ndjson'

// A line needs 10. The schema makes a finding of each value that is wrong, and an import has 10,000 lines.
const LINE_LIMITS: JsonBodyLimits = { maxBytes: 64 * 1024, maxDepth: 8, maxValues: 500 }
export const MAX_IMPORT_LINES = 10_000
/** For the publishable sandbox keys, which anyone may hold. */
export const MAX_PUBLIC_IMPORT_LINES = 1_000
// Ten thousand chains of three certificates are 30 MB. What is in a body may be in memory until its last line is there.
export const MAX_IMPORT_BYTES = 64 * 1024 * 1024
// A hopeless line needs no complete list, and ten thousand of them must fit into one answer.
const MAX_ERRORS_PER_LINE = 10

export type JsonLine<R> = { line: number } & ({ request: R } | { errors: FieldError[] })

export function maxLinesOf({ isAccountBearing }: Caller): number {
  return isAccountBearing ? MAX_IMPORT_LINES : MAX_PUBLIC_IMPORT_LINES
}

/** Each line as far as its shape goes. @throws {Failure} for more than `maxLines`, and for a body that breaks off. */
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
