import { ACTORS, IDS, listed } from '#src/catalogue/examples.ts'
import type { Note } from '#src/platform/http/openapi.ts'

const JTI = 'jti_test_01m7x7kz8ye4e8k5v3d9s6q0ta'

const rent = {
  counterparty: 'Hausverwaltung Nord GmbH',
  amount: { type: 'fixed', value: '1250', currency: 'EUR' },
  frequency: 'monthly',
  anchor_at: '2026-10-31T08:00:00.000Z',
  timezone: 'Europe/Berlin',
  window_seconds: 86_400,
  occurrences: 12,
  consume_missed: false,
}

const backup = {
  counterparty: 'storage.example.com',
  amount: { type: 'max', value: '90', currency: 'USD' },
  frequency: 'FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1',
  anchor_at: '2026-11-30T14:00:00.000Z',
  timezone: 'America/New_York',
  window_seconds: 14_400,
  occurrences: 24,
  consume_missed: true,
}

const created = {
  schedule_id: IDS.schedule,
  status: 'active',
  ...rent,
  used: 1,
  remaining: 11,
  current_cycle: {
    cycle: 1,
    opens_at: '2026-10-31T08:00:00.000Z',
    closes_at: '2026-11-01T08:00:00.000Z',
    jti: JTI,
  },
  next_cycle: { cycle: 2, opens_at: '2026-11-30T08:00:00.000Z', closes_at: '2026-12-01T08:00:00.000Z' },
  last_execution: { cycle: 1, jti: JTI, executed_at: '2026-10-31T08:00:12.310Z' },
  created_by: ACTORS.key,
  created_at: '2026-10-20T15:11:02.000Z',
  status_changed_by: null,
  status_changed_at: null,
}

const changed = { status_changed_by: ACTORS.key, status_changed_at: '2026-11-20T15:11:02.000Z' }

export const NOTES: Record<string, Note> = {
  'POST /v1/schedules': {
    description:
      'A schedule says what an agent may pay to one counterparty, once in each cycle. Cycles begin at `anchor_at` and ' +
      'continue by `frequency` at the same time of day in `timezone`. Tokens name the schedule by `schedule_id`. It ' +
      'needs `escalate`.',
    examples: { 'A rent': rent, 'At most, on the last working day of a month': backup },
    answers: {
      200: {
        example: {
          ...created,
          used: 0,
          remaining: 12,
          current_cycle: null,
          next_cycle: { cycle: 1, opens_at: '2026-10-31T08:00:00.000Z', closes_at: '2026-11-01T08:00:00.000Z' },
          last_execution: null,
        },
      },
    },
  },
  'GET /v1/schedules': {
    description:
      'A schedule must match all filters, and any of the given values of `status`. `exhausted` schedules have used ' +
      'all their occurrences.',
    answers: { 200: { example: listed(created) } },
  },
  'GET /v1/schedules/cycles': {
    description:
      'Shows which payments are due, and which were made or missed, by schedule, the newest first, and within it by ' +
      'time. For cycles in the future it assumes that each earlier cycle is executed. A page reads 200 schedules: it ' +
      'may have few cycles, or none, and still a next page.',
    answers: {
      200: {
        example: listed({
          cycle: 1,
          opens_at: '2026-10-31T08:00:00.000Z',
          closes_at: '2026-11-01T08:00:00.000Z',
          schedule_id: IDS.schedule,
          counterparty: rent.counterparty,
          status: 'executed',
          jti: JTI,
          amount: '1250',
          currency: 'EUR',
          executed_at: '2026-10-31T08:00:12.310Z',
        }),
      },
    },
  },
  'GET /v1/schedules/:id': {
    description: 'The current and the next cycle are computed at the time of the answer.',
    answers: { 200: { example: created } },
  },
  'GET /v1/schedules/:id/preview': {
    description:
      'Lists the cycles that can be executed, from the current one on, and assumes that each is executed. The ' +
      'calendar shows month ends and changes of clocks before anything is paid. A paused schedule is shown as if it ' +
      'were resumed now; a cancelled schedule has no cycles.',
    answers: {
      200: {
        example: {
          schedule_id: IDS.schedule,
          status: 'active',
          cycles: [
            { cycle: 2, opens_at: '2026-11-30T08:00:00.000Z', closes_at: '2026-12-01T08:00:00.000Z' },
            { cycle: 3, opens_at: '2026-12-31T08:00:00.000Z', closes_at: '2027-01-01T08:00:00.000Z' },
          ],
        },
      },
    },
  },
  'POST /v1/schedules/:id/pause': {
    description:
      'From the commit on, a verification answers `schedule_window_missed`. Cycles continue meanwhile. A schedule ' +
      'that is paused stays as it is; a cancelled schedule is 409 `invalid_state_transition`.',
    answers: { 200: { example: { ...created, status: 'paused', ...changed } } },
    problems: ['invalid_state_transition'],
  },
  'POST /v1/schedules/:id/resume': {
    description: 'It needs `escalate`. A schedule that is not paused is 409 `invalid_state_transition`.',
    answers: { 200: { example: { ...created, ...changed } } },
    problems: ['invalid_state_transition'],
  },
  'POST /v1/schedules/:id/cancel': {
    description:
      'From the commit on, a verification answers `schedule_occurrences_exhausted`. The cancellation is permanent. A ' +
      'schedule that is cancelled stays as it is.',
    answers: { 200: { example: { ...created, status: 'cancelled', next_cycle: null, ...changed } } },
  },
}
