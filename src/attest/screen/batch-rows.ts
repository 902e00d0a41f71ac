import type { Tx } from '#src/platform/db/database.ts'
import type { Rejection } from '#src/platform/http/bulk.ts'
import type { Scope } from '#src/platform/ids.ts'
import type { ScreeningStatus } from './rows.ts'

export interface ScreeningBatchRow {
  id: string
  accepted: number
  rejected: Rejection[]
  createdAt: Date
  counts: Record<ScreeningStatus, number>
}

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
  const [row] = await tx.query<Omit<ScreeningBatchRow, 'counts'>>(
    'SELECT id, accepted, rejected, created_at AS "createdAt" FROM screening_batches WHERE id = $1',
    [id],
  )
  if (row === undefined) return undefined
  const found = await tx.query<{ status: ScreeningStatus; count: number }>(
    // In the order of the batch's own index: where the planner knows of few screenings, it would read all of the account.
    `SELECT status, count(*) AS count FROM (SELECT status FROM screenings WHERE batch_id = $1 ORDER BY batch_id, batch_line) AS lines
     GROUP BY status`,
    [id],
  )
  const counts = new Map(found.map(({ status, count }) => [status, count]))
  const countOf = (status: ScreeningStatus) => counts.get(status) ?? 0
  return {
    ...row,
    counts: {
      queued: countOf('queued'),
      scored: countOf('scored'),
      unavailable: countOf('unavailable'),
      unsupported: countOf('unsupported'),
    },
  }
}
