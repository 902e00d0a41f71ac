// Rows of recoveries, and the pages that they walk over.

import type { Plan } from '#src/catalogue/access.ts'
import type { Statement, Tx } from '#src/platform/db/database.ts'
import type { Scope } from '#src/platform/ids.ts'
import type { AwaitedRow } from '#src/platform/polled-waits.ts'

/** failed: deliveries whose attempts are spent. missing: events that the endpoint never took. */
export type Which = 'failed' | 'missing'
export type RecoveryStatus = 'running' | 'finished' | 'cancelled' | 'failed'

export interface RecoveryRow {
  id: string
  endpointId: string
  which: Which
  since: Date
  until: Date
  status: RecoveryStatus
  /** Deliveries or events that it has looked at. */
  examined: number
  /** Deliveries that it sent again, or for the first time. */
  sent: number
  createdAt: Date
  updatedAt: Date
  finishedAt: Date | null
  createdBy: string
}

const RECOVERY = `id, endpoint_id AS "endpointId", which, since, until, status, examined::float8 AS examined,
  sent::float8 AS sent, created_at AS "createdAt", updated_at AS "updatedAt", finished_at AS "finishedAt", created_by AS "createdBy"`

export interface NewRecovery {
  id: string
  endpointId: string
  which: Which
  since: Date
  /** Below everything that the walk looks at. */
  cursor: string
  jobId: string
  createdBy: string
}

/** undefined while another one of the same kind runs over this endpoint. It ends where it begins: now. */
export async function insertRecovery(tx: Tx, scope: Scope, row: NewRecovery): Promise<RecoveryRow | undefined> {
  const [inserted] = await tx.query<RecoveryRow>(
    `INSERT INTO webhook_recoveries (account_id, environment, id, endpoint_id, which, since, until, cursor, job_id, created_by)
     VALUES ($1, $2, $3, $4, $5, $6, now(), $7, $8, $9)
     ON CONFLICT (endpoint_id, which, account_id, environment) WHERE status = 'running' DO NOTHING RETURNING ${RECOVERY}`,
    [
      scope.accountId,
      scope.environment,
      row.id,
      row.endpointId,
      row.which,
      row.since,
      row.cursor,
      row.jobId,
      row.createdBy,
    ],
  )
  return inserted
}

export async function findRecovery(tx: Tx, endpointId: string, id: string): Promise<RecoveryRow | undefined> {
  const [row] = await tx.query<RecoveryRow>(
    `SELECT ${RECOVERY} FROM webhook_recoveries WHERE id = $1 AND endpoint_id = $2`,
    [id, endpointId],
  )
  return row
}

/** Recoveries that have ended, among those that callers wait for. System role. */
export function findEndedRecoveries(asked: readonly AwaitedRow[]): Statement {
  return {
    text: `SELECT asked.id FROM unnest($1::text[], $2::text[], $3::text[]) AS asked (account_id, environment, id)
      JOIN webhook_recoveries recovery USING (account_id, environment, id) WHERE recovery.status <> 'running'`,
    values: [
      asked.map(({ accountId }) => accountId),
      asked.map(({ environment }) => environment),
      asked.map(({ id }) => id),
    ],
  }
}

export async function listRecoveries(
  tx: Tx,
  endpointId: string,
  { before, limit }: { before: string | undefined; limit: number },
): Promise<RecoveryRow[]> {
  return tx.query<RecoveryRow>(
    `SELECT ${RECOVERY} FROM webhook_recoveries WHERE endpoint_id = $1 AND ($2::text IS NULL OR id < $2)
     ORDER BY id DESC LIMIT $3`,
    [endpointId, before ?? null, limit],
  )
}

export interface RecoveryWalk {
  endpointId: string
  which: Which
  since: Date
  until: Date
  cursor: string
  eventTypes: string[]
  /** false: the endpoint was disabled or deleted. */
  isLive: boolean
  products: string[]
  plan: Plan
}

