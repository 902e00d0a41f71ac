// Imports one uploaded file: reads it twice, first to judge it and then to store it, so that a refused file leaves nothing and no
// transaction waits for the parser more than it must. Entries, pointer and the import's end are one transaction.

import { PART_LINES } from '#src/platform/bulk-work.ts'
import type { Database, Tx } from '#src/platform/db/database.ts'
import { lockDocument } from '#src/platform/http/documents.ts'
import { newId, type Scope } from '#src/platform/ids.ts'
import type { Ledger } from '#src/platform/ledger/record.ts'
import type { BlobStore } from '#src/platform/store/blobs.ts'
import { copyEntries, findFile, findKnownHashes, insertEntries, insertFile, type ListFile } from './file-rows.ts'
import {
  dayAfter,
  type ListEntry,
  type ListName,
  type ListRefusal,
  type RowReader,
  readerOf,
  readFileName,
  refusalIn,
  refuseList,
} from './formats.ts'
import type { MatchSecret } from './match-secret.ts'
import { readRows } from './read-file.ts'
import {
  failImport,
  findPointer,
  finishImport,
  type ImportRow,
  movePointer,
  type Pointer,
  startImport,
} from './rows.ts'
import { queueScreening } from './screening-rows.ts'

export interface ListImporterDeps {
  db: Pick<Database, 'tenant'>
  store: Pick<BlobStore, 'withLocalFile'>
  ledger: Pick<Ledger, 'record'>
  matchSecret: MatchSecret
  now: () => Date
}

// With 1,000 rows in a statement what a row leaves behind lives longer, and the worker's memory grew by 280 MB.
const STATEMENT_ROWS = PART_LINES
/** A replacement has at least this part of the rows of the list in force: people leave a list one by one. */
const LEAST_PART = 0.95
/** Supplements are merged in memory. The largest one published had some thousand rows. */
const MAX_SUPPLEMENT_ROWS = 20_000
// A full list of LEIE has more than 80,000 rows of decades; a supplement some hundred of a month. Below the lower bound, a few rows
// of one month say nothing.
const SUPPLEMENT_ROWS = { least: 20, most: 5_000 }
const SUPPLEMENT_DAYS = 62

/** What reading a file once tells. */
interface FileSummary {
  rows: number
  newestOn: string | null
  oldestOn: string | null
  endedRows: number
}

/** How the import ends its job, in the import's transaction. */
type Settle = (tx: Tx) => Promise<void>

export type ListImporter = ReturnType<typeof createListImporter>

export function createListImporter({ db, store, ledger, matchSecret, now }: ListImporterDeps) {
  /** Does nothing when the import has ended. Returns whether it settled the job. */
  return async function importList(
    scope: Scope,
    id: string,
    { settle, signal }: { settle: Settle; signal: AbortSignal },
  ): Promise<boolean> {
    const row = await db.tenant(scope, (tx) => startImport(tx, id))
    if (row === undefined) return false
    const secret = await matchSecret()
    try {
      await store.withLocalFile(scope, row.sha256.toString('hex'), async (path) => {
        const summary = await summarize(path, row, { today: today(), signal })
        const listDate = dateOf(row, summary, today())
        await db.tenant(scope, async (tx) => {
          // Imports of one list of an account follow each other. One that waits too long is tried again.
          await lockDocument(tx, `exclusion_list ${row.list}`, scope)
          const current = await findPointer(tx, scope, row.list)
          judgeReplacement(row, { ...summary, listDate }, current)
          const file = await storeContent(tx, { path, row, summary, current, secret, signal })
          await movePointer(tx, scope, { list: row.list, fileId: file.id, listDate, importId: id })
          await finishImport(tx, id, { fileId: file.id, rows: file.rows, listDate })
          await record(tx, scope, row, { reason: 'exclusion_list_imported', listDate })
          await queueScreening(tx, scope, {
            id: newId('exs', scope.environment, now().getTime()),
            cause: row.list,
            at: now(),
          })
          await settle(tx)
        })
      })
    } catch (error) {
      const refusal = refusalIn(error)
      if (refusal === undefined) throw error
      await db.tenant(scope, async (tx) => {
        if (await failImport(tx, id, refusal)) await recordRefusal(tx, scope, row, refusal)
        await settle(tx)
      })
    }
    return true
  }

  function today(): string {
    return now().toISOString().slice(0, 10)
  }

  async function recordRefusal(tx: Tx, scope: Scope, row: ImportRow, { code }: ListRefusal): Promise<void> {
    await record(tx, scope, row, { reason: `exclusion_list_refused_${code}`, listDate: null })
  }

  /** In the ledger, which keeps clinical entries for two years. The request is in the audit log. */
  async function record(
    tx: Tx,
    scope: Scope,
    { id, list, kind, sha256, isForced, requestedBy }: ImportRow,
    { reason, listDate }: { reason: string; listDate: string | null },
  ): Promise<void> {
    await ledger.record(tx, scope, {
      kind: 'clinician_order',
      at: now(),
      actor: { id: requestedBy, person: null, keyId: requestedBy.startsWith('key_') ? requestedBy : null },
      subject: id,
      reason,
      valid: null,
      inputs: { list, kind, list_date: listDate, file_sha256: sha256.toString('hex'), forced: String(isForced) },
    })
  }
}

