// The member names that a schema has at a path, so that the refusal of an unknown name can list them.

import { z } from 'zod'

/** Empty where the path is unknown, or where any name is allowed. */
export function knownNames(schema: z.ZodType, path: readonly PropertyKey[]): string[] {
  const [next, ...rest] = path
  if (next === undefined) return [...new Set(objectsOf(schema).flatMap((one) => Object.keys(one.shape)))]
  const inner = unwrapped(schema)
  if (inner instanceof z.ZodArray && typeof next === 'number') return knownNames(inner.element as z.ZodType, rest)
  const members = objectsOf(schema).map((one) => one.shape[String(next)])
  return [...new Set(members.flatMap((member) => (member === undefined ? [] : knownNames(member as z.ZodType, rest))))]
}

function objectsOf(schema: z.ZodType): z.ZodObject[] {
  const inner = unwrapped(schema)
  if (inner instanceof z.ZodObject) return [inner]
  if (inner instanceof z.ZodUnion) return inner.options.flatMap((option) => objectsOf(option as z.ZodType))
  return []
}

function unwrapped(schema: z.ZodType): z.ZodType {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodDefault) {
    return unwrapped(schema.def.innerType as z.ZodType)
  }
  return schema instanceof z.ZodPipe ? unwrapped(schema.def.in as z.ZodType) : schema
}
