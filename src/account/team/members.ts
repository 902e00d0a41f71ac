// Who belongs to an account, with which role. A removed member keeps a tombstone: links and single sign-on refuse the
// address, and only an invite makes it a member again. Their sessions end in the transaction of the removal; a login
// link from before is refused because of the tombstone, and accepting an invite voids it.

import { recordAudit } from '#src/account/audit/record.ts'
import { selectKeysMadeBy } from '#src/account/keys/administration-rows.ts'
import { checkFreshSession, type OwnSessions } from '#src/account/sessions/own-sessions.ts'
import type { SignedIn } from '#src/account/sessions/sessions.ts'
import {
  countTeamMembers,
  findTeamMember,
  hasOtherOwner,
  listTeamMembers,
  lockTeam,
  type MemberStatus,
  markRemoved,
  setRole,
  type TeamMember,
} from '#src/account/users/team-rows.ts'
import { ROLES, type Role } from '#src/catalogue/access.ts'
import { rolesWith } from '#src/catalogue/permissions.ts'
import { Failure } from '#src/failure.ts'
import type { Database, Tx } from '#src/platform/db/database.ts'
import { type IdempotencyKey, once } from '#src/platform/http/idempotency.ts'
import {
  type CountedPage,
  createdBetween,
  inBothEnvironments,
  type ListQuery,
  listPage,
  type Pager,
} from '#src/platform/http/page.ts'
import type { Acting } from '#src/platform/http/principal.ts'
import type { Scope } from '#src/platform/ids.ts'
import { checkGrant, checkOwnership, getAuthority } from './authority.ts'
import { revokeInvitesOf } from './rows.ts'

/**
 * What products above end with a membership, such as passkeys: in the tenant transaction, or where a person leaves their own
 * account the system one, that removes the user.
 */
export type EndWithUser = (tx: Tx, user: { accountId: string; userId: string }) => Promise<void>

export interface MemberQuery extends ListQuery {
  /** Users of any of these. */
  status?: readonly MemberStatus[] | undefined
  role?: readonly Role[] | undefined
}

interface MembersDeps {
  db: Pick<Database, 'tenant' | 'readSystem'>
  now: () => Date
  pager: Pager
  own: Pick<OwnSessions, 'endOfUser' | 'rotate'>
  endWithUser: EndWithUser
}

export interface Removal {
  member: TeamMember
  sessionsEnded: number
  invitesRevoked: string[]
  /** They go on working: programs depend on them. */
  keysCreated: string[]
}

export interface RoleChange extends Removal {
  /** Null where this request changed nothing. */
  previousRole: Role | null
  /** Of the session that changed its own user's role: its secret is another one now. */
  renewed: SignedIn | undefined
}

type Removed = Omit<Removal, 'keysCreated'>
type Changed = Omit<RoleChange, 'keysCreated'>

export type Members = ReturnType<typeof createMembers>

