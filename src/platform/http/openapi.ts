// The OpenAPI 3.1 document, written from the route table: what it says of a route is what guards the route. Prose and
// examples, which guard nothing, come from outside as notes.

import type { z } from 'zod'
import type { Route } from './endpoint.ts'
import { problemReferences, problemResponses, problemSchema, problemStatuses } from './openapi-problems.ts'
import { type Components, hoist, propertiesOf, type Schema, schemaOf } from './openapi-schema.ts'
import { SERVICE_VERSION } from './respond.ts'

/** What a reader wants to know of an operation beyond what guards it. Texts are CommonMark, in which `{base_url}` stands
 * for the public address. */
export interface Note {
  description: string
  /** Request headers that the handler heeds. */
  headers?: Record<string, string>
  /** Named examples of the JSON body. */
  examples?: Record<string, unknown>
  /** What is in a raw body, by its content type. */
  bodies?: Record<string, RawContent>
  /** By status. */
  answers?: Record<number, AnswerNote>
  /** Statuses of problems that only the handler knows of. */
  problems?: readonly number[]
}

/** `schema` is that of the value, or with `isLines` that of each line (NDJSON). */
export interface RawContent {
  schema: z.ZodType
  isLines?: true
  examples?: Record<string, unknown>
}

export interface AnswerNote {
  description?: string
  headers?: Record<string, string>
  example?: unknown
  /** What a streamed answer consists of. */
  stream?: RawContent
}

export interface WebhookNote {
  summary: string
  description: string
  tag: string
  headers: Record<string, string>
  body: z.ZodType
  example: unknown
  /** By status, or `default`. */
  answers: Record<string, string>
}

export interface Notes {
  description: string
  tags: readonly { name: string; description: string }[]
  /** By method and path, such as `GET /v1/media/:id`. */
  operations: Record<string, Note>
  webhooks: Record<string, WebhookNote>
}

const KEY_SECURITY = [{ bearer: [] }, { apiKey: [] }]
const PARAMETER = /:([A-Za-z0-9_]+)/g
const BASE_URL = '{base_url}'
const TEXT = { schema: { type: 'string' } }
const IDEMPOTENCY_KEY = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description:
    'Makes repeating this request safe for 24 hours: a repeat changes nothing, shows what the first has made as it is ' +
    'now, and is marked by Idempotent-Replayed: true.',
  schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[!-~]+$' },
}
const NO_NOTES: Notes = { description: '', tags: [], operations: {}, webhooks: {} }

