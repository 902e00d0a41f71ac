// Callers generate code from the OpenAPI document. A change of its structure is visible in the review as a change of
// openapi.structure.json, which this writes: `UPDATE=1 npm test -- test/house/openapi-structure.test.ts`.

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { allRoutes } from '#src/app.ts'
import { notesOf } from '#src/docs/notes.ts'
import { describeRoutes } from '#src/platform/http/openapi.ts'
import { structureOf } from '../support/openapi-structure.ts'
import { makeServices, routesOf } from '../support/services.ts'

const FILE = join(import.meta.dirname, 'openapi.structure.json')
const baseUrl = 'https://api.example.test'
const services = makeServices()
const routes = allRoutes({ routes: routesOf(services), jwks: async () => ({ keys: [] }), baseUrl })
const document = await describeRoutes(routes, { baseUrl, notes: notesOf(services.features) })
afterAll(() => services.close())

describe('the structure of the OpenAPI document', () => {
  it('is the one that openapi.structure.json holds', () => {
    const structure = structureOf(document)
    if (process.env.UPDATE !== undefined) writeFileSync(FILE, `${JSON.stringify(structure, null, 2)}\n`)
    const held: string[] = JSON.parse(readFileSync(FILE, 'utf8'))
    const removed = new Set(held).difference(new Set(structure))
    const added = new Set(structure).difference(new Set(held))
    expect({ removed: [...removed], added: [...added] }, 'UPDATE=1 accepts the change').toEqual({
      removed: [],
      added: [],
    })
  })

  it('ignores prose, examples and order', () => {
    const rewritten = structuredClone(document)
    const { post } = rewritten.paths['/v1/claims/attest'] ?? {}
    Object.assign(rewritten.info, { description: 'Another text.' })
    Object.assign(post ?? {}, { summary: 'Another text.', description: 'Another text.' })
    if (Array.isArray(post?.parameters)) post.parameters.reverse()
    for (const schema of Object.values(rewritten.components.schemas)) {
      Object.assign(schema, { description: 'Another text.', example: {} })
      if (Array.isArray(schema.enum)) schema.enum.reverse()
    }
    expect(structureOf(rewritten)).toEqual(structureOf(document))
  })

  it('holds parameters, members, bounds, values, statuses, headers and codes', () => {
    const schemas = {
      Old: { type: 'object', properties: { description: { type: 'string', maxLength: 5 }, at: {} }, required: ['at'] },
    }
    const schema = { oneOf: [{ $ref: '#/components/schemas/Old' }], discriminator: { propertyName: 'code' } }
    const problem = { content: { 'application/problem+json': { schema } } }
    const operation = {
      operationId: 'getOld',
      summary: 'Prose.',
      parameters: [
        { $ref: '#/components/parameters/Key' },
        { in: 'query', name: 'kind', schema: { enum: ['b', 'a'] } },
      ],
      responses: { 200: { description: 'Prose.', headers: { ETag: { schema: { const: 1 } } } }, 304: {} },
    }
    const small = { paths: { '/old': { get: operation } }, components: { schemas, responses: { NotFound: problem } } }
    expect(structureOf(small)).toEqual([
      'components > responses > NotFound > content > application/problem+json > schema > discriminator > propertyName: "code"',
      'components > responses > NotFound > content > application/problem+json > schema > oneOf > 0 > $ref: "#/components/schemas/Old"',
      'components > schemas > Old > properties > at: {}',
      'components > schemas > Old > properties > description > maxLength: 5',
      'components > schemas > Old > properties > description > type: "string"',
      'components > schemas > Old > required: "at"',
      'components > schemas > Old > type: "object"',
      'paths > /old > get > operationId: "getOld"',
      'paths > /old > get > parameters > query kind > schema > enum: "a"',
      'paths > /old > get > parameters > query kind > schema > enum: "b"',
      'paths > /old > get > parameters: "#/components/parameters/Key"',
      'paths > /old > get > responses > 200 > headers > ETag > schema > const: 1',
      'paths > /old > get > responses > 304: {}',
    ])
  })
})
