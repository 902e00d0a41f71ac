// Rows that the API reads and writes for endpoints. Those of deliveries are in delivery-rows.ts, and the statements of
// the deliver queue in attempts.ts. A transaction that changes an endpoint and its deliveries changes the endpoint first, so that two of
// them can't deadlock.

import type { Tx } from '#src/platform/db/database.ts'
import { conditionOfAny, countOf, type TimeRange } from '#src/platform/db/id-ranges.ts'
import type { Scope } from '#src/platform/ids.ts'
import { oldRows } from '#src/platform/retention.ts'

export type EndpointStatus = 'enabled' | 'disabled'
export const DISABLED_REASONS = ['gone', 'failing', 'manual'] as const
export type DisabledReason = (typeof DISABLED_REASONS)[number]
export type DeliveryStatus = 'pending' | 'delivered' | 'failed' | 'cancelled'

export interface EndpointRow {
  id: string
  url: string
  eventTypes: string[]
  status: EndpointStatus
  disabledReason: DisabledReason | null
  disabledAt: Date | null
  /** Since when its deliveries are parked; null while its circuit is closed. */
  circuitOpenedAt: Date | null
  /** When one delivery probes it. */
  circuitUntil: Date | null
  description: string
  metadata: Record<string, string>
  /** Deliveries a second; null for no limit of its own. */
  maxPerSecond: number | null
  /** Deliveries in flight, 1 to 32. */
  maxConcurrency: number
  lastSuccessAt: Date | null
  createdAt: Date
  secretRotatedAt: Date | null
  /** Until when the secret before the last rotation signs as well; null when it no longer does. */
  previousSecretExpiresAt: Date | null
  /** Counts the changes of its settings and its status. */
  version: number
}

/** What its owner sets. */
export interface EndpointSettings {
  url: string
  eventTypes: readonly string[]
  description: string
  metadata: Record<string, string>
  maxPerSecond: number | null
  maxConcurrency: number
}

export interface NewEndpoint extends EndpointSettings {
  id: string
  sealedSecret: Buffer
}

export interface PageOf {
  before: string | undefined
  /** Rows to answer at most. */
  limit: number
}

export interface CreatedRange extends TimeRange {}

export interface EndpointFilter extends CreatedRange {
  /** Endpoints of any of these. */
  status?: readonly EndpointStatus[] | undefined
}

const ENDPOINT = `id, url, event_types AS "eventTypes", status, disabled_reason AS "disabledReason",
  disabled_at AS "disabledAt", circuit_opened_at AS "circuitOpenedAt", circuit_until AS "circuitUntil", description, metadata, max_per_second AS "maxPerSecond",
  max_concurrency AS "maxConcurrency", last_success_at AS "lastSuccessAt", created_at AS "createdAt",
  secret_rotated_at AS "secretRotatedAt", version,
  CASE WHEN previous_secret_expires_at > now() THEN previous_secret_expires_at END AS "previousSecretExpiresAt"`

/**
 * undefined when the account has `maxCount` already. Concurrent calls may exceed it by one or two: the limit bounds a
 * flood.
 */
export async function insertEndpoint(
  tx: Tx,
  scope: Scope,
  endpoint: NewEndpoint,
  maxCount: number,
): Promise<EndpointRow | undefined> {
  const [row] = await tx.query<EndpointRow>(
    `INSERT INTO webhook_endpoints (account_id, environment, id, url, event_types, sealed_secret, description, metadata,
       max_per_second, max_concurrency)
     SELECT $1, $2, $3, $4, $5, $6, $8, $9::jsonb, $10, $11
     WHERE (SELECT count(*) FROM webhook_endpoints WHERE deleted_at IS NULL) < $7
     RETURNING ${ENDPOINT}`,
    [
      scope.accountId,
      scope.environment,
      endpoint.id,
      endpoint.url,
      endpoint.eventTypes,
      endpoint.sealedSecret,
      maxCount,
      endpoint.description,
      JSON.stringify(endpoint.metadata),
      endpoint.maxPerSecond,
      endpoint.maxConcurrency,
    ],
  )
  return row
}

export async function findEndpoint(tx: Tx, id: string): Promise<EndpointRow | undefined> {
  const [row] = await tx.query<EndpointRow>(
    `SELECT ${ENDPOINT} FROM webhook_endpoints WHERE id = $1 AND deleted_at IS NULL`,
    [id],
  )
  return row
}

/** Deleted ones included. */
export async function hasEndpoint(tx: Tx, id: string): Promise<boolean> {
  return (await tx.query('SELECT 1 FROM webhook_endpoints WHERE id = $1', [id])).length === 1
}

