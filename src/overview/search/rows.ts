// SQL of the search: for each type of object, the rows whose id or name begins with a text. Every statement reads a range of
// an index of the account and ends after a few rows.

import type { Tx } from '#src/platform/db/database.ts'

export interface FoundRow {
  id: string
  title: string
}

interface Source {
  table: string
  /** Its index begins with the account. `id` when absent. */
  column?: string
  /** SQL of what people read. The id when absent. */
  title?: string
  /** SQL: rows that are shown by no route. */
  where?: string
}

// Characters sort by their code points: nothing that begins with the text is above it and the last of them.
const LAST_CHARACTER = '\u{10FFFF}'

/** Newest ids first; by a name in the order of the name. */
export async function findByPrefix(tx: Tx, source: Source, text: string, limit: number): Promise<FoundRow[]> {
  const { table, column = 'id', title = 'id', where = 'true' } = source
  const order = column === 'id' ? 'id DESC' : `${column}, id`
  return tx.query<FoundRow>(
    `SELECT id, ${title} AS title FROM ${table} WHERE ${column} >= $1 AND ${column} < $2 AND ${where}
     ORDER BY ${order} LIMIT $3`,
    [text, text + LAST_CHARACTER, limit],
  )
}
