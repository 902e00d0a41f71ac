// Errors in the OpenAPI document: the codes that each operation can answer, one response per status, with an example
// per code.

import { z } from 'zod'
import { FAILURES, Failure, type FailureCode } from '#src/failure.ts'
import { guidanceOf } from '#src/guidance.ts'
import { sha256 } from '#src/platform/crypto/digest.ts'
import type { Route } from './endpoint.ts'
import { RATE_LIMIT_HEADERS } from './openapi-content.ts'
import { type Components, hoist, type Schema } from './openapi-schema.ts'
import { fieldErrorView, rejectedLineView } from './rejection.ts'
import { problemOf, problemType } from './respond.ts'

const EXAMPLE_REQUEST_ID = 'req_01m7x7k0kweezv2g6agvqmrk2v'
const ACCESS = [
  'authentication_required',
  'invalid_api_key',
  'api_key_revoked',
  'api_key_expired',
  'ip_not_allowed',
] as const
const BODY = ['request_timeout', 'payload_too_large', 'unsupported_media_type', 'invalid_request'] as const

// In the name of a component.
const MAX_NAMED_CODES = 3
const RETRY_AFTER = { description: 'Seconds.', schema: { type: 'integer' } }

/** The codes that a route can answer, in the order of the table. `more`: codes that only its handler knows. */
export function problemCodes(route: Route, more: readonly FailureCode[] = []): FailureCode[] {
  const codes = new Set<FailureCode>(['internal_error', 'service_unavailable', ...more])
  const add = (...some: readonly FailureCode[]) => {
    for (const code of some) codes.add(code)
  }
  if (route.public === undefined) add(...ACCESS, 'account_suspended', 'rate_limited')
  if (route.scope !== undefined) add('insufficient_scope')
  else if (route.public === undefined) add('session_required')
  if (route.permission !== undefined) {
    add('session_expired', 'insufficient_role', 'plan_required', 'environment_mismatch')
    if (route.method !== 'GET') add('csrf_token_invalid')
  }
  if (route.plan !== undefined) add('plan_required')
  if (route.meters !== undefined) add('monthly_cap_exceeded')
  if (route.needsAccountKey) add('account_key_required')
  // An undeclared parameter is refused, except by public pages and files.
  if (route.public === undefined || route.streams === undefined) add('invalid_request')
  if (route.path.includes(':'))
    add('not_found', ...(route.public === undefined ? (['environment_mismatch'] as const) : []))
  if (route.body !== undefined || route.rawBody !== undefined) add(...BODY)
  if (takesJson(route)) add('invalid_json')
  // A repeat shows what the first request made, which may be deleted by then.
  if (route.isIdempotent) add('idempotency_in_progress', 'idempotency_key_reused', 'not_found')
  return (Object.keys(FAILURES) as FailureCode[]).filter((code) => codes.has(code))
}

/** The responses of an operation, and the components that they refer to. Operations with the same codes share them. */
export function problemReferences(codes: readonly FailureCode[], responses: Components, baseUrl: string): Schema {
  const statuses = [...new Set(codes.map((code) => FAILURES[code].status))].sort((a, b) => a - b)
  return Object.fromEntries(
    statuses.map((status) => {
      const named = codes.filter((code) => FAILURES[code].status === status)
      const name = responseName(status, named)
      responses[name] ??= problemResponse(named, baseUrl)
      return [String(status), { $ref: `#/components/responses/${name}` }]
    }),
  )
}

/** An answer as a caller would see it. */
export function exampleProblem(code: FailureCode, baseUrl: string): Record<string, unknown> {
  const { detail, errors, members } = guidanceOf(code).example
  const failure = new Failure(code, { detail, ...(errors && { errors }), ...(members && { members }) })
  return JSON.parse(problemOf(failure, { baseUrl, requestId: EXAMPLE_REQUEST_ID }).text)
}

/** Adds the schema of all problems to the components. */
export function addProblemSchema(schemas: Components, baseUrl: string): void {
  hoist(problemView(baseUrl), 'output', { name: 'Problem', schemas })
}

