// JSON Schema as shapes: what a value looks like, without the bounds that only the service checks. A keyword that is not
// known here is refused, so that a new one is thought about before it is lost in every library.

import type { OpenApiDocument, Schema } from './document.ts'

/** What a value looks like. `named` refers to a type of the document; null is one of the options of a union. */
export type Shape =
  | { readonly kind: 'integer' | 'number' | 'boolean' | 'null' | 'anything' | 'bytes' }
  /** `format` is set for times: models write them themselves, where programs have a library. */
  | { readonly kind: 'text'; readonly format?: 'date-time' | 'date' }
  | { readonly kind: 'literal'; readonly value: string | number | boolean }
  | { readonly kind: 'enumeration'; readonly values: readonly string[] }
  | { readonly kind: 'list'; readonly item: Shape }
  /** An object with the caller's own names. Nothing below it is renamed. */
  | { readonly kind: 'map'; readonly value: Shape }
  | ObjectShape
  | { readonly kind: 'union'; readonly options: readonly Shape[] }
  | { readonly kind: 'named'; readonly name: string }
  /** Nothing below it is renamed: the value is hashed, signed, or the words of another standard. */
  | { readonly kind: 'verbatim'; readonly shape: Shape }

export interface ObjectShape {
  readonly kind: 'object'
  /** Names of types whose members this object has too. */
  readonly bases: readonly string[]
  readonly members: readonly Member[]
}

export interface Member {
  /** Name in JSON. */
  readonly name: string
  readonly shape: Shape
  readonly isRequired: boolean
  readonly description: string | undefined
}

/** A component of the document. */
export interface NamedType {
  readonly name: string
  readonly shape: Shape
  readonly description: string | undefined
  /** Its own names and those of everything below it stay as they are, in every library. */
  readonly isVerbatim: boolean
  /** Some request has it: its enumerations are closed there. */
  isRequested: boolean
  /** Some answer has it: its enumerations are open, since a later service may add values. */
  isAnswered: boolean
  /** Something that is renamed has it, or an operation directly. */
  isRenamedSomewhere: boolean
  /** It stands below something that is verbatim or a map, so that a library that renames needs it with its own names too. */
  isVerbatimSomewhere: boolean
}

const COMPONENT = '#/components/schemas/'

// Bounds and notes: they describe what the service refuses, and clients need no second opinion.
const IGNORED = [
  'description',
  'examples',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
  'pattern',
  'format',
  'contentEncoding',
  'propertyNames',
] as const
const READ = [
  '$ref',
  'type',
  'const',
  'enum',
  'items',
  'properties',
  'required',
  'additionalProperties',
  'anyOf',
  'oneOf',
  'allOf',
  'x-verbatim',
  'contentMediaType',
  'contentSchema',
] as const
const KNOWN: ReadonlySet<string> = new Set([...IGNORED, ...READ])

/** @param place Where the schema stands, for the message of a refusal. */
export function readShape(schema: Schema, place: string): Shape {
  const unknown = Object.keys(schema).filter((keyword) => !KNOWN.has(keyword))
  if (unknown.length > 0) throw new Error(`${place}: the generator does not know the keyword ${unknown.join(', ')}`)
  const shape = readAny(schema, place)
  return schema['x-verbatim'] === true ? { kind: 'verbatim', shape } : shape
}

function readAny(schema: Schema, place: string): Shape {
  const { $ref, anyOf, oneOf, allOf, type } = schema
  if (typeof $ref === 'string') return { kind: 'named', name: $ref.slice(COMPONENT.length) }
  if (schema.const !== undefined) return { kind: 'literal', value: schema.const as string }
  if (Array.isArray(schema.enum)) return readEnumeration(schema.enum, place)
  if (Array.isArray(allOf)) return readExtension(allOf, place)
  const options = [anyOf, oneOf].find(Array.isArray)
  if (options !== undefined) return unionOf(options.map((option: Schema) => readShape(option, place)))
  if (Array.isArray(type)) return unionOf(type.map((one: string) => readTyped({ ...schema, type: one }, place)))
  return readTyped(schema, place)
}

function readTyped(schema: Schema, place: string): Shape {
  const { type, format, items } = schema
  if (type === undefined) return { kind: 'anything' }
  if (type === 'string') {
    if (format === 'binary') return { kind: 'bytes' }
    return format === 'date-time' || format === 'date' ? { kind: 'text', format } : { kind: 'text' }
  }
  if (type === 'integer' || type === 'number' || type === 'boolean' || type === 'null') return { kind: type }
  if (type === 'array') return { kind: 'list', item: readShape(items as Schema, `${place}[]`) }
  if (type === 'object') return readObject(schema, place)
  throw new Error(`${place}: the generator does not know the type ${String(type)}`)
}