/** The endpoint, unless it was deleted, and no other transaction changes it before this one ends. */
export async function lockEndpoint(tx: Tx, id: string): Promise<EndpointRow | undefined> {
  const [row] = await tx.query<EndpointRow>(
    `SELECT ${ENDPOINT} FROM webhook_endpoints WHERE id = $1 AND deleted_at IS NULL FOR NO KEY UPDATE`,
    [id],
  )
  return row
}

export interface EndpointChange extends EndpointSettings {
  status: EndpointStatus
  disabledReason: DisabledReason | null
}

export async function updateEndpoint(tx: Tx, id: string, change: EndpointChange): Promise<EndpointRow> {
  const [row] = await tx.query<EndpointRow>(
    `UPDATE webhook_endpoints SET url = $2, event_types = $3, description = $4, metadata = $5::jsonb,
       max_per_second = $6, max_concurrency = $7, status = $8::text, disabled_reason = $9,
       disabled_at = CASE WHEN $8::text = 'disabled' THEN coalesce(disabled_at, now()) END, version = version + 1
     WHERE id = $1 RETURNING ${ENDPOINT}`,
    [
      id,
      change.url,
      change.eventTypes,
      change.description,
      JSON.stringify(change.metadata),
      change.maxPerSecond,
      change.maxConcurrency,
      change.status,
      change.disabledReason,
    ],
  )
  if (row === undefined) throw new Error(`endpoint ${id} is not there: the transaction holds its lock`)
  return row
}

/** The secret until now signs for `graceSeconds` more; the one before it no longer does. */
export async function replaceSecret(
  tx: Tx,
  id: string,
  { sealedSecret, graceSeconds }: { sealedSecret: Buffer; graceSeconds: number },
): Promise<EndpointRow | undefined> {
  const [row] = await tx.query<EndpointRow>(
    `UPDATE webhook_endpoints SET sealed_secret = $2, secret_rotated_at = now(),
       sealed_previous_secret = CASE WHEN $3::int > 0 THEN sealed_secret END,
       previous_secret_expires_at = CASE WHEN $3::int > 0 THEN now() + $3::int * interval '1 second' END
     WHERE id = $1 AND deleted_at IS NULL RETURNING ${ENDPOINT}`,
    [id, sealedSecret, graceSeconds],
  )
  return row
}

export async function listEndpoints(tx: Tx, filter: EndpointFilter, { before, limit }: PageOf): Promise<EndpointRow[]> {
  const { where, values } = endpointConditions(filter, before)
  return tx.adhoc<EndpointRow>(
    `SELECT ${ENDPOINT} FROM webhook_endpoints WHERE ${where} ORDER BY id DESC LIMIT $${values.push(limit)}`,
    values,
  )
}

export async function countEndpoints(tx: Tx, filter: EndpointFilter): Promise<number> {
  const { where, values } = endpointConditions(filter)
  const [row] = await tx.adhoc<{ count: number }>(countOf(`webhook_endpoints WHERE ${where}`), values)
  return row?.count ?? 0
}

/** Its deliveries keep their log. Returns it as it was; undefined when there is none. */
export async function deleteEndpoint(tx: Tx, id: string): Promise<EndpointRow | undefined> {
  const [row] = await tx.query<EndpointRow>(
    `UPDATE webhook_endpoints SET deleted_at = now() WHERE id = $1 AND deleted_at IS NULL RETURNING ${ENDPOINT}`,
    [id],
  )
  return row
}

interface Conditions {
  where: string
  values: unknown[]
}

function endpointConditions({ status, from, to }: EndpointFilter, before?: string): Conditions {
  const values: unknown[] = []
  const conditions = ['deleted_at IS NULL']
  if (status !== undefined) conditions.push(conditionOfAny(values, 'status', status))
  if (from !== undefined) conditions.push(`created_at >= $${values.push(from)}`)
  if (to !== undefined) conditions.push(`created_at < $${values.push(to)}`)
  if (before !== undefined) conditions.push(`id < $${values.push(before)}`)
  return { where: conditions.join(' AND '), values }
}

/** Endpoints that were deleted, when their log is gone too. */
export const purgeDeletedEndpoints = oldRows({
  table: 'webhook_endpoints',
  idType: 'whe',
  age: 'deleted_at',
  unless: ['deliveries', 'webhook_recoveries'].map(
    (table) => `SELECT FROM ${table} WHERE endpoint_id = webhook_endpoints.id`,
  ),
})
