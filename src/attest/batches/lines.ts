// One line of a batch, judged by itself before any row is touched, and the bounded report of those that are refused.

import { Failure, type FieldError } from '#src/failure.ts'
import { parseJsonBody } from '#src/platform/http/body.ts'
import { parseWith } from '#src/platform/http/validate.ts'
import type { Environment } from '#src/platform/ids.ts'
import { type BatchLine, batchLine, checkSubmission } from '../claims/submission.ts'

export const MAX_LINE_BYTES = 64 * 1024

// A line needs fewer than 100. The schema makes a finding of each value that is wrong: a line of 32,000 would take 0.3 s.
const MAX_VALUES = 500
const LIMITS = { maxBytes: MAX_LINE_BYTES, maxDepth: 32, maxValues: MAX_VALUES }

/** @param bytes Undefined for a line that was longer than may be kept. */
export function judgeLine(
  bytes: Buffer | undefined,
  environment: Environment,
  nowMs: number,
): { body: BatchLine } | { errors: FieldError[] } {
  if (bytes === undefined) return refuse('too_long', `is longer than ${MAX_LINE_BYTES} bytes`)
  let value: unknown
  try {
    value = parseJsonBody(bytes, LIMITS)
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    return { errors: error.errors ?? [{ pointer: '', code: error.code, detail: error.message }] }
  }
  const parsed = parseWith(batchLine, value, 'body')
  if (!parsed.ok) return { errors: parsed.errors }
  const body = parsed.value as BatchLine
  const errors = checkSubmission(body, environment, nowMs)
  return errors.length === 0 ? { body } : { errors }
}

function refuse(code: string, detail: string): { errors: FieldError[] } {
  return { errors: [{ pointer: '', code, detail }] }
}

export interface Rejection {
  /** From 1, as the sender counts. */
  line: number
  errors: FieldError[]
}

export interface Report {
  add(line: number, errors: readonly FieldError[]): void
  /** By line. */
  rejections(): Rejection[]
  /** The same so far, to go on from in a transaction that may have to start over. */
  copy(): Report
}

// Kept on the batch and sent with each look at it: what a hostile batch makes us say must stay small.
const MAX_FINDINGS_PER_LINE = 10
const MAX_REPORT_CHARACTERS = 2 * 1024 * 1024

/** Every rejected line is in it; a report that grows too large tells only the first code of further lines. */
export function createReport(start: readonly Rejection[] = [], startSize = 0): Report {
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
