import { Validator } from '@seriousme/openapi-schema-validator'
import { afterAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { allRoutes } from '#src/app.ts'
import { ADVISORIES, FACTOR_CODES } from '#src/attest/factors/table.ts'
import { EVENT_DATA } from '#src/catalogue/events.ts'
import { rolesWith } from '#src/catalogue/permissions.ts'
import { notesOf } from '#src/docs/notes.ts'
import { FAILURES, type FailureCode } from '#src/failure.ts'
import { type AnswerNote, describeRoutes, type RawContent } from '#src/platform/http/openapi.ts'
import { exampleProblem, problemView } from '#src/platform/http/openapi-problems.ts'
import { makeServices, routesOf } from '../support/services.ts'

const baseUrl = 'https://api.example.test'
// Parts connect when they are used; describing routes uses none.
const services = makeServices()
const routes = allRoutes({ routes: routesOf(services), jwks: async () => ({ keys: [] }), baseUrl })
const NOTES = notesOf(services.features)
const document = await describeRoutes(routes, { baseUrl, notes: NOTES })
afterAll(() => services.close())

describe('the prose of the OpenAPI document', () => {
  it('is declared by each feature for its own routes, and for nothing else', () => {
    for (const { name, routes: own = [], notes = {} } of services.features) {
      const names = own.map(({ method, path }) => `${method} ${path}`)
      expect({ feature: name, notes: Object.keys(notes).sort() }).toEqual({ feature: name, notes: names.sort() })
    }
  })

  it('exists for every route, and for nothing else', () => {
    expect(Object.keys(NOTES.operations).sort()).toEqual(routes.map(({ method, path }) => `${method} ${path}`).sort())
    for (const [name, { description }] of Object.entries(NOTES.operations)) {
      expect(description.length, name).toBeGreaterThan(10)
    }
  })

  it('describes every tag, and no tag without a route', () => {
    const used = new Set(routes.filter(({ isPage }) => isPage !== true).map(({ tag }) => tag))
    expect(NOTES.tags.map(({ name }) => name).sort()).toEqual([...used].sort())
    for (const { name, description } of NOTES.tags) expect(description.length, name).toBeGreaterThan(10)
  })

  it('has an example for every body that is JSON', () => {
    for (const { method, path, body } of routes) {
      if (body === undefined) continue
      expect(Object.keys(NOTES.operations[`${method} ${path}`]?.examples ?? {}), `${method} ${path}`).not.toEqual([])
    }
  })

  it('has an example for every answer that is JSON', () => {
    const missing = routes.flatMap(({ method, path, view, status }) => {
      const answers = NOTES.operations[`${method} ${path}`]?.answers
      const bare = view instanceof z.ZodNever ? [] : status.filter((one) => examplesOf(answers?.[one]).length === 0)
      return bare.map((one) => `${method} ${path} ${one}`)
    })
    expect(missing).toEqual([])
  })

  it('shows examples that the routes accept and return', () => {
    let count = 0
    for (const route of routes) {
      const name = `${route.method} ${route.path}`
      const note = NOTES.operations[name]
      for (const example of Object.values(note?.examples ?? {})) count += fits(route.body, example, name)
      for (const body of Object.values(note?.bodies ?? {})) count += allFit(body, name)
      for (const answer of Object.values(note?.answers ?? {})) {
        const { stream } = answer
        for (const example of examplesOf(answer)) count += fits(route.view, example, name)
        if (stream !== undefined) count += allFit(stream, name)
      }
    }
    for (const [name, { body, example }] of Object.entries(NOTES.webhooks)) count += fits(body, example, name)
    expect(count).toBeGreaterThan(25)
  })

  it('mentions only answers and bodies that the routes declare', () => {
    for (const route of routes) {
      const note = NOTES.operations[`${route.method} ${route.path}`]
      const answers = Object.keys(note?.answers ?? {}).map(Number)
      expect(
        answers.filter((status) => !route.status.includes(status)),
        route.path,
      ).toEqual([])
      const { rawBody, otherBody } = route
      const types: readonly string[] = rawBody?.contentTypes ?? (otherBody === undefined ? [] : [otherBody.contentType])
      expect(
        Object.keys(note?.bodies ?? {}).filter((type) => !types.includes(type)),
        route.path,
      ).toEqual([])
    }
  })

  it('has an example of every event type that is sent, declared by one feature', () => {
    const declared = services.features.flatMap(({ events = {} }) => Object.keys(events))
    expect(declared.sort()).toEqual(Object.keys(EVENT_DATA).sort())
  })

  it('has a webhook for every event type that is sent', () => {
    expect(Object.keys(document.webhooks).sort()).toEqual(Object.keys(EVENT_DATA).sort())
  })

  it('names the roles of sessions, also those that may do it in the sandbox only', () => {
    const told = (path: string, method: string) => {
      const { description = '' } = (document.paths[path]?.[method] ?? {}) as { description?: string }
      const [, live = '', sandbox = ''] =
        /Sessions: ([a-z, ]+)(?:; in sandbox also ([a-z, ]+))?\./.exec(description) ?? []
      const of = (list: string) => list.split(', ').filter((role) => role !== '')
      return { live: of(live), sandbox: [...of(live), ...of(sandbox)] }
    }
    expect(told('/v1/claims/attest', 'post').sandbox).toEqual(['owner', 'admin', 'developer'])
    for (const { method, path, permission } of routes) {
      if (permission === undefined) continue
      const { live, sandbox } = told(path.replaceAll(/:(\w+)/g, '{$1}'), method.toLowerCase())
      expect({ path, live, sandbox: sandbox.sort() }).toEqual({
        path,
        live: rolesWith(permission, 'live'),
        sandbox: rolesWith(permission, 'sandbox').sort(),
      })
    }
  })

  it('leaves no placeholder in the served document', () => {
    expect(JSON.stringify(document)).not.toContain('{base_url}')
  })

  it('defines no component without a reference', () => {
    const text = JSON.stringify(document)
    for (const kind of ['schemas', 'responses', 'parameters', 'headers'] as const) {
      const idle = Object.keys(document.components[kind]).filter(
        (name) => !text.includes(`"#/components/${kind}/${name}"`),
      )
      expect(idle).toEqual([])
    }
  })
})

describe('the OpenAPI document', () => {
  it('is valid against the OpenAPI 3.1 specification', async () => {
    const result = await new Validator().validate(structuredClone(document))
    expect(result.errors).toBeUndefined()
    expect(result.valid).toBe(true)
  })

  it('shows problems that match their schema, with an example for each code', () => {
    for (const code of Object.keys(FAILURES) as FailureCode[]) {
      const shape = z.strictObject(problemView(code).shape)
      expect(shape.safeParse(exampleProblem(code, baseUrl)).error?.issues, code).toBeUndefined()
    }
  })

  it('names each operation by a verb, once', () => {
    const ids = routes.map(({ operationId }) => operationId)
    for (const id of ids) expect(id).toMatch(/^[a-z]+(?:[A-Z0-9][a-z0-9]*)+$/)
    expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([])
    expect(ids).toEqual(expect.arrayContaining(['attestClaim', 'listClaims', 'getClaim']))
  })

  it('defines each shape once: no component, object or enumeration is repeated', () => {
    const places = new Map<string, string[]>()
    for (const [place, node] of walk(document.components.schemas, '')) {
      const isComponent = place.lastIndexOf('/') === 0
      const members = Object.keys(isSchema(node.properties) ? node.properties : {})
      const isShape = isComponent || members.length > 1 || (Array.isArray(node.enum) && node.enum.length > 1)
      // A body has the name of its operation: two may have the same members.
      if (!isShape || (isComponent && place.endsWith('Request'))) continue
      const text = JSON.stringify(node, (key, value) => (key === 'description' ? undefined : value))
      places.set(text, [...(places.get(text) ?? []), place])
    }
    expect([...places.values()].filter((same) => same.length > 1)).toEqual([])
  })

  it('lists the codes of factors, wherever they occur', () => {
    const schemas: Record<string, { enum?: unknown }> = document.components.schemas
    expect(schemas.FactorCode?.enum).toEqual(FACTOR_CODES)
    expect(schemas.AdvisoryCode?.enum).toEqual(ADVISORIES)
    expect(schemas.AnyFactorCode?.enum).toEqual([...FACTOR_CODES, ...ADVISORIES])
    expect(document.components.schemas.Factor).toMatchObject({
      properties: { code: { $ref: '#/components/schemas/FactorCode' } },
    })
    const parameters = document.paths['/v1/claims']?.get?.parameters
    expect(parameters).toContainEqual(
      expect.objectContaining({ name: 'factor', schema: { $ref: '#/components/schemas/AnyFactorCode' } }),
    )
  })

  it('names each parameter of an operation once', () => {
    const twice = Object.entries(document.paths).flatMap(([path, operations]) =>
      Object.entries(operations).flatMap(([method, { parameters }]) => {
        const names = (parameters as { name: string; in: string; $ref?: string }[]).map(
          (one) => one.$ref ?? `${one.in} ${one.name}`,
        )
        return new Set(names).size === names.length ? [] : [`${method} ${path}`]
      }),
    )
    expect(twice).toEqual([])
  })

  it('distinguishes words from ids: no path matches another path with parameters', () => {
    const split = (path: string) => path.split('/')
    const patternOf = (path: string, name: string) => {
      const operations = Object.values(document.paths[path] ?? {})
      const parameters = operations.flatMap((one) => one.parameters as { name: string; schema: { pattern?: string } }[])
      return new RegExp(parameters.find((one) => one.name === name)?.schema.pattern ?? '')
    }
    const matches = (pattern: string, path: string) =>
      split(pattern).length === split(path).length &&
      split(pattern).every((part, index) => {
        const word = split(path)[index] ?? ''
        if (!part.startsWith('{') || word.startsWith('{')) return part === word || word.startsWith('{')
        return patternOf(pattern, part.slice(1, -1)).test(word)
      })
    const paths = Object.keys(document.paths).filter((path) => path.startsWith('/v1/'))
    const shadowed = paths.flatMap((path) =>
      paths.filter((other) => other !== path && other.includes('{') && !path.includes('{') && matches(other, path)),
    )
    expect(shadowed).toEqual([])
  })
})

function examplesOf(answer: AnswerNote | undefined): unknown[] {
  const { example, examples = {} } = answer ?? {}
  return [...(example === undefined ? [] : [example]), ...Object.values(examples)]
}

interface Schema {
  [member: string]: unknown
}

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function* walk(node: unknown, place: string): Generator<[place: string, node: Schema]> {
  if (typeof node !== 'object' || node === null) return
  if (isSchema(node) && place !== '') yield [place, node]
  for (const [key, value] of Object.entries(node)) yield* walk(value, `${place}/${key}`)
}

function fits(schema: z.ZodType | undefined, example: unknown, name: string): number {
  // The handler of a body with a transform gets another shape than its callers send.
  const sent = schema instanceof z.ZodPipe ? (schema.in as z.ZodType) : schema
  const parsed = sent?.safeParse(example)
  expect(parsed?.error?.issues ?? [], name).toEqual([])
  // Views drop undeclared members: an example must not show them.
  expect(parsed?.data, name).toEqual(example)
  return 1
}

function allFit({ schema, isLines, examples = {} }: RawContent, name: string): number {
  const values = Object.values(examples).flatMap((example) =>
    isLines
      ? String(example)
          .trimEnd()
          .split('\n')
          .map((line) => JSON.parse(line))
      : [example],
  )
  return values.reduce<number>((count, value) => count + fits(schema, value, name), 0)
}