function readObject({ properties, required, additionalProperties }: Schema, place: string): Shape {
  if (properties === undefined) {
    const isAny = typeof additionalProperties !== 'object' || additionalProperties === null
    const value = isAny ? ({ kind: 'anything' } as const) : readShape(additionalProperties as Schema, `${place}.*`)
    return { kind: 'map', value }
  }
  if (typeof additionalProperties === 'object') throw new Error(`${place}: an object is a map or has members`)
  const names = (required ?? []) as readonly string[]
  const members = Object.entries(properties as Record<string, Schema>).map(([name, schema]) => ({
    name,
    shape: readShape(schema, `${place}.${name}`),
    isRequired: names.includes(name),
    description: schema.description as string | undefined,
  }))
  return { kind: 'object', bases: [], members }
}

// The document writes an object that has another's members as `allOf` of a reference and of what it adds.
function readExtension(parts: readonly Schema[], place: string): ObjectShape {
  const shapes = parts.map((part) => readShape(part, place))
  const bases = shapes.flatMap((shape) => (shape.kind === 'named' ? [shape.name] : []))
  const objects = shapes.filter((shape) => shape.kind === 'object')
  if (bases.length + objects.length !== shapes.length)
    throw new Error(`${place}: allOf has references and objects only`)
  return { kind: 'object', bases, members: objects.flatMap(({ members }) => members) }
}

function readEnumeration(values: readonly unknown[], place: string): Shape {
  if (values.every((value) => typeof value === 'string')) return { kind: 'enumeration', values }
  if (!values.every((value) => typeof value === 'number')) throw new Error(`${place}: an enumeration of mixed values`)
  return unionOf(values.map((value) => ({ kind: 'literal', value })))
}

function unionOf(options: readonly Shape[]): Shape {
  const flat = options.flatMap((option) => (option.kind === 'union' ? option.options : [option]))
  return { kind: 'union', options: flat }
}

/** A nullable shape without its null. */
export function withoutNull(shape: Shape): { shape: Shape; isNullable: boolean } {
  if (shape.kind !== 'union') return { shape, isNullable: shape.kind === 'null' }
  const options = shape.options.filter(({ kind }) => kind !== 'null')
  const [only] = options
  const isNullable = options.length < shape.options.length
  return { shape: options.length === 1 && only !== undefined ? only : { kind: 'union', options }, isNullable }
}

/** Every component, with nothing said yet of its use. */
export function readTypes({ components }: OpenApiDocument): Map<string, NamedType> {
  return new Map(
    Object.entries(components.schemas).map(([name, schema]) => {
      const shape = readShape(schema, name)
      const isVerbatim = shape.kind === 'verbatim'
      const type: NamedType = {
        name,
        shape: isVerbatim ? shape.shape : shape,
        description: schema.description as string | undefined,
        isVerbatim,
        isRequested: false,
        isAnswered: false,
        isRenamedSomewhere: false,
        isVerbatimSomewhere: false,
      }
      return [name, type]
    }),
  )
}

/** Notes that a shape is part of a request or of an answer, and so is everything below it. */
export function markUse(
  shape: Shape,
  types: ReadonlyMap<string, NamedType>,
  use: { direction: 'request' | 'answer'; isVerbatim?: boolean },
): void {
  const isVerbatim = use.isVerbatim || shape.kind === 'verbatim' || shape.kind === 'map'
  for (const part of partsOf(shape)) markUse(part, types, { ...use, isVerbatim })
  if (shape.kind !== 'named') return
  const type = getType(shape.name, types)
  const before = JSON.stringify(type)
  const isVerbatimHere = isVerbatim || type.isVerbatim
  if (use.direction === 'request') type.isRequested = true
  else type.isAnswered = true
  if (isVerbatimHere) type.isVerbatimSomewhere = true
  else type.isRenamedSomewhere = true
  // A type that was marked so before, or that is inside itself.
  if (JSON.stringify(type) === before) return
  markUse(type.shape, types, { ...use, isVerbatim: isVerbatimHere })
}

/** The shapes that a shape is made of. */
export function partsOf(shape: Shape): readonly Shape[] {
  if (shape.kind === 'verbatim') return [shape.shape]
  if (shape.kind === 'map') return [shape.value]
  if (shape.kind === 'list') return [shape.item]
  if (shape.kind === 'union') return shape.options
  if (shape.kind !== 'object') return []
  return [...shape.bases.map((name) => ({ kind: 'named', name }) as const), ...shape.members.map((one) => one.shape)]
}

export function getType(name: string, types: ReadonlyMap<string, NamedType>): NamedType {
  const type = types.get(name)
  if (type === undefined) throw new Error(`the document has no schema ${name}`)
  return type
}

/** The members of an object, those of its bases first. */
export function membersOf(shape: Shape, types: ReadonlyMap<string, NamedType>): readonly Member[] {
  if (shape.kind === 'named') return membersOf(getType(shape.name, types).shape, types)
  if (shape.kind === 'verbatim') return membersOf(shape.shape, types)
  if (shape.kind !== 'object') throw new Error(`a ${shape.kind} has no members`)
  return [...shape.bases.flatMap((name) => membersOf({ kind: 'named', name }, types)), ...shape.members]
}
