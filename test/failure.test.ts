import { describe, expect, it } from 'vitest'
import { fieldFailure, invalidField, refusalOf } from '#src/failure.ts'
import { invalidRequest } from '#src/platform/http/validate.ts'

// What a caller reads as `detail`, by the finding.
const SENTENCES: [pointer: string, finding: string, detail: string][] = [
  ['/name', 'is required', '/name is required.'],
  ['?limit', 'must be at most 100', '?limit must be at most 100.'],
  [
    'Content-Type',
    'says image/png, but the bytes are image/jpeg',
    'Content-Type says image/png, but the bytes are image/jpeg.',
  ],
  ['', 'is longer than 9 bytes', 'The body is longer than 9 bytes.'],
  ['?', 'has a malformed percent-encoding', 'The query has a malformed percent-encoding.'],
  ['/note', 'To become info_requested it needs a note.', 'To become info_requested it needs a note.'],
  ['?claim_id', 'There is no such claim: check its id', 'There is no such claim: check its id.'],
  ['/email', 'is the address of a member.', '/email is the address of a member.'],
]

describe('the detail of a failure with one finding', () => {
  it.each(SENTENCES)('at %j that %j is one sentence', (pointer, finding, detail) => {
    const error = { pointer, code: 'invalid_value' as const, detail: finding }
    const failures = [
      invalidField(pointer, 'invalid_value', finding),
      invalidRequest([error]),
      refusalOf([error]),
      fieldFailure('conflict', error),
    ]
    for (const failure of failures) {
      expect(failure.message).toBe(detail)
      expect(failure.errors).toEqual([error])
    }
  })
})
