// The webhooks of the OpenAPI document: one for each event that a feature declares.

import { type EmittedType, EVENT_DATA, EVENT_TYPES, EVENT_VIEWS } from '#src/catalogue/events.ts'
import { IDS } from '#src/catalogue/examples.ts'
import type { EventNotes } from '#src/platform/feature.ts'
import type { WebhookNote } from '#src/platform/http/openapi.ts'

const HEADERS = {
  'Service-Signature':
    '`t=<unix seconds>,v1=<hex>`: HMAC-SHA256 of `<t>.<raw body>`, keyed with the whole signing secret. During a ' +
    'rotation there are several `v1`. Refuse a `t` more than 300 seconds away.',
  'Service-Event-Id': 'Same as `event_id`, in each repeat too.',
  'Service-Event-Type': 'Same as `type`.',
  'Service-Delivery-Id': 'Id of the delivery of this event to this endpoint.',
  'Service-Delivery-Attempt': 'Number of the attempt, from 1. It keeps counting when the delivery is sent again.',
  'Webhook-Id': 'Standard Webhooks: the event id.',
  'Webhook-Timestamp': 'Standard Webhooks: unix seconds.',
  'Webhook-Signature': 'Standard Webhooks: `v1,<base64>`.',
}

const DESCRIPTION =
  'Verify the signature over the raw body before you parse it. The same event may arrive twice (with the same ' +
  '`event_id`), and events may arrive out of order. Events hold ids and judgements, and nothing personal: the `actor` ' +
  'of a case is the key that was used.'

const ANSWERS = {
  '2XX': 'Accepted. Answer within 15 seconds, and do the work afterwards.',
  '410': 'The endpoint is disabled at once.',
  default:
    'The delivery is sent again: 10 attempts within about three days. Retry-After lengthens a wait, up to an hour.',
}

/** Notes in the order of the catalogue. */
export function webhookNotes(events: EventNotes): Record<string, WebhookNote> {
  return Object.fromEntries(
    (Object.keys(EVENT_DATA) as EmittedType[]).flatMap((type) => {
      const note = events[type]
      return note === undefined ? [] : [[type, describe(type, note)]]
    }),
  )
}

function describe(type: EmittedType, { example }: NonNullable<EventNotes[EmittedType]>): WebhookNote {
  const { summary } = EVENT_TYPES[type]
  const envelope = {
    event_id: IDS.event,
    type,
    created_at: '2026-11-20T15:11:04.310Z',
    environment: 'sandbox',
    account_id: IDS.account,
    data: example,
  }
  return {
    summary,
    description: DESCRIPTION,
    tag: 'Webhooks',
    headers: HEADERS,
    body: EVENT_VIEWS[type],
    example: envelope,
    answers: ANSWERS,
  }
}
