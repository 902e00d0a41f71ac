// What the generator writes is what is checked in, nothing is left out, and names survive both ways.

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { camelOf, snakeOf } from '#client/core/case.ts'
import { fromJson, toJson } from '#client/core/names.ts'
import { EXCEPTIONS } from '../../clients/exceptions.ts'
import { type OpenApiDocument, readDocument } from '../../clients/generate/document.ts'
import { readApi, sdkOf } from '../../clients/generate/operations.ts'
import { writeOutputs } from '../../clients/generate/outputs.ts'
import { tableOf } from '../../clients/generate/renaming.ts'
import { getType, membersOf, partsOf, readShape, type Shape } from '../../clients/generate/shapes.ts'

const ROOT = join(import.meta.dirname, '../..')
const document = await readDocument()
const api = readApi(document, EXCEPTIONS)
const { types } = api

describe('the generated files', () => {
  it('are those that are checked in: `npm run clients` writes them', async () => {
    const different = Object.entries(await writeOutputs())
      .filter(([path, text]) => !existsSync(join(ROOT, path)) || readFileSync(join(ROOT, path), 'utf8') !== text)
      .map(([path]) => path)
    expect(different).toEqual([])
  })

  it('have a method for each operation, or a reason why there is none', () => {
    const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods))
    const known = [...api.operations.map(({ id }) => id.replace(/:.*/, '')), ...api.without.map(({ id }) => id)]
    expect([...new Set(known)].sort()).toEqual(operations.map(({ operationId }) => operationId).sort())
    for (const { id, reason } of api.without) expect(reason.length, id).toBeGreaterThan(10)
    const methods = api.operations.map(sdkOf)
    expect(methods.length).toBe(new Set(methods).size)
  })

  it('name the arguments of a path as answers name the same id', () => {
    const members = new Set([...types.values()].flatMap(({ shape }) => namesIn(shape)))
    const unknown = api.operations.flatMap((operation) =>
      operation.arguments.filter(({ name }) => !members.has(name)).map(({ name }) => `${sdkOf(operation)} ${name}`),
    )
    // It is no member of any answer: verifiers read the list itself.
    expect(unknown).toEqual(['intent.statusLists.retrieve status_list_id'])
  })
})

describe('the generator', () => {
  const withSchema = (schema: object) =>
    ({
      ...document,
      components: { ...document.components, schemas: { ...document.components.schemas, Odd: schema } },
    }) as OpenApiDocument

  it.each([
    { type: 'string', patternProperties: {} },
    { type: 'object', properties: { a: { not: {} } } },
    { type: 'array', prefixItems: [] },
    { anyOf: [{ type: 'array', items: { if: {} } }] },
    { type: 'object', additionalProperties: { dependentRequired: {} } },
  ])('refuses a keyword that it does not know: %j', (schema) => {
    expect(() => readApi(withSchema(schema), EXCEPTIONS)).toThrow(/does not know the keyword/)
  })

  it('refuses a type that it does not know', () => {
    expect(() => readShape({ type: 'date' }, 'Odd')).toThrow(/does not know the type date/)
  })

  it('refuses an operation without a method and without a reason', () => {
    const [path = ''] = Object.keys(document.paths)
    const operations = Object.entries(document.paths[path] ?? {}).map(([method, operation]) => {
      const { 'x-sdk': _method, 'x-no-sdk': _reason, ...rest } = operation
      return [method, rest]
    })
    const odd = { ...document, paths: { ...document.paths, [path]: Object.fromEntries(operations) } } as OpenApiDocument
    expect(() => readApi(odd, EXCEPTIONS)).toThrow(/neither a method nor a reason/)
  })

  it('refuses an exception that nothing uses', () => {
    const odd = { ...EXCEPTIONS, arguments: { ...EXCEPTIONS.arguments, '/v1/nowhere/{id}': { id: 'where_id' } } }
    expect(() => readApi(document, odd)).toThrow(/nothing uses: \/v1\/nowhere/)
  })
})

describe('names', () => {
  const { entryOf } = tableOf(api)
  // A list is read by its items, and what only lends its members to others is never met by itself.
  const met = new Set([
    ...[...types.values()].flatMap(({ shape }) => namedIn(shape)),
    ...api.operations.flatMap(({ body, answer }) => [
      ...(body?.kind === 'json' ? namedIn(body.shape) : body?.kind === 'lines' ? namedIn(body.item) : []),
      ...(answer.kind === 'json' ? namedIn(answer.shape) : answer.kind === 'bytes' ? [] : namedIn(answer.item)),
    ]),
  ])
  const renamed = [...types.values()].filter(({ name, isRenamedSomewhere }) => isRenamedSomewhere && met.has(name))

  it.each(renamed.map(({ name }) => name))(
    'of %s survive both ways, and what belongs to others keeps its own',
    (name) => {
      const shape: Shape = { kind: 'named', name }
      const entry = entryOf(shape)
      fc.assert(
        fc.property(arbitraryOf(shape, 0), (value) => {
          const here = fromJson(value, entry)
          expect(here).toEqual(expectedOf(value, shape, camelOf))
          expect(toJson(here, entry)).toEqual(value)
        }),
        { numRuns: 10 },
      )
    },
  )

  it('of any form survive both ways', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[a-z][a-z0-9]*(_[a-z][a-z0-9]*)*$/), (name) => snakeOf(camelOf(name)) === name),
    )
    expect(fromJson(JSON.parse('{"__proto__": {"a_b": 1}, "c_d": 2}'), 'flat')).toEqual(
      JSON.parse('{"__proto__": {"a_b": 1}, "cD": 2}'),
    )
  })

  /** Follows the shapes of the document, where the library follows its table. */
  function expectedOf(value: unknown, shape: Shape, nameOf: (name: string) => string): unknown {
    if (shape.kind === 'list') return (value as unknown[]).map((item) => expectedOf(item, shape.item, nameOf))
    if (shape.kind === 'union') {
      const option = shape.options.find((one) => isOf(value, one))
      return option === undefined ? value : expectedOf(value, option, nameOf)
    }
    if (shape.kind === 'named') {
      const type = getType(shape.name, types)
      return type.isVerbatim
        ? value
        : type.shape.kind === 'object'
          ? objectOf(value, shape, nameOf)
          : expectedOf(value, type.shape, nameOf)
    }
    return shape.kind === 'object' ? objectOf(value, shape, nameOf) : value
  }

  function objectOf(value: unknown, shape: Shape, nameOf: (name: string) => string): unknown {
    const members = membersOf(shape, types)
    return Object.fromEntries(
      Object.entries(value as object).map(([name, inner]) => {
        const member = members.findLast((one) => one.name === name)
        return [nameOf(name), member === undefined ? inner : expectedOf(inner, member.shape, nameOf)]
      }),
    )
  }
})

