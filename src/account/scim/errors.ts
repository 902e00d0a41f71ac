// Errors as directories read them (RFC 7644 3.12).

import { z } from 'zod'
import { Failure, type FailureCode } from '#src/failure.ts'
import type { ErrorForm } from '#src/platform/http/respond.ts'

export const SCIM_TYPE = 'application/scim+json'
const ERROR_SCHEMA = 'urn:ietf:params:scim:api:messages:2.0:Error'

const SCIM_TYPES = [
  'invalidFilter',
  'invalidPath',
  'invalidSyntax',
  'invalidValue',
  'mutability',
  'noTarget',
  'tooMany',
  'uniqueness',
] as const
type ScimType = (typeof SCIM_TYPES)[number]

/** The codes of this service have no place in the form: what has no type of its own is told by its detail. */
const TYPES: Partial<Record<FailureCode, ScimType>> = {
  invalid_json: 'invalidSyntax',
  invalid_request: 'invalidValue',
}

const errorView = z
  .object({
    schemas: z.array(z.literal(ERROR_SCHEMA)),
    status: z.string().describe('The status of HTTP.'),
    scimType: z.enum(SCIM_TYPES).meta({ id: 'ScimErrorType' }).optional(),
    detail: z.string(),
  })
  .meta({ id: 'ScimError' })

export const SCIM_ERRORS: ErrorForm = {
  contentType: SCIM_TYPE,
  view: errorView,
  show({ code, status, members }, detail) {
    const scimType = members.scimType ?? TYPES[code]
    return { schemas: [ERROR_SCHEMA], status: String(status), ...(scimType === undefined ? {} : { scimType }), detail }
  },
}

/** `uniqueness` is 409, every other type 400. */
export function scimFailure(scimType: ScimType, detail: string): Failure {
  return new Failure(scimType === 'uniqueness' ? 'conflict' : 'invalid_request', { detail, members: { scimType } })
}