/** @throws a refusal when the file can't be read to its end. */
async function summarize(
  path: string,
  { list }: ImportRow,
  { today, signal }: { today: string; signal: AbortSignal },
): Promise<FileSummary> {
  const summary: FileSummary = { rows: 0, newestOn: null, oldestOn: null, endedRows: 0 }
  const latest = dayAfter(today)
  for await (const { reader, row } of rowsOf(path, list, signal)) {
    const { listedOn, isEnded } = reader.datesOf(row)
    summary.rows += 1
    if (isEnded) summary.endedRows += 1
    // Exclusions of the future are listed before their day, which says nothing of the day of the list.
    if (listedOn === null || listedOn > latest) continue
    if (summary.newestOn === null || listedOn > summary.newestOn) summary.newestOn = listedOn
    if (summary.oldestOn === null || listedOn < summary.oldestOn) summary.oldestOn = listedOn
  }
  if (summary.rows === 0) throw refuseList('no_rows', 'The file has a header and no rows.')
  return summary
}

async function* rowsOf(
  path: string,
  list: ListName,
  signal: AbortSignal,
): AsyncGenerator<{ reader: RowReader; row: string[] }> {
  let reader: RowReader | undefined
  for await (const row of readRows(path)) {
    signal.throwIfAborted()
    if (reader === undefined) reader = readerOf(list, row)
    else yield { reader, row }
  }
  if (reader === undefined) throw refuseList('no_rows', 'The file is empty.')
}

function dateOf({ list, fileName }: ImportRow, { newestOn }: FileSummary, today: string): string {
  const date = readFileName(list, fileName ?? undefined).date ?? newestOn
  if (date === null) {
    throw refuseList(
      'date_unknown',
      'Neither the name of the file nor a row tells the date of the list. Name the file.',
    )
  }
  // A publisher may be a day ahead of UTC.
  if (date <= dayAfter(today)) return date > today ? today : date
  // Names of supplements tell the month alone, which may not be over.
  if (list === 'leie' && date <= dayAfter(today, 31)) return today
  throw refuseList('date_in_future', `The name of the file says ${date}.`)
}

function judgeReplacement(
  { list, kind, isForced, fileName }: ImportRow,
  { rows, endedRows, newestOn, oldestOn, listDate }: FileSummary & { listDate: string },
  current: Pointer | undefined,
): void {
  if (kind !== 'full') {
    if (current === undefined)
      throw refuseList('no_full_list', 'Import the full list first: a supplement is merged with it.')
    if (rows > MAX_SUPPLEMENT_ROWS)
      throw refuseList('unreadable_csv', `A supplement has at most ${MAX_SUPPLEMENT_ROWS} rows.`)
  }
  if (isForced) return
  if (kind === 'full' && list === 'leie') {
    const isNamed = ['excl', 'rein'].includes(readFileName(list, fileName ?? undefined).kind ?? '')
    const isShort = rows >= SUPPLEMENT_ROWS.least && rows <= SUPPLEMENT_ROWS.most
    const isOfOneMonth =
      newestOn !== null && oldestOn !== null && newestOn <= dayAfter(oldestOn, SUPPLEMENT_DAYS) && isShort
    if (isNamed || isOfOneMonth || endedRows === rows) {
      throw refuseList('supplement_as_full', 'The file is a monthly supplement: import it with kind excl or rein.')
    }
  }
  if (current === undefined) return
  if (listDate < current.listDate) {
    throw refuseList('older_list', `The list in force is of ${current.listDate}, and this one of ${listDate}.`)
  }
  if (kind === 'full' && rows < current.rows * LEAST_PART) {
    throw refuseList('fewer_rows', `The list in force has ${current.rows} rows, and this one ${rows}.`)
  }
}

