// The document as groups of methods: the intermediate form from which every library is written. Names stand as in the
// interface (snake_case for arguments and members, camelCase for groups and methods); an emitter gives them the form of its
// language. All types that a method reaches are in `types`, with what they are used for.

import { SDK_GROUPS } from '#src/catalogue/sdk.ts'
import type { Exceptions } from '../exceptions.ts'
import type { DocumentOperation, DocumentParameter, Media, OpenApiDocument, Schema } from './document.ts'
import { getType, type Member, markUse, membersOf, type NamedType, readShape, readTypes, type Shape } from './shapes.ts'

export interface Api {
  /** The version of the interface. */
  version: string
  /** What each first group is for. */
  groups: ReadonlyMap<string, string>
  /** In the order of their groups and names. */
  operations: readonly Operation[]
  /** Types that some operation reaches, sorted by name. */
  types: ReadonlyMap<string, NamedType>
  /** Operations without a method, and why. */
  without: readonly { id: string; reason: string }[]
}

export interface Operation {
  /** operationId of the document, with the name of the method where one operation has two. */
  id: string
  /** `['claims', 'batches']`. */
  group: readonly string[]
  /** `create`. */
  name: string
  summary: string
  description: string
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** With placeholders: `/v1/claims/{claim_id}`. */
  path: string
  effect: 'read' | 'write' | 'destructive'
  kind: 'call' | 'list' | 'upload' | 'download' | 'wait' | 'lines'
  /** The scope that a key needs; undefined where sessions alone may call it, or anybody. */
  scope: string | undefined
  /** Positional, in the order of the path. */
  arguments: readonly PathArgument[]
  /** The rest of the arguments is one object: of the query, of named headers and of the members of a JSON body. */
  query: readonly Member[]
  headers: readonly HeaderArgument[]
  body: Body | undefined
  answer: Answer
  /** Where the number of seconds goes that the service may wait for a result; kept below the time-out of an attempt. */
  wait: 'query' | 'prefer' | undefined
  /** A change with an Idempotency-Key is safe to repeat. One without is repeated only where nothing can have happened. */
  takesIdempotencyKey: boolean
}

export interface PathArgument {
  name: string
  shape: Shape
}

export interface HeaderArgument {
  /** `If-Match`. */
  header: string
  /** `if_match`; `wait` for Prefer. */
  name: string
  shape: Shape
  isRequired: boolean
  description: string | undefined
}

export type Body =
  /** `members` is undefined where the body is no object with members: then it is the one argument besides the path. */
  | { kind: 'json'; shape: Shape; isRequired: boolean; members: readonly Member[] | undefined }
  /** NDJSON, one value a line. */
  | { kind: 'lines'; item: Shape }
  /** The content type says which. */
  | { kind: 'bytes'; contentTypes: readonly string[] }

export type Answer =
  | { kind: 'json'; shape: Shape }
  /** `shape` is the list with its cursor, `item` one of its `data`. */
  | { kind: 'page'; shape: Shape; item: Shape }
  | { kind: 'lines'; item: Shape }
  | { kind: 'bytes'; contentTypes: readonly string[] }

const JSON_TYPE = 'application/json'
const LINES_TYPE = 'application/x-ndjson'
// The transport writes them.
const TRANSPORT_HEADERS = ['Idempotency-Key', 'X-CSRF-Token', 'Service-Environment', 'Accept']

