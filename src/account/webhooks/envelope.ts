// The body of a delivery (specification, Webhook event envelope). Deliveries, the pull API and the listener make it here, so
// that one event has the same bytes wherever it arrives: they come from the event's row, in this order.

import type { Environment, Scope } from '#src/platform/ids.ts'

export interface StoredEvent {
  eventId: string
  type: string
  createdAt: Date
  data: unknown
}

export interface Envelope {
  event_id: string
  type: string
  created_at: string
  environment: Environment
  account_id: string
  data: object
}

export function envelopeOf(
  { environment, accountId }: Scope,
  { eventId, type, createdAt, data }: StoredEvent,
): Envelope {
  return {
    event_id: eventId,
    type,
    created_at: createdAt.toISOString(),
    environment,
    account_id: accountId,
    data: data as object,
  }
}

/** The bytes that are signed and sent. */
export function bodyOf(envelope: Envelope): Buffer {
  return Buffer.from(JSON.stringify(envelope))
}
