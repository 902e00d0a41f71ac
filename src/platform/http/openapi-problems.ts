// Errors in the OpenAPI document: the codes that each operation can answer, one response per status, with an example
// per code.

import { z } from 'zod'
import { FAILURES, Failure, type FailureCode } from '#src/failure.ts'
import { guidanceOf } from '#src/guidance.ts'
import type { Route } from './endpoint.ts'
import { headerOf, RATE_LIMIT_HEADERS } from './openapi-content.ts'
import { type Components, hoist, type Schema } from './openapi-schema.ts'
import { PROBLEM_MEMBERS } from './problem-members.ts'
import { fieldErrorView } from './rejection.ts'
import type { ErrorForm } from './respond.ts'
import { problemOf, problemType } from './respond.ts'
import { extended } from './views.ts'

const EXAMPLE_REQUEST_ID = 'req_01m7x7k0kweezv2g6agvqmrk2v'
const KEY_ERRORS = ['authentication_required', 'invalid_api_key', 'api_key_revoked', 'api_key_expired'] as const
const FORBIDDEN = [
  'ip_not_allowed',
  'insufficient_role',
  'account_suspended',
  'plan_required',
  'environment_mismatch',
] as const
const BODY = ['request_timeout', 'payload_too_large', 'unsupported_media_type', 'invalid_request'] as const

