import { z } from 'zod'
import { Failure } from '#src/failure.ts'
import { endpoint, type Route, reply } from '#src/platform/http/endpoint.ts'
import { accountIdParams, jsonObject } from '#src/platform/http/params.ts'
import { providerConfig, resourceTypes, schemas } from './documents.ts'
import { SCIM_ERRORS, SCIM_TYPE, scimFailure } from './errors.ts'
import type { Directory } from './users.ts'
import { listView, locationOf, toListView, toUserView, userView } from './views.ts'

// RFC 7644 3.8: clients send either. Parameters that this service does not know (attributes, sortBy) are ignored.
const common = {
  takesDirectory: true,
  jsonTypes: [SCIM_TYPE, 'application/json'],
  ignoresUnknownQuery: true,
  errorForm: SCIM_ERRORS,
  plan: 'enterprise',
  sdk: { none: 'The protocol of directories, which have clients of their own' },
  kind: 'call',
} as const

const MAX_BODY_BYTES = 256 * 1024
const MAX_BODY_VALUES = 5_000
const DEFAULT_COUNT = 100
const MAX_COUNT = 200
// The largest integer of Postgres.
const MAX_INDEX = 2_147_483_647

const userId = accountIdParams('usr')
// A longer number is read as the bound.
const number = z.string().max(20).optional()
const listQuery = z.object({
  filter: z.string().optional().describe('`attribute eq value`, joined by `and`.'),
  startIndex: number.describe('The first user of the page, from 1. 1 when absent.'),
  count: number.describe(`At most ${MAX_COUNT}; ${DEFAULT_COUNT} when absent.`),
})

const document = z.looseObject({ schemas: z.array(z.string()) }).meta({ id: 'ScimDocument', 'x-verbatim': true })
const documents = listView(document, 'ScimDocumentList')
const users = listView(userView, 'ScimUserList')

export function scimRoutes(directory: Directory, { baseUrl }: { baseUrl: string }): Route[] {
  const shown = (user: Awaited<ReturnType<Directory['get']>>) => toUserView(user, baseUrl)
  return [
    ...documentRoutes(baseUrl),
    endpoint(
      {
        ...common,
        method: 'GET',
        path: '/v1/scim/v2/Users',
        operationId: 'listScimUsers',
        effect: 'read',
        summary: 'The users of the domain',
        query: listQuery,
        view: users,
        status: [200],
      },
      async ({ caller, query }) => {
        const startIndex = Math.max(1, readNumber(query.startIndex, 'startIndex') ?? 1)
        const count = Math.min(MAX_COUNT, Math.max(0, readNumber(query.count, 'count') ?? DEFAULT_COUNT))
        const found = await directory.list(caller, { filter: query.filter, startIndex, count })
        return toListView(found.users.map(shown), { total: found.total, startIndex })
      },
    ),
    endpoint(
      {
        ...common,
        method: 'POST',
        path: '/v1/scim/v2/Users',
        operationId: 'createScimUser',
        effect: 'write',
        audits: 'user.provisioned',
        summary: 'Make a user, or a removed one active again',
        body: jsonObject,
        maxBodyBytes: MAX_BODY_BYTES,
        maxBodyValues: MAX_BODY_VALUES,
        view: userView,
        status: [201],
      },
      async ({ caller, body }) => {
        const made = await directory.create(caller, body)
        return reply(201, shown(made), { Location: locationOf(baseUrl, made.id) })
      },
    ),
    endpoint(
      {
        ...common,
        method: 'GET',
        path: '/v1/scim/v2/Users/:id',
        operationId: 'getScimUser',
        effect: 'read',
        summary: 'One user',
        params: userId,
        view: userView,
        status: [200],
      },
      async ({ caller, params }) => shown(await directory.get(caller, params.id)),
    ),
    endpoint(
      {
        ...common,
        method: 'PUT',
        path: '/v1/scim/v2/Users/:id',
        operationId: 'putScimUser',
        effect: 'write',
        summary: 'Replace what the directory says of a user',
        params: userId,
        body: jsonObject,
        maxBodyBytes: MAX_BODY_BYTES,
        maxBodyValues: MAX_BODY_VALUES,
        view: userView,
        status: [200],
      },
      async ({ caller, params, body }) => shown(await directory.replace(caller, params.id, body)),
    ),
    endpoint(
      {
        ...common,
        method: 'PATCH',
        path: '/v1/scim/v2/Users/:id',
        operationId: 'patchScimUser',
        effect: 'write',
        summary: 'Change a user by operations: all of them, or none',
        params: userId,
        body: jsonObject,
        maxBodyBytes: MAX_BODY_BYTES,
        maxBodyValues: MAX_BODY_VALUES,
        view: userView,
        status: [200],
      },
      async ({ caller, params, body }) => shown(await directory.patch(caller, params.id, body)),
    ),
    endpoint(
      {
        ...common,
        method: 'DELETE',
        path: '/v1/scim/v2/Users/:id',
        operationId: 'deleteScimUser',
        effect: 'destructive',
        audits: 'user.deprovisioned',
        summary: 'Remove a user',
        params: userId,
        view: z.never(),
        status: [204],
      },
      async ({ caller, params }) => {
        await directory.remove(caller, params.id)
        return reply(204, undefined as never)
      },
    ),
  ]
}

function documentRoutes(baseUrl: string): Route[] {
  const list = (
    path: string,
    operationId: string,
    summary: string,
    items: () => { schemas: string[]; id: string }[],
  ) => [
    endpoint(
      {
        ...common,
        method: 'GET',
        path,
        operationId: `list${operationId}s`,
        effect: 'read',
        summary,
        view: documents,
        status: [200],
      },
      async () => toListView(items(), { total: items().length, startIndex: 1 }),
    ),
    endpoint(
      {
        ...common,
        method: 'GET',
        path: `${path}/:id`,
        operationId: `get${operationId}`,
        effect: 'read',
        summary: `${summary}: one`,
        view: document,
        status: [200],
      },
      async ({ params }) => {
        const found = items().find(({ id }) => id === (params as { id: string }).id)
        if (found !== undefined) return found
        throw new Failure('not_found', 'There is no such resource.')
      },
    ),
  ]
  return [
    endpoint(
      {
        ...common,
        method: 'GET',
        path: '/v1/scim/v2/ServiceProviderConfig',
        operationId: 'getScimServiceProviderConfig',
        effect: 'read',
        summary: 'What this service supports of SCIM',
        view: document,
        status: [200],
      },
      async () => providerConfig(baseUrl),
    ),
    ...list('/v1/scim/v2/ResourceTypes', 'ScimResourceType', 'The types of resources', () => resourceTypes(baseUrl)),
    ...list('/v1/scim/v2/Schemas', 'ScimSchema', 'The attributes of resources', () => schemas(baseUrl)),
    // Roles are given by administrators: no group is kept.
    ...list('/v1/scim/v2/Groups', 'ScimGroup', 'Groups: always none', () => []),
  ]
}

function readNumber(text: string | undefined, name: string): number | undefined {
  if (text === undefined) return undefined
  if (!/^[+-]?[0-9]+$/.test(text)) throw scimFailure('invalidValue', `The parameter ${name} must be a whole number.`)
  return Math.min(MAX_INDEX, Number(text))
}
