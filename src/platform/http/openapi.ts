// The OpenAPI 3.1 document, written from the route table: the objects that guard a route also describe it. Prose and
// examples, which guard nothing, come from outside as notes.

import type { z } from 'zod'
import { type Permission, rolesWith } from '#src/catalogue/permissions.ts'
import type { FailureCode } from '#src/failure.ts'
import { createSlice } from '#src/platform/slices.ts'
import type { Route } from './endpoint.ts'
import {
  describeParameters,
  describeRequestBody,
  describeSuccesses,
  HEADERS,
  headerParameters,
  PARAMETERS,
  RESPONSES,
} from './openapi-content.ts'
import { problemCodes, problemReferences } from './openapi-problems.ts'
import { type Components, hoist, type Schema } from './openapi-schema.ts'
import { SERVICE_VERSION } from './respond.ts'

/**
 * What a reader needs to know of an operation besides its guards. Texts are CommonMark, in which `{base_url}` is
 * replaced by the public address.
 */
export interface Note {
  description: string
  /** Request headers that the handler reads. */
  headers?: Record<string, string>
  /** Named examples of the JSON body. */
  examples?: Record<string, unknown>
  /** The content of a raw body, by its content type. */
  bodies?: Record<string, RawContent>
  /** Notes by status. */
  answers?: Record<number, AnswerNote>
  /** Problems that only the handler knows. */
  problems?: readonly FailureCode[]
}

/** `schema` is that of the whole content, or with `isLines` that of each line (NDJSON). */
export interface RawContent {
  schema: z.ZodType
  isLines?: true
  examples?: Record<string, unknown>
}

export interface AnswerNote {
  description?: string
  headers?: Record<string, string>
  example?: unknown
  /** Named, where there are several. */
  examples?: Record<string, unknown>
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
  /** Answers by status, or `default`. */
  answers: Record<string, string>
}

export interface Notes {
  /** What the service is for, in one sentence. */
  summary: string
  description: string
  tags: readonly { name: string; description: string }[]
  /** Notes by method and path, such as `GET /v1/media/:id`. */
  operations: Record<string, Note>
  webhooks: Record<string, WebhookNote>
}

const KEY_SECURITY = [{ bearer: [] }, { apiKey: [] }]
const SESSION_SECURITY = [{ session: [] }]
const DIRECTORY_SECURITY = [{ directory: [] }]
const PARAMETER = /:([A-Za-z0-9_]+)/g
const BASE_URL = '{base_url}'
const NO_NOTES: Notes = { summary: '', description: '', tags: [], operations: {}, webhooks: {} }

/**
 * Takes a third of a second, in slices.
 * @param baseUrl Without a trailing slash.
 */
export async function describeRoutes(
  routes: readonly Route[],
  { baseUrl, notes = NO_NOTES }: { baseUrl: string; notes?: Notes },
) {
  const components = { schemas: {} as Components, responses: { ...RESPONSES } as Components }
  const paths: Record<string, Record<string, Schema>> = {}
  const slice = createSlice()
  const described = routes.filter(({ isPage }) => isPage !== true)
  for (const route of described) {
    if (slice.isOver()) await slice.next()
    const path = route.path.replaceAll(PARAMETER, '{$1}')
    const operations = paths[path] ?? {}
    const note = notes.operations[`${route.method} ${route.path}`]
    operations[route.method.toLowerCase()] = describeRoute(route, { components, note, baseUrl })
    paths[path] = operations
  }
  const used = new Set(described.map((route) => route.tag))
  const told = notes.tags.filter(({ name }) => used.has(name))
  const untold = [...used].filter((name) => !told.some((tag) => tag.name === name)).sort()
  return {
    openapi: '3.1.1',
    info: {
      title: 'Countersign',
      version: SERVICE_VERSION,
      summary: notes.summary,
      description: notes.description.replaceAll(BASE_URL, baseUrl),
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    externalDocs: { description: 'The guides', url: `${baseUrl}/docs` },
    servers: [{ url: baseUrl }],
    tags: [...told, ...untold.map((name) => ({ name }))],
    paths,
    webhooks: Object.fromEntries(
      Object.entries(notes.webhooks).map(([name, note]) => [
        name,
        { post: describeWebhook(name, note, components.schemas) },
      ]),
    ),
    components: {
      schemas: sorted(components.schemas),
      responses: sorted(components.responses),
      parameters: PARAMETERS,
      headers: HEADERS,
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: 'Authorization: Bearer <API_KEY>' },
        apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key', description: 'X-API-Key: <API_KEY>' },
        directory: {
          type: 'http',
          scheme: 'bearer',
          description: 'The token of a directory, made with POST /v1/auth/scim-tokens: Authorization: Bearer <TOKEN>',
        },
        session: {
          type: 'apiKey',
          in: 'cookie',
          name: '__Host-svc_session',
          description:
            'The cookie of a signed-in user, without the prefix `__Host-` where the public address is plain http. A request ' +
            'that changes something also sends X-CSRF-Token; Service-Environment names the environment.',
        },
      },
    },
  }
}

