// Rules of the shapes of the interface, each a function of the OpenAPI document that returns the places that break it.

import { SDK_GROUPS } from '#src/catalogue/sdk.ts'

export interface Schema {
  [keyword: string]: unknown
}

interface Operation extends Schema {
  operationId: string
  parameters: { $ref?: string; name?: string; in?: string; schema?: Schema }[]
  requestBody?: { content: Record<string, { schema?: Schema }> }
  responses: Record<string, { $ref?: string; content?: Record<string, { schema?: Schema; example?: unknown }> }>
}

export interface InterfaceDocument {
  paths: Record<string, Record<string, Operation>>
  webhooks: Record<string, Schema>
  components: { schemas: Record<string, Schema> }
}

export const RULES: Record<string, (document: InterfaceDocument) => string[]> = {
  'a status is called status, and an environment environment': namesOf(/^(?:by_)?states?$|^env$/),
  'an id says what it names': (document) => [...namesOf(/^(?:id|key_id)$/)(document)],
  'a range of times or numbers is _gte and _lt, a period from and to': (document) =>
    parametersOf(document)
      .filter(({ name }) => /_(?:from|to|before|after|until|since|min|max|lte|gt)$|^(?:since|until)$/.test(name))
      .map(({ place }) => place),
  'a time stamp has the format date-time': timesWithoutFormat,
  'an object inside another is a component': unnamedObjects,
  'an enumeration is a component': unnamedEnums,
  'a component is not called as the list in it': ({ components }) =>
    Object.entries(components.schemas).flatMap(([name, { properties }]) => {
      const own = name.replaceAll(/(?<=.)[A-Z]/g, '_$&').toLowerCase()
      const member = isObject(properties) ? properties[own] : undefined
      return isObject(member) && member.type === 'array' ? [name] : []
    }),
  'a component is never null itself': ({ components }) =>
    Object.entries(components.schemas)
      .filter(([, schema]) => isNullable(schema))
      .map(([name]) => name),
  'a free-form object says so': (document) =>
    everySchema(document)
      .filter(({ schema }) => isFreeForm(schema))
      .map(({ place }) => place),
  'no schema has a default or a format of bytes': (document) =>
    everySchema(document)
      .filter(({ schema }) => schema.default !== undefined || /^base64/.test(String(schema.format)))
      .map(({ place }) => place),
  'a body is called Create, Update or by its operation': requestNames,
  'no component is called an input or new': ({ components }) =>
    Object.keys(components.schemas).filter((name) => /Input|^New[A-Z]/.test(name)),
  'a shape that adds members to another is its allOf': flatCopies,
  'what the catalogue closes is closed': openWords,
  'who did something is an actor': openActors,
  'a list has one shape': listShapes,
  'an operation has one shape of success': answerShapes,
  'work goes from queued to running to its end': workStatuses,
  'a deletion says what it deleted': ({ components }) =>
    Object.entries(components.schemas)
      .filter(([, { properties }]) => isObject(properties) && 'deleted' in properties)
      .filter(([, { properties }]) => !Object.keys(properties as Schema).some((name) => name.endsWith('_id')))
      .map(([name]) => name),
  'an operation has a method or the reason why it has none': methodNames,
  'an effect and a kind fit their operation': effectsAndKinds,
}

function isObject(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

interface Place {
  place: string
  schema: Schema
}

// What is signed, hashed or the caller's own is written by others.
function* walk(node: unknown, place: string): Generator<Place> {
  if (Array.isArray(node)) {
    for (const [index, item] of node.entries()) yield* walk(item, `${place}/${index}`)
    return
  }
  if (!isObject(node) || node['x-verbatim'] === true) return
  yield { place, schema: node }
  for (const [key, value] of Object.entries(node)) {
    if (key === 'properties' && isObject(value)) {
      for (const [name, member] of Object.entries(value)) yield* walk(member, `${place}.${name}`)
    } else if (['items', 'additionalProperties', 'anyOf', 'oneOf', 'allOf', 'contentSchema'].includes(key)) {
      yield* walk(value, key === 'items' ? `${place}[]` : place)
    }
  }
}

function everySchema({ components }: InterfaceDocument): Place[] {
  return Object.entries(components.schemas).flatMap(([name, schema]) => [...walk(schema, name)])
}

/** Members of all components, each once. */
function membersOf(document: InterfaceDocument): { owner: string; name: string; schema: Schema; place: string }[] {
  return everySchema(document).flatMap(({ place, schema }) =>
    Object.entries(isObject(schema.properties) ? schema.properties : {}).map(([name, member]) => ({
      owner: place,
      name,
      schema: member as Schema,
      place: `${place}.${name}`,
    })),
  )
}

function operationsOf({ paths }: InterfaceDocument): { method: string; path: string; operation: Operation }[] {
  return Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({ method, path, operation })),
  )
}

