// Reads tables of an account as lines of JSON, page by page: a page is a transaction of its own, so that an export of
// hours holds neither a connection nor a snapshot.

import type { Database, Tx } from '#src/platform/db/database.ts'
import type { TenantTable } from '#src/platform/feature.ts'
import type { Scope } from '#src/platform/ids.ts'

export interface ExportedRow {
  /** JSON, without secrets. Bytes are hexadecimal, after `\x`. */
  line: string
  /** Media that the row names, where the table declares any. */
  blob: { sha256: string; contentType: string } | null
}

const PAGE_ROWS = 200
// Most rows have some kilobytes, those of old decisions nearly a megabyte: 200 of them would take more memory than a process
// may have. So a page is read in steps, each a round trip, and ends with the step that reaches these bytes.
const PAGE_BYTES = 4 * 1024 * 1024
const STEP_ROWS = 20

export async function* readRows(
  db: Pick<Database, 'tenant'>,
  scope: Scope,
  table: TenantTable,
  signal: AbortSignal,
): AsyncGenerator<ExportedRow[]> {
  for (let cursor: string | undefined; ; ) {
    signal.throwIfAborted()
    const after = cursor
    const { rows, isLast } = await db.tenant(scope, (tx) => readPage(tx, table, after))
    if (rows.length > 0) yield rows
    cursor = rows.at(-1)?.cursor
    if (isLast || table.key.length === 0) return
  }
}

interface PageRow extends ExportedRow {
  cursor: string
}

// The names come from the declarations of features, never from a request. The cursor is the key as JSON, which Postgres
// itself turns into values of the columns' types. Postgres makes a row's text when the row is fetched, so that no more than a
// step is in memory on either side.
async function readPage(
  tx: Tx,
  { table, key, secrets = [], blobs }: TenantTable,
  cursor: string | undefined,
): Promise<{ rows: PageRow[]; isLast: boolean }> {
  const names = key.map((name) => `t.${name}`)
  const members = key.map((name) => `'${name}', t.${name}`).join(', ')
  const blob =
    blobs === undefined
      ? 'NULL::jsonb'
      : `CASE WHEN ${blobs.where} THEN jsonb_build_object('sha256', encode(${blobs.sha256}, 'hex'),
          'contentType', ${blobs.contentType}) END`
  const values: unknown[] = [secrets]
  const above =
    cursor === undefined
      ? ''
      : `WHERE (${names.join(', ')}) > (SELECT ${names.join(', ')}
          FROM jsonb_populate_record(NULL::${table}, $${values.push(cursor)}::jsonb) t)`
  const order = key.length === 0 ? '' : `ORDER BY ${names.join(', ')}`
  await tx.adhoc(
    `DECLARE page NO SCROLL CURSOR FOR SELECT (to_jsonb(t) - $1::text[])::text AS line, jsonb_build_object(${members})::text AS cursor, ${blob} AS blob
     FROM ${table} t ${above} ${order}`,
    values,
  )
  const rows: PageRow[] = []
  for (let size = 0; size < PAGE_BYTES && rows.length < PAGE_ROWS; ) {
    const step = await tx.adhoc<PageRow>(`FETCH ${STEP_ROWS} FROM page`)
    rows.push(...step)
    if (step.length < STEP_ROWS) return { rows, isLast: true }
    size += step.reduce((sum, { line }) => sum + line.length, 0)
  }
  return { rows, isLast: false }
}
