// A list as NDJSON (`Accept: application/x-ndjson`): everything that matches, one item per line. It reads the pages of
// the list one after the other through the route's own handler, so that one page is in memory, whatever the length. The
// first page is read before the head is sent, and a later failure cuts the connection: no client takes a part for the whole.

import { Readable } from 'node:stream'
import { z } from 'zod'
import { invalidField } from '#src/failure.ts'
import { NDJSON_TYPE } from './ndjson.ts'
import type { Page } from './page.ts'

const DEFAULT_LIMIT = 100

/** Whether the header prefers lines to one page (RFC 9110 12.5.1). Only their own name asks for them. */
export function prefersLines(accept: string | undefined): boolean {
  if (accept === undefined || !accept.includes('ndjson')) return false
  const weights = new Map<string, number>()
  for (const part of accept.toLowerCase().split(',')) {
    const [type = '', ...parameters] = part.split(';').map((text) => text.trim())
    const q = parameters.find((text) => text.startsWith('q='))
    weights.set(type, q === undefined ? 1 : Number(q.slice(2)))
  }
  const weight = weights.get(NDJSON_TYPE) ?? 0
  return weight > 0 && weight >= (weights.get('application/json') ?? 0)
}

/**
 * @param query What the caller sent, parsed. It begins at its cursor.
 * @param isLimited The caller sent a `limit`.
 * @param readPage Runs the handler and guards its answer.
 * @throws what the first page throws: the head is not sent by then.
 */
export async function streamPages(
  query: Record<string, unknown>,
  {
    schema,
    isLimited,
    readPage,
  }: {
    schema: z.ZodObject | undefined
    isLimited: boolean
    readPage: (query: Record<string, unknown>) => Promise<Page<unknown>>
  },
): Promise<Readable> {
  if (isLimited)
    throw invalidField('?limit', 'not_allowed', 'does not apply to lines, which are everything that matches')
  const { include, ...filters } = query
  const limit = schema?.shape.limit === undefined ? {} : { limit: largestLimit(schema.shape.limit) }
  const everyPage = { ...filters, ...(include !== 'total_count' && include !== undefined && { include }), ...limit }
  const first = await readPage(everyPage)

  async function* lines(): AsyncGenerator<Buffer, void> {
    for (let page = first; ; ) {
      if (page.data.length > 0) yield Buffer.from(page.data.map((item) => `${JSON.stringify(item)}\n`).join(''))
      if (!page.has_more) return
      if (page.next_cursor === null || schema?.shape.cursor === undefined)
        throw new Error('a list that has more must take a cursor')
      page = await readPage({ ...everyPage, cursor: page.next_cursor })
    }
  }
  return Readable.from(lines(), { highWaterMark: 1 })
}

function largestLimit(schema: z.core.$ZodType): number {
  const { maximum } = z.globalRegistry.get(schema) ?? {}
  return typeof maximum === 'number' ? maximum : DEFAULT_LIMIT
}
