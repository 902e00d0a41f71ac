import { EVENT_ACTOR, IDS, listed } from '#src/catalogue/examples.ts'
import type { EventNotes } from '#src/platform/feature.ts'
import type { Note } from '#src/platform/http/openapi.ts'

const MEMBER = 'usr_01m7x7k0kweezv2g6agvqmrk2v'

const opened = {
  case_id: IDS.case,
  claim_id: IDS.claim,
  claim_reference: 'CLM-2026-001',
  risk_status: 'failed',
  risk_score: 90,
  status: 'open',
  reason_code: null,
  assignee: null,
  assignee_label: null,
  priority: 'normal',
  due_at: '2026-11-24T15:11:04.310Z',
  overdue: false,
  sla: {
    review_due_at: '2026-11-24T15:11:04.310Z',
    decision_due_at: '2026-12-20T15:11:04.310Z',
    paused_at: null,
  },
  fraud_suspected_by: null,
  allowed: [
    { to: 'in_review', reason_codes: [], needs_note: false, needs_assignee: true, needs_second_person: false },
    {
      to: 'withdrawn',
      reason_codes: ['policyholder_withdrew'],
      needs_note: false,
      needs_assignee: false,
      needs_second_person: false,
    },
  ],
  version: 1,
  created_at: '2026-11-20T15:11:04.310Z',
  updated_at: '2026-11-20T15:11:04.310Z',
  closed_at: null,
  claim_changed_at: null,
}

const reviewed = {
  ...opened,
  status: 'in_review',
  assignee: MEMBER,
  assignee_label: 'a.adjuster@example.com',
  due_at: opened.sla.decision_due_at,
  allowed: [
    {
      to: 'denied',
      reason_codes: ['suspected_fraud', 'insufficient_evidence', 'other'],
      needs_note: false,
      needs_assignee: false,
      needs_second_person: true,
    },
  ],
  version: 2,
  updated_at: '2026-11-21T08:00:00.000Z',
}

const proposed = {
  ...reviewed,
  fraud_suspected_by: { type: 'user', id: MEMBER, label: 'a.adjuster@example.com' },
  version: 3,
  updated_at: '2026-11-21T09:30:00.000Z',
}

const entry = {
  version: 1,
  kind: 'opened',
  at: '2026-11-20T15:11:04.310Z',
  by: { type: 'service', id: null, label: null },
  from: null,
  to: 'open',
  reason_code: null,
  note: null,
  note_erased_at: null,
  changes: [],
}

export const NOTES: Record<string, Note> = {
  'POST /v1/cases': {
    description:
      'A claim that becomes `failed` gets a case automatically; use this route for other claims. A claim has at most ' +
      'one open case: opening a second is 409 with `case_id`.',
    examples: {
      'For a claim in review': {
        claim_id: IDS.claim,
        actor: 'a.adjuster@example.com',
        priority: 'high',
        note: 'Two are similar.',
      },
    },
    answers: { 200: { example: opened } },
    problems: ['not_found', 'environment_mismatch', 'case_already_open', 'claim_erased'],
  },
  'GET /v1/cases': {
    description:
      'A case must match all filters, and any of several values of one filter. `order_by=due` with `order=asc` begins ' +
      'with the case that is due first. `overdue=true` lists cases whose due date has passed. `due_lt` lists cases ' +
      'that are due before a time; for a paused case this is the date that it would have if the pause ended now. ' +
      '`claim_changed=true` lists closed cases whose claim has changed its standing since.',
    answers: { 200: { example: listed(opened) } },
    problems: ['environment_mismatch'],
  },
  'GET /v1/cases/counts': {
    description: 'Each count stops at 100,000, as totals of lists do.',
    answers: {
      200: {
        example: {
          object: 'case_counts',
          by_status: {
            open: 12,
            in_review: 4,
            info_requested: 1,
            escalated: 0,
            approved: 80,
            denied: 7,
            withdrawn: 2,
            closed_undecided: 1,
          },
        },
      },
    },
  },
  'GET /v1/cases/:id': {
    description:
      '`allowed` has the statuses that the case can change to. Its history is at `GET /v1/cases/{id}/entries`.',
    answers: { 200: { example: opened } },
  },
  'GET /v1/cases/:id/entries': {
    description: 'Each change is one entry of the history, which is append-only.',
    answers: { 200: { example: listed(entry) } },
  },
  'POST /v1/cases/:id/transitions': {
    description:
      'A transition that is not in the table, or whose reason does not hold, is 409 `invalid_state_transition` with ' +
      'the `allowed` statuses. Send the `version` that you read: if the case was changed meanwhile, the answer is 409 ' +
      'too. A denial for `suspected_fraud` takes two people: the first request is answered 202 and changes no status, ' +
      'and the second, by another `actor`, denies the case.',
    examples: {
      'Take a case': {
        to: 'in_review',
        actor: 'a.adjuster@example.com',
        assignee: MEMBER,
        version: 1,
      },
      'Ask for information': { to: 'info_requested', actor: 'a.adjuster@example.com', note: 'Photo of the plate?' },
      'Deny it': {
        to: 'denied',
        reason_code: 'suspected_fraud',
        actor: 'a.adjuster@example.com',
        note: 'The same dent as in an earlier claim.',
        version: 2,
      },
    },
    answers: { 200: { example: reviewed }, 202: { example: proposed } },
    problems: ['invalid_state_transition', 'case_already_open', 'claim_erased'],
  },
  'POST /v1/cases/:id/notes': {
    description: 'A closed case takes notes too. Erasing the claim deletes the notes, and no more are accepted.',
    examples: { 'What was said': { actor: 'a.adjuster@example.com', note: 'Called back, will send the invoice.' } },
    answers: { 200: { example: { ...reviewed, version: 3 } } },
    problems: ['claim_erased'],
  },
  'PATCH /v1/cases/:id': {
    description: 'Equal values change nothing. A closed case is 409.',
    examples: {
      'Hand it over': { actor: 'a.adjuster@example.com', assignee: 'team B', priority: 'high' },
      'Give it a day': { actor: 'a.adjuster@example.com', due_at: '2026-12-21T15:00:00Z', version: 2 },
    },
    answers: {
      200: { example: { ...reviewed, assignee: 'team B', assignee_label: 'team B', priority: 'high', version: 3 } },
    },
    problems: ['invalid_state_transition'],
  },
}

export const EVENTS: EventNotes = {
  'case.status_changed': {
    example: {
      case_id: IDS.case,
      claim_id: IDS.claim,
      from: 'in_review',
      to: 'denied',
      reason_code: 'suspected_fraud',
      note_present: true,
      actor: EVENT_ACTOR,
    },
  },
}
