// The table of operations that tools of MCP call: how each is sent, and its arguments and answer as JSON Schema. Names stand as in
// the interface. Bounds stay out: the service refuses with a sentence, and a model pays for each word of a schema.

import { judge } from './judgement.ts'
import { type Api, type Operation, sdkOf } from './operations.ts'
import { getType, type Member, membersOf, type NamedType, type Shape, withoutNull } from './shapes.ts'
import { HEADER } from './typescript-types.ts'

type JsonSchema = Record<string, unknown>

const FILE = 'clients/mcp/src/generated/operations.ts'
// The service applies it to lists; tools have a bound of their own.
const LIMIT = 'limit'
// Tools add it to destructive operations.
const CONFIRM = 'confirm'

export function writeMcp(api: Api): Record<string, string> {
  const { allowed, excluded } = judge(api)
  const writer = createSchemaWriter(api.types)
  const operations = allowed.map((operation) => JSON.stringify(entryOf(operation, writer)))
  const reasons = excluded.map(
    ({ operation, reason }) => `  ${JSON.stringify(sdkOf(operation))}: ${JSON.stringify(reason)},\n`,
  )
  const definitions = Object.entries(writer.definitions())
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, schema]) => `  ${name}: ${JSON.stringify(schema)},\n`)
  const imports = "import type { JsonSchema, Operation } from '../operation.ts'\n"
  return {
    [FILE]: [
      HEADER,
      imports,
      `/** Operations that a model may call. */\nexport const OPERATIONS: readonly Operation[] = [\n${operations.map((text) => `  ${text},\n`).join('')}]\n`,
      `/** Operations that are no tools, and why. */\nexport const EXCLUDED: Readonly<Record<string, string>> = {\n${reasons.join('')}}\n`,
      `/** Schemas that arguments refer to as \`#/$defs/Name\`. */\nexport const DEFINITIONS: Readonly<Record<string, JsonSchema>> = {\n${definitions.join('')}}\n`,
      `/** What each group is for. */\nexport const GROUPS: Readonly<Record<string, string>> = ${JSON.stringify(groupsOf(api, allowed), null, 2)}\n`,
    ].join('\n'),
  }
}

function groupsOf({ groups }: Api, allowed: readonly Operation[]): Record<string, string> {
  const used = new Set(allowed.map(({ group }) => group[0]))
  return Object.fromEntries([...groups].filter(([name]) => used.has(name)))
}

type Writer = ReturnType<typeof createSchemaWriter>

function entryOf(operation: Operation, writer: Writer) {
  const { id, method, path, effect, kind, scope, query, headers, body, answer, wait } = operation
  if (answer.kind !== 'json' && answer.kind !== 'page') throw new Error(`${sdkOf(operation)} answers no JSON`)
  const members = body?.kind === 'json' ? body.members : undefined
  const named = headers.map(({ name, shape, isRequired, description }) => ({ name, shape, isRequired, description }))
  const all: Member[] = [
    ...operation.arguments.map(({ name, shape }) => ({ name, shape, isRequired: true, description: undefined })),
    ...query.filter(({ name }) => !(kind === 'list' && name === LIMIT)),
    ...named,
    ...(members ?? []),
    ...wholeOf(operation),
  ]
  if (all.some(({ name }) => name === CONFIRM))
    throw new Error(`${sdkOf(operation)} has an argument ${CONFIRM} of its own`)
  const twin = all.find(({ name }, index) => all.findIndex((one) => one.name === name) !== index)
  if (twin !== undefined) throw new Error(`${sdkOf(operation)} has two arguments ${twin.name}`)
  return {
    name: sdkOf(operation),
    tool: toolOf(id),
    summary: operation.summary.replace(/\.$/, ''),
    method,
    path,
    effect,
    scope: scope ?? null,
    pathArguments: operation.arguments.map(({ name }) => name),
    query: query.map(({ name }) => name),
    headers: Object.fromEntries(headers.map(({ name, header }) => [name, header])),
    body: bodyOf(operation),
    isPage: answer.kind === 'page',
    isWaiting: wait !== undefined,
    takesIdempotencyKey: operation.takesIdempotencyKey,
    input: writer.object(all),
    output: writer.top(answer.shape),
  }
}

