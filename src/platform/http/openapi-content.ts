// The requests and answers of an operation, for the OpenAPI document.

import { JSON_TYPES } from './body.ts'
import type { Route } from './endpoint.ts'
import { NDJSON_TYPE } from './ndjson.ts'
import type { Note, RawContent } from './openapi.ts'
import { type Components, type Direction, hoist, isNever, propertiesOf, type Schema } from './openapi-schema.ts'
import { listItemOf } from './page.ts'

/** Where an operation is described. `name` is its operationId as a type name. */
export interface OperationPlace {
  name: string
  schemas: Components
  note: Note | undefined
}

// Generators of clients know a body of bytes by this format; without a schema they leave the operation out.
const BYTES = { schema: { type: 'string', format: 'binary' } }
const PARAMETER = /:([A-Za-z0-9_]+)/g
const TEXT = { schema: { type: 'string' } }
/** Headers that many answers have, as components. */
export const HEADERS = {
  RequestId: { description: 'Id of the request. Send it to us when the service fails.', ...TEXT },
  RateLimitPolicy: { description: 'The limit: `q` requests in `w` seconds.', ...TEXT },
  RateLimit: { description: '`r` requests are left; more are available in `t` seconds.', ...TEXT },
  ETag: { description: 'Tag of this state, for If-None-Match.', ...TEXT },
  IdempotentReplayed: {
    description:
      'true: the Idempotency-Key was used before, and the answer is the current state of what the first request made.',
    schema: { const: 'true' },
  },
  RetryAfter: { description: 'Seconds.', schema: { type: 'integer' } },
} as const

/** A reference to one of them. */
export function headerOf(name: keyof typeof HEADERS): Schema {
  return { $ref: `#/components/headers/${name}` }
}

/** In every answer to a caller who is known and may make the request. */
export const RATE_LIMIT_HEADERS = {
  'RateLimit-Policy': headerOf('RateLimitPolicy'),
  RateLimit: headerOf('RateLimit'),
}

/** Parameters that many operations take, as components. */
export const PARAMETERS = {
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    required: false,
    description:
      'Makes repeating this request safe for 24 hours: a repeat changes nothing, shows the current state of what the ' +
      'first request made, and is marked by Idempotent-Replayed: true. A key belongs to this method and path pattern: ' +
      'the same key on another route is a different key.',
    schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[!-~]+$' },
  },
  CsrfToken: {
    name: 'X-CSRF-Token',
    in: 'header',
    required: false,
    description:
      'Required with a session: `csrf_token` of GET /v1/auth/session, which proves that the request comes from a page ' +
      'of this service. An API key needs none.',
    schema: { type: 'string' },
  },
  ServiceEnvironment: {
    name: 'Service-Environment',
    in: 'header',
    required: false,
    description:
      'Used with a session: the environment of the request. When absent, the ids in the path of a GET name it; ' +
      'otherwise it is the sandbox. An API key has its own environment.',
    schema: { type: 'string', enum: ['sandbox', 'live'] },
  },
} as const

const NOT_MODIFIED = {
  description: 'The current version has the tag in If-None-Match.',
  headers: { ETag: headerOf('ETag') },
}
/** Successes that many operations have, as components. */
export const RESPONSES = {
  NotModified: { ...NOT_MODIFIED, headers: { ...NOT_MODIFIED.headers, ...RATE_LIMIT_HEADERS } },
  NotModifiedPublic: NOT_MODIFIED,
} as const

export function describeParameters(route: Route, { name, schemas, note }: OperationPlace): Schema[] {
  const path = propertiesOf(route.params, 'input', { name, schemas }).properties
  const query = propertiesOf(route.query, 'input', { name, schemas })
  // A parameter may be named once: a note's own words replace the general ones.
  const { [PARAMETERS.IdempotencyKey.name]: ofKey, ...headers } = note?.headers ?? {}
  return [
    ...[...route.path.matchAll(PARAMETER)].map(([, parameter = '']) =>
      parameterOf(parameter, 'path', path[parameter] ?? { type: 'string' }, true),
    ),
    ...Object.entries(query.properties).map(([parameter, schema]) =>
      parameterOf(parameter, 'query', schema, query.required.includes(parameter)),
    ),
    // Without a version the answer is 428.
    ...headerParameters(headers, note?.problems?.includes('precondition_required') ? ['If-Match'] : []),
    ...(route.isIdempotent ? [shared('IdempotencyKey', ofKey)] : []),
    ...(takesSession(route)
      ? [...(route.method === 'GET' ? [] : [shared('CsrfToken')]), shared('ServiceEnvironment')]
      : []),
  ]
}

function shared(name: keyof typeof PARAMETERS, description?: string): Schema {
  return description === undefined ? { $ref: `#/components/parameters/${name}` } : { ...PARAMETERS[name], description }
}

