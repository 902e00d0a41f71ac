// What the one who acts may do to a team, read under its lock: a request that waited for the lock may have been
// overtaken by one that took the actor's own role.

import { findTeamMember } from '#src/account/users/team-rows.ts'
import type { Role } from '#src/catalogue/access.ts'
import { rolesWith } from '#src/catalogue/permissions.ts'
import { Failure } from '#src/failure.ts'
import type { Tx } from '#src/platform/db/database.ts'
import type { Acting } from '#src/platform/http/principal.ts'

/** undefined: a key, which acts with owner authority and is no person. */
export interface Authority {
  role: Role | undefined
}

/** @throws {Failure} `session_expired`, `insufficient_role` */
export async function getAuthority(tx: Tx, { accountId, principal }: Acting): Promise<Authority> {
  if (principal.kind === 'key') return { role: undefined }
  const member = await findTeamMember(tx, { accountId, userId: principal.userId })
  if (member === undefined || member.deprovisionedAt !== null) {
    throw new Failure('session_expired', 'This session has ended: its user was removed.')
  }
  const allowed = rolesWith('team.write', 'live')
  if (!allowed.includes(member.role)) {
    throw new Failure('insufficient_role', {
      detail: `Your role is ${member.role}, and this needs ${allowed.join(' or ')}.`,
      members: { allowed },
    })
  }
  return { role: member.role }
}

/**
 * Refuses to touch the role owner to all but owners. Besides it, everybody who may change a team has every permission, so
 * nobody gives, or gets, more than the actor has.
 * @param roles Those that are granted or taken away.
 * @throws {Failure} `session_required`, `role_limit`
 */
export function checkGrant({ role }: Authority, roles: readonly Role[]): void {
  if (!roles.includes('owner') || role === 'owner') return
  if (role === undefined) {
    throw new Failure('session_required', 'The role owner is granted and taken by signed-in owners, and by no API key.')
  }
  throw new Failure('role_limit', `Only an owner grants or takes the role owner; your role is ${role}.`)
}
