// Imports, pointers and reviews of an account. ExclusionScreenings: screening-rows.ts.

import { SERVICE_ACCOUNT_ID } from '#src/account/keys/accounts.ts'
import type { Statement, Tx } from '#src/platform/db/database.ts'
import { countOf, type TimeRange } from '#src/platform/db/id-ranges.ts'
import type { Scope } from '#src/platform/ids.ts'
import type { AwaitedRow } from '#src/platform/polled-waits.ts'
import { IN_FORCE } from './check.ts'
import type { FileKind, ListName, ListRefusal } from './formats.ts'
import type { MatchedOn } from './judge.ts'

export interface ImportRow {
  id: string
  list: ListName
  kind: FileKind
  fileName: string | null
  sha256: Buffer
  size: number
  isForced: boolean
  status: 'queued' | 'running' | 'succeeded' | 'failed'
  failureCode: ListRefusal['code'] | null
  failureDetail: string | null
  rows: number | null
  listDate: string | null
  requestedBy: string
  createdAt: Date
  finishedAt: Date | null
}

export type NewImport = Pick<
  ImportRow,
  'id' | 'list' | 'kind' | 'fileName' | 'sha256' | 'size' | 'isForced' | 'requestedBy' | 'createdAt'
>

const IMPORT = `id, list, kind, file_name AS "fileName", sha256, size, is_forced AS "isForced", status,
  failure_code AS "failureCode", failure_detail AS "failureDetail", rows, list_date::text AS "listDate",
  requested_by AS "requestedBy", created_at AS "createdAt", finished_at AS "finishedAt"`

export async function insertImport(tx: Tx, { accountId, environment }: Scope, row: NewImport): Promise<ImportRow> {
  const [inserted] = await tx.query<ImportRow>(
    `INSERT INTO exclusion_imports (account_id, environment, id, list, kind, file_name, sha256, size, is_forced, requested_by, created_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) RETURNING ${IMPORT}`,
    [
      ...[accountId, environment, row.id, row.list, row.kind, row.fileName, row.sha256, row.size, row.isForced],
      ...[row.requestedBy, row.createdAt],
    ],
  )
  if (inserted === undefined) throw new Error('an import was not stored')
  return inserted
}

export async function findImport(
  tx: Tx,
  { accountId, environment }: Scope,
  id: string,
): Promise<ImportRow | undefined> {
  const [row] = await tx.query<ImportRow>(
    `SELECT ${IMPORT} FROM exclusion_imports WHERE account_id = $1 AND environment = $2 AND id = $3`,
    [accountId, environment, id],
  )
  return row
}

/** Starts it, or starts it anew; undefined when it has ended. */
export async function startImport(tx: Tx, id: string): Promise<ImportRow | undefined> {
  const [row] = await tx.query<ImportRow>(
    `UPDATE exclusion_imports SET status = 'running' WHERE id = $1 AND status IN ('queued', 'running') RETURNING ${IMPORT}`,
    [id],
  )
  return row
}

export async function finishImport(
  tx: Tx,
  id: string,
  { fileId, rows, listDate }: { fileId: number; rows: number; listDate: string },
): Promise<boolean> {
  const finished = await tx.query(
    `UPDATE exclusion_imports SET status = 'succeeded', file_id = $2, rows = $3, list_date = $4, finished_at = now()
     WHERE id = $1 AND status = 'running' RETURNING 1`,
    [id, fileId, rows, listDate],
  )
  return finished.length === 1
}

export async function failImport(tx: Tx, id: string, { code, detail }: ListRefusal): Promise<boolean> {
  const failed = await tx.query(
    `UPDATE exclusion_imports SET status = 'failed', failure_code = $2, failure_detail = $3, finished_at = now()
     WHERE id = $1 AND status IN ('queued', 'running') RETURNING 1`,
    [id, code, detail.slice(0, 500)],
  )
  return failed.length === 1
}

/** One that failed although its file was not refused. */
export async function requeueImport(tx: Tx, id: string): Promise<void> {
  await tx.query(
    `UPDATE exclusion_imports SET status = 'queued', failure_code = NULL, failure_detail = NULL, finished_at = NULL
     WHERE id = $1 AND status = 'failed' AND failure_code = 'import_failed'`,
    [id],
  )
}

