import { ACTORS, DIGEST, IDS, listed } from '#src/catalogue/examples.ts'
import type { Note } from '#src/platform/http/openapi.ts'
import { lineView } from './delivery-views.ts'

const attempt = {
  attempt: 1,
  started_at: '2026-11-20T15:11:04.402Z',
  finished_at: '2026-11-20T15:11:04.511Z',
  response_status: 503,
  error: null,
  error_detail: null,
  duration_ms: 109,
  timing: { dns_ms: 12, connect_ms: 21, tls_ms: 38, first_byte_ms: 36 },
}
const delivery = {
  delivery_id: IDS.delivery,
  webhook_endpoint_id: IDS.endpoint,
  event_id: IDS.event,
  event_type: 'claim.escalated',
  status: 'pending',
  created_at: '2026-11-20T15:11:04.310Z',
  next_attempt_at: '2026-11-20T15:11:09.802Z',
  delivered_at: null,
  failed_at: null,
}
const fullAttempt = {
  ...attempt,
  address: '203.0.113.7',
  request: {
    url: 'https://claims.example.com/hooks',
    headers: {
      'content-type': 'application/json',
      'user-agent': 'Countersign-Webhooks/1',
      'service-event-id': IDS.event,
      'service-event-type': 'claim.escalated',
      'service-delivery-id': IDS.delivery,
      'service-delivery-attempt': '1',
      'service-signature': `t=1795187464,v1=${DIGEST}`,
      'webhook-id': IDS.event,
      'webhook-timestamp': '1795187464',
      'webhook-signature': 'v1,n4bQgYhMfWWaL+qgxVrQFaO/TxsrC4Is0V1sFbDwCgg=',
    },
  },
  response: {
    headers: { 'content-type': 'text/plain', 'retry-after': '5' },
    body: 'deploying',
    body_encoding: 'utf8',
    is_truncated: false,
  },
}
const fullDelivery = {
  ...delivery,
  body: `{"event_id":"${IDS.event}","type":"claim.escalated","created_at":"2026-11-20T15:11:04.310Z","environment":"sandbox","account_id":"${IDS.account}","data":{"claim_id":"${IDS.claim}","risk_score":80,"factor_codes":["device_revoked"]}}`,
  attempts: [fullAttempt],
}
const recovery = {
  recovery_id: IDS.recovery,
  webhook_endpoint_id: IDS.endpoint,
  which: 'failed',
  from: '2026-11-19T00:00:00.000Z',
  to: '2026-11-20T15:12:00.000Z',
  status: 'running',
  failure: null,
  examined: 1500,
  sent: 1500,
  created_by: ACTORS.key,
  created_at: '2026-11-20T15:12:00.000Z',
  updated_at: '2026-11-20T15:12:01.204Z',
  finished_at: null,
}

const LINE = `${JSON.stringify({ ...delivery, attempts: [fullAttempt] })}\n`

export const DELIVERY_NOTES: Record<string, Note> = {
  'GET /v1/webhook-endpoints/:id/deliveries': {
    description:
      'Each attempt shows what was sent, what was answered, how long each phase took, and when the next attempt is due.',
    answers: { 200: { example: listed({ ...delivery, attempts: [attempt] }) } },
  },
  'GET /v1/webhook-deliveries': {
    description: 'Same as the list of one endpoint. `status=failed` lists the deliveries whose attempts are spent.',
    answers: { 200: { example: listed({ ...delivery, attempts: [attempt] }) } },
    problems: ['environment_mismatch', 'not_found'],
  },
  'GET /v1/webhook-deliveries/export': {
    description:
      'The export has one line per delivery, with all of its attempts. It leaves out deliveries that are created ' +
      'after the request. The export is recorded in the audit log before it begins.',
    answers: {
      200: {
        stream: { schema: lineView, isLines: true, examples: { 'One delivery': LINE } },
      },
    },
    problems: ['environment_mismatch', 'not_found'],
  },
  'GET /v1/webhook-deliveries/:delivery_id': {
    description:
      'Finds the delivery by its id alone. Each attempt has the headers as sent, signatures included, and the answer: ' +
      'its headers, and the first 16 KiB of its body. `body` is null after 30 days, when the event is deleted.',
    answers: { 200: { example: fullDelivery } },
  },
  'GET /v1/webhook-endpoints/:id/deliveries/:delivery_id': {
    description:
      'Each attempt has the headers as sent, signatures included, and the answer: its headers, and the first 16 KiB ' +
      'of its body. `body` is null after 30 days, when the event is deleted.',
    answers: { 200: { example: fullDelivery } },
  },
  'POST /v1/webhook-endpoints/:id/deliveries/:delivery_id/redeliver': {
    description:
      'Sends the same event, with the same `event_id`, in a new round of attempts. The delivery goes before others, ' +
      'also while the circuit of the endpoint is open.',
    answers: { 202: { description: 'The delivery is queued.', example: fullDelivery } },
    problems: ['conflict'],
  },
  'POST /v1/webhook-endpoints/:id/recover': {
    description:
      'The recovery runs in the background, has no upper limit and continues after a crash. Its deliveries go behind ' +
      'new ones, within the limits of the endpoint.',
    examples: {
      'After an outage': { from: recovery.from, which: 'failed' },
      'Everything that it lacks': { from: recovery.from, which: 'missing' },
    },
    answers: { 202: { description: 'The recovery runs.', example: recovery } },
    problems: ['conflict'],
  },
  'GET /v1/webhook-endpoints/:id/recoveries': {
    description: 'Each recovery shows its progress.',
    answers: { 200: { example: listed(recovery) } },
  },
  'GET /v1/webhook-endpoints/:id/recoveries/:recovery_id': {
    description: 'The status `cancelled` means that the endpoint was disabled or deleted meanwhile.',
    answers: { 200: { example: recovery } },
  },
}