/** Whether a value was made for this option of a union. */
function isOf(value: unknown, shape: Shape): boolean {
  if (shape.kind === 'named') return isOf(value, getType(shape.name, types).shape)
  if (shape.kind === 'union') return shape.options.some((option) => isOf(value, option))
  if (shape.kind === 'null') return value === null
  if (shape.kind === 'list') return Array.isArray(value) && value.every((item) => isOf(item, shape.item))
  if (shape.kind !== 'object') return ['map', 'verbatim', 'anything'].includes(shape.kind) || typeof value !== 'object'
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  const members = membersOf(shape, types)
  return members.every(({ name, isRequired, shape: inner }) => {
    if (!Object.hasOwn(value, name)) return !isRequired
    const { [name]: own } = value as Record<string, unknown>
    return inner.kind !== 'literal' || own === inner.value
  })
}

// The caller's own names, in either form.
const FREE = fc.dictionary(
  fc.constantFrom('a_b', 'aB', 'x', 'long_own_name', '__proto__'),
  fc.oneof(fc.integer(), fc.constant({ own_name: 1 })),
  {
    noNullPrototype: true,
  },
)
const MAX_DEPTH = 6

function arbitraryOf(shape: Shape, depth: number): fc.Arbitrary<unknown> {
  switch (shape.kind) {
    case 'text':
    case 'bytes':
      return fc.constantFrom('', 'a_b', 'aB')
    case 'integer':
    case 'number':
      return fc.integer()
    case 'boolean':
      return fc.boolean()
    case 'null':
      return fc.constant(null)
    case 'literal':
      return fc.constant(shape.value)
    case 'enumeration':
      return fc.constantFrom(...shape.values, 'a_later_value')
    case 'anything':
    case 'map':
      return FREE
    case 'verbatim':
      return arbitraryOf(shape.shape, depth)
    case 'list':
      return depth > MAX_DEPTH ? fc.constant([]) : fc.array(arbitraryOf(shape.item, depth + 1), { maxLength: 2 })
    case 'union':
      return fc.oneof(...optionsOf(shape.options, depth).map((option) => arbitraryOf(option, depth)))
    case 'named':
      return arbitraryOfNamed(shape, depth)
    case 'object':
      return arbitraryOfObject(shape, depth)
  }
}

// Deep inside, what refers to itself ends.
function optionsOf(options: readonly Shape[], depth: number): readonly Shape[] {
  const ends = options.filter(({ kind }) => !['named', 'list', 'object', 'union'].includes(kind))
  return depth > MAX_DEPTH && ends.length > 0 ? ends : options
}

function arbitraryOfNamed(shape: Extract<Shape, { kind: 'named' }>, depth: number): fc.Arbitrary<unknown> {
  const type = getType(shape.name, types)
  return type.shape.kind === 'object' ? arbitraryOfObject(shape, depth) : arbitraryOf(type.shape, depth)
}

function arbitraryOfObject(shape: Shape, depth: number): fc.Arbitrary<unknown> {
  const members = new Map(membersOf(shape, types).map((member) => [member.name, member]))
  const required = [...members.values()].filter((member) => member.isRequired || depth < 2)
  const models = required.map((member) => [member.name, arbitraryOf(member.shape, depth + 1)] as const)
  // A later service adds members.
  const later = fc.record({ later_member: fc.integer(), later: FREE }, { requiredKeys: [] })
  return fc.tuple(fc.record(Object.fromEntries(models)), later).map(([own, more]) => ({ ...more, ...own }))
}

/** The types that a shape refers to, but for those whose members it has. */
function namedIn(shape: Shape): string[] {
  if (shape.kind === 'named') return [shape.name]
  return partsOf(shape.kind === 'object' ? { ...shape, bases: [] } : shape).flatMap(namedIn)
}

function namesIn(shape: Shape): string[] {
  if (shape.kind === 'object') return shape.members.flatMap((member) => [member.name, ...namesIn(member.shape)])
  if (shape.kind === 'union') return shape.options.flatMap(namesIn)
  return shape.kind === 'list' ? namesIn(shape.item) : []
}
