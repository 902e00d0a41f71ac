// Lists: newest first, a keyset on the id, and cursors that only we can make. A cursor is bound to what it was made for
// (route, account, environment, filters): elsewhere it would silently skip rows.

import { createHmac, createSecretKey, hkdfSync, type KeyObject } from 'node:crypto'
import { z } from 'zod'
import { invalidField } from '#src/failure.ts'
import { isEqualBytes } from '#src/platform/crypto/digest.ts'
import type { Database, Tx } from '#src/platform/db/database.ts'
import { MAX_TOTAL, type TimeRange } from '#src/platform/db/id-ranges.ts'
import type { Scope } from '#src/platform/ids.ts'
import { boundTime } from './params.ts'

/** The query of a list without filters. */
export const pageQuery = {
  limit: z
    .string()
    .regex(/^(?:[1-9][0-9]?|100)$/, 'must be a whole number from 1 to 100')
    .transform(Number)
    .default(20)
    // A query is text; a client generator should see the number in it.
    .meta({
      description: 'How many to answer; 20 when absent.',
      type: 'integer',
      minimum: 1,
      maximum: 100,
      pattern: undefined,
    }),
  cursor: z.string().max(1024).optional().meta({ description: 'next_cursor of the page before.' }),
}

/** Spread into a list's query: `{ ...listQuery, reference: z.string().optional() }`. */
export const listQuery = {
  ...pageQuery,
  created_gte: boundTime.optional().meta({ description: 'Created at or after.' }),
  created_lt: boundTime.optional().meta({ description: 'Created before.' }),
  include: z.enum(['total_count']).optional(),
}

/** Spread into the query of a list whose page needs the oldest first. Cursors are bound to it. */
export const orderQuery = {
  order: z
    .enum(['asc', 'desc'])
    .meta({ id: 'ListOrder' })
    .default('desc')
    .describe('`desc` (newest first) when absent.'),
}

export interface Page<Row> {
  object: 'list'
  data: Row[]
  has_more: boolean
  next_cursor: string | null
}

/** With `include=total_count`, the number of all rows that match, at most `MAX_TOTAL`. */
export type CountedPage<Row> = Page<Row> & { total_count?: number }

/** `listQuery`, parsed. */
export type ListQuery = z.output<z.ZodObject<typeof listQuery>>
/** `pageQuery`, parsed. */
export type PageQuery = Pick<ListQuery, 'limit' | 'cursor'>
/** The part of `listQuery` that is no filter. */
export type CountedQuery = Pick<ListQuery, 'limit' | 'cursor' | 'include'>

/** The times of a list's filter. */
export function createdBetween(query: Pick<ListQuery, 'created_gte' | 'created_lt'>): TimeRange {
  const { created_gte: from, created_lt: to } = query
  return { from: from === undefined ? undefined : new Date(from), to: to === undefined ? undefined : new Date(to) }
}

/** What a cursor is valid for. `query` is the parsed query; cursor, limit and include don't count. */
export interface Binding {
  /** Unique per list, such as `GET /v1/claims`. */
  route: string
  scope: Scope
  query?: object
}

export interface Pager {
  /**
   * @returns the id to continue below (`id < ...`), or undefined for the first page.
   * @throws {Failure} `invalid_request` at `?cursor` when it was tampered with or made for something else.
   */
  decode(cursor: string | undefined, binding: Binding): string | undefined
  /** `rows` are up to `limit + 1`, newest first: one row more than the limit means that there is a next page. */
  page<Row>(rows: Row[], limit: number, idOf: (row: Row) => string, binding: Binding): Page<Row>
  /** For a list that knows otherwise that more follows. `decode` returns this id. */
  cursorAfter(id: string, binding: Binding): string
}

/** The rows of a list, as `listPage` reads them. */
export interface ListSource<Row, Shown> {
  /** Up to `limit` rows after the one that has the key `before`. */
  rows(tx: Tx, page: { before: string | undefined; limit: number }): Promise<Row[]>
  /** All that match, for `include=total_count`. */
  count?(tx: Tx): Promise<number>
  /** The rows of the page with what else callers see, such as names of actors. */
  show?(tx: Tx, rows: Row[]): Promise<Shown[]>
  /** What a cursor says of the last row of a page. Its id, unless the list has another order. */
  keyOf?(row: Row): string
}

type Parts = { db: Pick<Database, 'tenant'>; pager: Pager }

/** The request of a list: its query, and what its cursors are valid for. */
export interface ListRequest extends Binding {
  query: CountedQuery
  /** Reads the list, where its cursors are valid in another scope, such as both environments. */
  reader?: Scope
}

/**
 * One page of a list, read in one transaction.
 * @throws {Failure} `invalid_request` at `?cursor`.
 */