/** Whether an import of these bytes is under way, has succeeded, or was refused. */
export async function hasImported(tx: Tx, scope: Scope, list: ListName, sha256: Buffer): Promise<boolean> {
  const rows = await tx.query(
    `SELECT FROM exclusion_imports WHERE sha256 = $1 AND account_id = $2 AND environment = $3 AND list = $4
       AND failure_code IS DISTINCT FROM 'import_failed' LIMIT 1`,
    [sha256, scope.accountId, scope.environment, list],
  )
  return rows.length > 0
}

/** Imports that have ended, among those that callers wait for. System role. */
export function findEndedImports(asked: readonly AwaitedRow[]): Statement {
  return {
    text: `SELECT asked.id FROM unnest($1::text[], $2::text[], $3::text[]) AS asked (account_id, environment, id)
      JOIN exclusion_imports i USING (account_id, environment, id) WHERE i.status NOT IN ('queued', 'running')`,
    values: [
      asked.map(({ accountId }) => accountId),
      asked.map(({ environment }) => environment),
      asked.map(({ id }) => id),
    ],
  }
}

export interface ImportFilter extends TimeRange {
  list: ListName | undefined
  statuses: readonly string[] | undefined
}

const IMPORTS_THAT = `exclusion_imports WHERE account_id = $1 AND environment = $2 AND ($3::text IS NULL OR list = $3)
  AND ($4::text[] IS NULL OR status = ANY($4)) AND ($5::timestamptz IS NULL OR created_at >= $5)
  AND ($6::timestamptz IS NULL OR created_at < $6)`
const importValues = ({ accountId, environment }: Scope, { list, statuses, from, to }: ImportFilter) => [
  ...[accountId, environment, list ?? null, statuses ?? null, from ?? null, to ?? null],
]

/** Newest first. */
export async function listImports(
  tx: Tx,
  scope: Scope,
  { before, limit, ...filter }: ImportFilter & { before: string | undefined; limit: number },
): Promise<ImportRow[]> {
  return tx.query<ImportRow>(
    `SELECT ${IMPORT} FROM ${IMPORTS_THAT} AND ($7::text IS NULL OR id < $7) ORDER BY id DESC LIMIT $8`,
    [...importValues(scope, filter), before ?? null, limit],
  )
}

export async function countImports(tx: Tx, scope: Scope, filter: ImportFilter): Promise<number> {
  const [row] = await tx.query<{ count: number }>(countOf(IMPORTS_THAT), importValues(scope, filter))
  return row?.count ?? 0
}

/** The file of a list that is in force. */
export interface Pointer {
  list: ListName
  fileId: number
  listDate: string
  importId: string
  changedAt: Date
  isOperators: boolean
  rows: number
  sha256: Buffer
}

export async function findPointer(tx: Tx, scope: Scope, list: ListName): Promise<Pointer | undefined> {
  const [row] = await tx.query<Pointer>(
    `SELECT p.list, p.file_id AS "fileId", p.list_date::text AS "listDate", p.import_id AS "importId",
       p.changed_at AS "changedAt", p.account_id = $3 AS "isOperators", f.rows, f.sha256
     FROM (${IN_FORCE}) p JOIN exclusion_files f ON f.id = p.file_id WHERE p.list = $4`,
    [scope.accountId, scope.environment, SERVICE_ACCOUNT_ID, list],
  )
  return row
}

export async function movePointer(
  tx: Tx,
  { accountId, environment }: Scope,
  { list, fileId, listDate, importId }: Pick<Pointer, 'list' | 'fileId' | 'listDate' | 'importId'>,
): Promise<void> {
  await tx.query(
    `INSERT INTO exclusion_pointers (account_id, environment, list, file_id, list_date, import_id, changed_at)
     VALUES ($1, $2, $3, $4, $5, $6, clock_timestamp())
     ON CONFLICT (account_id, environment, list) DO UPDATE
       SET file_id = EXCLUDED.file_id, list_date = EXCLUDED.list_date, import_id = EXCLUDED.import_id, changed_at = EXCLUDED.changed_at`,
    [accountId, environment, list, fileId, listDate, importId],
  )
}

export interface ReviewRow {
  id: string
  prescriberId: string
  list: ListName
  rowHash: string
  listDate: string
  matchedOn: MatchedOn
  status: 'open' | 'cleared' | 'confirmed'
  reason: string | null
  decidedBy: string | null
  decidedAt: Date | null
  createdAt: Date
}

