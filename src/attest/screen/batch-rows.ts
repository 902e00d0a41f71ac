import type { Tx } from '#src/platform/db/database.ts'
import { boundsOfRange, countOf, type TimeRange } from '#src/platform/db/id-ranges.ts'
import type { Rejection } from '#src/platform/http/bulk.ts'
import type { Scope } from '#src/platform/ids.ts'
import type { ScreeningStatus } from './rows.ts'

export interface ScreeningBatchRow {
  id: string
  accepted: number
  rejectedCount: number
  createdAt: Date
  counts: Record<ScreeningStatus, number>
}

type StoredBatch = Omit<ScreeningBatchRow, 'counts'>

const BATCH = `id, accepted, jsonb_array_length(rejected) AS "rejectedCount", created_at AS "createdAt"`

/** Inserted before its screenings, which refer to it; `setRejected` adds the rejected lines. */
export async function insertScreeningBatch(
  tx: Tx,
  scope: Scope,
  batch: { id: string; createdAt: Date },
): Promise<void> {
  await tx.query(
    `INSERT INTO screening_batches (account_id, environment, id, accepted, rejected, created_at)
     VALUES ($1, $2, $3, 0, '[]', $4)`,
    [scope.accountId, scope.environment, batch.id, batch.createdAt],
  )
}

export async function setRejected(
  tx: Tx,
  id: string,
  { accepted, rejected }: { accepted: number; rejected: readonly Rejection[] },
): Promise<void> {
  await tx.query('UPDATE screening_batches SET accepted = $2, rejected = $3 WHERE id = $1', [
    id,
    accepted,
    JSON.stringify(rejected),
  ])
}

export async function findScreeningBatch(tx: Tx, id: string): Promise<ScreeningBatchRow | undefined> {
  const rows = await tx.query<StoredBatch>(`SELECT ${BATCH} FROM screening_batches WHERE id = $1`, [id])
  const [row] = await withCounts(tx, rows)
  return row
}

/** Returns the rejections in the order of their lines; undefined: no such batch. */
export async function findRejected(tx: Tx, id: string): Promise<Rejection[] | undefined> {
  const [row] = await tx.query<{ rejected: Rejection[] }>('SELECT rejected FROM screening_batches WHERE id = $1', [id])
  return row?.rejected
}

const MATCHES = `id >= $1 AND id < $2
  AND ($3::timestamptz IS NULL OR created_at >= $3) AND ($4::timestamptz IS NULL OR created_at < $4)`

function valuesOf({ environment }: Scope, range: TimeRange, before?: string) {
  return [...boundsOfRange({ type: 'bat', environment }, range, before), range.from ?? null, range.to ?? null]
}

/** Newest first. */
export async function findScreeningBatches(
  tx: Tx,
  scope: Scope,
  range: TimeRange,
  { before, limit }: { before: string | undefined; limit: number },
): Promise<ScreeningBatchRow[]> {
  const rows = await tx.query<StoredBatch>(
    `SELECT ${BATCH} FROM screening_batches WHERE ${MATCHES} ORDER BY id DESC LIMIT $5`,
    [...valuesOf(scope, range, before), limit],
  )
  return withCounts(tx, rows)
}

export async function countScreeningBatches(tx: Tx, scope: Scope, range: TimeRange): Promise<number> {
  const [row] = await tx.query<{ count: number }>(countOf(`screening_batches WHERE ${MATCHES}`), valuesOf(scope, range))
  return row?.count ?? 0
}

/** The last line of the batch without an end, by the order of their jobs. */
export async function findLastQueuedJob(tx: Tx, batchId: string): Promise<string | undefined> {
  const [row] = await tx.query<{ jobId: string }>(
    // In the order of the batch's own index: see withCounts.
    `SELECT job_id AS "jobId" FROM screenings WHERE batch_id = $1 AND status = 'queued'
     ORDER BY batch_id DESC, batch_line DESC LIMIT 1`,
    [batchId],
  )
  return row?.jobId
}

// A page may have a million lines: only those without a score are counted, by an index that has no others.
async function withCounts(tx: Tx, rows: readonly StoredBatch[]): Promise<ScreeningBatchRow[]> {
  const found = await tx.query<{ batchId: string; status: Exclude<ScreeningStatus, 'scored'>; count: number }>(
    // Each batch is one look-up in the order of that index: a planner that expects few screenings would read all
    // screenings of the account.
    `SELECT wanted.id AS "batchId", lines.status, lines.count FROM unnest((SELECT $1::text[])) AS wanted (id)
     CROSS JOIN LATERAL (
       SELECT status, count(*) AS count FROM (
         SELECT status FROM screenings WHERE batch_id = wanted.id AND status <> 'scored' ORDER BY batch_id, status OFFSET 0
       ) AS unscored GROUP BY status
     ) AS lines`,
    [rows.map(({ id }) => id)],
  )
  return rows.map((row) => {
    const own = found.filter(({ batchId }) => batchId === row.id)
    const countOf = (status: ScreeningStatus) => own.find((one) => one.status === status)?.count ?? 0
    const unscored = {
      queued: countOf('queued'),
      unavailable: countOf('unavailable'),
      unsupported: countOf('unsupported'),
    }
    const scored = row.accepted - unscored.queued - unscored.unavailable - unscored.unsupported
    return { ...row, counts: { ...unscored, scored } }
  })
}
