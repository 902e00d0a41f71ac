import { Failure, invalidField } from '#src/failure.ts'
import { type Actor, actorOf, type Principal } from '#src/platform/http/principal.ts'
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

/**
 * @param named The person whom the request names. A session acts for its own user, whatever the request says.
 * @throws {Failure} `invalid_request` at `/actor` for a key that names nobody: a key belongs to no person.
 */
export function checkedActorOf(principal: Principal, named: string | undefined): Actor<string> {
  if (principal.kind === 'session') return actorOf(principal, principal.userId)
  if (named === undefined) throw invalidField('/actor', 'required', 'is required with an API key')
  return actorOf(principal, named)
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
