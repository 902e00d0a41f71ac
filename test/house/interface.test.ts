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
})
