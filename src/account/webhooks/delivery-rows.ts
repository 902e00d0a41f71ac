// Rows of deliveries and attempts, as the API reads them. The statements of the deliver queue are in attempts.ts.

import type { Tx } from '#src/platform/db/database.ts'
import { conditionOfAny, conditionsOfRange, countOf } from '#src/platform/db/id-ranges.ts'
import { type Environment, idsBefore } from '#src/platform/ids.ts'
import { deleteRows, type PurgeStep } from '#src/platform/retention.ts'
import type { AttemptDetail } from './attempt-log.ts'
import { laneOf } from './circuit.ts'
import type { StoredEvent } from './envelope.ts'
import type { CreatedRange, DeliveryStatus } from './rows.ts'

export interface DeliveryRow {
  id: string
  endpointId: string
  eventId: string
  eventType: string
  status: DeliveryStatus
  attempts: number
  createdAt: Date
  nextAttemptAt: Date | null
  deliveredAt: Date | null
  failedAt: Date | null
  jobId: string
}

export interface AttemptRow {
  deliveryId: string
  attempt: number
  startedAt: Date
  finishedAt: Date | null
  responseStatus: number | null
  error: string | null
  durationMs: number | null
  errorDetail: string | null
  /** null, as `detail`: the attempt has no end. */
  timing: AttemptDetail['timing'] | null
  /** Like `responseBody` only where `withBodies` asks for it: a page may have thousands of attempts, of some KiB each. */
  detail: AttemptDetail | null
  responseBody: Buffer | null
}

export interface DeliveryFilter extends CreatedRange {
  endpointId?: string | undefined
  status?: readonly DeliveryStatus[] | undefined
  eventTypes?: readonly string[] | undefined
}

/** Newest first below an id, or oldest first above one. */
export type PageRange = { limit: number } & ({ before: string | undefined } | { after: string })

const DELIVERY = `id, endpoint_id AS "endpointId", event_id AS "eventId", event_type AS "eventType", status, attempts,
  created_at AS "createdAt", next_attempt_at AS "nextAttemptAt", delivered_at AS "deliveredAt", failed_at AS "failedAt",
  job_id AS "jobId"`

export async function listDeliveries(
  tx: Tx,
  environment: Environment,
  filter: DeliveryFilter,
  range: PageRange,
): Promise<DeliveryRow[]> {
  const { conditions, values } = await conditionsOf(tx, environment, filter)
  const isAscending = 'after' in range
  if (isAscending) conditions.push(`id > $${values.push(range.after)}`)
  else if (range.before !== undefined) conditions.push(`id < $${values.push(range.before)}`)
  return tx.adhoc<DeliveryRow>(
    `SELECT ${DELIVERY} FROM deliveries WHERE ${conditions.join(' AND ')}
     ORDER BY id ${isAscending ? '' : 'DESC'} LIMIT $${values.push(range.limit)}`,
    values,
  )
}

export async function countDeliveries(tx: Tx, environment: Environment, filter: DeliveryFilter): Promise<number> {
  const { conditions, values } = await conditionsOf(tx, environment, filter)
  const [row] = await tx.adhoc<{ count: number }>(countOf(`deliveries WHERE ${conditions.join(' AND ')}`), values)
  return row?.count ?? 0
}

/** @param endpointId undefined: of any endpoint. */
export async function findDelivery(
  tx: Tx,
  endpointId: string | undefined,
  id: string,
): Promise<DeliveryRow | undefined> {
  const [row] = await tx.query<DeliveryRow>(
    `SELECT ${DELIVERY} FROM deliveries WHERE id = $1 AND endpoint_id = coalesce($2, endpoint_id)`,
    [id, endpointId ?? null],
  )
  return row
}

/** The same, and no other transaction changes it before this one ends. */
export async function lockDelivery(tx: Tx, endpointId: string, id: string): Promise<DeliveryRow | undefined> {
  const [row] = await tx.query<DeliveryRow>(
    `SELECT ${DELIVERY} FROM deliveries WHERE id = $1 AND endpoint_id = $2 FOR NO KEY UPDATE`,
    [id, endpointId],
  )
  return row
}