/** @param baseUrl Without a trailing slash. */
export function describeRoutes(
  routes: readonly Route[],
  { baseUrl, notes = NO_NOTES }: { baseUrl: string; notes?: Notes },
) {
  const schemas: Components = { Problem: problemSchema(baseUrl) }
  const paths: Record<string, Record<string, Schema>> = {}
  const statuses: number[] = []
  for (const route of routes) {
    const path = route.path.replaceAll(PARAMETER, '{$1}')
    const operations = paths[path] ?? {}
    const note = notes.operations[`${route.method} ${route.path}`]
    const problems = problemStatuses(route, note?.problems)
    statuses.push(...problems)
    operations[route.method.toLowerCase()] = describeRoute(route, { schemas, note, problems, baseUrl })
    paths[path] = operations
  }
  const used = new Set(routes.map((route) => route.tag))
  const told = notes.tags.filter(({ name }) => used.has(name))
  const untold = [...used].filter((name) => !told.some((tag) => tag.name === name)).sort()
  return {
    openapi: '3.1.1',
    info: {
      title: 'Countersign',
      version: SERVICE_VERSION,
      summary: 'Checks signed captures for insurance claims and keeps the evidence.',
      description: notes.description.replaceAll(BASE_URL, baseUrl),
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    externalDocs: { description: 'A capture app in an hour', url: `${baseUrl}/docs/integrate` },
    servers: [{ url: baseUrl }],
    tags: [...told, ...untold.map((name) => ({ name }))],
    paths,
    webhooks: Object.fromEntries(
      Object.entries(notes.webhooks).map(([name, note]) => [name, { post: describeWebhook(name, note, schemas) }]),
    ),
    components: {
      schemas,
      responses: problemResponses(statuses, baseUrl),
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: 'Authorization: Bearer <API_KEY>' },
        apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key', description: 'X-API-Key: <API_KEY>' },
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
  return method.toLowerCase() + words.map(capitalized).join('')
}

interface Place {
  schemas: Components
  note: Note | undefined
  problems: readonly number[]
  baseUrl: string
}

function describeRoute(route: Route, { schemas, note, problems, baseUrl }: Place): Schema {
  const operationId = operationIdOf(route)
  const name = capitalized(operationId)
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
    description: describeAccess(route, note?.description).replaceAll(BASE_URL, baseUrl),
    tags: [route.tag],
    ...access,
    parameters: [
      ...pathParameters(route),
      ...queryParameters(route),
      ...headerParameters(note?.headers),
      ...(route.isIdempotent ? [IDEMPOTENCY_KEY] : []),
    ],
    ...requestBody(route, name, { schemas, note }),
    responses: { ...successes(route, name, { schemas, note }), ...problemReferences(problems) },
  }
}

function describeAccess({ scope, needsAccountKey, public: reason }: Route, description: string | undefined): string {
  const access =
    reason === undefined
      ? `Scope \`${scope}\`${needsAccountKey ? ', with a key of your own account' : ''}.`
      : `No key is needed. ${reason}.`
  return description === undefined ? access : `${description}\n\n${access}`
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

function headerParameters(headers: Record<string, string> = {}): Schema[] {
  return Object.entries(headers).map(([name, description]) => ({
    name,
    in: 'header',
    required: false,
    description,
    ...TEXT,
  }))
}

function requestBody(route: Route, name: string, { schemas, note }: Pick<Place, 'schemas' | 'note'>): Schema {
  if (route.rawBody !== undefined) {
    const content = Object.fromEntries(
      route.rawBody.contentTypes.map((type) => {
        const raw = note?.bodies?.[type]
        return [
          type,
          raw === undefined
            ? {}
            : describeRaw(raw, { name: `${name}${raw.isLines ? 'Line' : 'Body'}`, io: 'input', schemas }),
        ]
      }),
    )
    return { requestBody: { required: true, content } }
  }
  if (route.body === undefined) return {}
  const schema = hoist(schemaOf(route.body, 'input'), `${name}Body`, schemas)
  const isRequired = !route.body.safeParse(undefined).success
  const content = { 'application/json': { schema, ...describeExamples(note?.examples) } }
  return { requestBody: { required: isRequired, content } }
}

// OpenAPI 3.1 knows no stream of values: a text, whose lines are described in words and by what one of them is.
function describeRaw(
  { schema, isLines, examples }: RawContent,
  { name, io, schemas }: { name: string; io: 'input' | 'output'; schemas: Components },
): Schema {
  const value = hoist(schemaOf(schema, io), name, schemas)
  if (isLines !== true) return { schema: value, ...describeExamples(examples) }
  const description = `One JSON value per line, each as ${name}.`
  const lines = { type: 'string', description, contentMediaType: 'application/json', contentSchema: value }
  return { schema: lines, ...describeExamples(examples) }
}

function describeExamples(examples: Record<string, unknown> | undefined): Schema {
  if (examples === undefined) return {}
  return {
    examples: Object.fromEntries(
      Object.entries(examples).map(([summary, value]) => [slug(summary), { summary, value }]),
    ),
  }
}

function successes(route: Route, name: string, { schemas, note }: Pick<Place, 'schemas' | 'note'>): Schema {
  const view = schemaOf(route.view, 'output')
  const schema = 'not' in view ? undefined : hoist(view, `${name}Result`, schemas)
  const described = route.status.map((status) => {
    const answer = note?.answers?.[status]
    const content: Schema = {}
    if (schema !== undefined) {
      content['application/json'] = { schema, ...(answer?.example === undefined ? {} : { example: answer.example }) }
    }
    if (route.streams !== undefined) {
      content[route.streams.contentType] =
        answer?.stream === undefined
          ? {}
          : describeRaw(answer.stream, { name: `${name}ResultLine`, io: 'output', schemas })
    }
    const headers = {
      'Request-Id': TEXT,
      ...(route.isIdempotent && { 'Idempotent-Replayed': { schema: { const: 'true' } } }),
      ...(route.method === 'GET' && { ETag: TEXT }),
      ...describeHeaders(answer?.headers),
    }
    return [String(status), { description: answer?.description ?? defaultOf(status), headers, content }]
  })
  const unchanged = { description: 'What If-None-Match names is what there is.', headers: { ETag: TEXT } }
  return { ...Object.fromEntries(described), ...(route.method === 'GET' && { 304: unchanged }) }
}

function describeHeaders(headers: Record<string, string> = {}): Schema {
  return Object.fromEntries(Object.entries(headers).map(([name, description]) => [name, { description, ...TEXT }]))
}

function describeWebhook(name: string, note: WebhookNote, schemas: Components): Schema {
  const words = name.split(/[^A-Za-z0-9]+/).map(capitalized)
  const operationId = `on${words.join('')}`
  const schema = hoist(schemaOf(note.body, 'output'), `${capitalized(operationId)}Event`, schemas)
  return {
    operationId,
    summary: note.summary,
    description: note.description,
    tags: [note.tag],
    security: [],
    parameters: headerParameters(note.headers).map((header) => ({ ...header, required: true })),
    requestBody: { required: true, content: { 'application/json': { schema, example: note.example } } },
    responses: Object.fromEntries(
      Object.entries(note.answers).map(([status, description]) => [status, { description }]),
    ),
  }
}

function defaultOf(status: number): string {
  return status === 202 ? 'Accepted; the work goes on.' : 'Done.'
}

function capitalized(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1)
}

function slug(text: string): string {
  return text.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')
}
