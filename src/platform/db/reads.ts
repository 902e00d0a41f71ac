// Several reads of one row each as one statement. A statement costs this process and Postgres several times what it takes to
// find a row. A feature exports its read as SQL over its own tables, for its own statement and for those that need it
// together with other reads of the same moment.

import type { Tx } from './database.ts'

/**
 * SQL that selects one row or none. One with parameters comes from a function that takes their places in the statement,
 * such as '$1'.
 */
export type OneRow<Row extends object> = string & { readonly selects: Row }

/**
 * @param sql Its columns are the members of `Row`. In a statement of several reads, a row is JSON: cast `numeric` to text,
 * or it loses digits.
 */
export const oneRow = <Row extends object>(sql: string) => sql as OneRow<Row>

/** A row that went through JSON: times are texts in ISO 8601, to microseconds. Bytes don't go through it. */
export type JsonRow<Row> = {
  [Name in keyof Row]: Row[Name] extends Uint8Array ? never : Row[Name] extends Date ? string : JsonOrNull<Row[Name]>
}

type JsonOrNull<Value> = Date extends Value ? Exclude<Value, Date> | string : Value

type Reads = Record<string, OneRow<object>>
type Found<R extends Reads> = { [Name in keyof R]: (R[Name] extends OneRow<infer Row> ? JsonRow<Row> : never) | null }

/**
 * A function that makes these reads in one statement: of one moment, in the order given. null: no row.
 *
 * The statement sees what had committed when it began. A read that must see what a lock waited for belongs into a
 * statement after the one that takes the lock.
 */
export function readsOfOneRow<R extends Reads>(
  reads: R,
): (tx: Pick<Tx, 'query'>, values: readonly unknown[]) => Promise<Found<R>> {
  const columns = Object.entries(reads).map(
    ([name, sql]) => `(SELECT row_to_json(found) FROM (${sql}) found) AS "${name}"`,
  )
  const text = `SELECT ${columns.join(',\n')}`
  return async (tx, values) => {
    const [row] = await tx.query<Found<R>>(text, values)
    if (row === undefined) throw new Error('Postgres answered a SELECT without FROM with no row')
    return row
  }
}