export function createMembers({ db, now, pager, own, endWithUser }: MembersDeps) {
  /** Newest first. */
  async function list(caller: Scope, query: MemberQuery): Promise<CountedPage<TeamMember>> {
    const { accountId } = caller
    const { status, role: roles } = query
    const filter = { accountId, status, roles, ...createdBetween(query) }
    const list = { ...inBothEnvironments(caller), route: 'GET /v1/org/users', query }
    return listPage({ db, pager }, list, {
      rows: (tx, page) => listTeamMembers(tx, filter, page),
      count: (tx) => countTeamMembers(tx, filter),
    })
  }

  /**
   * Sessions of the user end, so that no secret from before has the new role; the one that makes the change for its own
   * user goes on with another secret.
   * @throws {Failure} `not_found`; `conflict` for a removed user; `last_owner`; `role_limit`, `session_required`,
   * `insufficient_role`, `session_expired`.
   */
  async function changeRole(
    caller: Acting,
    { userId, role }: { userId: string; role: Role },
    key: IdempotencyKey | undefined,
  ): Promise<RoleChange> {
    const { accountId, principal } = caller
    const user = { accountId, userId }
    const change = async (tx: Tx): Promise<Changed> => {
      await lockTeam(tx, accountId)
      const at = now()
      const authority = await getAuthority(tx, caller, at)
      const found = await getMember(tx, user)
      if (found.deprovisionedAt !== null) throw new Failure('conflict', 'This user was removed: send an invite.')
      if (found.role === role) return unchanged(found)
      checkGrant(authority, role, found.role)
      if (found.role === 'owner') await keepOwner(tx, user)
      await setRole(tx, user, role)
      const sessionId = principal.kind === 'session' && principal.userId === userId ? principal.sessionId : undefined
      const sessionsEnded = await own.endOfUser(tx, user, sessionId)
      const renewed = sessionId === undefined ? undefined : await own.rotate(tx, { accountId, sessionId })
      // Invites that the user could not send any more.
      const roles = rolesWith('team.write', 'live').includes(role) ? ownerUnless(role) : ROLES
      const invitesRevoked = await revokeInvitesOf(tx, { accountId, sentBy: userId, roles }, at)
      await recordAudit(tx, caller, {
        action: 'user.role_changed',
        subjectId: userId,
        before: { role: found.role },
        after: { role, sessions_ended: sessionsEnded, invites_revoked: invitesRevoked },
        isScoped: false,
      })
      const member = await getMember(tx, user)
      return { member, previousRole: found.role, sessionsEnded, invitesRevoked, renewed }
    }
    return withKeys(caller, userId, (tx) => once(tx, key, change, () => userId))
  }

  /**
   * Removing a removed user changes nothing.
   * @throws {Failure} `not_found`; `last_owner`; and as `changeRole` does.
   */
  async function remove(caller: Acting, userId: string, key: IdempotencyKey | undefined): Promise<Removal> {
    const remove = async (tx: Tx) => {
      await lockTeam(tx, caller.accountId)
      const authority = await getAuthority(tx, caller, now())
      const found = await getMember(tx, { accountId: caller.accountId, userId })
      checkOwnership(authority, [found.role])
      return deprovision(tx, caller, found)
    }
    return withKeys(caller, userId, (tx) => once(tx, key, remove, () => userId))
  }

  /** The user of the session leaves, whatever the role. @throws {Failure} `last_owner`; `session_required`, `session_expired`. */
  async function leave(caller: Acting, userId: string, key: IdempotencyKey | undefined): Promise<Removal> {
    const leave = async (tx: Tx) => {
      await lockTeam(tx, caller.accountId)
      const found = await getMember(tx, { accountId: caller.accountId, userId })
      if (found.role === 'owner') await checkFreshSession(tx, caller, now(), 'An owner leaves')
      return deprovision(tx, caller, found)
    }
    return withKeys(caller, userId, (tx) => once(tx, key, leave, () => userId))
  }

  /** What a repeated change or removal shows: the user as it is now. @throws {Failure} `not_found` */
  async function find(caller: Scope, userId: string): Promise<RoleChange> {
    const user = { accountId: caller.accountId, userId }
    return withKeys(caller, userId, async (tx) => unchanged(await getMember(tx, user)))
  }

  /** @throws {Failure} `not_found` */
  async function get(caller: Scope, userId: string): Promise<TeamMember> {
    return db.tenant(caller, (tx) => getMember(tx, { accountId: caller.accountId, userId }))
  }

  return { list, get, find, changeRole, remove, leave, deprovision }

  /** Under the lock of the team, in a tenant transaction: everything that ends with a membership ends here. */
  async function deprovision(tx: Tx, by: Acting, found: TeamMember): Promise<Removed> {
    const { accountId } = by
    const user = { accountId, userId: found.id }
    if (found.deprovisionedAt !== null) return { member: found, sessionsEnded: 0, invitesRevoked: [] }
    if (found.role === 'owner') await keepOwner(tx, user)
    const at = now()
    await markRemoved(tx, user, at)
    const sessionsEnded = await own.endOfUser(tx, user)
    await endWithUser(tx, user)
    const wanted = { accountId, sentBy: found.id, roles: ROLES, email: found.email }
    const invitesRevoked = await revokeInvitesOf(tx, wanted, at)
    await recordAudit(tx, by, {
      action: 'user.deprovisioned',
      subjectId: found.id,
      before: { role: found.role },
      after: { sessions_ended: sessionsEnded, invites_revoked: invitesRevoked },
      isScoped: false,
    })
    return { member: { ...found, deprovisionedAt: at }, sessionsEnded, invitesRevoked }
  }

  // After the commit, in the system role: the keys of both environments, which no tenant transaction sees together.
  async function withKeys<R extends Removed>(
    caller: Scope,
    userId: string,
    work: (tx: Tx) => Promise<R>,
  ): Promise<R & Pick<Removal, 'keysCreated'>> {
    const changed = await db.tenant(caller, work)
    const keys = await db.readSystem<{ id: string }>('keys of a changed user', () =>
      selectKeysMadeBy({ accountId: caller.accountId, creatorId: userId }, now()),
    )
    return { ...changed, keysCreated: keys.map(({ id }) => id) }
  }
}

function unchanged(member: TeamMember): Changed {
  return { member, previousRole: null, sessionsEnded: 0, invitesRevoked: [], renewed: undefined }
}

function ownerUnless(role: Role): Role[] {
  return role === 'owner' ? [] : ['owner']
}

/** @throws {Failure} `last_owner` */
async function keepOwner(tx: Tx, user: { accountId: string; userId: string }): Promise<void> {
  if (await hasOtherOwner(tx, user)) return
  throw new Failure('last_owner', 'This is the last owner of the account: make another user an owner first.')
}

/** @throws {Failure} `not_found` */
async function getMember(tx: Tx, user: { accountId: string; userId: string }): Promise<TeamMember> {
  const found = await findTeamMember(tx, user)
  if (found === undefined) throw new Failure('not_found', 'There is no such user: GET /v1/org/users lists them.')
  return found
}
