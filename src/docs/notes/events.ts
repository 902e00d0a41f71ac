// The webhooks of the OpenAPI document, from the catalogue of events: those that are sent today.

import { z } from 'zod'
import { advisoryCodeView, factorCodeView, provenanceStatusView, riskStatusView } from '#src/attest/judgement-views.ts'
import { EVENT_DATA, EVENT_TYPES } from '#src/catalogue/events.ts'
import type { WebhookNote } from '#src/platform/http/openapi.ts'
import { IDS } from './examples.ts'

type Emitted = keyof typeof EVENT_DATA

const environment = z.enum(['sandbox', 'live']).meta({ id: 'Environment' })
const factors = z.array(factorCodeView)
// The catalogue declares codes as strings; readers of the reference get the list of codes.
const DATA = {
  ...EVENT_DATA,
  'attestation.created': EVENT_DATA['attestation.created'].extend({
    risk_status: riskStatusView,
    provenance_status: provenanceStatusView,
    factor_codes: factors,
    advisory_codes: z.array(advisoryCodeView),
  }),
  'claim.provenance_updated': EVENT_DATA['claim.provenance_updated'].extend({
    added_factors: factors,
    removed_factors: factors,
  }),
  'claim.escalated': EVENT_DATA['claim.escalated'].extend({ factor_codes: factors }),
  'screening.completed': EVENT_DATA['screening.completed'].extend({ factors: z.array(advisoryCodeView) }),
} satisfies { [Type in Emitted]: z.ZodType }

const EXAMPLES: { [Type in Emitted]: z.input<(typeof EVENT_DATA)[Type]> } = {
  'attestation.created': {
    attestation_id: IDS.attestation,
    claim_id: IDS.claim,
    risk_score: 40,
    risk_status: 'review',
    provenance_status: 'verified',
    factor_codes: ['hardware_backing_absent'],
    advisory_codes: ['exif_missing'],
  },
  'claim.provenance_updated': {
    claim_id: IDS.claim,
    previous: { provenance_status: 'verified', risk_status: 'review', risk_score: 40 },
    current: { provenance_status: 'broken', risk_status: 'failed', risk_score: 90 },
    added_factors: ['sensor_hash_mismatch'],
    removed_factors: [],
  },
  'claim.escalated': {
    claim_id: IDS.claim,
    risk_score: 90,
    factor_codes: ['sensor_hash_mismatch', 'hardware_backing_absent'],
    case_id: IDS.case,
  },
  'case.status_changed': {
    case_id: IDS.case,
    claim_id: IDS.claim,
    from: 'in_review',
    to: 'denied',
    reason_code: 'suspected_fraud',
    note_present: true,
    actor: 'key_test_01m7x7k0kweezv2g6agvqmrk2v',
  },
  'screening.completed': {
    screening_id: IDS.screening,
    claim_id: IDS.claim,
    genai_score: 0.97,
    deepfake_score: 0.03,
    factors: ['ai_generated_likely'],
    detector: { name: 'sightengine', version: '1' },
  },
  ping: { endpoint_id: IDS.endpoint },
}

const HEADERS = {
  'Service-Signature':
    '`t=<unix seconds>,v1=<hex>`: HMAC-SHA256 of `<t>.<raw body>`, keyed with the whole signing secret. During a ' +
    'rotation there are several `v1`. Refuse a `t` more than 300 seconds away.',
  'Service-Event-Id': 'As `event_id`: the same in each repeat.',
  'Service-Event-Type': 'As `type`.',
  'Service-Delivery-Id': 'Of this event to this endpoint.',
  'Service-Delivery-Attempt': 'From 1 to 10.',
  'Webhook-Id': 'Standard Webhooks: the event id.',
  'Webhook-Timestamp': 'Standard Webhooks: unix seconds.',
  'Webhook-Signature': 'Standard Webhooks: `v1,<base64>`.',
}

const DESCRIPTION =
  'Verify the signature over the raw body before you parse it. The same event may come twice (with the same ' +
  '`event_id`) and events may come in another order than they happened in. Events hold ids and judgements, and ' +
  'nothing personal: the `actor` of a case is the key that was used.'

const ANSWERS = {
  '2XX': 'Accepted. Answer within 15 seconds, and do the work afterwards.',
  '410': 'The endpoint is disabled at once.',
  default: 'It is sent again: 10 attempts within about three days. Retry-After lengthens a wait, up to an hour.',
}

export const WEBHOOK_NOTES: Record<string, WebhookNote> = Object.fromEntries(
  (Object.keys(EVENT_DATA) as Emitted[]).map((type) => [type, describe(type)]),
)

function describe(type: Emitted): WebhookNote {
  const { summary } = EVENT_TYPES[type]
  const body = z.object({
    event_id: z.string().describe('Stable across retries of one event.'),
    type: z.literal(type),
    created_at: z.iso.datetime(),
    environment,
    account_id: z.string(),
    data: DATA[type],
  })
  const example = {
    event_id: IDS.event,
    type,
    created_at: '2026-11-20T15:11:04.310Z',
    environment: 'sandbox',
    account_id: IDS.account,
    data: EXAMPLES[type],
  }
  return { summary, description: DESCRIPTION, tag: 'Webhooks', headers: HEADERS, body, example, answers: ANSWERS }
}
