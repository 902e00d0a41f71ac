// What the one who acts may do to a team, read under its lock: a request that waited for the lock may have been
// overtaken by one that took the actor's own role, or revoked the key.

import { findKeyTimes } from '#src/account/keys/administration-rows.ts'
import { statusOf } from '#src/account/keys/key.ts'
import { findBeyondRole, getKeyGiver, type KeyGiver } from '#src/account/keys/limits.ts'
import { findSignedIn } from '#src/account/sessions/own-rows.ts'
import { freshUntil, staleSession } from '#src/account/sessions/own-sessions.ts'
import { findTeamMember } from '#src/account/users/team-rows.ts'
import type { Role } from '#src/catalogue/access.ts'
import { rolesWith } from '#src/catalogue/permissions.ts'
import { Failure } from '#src/failure.ts'
import type { Tx } from '#src/platform/db/database.ts'
import { type Acting, credentialOf } from '#src/platform/http/principal.ts'
import type { Invite } from './rows.ts'

/** Who changes a team. isFresh: the session has just begun. */
export type TeamGiver = { kind: 'session'; role: Role; isFresh: boolean } | KeyGiver

/**
 * @throws {Failure} `session_expired`, `insufficient_role`; of a key `invalid_api_key`, `api_key_revoked`, `api_key_expired`.
 */
export async function getAuthority(tx: Tx, { accountId, ...by }: Acting, at: Date): Promise<TeamGiver> {
  const principal = credentialOf(by.principal)
  if (principal.kind === 'key') return getKeyGiver(tx, principal.keyId, at)
  const user = { accountId, userId: principal.userId }
  const [member, signedIn] = await Promise.all([findTeamMember(tx, user), findSignedIn(tx, user, principal.sessionId)])
  if (member === undefined || member.deprovisionedAt !== null || signedIn === undefined) {
    throw new Failure('session_expired', 'This session has ended: its user was removed, or signed out.')
  }
  const allowed = rolesWith('team.write', 'live')
  if (!allowed.includes(member.role)) {
    throw new Failure('insufficient_role', {
      detail: `Your role is ${member.role}, and this needs ${allowed.join(' or ')}.`,
      members: { allowed },
    })
  }
  return { kind: 'session', role: member.role, isFresh: freshUntil(signedIn.startedAt) > at }
}

/**
 * System role: false where an invite was sent by a key that has ended. Revoking a key revokes its invites; its expiry and the
 * end of its grace period come without a transaction.
 */
export async function isSenderValid(
  tx: Tx,
  { accountId, invitedBy }: Pick<Invite, 'accountId' | 'invitedBy'>,
  at: Date,
): Promise<boolean> {
  if (!invitedBy.startsWith('key_')) return true
  const times = await findKeyTimes(tx, accountId, invitedBy)
  return times !== undefined && ['active', 'rotating'].includes(statusOf(times, at))
}

/**
 * Refuses to touch the role owner to all but owners who have just signed in: one makes others that outlive its session.
 * @param roles Those that are granted or taken away.
 * @throws {Failure} `session_required`, `role_limit`
 */
export function checkOwnership(giver: TeamGiver, roles: readonly Role[]): void {
  if (!roles.includes('owner')) return
  if (giver.kind === 'key') {
    throw new Failure('session_required', 'Only signed-in owners grant or remove the role owner; an API key can not.')
  }
  if (giver.role === 'owner' && giver.isFresh) return
  if (giver.role === 'owner') throw staleSession('The role owner is granted and taken')
  throw new Failure('role_limit', `Only an owner grants or removes the role owner; your role is ${giver.role}.`)
}

/**
 * A giver grants at most its own rights. Users who change a team have every permission except the role owner; a key has
 * its own permissions.
 * @param before The role that the user has: an admin has what every other role has, so nothing is given to one.
 * @throws {Failure} `session_required`, `role_limit`
 */
export function checkGrant(giver: TeamGiver, role: Role, before?: Role): void {
  checkOwnership(giver, before === undefined ? [role] : [before, role])
  if (giver.kind === 'session' || before === 'admin') return
  const reasons = findBeyondRole(giver, role)
  if (reasons.length === 0) return
  throw new Failure(
    'role_limit',
    `This API key does not grant the role ${role}, which can do more than the key: it ${reasons.join(', ')}. ` +
      'Sign in as an owner or an admin to grant it.',
  )
}
