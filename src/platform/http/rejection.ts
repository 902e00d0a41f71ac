// The schemas of one finding, and of the findings of one line, for every answer that has them.

import { z } from 'zod'
import { FAILURES, type FailureCode } from '#src/failure.ts'
import { FIELD_ERROR_CODES, type FieldErrorCode } from '#src/field-errors.ts'

const codes = [...FIELD_ERROR_CODES, ...(Object.keys(FAILURES) as FailureCode[])].sort() as [FieldErrorCode]

export const fieldErrorView = z
  .object({
    pointer: z.string().describe('RFC 6901 pointer into the body, `?name` of the query, or the name of a header.'),
    code: z.enum(codes).meta({ id: 'FieldErrorCode', description: 'Stable name for programs.' }),
    detail: z.string().describe('Text for people; it may change.'),
  })
  .meta({ id: 'FieldError' })

export const rejectedLineView = z
  .object({
    line: z
      .number()
      .int()
      .describe(
        'Number from 1: a line of NDJSON as an editor counts it, blank lines included, or an element of an array.',
      ),
    errors: z.array(fieldErrorView),
  })
  .meta({ id: 'RejectedLine' })
