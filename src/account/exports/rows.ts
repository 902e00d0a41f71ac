import type { Statement, Tx } from '#src/platform/db/database.ts'
import { countOf, type TimeRange } from '#src/platform/db/id-ranges.ts'
import type { AwaitedRow } from '#src/platform/polled-waits.ts'

type ExportState = 'queued' | 'running' | 'ready' | 'failed' | 'expired'

export interface ExportRow {
  id: string
  state: ExportState
  includesMedia: boolean
  requestedBy: string
  filesDone: number
  rowsDone: number
  size: number | null
  sha256: Buffer | null
  failure: string | null
  createdAt: Date
  finishedAt: Date | null
  expiresAt: Date | null
}

const EXPORT = `id, state, includes_media AS "includesMedia", requested_by AS "requestedBy", files_done AS "filesDone",
  rows_done AS "rowsDone", size, sha256, failure, created_at AS "createdAt", finished_at AS "finishedAt",
  expires_at AS "expiresAt"`

/** undefined when another export of the account has not ended. */
export async function insertExport(
  tx: Tx,
  row: { accountId: string; id: string; includesMedia: boolean; requestedBy: string; jobId: string; createdAt: Date },
): Promise<ExportRow | undefined> {
  const [inserted] = await tx.query<ExportRow>(
    `INSERT INTO account_exports (account_id, id, includes_media, requested_by, job_id, created_at)
     VALUES ($1, $2, $3, $4, $5, $6)
     ON CONFLICT (account_id) WHERE state IN ('queued', 'running') DO NOTHING RETURNING ${EXPORT}`,
    [row.accountId, row.id, row.includesMedia, row.requestedBy, row.jobId, row.createdAt],
  )
  return inserted
}

/** When the oldest of the newest `count` exports was requested; undefined when there are fewer of them. */
export async function findNthNewest(tx: Tx, count: number): Promise<Date | undefined> {
  const [row] = await tx.query<{ createdAt: Date }>(
    'SELECT created_at AS "createdAt" FROM account_exports ORDER BY created_at DESC OFFSET $1 LIMIT 1',
    [count - 1],
  )
  return row?.createdAt
}

export async function findExport(tx: Tx, id: string): Promise<ExportRow | undefined> {
  const [row] = await tx.query<ExportRow>(`SELECT ${EXPORT} FROM account_exports WHERE id = $1`, [id])
  return row
}

/** Exports that have ended, among those that callers wait for. System role. */
export function findEndedExports(asked: readonly AwaitedRow[]): Statement {
  return {
    text: `SELECT asked.id FROM unnest($1::text[], $2::text[]) AS asked (account_id, id)
      JOIN account_exports export USING (account_id, id) WHERE export.state NOT IN ('queued', 'running')`,
    values: [asked.map(({ accountId }) => accountId), asked.map(({ id }) => id)],
  }
}

interface Times extends TimeRange {}

const IS_BETWEEN = `($1::timestamptz IS NULL OR created_at >= $1) AND ($2::timestamptz IS NULL OR created_at < $2)`

/** Newest first. */
export async function listExports(
  tx: Tx,
  { from, to }: Times,
  { before, limit }: { before: string | undefined; limit: number },
): Promise<ExportRow[]> {
  return tx.query<ExportRow>(
    `SELECT ${EXPORT} FROM account_exports WHERE ${IS_BETWEEN} AND ($3::text IS NULL OR id < $3) ORDER BY id DESC LIMIT $4`,
    [from ?? null, to ?? null, before ?? null, limit],
  )
}

export async function countExports(tx: Tx, { from, to }: Times): Promise<number> {
  const [row] = await tx.query<{ count: number }>(countOf(`account_exports WHERE ${IS_BETWEEN}`), [
    from ?? null,
    to ?? null,
  ])
  return row?.count ?? 0
}

/** Starts it, or starts it anew. undefined when it has ended. */
export async function startExport(tx: Tx, id: string): Promise<ExportRow | undefined> {
  const [row] = await tx.query<ExportRow>(
    `UPDATE account_exports SET state = 'running', files_done = 0, rows_done = 0
     WHERE id = $1 AND state IN ('queued', 'running') RETURNING ${EXPORT}`,
    [id],
  )
  return row
}

export async function updateProgress(tx: Tx, id: string, progress: { files: number; rows: number }): Promise<void> {
  await tx.query(`UPDATE account_exports SET files_done = $2, rows_done = $3 WHERE id = $1 AND state = 'running'`, [
    id,
    progress.files,
    progress.rows,
  ])
}

/** false when it has ended, or is erased. */
export async function finishExport(
  tx: Tx,
  id: string,
  made: { files: number; rows: number; size: number; sha256: string; at: Date; expiresAt: Date },
): Promise<boolean> {
  const rows = await tx.query(
    `UPDATE account_exports SET state = 'ready', files_done = $2, rows_done = $3, size = $4, sha256 = $5,
       finished_at = $6, expires_at = $7
     WHERE id = $1 AND state = 'running' RETURNING 1`,
    [id, made.files, made.rows, made.size, Buffer.from(made.sha256, 'hex'), made.at, made.expiresAt],
  )
  return rows.length === 1
}

export async function failExport(tx: Tx, id: string, failure: string): Promise<void> {
  await tx.query(
    `UPDATE account_exports SET state = 'failed', failure = $2, finished_at = now()
     WHERE id = $1 AND state IN ('queued', 'running')`,
    [id, failure.slice(0, 500)],
  )
}

/** A failed one, unless the account has requested another meanwhile. */
export async function requeueExport(tx: Tx, id: string): Promise<void> {
  await tx.query(
    `UPDATE account_exports SET state = 'queued', failure = NULL, finished_at = NULL
     WHERE id = $1 AND state = 'failed'
       AND NOT EXISTS (SELECT FROM account_exports other WHERE other.state IN ('queued', 'running'))`,
    [id],
  )
}

/** Archives whose time is over. */
export async function findOldExports(tx: Tx, at: Date): Promise<{ id: string; sha256: string }[]> {
  return tx.query(
    `SELECT id, encode(sha256, 'hex') AS sha256 FROM account_exports WHERE state = 'ready' AND expires_at <= $1`,
    [at],
  )
}

export async function expireExport(tx: Tx, id: string): Promise<void> {
  await tx.query(`UPDATE account_exports SET state = 'expired' WHERE id = $1`, [id])
}
