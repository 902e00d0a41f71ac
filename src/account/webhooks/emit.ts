// Writes events for the endpoints that subscribe to them. Events, deliveries and their jobs are written in the
// transaction of the change itself: neither an event without its change nor a change without its event can exist.

import type { z } from 'zod'
import type { Product } from '#src/catalogue/access.ts'
import { type EmittedType, EVENT_DATA, EVENT_TYPES, type EventType } from '#src/catalogue/events.ts'
import type { Tx } from '#src/platform/db/database.ts'
import { newId, newJobId, type Scope } from '#src/platform/ids.ts'
import { enqueue } from '#src/platform/jobs/backlog.ts'
import { laneOf } from './circuit.ts'

export type NewEvent = {
  [Type in EmittedType]: {
    type: Type
    data: z.input<(typeof EVENT_DATA)[Type]>
    /** For what may happen once: a second event with the same key is not written, in any transaction. */
    dedupKey?: string
    /** Span that caused the event, where many are emitted together; by default the span that emits. */
    traceparent?: string | undefined
  }
}[EmittedType]

export interface Emitted {
  /** undefined when the key was used before: then nothing was written. */
  eventId: string | undefined
  deliveryIds: string[]
}

/**
 * Writes one event, and a delivery with its job for each endpoint that subscribes to it. Returns the event's id, or
 * undefined when `dedupKey` was used before.
 */
export async function emit(tx: Tx, scope: Scope, event: NewEvent): Promise<string | undefined> {
  const [emitted] = await emitMany(tx, scope, [event])
  return emitted?.eventId
}

/**
 * The same for several events: one round trip for all of them, and two more when any endpoint subscribes to any. Ids
 * ascend in the order given.
 * @throws {ZodError} when `data` does not fit its type: a programmer's error, found before anything is written.
 */
export async function emitMany(tx: Tx, scope: Scope, events: readonly NewEvent[]): Promise<Emitted[]> {
  if (events.length === 0) return []
  const nowMs = Date.now()
  const rows = events.map((event, index) => ({
    // Ids of one millisecond would sort at random: the index keeps provenance before escalation.
    id: newId('evt', scope.environment, nowMs, index),
    type: event.type,
    dedupKey: event.dedupKey ?? null,
    data: JSON.stringify(EVENT_DATA[event.type].parse(event.data)),
  }))
  const inserted = await insertEvents(tx, scope, rows)
  const written = new Set(inserted.map(({ eventId }) => eventId))
  const causes = new Map(rows.map(({ id }, index) => [id, events[index]?.traceparent]))
  const deliveries = inserted.flatMap(({ eventId, type, endpointId, products }) =>
    endpointId !== null && isEntitled(type, products)
      ? [
          {
            id: newId('whd', scope.environment, nowMs),
            eventId,
            eventType: type,
            endpointId,
            traceparent: causes.get(eventId),
          },
        ]
      : [],
  )
  await insertDeliveries(tx, scope, deliveries)
  return rows.map(({ id }) => ({
    eventId: written.has(id) ? id : undefined,
    deliveryIds: deliveries.filter(({ eventId }) => eventId === id).map((delivery) => delivery.id),
  }))
}

/** Whether an account with these products gets events of a type. */
export function isEntitled(type: EventType, owned: readonly string[]): boolean {
  const products: readonly Product[] = EVENT_TYPES[type].products
  return products.length === 0 || products.some((product) => owned.includes(product))
}

// A person who tests an endpoint waits for the result, also while its circuit is open.
function isDirect(type: EventType): boolean {
  return type === 'ping'
}

interface InsertedEvent {
  eventId: string
  type: EventType
  /** One row per endpoint that subscribes to the event, or one row with null. */
  endpointId: string | null
  products: string[]
}

async function insertEvents(
  tx: Tx,
  scope: Scope,
  rows: readonly { id: string; type: string; dedupKey: string | null; data: string }[],
): Promise<InsertedEvent[]> {
  return tx.query<InsertedEvent>(
    `WITH event AS (
       INSERT INTO events (account_id, environment, id, type, dedup_key, data)
       SELECT $1, $2, new.id, new.type, new.dedup_key, new.data
       FROM unnest($3::text[], $4::text[], $5::text[], $6::jsonb[]) AS new (id, type, dedup_key, data)
       ON CONFLICT (account_id, environment, dedup_key) DO NOTHING
       RETURNING id, type, data
     )
     SELECT event.id AS "eventId", event.type, endpoint.id AS "endpointId", account.products
     FROM event JOIN accounts account ON account.id = $1
     LEFT JOIN webhook_endpoints endpoint
       ON endpoint.account_id = $1 AND endpoint.environment = $2
       AND endpoint.status = 'enabled' AND endpoint.deleted_at IS NULL
       AND CASE WHEN event.type = 'ping' THEN endpoint.id = event.data ->> 'webhook_endpoint_id'
                ELSE endpoint.event_types && ARRAY['*', event.type] END
     ORDER BY event.id, endpoint.id`,
    [
      scope.accountId,
      scope.environment,
      rows.map(({ id }) => id),
      rows.map(({ type }) => type),
      rows.map(({ dedupKey }) => dedupKey),
      rows.map(({ data }) => data),
    ],
  )
}

/** Writes deliveries of events, each with its job. */
export async function insertDeliveries(
  tx: Tx,
  scope: Scope,
  deliveries: readonly {
    id: string
    eventId: string
    eventType: EventType
    endpointId: string
    traceparent?: string | undefined
  }[],
  priority: 'interactive' | 'bulk' = 'interactive',
): Promise<void> {
  if (deliveries.length === 0) return
  const jobIds = deliveries.map(() => newJobId())
  const enqueued = enqueue(
    tx,
    'deliver',
    scope,
    deliveries.map(({ id, endpointId, eventType, traceparent }, index) => ({
      id: jobIds[index] ?? '',
      payload: { deliveryId: id },
      lane: laneOf(endpointId, { isDirect: isDirect(eventType) }),
      priority,
      traceparent,
    })),
  )
  const inserted = tx.query(
    `INSERT INTO deliveries (account_id, environment, id, endpoint_id, event_id, event_type, job_id, is_direct,
       next_attempt_at)
     SELECT $1, $2, new.id, new.endpoint_id, new.event_id, new.event_type, new.job_id, new.is_direct, now()
     FROM unnest($3::text[], $4::text[], $5::text[], $6::text[], $7::uuid[], $8::boolean[])
       AS new (id, endpoint_id, event_id, event_type, job_id, is_direct)`,
    [
      scope.accountId,
      scope.environment,
      deliveries.map(({ id }) => id),
      deliveries.map(({ endpointId }) => endpointId),
      deliveries.map(({ eventId }) => eventId),
      deliveries.map(({ eventType }) => eventType),
      jobIds,
      deliveries.map(({ eventType }) => isDirect(eventType)),
    ],
  )
  await Promise.all([enqueued, inserted])
}
