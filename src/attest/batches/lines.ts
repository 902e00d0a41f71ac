// Checks one line of a batch without reading rows.

import type { FieldError } from '#src/failure.ts'
import { parseLine } from '#src/platform/http/bulk.ts'
import type { Environment } from '#src/platform/ids.ts'
import { type BatchLine, batchLine, checkSubmission } from '../claims/submission.ts'

export const MAX_LINE_BYTES = 64 * 1024

// A line needs fewer than 100. The schema reports each wrong value: a line of 32,000 values would take 0.3 s.
const MAX_VALUES = 500
const LIMITS = { maxBytes: MAX_LINE_BYTES, maxDepth: 32, maxValues: MAX_VALUES }

/** @param bytes undefined for a line that exceeded the size limit. */
export function judgeLine(
  bytes: Buffer | undefined,
  environment: Environment,
  nowMs: number,
): { body: BatchLine } | { errors: FieldError[] } {
  const parsed = parseLine(bytes, batchLine, LIMITS)
  if ('errors' in parsed) return parsed
  const body = parsed.value as BatchLine
  const errors = checkSubmission(body, environment, nowMs)
  return errors.length === 0 ? { body } : { errors }
}
