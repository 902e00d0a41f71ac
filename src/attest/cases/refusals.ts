import { findTeamMember } from '#src/account/users/team-rows.ts'
import { rolesWith } from '#src/catalogue/permissions.ts'
import { Failure, invalidField } from '#src/failure.ts'
import type { Tx } from '#src/platform/db/database.ts'
import { type Acting, type Actor, actorOf, type Principal } from '#src/platform/http/principal.ts'
import { allowedFrom, type CaseState, type CaseSubject, type Refusal, type Ruling } from './machine.ts'
import { isUserId } from './views.ts'

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
 * @param named User id given in the request. A session acts for its own user, whatever the request says.
 * @throws {Failure} `invalid_request` at `/actor` for a key that names no person: a key belongs to no person.
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
  return new Failure('invalid_state_transition', {
    detail,
    errors,
    members: { allowed: allowedFrom(state), current_status: state },
  })
}

export function closed({ state }: Pick<CaseSubject, 'state'>): Failure {
  return new Failure('invalid_state_transition', {
    detail: `The case is ${state}: reopen it before you change it.`,
    members: { allowed: allowedFrom(state), current_status: state },
  })
}

export function inReview({ state }: Pick<CaseSubject, 'state'>): Failure {
  const detail = `A case that is ${state} needs an assignee: name another.`
  return new Failure('invalid_state_transition', {
    detail,
    errors: [{ pointer: '/assignee', code: 'assignee_required', detail }],
    members: { allowed: ['open'], current_status: state },
  })
}

/**
 * A person assigns cases to members who may work on them. A key may also give any label: its application has users of its own.
 * @throws {Failure} `invalid_request` at `/assignee`.
 */
export async function checkAssignee(
  tx: Tx,
  { accountId, environment, principal }: Acting,
  assignee: string,
): Promise<void> {
  if (principal.kind === 'key' && !isUserId(assignee)) return
  const member = await findTeamMember(tx, { accountId, userId: assignee })
  const isWorking = member !== undefined && member.deprovisionedAt === null
  if (isWorking && rolesWith('cases.write', environment).includes(member.role)) return
  throw invalidField('/assignee', 'not_found', 'must be the user_id of a member who may work on cases')
}
