import { ACTORS, IDS, listed } from '#src/catalogue/examples.ts'
import type { Note } from '#src/platform/http/openapi.ts'
import { IF_MATCH } from '#src/platform/http/versions.ts'

const wanted = {
  principal: 'buying@example.com',
  agent_id: IDS.agent,
  description: 'Spare parts for the workshop in Bonn',
  timezone: 'Europe/Berlin',
  constraints: {
    min_amount: '5',
    max_amount: '500',
    currency: 'EUR',
    action_types: ['purchase'],
    counterparties: ['Example Parts', 'Example Tools'],
    window: { weekdays: [1, 2, 3, 4, 5], from: '07:00', to: '19:00' },
  },
  budget: { limit: '2000', currency: 'EUR', period: 'month', max_count: 20 },
  not_before: '2026-11-20T16:00:00.000Z',
  instruments: ['card:4242'],
  expires_at: '2027-06-30T22:00:00.000Z',
  heartbeat: { interval_seconds: 3_600, reactivation_window_seconds: 86_400 },
}

const mandate = {
  mandate_id: IDS.mandate,
  parent_id: null,
  ancestors: [],
  status: 'active',
  status_of: IDS.mandate,
  principal: wanted.principal,
  agent_id: IDS.agent,
  description: wanted.description,
  timezone: wanted.timezone,
  constraints: wanted.constraints,
  payload_pointers: {},
  budget: {
    limit: '2000',
    currency: 'EUR',
    period: 'month',
    period_start: '2026-11-01',
    period_end: '2026-12-01',
    spent: '370.5',
    remaining: '1629.5',
    max_count: 20,
    count: 3,
  },
  remaining: '1629.5',
  not_before: wanted.not_before,
  instruments: wanted.instruments,
  expires_at: wanted.expires_at,
  heartbeat: {
    interval_seconds: 3_600,
    reactivation_window_seconds: 86_400,
    last_check_in_at: '2026-11-20T15:11:02.000Z',
    next_check_in_by: '2026-11-20T16:12:02.000Z',
    lapses_at: '2026-11-21T16:12:02.000Z',
  },
  revoked_at: null,
  revoked_by: null,
  revoked_reason: null,
  version: 1,
  created_by: ACTORS.key,
  created_at: '2026-11-20T15:11:02.000Z',
  updated_at: '2026-11-20T15:11:02.000Z',
}

const narrower = {
  ...mandate,
  constraints: { ...wanted.constraints, max_amount: '200' },
  version: 2,
  updated_at: '2026-11-21T08:00:00.000Z',
}

export const NOTES: Record<string, Note> = {
  'POST /v1/mandates': {
    description:
      'A mandate lets an agent act: it has constraints for each action, a budget for all actions, and an expiry. An ' +
      'unknown constraint is refused. With `parent_id` the mandate lies within its parent: its terms may not exceed ' +
      'the terms of any ancestor, its budget may not exceed what the ancestors have left, and every charge is made on ' +
      'all of them. It needs `escalate`: an agent whose key has `intent` can not grant itself a mandate.',
    examples: { 'A budget by month': wanted },
    answers: { 200: { example: mandate } },
    problems: ['environment_mismatch', 'not_found', 'invalid_state_transition'],
  },
  'GET /v1/mandates': {
    description:
      'A mandate must match all filters, and any of the given values of `status`. `status` takes the ancestors into ' +
      'account, and follows the clock: a mandate expires or is suspended on time without any job.',
    answers: { 200: { example: listed(mandate) } },
    problems: ['environment_mismatch', 'not_found'],
  },
  'GET /v1/mandates/:id': {
    description:
      '`budget` is the mandate’s own budget; `remaining` is the most that an action may cost, with the budgets of its ' +
      'ancestors. The periods of a budget are calendar days, weeks from Monday on, months and years in the mandate’s ' +
      'time zone.',
    answers: { 200: { example: mandate } },
  },
  'GET /v1/mandates/:id/spend': {
    description:
      'Adds up the charges of the budget by the day (UTC) on which the action was executed; the charges of children ' +
      'are included. Charges are kept for 45 days, and a period has at most 25,000. A mandate without a budget is ' +
      'charged nothing: GET /v1/analytics/mandate-spend adds up its executions.',
    answers: {
      200: {
        example: {
          mandate_id: IDS.mandate,
          from: '2026-11-01T00:00:00.000Z',
          to: '2026-12-01T00:00:00.000Z',
          days: [
            { date: '2026-11-19', currency: 'EUR', executions: 2, committed: '250.5', reserved: '0', released: '40' },
            { date: '2026-11-20', currency: 'EUR', executions: 1, committed: '0', reserved: '120', released: '0' },
          ],
        },
      },
    },
  },
  'PATCH /v1/mandates/:id': {
    description:
      'Members that are absent keep their values. A change may add a limit or lower one; in a child, limits stay ' +
      'within the ancestors. A member that would allow more is refused with the code `wider`. A change of `heartbeat` ' +
      'counts as a check-in; without `reactivation_window_seconds` the window keeps its length.',
    headers: IF_MATCH,
    examples: { 'A lower amount': { constraints: { max_amount: '200' } } },
    answers: { 200: { example: narrower } },
    problems: ['precondition_failed', 'invalid_state_transition'],
  },
  'POST /v1/mandates/:id/revoke': {
    description:
      'From the commit on, no verify of any process accepts a token of the mandate or of its descendants. A mandate ' +
      'that is revoked stays as it is. Other requests do not count against the rate limit of this one.',
    examples: { 'The project is over': { reason: 'The workshop is closed' } },
    answers: {
      200: {
        example: {
          ...mandate,
          status: 'revoked',
          revoked_at: '2026-11-21T08:00:00.000Z',
          revoked_by: ACTORS.key,
          revoked_reason: 'The workshop is closed',
          version: 2,
          updated_at: '2026-11-21T08:00:00.000Z',
        },
      },
    },
  },
  'POST /v1/mandates/:id/heartbeat': {
    description:
      'A mandate with a heartbeat is suspended when no check-in comes within its interval and 60 s. A check-in within ' +
      'the reactivation window makes the mandate active again; after the window the mandate is `lapsed` permanently, ' +
      'and a check-in is 409. A mandate without a heartbeat is 409 `conflict`.',
    answers: {
      200: {
        example: {
          ...mandate,
          heartbeat: {
            ...mandate.heartbeat,
            last_check_in_at: '2026-11-20T15:41:02.000Z',
            next_check_in_by: '2026-11-20T16:42:02.000Z',
            lapses_at: '2026-11-21T16:42:02.000Z',
          },
        },
      },
    },
    problems: ['conflict', 'invalid_state_transition'],
  },
}
