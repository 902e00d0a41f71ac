// The two tools that reach every operation a model may call, without the tokens of a schema for each.

import { fromJsonSchema } from '@modelcontextprotocol/server'
import { ROWS } from '../calls/caller.ts'
import { EXCLUDED } from '../generated/operations.ts'
import type { Operation } from '../operation.ts'
import { type Catalog, inputOf } from './catalog.ts'

export interface Found {
  operations: readonly { operation: string; summary: string; effect: string; scope: string | null; arguments: object }[]
  /** Operations that match and are no tools. */
  not_available: readonly { operation: string; reason: string }[]
}

const MAX_FOUND = 6
const MAX_REASONS = 5

export const FIND = {
  name: 'find_operations',
  description:
    'Find operations of Countersign that have no tool of their own, with the schemas of their arguments: claims, cases, devices, ' +
    'screenings, schedules, reports, webhooks, usage, ... Then use call_operation.',
  input: fromJsonSchema<{ query: string }>({
    type: 'object',
    properties: { query: { type: 'string', maxLength: 200, description: 'Words, such as "spend of a mandate".' } },
    required: ['query'],
    additionalProperties: false,
  }),
  output: fromJsonSchema({
    type: 'object',
    properties: { operations: { type: 'array' }, not_available: { type: 'array' } },
  }),
}

export interface CallArguments {
  operation: string
  arguments?: Record<string, unknown>
  confirm?: string
}

export const CALL = {
  name: 'call_operation',
  description:
    `Call an operation that find_operations named. Lists have ${ROWS} rows and a cursor. What consents for people or shows secrets ` +
    'can’t be called.',
  input: fromJsonSchema<CallArguments>({
    type: 'object',
    properties: {
      operation: { type: 'string', maxLength: 100 },
      arguments: { type: 'object' },
      confirm: { type: 'string', maxLength: 300, description: 'For destructive operations, as in their schemas.' },
    },
    required: ['operation'],
    additionalProperties: false,
  }),
}

export function findOperations({ operations }: Catalog, query: string): Found {
  const words = wordsOf(query)
  const matching = rank(operations, words, (one) => [one.tool, `${one.name} ${one.summary} ${one.path}`])
  const excluded = rank(Object.entries(EXCLUDED), words, ([name]) => [name, ''])
  return {
    operations: matching.slice(0, MAX_FOUND).map((operation) => ({
      operation: operation.name,
      summary: operation.summary,
      effect: operation.effect,
      scope: operation.scope,
      arguments: inputOf(operation),
    })),
    not_available: excluded.slice(0, MAX_REASONS).map(([operation, reason]) => ({ operation, reason })),
  }
}

/** Names near one that no operation has. */
export function nearTo({ operations }: Catalog, name: string): string[] {
  return rank(operations, wordsOf(name), (one: Operation) => [one.tool, one.name])
    .slice(0, MAX_FOUND)
    .map((one) => one.name)
}

/** Items with most of the words come first; a word of the name counts twice, and among equals the shortest name wins. */
function rank<Item>(
  items: readonly Item[],
  words: readonly string[],
  textsOf: (item: Item) => [name: string, more: string],
): Item[] {
  return items
    .map((item) => {
      const [name, more] = textsOf(item).map((text) => new Set(wordsOf(text)))
      const score = words.reduce((sum, word) => sum + (name?.has(word) ? 2 : more?.has(word) ? 1 : 0), 0)
      return { item, size: name?.size ?? 0, score }
    })
    .filter(({ score }) => score > 0)
    .toSorted((a, b) => b.score - a.score || a.size - b.size)
    .map(({ item }) => item)
}

/** Lower case, without the ends that plurals have: `listClaims` has list and claim. */
function wordsOf(text: string): string[] {
  const words = text
    .replaceAll(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
  return [
    ...new Set(
      words.map((word) => (word.length > 3 ? word.replace(/(?<!s)s$/, '') : word)).filter((word) => word !== ''),
    ),
  ]
}