/** In order. The attempt in flight is on the delivery's own row; so is one that was interrupted, until the next begins. */
export async function findAttempts(
  tx: Tx,
  deliveryIds: readonly string[],
  { withBodies }: { withBodies: boolean },
): Promise<AttemptRow[]> {
  if (deliveryIds.length === 0) return []
  return tx.query<AttemptRow>(
    `SELECT delivery_id AS "deliveryId", attempt, started_at AS "startedAt", finished_at AS "finishedAt",
       response_status AS "responseStatus", error, duration_ms AS "durationMs", detail ->> 'error_detail' AS "errorDetail",
       detail -> 'timing' AS timing, ${withBodies ? 'detail' : 'NULL::jsonb'} AS detail,
       ${withBodies ? 'response_body' : 'NULL::bytea'} AS "responseBody"
     FROM delivery_attempts WHERE delivery_id = ANY($1)
     UNION ALL
     SELECT id, attempts, attempt_started_at, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
     FROM deliveries WHERE id = ANY($1) AND attempt_started_at IS NOT NULL
     ORDER BY "deliveryId", attempt`,
    [deliveryIds],
  )
}

/** undefined when it has gone. */
export async function findEvent(tx: Tx, eventId: string): Promise<StoredEvent | undefined> {
  const [row] = await tx.query<StoredEvent>(
    `SELECT id AS "eventId", type, created_at AS "createdAt", data FROM events WHERE id = $1`,
    [eventId],
  )
  return row
}

// Failed and cancelled ones are found by indexes that hold nothing else, and pending ones by their jobs.
async function conditionsOf(
  tx: Tx,
  environment: Environment,
  { endpointId, status, eventTypes, from, to }: DeliveryFilter,
): Promise<{ conditions: string[]; values: unknown[] }> {
  const values: unknown[] = []
  const conditions: string[] = []
  if (endpointId !== undefined) conditions.push(`endpoint_id = $${values.push(endpointId)}`)
  const open = status?.includes('pending') ? await findOpen(tx, endpointId) : undefined
  const conditionOf = (one: DeliveryStatus) => {
    const isOne = `status = $${values.push(one)}`
    if (one === 'failed' || one === 'cancelled') return `(${one}_at IS NOT NULL AND ${isOne})`
    return one === 'pending' && open !== undefined ? `(id = ANY($${values.push(open)}::text[]) AND ${isOne})` : isOne
  }
  if (status !== undefined) conditions.push(`(${status.map(conditionOf).join(' OR ')})`)
  if (eventTypes !== undefined) conditions.push(conditionOfAny(values, 'event_type', eventTypes))
  conditions.push(...conditionsOfRange(values, { type: 'whd', environment }, { from, to }))
  return { conditions: conditions.length === 0 ? ['true'] : conditions, values }
}

// Beyond these numbers, deliveries that are pending are many of the log, and it is read in order.
const MAX_OPEN = 10_000
const MAX_ENDPOINTS_READ = 1_000

/** The ids of deliveries that have a job that has not ended; undefined where they are too many. */
async function findOpen(tx: Tx, endpointId: string | undefined): Promise<string[] | undefined> {
  const endpoints =
    endpointId === undefined
      ? await tx.query<{ id: string }>('SELECT id FROM webhook_endpoints LIMIT $1', [MAX_ENDPOINTS_READ + 1])
      : [{ id: endpointId }]
  if (endpoints.length > MAX_ENDPOINTS_READ) return undefined
  const lanes = endpoints.flatMap(({ id }) => [false, true].map((isDirect) => laneOf(id, { isDirect })))
  const open = await tx.query<{ id: string }>(
    `(SELECT payload ->> 'deliveryId' AS id FROM jobs WHERE queue = 'deliver' AND lane = ANY($1::text[]) AND state = 'queued'
      LIMIT $2)
     UNION ALL
     (SELECT payload ->> 'deliveryId' FROM jobs WHERE queue = 'deliver' AND lane = ANY($1::text[])
        AND state = 'dispatched')`,
    [lanes, MAX_OPEN + 1],
  )
  return open.length > MAX_OPEN ? undefined : open.map(({ id }) => id)
}

/** Old deliveries that have ended, with the log of their attempts. */
export const purgeDeliveries: PurgeStep = async (tx, { environment }, { before, limit }) => {
  const old = await tx.query<{ id: string }>(
    `SELECT id FROM deliveries WHERE id < $1 AND created_at < $2 AND status <> 'pending' ORDER BY id LIMIT $3 FOR UPDATE`,
    [idsBefore('whd', environment, before), before, limit],
  )
  await tx.query('DELETE FROM delivery_attempts WHERE delivery_id = ANY($1)', [old.map(({ id }) => id)])
  return deleteRows(tx, 'deliveries', old)
}