const REVIEW = `id, prescriber_id AS "prescriberId", list, encode(row_hash, 'hex') AS "rowHash", list_date::text AS "listDate",
  matched_on AS "matchedOn", status, reason, decided_by AS "decidedBy", decided_at AS "decidedAt", created_at AS "createdAt"`

/** Rows that are under review already, or decided, stay as they are. */
export async function insertReviews(
  tx: Tx,
  { accountId, environment }: Scope,
  rows: readonly Pick<ReviewRow, 'id' | 'prescriberId' | 'list' | 'rowHash' | 'listDate' | 'matchedOn' | 'createdAt'>[],
): Promise<void> {
  if (rows.length === 0) return
  const column = <Name extends keyof (typeof rows)[number]>(name: Name) => rows.map((row) => row[name])
  await tx.query(
    `INSERT INTO exclusion_reviews (account_id, environment, id, prescriber_id, list, row_hash, list_date, matched_on, created_at)
     SELECT $1, $2, id, prescriber_id, list, decode(row_hash, 'hex'), list_date, matched_on, created_at
     FROM unnest($3::text[], $4::text[], $5::text[], $6::text[], $7::date[], $8::text[], $9::timestamptz[])
       AS r (id, prescriber_id, list, row_hash, list_date, matched_on, created_at)
     ON CONFLICT (prescriber_id, account_id, environment, list, row_hash) DO NOTHING`,
    [
      ...[accountId, environment, column('id'), column('prescriberId'), column('list'), column('rowHash')],
      ...[column('listDate'), column('matchedOn'), column('createdAt')],
    ],
  )
}

export async function findReview(
  tx: Tx,
  { accountId, environment }: Scope,
  id: string,
): Promise<ReviewRow | undefined> {
  const [row] = await tx.query<ReviewRow>(
    `SELECT ${REVIEW} FROM exclusion_reviews WHERE account_id = $1 AND environment = $2 AND id = $3`,
    [accountId, environment, id],
  )
  return row
}

export interface ReviewFilter extends TimeRange {
  statuses: readonly string[] | undefined
  list: ListName | undefined
  prescriberId: string | undefined
}

const REVIEWS_THAT = `exclusion_reviews WHERE account_id = $1 AND environment = $2 AND ($3::text[] IS NULL OR status = ANY($3))
  AND ($4::text IS NULL OR list = $4) AND ($5::text IS NULL OR prescriber_id = $5)
  AND ($6::timestamptz IS NULL OR created_at >= $6) AND ($7::timestamptz IS NULL OR created_at < $7)`
const reviewValues = ({ accountId, environment }: Scope, filter: ReviewFilter) => [
  ...[accountId, environment, filter.statuses ?? null, filter.list ?? null, filter.prescriberId ?? null],
  ...[filter.from ?? null, filter.to ?? null],
]

/** Newest first. */
export async function listReviews(
  tx: Tx,
  scope: Scope,
  { before, limit, ...filter }: ReviewFilter & { before: string | undefined; limit: number },
): Promise<ReviewRow[]> {
  return tx.query<ReviewRow>(
    `SELECT ${REVIEW} FROM ${REVIEWS_THAT} AND ($8::text IS NULL OR id < $8) ORDER BY id DESC LIMIT $9`,
    [...reviewValues(scope, filter), before ?? null, limit],
  )
}

export async function countReviews(tx: Tx, scope: Scope, filter: ReviewFilter): Promise<number> {
  const [row] = await tx.query<{ count: number }>(countOf(REVIEWS_THAT), reviewValues(scope, filter))
  return row?.count ?? 0
}

/** undefined when it has another status than `from` names. */
export async function decideReview(
  tx: Tx,
  { accountId, environment }: Scope,
  decision: { id: string; from: readonly string[]; status: 'cleared' | 'confirmed'; reason: string; decidedBy: string },
): Promise<ReviewRow | undefined> {
  const [row] = await tx.query<ReviewRow>(
    `UPDATE exclusion_reviews SET status = $4, reason = $5, decided_by = $6, decided_at = clock_timestamp()
     WHERE account_id = $1 AND environment = $2 AND id = $3 AND status = ANY($7::text[]) RETURNING ${REVIEW}`,
    [accountId, environment, decision.id, decision.status, decision.reason, decision.decidedBy, decision.from],
  )
  return row
}
