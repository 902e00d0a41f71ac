// Schemas of ours as JSON Schema 2020-12 inside of an OpenAPI document.

import { z } from 'zod'

export type Schema = { [key: string]: unknown }
export type Components = Record<string, Schema>

export function schemaOf(schema: z.ZodType, io: 'input' | 'output'): Schema {
  const { $schema: _dialect, ...described } = z.toJSONSchema(schema, {
    io,
    target: 'draft-2020-12',
    unrepresentable: 'any',
    override({ jsonSchema }) {
      // Answers may gain fields within v1, so that no client may be told to refuse them.
      if (io === 'output' && jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties
      // Of ours it speaks of TypeScript; in OpenAPI it would say that no request may carry it.
      delete jsonSchema.readOnly
      // The format says it as well, and Swagger UI falls over an encoding that it does not know.
      if (jsonSchema.contentEncoding === 'base64url') delete jsonSchema.contentEncoding
      // zod's pattern for times fills half a screen and says what the format says.
      if (jsonSchema.format === 'date-time') delete jsonSchema.pattern
    },
  })
  return described
}

export function propertiesOf({ properties }: Schema): Components {
  return typeof properties === 'object' && properties !== null ? (properties as Components) : {}
}

/**
 * Puts a schema among the components, and answers the reference to it. zod writes references relative to its own document
 * (`#`, `#/$defs/x`); inside of ours they must point to components.
 */
export function hoist(described: Schema, name: string, schemas: Components): Schema {
  const { $defs, ...root } = described
  const rename = (ref: string) =>
    ref === '#' ? `#/components/schemas/${name}` : ref.replace('#/$defs/', `#/components/schemas/${name}_`)
  const walk = (node: unknown): unknown => {
    if (Array.isArray(node)) return node.map(walk)
    if (typeof node !== 'object' || node === null) return node
    return Object.fromEntries(
      Object.entries(node).map(([key, value]) => [
        key,
        key === '$ref' && typeof value === 'string' ? rename(value) : walk(value),
      ]),
    )
  }
  schemas[name] = walk(root) as Schema
  for (const [key, value] of Object.entries($defs ?? {})) schemas[`${name}_${key}`] = walk(value) as Schema
  return { $ref: `#/components/schemas/${name}` }
}