/** The one argument of a body without members. */
function wholeOf({ body }: Operation): Member[] {
  if (body?.kind === 'lines') {
    const shape: Shape = { kind: 'list', item: body.item }
    return [{ name: 'items', shape, isRequired: true, description: undefined }]
  }
  if (body?.kind !== 'json' || body.members !== undefined) return []
  return [{ name: 'body', shape: body.shape, isRequired: body.isRequired, description: undefined }]
}

function bodyOf({ body }: Operation): string | null {
  if (body?.kind === 'lines') return 'lines'
  if (body?.kind !== 'json') return null
  return body.members === undefined ? 'whole' : 'members'
}

/** `listClaims` is list_claims; a variant has the name of its method at the end. */
function toolOf(id: string): string {
  return id.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`).replaceAll(/[^a-z0-9_]+/g, '_')
}

function createSchemaWriter(types: ReadonlyMap<string, NamedType>) {
  const definitions: Record<string, JsonSchema> = {}

  function schemaOf(shape: Shape): JsonSchema {
    switch (shape.kind) {
      case 'text':
        return shape.format === undefined ? { type: 'string' } : { type: 'string', format: shape.format }
      case 'integer':
      case 'number':
      case 'boolean':
      case 'null':
        return { type: shape.kind }
      case 'anything':
        return {}
      case 'bytes':
        return { type: 'string' }
      case 'literal':
        return { const: shape.value }
      case 'enumeration':
        return { enum: shape.values }
      case 'list':
        return { type: 'array', items: schemaOf(shape.item) }
      case 'map':
        return mapOf(shape.value)
      case 'verbatim':
        return schemaOf(shape.shape)
      case 'union':
        return { anyOf: shape.options.map(schemaOf) }
      case 'named':
        return referenceTo(shape.name)
      case 'object':
        return object(membersOf(shape, types))
    }
  }

  function mapOf(value: Shape): JsonSchema {
    return value.kind === 'anything' ? { type: 'object' } : { type: 'object', additionalProperties: schemaOf(value) }
  }

  function referenceTo(name: string): JsonSchema {
    const { shape, description } = getType(name, types)
    if (shape.kind !== 'object' && shape.kind !== 'union' && shape.kind !== 'verbatim') return schemaOf(shape)
    if (definitions[name] === undefined) {
      // Set before its members are read: a type may contain itself.
      definitions[name] = {}
      definitions[name] = described(schemaOf(shape), description)
    }
    return { $ref: `#/$defs/${name}` }
  }

  function object(members: readonly Member[]): JsonSchema {
    const required = members.filter(({ isRequired }) => isRequired).map(({ name }) => name)
    return {
      type: 'object',
      properties: Object.fromEntries(
        members.map(({ name, shape, description }) => [name, described(schemaOf(shape), description)]),
      ),
      ...(required.length > 0 && { required }),
      additionalProperties: false,
    }
  }

  /** Names and types of the first level: what is inside shows in each answer. */
  function top(shape: Shape): JsonSchema {
    const target = shape.kind === 'named' ? getType(shape.name, types).shape : shape
    if (target.kind !== 'object' && target.kind !== 'verbatim') return { type: 'object' }
    const members = membersOf(target, types)
    return {
      type: 'object',
      properties: Object.fromEntries(members.map(({ name, shape: inner }) => [name, typeOf(inner)])),
    }
  }

  function typeOf(shape: Shape): JsonSchema {
    const { shape: inner, isNullable } = withoutNull(shape)
    const name = nameOf(inner)
    if (name === undefined) return {}
    return { type: isNullable ? [name, 'null'] : name }
  }

  function nameOf(shape: Shape): string | undefined {
    if (shape.kind === 'named') return nameOf(getType(shape.name, types).shape)
    if (shape.kind === 'verbatim') return nameOf(shape.shape)
    if (shape.kind === 'text' || shape.kind === 'enumeration' || shape.kind === 'bytes') return 'string'
    if (shape.kind === 'literal') return typeof shape.value
    if (shape.kind === 'list') return 'array'
    if (shape.kind === 'map' || shape.kind === 'object') return 'object'
    if (shape.kind === 'integer' || shape.kind === 'number' || shape.kind === 'boolean') return shape.kind
    return undefined
  }

  return { object, top, definitions: () => definitions }
}

function described(schema: JsonSchema, description: string | undefined): JsonSchema {
  return description === undefined ? schema : { ...schema, description }
}
