import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { allRoutes } from '#src/app.ts'
import { notesOf } from '#src/docs/notes.ts'
import { endpoint, type Route } from '#src/platform/http/endpoint.ts'
import { describeRoutes } from '#src/platform/http/openapi.ts'
import { listOf, listQuery } from '#src/platform/http/page.ts'
import { call, startApp } from '../../support/http.ts'

const Node = z.object({
  name: z.string(),
  get children() {
    return z.array(Node)
  },
})
const routes: Route[] = [
  endpoint(
    {
      method: 'GET',
      path: '/v1/trees/:tree_id/nodes/:index',
      sdk: { none: 'a route of a test' },
      effect: 'write',
      kind: 'call',
      summary: 'A node',
      operationId: 'getNode',
      scope: 'verify',
      params: z.object({
        tree_id: z.string(),
        index: z
          .string()
          .regex(/^[0-9]+$/)
          .transform(Number),
      }),
      view: Node,
      status: [200],
    },
    async () => ({ name: 'x', children: [] }),
  ),
  endpoint(
    {
      method: 'GET',
      path: '/v1/trees',
      sdk: { none: 'a route of a test' },
      effect: 'write',
      kind: 'call',
      summary: 'Trees',
      operationId: 'listTrees',
      scope: 'verify',
      query: z.object({ ...listQuery, q: z.string() }),
      view: listOf(Node),
      status: [200],
    },
    async () => ({ object: 'list' as const, data: [], has_more: false, next_cursor: null }),
  ),
  endpoint(
    {
      method: 'POST',
      path: '/v1/trees',
      sdk: { none: 'a route of a test' },
      effect: 'write',
      kind: 'call',
      summary: 'Plant',
      operationId: 'plantTree',
      scope: 'admin',
      needsAccountKey: true,
      body: z.strictObject({ root: Node, planted_at: z.iso.datetime().optional() }),
      view: Node,
      status: [200, 202],
    },
    async ({ body }) => body.root,
  ),
  endpoint(
    {
      method: 'PUT',
      path: '/v1/trees/:tree_id/picture',
      sdk: { none: 'a route of a test' },
      effect: 'write',
      kind: 'call',
      summary: 'Upload',
      operationId: 'uploadPicture',
      scope: 'attest',
      rawBody: { contentTypes: ['image/*'] },
      view: z.never(),
      streams: { contentType: 'image/jpeg' },
      status: [200],
    },
    async ({ stream }) => ({ status: 200, stream, headers: {} }),
  ),
]
const table = allRoutes({ routes, jwks: async () => ({ keys: [] }), baseUrl: 'https://api.example.test' })

type Node = { [key: string]: unknown }
const document = await describeRoutes(table, { baseUrl: 'https://api.example.test', notes: notesOf([]) })
const paths = document.paths as Record<string, Record<string, Node>>

function* nodes(value: unknown): Generator<Node> {
  if (typeof value !== 'object' || value === null) return
  if (!Array.isArray(value)) yield value as Node
  for (const inner of Object.values(value)) yield* nodes(inner)
}

function resolve(ref: string): unknown {
  let current: unknown = document
  for (const part of ref.slice(2).split('/')) {
    const name = part.replaceAll('~1', '/').replaceAll('~0', '~')
    current = typeof current === 'object' && current !== null ? (current as Node)[name] : undefined
  }
  return current
}

describe('the OpenAPI document', () => {
  it('contains every route once, with an operationId of its own', () => {
    const operations = Object.entries(paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method} ${path}`),
    )
    expect(operations.sort()).toEqual(
      table
        .filter(({ isPage }) => isPage !== true)
        .map((route) => `${route.method.toLowerCase()} ${route.path.replaceAll(/:(\w+)/g, '{$1}')}`)
        .sort(),
    )
    expect(paths['/v1/trees']?.get?.operationId).toBe('listTrees')
  })

  it('contains no dangling reference', () => {
    const refs = [...nodes(document)].flatMap((node) => (typeof node.$ref === 'string' ? [node.$ref] : []))
    expect(refs.length).toBeGreaterThan(10)
    for (const ref of refs) expect([ref, resolve(ref) !== undefined]).toEqual([ref, true])
  })

  it('declares each path parameter, and nothing else, in its path', () => {
    for (const [path, methods] of Object.entries(paths)) {
      for (const operation of Object.values(methods)) {
        const parameters = operation.parameters as { name: string; in: string; required: boolean }[]
        const declared = parameters.filter((one) => one.in === 'path').map((one) => one.name)
        expect(declared).toEqual([...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name))
      }
    }
  })

  it('states the required key of each operation', () => {
    expect(paths['/v1/trees']?.post).toMatchObject({
      security: [{ bearer: [] }, { apiKey: [] }],
      'x-required-scope': 'admin',
      'x-needs-account-key': true,
    })
    expect(paths['/health']?.get).toMatchObject({ security: [], 'x-public': expect.any(String) })
    for (const route of table)
      expect([route.path, (route.scope === undefined) !== (route.public === undefined)]).toEqual([route.path, true])
  })

  it('describes requests and responses', () => {
    const list = paths['/v1/trees']?.get?.parameters as { name: string; required: boolean; schema: object }[]
    const limit = JSON.stringify(list.find((one) => one.name === 'limit')?.schema)
    expect(JSON.parse(limit)).toEqual({ type: 'integer', minimum: 1, maximum: 100 })
    expect(list.map((one) => [one.name, one.required])).toContainEqual(['q', true])
    expect(list.map((one) => [one.name, one.required])).toContainEqual(['limit', false])
    expect(resolve('#/components/schemas/PlantTreeRequest')).toMatchObject({
      type: 'object',
      required: ['root'],
      additionalProperties: false,
    })
    expect(JSON.stringify(resolve('#/components/schemas/PlantTreeResponse'))).not.toContain('additionalProperties')
    expect(paths['/v1/trees']?.post?.responses).toMatchObject({
      200: { content: { 'application/json': { schema: { $ref: '#/components/schemas/PlantTreeResponse' } } } },
      202: {},
      401: { $ref: '#/components/responses/UnauthorizedKey' },
    })
    const picture = paths['/v1/trees/{tree_id}/picture']?.put
    expect(picture).toMatchObject({ requestBody: { content: { 'image/*': {} } } })
    expect(picture?.responses).toMatchObject({ 200: { content: { 'image/jpeg': {} } } })
  })

  it('is served without a key', async () => {
    const app = await startApp(routes)
    const { status, headers, json } = await call(app, '/v1/openapi.json')
    expect([status, headers['cache-control']]).toEqual([200, 'public, max-age=300'])
    expect(json).toEqual(JSON.parse(JSON.stringify(document)))
    await app.close()
  })
})

describe('the published keys', () => {
  it('are readable without a key from any origin, and cacheable', async () => {
    const key = { kty: 'EC', crv: 'P-256', x: 'x', y: 'y', kid: 'k1', alg: 'ES256', use: 'sig', d: 'private' }
    const app = await startApp([], { jwks: async () => ({ keys: [key] }) })
    for (const path of ['/.well-known/jwks.json', '/v1/jwks']) {
      const { headers, json } = await call(app, path)
      expect(headers['cache-control']).toBe('public, max-age=300')
      const { d: _d, ...shown } = key
      expect(json).toEqual({ keys: [shown] })
    }
    await app.close()
  })
})
