// What a model gets: one line of text, the answer as structured content, and links to media. A refusal of verify is an answer; an
// error says its code, its detail and the scope that is missing.

import type { CallToolResult, ContentBlock } from '@modelcontextprotocol/server'
import { CountersignError } from '../../../typescript/src/core/errors.ts'
import type { Operation } from '../operation.ts'
import { type Answer, InvalidArgument } from './caller.ts'

const MAX_LINKS = 20
// An answer that fills the context of a model is of no use to it.
const MAX_ANSWER_CHARACTERS = 200_000
const MAX_SHOWN_MEMBERS = 8
const MAX_SHOWN_CHARACTERS = 80

export type Describe = (answer: Answer) => string

export function resultOf(operation: Operation, answer: Answer, describe?: Describe): CallToolResult {
  const characters = JSON.stringify(answer).length
  if (characters > MAX_ANSWER_CHARACTERS) {
    return refusalOf(
      'answer_too_large',
      `The answer has ${characters} characters: narrow the question, or use the client library.`,
    )
  }
  const text = oneLine(describe?.(answer) ?? (operation.isPage ? lineOfPage(answer) : lineOf(answer)))
  return { content: [{ type: 'text', text }, ...linksOf(answer)], structuredContent: answer }
}

/** A call that did not happen, or that failed. */
export function refusalOf(code: string, detail: string, more: Answer = {}): CallToolResult {
  return {
    isError: true,
    content: [{ type: 'text', text: oneLine(`${code}: ${detail}`) }],
    structuredContent: { code, detail, ...more },
  }
}

/** @throws what is no error of a call: a mistake of this program. */
export function errorResultOf(error: unknown): CallToolResult {
  if (error instanceof InvalidArgument) return refusalOf('invalid_argument', error.message)
  if (!(error instanceof CountersignError)) throw error
  const { status, code, detail, errors, requestId, retryAfterMs, problem } = error
  const { required_scope: scope } = problem
  const findings = errors.map((one) => `${one.pointer} ${one.code}: ${one.detail}`).join('; ')
  const missing = typeof scope === 'string' ? ` The key needs the scope ${scope}.` : ''
  return refusalOf(code, `${detail}${findings === '' ? '' : ` (${findings})`}${missing}`, {
    ...(status !== 0 && { status }),
    ...(errors.length > 0 && { errors }),
    ...(scope !== undefined && { required_scope: scope }),
    ...(requestId !== undefined && { request_id: requestId }),
    ...(retryAfterMs !== undefined && { retry_after_ms: retryAfterMs }),
  })
}

/** Values of others stay inside their quotes: a name with a line break makes no second line. */
export function show(value: unknown): string {
  const text = typeof value === 'string' && /^[\w.:@+-]+$/.test(value) ? value : (JSON.stringify(value) ?? 'none')
  return text.length > MAX_SHOWN_CHARACTERS ? `${text.slice(0, MAX_SHOWN_CHARACTERS)}…` : text
}

/** Hosts that show a model the text alone still let it read each row by its id. */
function lineOfPage({ data, next_cursor: cursor }: Answer): string {
  const rows = Array.isArray(data) ? data : []
  const ids = rows.flatMap((row) => idOf(row) ?? [])
  const count = `${rows.length} ${rows.length === 1 ? 'row' : 'rows'}${ids.length === 0 ? '' : ` (${ids.join(', ')})`}`
  return typeof cursor === 'string'
    ? `${count}; the next page has cursor ${JSON.stringify(cursor)}`
    : `${count}, no more`
}

function idOf(row: unknown): string | undefined {
  const [first] = Object.entries((row ?? {}) as Answer).find(([name]) => name.endsWith('_id')) ?? []
  return first === undefined ? undefined : show((row as Answer)[first])
}

function lineOf(answer: Answer): string {
  const scalars = Object.entries(answer).filter(([, value]) => ['string', 'number', 'boolean'].includes(typeof value))
  const shown = scalars.slice(0, MAX_SHOWN_MEMBERS).map(([name, value]) => `${name} ${show(value)}`)
  return shown.length === 0 ? 'Done.' : shown.join(', ')
}

function oneLine(text: string): string {
  return text.replaceAll(/\p{Cc}|[\u2028\u2029]/gu, ' ')
}

function linksOf(answer: Answer): ContentBlock[] {
  const ids = new Set<string>()
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return
    for (const [name, inner] of Object.entries(value)) {
      if (name === 'media_id' && typeof inner === 'string' && /^\w+$/.test(inner)) ids.add(inner)
      else visit(inner)
    }
  }
  visit(answer)
  return [...ids].slice(0, MAX_LINKS).map((id) => ({
    type: 'resource_link',
    uri: `countersign://media/${id}`,
    name: id,
    description: 'The photo or video as it was captured; with /thumbnail a picture of 320 pixels.',
  }))
}