function parametersOf(document: InterfaceDocument): { name: string; schema: Schema; place: string }[] {
  return operationsOf(document).flatMap(({ operation }) =>
    operation.parameters
      .filter((parameter) => parameter.in === 'query')
      .map(({ name = '', schema = {} }) => ({ name, schema, place: `${operation.operationId} ?${name}` })),
  )
}

// Others' words: of RFC 9068 keys, of AuthZEN, of OAuth, of SCIM, of WebAuthn, and of an actor, whose type says what the id names.
const OTHERS =
  /^(?:Actor|FinishSsoRequest|Scim(?!Token)|Access|Evaluat|Passkey(?:Creation|Request)|WebAuthn|PublicKey|SearchResult)/

function namesOf(pattern: RegExp): (document: InterfaceDocument) => string[] {
  return (document) => [
    ...membersOf(document)
      .filter(({ name, owner }) => pattern.test(name) && !OTHERS.test(owner))
      .map(({ place }) => place),
    ...parametersOf(document)
      .filter(({ name }) => pattern.test(name))
      .map(({ place }) => place),
  ]
}

/** The alternatives of a schema, references followed. */
function alternativesOf(schema: Schema, { components }: InterfaceDocument): Schema[] {
  if (typeof schema.$ref === 'string') {
    const target = components.schemas[schema.$ref.split('/').at(-1) ?? '']
    return target === undefined ? [] : alternativesOf(target, { components } as InterfaceDocument)
  }
  const inner = [schema.anyOf, schema.oneOf].find(Array.isArray) as Schema[] | undefined
  if (inner !== undefined) return inner.flatMap((one) => alternativesOf(one, { components } as InterfaceDocument))
  if (schema.type === 'array' && isObject(schema.items)) {
    return alternativesOf(schema.items, { components } as InterfaceDocument)
  }
  return [schema]
}

function isPlainText({ type, enum: values, const: value }: Schema): boolean {
  return type === 'string' && values === undefined && value === undefined
}

function timesWithoutFormat(document: InterfaceDocument): string[] {
  const isTime = (name: string) => /(?:^|_)at(?:_gte|_lt)?$|^(?:created|updated|decided)_(?:gte|lt)$/.test(name)
  return [...membersOf(document), ...parametersOf(document)]
    .filter(({ name }) => isTime(name))
    .filter(({ schema }) =>
      alternativesOf(schema, document).some((one) => isPlainText(one) && one.format !== 'date-time'),
    )
    .map(({ place }) => place)
}

function isShape(schema: Schema): boolean {
  return isObject(schema.properties) || (Array.isArray(schema.allOf) && schema.allOf.some((part) => isObject(part)))
}

function unnamedObjects({ components }: InterfaceDocument): string[] {
  return Object.entries(components.schemas).flatMap(([name, schema]) => {
    const parts = Array.isArray(schema.allOf) ? (schema.allOf as unknown[]) : []
    return [...walk(schema, name)]
      .filter((one) => one.schema !== schema && !parts.includes(one.schema))
      .filter((one) => isShape(one.schema))
      .map(({ place }) => place)
  })
}