interface Storing {
  path: string
  row: ImportRow
  summary: FileSummary
  current: Pointer | undefined
  secret: Buffer
  signal: AbortSignal
}

/** The entries of the same content are stored once, for all accounts. */
async function storeContent(tx: Tx, { path, row, summary, current, secret, signal }: Storing): Promise<ListFile> {
  const { list, kind, sha256 } = row
  const baseId = kind === 'full' ? null : (current?.fileId ?? null)
  // The same supplement once more: it is part of the list already.
  if (current !== undefined && baseId !== null && current.sha256.equals(sha256)) {
    return { id: current.fileId, rows: current.rows }
  }
  const content = { list, kind, sha256, baseId, newestOn: summary.newestOn }
  const known = await findFile(tx, content)
  if (known !== undefined) return known
  const stored =
    current === undefined || baseId === null
      ? await storeFull(tx, { content, rows: summary.rows, parts: entriesOf(path, list, { secret, signal }) })
      : await storeMerged(tx, {
          base: { id: baseId, rows: current.rows },
          content,
          entries: (await Array.fromAsync(entriesOf(path, list, { secret, signal }))).flat(),
        })
  // Another account has imported the same file meanwhile.
  const file = stored ?? (await findFile(tx, content))
  if (file === undefined) throw new Error('a file was not stored')
  return file
}

type Content = Omit<Parameters<typeof insertFile>[1], 'rows'>

async function storeFull(
  tx: Tx,
  { content, rows, parts }: { content: Content; rows: number; parts: AsyncIterable<ListEntry[]> },
): Promise<ListFile | undefined> {
  const file = await insertFile(tx, { ...content, rows })
  if (file === undefined) return undefined
  let from = 1
  for await (const entries of parts) {
    await insertEntries(tx, file.id, { from, entries })
    from += entries.length
  }
  return file
}

/** Copies the list in force: with the rows that a supplement adds, or with the ends that it tells. */
async function storeMerged(
  tx: Tx,
  { base, content, entries }: { base: ListFile; content: Content; entries: readonly ListEntry[] },
): Promise<ListFile | undefined> {
  const isEnding = content.kind === 'rein'
  const known = isEnding
    ? new Set<string>()
    : await findKnownHashes(
        tx,
        base.id,
        entries.map(({ rowHash }) => rowHash),
      )
  const added = isEnding ? [] : entries.filter(({ rowHash }) => !known.has(rowHash.toString('hex')))
  const file = await insertFile(tx, { ...content, rows: base.rows + added.length })
  if (file === undefined) return undefined
  const ended = isEnding ? entries.filter(({ endedOn }) => endedOn !== null) : []
  await copyEntries(tx, { from: base.id, to: file.id }, ended)
  for (let at = 0; at < added.length; at += STATEMENT_ROWS) {
    const part = added.slice(at, at + STATEMENT_ROWS)
    await insertEntries(tx, file.id, { from: base.rows + 1 + at, entries: part })
  }
  return file
}

async function* entriesOf(
  path: string,
  list: ListName,
  { secret, signal }: { secret: Buffer; signal: AbortSignal },
): AsyncGenerator<ListEntry[]> {
  let part: ListEntry[] = []
  for await (const { reader, row } of rowsOf(path, list, signal)) {
    part.push(reader.entryOf(row, secret))
    if (part.length < STATEMENT_ROWS) continue
    yield part
    part = []
  }
  if (part.length > 0) yield part
}
