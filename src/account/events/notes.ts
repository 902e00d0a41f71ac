import { IDS, listed } from '#src/catalogue/examples.ts'
import type { Note } from '#src/platform/http/openapi.ts'

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
}

const EXPIRED =
  'Where events after the position were deleted (they are kept for 30 days), 410 `events_expired` says so. '

export const NOTES: Record<string, Note> = {
  'GET /v1/events': {
    description:
      'The events of the last 30 days, for pages: to process each of them once, pull them. A user gets the events of what their ' +
      'role may read. `subject_id` finds the events of one claim, case, agent session, token and so on; of those that an event names, ' +
      'its claim and the narrowest other one count. An event is listed within seconds.',
    answers: { 200: { example: listed(event) } },
    problems: ['environment_mismatch'],
  },
  'GET /v1/events/pull': {
    description:
      'The same events as by webhook, for receivers that can not be called. An event gets its position within two seconds of its ' +
      'commit, and no event ever appears before one that was shown: go on with `next_after`, and nothing is missed or repeated. ' +
      EXPIRED +
      'With `wait` (or `Prefer: wait=N`), the answer comes with the first event, or when the seconds are over.',
    answers: {
      200: {
        headers: { 'Preference-Applied': 'What was applied of the header Prefer.' },
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
    description: 'As it was delivered, for 30 days.',
    answers: { 200: { example: event } },
  },
  'GET /v1/event-consumers': {
    description: 'How far each has come, and how many events are left for it.',
    answers: { 200: { example: listed(consumer) } },
  },
  'GET /v1/event-consumers/:name': {
    description: '`lag` counts events of all types.',
    answers: { 200: { example: consumer } },
  },
  'PUT /v1/event-consumers/:name': {
    description:
      'Report a position when the events up to it are processed. It only moves forward: a lower one is 409 `consumer_moved` with ' +
      'the current `position`, and so is a wrong `expected_position`. A position that the consumer was not given is refused. To read again from an earlier position, read with `after`, ' +
      `or delete the consumer. ${EXPIRED}`,
    examples: {
      'A new consumer': {},
      'What was processed': { position: 4_312 },
      'Only where it was': { position: 4_312, expected_position: 4_290 },
    },
    answers: { 200: { example: consumer } },
    problems: ['consumer_moved', 'limit_reached', 'not_found', 'events_expired'],
  },
  'DELETE /v1/event-consumers/:name': {
    description: 'One of the same name may be made again, at any position.',
    answers: { 200: { example: { event_consumer_id: 'claims-desk', deleted: true } } },
  },
}
