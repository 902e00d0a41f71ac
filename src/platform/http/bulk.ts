// Bodies of many requests, one per line or array element. Each is parsed and refused separately, and the report of the
// refused ones stays small.

import type { Readable } from 'node:stream'
import type { z } from 'zod'
import { Failure, type FieldError } from '#src/failure.ts'
import { type JsonBodyLimits, parseJsonBody } from './body.ts'
import { readLines } from './ndjson.ts'
import { parseWith } from './validate.ts'

/** A line after the check of its shape. */
export type ParsedLine<Value> = { value: Value } | { errors: FieldError[] }

/** @param bytes Undefined for a line that was longer than `limits.maxBytes`. */
export function parseLine<S extends z.ZodType>(
  bytes: Buffer | undefined,
  schema: S,
  limits: JsonBodyLimits,
): ParsedLine<z.output<S>> {
  if (bytes === undefined) {
    return { errors: [{ pointer: '', code: 'too_long', detail: `is longer than ${limits.maxBytes} bytes` }] }
  }
  try {
    const parsed = parseWith(schema, parseJsonBody(bytes, limits), 'body')
    // The schema has just accepted it as this type.
    return parsed.ok
      ? { value: parsed.value as z.output<S> }
      : { errors: parsed.errors.slice(0, MAX_FINDINGS_PER_LINE) }
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    return { errors: error.errors ?? [{ pointer: '', code: error.code, detail: error.message }] }
  }
}

/**
 * Each line of an NDJSON body after the check of its shape, as it arrives.
 * @throws {Failure} for more than `maxLines`, and for a body that is cut off.
 */
export async function* parseLines<S extends z.ZodType>(
  stream: Readable,
  schema: S,
  { maxLines, ...limits }: JsonBodyLimits & { maxLines: number },
): AsyncGenerator<{ line: number } & ParsedLine<z.output<S>>> {
  for await (const { line, bytes } of readLines(stream, { maxLines, maxLineBytes: limits.maxBytes })) {
    if (bytes !== undefined) yield { line, ...parseLine(bytes, schema, limits) }
    // Codes are stable: here it is `too_large`, and for a line of a batch `too_long`.
    else yield { line, errors: [{ pointer: '', code: 'too_large', detail: `has more than ${limits.maxBytes} bytes` }] }
  }
}

export interface Rejection {
  /** From 1, as the sender counts. */
  line: number
  errors: FieldError[]
}

export interface RejectionReport {
  add(line: number, errors: readonly FieldError[]): void
  /** Rejections in the order of their lines. */
  rejections(): Rejection[]
  /** The report so far, to continue from in a transaction that may have to start over. */
  copy(): RejectionReport
}

// Rejections are kept and sent with every read of a batch: the report of a hostile body must stay small.
const MAX_FINDINGS_PER_LINE = 10
const MAX_REPORT_CHARACTERS = 2 * 1024 * 1024

/** Why a body of which no line is accepted is refused: without a line it has no results, and a 202 would promise nothing. */
export function nothingAccepted(rejected: readonly Rejection[]): Failure {
  const detail = rejected.length === 0 ? 'The body has no lines.' : 'No line can be accepted: see rejected.'
  return new Failure('invalid_request', { detail, members: { accepted: 0, rejected } })
}

/** Contains every rejected line. A report that grows too large gives only the first code of further lines. */
export function createReport(start: readonly Rejection[] = [], startSize = 0): RejectionReport {
  const rejections = [...start]
  let size = startSize
  return {
    add(line, errors) {
      const told = errors.slice(0, MAX_FINDINGS_PER_LINE)
      const cost = told.reduce((sum, error) => sum + error.pointer.length + error.detail.length, 0)
      if (size + cost <= MAX_REPORT_CHARACTERS) {
        size += cost
        rejections.push({ line, errors: told })
      } else {
        const code = errors[0]?.code ?? 'invalid_value'
        rejections.push({ line, errors: [{ pointer: '', code, detail: 'is refused; send it alone to see why' }] })
      }
    },
    rejections: () => rejections.toSorted((a, b) => a.line - b.line),
    copy: () => createReport(rejections, size),
  }
}