/** The codes that a route can answer, in the order of the table. `more`: codes that only its handler knows. */
export function problemCodes(route: Route, more: readonly FailureCode[] = []): FailureCode[] {
  const codes = new Set<FailureCode>(['internal_error', 'service_unavailable', ...more])
  const add = (...some: readonly FailureCode[]) => {
    for (const code of some) codes.add(code)
  }
  if (route.takesDirectory === true)
    add('authentication_required', 'invalid_api_key', 'account_suspended', 'rate_limited')
  else if (route.public === undefined) add(...KEY_ERRORS, 'ip_not_allowed', 'account_suspended', 'rate_limited')
  if (route.scope !== undefined) {
    add('insufficient_scope')
    if (route.effect !== 'read') add('key_read_only')
  } else if (route.public === undefined && route.takesAnyKey !== true && route.takesDirectory !== true)
    add('session_required')
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
export function problemReferences(
  codes: readonly FailureCode[],
  components: ProblemComponents,
  { baseUrl, form }: { baseUrl: string; form: ErrorForm | undefined },
): Schema {
  const statuses = [...new Set(codes.map((code) => FAILURES[code].status))].sort((a, b) => a - b)
  return Object.fromEntries(
    statuses.map((status) => {
      const named = codes.filter((code) => FAILURES[code].status === status)
      if (form !== undefined && form.isFor === undefined) return [String(status), formResponse(named, form, components)]
      if (form !== undefined) return [String(status), bothForms(named, form, { components, baseUrl })]
      const name = responseName(named)
      components.responses[name] ??= problemResponse(named, components, baseUrl)
      return [String(status), { $ref: `#/components/responses/${name}` }]
    }),
  )
}

interface ProblemComponents {
  schemas: Components
  responses: Components
}

/** An answer as a caller would see it. */
export function exampleProblem(code: FailureCode, baseUrl: string): Record<string, unknown> {
  const { detail, errors, members } = guidanceOf(code).example
  const failure = new Failure(code, { detail, ...(errors && { errors }), ...(members && { members }) })
  return JSON.parse(problemOf(failure, { baseUrl, requestId: EXAMPLE_REQUEST_ID }).text)
}

function problemResponse(codes: readonly FailureCode[], { schemas }: ProblemComponents, baseUrl: string): Schema {
  for (const code of codes) addProblemSchema(code, schemas, baseUrl)
  const references = codes.map((code) => ({ $ref: `#/components/schemas/${problemName(code)}` }))
  const mapping = Object.fromEntries(codes.map((code, index) => [code, references[index]?.$ref]))
  const schema =
    references.length === 1 ? references[0] : { oneOf: references, discriminator: { propertyName: 'code', mapping } }
  const description = codes.map((code) => `[\`${code}\`](${problemType(baseUrl, code)})`).join(', ')
  const headers = codes.includes('rate_limited')
    ? { headers: { 'Retry-After': headerOf('RetryAfter'), ...RATE_LIMIT_HEADERS } }
    : {}
  return { description, ...headers, content: { 'application/problem+json': { schema } } }
}

// In the form of another protocol the codes don't show: they are in the description.
function formResponse(codes: readonly FailureCode[], form: ErrorForm, { schemas }: ProblemComponents): Schema {
  const schema = hoist(form.view, 'output', { name: 'ProtocolError', schemas })
  const headers = codes.includes('rate_limited')
    ? { headers: { 'Retry-After': headerOf('RetryAfter'), ...RATE_LIMIT_HEADERS } }
    : {}
  const titles = codes.map((code) => FAILURES[code].title).join(', ')
  return { description: titles, ...headers, content: { [form.contentType]: { schema } } }
}

function bothForms(
  codes: readonly FailureCode[],
  form: ErrorForm,
  { components, baseUrl }: { components: ProblemComponents; baseUrl: string },
): Schema {
  const [problem, other] = [problemResponse(codes, components, baseUrl), formResponse(codes, form, components)]
  return { ...problem, content: { ...(problem.content as Schema), ...(other.content as Schema) } }
}

function addProblemSchema(code: FailureCode, schemas: Components, baseUrl: string): void {
  const name = problemName(code)
  if (schemas[name] !== undefined) return
  hoist(problemView(code), 'output', { name, schemas })
  schemas[name] = { ...(schemas[name] as Schema | undefined), examples: [exampleProblem(code, baseUrl)] }
}

const problemBase = z
  .object({
    type: z.url().describe('Address that explains the code: `/docs/errors#` and the code.'),
    title: z.string(),
    status: z.number().int(),
    detail: z.string().describe('Text for people; it may change.'),
    request_id: z.string().describe('Id of the request. Send it to us when the service fails.'),
    errors: z.array(fieldErrorView).optional().describe('All findings about the request.'),
  })
  .meta({ id: 'Problem', description: 'RFC 9457. Each code has a schema with its own members.' })

const VIEWS = new Map<FailureCode, z.ZodObject>()

/** The shape of the problems of one code. */
export function problemView(code: FailureCode): z.ZodObject {
  const known = VIEWS.get(code)
  if (known !== undefined) return known
  const members = { code: z.literal(code).describe('Stable name for programs.'), ...(PROBLEM_MEMBERS[code] ?? {}) }
  const view = extended(problemBase, members, { id: problemName(code), description: guidanceOf(code).happened })
  VIEWS.set(code, view)
  return view
}

function problemName(code: FailureCode): string {
  return `${pascalOf(code)}Problem`
}

function takesJson({ body, rawBody }: Route): boolean {
  return body !== undefined || rawBody?.contentTypes.includes('application/json') === true
}

// The codes that many operations have in common, and what they are called in the name of a response.
const USUAL: readonly (readonly [name: string, codes: readonly FailureCode[]])[] = [
  ['BadRequest', ['invalid_json', 'invalid_request']],
  ['UnauthorizedSession', [...KEY_ERRORS, 'session_required', 'session_expired']],
  ['Unauthorized', [...KEY_ERRORS, 'session_expired']],
  ['UnauthorizedKey', KEY_ERRORS],
  ['ForbiddenAccountChange', [...FORBIDDEN, 'insufficient_scope', 'csrf_token_invalid', 'account_key_required']],
  ['ForbiddenAccount', [...FORBIDDEN, 'insufficient_scope', 'account_key_required']],
  ['ForbiddenChange', [...FORBIDDEN, 'insufficient_scope', 'csrf_token_invalid']],
  ['Forbidden', [...FORBIDDEN, 'insufficient_scope']],
  ['ForbiddenSessionChange', [...FORBIDDEN, 'csrf_token_invalid']],
  ['ForbiddenSession', FORBIDDEN],
  ['ForbiddenKey', ['ip_not_allowed', 'insufficient_scope', 'account_suspended']],
  [
    'IntentRefused',
    [
      'agent_session_ended',
      'agent_session_revoked',
      'device_revoked',
      'agent_suspended',
      'canary_tripped',
      'session_canary_locked',
      'account_stopped',
    ],
  ],
]

// Such as `ForbiddenChangeOrRoleLimit`: what many operations have in common, and the further codes.
function responseName(codes: readonly FailureCode[]): string {
  const usual = USUAL.find(([, some]) => some.length > 1 && some.every((code) => codes.includes(code)))
  const rest = codes.filter((code) => usual?.[1].includes(code) !== true)
  return [...(usual === undefined ? [] : [usual[0]]), ...rest.map(pascalOf)].join('Or')
}

function pascalOf(code: string): string {
  return code.replaceAll(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase())
}
