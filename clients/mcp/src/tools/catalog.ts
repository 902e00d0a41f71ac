// Which tools a server offers, and their schemas. They are made once: a server over HTTP is new for each request.

import { fromJsonSchema, type StandardSchemaWithJSON } from '@modelcontextprotocol/server'
import { type Answer, isPagedByService } from '../calls/caller.ts'
import type { Describe } from '../calls/results.ts'
import { DEFINITIONS, GROUPS, OPERATIONS } from '../generated/operations.ts'
import type { JsonSchema, Operation } from '../operation.ts'
import { CONFIRM } from './confirm.ts'
import { DEFAULT_TOOLS, type DefaultTool } from './defaults.ts'

export interface Selection {
  /** Groups whose operations are tools too, or `all`. */
  toolsets: readonly string[]
  /** Names of single tools. */
  tools: readonly string[]
  isReadOnly: boolean
  /** Scopes of the key; undefined offers tools of every scope. */
  scopes: readonly string[] | undefined
}

export interface OperationTool {
  operation: Operation
  description: string
  input: StandardSchemaWithJSON<Answer>
  output: StandardSchemaWithJSON<Answer>
}

export interface Catalog {
  tools: readonly OperationTool[]
  /** Operations that call_operation may call, by name and by the name of their tool. */
  find(name: string): Operation | undefined
  operations: readonly Operation[]
  isReadOnly: boolean
}

export const TOOLSETS: readonly string[] = ['all', ...Object.keys(GROUPS)]

export function createCatalog({ toolsets, tools, isReadOnly, scopes }: Selection): Catalog {
  const operations = OPERATIONS.filter(
    ({ effect, scope }) =>
      (!isReadOnly || effect === 'read') && (scope === null || scopes === undefined || scopes.includes(scope)),
  )
  const wanted = ({ name, tool }: Operation) =>
    toolsets.includes('all') || toolsets.includes(name.slice(0, name.indexOf('.'))) || tools.includes(tool)
  const defaults = new Map(DEFAULT_TOOLS.map((one) => [one.operation, one]))
  const byName = new Map(operations.flatMap((one) => [[one.name, one] as const, [one.tool, one] as const]))
  const isFirst = ({ name }: Operation) => defaults.has(name)
  return {
    // The default tools come in the order of the job.
    tools: [
      ...DEFAULT_TOOLS.flatMap(({ operation }) => byName.get(operation) ?? []),
      ...operations.filter((one) => !isFirst(one) && wanted(one)),
    ].map((operation) => toolOf(operation, defaults.get(operation.name))),
    find: (name) => byName.get(name),
    operations,
    isReadOnly,
  }
}

const made = new Map<string, OperationTool>()

function toolOf(operation: Operation, chosen: DefaultTool | undefined): OperationTool {
  const before = made.get(operation.name)
  if (before !== undefined) return before
  const tool: OperationTool = {
    operation,
    description: chosen?.description ?? `${operation.summary}.`,
    input: fromJsonSchema<Answer>(inputOf(operation, chosen)),
    output: fromJsonSchema<Answer>(operation.output),
  }
  made.set(operation.name, tool)
  return tool
}

/** The schema of the arguments with the definitions that it refers to. */
export function inputOf(operation: Operation, { arguments: names, plain = [] }: Partial<DefaultTool> = {}): JsonSchema {
  const all: Record<string, JsonSchema> = { ...operation.input.properties }
  if (operation.isPage && !isPagedByService(operation)) all.cursor = { type: 'string' }
  const kept = Object.entries(all)
    .filter(([name]) => names === undefined || names.includes(name))
    .map(([name, schema]) => [name, plain.includes(name) ? plainOf(schema) : schema] as const)
  const properties = { ...Object.fromEntries(kept), ...(operation.effect === 'destructive' && { confirm: CONFIRM }) }
  const definitions = definitionsOf(properties)
  return {
    ...operation.input,
    properties,
    ...(Object.keys(definitions).length > 0 && { $defs: definitions }),
  }
}

export function describeOf(operation: Operation): Describe | undefined {
  return DEFAULT_TOOLS.find((one) => one.operation === operation.name)?.describe
}

function plainOf({ description }: JsonSchema): JsonSchema {
  return { type: 'object', ...(description !== undefined && { description }) }
}

const REFERENCE = '#/$defs/'

function definitionsOf(schema: JsonSchema): Record<string, JsonSchema> {
  const used: Record<string, JsonSchema> = {}
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return
    for (const [name, inner] of Object.entries(value)) {
      if (name !== '$ref' || typeof inner !== 'string') visit(inner)
      else refer(inner.slice(REFERENCE.length))
    }
  }
  const refer = (name: string): void => {
    const definition = DEFINITIONS[name]
    if (used[name] !== undefined || definition === undefined) return
    used[name] = definition
    visit(definition)
  }
  visit(schema)
  return used
}

export type Validated = { value: Answer; issues: undefined } | { value: undefined; issues: string }

const compiled = new Map<string, StandardSchemaWithJSON<Answer>>()

/** Arguments of call_operation are checked as those of tools are. Each schema is compiled once. */
export function validatorOf(name: string, schemaOf: () => JsonSchema): (value: unknown) => Promise<Validated> {
  return async (value) => {
    const schema = compiled.get(name) ?? fromJsonSchema<Answer>(schemaOf())
    compiled.set(name, schema)
    const result = await schema['~standard'].validate(value)
    if (result.issues === undefined) return { value: result.value, issues: undefined }
    return { value: undefined, issues: result.issues.map(({ message }) => message).join('; ') }
  }
}
