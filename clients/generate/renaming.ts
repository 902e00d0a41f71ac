// Which members a library that renames must look into, as a table: a type without an entry has no member with names below it, and
// a member that its type does not list stays as it is. Names themselves follow a rule, so they are not part of it.

import { isDeepStrictEqual } from 'node:util'
import type { Api } from './operations.ts'
import { getType, membersOf, type NamedType, type Shape } from './shapes.ts'

/** Maps a type to its members (as in JSON), and each member to the entry of what is in it. */
export type ShapeTable = Record<string, Record<string, string>>

/**
 * The entry of an object with nothing below it that is renamed; it is not in the table. Its names are renamed, also those that a
 * later service adds.
 */
export const FLAT = 'flat'
/** The entry of what stays as it is. */
export const VERBATIM = 'verbatim'

export function tableOf({ operations, types }: Api): { table: ShapeTable; entryOf: (shape: Shape) => string } {
  const table: ShapeTable = {}
  const begun = new Map<string, string>()

  /** The entry for a shape: FLAT or a key of the table; VERBATIM where nothing below it is renamed. */
  function entryOf(shape: Shape): string {
    if (shape.kind === 'list') return entryOf(shape.item)
    if (shape.kind === 'named') return entryOfType(getType(shape.name, types))
    if (shape.kind === 'union') return entryOfUnion(shape.options)
    if (shape.kind === 'object') throw new Error('an object inside another needs a name')
    return VERBATIM
  }

  function entryOfType(type: NamedType): string {
    if (type.isVerbatim) return VERBATIM
    if (type.shape.kind !== 'object') return entryOf(type.shape)
    const known = begun.get(type.name)
    if (known !== undefined) return known
    // What refers to itself is in the table, whatever else is in it.
    begun.set(type.name, type.name)
    const members = membersOf(type.shape, types)
    const inner = members
      .map(({ name, shape }) => [name, entryOfMember(shape, `${type.name}.${name}`)] as const)
      .filter(([, entry]) => entry !== VERBATIM)
    if (inner.length > 0) table[type.name] = Object.fromEntries(inner)
    const entry = inner.length > 0 ? type.name : FLAT
    begun.set(type.name, entry)
    return entry
  }

  function entryOfMember(shape: Shape, place: string): string {
    const options = shape.kind === 'union' ? shape.options.filter(({ kind }) => kind !== 'null') : [shape]
    const [only] = options
    if (options.length !== 1 || only?.kind !== 'object') return entryOf(shape)
    table[place] = Object.fromEntries(
      only.members
        .map((member) => [member.name, entryOf(member.shape)] as const)
        .filter(([, entry]) => entry !== VERBATIM),
    )
    return place
  }

  // Nothing says at run time which option a value is: their members are looked into alike, so they must agree.
  function entryOfUnion(options: readonly Shape[]): string {
    const objects = options.filter((option) => isObject(option))
    const entries = [...new Set(objects.map(entryOf))]
    if (entries.length <= 1) return entries[0] ?? VERBATIM
    const key = entries.join('|')
    const merged: Record<string, string> = {}
    for (const option of objects) {
      for (const { name, shape } of membersOf(option, types)) {
        const entry = entryOf(shape)
        if (merged[name] !== undefined && merged[name] !== entry) {
          throw new Error(`${key} has a member ${name} of two shapes: no rule says which names it has`)
        }
        merged[name] = entry
      }
    }
    const inner = Object.entries(merged).filter(([, entry]) => entry !== VERBATIM)
    if (inner.length === 0) return FLAT
    const whole = Object.fromEntries(inner)
    // Options that have nothing below them add nothing to the one that has.
    const [only, ...others] = entries.filter((entry) => entry !== FLAT)
    if (only !== undefined && others.length === 0 && isDeepStrictEqual(table[only], whole)) return only
    table[key] = whole
    return key
  }

  function isObject(shape: Shape): boolean {
    if (shape.kind === 'named') return isObject(getType(shape.name, types).shape)
    if (shape.kind === 'list') return isObject(shape.item)
    return ['object', 'map', 'union', 'verbatim'].includes(shape.kind)
  }

  for (const { body, answer } of operations) {
    if (body?.kind === 'json') entryOf(body.shape)
    if (body?.kind === 'lines') entryOf(body.item)
    if (answer.kind === 'json') entryOf(answer.shape)
    if (answer.kind === 'page' || answer.kind === 'lines') entryOf(answer.item)
  }
  return { table, entryOf }
}
