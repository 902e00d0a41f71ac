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
  description: 'failed: its attempts are spent. cancelled: its endpoint was disabled or deleted.',
})

const milliseconds = (what: string) => z.number().int().nullable().meta({ description: what })
const timing = z
  .object({
    dns_ms: milliseconds('null: the URL names an address.'),
    connect_ms: milliseconds('null, like `tls_ms`: an open connection was used again.'),
    tls_ms: milliseconds('The TLS handshake.'),
    first_byte_ms: milliseconds('From the request to the head of the answer.'),
  })
  .meta({ id: 'DeliveryTiming' })

const attemptView = z
  .object({
    attempt: z.number().int(),
    started_at: timestampView,
    finished_at: timestampView.nullable().describe('null: running, or its process ended before the answer.'),
    response_status: z.number().int().nullable(),
    error: z.string().nullable(),
    error_detail: z
      .string()
      .nullable()
      .describe('For people: the address that was refused, the problem of the certificate.'),
    duration_ms: z.number().int().nullable(),
    timing: timing.nullable(),
  })
  .meta({ id: 'DeliveryAttempt' })

// The names of headers are those that were sent.
const headers = z.record(z.string(), z.string()).meta({ verbatim: true })
const requestView = z.object({ url: z.string(), headers }).meta({
  id: 'DeliveryRequest',
  description: 'As it was sent, with its signatures. The body is that of the delivery.',
})
const responseView = z
  .object({
    headers,
    body: z.string().describe('Its first 16 KiB: text, or base64 where it is no UTF-8.'),
    body_encoding: z.enum(['utf8', 'base64']).meta({ id: 'DeliveryBodyEncoding' }),
    is_truncated: z.boolean().describe('Headers, or the rest of the body, were left out.'),
  })
  .meta({ id: 'DeliveryResponse' })

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
  next_attempt_at: timestampView.nullable().describe('Later while the circuit of its endpoint is open.'),
  delivered_at: timestampView.nullable(),
  failed_at: timestampView.nullable(),
}
export const deliveryView = z.object({ ...deliveryShape, attempts: z.array(attemptView) }).meta({ id: 'Delivery' })

/** A line of the export. */
export const lineView = z.object({ ...deliveryShape, attempts: z.array(fullAttemptView) }).meta({ id: 'DeliveryLine' })

export const fullDeliveryView = extended(
  lineView,
  { body: z.string().nullable().describe('The exact text that is signed and sent; null when the event has gone.') },
  { id: 'FullDelivery' },
)

/** What an endpoint did not take. */
export const recoveryKind = z.enum(['failed', 'missing']).meta({ id: 'RecoveryKind' })

export const recoveryView = z
  .object({
    recovery_id: z.string(),
    webhook_endpoint_id: z.string(),
    which: recoveryKind,
    from: timestampView.describe('It sends what was made at or after this time,'),
    to: timestampView.describe('and before this one.'),
    status: workStatusView.describe('cancelled: the endpoint was disabled or deleted meanwhile.'),
    failure: workFailureView('RecoveryFailure', ['internal_error']).nullable(),
    examined: z.number().int().describe('Deliveries or events that it has looked at.'),
    sent: z.number().int().describe('Deliveries that it sends again, or for the first time.'),
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