interface Place {
  components: { schemas: Components; responses: Components }
  note: Note | undefined
  baseUrl: string
}

function describeRoute(route: Route, { components, note, baseUrl }: Place): Schema {
  const { operationId } = route
  const { schemas } = components
  const place = { name: capitalized(operationId), schemas, note }
  const access =
    route.public === undefined
      ? {
          security: [
            ...(takesKeys(route) ? KEY_SECURITY : []),
            ...(route.permission ? SESSION_SECURITY : []),
            ...(route.takesDirectory ? DIRECTORY_SECURITY : []),
          ],
          ...(route.scope !== undefined && { 'x-required-scope': route.scope }),
          ...(route.permission !== undefined && { 'x-required-permission': route.permission }),
          ...(route.needsAccountKey && { 'x-needs-account-key': true }),
        }
      : { security: [], 'x-public': route.public }
  return {
    operationId,
    summary: route.summary,
    description: describeAccess(route, note?.description).replaceAll(BASE_URL, baseUrl),
    tags: [route.tag],
    ...(typeof route.sdk === 'string' ? { 'x-sdk': route.sdk } : { 'x-no-sdk': route.sdk.none }),
    'x-effect': route.effect,
    'x-kind': route.kind,
    ...access,
    parameters: describeParameters(route, place),
    ...describeRequestBody(route, place),
    responses: {
      ...describeSuccesses(route, place),
      ...problemReferences(problemCodes(route, note?.problems), components, { baseUrl, form: route.errorForm }),
    },
  }
}

function takesKeys({ scope, takesAnyKey }: Route): boolean {
  return scope !== undefined || takesAnyKey === true
}

function describeAccess(route: Route, description: string | undefined): string {
  const { scope, permission, needsAccountKey, isEmergency, takesAnyKey, takesDirectory, public: reason } = route
  const others = takesDirectory === true ? 'A token of a directory only.' : 'No API key: a session only.'
  const otherKeys = takesAnyKey === true ? 'Any API key.' : others
  const ofKey = scope && `Scope \`${scope}\`${needsAccountKey ? ', with a key of your own account' : ''}.`
  const ofSession = permission && `Sessions: ${describeRoles(permission)}.`
  const ofPlan = route.plan && `Plan ${route.plan}.`
  const ofLimit = isEmergency && 'A rate limit of its own, for emergencies.'
  const access =
    reason === undefined
      ? [ofKey ?? otherKeys, ofSession, ofPlan, ofLimit].filter(Boolean).join(' ')
      : `No key is needed. ${reason}.`
  return description === undefined ? access : `${description}\n\n${access}`
}

function describeRoles(permission: Permission): string {
  const live = rolesWith(permission, 'live')
  const others = rolesWith(permission, 'sandbox').filter((role) => !live.includes(role))
  return `${live.join(', ')}${others.length === 0 ? '' : `; in sandbox also ${others.join(', ')}`}`
}

function describeWebhook(type: string, note: WebhookNote, schemas: Components): Schema {
  const name = type
    .split(/[^A-Za-z0-9]+/)
    .map(capitalized)
    .join('')
  return {
    operationId: `on${name}`,
    summary: note.summary,
    description: note.description,
    tags: [note.tag],
    security: [],
    parameters: headerParameters(note.headers).map((header) => ({ ...header, required: true })),
    requestBody: {
      required: true,
      content: {
        'application/json': {
          schema: hoist(note.body, 'output', { name: `${name}Event`, schemas }),
          example: note.example,
        },
      },
    },
    responses: Object.fromEntries(
      Object.entries(note.answers).map(([status, description]) => [status, { description }]),
    ),
  }
}

function capitalized(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1)
}

// Sorted by name: the order in which components are first used changes with every route.
function sorted(components: Components): Components {
  return Object.fromEntries(Object.entries(components).sort(([a], [b]) => (a < b ? -1 : 1)))
}
