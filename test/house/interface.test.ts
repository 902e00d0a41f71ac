// Generators and libraries depend on shapes that follow rules. What breaks one of them stands in interface.exceptions.json,
// which only shrinks: `UPDATE=1 npm test -- test/house/interface.test.ts` removes what is fixed.

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { allRoutes } from '#src/app.ts'
import { notesOf } from '#src/docs/notes.ts'
import { describeRoutes } from '#src/platform/http/openapi.ts'
import { type InterfaceDocument, RULES } from '../support/interface-rules.ts'
import { makeServices, routesOf } from '../support/services.ts'

const FILE = join(import.meta.dirname, 'interface.exceptions.json')
const baseUrl = 'https://api.example.test'
const services = makeServices()
const routes = allRoutes({ routes: routesOf(services), jwks: async () => ({ keys: [] }), baseUrl })
const document = (await describeRoutes(routes, {
  baseUrl,
  notes: notesOf(services.features),
})) as unknown as InterfaceDocument
const exceptions: Record<string, string[]> = JSON.parse(readFileSync(FILE, 'utf8'))
afterAll(() => services.close())

if (process.env.UPDATE !== undefined) {
  const left = Object.entries(exceptions).map(([rule, places]): [string, string[]] => {
    const broken = new Set(RULES[rule]?.(document))
    return [rule, places.filter((place) => broken.has(place))]
  })
  Object.assign(exceptions, Object.fromEntries(left))
  const kept = Object.fromEntries(left.filter(([, places]) => places.length > 0))
  writeFileSync(FILE, `${JSON.stringify(kept, null, 2)}\n`)
}

describe('the interface', () => {
  it.each(Object.entries(RULES))('%s', (rule, broken) => {
    const known = new Set(exceptions[rule] ?? [])
    const found = new Set(broken(document))
    expect({ broken: [...found.difference(known)], fixed: [...known.difference(found)] }).toEqual({
      broken: [],
      fixed: [],
    })
  })

  it('has exceptions of known rules only', () => {
    expect(Object.keys(exceptions).filter((rule) => RULES[rule] === undefined)).toEqual([])
  })

  it('leaves pages of HTML to browsers', () => {
    expect(JSON.stringify(document.paths)).not.toContain('text/html')
  })
})