export function readApi(document: OpenApiDocument, exceptions: Exceptions): Api {
  const all = readTypes(document)
  const unused = new Set([...Object.keys(exceptions.arguments), ...Object.keys(exceptions.variants)])
  const without: { id: string; reason: string }[] = []
  const operations: Operation[] = []
  for (const [path, methods] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      const { 'x-sdk': sdk, 'x-no-sdk': reason, operationId } = operation
      if (sdk === undefined) {
        if (!reason) throw new Error(`${operationId} has neither a method nor a reason why it has none`)
        without.push({ id: operationId, reason })
        continue
      }
      const read = readOperation(operation, { path, method, sdk, document, types: all, exceptions })
      operations.push(read)
      unused.delete(path)
      const variant = exceptions.variants[operationId]
      if (variant === undefined) continue
      unused.delete(operationId)
      operations.push(variantOf(read, variant))
    }
  }
  if (unused.size > 0) throw new Error(`exceptions that nothing uses: ${[...unused].join(', ')}`)
  for (const operation of operations) markOperation(operation, all)
  const reached = [...all].filter(([, type]) => type.isRequested || type.isAnswered)
  return {
    version: document.info.version,
    groups: new Map(Object.entries(SDK_GROUPS).map(([name, { description }]) => [name, description])),
    operations: operations.toSorted((a, b) => compare(sdkOf(a), sdkOf(b))),
    types: new Map(reached.toSorted(([a], [b]) => compare(a, b))),
    without,
  }
}

export function sdkOf({ group, name }: Pick<Operation, 'group' | 'name'>): string {
  return [...group, name].join('.')
}

interface Place {
  path: string
  method: string
  sdk: string
  document: OpenApiDocument
  types: ReadonlyMap<string, NamedType>
  exceptions: Exceptions
}

function readOperation(operation: DocumentOperation, place: Place): Operation {
  const { operationId, 'x-effect': effect, 'x-kind': kind } = operation
  const parameters = operation.parameters.map((parameter) => resolve(parameter, place.document))
  const names = place.sdk.split('.')
  const body = readBody(operation, place)
  const query = parameters.filter((parameter) => parameter.in === 'query').map((parameter) => memberOf(parameter))
  const headers = parameters.flatMap((parameter) => headerOf(parameter))
  const { path, pathArguments } = readPath(parameters, place)
  if (query.length > 0 && body !== undefined && body.kind !== 'bytes') {
    throw new Error(`${operationId} has a query beside a body of members`)
  }
  refuseTwins(operationId, [...query, ...headers, ...(body?.kind === 'json' ? (body.members ?? []) : [])])
  const takesWait = query.some(({ name }) => name === 'wait')
  return {
    id: operationId,
    group: names.slice(0, -1),
    name: names.at(-1) ?? '',
    summary: operation.summary,
    description: operation.description,
    method: place.method.toUpperCase() as Operation['method'],
    path,
    effect,
    kind,
    scope: operation['x-required-scope'],
    arguments: pathArguments,
    query,
    headers,
    body,
    answer: readAnswer(operation, place),
    wait: headers.some(({ header }) => header === 'Prefer') ? 'prefer' : takesWait ? 'query' : undefined,
    takesIdempotencyKey: parameters.some(({ name }) => name === 'Idempotency-Key'),
  }
}

function resolve(parameter: DocumentParameter, { components }: OpenApiDocument): DocumentParameter {
  if (parameter.$ref === undefined) return parameter
  const found = components.parameters[parameter.$ref.split('/').at(-1) ?? '']
  if (found === undefined) throw new Error(`the document has no parameter ${parameter.$ref}`)
  return found
}

function memberOf({ name = '', required = false, description, schema = {} }: DocumentParameter): Member {
  return { name, shape: readShape(schema, name), isRequired: required, description }
}

function headerOf(parameter: DocumentParameter): HeaderArgument[] {
  const { name: header = '', required: isRequired = false, description } = parameter
  if (parameter.in !== 'header' || TRANSPORT_HEADERS.includes(header)) return []
  if (header === 'Prefer') return [{ header, name: 'wait', shape: { kind: 'integer' }, isRequired: false, description }]
  const name = header.toLowerCase().replaceAll('-', '_')
  return [{ header, name, shape: { kind: 'text' }, isRequired, description }]
}

