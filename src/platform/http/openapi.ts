// The OpenAPI 3.1 document, written from the route table: what it says of a route is what guards the route.

import { z } from 'zod'
import { FAILURES, type FailureCode } from '#src/failure.ts'
import type { Route } from './endpoint.ts'
import { SERVICE_VERSION } from './respond.ts'

type Schema = { [key: string]: unknown }
type Components = Record<string, Schema>

const KEY_SECURITY = [{ bearer: [] }, { apiKey: [] }]
const PARAMETER = /:([A-Za-z0-9_]+)/g
const IDEMPOTENCY_KEY = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description:
    'Makes repeating this request safe for 24 hours: a repeat changes nothing, shows what the first has made as it is ' +
    'now, and is marked by Idempotent-Replayed: true.',
  schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[!-~]+$' },
}

/** @param baseUrl Without a trailing slash. */
export function describeRoutes(routes: readonly Route[], { baseUrl }: { baseUrl: string }) {
  const schemas: Components = { Problem: problemSchema(baseUrl) }
  const paths: Record<string, Record<string, Schema>> = {}
  for (const route of routes) {
    const path = route.path.replaceAll(PARAMETER, '{$1}')
    const operations = paths[path] ?? {}
    operations[route.method.toLowerCase()] = describeRoute(route, schemas)
    paths[path] = operations
  }
  return {
    openapi: '3.1.1',
    info: {
      title: 'Countersign',
      version: SERVICE_VERSION,
      description: 'Checks signed captures for insurance claims and keeps the evidence.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: baseUrl }],
    tags: [...new Set(routes.map((route) => route.tag))].sort().map((name) => ({ name })),
    paths,
    components: {
      schemas,
      responses: problemResponses(),
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: 'Authorization: Bearer <API_KEY>' },
        apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
      },
    },
  }
}

/** `GET /v1/claims/:id/evidence` -> `getClaimsByIdEvidence`: unique, because the method and the path are. */
export function operationIdOf({ method, path }: Pick<Route, 'method' | 'path'>): string {
  const words = path
    .replace(/^\/v1\//, '/')
    .split(/[^A-Za-z0-9:]+/)
    .filter((word) => word !== '')
    .flatMap((word) => (word.startsWith(':') ? ['by', word.slice(1)] : [word]))
  return method.toLowerCase() + words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('')
}

function describeRoute(route: Route, schemas: Components): Schema {
  const operationId = operationIdOf(route)
  const name = operationId.charAt(0).toUpperCase() + operationId.slice(1)
  const access =
    route.public === undefined
      ? {
          security: KEY_SECURITY,
          'x-required-scope': route.scope,
          ...(route.needsAccountKey && { 'x-needs-account-key': true }),
        }
      : { security: [], 'x-public': route.public }
  return {
    operationId,
    summary: route.summary,
    tags: [route.tag],
    ...access,
    parameters: [...pathParameters(route), ...queryParameters(route), ...(route.isIdempotent ? [IDEMPOTENCY_KEY] : [])],
    ...requestBody(route, name, schemas),
    responses: { ...successes(route, name, schemas), ...problems(route) },
  }
}

function pathParameters(route: Route): Schema[] {
  const described = route.params === undefined ? {} : schemaOf(route.params, 'input')
  const properties = propertiesOf(described)
  return [...route.path.matchAll(PARAMETER)].map(([, name = '']) => ({
    name,
    in: 'path',
    required: true,
    schema: properties[name] ?? { type: 'string' },
  }))
}

function queryParameters(route: Route): Schema[] {
  if (route.query === undefined) return []
  const described = schemaOf(route.query, 'input')
  const required = Array.isArray(described.required) ? described.required : []
  return Object.entries(propertiesOf(described)).map(([name, { description, ...schema }]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    ...(description === undefined ? {} : { description }),
    schema,
  }))
}

function requestBody(route: Route, name: string, schemas: Components): Schema {
  if (route.rawBody !== undefined) {
    const content = Object.fromEntries(route.rawBody.contentTypes.map((type) => [type, {}]))
    return { requestBody: { required: true, content } }
  }
  if (route.body === undefined) return {}
  const schema = hoist(schemaOf(route.body, 'input'), `${name}Body`, schemas)
  const isRequired = !route.body.safeParse(undefined).success
  return { requestBody: { required: isRequired, content: { 'application/json': { schema } } } }
}

