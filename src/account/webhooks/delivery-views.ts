// Deliveries, their attempts and recoveries as the API shows them.

import { z } from 'zod'
import { actorView } from '#src/platform/http/actor.ts'
import { extended, timestampView, workFailureView, workStatusView } from '#src/platform/http/views.ts'
import { requestHeaders } from './attempt-log.ts'
import type { FullDelivery, LoggedDelivery } from './deliveries.ts'
import type { AttemptRow, DeliveryRow } from './delivery-rows.ts'
import { eventType } from './endpoint-views.ts'
import type { ShownRecovery } from './recoveries.ts'

export const deliveryStatus = z.enum(['pending', 'delivered', 'failed', 'cancelled']).meta({
  id: 'DeliveryStatus',
  description: 'failed: all attempts failed. cancelled: the endpoint was disabled or deleted.',
})

const milliseconds = (what: string) => z.number().int().nullable().meta({ description: what })
const timing = z
  .object({
    dns_ms: milliseconds('Time of the DNS lookup; null: the URL names an address.'),
    connect_ms: milliseconds('Time to connect; null, like `tls_ms`: an open connection was reused.'),
    tls_ms: milliseconds('Time of the TLS handshake.'),
    first_byte_ms: milliseconds('Time from the request to the head of the answer.'),
  })
  .meta({ id: 'DeliveryTiming' })

const attemptView = z
  .object({
    attempt: z.number().int(),
    started_at: timestampView,
    finished_at: timestampView
      .nullable()
      .describe('End of the attempt; null: it is running, or its process ended before the answer.'),
    response_status: z.number().int().nullable(),
    error: z.string().nullable(),
    error_detail: z
      .string()
      .nullable()
      .describe('Detail for people: the address that was refused, the problem of the certificate.'),
    duration_ms: z.number().int().nullable(),
    timing: timing.nullable(),
  })
  .meta({ id: 'DeliveryAttempt' })

// The names of headers are those that were sent.
const headers = z.record(z.string(), z.string()).meta({ verbatim: true })
const requestView = z.object({ url: z.string(), headers }).meta({
  id: 'DeliveryCall',
  description: 'Request as sent, with its signatures. The body is in the delivery.',
})
const responseView = z
  .object({
    headers,
    body: z.string().describe('The first 16 KiB of the body: text, or base64 where it is no UTF-8.'),
    body_encoding: z.enum(['utf8', 'base64']).meta({ id: 'DeliveryBodyEncoding' }),
    is_truncated: z.boolean().describe('true: headers, or the rest of the body, were left out.'),
  })
  .meta({ id: 'DeliveryAnswer' })

const fullAttemptView = extended(
  attemptView,
  {
    address: z.string().nullable().describe('The address that was connected to.'),
    request: requestView.nullable(),
    response: responseView.nullable(),
  },
  { id: 'FullDeliveryAttempt' },
)

const deliveryShape = {
  delivery_id: z.string(),
  webhook_endpoint_id: z.string(),
  event_id: z.string(),
  event_type: eventType,
  status: deliveryStatus,
  created_at: timestampView,
  next_attempt_at: timestampView
    .nullable()
    .describe('Time of the next attempt; later while the circuit of the endpoint is open.'),
  delivered_at: timestampView.nullable(),
  failed_at: timestampView.nullable(),
}
export const deliveryView = z.object({ ...deliveryShape, attempts: z.array(attemptView) }).meta({ id: 'Delivery' })

/** A line of the export. */
export const lineView = z.object({ ...deliveryShape, attempts: z.array(fullAttemptView) }).meta({ id: 'DeliveryLine' })

export const fullDeliveryView = extended(
  lineView,
  { body: z.string().nullable().describe('The exact text that is signed and sent; null when the event is deleted.') },
  { id: 'FullDelivery' },
)

/** What an endpoint did not take. */
export const recoveryKind = z.enum(['failed', 'missing']).meta({ id: 'RecoveryKind' })

