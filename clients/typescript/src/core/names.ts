// Names in JSON are snake_case and names in this library camelCase, at every depth that the interface defines. What belongs to the
// caller, and what is hashed or signed, keeps its names: only members that the table of shapes lists are looked into.

import { SHAPES } from '../generated/shapes.ts'
import { camelOf, snakeOf } from './case.ts'

/** The shape of a value whose names stay as they are. */
export const VERBATIM = 'verbatim'

/** An answer with the names of this library. @param shape A name of the table, or VERBATIM. */
export function fromJson(value: unknown, shape: string): unknown {
  return rename(value, shape, (name) => [name, camelOf(name)])
}

/** A request with the names of the interface. */
export function toJson(value: unknown, shape: string): unknown {
  return rename(value, shape, (name) => {
    const inJson = snakeOf(name)
    return [inJson, inJson]
  })
}

/** @param namesOf The name in the table, and the new one. */
function rename(value: unknown, shape: string, namesOf: (name: string) => [string, string]): unknown {
  if (shape === VERBATIM) return value
  if (Array.isArray(value)) return value.map((item) => rename(item, shape, namesOf))
  if (!isPlain(value)) return value
  const inner = SHAPES[shape]
  // Not by assignment, for which `__proto__` is no name.
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => {
      const [inTable, renamed] = namesOf(name)
      const next = inner !== undefined && Object.hasOwn(inner, inTable) ? inner[inTable] : undefined
      return [renamed, next === undefined ? member : rename(member, next, namesOf)]
    }),
  )
}

function isPlain(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !(value instanceof Date)
}