function successes(route: Route, name: string, schemas: Components): Schema {
  const content: Schema = {}
  const view = schemaOf(route.view, 'output')
  if (!('not' in view)) content['application/json'] = { schema: hoist(view, `${name}Result`, schemas) }
  if (route.streams !== undefined) content[route.streams.contentType] = {}
  const text = { schema: { type: 'string' } }
  const headers = {
    'Request-Id': text,
    ...(route.isIdempotent && { 'Idempotent-Replayed': { schema: { const: 'true' } } }),
    ...(route.method === 'GET' && { ETag: text }),
  }
  const described = { description: route.summary, headers, content }
  const unchanged = { description: 'What If-None-Match names is what there is.', headers: { ETag: text } }
  return {
    ...Object.fromEntries(route.status.map((status) => [String(status), described])),
    ...(route.method === 'GET' && { 304: unchanged }),
  }
}

function problems(route: Route): Schema {
  const statuses = new Set([500, 503])
  const hasBody = route.body !== undefined || route.rawBody !== undefined
  if (route.public === undefined) for (const status of [400, 401, 403]) statuses.add(status)
  if (route.query !== undefined) statuses.add(400)
  if (route.path.includes(':')) statuses.add(404)
  if (hasBody) for (const status of [400, 408, 413, 415]) statuses.add(status)
  if (route.method !== 'GET' && route.public === undefined) statuses.add(409)
  if (route.isIdempotent) statuses.add(422)
  const sorted = [...statuses].sort((a, b) => a - b)
  return Object.fromEntries(
    sorted.map((status) => [status, { $ref: `#/components/responses/${responseName(status)}` }]),
  )
}

function problemResponses(): Components {
  const codes = new Map<number, FailureCode[]>()
  for (const code of Object.keys(FAILURES) as FailureCode[]) {
    const { status } = FAILURES[code]
    codes.set(status, [...(codes.get(status) ?? []), code])
  }
  const content = { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } }
  return Object.fromEntries(
    [...codes].map(([status, names]) => [responseName(status), { description: names.join(', '), content }]),
  )
}

function responseName(status: number): string {
  return `Problem${status}`
}

function problemSchema(baseUrl: string): Schema {
  return {
    type: 'object',
    description: 'RFC 9457. `code` is stable for ever; some codes carry members of their own, such as required_scope.',
    required: ['type', 'title', 'status', 'code', 'detail', 'request_id'],
    properties: {
      type: { type: 'string', format: 'uri', examples: [`${baseUrl}/docs/errors#not_found`] },
      title: { type: 'string' },
      status: { type: 'integer' },
      code: { type: 'string', enum: Object.keys(FAILURES) },
      detail: { type: 'string' },
      request_id: { type: 'string' },
      errors: {
        type: 'array',
        items: {
          type: 'object',
          required: ['pointer', 'code', 'detail'],
          properties: {
            pointer: {
              type: 'string',
              description: 'RFC 6901 into the body, `?name` of the query, or the name of a header.',
            },
            code: { type: 'string' },
            detail: { type: 'string' },
          },
        },
      },
    },
  }
}

function schemaOf(schema: z.ZodType, io: 'input' | 'output'): Schema {
  const { $schema: _dialect, ...described } = z.toJSONSchema(schema, {
    io,
    target: 'draft-2020-12',
    unrepresentable: 'any',
    override({ jsonSchema }) {
      // Answers may gain fields within v1, so that no client may be told to refuse them.
      if (io === 'output' && jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties
      // zod's pattern for times fills half a screen and says what the format says.
      if (jsonSchema.format === 'date-time') delete jsonSchema.pattern
    },
  })
  return described
}

function propertiesOf({ properties }: Schema): Components {
  return typeof properties === 'object' && properties !== null ? (properties as Components) : {}
}

// zod writes references relative to its own document (`#`, `#/$defs/x`); inside of ours they must point to components.
function hoist(described: Schema, name: string, schemas: Components): Schema {
  const { $defs, ...root } = described
  const rename = (ref: string) =>
    ref === '#' ? `#/components/schemas/${name}` : ref.replace('#/$defs/', `#/components/schemas/${name}_`)
  const walk = (node: unknown): unknown => {
    if (Array.isArray(node)) return node.map(walk)
    if (typeof node !== 'object' || node === null) return node
    return Object.fromEntries(
      Object.entries(node).map(([key, value]) => [
        key,
        key === '$ref' && typeof value === 'string' ? rename(value) : walk(value),
      ]),
    )
  }
  schemas[name] = walk(root) as Schema
  for (const [key, value] of Object.entries($defs ?? {})) schemas[`${name}_${key}`] = walk(value) as Schema
  return { $ref: `#/components/schemas/${name}` }
}
