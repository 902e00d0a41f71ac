// Streams the results of a batch, one page at a time. Each page is read in its own transaction, so a slow client holds
// neither rows nor a connection.

import type { SigningKeys } from '#src/platform/crypto/signing-keys.ts'
import type { Database } from '#src/platform/db/database.ts'
import type { Binding, Pager } from '#src/platform/http/page.ts'
import type { Scope } from '#src/platform/ids.ts'
import { createSlice } from '#src/platform/slices.ts'
import { findLines } from './rows.ts'
import { resultEnd, resultLine, toResultLine } from './views.ts'

const PAGE_LINES = 200

export interface ResultsDeps {
  db: Database
  pager: Pager
  signingKeys: Pick<SigningKeys, 'jwks'>
}

export interface ResultsQuery {
  scope: Scope
  batchId: string
  cursor: string | undefined
  /** Continues after lines that are not settled. */
  showsPending: boolean
}

/** Where a reader continues. A reader that follows the cursors misses no result, even when pending lines were shown. */
interface Position {
  /** The last line that was sent; 0 before the first. */
  line: number
  /** The last line before the first unsettled one; undefined when all up to `line` were settled. */
  settledTo: number | undefined
}

/**
 * NDJSON, a page at a time: `resultLine`s, then one `resultEnd`.
 * @throws {Failure} `invalid_request` when the cursor belongs to another batch or is malformed.
 */
export function readResults(
  { db, pager, signingKeys }: ResultsDeps,
  query: ResultsQuery,
): AsyncGenerator<string, void> {
  const { scope, batchId, showsPending } = query
  const binding = { route: 'GET /v1/claims/batches/:id/results', scope, query: { batchId } }
  return read(parsePosition(pager.decode(query.cursor, binding)))

  async function* read({ line, settledTo }: Position): AsyncGenerator<string, void> {
    for (let hasMore = true; hasMore; ) {
      const rows = await db.tenant(scope, (tx) => findLines(tx, batchId, line, PAGE_LINES))
      const keys = await signingKeys.jwks()
      hasMore = rows.length === PAGE_LINES
      let text = ''
      const slice = createSlice()
      for (const row of rows) {
        if (slice.isOver()) await slice.next()
        if (row.status === 'queued') {
          settledTo ??= line
          if (!showsPending) {
            hasMore = false
            break
          }
        }
        line = row.line
        text += `${JSON.stringify(resultLine.parse(toResultLine(row, cursorOf(pager, binding, { line, settledTo }), keys)))}\n`
      }
      if (text !== '') yield text
    }
    const next = settledTo === undefined ? null : cursorOf(pager, binding, { line: settledTo, settledTo: undefined })
    const end = resultEnd.parse({ object: 'cursor', next_cursor: next, is_complete: next === null })
    yield `${JSON.stringify(end)}\n`
  }
}

function parsePosition(text: string | undefined): Position {
  const [line, settledTo] = (text ?? '0').split('.')
  return { line: Number(line), settledTo: settledTo === undefined ? undefined : Number(settledTo) }
}

function cursorOf(pager: Pager, binding: Binding, { line, settledTo }: Position): string {
  const text = settledTo === undefined ? String(line) : `${line}.${settledTo}`
  return pager.cursorAfter(text, binding)
}
