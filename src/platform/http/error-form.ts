// The form of an error's body, where a protocol of others prescribes another one than RFC 9457.

import type { z } from 'zod'
import type { Failure } from '#src/failure.ts'
import { type Problem, problemOf } from './respond.ts'

export interface ErrorForm {
  contentType: string
  /** Of the body, for the OpenAPI document. */
  view: z.ZodType
  /** The body. `detail` is the sentence for the caller, without secrets. */
  show(failure: Failure, detail: string): object
}

/** An error as the caller gets it. Status and headers are the same in every form. */
export function formatted(
  failure: Failure,
  form: ErrorForm | undefined,
  place: { baseUrl: string; requestId: string },
): Problem {
  const problem = problemOf(failure, place)
  if (form === undefined) return problem
  const { detail }: { detail: string } = JSON.parse(problem.text)
  return {
    ...problem,
    headers: { ...problem.headers, 'Content-Type': form.contentType },
    text: JSON.stringify(form.show(failure, detail)),
  }
}
