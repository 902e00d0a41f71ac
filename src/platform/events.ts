// What happened, told to whoever subscribed. Events, deliveries and their jobs are written in the transaction of the
// change itself: an event without its change, or a change without its event, can't be.

import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import type { Tx } from './db/database.ts'
import { newId, type Scope } from './ids.ts'
import { enqueue } from './jobs/backlog.ts'

export type Product = 'attest' | 'authorize' | 'trace'

interface EventTypeEntry {
  /** Accounts entitled to any of them receive it. Empty: every account. */
  products: readonly Product[]
  summary: string
}

/** Every type of the specification (Events), also those whose feature does not emit yet: endpoints may subscribe. */
export const EVENT_TYPES = {
  'attestation.created': { products: ['attest', 'authorize'], summary: 'An attestation got its first result.' },
  'claim.provenance_updated': { products: ['attest'], summary: "A claim's provenance or risk result changed." },
  'claim.escalated': { products: ['attest'], summary: "A claim's risk status became failed." },
  'case.status_changed': { products: ['attest'], summary: 'An adjuster case changed state.' },
  'screening.completed': { products: ['attest'], summary: 'A synthetic-media screening returned a real score.' },
  'approval.requested': { products: ['authorize'], summary: 'A step-up approval was created.' },
  'approval.resolved': { products: ['authorize'], summary: 'A step-up approval was decided.' },
  'intent.revoked': { products: ['authorize'], summary: 'A token, session or device revocation was created.' },
  'trace.job_completed': { products: ['trace'], summary: 'An attribution trace job finished.' },
  'trace.canary_tripped': { products: ['trace'], summary: 'A canary trip stopped an agent.' },
  'trace.diff_completed': { products: ['trace'], summary: 'A model-version diff completed.' },
  'trace.disclosure_requested': { products: ['trace'], summary: 'A verified person asked to see masked neurons.' },
  'trace.disclosure_granted': { products: ['trace'], summary: 'A disclosure request was granted.' },
  ping: { products: [], summary: 'The test of a webhook endpoint.' },
} as const satisfies Record<string, EventTypeEntry>

export type EventType = keyof typeof EVENT_TYPES

const codes = z.array(z.string()).readonly()
const standing = z
  .strictObject({
    provenance_status: z.string().nullable(),
    risk_status: z.string(),
    risk_score: z.number().int().nullable(),
  })
  .meta({ id: 'ClaimStanding' })

/** The `data` of the types emitted today. Ids and judgements only: nothing personal leaves with an event. */
export const EVENT_DATA = {
  'attestation.created': z.strictObject({
    attestation_id: z.string(),
    claim_id: z.string(),
    risk_score: z.number().int(),
    risk_status: z.string(),
    provenance_status: z.string(),
    factor_codes: codes,
    advisory_codes: codes,
  }),
  'claim.provenance_updated': z.strictObject({
    claim_id: z.string(),
    previous: standing,
    current: standing,
    added_factors: codes,
    removed_factors: codes,
  }),
  'claim.escalated': z.strictObject({
    claim_id: z.string(),
    risk_score: z.number().int(),
    factor_codes: codes,
    case_id: z.string().optional(),
  }),
  'case.status_changed': z.strictObject({
    case_id: z.string(),
    claim_id: z.string(),
    from: z.string(),
    to: z.string(),
    reason_code: z.string().nullable(),
    note_present: z.boolean(),
    actor: z.string(),
  }),
  'screening.completed': z.strictObject({
    screening_id: z.string(),
    claim_id: z.string().nullable(),
    genai_score: z.number().nullable(),
    deepfake_score: z.number().nullable(),
    factors: codes,
    detector: z.strictObject({ name: z.string(), version: z.string() }),
  }),
  ping: z.strictObject({ endpoint_id: z.string() }),
} satisfies Partial<Record<EventType, z.ZodType>>

type EmittedType = keyof typeof EVENT_DATA

export type NewEvent = {
  [Type in EmittedType]: {
    type: Type
    data: z.input<(typeof EVENT_DATA)[Type]>
    /** What may happen once: a second event with the same key is not written, by whichever transaction it comes. */
    dedupKey?: string
    /** Of the span that caused it, where many are emitted together; by default the one that emits. */
    traceparent?: string | undefined
  }
}[EmittedType]

export interface Emitted {
  /** undefined when the key was used before: then nothing was written. */
  eventId: string | undefined
  deliveryIds: string[]
}

export function isEventType(name: string): name is EventType {
  return Object.hasOwn(EVENT_TYPES, name)
}

/** Writes one event, and a delivery with its job for each endpoint that wants it. Answers the event's id, or undefined
 * when `dedupKey` was used before. */
export async function emit(tx: Tx, scope: Scope, event: NewEvent): Promise<string | undefined> {
  const [emitted] = await emitMany(tx, scope, [event])
  return emitted?.eventId
}

/**
 * The same for several: one round trip for all events, and two more when any endpoint wants any. Ids ascend in the order given.
 * @throws {ZodError} when `data` is not the type's own: a programmer's error, found before anything is written.
 */
export async function emitMany(tx: Tx, scope: Scope, events: readonly NewEvent[]): Promise<Emitted[]> {
  if (events.length === 0) return []
  const nowMs = Date.now()
  const rows = events.map((event, index) => ({
    // Ids of one millisecond sort at random: the index keeps provenance before escalation.
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

function isEntitled(type: EventType, owned: readonly string[]): boolean {
  const products: readonly Product[] = EVENT_TYPES[type].products
  return products.length === 0 || products.some((product) => owned.includes(product))
}

interface InsertedEvent {
  eventId: string
  type: EventType
  /** One row per endpoint that wants the event, or one with null. */
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
       AND CASE WHEN event.type = 'ping' THEN endpoint.id = event.data ->> 'endpoint_id'
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

async function insertDeliveries(
  tx: Tx,
  scope: Scope,
  deliveries: readonly {
    id: string
    eventId: string
    eventType: EventType
    endpointId: string
    traceparent: string | undefined
  }[],
): Promise<void> {
  if (deliveries.length === 0) return
  const jobIds = deliveries.map(() => randomUUID())
  const enqueued = enqueue(
    tx,
    'deliver',
    scope,
    deliveries.map(({ id, endpointId, traceparent }, index) => ({
      id: jobIds[index] ?? '',
      payload: { deliveryId: id },
      lane: endpointId,
      traceparent,
    })),
  )
  const inserted = tx.query(
    `INSERT INTO deliveries (account_id, environment, id, endpoint_id, event_id, event_type, job_id, next_attempt_at)
     SELECT $1, $2, new.id, new.endpoint_id, new.event_id, new.event_type, new.job_id, now()
     FROM unnest($3::text[], $4::text[], $5::text[], $6::text[], $7::uuid[])
       AS new (id, endpoint_id, event_id, event_type, job_id)`,
    [
      scope.accountId,
      scope.environment,
      deliveries.map(({ id }) => id),
      deliveries.map(({ endpointId }) => endpointId),
      deliveries.map(({ eventId }) => eventId),
      deliveries.map(({ eventType }) => eventType),
      jobIds,
    ],
  )
  await Promise.all([enqueued, inserted])
}