function unnamedEnums(document: InterfaceDocument): string[] {
  const isEnum = (schema: Schema) => Array.isArray(schema.enum) && schema.enum.length > 1
  const top = new Set<unknown>(Object.values(document.components.schemas))
  return [
    ...everySchema(document).filter(({ schema }) => isEnum(schema) && !top.has(schema)),
    ...parametersOf(document).flatMap(({ schema, place }) =>
      [...walk(schema, place)].filter((one) => isEnum(one.schema)),
    ),
  ].map(({ place }) => place)
}

function isNullable({ type, anyOf, oneOf }: Schema): boolean {
  const isNull = (one: unknown) => isObject(one) && one.type === 'null'
  return (
    type === 'null' ||
    (Array.isArray(type) && type.includes('null')) ||
    [anyOf, oneOf].some((some) => Array.isArray(some) && some.some(isNull))
  )
}

function isFreeForm({ type, properties, additionalProperties }: Schema): boolean {
  return type === 'object' && properties === undefined && additionalProperties === undefined
}

function requestNames(document: InterfaceDocument): string[] {
  return operationsOf(document).flatMap(({ operation }) => {
    const { $ref } = operation.requestBody?.content['application/json']?.schema ?? {}
    if (typeof $ref !== 'string') return []
    const name = $ref.split('/').at(-1) ?? ''
    // AuthZEN has its paths beside ours.
    const id = operation.operationId.replace(/AtStandardPath$/, '')
    const own = `${id.charAt(0).toUpperCase()}${id.slice(1)}Request`
    return /^(?:Create|Update)[A-Z]\w*Request$/.test(name) || name === own ? [] : [`${operation.operationId} ${name}`]
  })
}

const MIN_SHARED = 4

// Both are answers: a request refuses what it does not declare, so that a part of it would refuse the other part.
function flatCopies({ components }: InterfaceDocument): string[] {
  const shapes = Object.entries(components.schemas).flatMap(([name, schema]) => {
    const { properties, additionalProperties, 'x-verbatim': isVerbatim } = schema
    if (!isObject(properties) || additionalProperties === false || isVerbatim || OTHERS.test(name)) return []
    // What an event says is fixed when it happens, whatever answers show later.
    if (name.endsWith('Data')) return []
    const members = new Set(Object.entries(properties).map(([key, value]) => `${key} ${typeText(value)}`))
    return members.size >= MIN_SHARED ? [{ name, members }] : []
  })
  return shapes.flatMap(({ name, members }) =>
    shapes
      .filter((other) => other.members.size > members.size && members.isSubsetOf(other.members))
      .map((other) => `${other.name} repeats ${name}`),
  )
}

function typeText(schema: unknown): string {
  return JSON.stringify(schema, (key, value) => (key === 'description' ? undefined : value))
}

const CLOSED =
  /^(?:status|\w+_status|roles?|scopes?|required_scope|products?|plan|environment|event_types?|finish_reason|reason_codes?|factor_codes)$/
// The words of others, or of the caller.
const OPEN = /^ScimError\.status$|^\w+Problem\/1\.current_status$|\.(?:required_)?scopes?_\w+$/

function openWords(document: InterfaceDocument): string[] {
  return [...membersOf(document), ...parametersOf(document)]
    .filter(({ name, place }) => CLOSED.test(name) && !OPEN.test(place))
    .filter(({ schema }) => alternativesOf(schema, document).every(isPlainText))
    .map(({ place }) => place)
}