export const recoveryView = z
  .object({
    recovery_id: z.string(),
    webhook_endpoint_id: z.string(),
    which: recoveryKind,
    from: timestampView.describe('Start: the recovery sends deliveries or events created at or after this time.'),
    to: timestampView.describe('End of the range, exclusive.'),
    status: workStatusView.describe('cancelled: the endpoint was disabled or deleted meanwhile.'),
    failure: workFailureView('RecoveryFailure', ['internal_error']).nullable(),
    examined: z.number().int().describe('Number of deliveries or events examined so far.'),
    sent: z.number().int().describe('Number of deliveries that are sent again, or for the first time.'),
    created_by: actorView,
    created_at: timestampView,
    updated_at: timestampView,
    finished_at: timestampView.nullable(),
  })
  .meta({ id: 'WebhookRecovery' })

export const toDeliveryView = (row: LoggedDelivery): z.input<typeof deliveryView> => ({
  ...toShape(row),
  attempts: row.log.map(toAttempt),
})

export const toFullView = (row: FullDelivery): z.input<typeof fullDeliveryView> => ({
  ...toShape(row),
  body: row.body,
  attempts: row.log.map((attempt) => toFullAttempt(row, attempt)),
})

/** Without the body, which is the same for each delivery of an event. */
export const toLine = (row: LoggedDelivery): z.input<typeof lineView> => ({
  ...toShape(row),
  attempts: row.log.map((attempt) => toFullAttempt(row, attempt)),
})

function toShape(row: DeliveryRow) {
  return {
    delivery_id: row.id,
    webhook_endpoint_id: row.endpointId,
    event_id: row.eventId,
    event_type: row.eventType,
    status: row.status,
    created_at: row.createdAt.toISOString(),
    next_attempt_at: row.nextAttemptAt?.toISOString() ?? null,
    delivered_at: row.deliveredAt?.toISOString() ?? null,
    failed_at: row.failedAt?.toISOString() ?? null,
  }
}

function toAttempt(row: AttemptRow) {
  return {
    attempt: row.attempt,
    started_at: row.startedAt.toISOString(),
    finished_at: row.finishedAt?.toISOString() ?? null,
    response_status: row.responseStatus,
    error: row.error,
    error_detail: row.errorDetail,
    duration_ms: row.durationMs,
    timing: row.timing,
  }
}

function toFullAttempt({ id, eventId, eventType }: DeliveryRow, row: AttemptRow) {
  const { detail, attempt } = row
  const sent = { deliveryId: id, eventId, eventType, attempt }
  return {
    ...toAttempt(row),
    address: detail?.address ?? null,
    request: detail && { url: detail.url, headers: requestHeaders(sent, detail.signed_headers) },
    response: detail?.response_headers
      ? { headers: detail.response_headers, ...toText(row.responseBody), is_truncated: detail.is_truncated }
      : null,
  }
}

function toText(body: Buffer | null): { body: string; body_encoding: 'utf8' | 'base64' } {
  if (body === null) return { body: '', body_encoding: 'utf8' }
  try {
    return { body: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body), body_encoding: 'utf8' }
  } catch {
    return { body: body.toString('base64'), body_encoding: 'base64' }
  }
}

export const toRecoveryView = (row: ShownRecovery): z.input<typeof recoveryView> => ({
  recovery_id: row.id,
  webhook_endpoint_id: row.endpointId,
  which: row.which,
  from: row.since.toISOString(),
  to: row.until.toISOString(),
  status: row.status === 'finished' ? 'succeeded' : row.status,
  failure:
    row.status === 'failed' ? { code: 'internal_error', detail: 'It failed repeatedly. Request another.' } : null,
  examined: row.examined,
  sent: row.sent,
  created_by: row.creator,
  created_at: row.createdAt.toISOString(),
  updated_at: row.updatedAt.toISOString(),
  finished_at: row.finishedAt?.toISOString() ?? null,
})
