// Our schemas as JSON Schema 2020-12 in an OpenAPI document. A schema with an `id` (`.meta({ id: 'Claim' })`) is one
// component wherever it is used. One without takes its name from the place of use, or is written in place.

import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'

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
  const { properties, $defs = {} } = z.toJSONSchema(z.object({ root: schema }), {
    io,
    target: 'draft-2020-12',
    unrepresentable: 'any',
    override: ({ jsonSchema }) => adapt(jsonSchema, io),
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
  return place(properties?.root) as Schema
}

function adapt(jsonSchema: z.core.JSONSchema.BaseSchema, io: Direction): void {
  // Answers may gain fields within v1, so clients must not be told to refuse them.
  if (io === 'output' && jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties
  // In our schemas readOnly is about TypeScript; in OpenAPI it would mean that no request may carry the member.
  delete jsonSchema.readOnly
  // The format says the same, and Swagger UI fails on an encoding that it does not know.
  if (jsonSchema.contentEncoding === 'base64url') delete jsonSchema.contentEncoding
  // zod's pattern for times fills half a screen and repeats the format.
  if (jsonSchema.format === 'date-time') delete jsonSchema.pattern
}

// Two different schemas under one name are an error: a schema whose input and output differ needs two names.
function add(schemas: Components, name: string, schema: Schema): void {
  const known = schemas[name]
  if (known !== undefined && !isDeepStrictEqual(known, schema)) throw new Error(`two schemas have the name ${name}`)
  schemas[name] = schema
}