function problemResponse(codes: readonly FailureCode[], baseUrl: string): Schema {
  const examples = Object.fromEntries(
    codes.map((code) => [code, { summary: guidanceOf(code).happened, value: exampleProblem(code, baseUrl) }]),
  )
  const description = codes.map((code) => `[\`${code}\`](${problemType(baseUrl, code)})`).join(', ')
  const schema = { $ref: '#/components/schemas/Problem' }
  const headers = codes.includes('rate_limited')
    ? { headers: { 'Retry-After': RETRY_AFTER, ...RATE_LIMIT_HEADERS } }
    : {}
  return { description, ...headers, content: { 'application/problem+json': { schema, examples } } }
}

/** The shape of all problems. */
export function problemView(baseUrl: string) {
  const codes = Object.keys(FAILURES) as [FailureCode, ...FailureCode[]]
  return z
    .object({
      type: z.url().describe(`Where the code is explained, such as ${problemType(baseUrl, 'not_found')}.`),
      title: z.string(),
      status: z.number().int(),
      code: z.enum(codes).meta({ id: 'ProblemCode', description: 'Stable, for programs.' }),
      detail: z.string().describe('For people: it may change.'),
      request_id: z.string().describe('Tell it when something goes wrong on our side.'),
      required_scope: z.string().optional().describe('With `insufficient_scope`.'),
      required_products: z
        .array(z.string())
        .optional()
        .describe('With `insufficient_scope` of a key that is narrowed to other products.'),
      required_plan: z.string().optional().describe('With `plan_required`.'),
      limit: z.string().optional().describe('With `rate_limited`: which limit was reached.'),
      resets_at: z.iso.datetime().optional().describe('With `monthly_cap_exceeded`: when the next month begins.'),
      allowed: z
        .array(z.string())
        .optional()
        .describe(
          'With `invalid_state_transition`: the states in which the request is possible; for a case, the states that it can change to. With `insufficient_role`: the roles.',
        ),
      state: z.string().optional().describe('With `invalid_state_transition`: the current state.'),
      version: z.number().int().optional().describe('With an outdated `version`: the current one.'),
      case_id: z.string().optional().describe('With `conflict` where a claim has an open case: that case.'),
      approval_status: z
        .string()
        .optional()
        .describe('With `approval_already_decided`: pending where the person or the key has decided before.'),
      position: z.number().int().optional().describe('With `conflict` of an event consumer: where it stands.'),
      resume_after: z.number().int().optional().describe('With `events_expired`: the position to go on with.'),
      cause: z
        .string()
        .optional()
        .describe('With `approver_not_eligible`: role, separation_of_duties, not_a_member or same_key.'),
      lock_id: z.string().optional().describe('With `conflict` where a session lock holds an agent: that lock.'),
      trace_id: z.string().optional().describe('With `canary_tripped`: the trace whose reading tripped.'),
      tripped_families: z.array(z.string()).optional().describe('With `canary_tripped`: what tripped in it.'),
      model: z.string().optional().describe('With `backend_capability_missing`: which model.'),
      capability: z
        .string()
        .optional()
        .describe(
          'With `backend_capability_missing`: what it lacks, a member of `capabilities` of GET /v1/trace/models.',
        ),
      accepted: z.number().int().optional().describe('With a batch in which no line can be accepted: 0.'),
      rejected: z
        .array(rejectedLineView)
        .optional()
        .describe('With such a batch: its lines, and what is wrong with each.'),
      errors: z.array(fieldErrorView).optional().describe('Every finding at once.'),
    })
    .meta({ id: 'Problem', description: 'RFC 9457. Some codes carry their own members.' })
}

function takesJson({ body, rawBody }: Route): boolean {
  return body !== undefined || rawBody?.contentTypes.includes('application/json') === true
}

// `Problem401` has every code of its status; a response with fewer codes has them in its name.
function responseName(status: number, codes: readonly FailureCode[]): string {
  const all = (Object.keys(FAILURES) as FailureCode[]).filter((code) => FAILURES[code].status === status)
  if (all.length === codes.length) return `Problem${status}`
  if (codes.length <= MAX_NAMED_CODES) return `Problem${status}${codes.map(pascalOf).join('')}`
  // A name of ten codes can't be read. The digest changes only when the codes do.
  return `Problem${status}Of${codes.length}x${sha256(codes.join(' ')).toString('hex').slice(0, 8)}`
}

function pascalOf(code: string): string {
  return code.replaceAll(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase())
}
