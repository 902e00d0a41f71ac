// Lists by time of creation. Ids sort by it, to the hour, and primary keys and indexes end with the id; no index has the
// time itself. Without bounds on the id a list would read every newer row first, and every older one of the account where
// its page is not filled.

import type { AccountType, ScopedType } from '#src/catalogue/ids.ts'
import { accountIdsAfter, accountIdsBefore, type Environment, idsAfter, idsBefore } from '#src/platform/ids.ts'

export interface TimeRange {
  /** Inclusive. */
  from?: Date | undefined
  /** Exclusive. */
  to?: Date | undefined
}

/** A table whose ids are made when its rows are, within an hour. */
export type RangedIds = { type: ScopedType; environment: Environment } | { type: AccountType; environment?: undefined }

/** The names that a statement has for them, where they are not `id` and `created_at` alone. */
interface RangedColumns {
  alias?: string
  id?: string
  time?: string
}

/** The conditions of a range, for a statement whose text varies. Appends their values, and refers to them by their places. */
export function conditionsOfRange(
  values: unknown[],
  ids: RangedIds & RangedColumns,
  { from, to }: TimeRange,
): string[] {
  const prefix = ids.alias === undefined ? '' : `${ids.alias}.`
  const compare = (column: string, operator: '>=' | '<', value: unknown) =>
    `${prefix}${column} ${operator} $${values.push(value)}`
  const { id = 'id', time = 'created_at' } = ids
  const conditions: string[] = []
  if (from !== undefined) conditions.push(compare(time, '>=', from), compare(id, '>=', lowestId(ids, from)))
  if (to !== undefined) conditions.push(compare(time, '<', to), compare(id, '<', idAbove(ids, to)))
  return conditions
}

/**
 * For a fixed statement with `id >= $1 AND id < $2` beside the times. Always real bounds: an index can't use
 * `$1 IS NULL OR id >= $1` in a plan that is made for all values.
 * @param before Where a page begins: exclusive, and newest first.
 */
export function boundsOfRange(
  ids: RangedIds,
  { from, to }: TimeRange,
  before?: string,
): [lowest: string, above: string] {
  const above = idAbove(ids, to ?? END_OF_TIME)
  return [lowestId(ids, from ?? START_OF_TIME), before !== undefined && before < above ? before : above]
}

/**
 * The condition of a filter that takes several values. One of them is compared as one: a list in order of another column
 * is read from an index only then.
 */
export function conditionOfAny(values: unknown[], column: string, wanted: readonly string[]): string {
  const [only] = wanted
  if (wanted.length === 1) return `${column} = $${values.push(only)}`
  return `${column} = ANY($${values.push(wanted)}::text[])`
}

/** `include=total_count` counts no further: a tenant may have millions of decisions, and a count reads each of them. */
export const MAX_TOTAL = 100_000

/**
 * A statement whose column `count` has the number of rows, at most `most`.
 * @param rows What follows FROM.
 */
export function countOf(rows: string, most = MAX_TOTAL): string {
  return `SELECT count(*)::int AS count FROM (SELECT FROM ${rows} LIMIT ${most}) AS counted`
}

const START_OF_TIME = new Date(0)
// The last that a Date can hold: later than any time of an id.
const END_OF_TIME = new Date(8.64e15)

function lowestId(ids: RangedIds, at: Date): string {
  return ids.environment === undefined ? accountIdsAfter(ids.type, at) : idsAfter(ids.type, ids.environment, at)
}

function idAbove(ids: RangedIds, at: Date): string {
  return ids.environment === undefined ? accountIdsBefore(ids.type, at) : idsBefore(ids.type, ids.environment, at)
}