function openActors(document: InterfaceDocument): string[] {
  return membersOf(document)
    .filter(({ name, owner }) => /^(?:\w+_by|by|actor)$/.test(name) && !/Request(?:[.[]|$)/.test(owner))
    .filter(({ schema }) => schema.format !== 'date-time' && !refersTo(schema, 'Actor'))
    .map(({ place }) => place)
}

function refersTo(schema: Schema, name: string): boolean {
  return JSON.stringify(schema).includes(`"#/components/schemas/${name}"`)
}

const LIST_MEMBERS = ['object', 'data', 'has_more', 'next_cursor', 'total_count']

function listShapes({ components }: InterfaceDocument): string[] {
  return Object.entries(components.schemas).flatMap(([name, { properties }]) => {
    if (!isObject(properties) || !isObject(properties.object) || properties.object.const !== 'list') return []
    const members = Object.keys(properties)
    const isSame = members.length === LIST_MEMBERS.length && members.every((one) => LIST_MEMBERS.includes(one))
    return isSame ? [] : [name]
  })
}

function answerShapes(document: InterfaceDocument): string[] {
  return operationsOf(document).flatMap(({ operation }) => {
    const shapes = Object.entries(operation.responses)
      .filter(([status]) => status.startsWith('2'))
      .map(([, { content }]) => content?.['application/json']?.schema)
      .filter((schema) => schema !== undefined)
    const isUnion = shapes.some(({ $ref }) => {
      const name = String($ref).split('/').at(-1) ?? ''
      const { anyOf, oneOf } = document.components.schemas[name] ?? {}
      // An event is one of its types, as by webhook.
      return name !== 'Event' && (anyOf !== undefined || oneOf !== undefined)
    })
    return isUnion || new Set(shapes.map(typeText)).size > 1 ? [operation.operationId] : []
  })
}

const WORK = ['queued', 'running', 'succeeded', 'failed', 'cancelled']

function workStatuses(document: InterfaceDocument): string[] {
  return membersOf(document)
    .filter(({ name }) => name === 'status')
    .filter(({ schema }) => {
      const values = alternativesOf(schema, document).flatMap((one) => (Array.isArray(one.enum) ? one.enum : []))
      const isWork = values.includes('running')
      return isWork && (values.length !== WORK.length || !WORK.every((word) => values.includes(word)))
    })
    .map(({ place }) => place)
}

function methodNames(document: InterfaceDocument): string[] {
  const seen = new Set<unknown>()
  return operationsOf(document).flatMap(({ operation }) => {
    const { 'x-sdk': name, 'x-no-sdk': reason, operationId } = operation
    if (typeof reason === 'string' && reason.length > 10 && name === undefined) return []
    const isNamed = typeof name === 'string' && /^[a-z][A-Za-z0-9]*(?:\.[a-z][A-Za-z0-9]*){1,2}$/.test(name)
    const isKnown = isNamed && Object.hasOwn(SDK_GROUPS, name.split('.')[0] ?? '')
    const isSecond = seen.has(name)
    seen.add(name)
    return isKnown && !isSecond ? [] : [`${operationId} ${name}`]
  })
}

// A consumer of events moves its own bookmark: a key that only reads may do so.
const READING_PUT = 'putEventConsumer'

function effectsAndKinds(document: InterfaceDocument): string[] {
  return operationsOf(document).flatMap(({ method, operation }) => {
    const { 'x-effect': effect, 'x-kind': kind, operationId } = operation
    const isRead = method === 'get' || operationId === READING_PUT
    const fits =
      ['read', 'write', 'destructive'].includes(String(effect)) &&
      (isRead ? effect === 'read' : true) &&
      (method !== 'delete' || effect !== 'read') &&
      (['put', 'patch'].includes(method) && !isRead ? effect === 'write' : true)
    return fits && isKind(String(kind), operation) ? [] : [`${operationId} ${effect} ${kind}`]
  })
}

function isKind(kind: string, operation: Operation): boolean {
  const bodies = Object.keys(operation.requestBody?.content ?? {})
  const { content = {} } = Object.entries(operation.responses).find(([status]) => status.startsWith('2'))?.[1] ?? {}
  const schema = Object.entries(content).find(([type]) => /^application\/(?:[a-z]+\+)?json$/.test(type))?.[1].schema
  const isList = schema !== undefined && 'application/x-ndjson' in content
  const isUpload = bodies.some((type) => type !== 'application/json')
  const isStream = schema === undefined && Object.keys(content).length > 0
  const isLines = isStream && 'application/x-ndjson' in content
  if (isUpload) return kind === 'upload' || (kind === 'call' && bodies.includes('application/json'))
  if (isList) return kind === 'list'
  if (isLines) return kind === 'lines'
  if (isStream) return kind === 'download'
  const takesWait = operation.parameters.some(({ name }) => name === 'wait' || name === 'Prefer')
  return takesWait ? kind === 'wait' : kind === 'call'
}