/** Every route that is not public takes sessions, unless it has a scope and no permission, or is for directories. */
function takesSession(route: Route): boolean {
  const { permission, scope, takesDirectory } = route
  return route.public === undefined && takesDirectory !== true && (permission !== undefined || scope === undefined)
}

export function headerParameters(headers: Record<string, string> = {}, required: readonly string[] = []): Schema[] {
  return Object.entries(headers).map(([name, description]) => ({
    name,
    in: 'header',
    required: required.includes(name),
    description,
    ...TEXT,
  }))
}

export function describeRequestBody(route: Route, { name, schemas, note }: OperationPlace): Schema {
  if (route.rawBody !== undefined) {
    const content = Object.fromEntries(
      route.rawBody.contentTypes.map((type) => {
        const raw = note?.bodies?.[type]
        if (raw === undefined) return [type, BYTES]
        const place = { name: `${name}${raw.isLines ? 'Line' : 'Request'}`, schemas }
        return [type, describeRaw(raw, 'input', place)]
      }),
    )
    return { requestBody: { required: true, content } }
  }
  if (route.body === undefined) return {}
  const schema = hoist(route.body, 'input', { name: `${name}Request`, schemas })
  const isRequired = !route.body.safeParse(undefined).success
  const described = { schema, ...describeExamples(note?.examples) }
  const content: Schema = Object.fromEntries((route.jsonTypes ?? JSON_TYPES).map((type) => [type, described]))
  if (route.otherBody !== undefined) {
    const { contentType } = route.otherBody
    const raw = note?.bodies?.[contentType]
    content[contentType] =
      raw === undefined ? BYTES : describeRaw(raw, 'input', { name: `${name}OtherRequest`, schemas })
  }
  return { requestBody: { required: isRequired, content } }
}

export function describeSuccesses(route: Route, { name, schemas, note }: OperationPlace): Schema {
  const schema = isNever(route.view) ? undefined : hoist(route.view, 'output', { name: `${name}Response`, schemas })
  const described = route.status.map((status) => {
    const answer = note?.answers?.[status]
    const content: Schema = {}
    if (schema !== undefined && status !== 204) {
      const example = answer?.example === undefined ? {} : { example: answer.example }
      content[(route.jsonTypes ?? JSON_TYPES)[0]] = { schema, ...example, ...describeExamples(answer?.examples) }
    }
    if (route.streams !== undefined) {
      content[route.streams.contentType] =
        answer?.stream === undefined
          ? BYTES
          : describeRaw(answer.stream, 'output', { name: `${name}ResponseLine`, schemas })
    }
    const item = route.isList ? listItemOf(route.view) : undefined
    if (item !== undefined) content[NDJSON_TYPE] = linesOf(hoist(item, 'output', { name: `${name}Item`, schemas }))
    const headers = {
      'Request-Id': headerOf('RequestId'),
      ...(route.public === undefined && RATE_LIMIT_HEADERS),
      ...(route.isIdempotent && { 'Idempotent-Replayed': headerOf('IdempotentReplayed') }),
      ...(route.method === 'GET' && { ETag: headerOf('ETag') }),
      ...describeHeaders(answer?.headers),
    }
    return [String(status), { description: answer?.description ?? defaultOf(status), headers, content }]
  })
  const unchanged = {
    $ref: `#/components/responses/${route.public === undefined ? 'NotModified' : 'NotModifiedPublic'}`,
  }
  return { ...Object.fromEntries(described), ...(route.method === 'GET' && { 304: unchanged }) }
}

function parameterOf(name: string, place: 'path' | 'query', schema: Schema, required: boolean): Schema {
  const { description, ...rest } = schema
  return { name, in: place, required, ...(description === undefined ? {} : { description }), schema: rest }
}

// OpenAPI 3.1 has no stream of values: it is declared as text, and the description and the schema of one line say more.
function describeRaw(
  { schema, isLines, examples }: RawContent,
  io: Direction,
  place: { name: string; schemas: Components },
): Schema {
  const value = hoist(schema, io, place)
  if (isLines !== true) return { schema: value, ...describeExamples(examples) }
  return { ...linesOf(value), ...describeExamples(examples) }
}

function linesOf(value: Schema): Schema {
  const description = `One JSON value per line, each as ${String(value.$ref).split('/').at(-1)}.`
  return { schema: { ...BYTES.schema, description, contentMediaType: 'application/json', contentSchema: value } }
}

function describeExamples(examples: Record<string, unknown> | undefined): Schema {
  if (examples === undefined) return {}
  return {
    examples: Object.fromEntries(
      Object.entries(examples).map(([summary, value]) => [slug(summary), { summary, value }]),
    ),
  }
}

function describeHeaders(headers: Record<string, string> = {}): Schema {
  return Object.fromEntries(Object.entries(headers).map(([name, description]) => [name, { description, ...TEXT }]))
}

function defaultOf(status: number): string {
  return status === 202 ? 'Accepted; the work goes on.' : 'Done.'
}

function slug(text: string): string {
  return text.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')
}
