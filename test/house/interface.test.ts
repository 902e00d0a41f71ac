// Generators and libraries depend on shapes that follow rules. What breaks one of them stands in interface.exceptions.json,
// which only shrinks: `UPDATE=1 npm test -- test/house/interface.test.ts` removes what is fixed.

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { allRoutes } from '#src/app.ts'
import { notesOf } from '#src/docs/notes.ts'
import { describeRoutes } from '#src/platform/http/openapi.ts'
import { type InterfaceDocument, RULES, type Schema } from '../support/interface-rules.ts'
import { makeServices, routesOf } from '../support/services.ts'

const FILE = join(import.meta.dirname, 'interface.exceptions.json')
const baseUrl = 'https://api.example.test'
const services = makeServices()
const routes = allRoutes({ routes: routesOf(services), jwks: async () => ({ keys: [] }), baseUrl })
const document = (await describeRoutes(routes, {
  baseUrl,
  notes: notesOf(services.features),
})) as unknown as InterfaceDocument
// One a line: the rule and the place that breaks it.
const exceptions: string[] = JSON.parse(readFileSync(FILE, 'utf8'))
afterAll(() => services.close())

const broken = Object.entries(RULES).flatMap(([rule, placesOf]) =>
  placesOf(document).map((place) => `${rule}: ${place}`),
)
if (process.env.UPDATE !== undefined) {
  const left = exceptions.filter((exception) => broken.includes(exception))
  exceptions.splice(0, exceptions.length, ...left)
  writeFileSync(FILE, `${JSON.stringify(left, null, 2)}\n`)
}

describe('the interface', () => {
  it.each(Object.keys(RULES))('%s', (rule) => {
    const found = new Set(broken.filter((one) => one.startsWith(`${rule}: `)))
    const known = new Set(exceptions.filter((one) => one.startsWith(`${rule}: `)))
    expect({ broken: [...found.difference(known)], fixed: [...known.difference(found)] }).toEqual({
      broken: [],
      fixed: [],
    })
  })

  it('has exceptions of known rules only', () => {
    expect(exceptions.filter((one) => RULES[one.split(': ')[0] ?? ''] === undefined)).toEqual([])
  })

  it('leaves pages of HTML to browsers', () => {
    expect(JSON.stringify(document.paths)).not.toContain('text/html')
  })

  it('reads and writes each settings document by one schema, and replaces only the version that was read', () => {
    const { schemas } = document.components
    const resolve = (schema: Schema): Schema => schemas[String(schema.$ref).split('/').at(-1) ?? ''] ?? schema
    const membersOf = (schema: Schema): Record<string, Schema> => {
      const { properties, allOf = [] } = resolve(schema) as { properties?: Record<string, Schema>; allOf?: Schema[] }
      return Object.assign({}, properties, ...allOf.map(membersOf))
    }
    const jsonOf = (content: Record<string, { schema?: Schema }> = {}) => content['application/json']?.schema ?? {}
    const paths = Object.entries(document.paths).filter(([, { put }]) => {
      return put !== undefined && 'document' in membersOf(jsonOf(put.requestBody?.content))
    })
    expect(paths.map(([path]) => path).sort()).toEqual([
      '/v1/account/risk-policy',
      '/v1/account/screening',
      '/v1/clinical/policy',
      '/v1/policy',
      '/v1/trace/kill-switch',
    ])
    for (const [path, { get, put }] of paths) {
      const sent = membersOf(jsonOf(put?.requestBody?.content)).document ?? {}
      const answered = membersOf(jsonOf(get?.responses[200]?.content))
      expect(answered, path).toMatchObject({ version: {}, digest: {}, changed_at: {}, changed_by: {} })
      expect([path, answered.document]).toEqual([path, sent])
      expect(resolve(sent), path).toMatchObject({ additionalProperties: false, 'x-verbatim': true })
      expect(Object.keys(put?.responses ?? {}), path).toEqual(expect.arrayContaining(['412', '428']))
      expect(put?.parameters, path).toContainEqual(expect.objectContaining({ name: 'If-Match', required: true }))
    }
  })
})