// `{id}` says what it names by the segment before it: /v1/claims/{id} is claim_id.
function readPath(parameters: readonly DocumentParameter[], { path, exceptions }: Place) {
  const pathArguments: PathArgument[] = []
  const named = path.replaceAll(/([^/]+)\/\{(\w+)\}/g, (_whole, before: string, placeholder: string) => {
    const name =
      exceptions.arguments[path]?.[placeholder] ?? (placeholder === 'id' ? `${singular(before)}_id` : placeholder)
    const { schema = {} } =
      parameters.find((parameter) => parameter.in === 'path' && parameter.name === placeholder) ?? {}
    pathArguments.push({ name, shape: readShape(schema, `${path} ${placeholder}`) })
    return `${before}/{${name}}`
  })
  return { path: named, pathArguments }
}

function singular(segment: string): string {
  const word = segment.replaceAll('-', '_')
  if (/(?:ch|sh|ss|x)es$/.test(word)) return word.slice(0, -2)
  if (/ies$/.test(word)) return `${word.slice(0, -3)}y`
  return word.replace(/s$/, '')
}

function readBody({ requestBody, operationId }: DocumentOperation, { types }: Place): Body | undefined {
  if (requestBody === undefined) return undefined
  const { content, required } = requestBody
  // Lines where both are taken: they have no end that must be known.
  const lines = content[LINES_TYPE]
  if (lines !== undefined) return { kind: 'lines', item: lineOf(lines, operationId) }
  const json = content[JSON_TYPE]?.schema
  if (json === undefined) return { kind: 'bytes', contentTypes: Object.keys(content) }
  const shape = readShape(json, operationId)
  const target = shape.kind === 'named' ? getType(shape.name, types).shape : shape
  const members = target.kind === 'object' ? membersOf(target, types) : undefined
  return { kind: 'json', shape, isRequired: required, members }
}

function readAnswer({ responses, operationId, 'x-kind': kind }: DocumentOperation, { types }: Place): Answer {
  const success = Object.entries(responses).find(([status]) => status.startsWith('2'))?.[1]
  const content = success?.content ?? {}
  const json = content[JSON_TYPE]?.schema
  if (json !== undefined) {
    const shape = readShape(json, operationId)
    if (kind !== 'list') return { kind: 'json', shape }
    const data = membersOf(shape, types).find(({ name }) => name === 'data')?.shape
    if (data?.kind !== 'list') throw new Error(`${operationId} is a list without data`)
    return { kind: 'page', shape, item: data.item }
  }
  const lines = content[LINES_TYPE]
  if (lines !== undefined) return { kind: 'lines', item: lineOf(lines, operationId) }
  return { kind: 'bytes', contentTypes: Object.keys(content) }
}

function lineOf({ schema }: Media, place: string): Shape {
  const line = schema?.contentSchema
  if (line === undefined) throw new Error(`${place} has lines without a schema`)
  return readShape(line as Schema, place)
}

function refuseTwins(place: string, members: readonly { name: string }[]): void {
  const names = members.map(({ name }) => name)
  const twin = names.find((name, index) => names.indexOf(name) !== index)
  if (twin !== undefined) throw new Error(`${place} has two arguments ${twin}`)
}

function variantOf(operation: Operation, { sdk, contentType, summary }: Exceptions['variants'][string]): Operation {
  const names = sdk.split('.')
  return {
    ...operation,
    id: `${operation.id}:${contentType}`,
    group: names.slice(0, -1),
    name: names.at(-1) ?? '',
    summary,
    kind: 'download',
    answer: { kind: 'bytes', contentTypes: [contentType] },
  }
}

function markOperation(
  { query, arguments: path, body, answer }: Operation,
  types: ReadonlyMap<string, NamedType>,
): void {
  for (const { shape } of [...query, ...path]) markUse(shape, types, { direction: 'request' })
  if (body?.kind === 'json') markUse(body.shape, types, { direction: 'request' })
  if (body?.kind === 'lines') markUse(body.item, types, { direction: 'request' })
  if (answer.kind === 'json' || answer.kind === 'page') markUse(answer.shape, types, { direction: 'answer' })
  if (answer.kind === 'lines') markUse(answer.item, types, { direction: 'answer' })
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
