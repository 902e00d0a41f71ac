import { IDS, listed } from '#src/catalogue/examples.ts'
import type { Note } from '#src/platform/http/openapi.ts'
import { IF_MATCH } from '#src/platform/http/versions.ts'

const event = {
  event_id: IDS.event,
  type: 'claim.escalated',
  created_at: '2026-11-20T15:11:04.310Z',
  environment: 'sandbox',
  account_id: IDS.account,
  data: { claim_id: IDS.claim, risk_score: 80, factor_codes: ['device_revoked'] },
  position: 4_312,
}

const consumer = {
  name: 'claims-desk',
  position: 4_312,
  latest: 4_315,
  lag: 3,
  missed: 0,
  oldest_unread_created_at: '2026-11-20T15:11:06.120Z',
  created_at: '2026-11-01T08:00:00.000Z',
  acknowledged_at: '2026-11-20T15:11:05.004Z',
  version: 72,
}

const EXPIRED =
  'The answer is 410 `events_expired` where events after the position were deleted (they are kept for 30 days). '

export const NOTES: Record<string, Note> = {
  'GET /v1/events': {
    description:
      'Lists the events of the last 30 days, for pages. To process each event once, pull the events. A user gets the ' +
      'events that their role may read. `subject_id` finds the events of one claim, case, agent session, token and so ' +
      'on; it matches the claim of an event and the narrowest other object that the event names. An event is listed ' +
      'within seconds.',
    answers: { 200: { example: listed(event) } },
    problems: ['environment_mismatch'],
  },
  'GET /v1/events/pull': {
    description:
      'Returns the same events as webhooks do, for receivers that can not be called. An event gets its position ' +
      'within two seconds of its commit, and no event ever appears before one that was shown. Continue with ' +
      '`next_after`: no event is missed or repeated. ' +
      EXPIRED +
      'With `wait` (or `Prefer: wait=N`), the service answers at the first event, or when the seconds are over.',
    answers: {
      200: {
        headers: { 'Preference-Applied': 'The part of the header Prefer that was applied.' },
        example: {
          object: 'event_pull',
          data: [event],
          has_more: false,
          after: 4_311,
          next_after: 4_312,
          latest: 4_312,
        },
      },
    },
    problems: ['events_expired', 'not_found'],
  },
  'GET /v1/events/:id': {
    description: 'The event is the same as in its deliveries, and is kept for 30 days.',
    answers: { 200: { example: event } },
  },
  'GET /v1/event-consumers': {
    description: 'Each consumer shows its position, and how many events are left for it.',
    answers: { 200: { example: listed(consumer) } },
  },
  'GET /v1/event-consumers/:name': {
    description: '`lag` counts events of all types.',
    answers: { 200: { example: consumer } },
  },
  'PUT /v1/event-consumers/:name': {
    description:
      'Report a position when the events up to it are processed. A position only moves forward: a lower one is 409 ' +
      '`consumer_moved` with the current `position`, and so is a wrong `expected_position`. A position that the ' +
      'consumer never received is refused. To read again from an earlier position, read with `after`, ' +
      `or delete the consumer. ${EXPIRED}`,
    examples: {
      'A new consumer': {},
      'What was processed': { position: 4_312 },
      'Only where it was': { position: 4_312, expected_position: 4_290 },
    },
    answers: { 200: { example: consumer } },
    headers: IF_MATCH,
    problems: ['consumer_moved', 'limit_reached', 'not_found', 'events_expired', 'precondition_failed'],
  },
  'DELETE /v1/event-consumers/:name': {
    description: 'A consumer of the same name may be created again, at any position.',
    answers: { 200: { example: { event_consumer_id: 'claims-desk', deleted: true } } },
  },
}