/** A running recovery, locked: two workers of its job take turns, and each begins where the other stopped. */
export async function lockWalk(tx: Tx, id: string): Promise<RecoveryWalk | undefined> {
  const [walk] = await tx.query<RecoveryWalk>(
    `SELECT walk.endpoint_id AS "endpointId", walk.which, walk.since, walk.until, walk.cursor,
       endpoint.event_types AS "eventTypes", endpoint.status = 'enabled' AND endpoint.deleted_at IS NULL AS "isLive",
       (SELECT products FROM accounts) AS products, (SELECT plan FROM accounts) AS plan
     FROM webhook_recoveries walk JOIN webhook_endpoints endpoint ON endpoint.id = walk.endpoint_id
     WHERE walk.id = $1 AND walk.status = 'running' FOR UPDATE OF walk`,
    [id],
  )
  return walk
}

export async function advanceWalk(
  tx: Tx,
  id: string,
  step: { cursor: string; examined: number; sent: number },
): Promise<void> {
  await tx.query(
    `UPDATE webhook_recoveries SET cursor = $2, examined = examined + $3, sent = sent + $4, updated_at = now() WHERE id = $1`,
    [id, step.cursor, step.examined, step.sent],
  )
}

export async function endWalk(tx: Tx, id: string, status: Exclude<RecoveryStatus, 'running'>): Promise<void> {
  await tx.query(
    `UPDATE webhook_recoveries SET status = $2, finished_at = now(), updated_at = now() WHERE id = $1 AND status = 'running'`,
    [id, status],
  )
}

/** Undoes a failure that was ours. */
export async function reopenWalk(tx: Tx, id: string): Promise<void> {
  await tx.query(
    `UPDATE webhook_recoveries SET status = 'running', finished_at = NULL, updated_at = now()
     WHERE id = $1 AND status = 'failed'`,
    [id],
  )
}

export interface WalkedDelivery {
  id: string
  /** Its body can still be made. */
  hasEvent: boolean
  attempts: number
}

/** The next failed deliveries with ids below `upTo`, locked. */
export async function findFailed(tx: Tx, walk: RecoveryWalk, upTo: string, limit: number): Promise<WalkedDelivery[]> {
  return tx.query<WalkedDelivery>(
    `SELECT id, attempts, EXISTS (SELECT FROM events WHERE events.id = deliveries.event_id OFFSET 0) AS "hasEvent" FROM deliveries
     WHERE endpoint_id = $1 AND failed_at IS NOT NULL AND id > $2 AND id < $5 AND created_at >= $3 AND created_at < $4
     ORDER BY id LIMIT $6 FOR NO KEY UPDATE OF deliveries`,
    [walk.endpointId, walk.cursor, walk.since, walk.until, upTo, limit],
  )
}

export interface WalkedEvent {
  id: string
  type: string
  /** Its delivery to the endpoint, if there was one. */
  deliveryId: string | null
  attempts: number
  /** The endpoint lacks it, and no delivery is under way. */
  isMissing: boolean
}

/** The next events with ids between two bounds, whatever their type, with the deliveries locked that failed or were cancelled. */
export async function findEvents(
  tx: Tx,
  walk: RecoveryWalk,
  { from, upTo, limit }: { from: string; upTo: string; limit: number },
): Promise<WalkedEvent[]> {
  const events = await tx.query<{ id: string; type: string }>(
    `SELECT id, type FROM events WHERE id > $1 AND id > $2 AND id < $3 AND created_at >= $4 AND created_at < $5
     ORDER BY id LIMIT $6`,
    [walk.cursor, from, upTo, walk.since, walk.until, limit],
  )
  const rows = await tx.query<{ id: string; eventId: string; attempts: number; isMissing: boolean }>(
    `SELECT id, event_id AS "eventId", attempts, status IN ('failed', 'cancelled') AND delivered_at IS NULL AS "isMissing"
     FROM deliveries WHERE event_id = ANY($1::text[]) AND endpoint_id = $2 ORDER BY id FOR NO KEY UPDATE`,
    [events.map(({ id }) => id), walk.endpointId],
  )
  const byEvent = new Map(rows.map((row) => [row.eventId, row]))
  return events.map(({ id, type }) => {
    const row = byEvent.get(id)
    return { id, type, deliveryId: row?.id ?? null, attempts: row?.attempts ?? 0, isMissing: row?.isMissing ?? true }
  })
}
