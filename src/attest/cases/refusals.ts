import { Failure } from '#src/failure.ts'
import { allowedFrom, type CaseState, type CaseSubject, type Refusal, type Ruling } from './machine.ts'

const POINTERS: Record<Refusal, string> = {
  transition_not_allowed: '/to',
  reason_not_allowed: '/reason_code',
  note_required: '/note',
  role_not_allowed: '/actor',
  assignee_required: '/assignee',
  provenance_not_verified: '/reason_code',
  risk_not_flagged: '/reason_code',
  signature_not_invalid: '/reason_code',
  second_adjuster_required: '/actor',
}

/** The refusal of a transition; it always lists the allowed ones. */
export function transitionRefusal({ code, detail }: Extract<Ruling, { kind: 'refused' }>, state: CaseState): Failure {
  const errors = [{ pointer: POINTERS[code], code, detail }]
  if (code === 'note_required') return new Failure('invalid_request', { detail, errors })
  if (code === 'role_not_allowed') return new Failure('insufficient_role', detail)
  return new Failure('invalid_state_transition', { detail, errors, members: { allowed: allowedFrom(state), state } })
}

export function closed({ state }: Pick<CaseSubject, 'state'>): Failure {
  return new Failure('invalid_state_transition', {
    detail: `The case is ${state}: reopen it before you change it.`,
    members: { allowed: allowedFrom(state) },
  })
}

export function inReview({ state }: Pick<CaseSubject, 'state'>): Failure {
  const detail = `A case that is ${state} needs an assignee: name another.`
  return new Failure('conflict', { detail, errors: [{ pointer: '/assignee', code: 'assignee_required', detail }] })
}