export async function listPage<Row, Shown = Row>(
  parts: Parts,
  list: ListRequest,
  source: ListSource<Row, Shown> & { keyOf(row: NoInfer<Row>): string },
): Promise<CountedPage<Shown>>
export async function listPage<Row extends { id: string }, Shown = Row>(
  parts: Parts,
  list: ListRequest,
  source: ListSource<Row, Shown>,
): Promise<CountedPage<Shown>>
export async function listPage<Row extends { id: string }>(
  { db, pager }: Parts,
  { reader, ...binding }: ListRequest,
  { rows: read, count, show, keyOf = ({ id }) => id }: ListSource<Row, Row>,
): Promise<CountedPage<Row>> {
  const { limit, cursor, include } = binding.query
  const before = pager.decode(cursor, binding)
  return db.tenant(reader ?? binding.scope, async (tx) => {
    const [rows, total] = await Promise.all([
      read(tx, { before, limit: limit + 1 }),
      include === undefined ? undefined : count?.(tx),
    ])
    const { data, ...page } = pager.page(rows, limit, keyOf, binding)
    return {
      ...page,
      data: show === undefined ? data : await show(tx, data),
      ...(total !== undefined && { total_count: total }),
    }
  })
}

/** For a list that is the same in both environments, and so are its cursors. */
export function inBothEnvironments(reader: Scope): Pick<ListRequest, 'scope' | 'reader'> {
  return { scope: { accountId: reader.accountId, environment: 'sandbox' }, reader }
}

/** The key of a list in the order of a number. */
export function numberOf(key: string | undefined): number | undefined {
  return key === undefined ? undefined : Number(key)
}

/** A list that is answered whole. */
export function wholeList<Item>(data: Item[]): Page<Item> {
  return { object: 'list', data, has_more: false, next_cursor: null }
}

/** The view of a list: `ClaimList` where the items are `Claim`. */
export function listOf<Item extends z.ZodType>(item: Item) {
  const view = z.object({
    object: z.literal('list'),
    data: z.array(item),
    has_more: z.boolean(),
    next_cursor: z.string().nullable().describe('`cursor` of the next page; null on the last.'),
    total_count: z
      .number()
      .int()
      .max(MAX_TOTAL)
      .optional()
      .describe('With `include=total_count`. It counts no further than its maximum.'),
  })
  const id = z.globalRegistry.get(item)?.id
  return id === undefined ? view : view.meta({ id: `${id}List` })
}

/** The schema of the items, where a view is that of a list. */
export function listItemOf(view: z.ZodType): z.ZodType | undefined {
  if (!(view instanceof z.ZodObject)) return undefined
  const { object, data } = view.shape
  const isList = object instanceof z.ZodLiteral && object.value === 'list' && data instanceof z.ZodArray
  return isList && 'next_cursor' in view.shape ? (data.element as z.ZodType) : undefined
}

const MAC_BYTES = 16

interface PagerKeys {
  /** The deployment's master key; cursors are signed under a key derived from it (RFC 5869). */
  key: Uint8Array
  /** Cursors that were signed under these are taken too: a reader goes on while the master key is rotated. */
  previous?: readonly Uint8Array[]
}

export function createPager({ key, previous = [] }: PagerKeys): Pager {
  const signingKey = deriveKey(key)
  const accepted = [signingKey, ...previous.map(deriveKey)]

  function sign(id: string, binding: Binding, under = signingKey): Buffer {
    const mac = createHmac('sha256', under).update(textOf(binding)).update('\0').update(id)
    return mac.digest().subarray(0, MAC_BYTES)
  }

  return {
    decode(cursor, binding) {
      if (cursor === undefined) return undefined
      const bytes = Buffer.from(cursor, 'base64url')
      const id = bytes.subarray(MAC_BYTES).toString('utf8')
      // Buffer.from skips characters that are not base64url: without the comparison one cursor would have many
      // spellings.
      const isWhole = bytes.length > MAC_BYTES && bytes.toString('base64url') === cursor
      const mac = bytes.subarray(0, MAC_BYTES)
      if (!isWhole || !accepted.some((under) => isEqualBytes(mac, sign(id, binding, under)))) {
        throw invalidField(
          '?cursor',
          'invalid_cursor',
          'is not a cursor of this list with these filters: send next_cursor of the page before with the same filters, or no cursor to begin',
        )
      }
      return id
    },
    page(rows, limit, idOf, binding) {
      const data = rows.slice(0, limit)
      const last = data.at(-1)
      const hasMore = rows.length > limit && last !== undefined
      const nextCursor = hasMore ? encode(idOf(last), binding) : null
      return { object: 'list', data, has_more: hasMore, next_cursor: nextCursor }
    },
    cursorAfter: encode,
  }

  function encode(id: string, binding: Binding): string {
    return Buffer.concat([sign(id, binding), Buffer.from(id, 'utf8')]).toString('base64url')
  }
}

// As a key object: bytes are turned into one at each signature, and a page of results has a cursor in each line.
function deriveKey(key: Uint8Array): KeyObject {
  return createSecretKey(Buffer.from(hkdfSync('sha256', key, '', 'countersign list cursor v1', 32)))
}

function textOf({ route, scope, query = {} }: Binding): string {
  const { cursor: _cursor, limit: _limit, include: _include, ...filters } = query as Partial<ListQuery>
  const given = Object.entries(filters).filter(([, value]) => value !== undefined)
  given.sort(([a], [b]) => (a < b ? -1 : 1))
  return JSON.stringify([route, scope.accountId, scope.environment, given])
}
