import { afterAll, describe, expect, it } from 'vitest'
import type { z } from 'zod'
import { allRoutes } from '#src/app.ts'
import { EVENT_DATA } from '#src/catalogue/events.ts'
import { NOTES } from '#src/docs/notes/notes.ts'
import { describeRoutes, type RawContent } from '#src/platform/http/openapi.ts'
import { makeServices, routesOf } from '../support/services.ts'

const baseUrl = 'https://api.example.test'
// Parts connect when they are used, and describing routes uses none.
const services = makeServices()
const routes = allRoutes({ routes: routesOf(services), jwks: async () => ({ keys: [] }), baseUrl })
const document = describeRoutes(routes, { baseUrl, notes: NOTES })
afterAll(() => services.close())

describe('the prose of the OpenAPI document', () => {
  it('is there for every route, and for nothing else', () => {
    expect(Object.keys(NOTES.operations).sort()).toEqual(routes.map(({ method, path }) => `${method} ${path}`).sort())
    for (const [name, { description }] of Object.entries(NOTES.operations)) {
      expect(description.length, name).toBeGreaterThan(10)
    }
  })

  it('describes every tag, and no tag that no route has', () => {
    const used = new Set(routes.map(({ tag }) => tag))
    expect(NOTES.tags.map(({ name }) => name).sort()).toEqual([...used].sort())
    for (const { name, description } of NOTES.tags) expect(description.length, name).toBeGreaterThan(10)
  })

  it('has an example for every body that is JSON', () => {
    for (const { method, path, body } of routes) {
      if (body === undefined) continue
      expect(Object.keys(NOTES.operations[`${method} ${path}`]?.examples ?? {}), `${method} ${path}`).not.toEqual([])
    }
  })

  it('shows examples that the routes would take and give', () => {
    let count = 0
    for (const route of routes) {
      const name = `${route.method} ${route.path}`
      const note = NOTES.operations[name]
      for (const example of Object.values(note?.examples ?? {})) count += fits(route.body, example, name)
      for (const body of Object.values(note?.bodies ?? {})) count += allFit(body, name)
      for (const { example, stream } of Object.values(note?.answers ?? {})) {
        if (example !== undefined) count += fits(route.view, example, name)
        if (stream !== undefined) count += allFit(stream, name)
      }
    }
    for (const [name, { body, example }] of Object.entries(NOTES.webhooks)) count += fits(body, example, name)
    expect(count).toBeGreaterThan(25)
  })

  it('speaks of answers and bodies that the routes declare', () => {
    for (const route of routes) {
      const note = NOTES.operations[`${route.method} ${route.path}`]
      const answers = Object.keys(note?.answers ?? {}).map(Number)
      expect(
        answers.filter((status) => !route.status.includes(status)),
        route.path,
      ).toEqual([])
      const types: readonly string[] = route.rawBody?.contentTypes ?? []
      expect(
        Object.keys(note?.bodies ?? {}).filter((type) => !types.includes(type)),
        route.path,
      ).toEqual([])
    }
  })

  it('has a webhook for every event that is sent', () => {
    expect(Object.keys(document.webhooks).sort()).toEqual(Object.keys(EVENT_DATA).sort())
  })

  it('leaves no placeholder in what is served', () => {
    expect(JSON.stringify(document)).not.toContain('{base_url}')
  })

  it('defines no component that nothing refers to', () => {
    const text = JSON.stringify(document)
    for (const kind of ['schemas', 'responses'] as const) {
      const idle = Object.keys(document.components[kind]).filter(
        (name) => !text.includes(`"#/components/${kind}/${name}"`),
      )
      expect(idle).toEqual([])
    }
  })
})

function fits(schema: z.ZodType | undefined, example: unknown, name: string): number {
  const parsed = schema?.safeParse(example)
  expect(parsed?.error?.issues ?? [], name).toEqual([])
  // Views drop what they don't declare: an example must not show it.
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
