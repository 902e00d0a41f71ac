import { EVENT_ACTOR, IDS } from '#src/catalogue/examples.ts'
import type { EventNotes } from '#src/platform/feature.ts'
import type { Note } from '#src/platform/http/openapi.ts'

const opened = {
  case_id: IDS.case,
  claim_id: IDS.claim,
  state: 'open',
  reason_code: null,
  assignee: null,
  priority: 'normal',
  due_at: '2026-11-24T15:11:04.310Z',
  overdue: false,
  sla: {
    review_due_at: '2026-11-24T15:11:04.310Z',
    decision_due_at: '2026-12-20T15:11:04.310Z',
    paused_at: null,
  },
  fraud_suspected_by: null,
  allowed: ['in_review', 'withdrawn'],
  version: 1,
  created_at: '2026-11-20T15:11:04.310Z',
  updated_at: '2026-11-20T15:11:04.310Z',
  closed_at: null,
  claim_changed_at: null,
}

const reviewed = {
  ...opened,
  state: 'in_review',
  assignee: 'a.adjuster@example.com',
  due_at: opened.sla.decision_due_at,
  allowed: ['info_requested', 'escalated', 'approved', 'denied', 'withdrawn', 'closed_undecided'],
  version: 2,
  updated_at: '2026-11-21T08:00:00.000Z',
}

const proposed = {
  ...reviewed,
  fraud_suspected_by: 'a.adjuster@example.com',
  version: 3,
  updated_at: '2026-11-21T09:30:00.000Z',
}

const entry = {
  version: 1,
  kind: 'opened',
  at: '2026-11-20T15:11:04.310Z',
  via: 'system',
  actor: null,
  key_id: null,
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
      'A claim that becomes `failed` gets a case automatically; this is for other claims. A claim has one open ' +
      'case at most: a second is 409 with `case_id`.',
    examples: {
      'For a claim in review': {
        claim_id: IDS.claim,
        actor: 'a.adjuster@example.com',
        priority: 'high',
        note: 'Two are similar.',
      },
    },
    answers: { 200: { example: opened } },
    problems: ['not_found', 'environment_mismatch', 'conflict'],
  },
  'GET /v1/cases': {
    description:
      'A case must match all filters. `overdue=true`: cases whose due date has passed. `due_before`: cases due ' +
      'before a time; a paused case counts with its date if the pause ended now. `claim_changed=true`: closed ' +
      'cases whose claim has a different standing since then.',
    answers: { 200: { example: { object: 'list', data: [opened], has_more: false, next_cursor: null } } },
    problems: ['environment_mismatch'],
  },
  'GET /v1/cases/:id': {
    description: 'Each change is one entry of the history, which is append-only.',
    answers: {
      200: {
        example: { ...opened, history: { object: 'list', data: [entry], has_more: false, next_cursor: null } },
      },
    },
  },
  'POST /v1/cases/:id/transitions': {
    description:
      'A transition that is not in the table, or whose reason does not hold, is 409 `invalid_state_transition` ' +
      'with the `allowed` states. Send the `version` that you read: if the case was changed meanwhile it is 409 ' +
      'too. A denial for `suspected_fraud` takes two: the first is answered 202 and changes no state, the second, ' +
      'by another `actor`, denies.',
    examples: {
      'Take a case': {
        to: 'in_review',
        actor: 'a.adjuster@example.com',
        assignee: 'a.adjuster@example.com',
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
    problems: ['conflict', 'invalid_state_transition'],
  },
  'POST /v1/cases/:id/notes': {
    description: 'To a closed case too. Erasing the claim deletes the notes, and none is accepted afterwards.',
    examples: { 'What was said': { actor: 'a.adjuster@example.com', note: 'Called back, will send the invoice.' } },
    answers: { 200: { example: { ...reviewed, version: 3 } } },
    problems: ['conflict'],
  },
  'PATCH /v1/cases/:id': {
    description: 'Equal values change nothing. A closed case is 409.',
    examples: {
      'Hand it over': { actor: 'a.adjuster@example.com', assignee: 'b.adjuster@example.com', priority: 'high' },
      'Give it a day': { actor: 'a.adjuster@example.com', due_at: '2026-12-21T15:00:00Z', version: 2 },
    },
    answers: { 200: { example: { ...reviewed, assignee: 'b.adjuster@example.com', priority: 'high', version: 3 } } },
    problems: ['conflict', 'invalid_state_transition'],
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
