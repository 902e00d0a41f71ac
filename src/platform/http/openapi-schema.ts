// Our schemas as JSON Schema 2020-12 in an OpenAPI document. A schema with an `id` (`.meta({ id: 'Claim' })`) is one
// component wherever it is used. One without takes its name from the place of use, or is written in place.

import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import { baseOf, type Shown, shownOf } from './views.ts'

export type Schema = { [key: string]: unknown }
export type Components = Record<string, Schema>
export type Direction = 'input' | 'output'

const COMPONENT = '#/components/schemas/'
const DEFINITION = '#/$defs/'
// Names that zod makes for schemas that refer to themselves without having an id.
const UNNAMED = /^__schema\d+$/
const DEFINITION_OF = /^\{"\$ref":"#\/\$defs\/(__schema\d+)"\}$/

/**
 * Adds a schema to the components, and returns the reference to it.
 * @param name The component's name where the schema has no id.
 */
export function hoist(
  schema: z.ZodType,
  io: Direction,
  { name, schemas }: { name: string; schemas: Components },
): Schema {
  const described = describe(schema, io, { name, schemas })
  if (typeof described.$ref === 'string' && Object.keys(described).length === 1) return described
  add(schemas, name, described)
  return { $ref: `${COMPONENT}${name}` }
}

/** The members of an object's schema, each in place; members that have an id are references. */
export function propertiesOf(
  schema: z.ZodObject | undefined,
  io: Direction,
  { name, schemas }: { name: string; schemas: Components },
): { properties: Components; required: string[] } {
  if (schema === undefined) return { properties: {}, required: [] }
  const { properties = {}, required = [] } = describe(schema, io, { name, schemas })
  return { properties: properties as Components, required: required as string[] }
}

export function isNever(schema: z.ZodType): boolean {
  return schema instanceof z.ZodNever
}

// The schema is described as the member of another, so that its own id takes effect like any other.
function describe(schema: z.ZodType, io: Direction, { name, schemas }: { name: string; schemas: Components }): Schema {
  const bases: z.ZodType[] = []
  const { properties, $defs = {} } = z.toJSONSchema(z.object({ root: schema }), {
    io,
    target: 'draft-2020-12',
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema }) => {
      const shown = shownOf(zodSchema)
      if (shown !== undefined) return refer(jsonSchema, shown, schemas)
      adapt(jsonSchema, io)
      const extension = baseOf(zodSchema)
      if (extension === undefined) return
      bases.push(extension.base)
      extend(jsonSchema, extension, io)
    },
  })
  // A schema that refers to itself is a definition too: it gets the requested name.
  const own = DEFINITION_OF.exec(JSON.stringify(properties?.root))?.[1]
  const rename = (key: string) => {
    if (!UNNAMED.test(key)) return key
    return key === own ? name : `${name}${key.replace('__schema', 'Part')}`
  }
  const place = (node: unknown): unknown => {
    if (Array.isArray(node)) return node.map(place)
    if (typeof node !== 'object' || node === null) return node
    return Object.fromEntries(
      Object.entries(node).map(([key, value]) => [
        key,
        key === '$ref' && typeof value === 'string' ? COMPONENT + rename(value.slice(DEFINITION.length)) : place(value),
      ]),
    )
  }
  for (const [key, value] of Object.entries($defs)) add(schemas, rename(key), place(value) as Schema)
  for (const base of new Set(bases)) hoist(base, io, { name, schemas })
  return place(properties?.root) as Schema
}

function adapt(jsonSchema: z.core.JSONSchema.BaseSchema, io: Direction): void {
  // Answers may gain fields within v1, so clients must not be told to refuse them.
  if (io === 'output' && jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties
  // Generators read an object without members as one that may have none. JSON has no other names than strings.
  if (isEmpty(jsonSchema.additionalProperties)) jsonSchema.additionalProperties = true
  if (isDeepStrictEqual(jsonSchema.propertyNames, { type: 'string' })) delete jsonSchema.propertyNames
  if (isFreeForm(jsonSchema)) jsonSchema.additionalProperties = true
  // Generators make a member with a default required, in requests too: the description says what its absence means.
  if (jsonSchema.default !== undefined) {
    if (io === 'input') jsonSchema.description = withDefault(jsonSchema.description, jsonSchema.default)
    delete jsonSchema.default
  }
  // In our schemas readOnly is about TypeScript; in OpenAPI it would mean that no request may carry the member.
  delete jsonSchema.readOnly
  // RFC 4648 5 has a pattern; Swagger UI fails on an encoding that it does not know.
  if (jsonSchema.contentEncoding === 'base64url') delete jsonSchema.contentEncoding
  // `contentEncoding` says it: validators refuse a format that they do not know.
  if (jsonSchema.format === 'base64' || jsonSchema.format === 'base64url') delete jsonSchema.format
  // zod's pattern for times fills half a screen and repeats the format.
  if (jsonSchema.format === 'date-time') delete jsonSchema.pattern
  // Hashed, signed, or the caller's own: clients do not rename its members.
  if (jsonSchema.verbatim === true) {
    delete jsonSchema.verbatim
    jsonSchema['x-verbatim'] = true
  }
}

// Leaves the members of the base to a reference.
function extend(
  jsonSchema: z.core.JSONSchema.BaseSchema,
  { base, own }: { base: z.ZodObject; own: readonly string[] },
  io: Direction,
): void {
  const id = z.globalRegistry.get(base)?.id
  if (id === undefined) throw new Error('a shape that others extend needs an id')
  if (io === 'input') throw new Error(`${id} is extended in a request, which refuses what it does not declare`)
  const { type, properties = {}, required = [], ...rest } = jsonSchema
  const added = required.filter((name) => own.includes(name))
  for (const key of Object.keys(jsonSchema)) delete jsonSchema[key]
  Object.assign(jsonSchema, rest, {
    allOf: [
      { $ref: `${DEFINITION}${id}` },
      {
        type,
        properties: Object.fromEntries(Object.entries(properties).filter(([name]) => own.includes(name))),
        ...(added.length > 0 && { required: added }),
      },
    ],
  })
}

function refer(jsonSchema: z.core.JSONSchema.BaseSchema, { shown, io }: Shown, schemas: Components): void {
  const id = z.globalRegistry.get(shown)?.id
  if (id === undefined) throw new Error('a shape that is shown in place of another needs an id')
  hoist(shown, io, { name: id, schemas })
  for (const key of Object.keys(jsonSchema)) delete jsonSchema[key]
  jsonSchema.$ref = `${DEFINITION}${id}`
}

function isEmpty(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0
}

function isFreeForm({ type, properties, additionalProperties }: z.core.JSONSchema.BaseSchema): boolean {
  return type === 'object' && properties === undefined && additionalProperties === undefined
}

function withDefault(description: string | undefined, value: unknown): string {
  if (description !== undefined && /default|absent|otherwise|without it/i.test(description)) return description
  const sentence = `Default: \`${typeof value === 'string' ? value : JSON.stringify(value)}\`.`
  return description === undefined ? sentence : `${description} ${sentence}`
}

// Two different schemas under one name are an error: a schema whose input and output differ needs two names.
function add(schemas: Components, name: string, schema: Schema): void {
  const known = schemas[name]
  if (known !== undefined && !isDeepStrictEqual(known, schema)) throw new Error(`two schemas have the name ${name}`)
  schemas[name] = schema
}
