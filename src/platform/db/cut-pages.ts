// Pages that end by bytes as well as by rows, for rows of which one may be a thousand times as large as another: what is
// read at once must fit the memory of a process, and what is answered at once its event loop. Postgres knows the size of a
// text without reading it, so that rows behind the end cost little.

import type { Tx } from './database.ts'

export interface CutPage<Row> {
  /** The first ones, up to the one with which they have `maxBytes`. */
  rows: Row[]
  /** There are more, for which the bytes did not suffice. */
  isCut: boolean
}

export interface CutSelect {
  /** SQL that selects a column `bytes`, and at most so many rows as a page has. */
  select: string
  /** Order of these rows, without ties. */
  order: string
  values: readonly unknown[]
  maxBytes: number
}

interface Cut {
  bytes: unknown
  before: unknown
  /** How many rows there are without the bound on bytes. */
  found: number
}

/** @param run `tx.query` where the text is always the same, else `tx.adhoc`. */
export async function readCut<Row extends object>(
  run: Tx['query'],
  { select, order, values, maxBytes }: CutSelect,
): Promise<CutPage<Row>> {
  const rows = await run<Row & Cut>(
    `SELECT * FROM (
       SELECT page.*, sum(page.bytes) OVER (ORDER BY ${order}) - page.bytes AS before, count(*) OVER ()::int AS found
       FROM (${select}) page) cut
     WHERE before < $${values.length + 1} ORDER BY ${order}`,
    [...values, maxBytes],
  )
  const isCut = rows.length < (rows[0]?.found ?? 0)
  return { rows: rows.map(({ bytes: _, before: __, found: ___, ...row }) => row as unknown as Row), isCut }
}
