// What a directory does to the users of its account: those whose address is in the verified domain. It gives no role and changes no
// owner; removing is `members.deprovision`, as for everybody. Locks are taken in the order of logins: addresses, then the team.

import { recordAudit } from '#src/account/audit/record.ts'
import type { Allowlist } from '#src/account/login/allowlist.ts'
import { lockAddress } from '#src/account/login/rows.ts'
import type { OwnSessions } from '#src/account/sessions/own-sessions.ts'
import { domainOf } from '#src/account/sso/domain.ts'
import { FIRST_ROLE } from '#src/account/sso/linking.ts'
import type { Members } from '#src/account/team/members.ts'
import { setAddress } from '#src/account/users/sso-rows.ts'
import { findTeamMember, insertTeamMember, lockTeam, reactivateMember } from '#src/account/users/team-rows.ts'
import { Failure } from '#src/failure.ts'
import type { Database, Tx } from '#src/platform/db/database.ts'
import type { Acting } from '#src/platform/http/principal.ts'
import type { Scope } from '#src/platform/ids.ts'
import { normalizeAddress } from '#src/platform/mail-address.ts'
import { scimFailure } from './errors.ts'
import { parseUserFilter } from './filter.ts'
import { patchResource } from './patch.ts'
import { readResource, type ScimResource, workEmailOf } from './resource.ts'
import {
  type DirectoryUser,
  findByAddress,
  findDirectoryUser,
  findOwnDomain,
  listDirectoryUsers,
  markDeleted,
  putDirectoryRow,
  voidLinksOf,
} from './rows.ts'

interface DirectoryDeps {
  db: Pick<Database, 'tenant'>
  now: () => Date
  allowlist: Allowlist
  own: Pick<OwnSessions, 'endOfUser'>
  members: Pick<Members, 'deprovision' | 'findKeysOf'>
}

export interface UserQuery {
  filter: string | undefined
  /** From 1. */
  startIndex: number
  count: number
}

export type Directory = ReturnType<typeof createDirectory>

export function createDirectory({ db, now, allowlist, own, members }: DirectoryDeps) {
  async function list(
    caller: Scope,
    { filter, startIndex, count }: UserQuery,
  ): Promise<{ total: number; users: DirectoryUser[] }> {
    const conditions = filter === undefined ? [] : parseUserFilter(filter)
    const { accountId } = caller
    return db.tenant(caller, async (tx) => {
      const domain = await findOwnDomain(tx, accountId)
      if (domain === undefined) return { total: 0, users: [] }
      return listDirectoryUsers(tx, { accountId, domain, conditions, offset: startIndex - 1, limit: count })
    })
  }

  async function get(caller: Scope, id: string): Promise<DirectoryUser> {
    return db.tenant(caller, (tx) => find(tx, caller.accountId, id))
  }

  /** Makes a user, or a removed one active again. */
  async function create(caller: Acting, body: object): Promise<DirectoryUser> {
    const { accountId } = caller
    const resource = readResource(body, true)
    const email = readAddress(resource.userName)
    return settle(caller, async (tx) => {
      await lockAddress(tx, email)
      await lockTeam(tx, accountId)
      await checkDomain(tx, accountId, email)
      allowlist.check(email)
      const known = await findByAddress(tx, accountId, email)
      if (known !== undefined && known.deprovisionedAt === null) throw taken()
      const at = now()
      const userId = known?.id ?? (await insertTeamMember(tx, { accountId, email, role: FIRST_ROLE, at }))
      if (known !== undefined) await reactivate(tx, accountId, userId)
      await putDirectoryRow(tx, rowOf(accountId, userId, resource, at))
      await recordAudit(tx, caller, {
        action: 'user.provisioned',
        subjectId: userId,
        after: { role: FIRST_ROLE, method: 'scim', was_removed: known !== undefined },
        isScoped: false,
      })
      if (!resource.active) await deprovision(tx, caller, userId, [])
      return find(tx, accountId, userId)
    })
  }

  async function replace(caller: Acting, id: string, body: object): Promise<DirectoryUser> {
    return change(caller, id, (before) => readResource(body, before.active))
  }

  async function patch(caller: Acting, id: string, body: object): Promise<DirectoryUser> {
    return change(caller, id, (before) => patchResource(before, body))
  }

  /** The user is removed, and the directory does not see it again until it makes it anew. */
  async function remove(caller: Acting, id: string): Promise<void> {
    const { accountId } = caller
    const keys = await members.findKeysOf(caller, id)
    await settle(caller, async (tx) => {
      await lockTeam(tx, accountId)
      const found = await find(tx, accountId, id)
      refuseOwner(found)
      await deprovision(tx, caller, id, keys)
      await markDeleted(tx, { accountId, userId: id }, now())
    })
  }

  return { list, get, create, replace, patch, remove }

  async function change(
    caller: Acting,
    id: string,
    next: (before: ScimResource) => ScimResource,
  ): Promise<DirectoryUser> {
    const { accountId } = caller
    const keys = await members.findKeysOf(caller, id)
    return settle(caller, async (tx) => {
      const seen = await find(tx, accountId, id)
      const wanted = readAddress(next(resourceOf(seen)).userName)
      for (const email of [...new Set([seen.email, wanted])].sort()) await lockAddress(tx, email)
      await lockTeam(tx, accountId)
      const found = await find(tx, accountId, id)
      // Another request has changed the address meanwhile, and its lock is not ours.
      if (found.email !== seen.email) throw new Failure('conflict', 'Another request changes this user. Try again.')
      refuseOwner(found)
      const before = resourceOf(found)
      const after = next(before)
      const email = readAddress(after.userName)
      if (email !== found.email) await move(tx, accountId, { found, email })
      if (after.active && !before.active) {
        allowlist.check(email)
        await reactivate(tx, accountId, id)
      }
      await putDirectoryRow(tx, rowOf(accountId, id, after, now()))
      const changed = changesOf(before, after)
      if (changed.length > 0) {
        await recordAudit(tx, caller, {
          action: 'user.updated',
          subjectId: id,
          after: { changed },
          isScoped: false,
        })
      }
      if (!after.active) await deprovision(tx, caller, id, keys)
      return find(tx, accountId, id)
    })
  }

  // The person stays the same: sessions and links of the former address must not go on under the new one.
  async function move(tx: Tx, accountId: string, { found, email }: { found: DirectoryUser; email: string }) {
    await checkDomain(tx, accountId, email)
    allowlist.check(email)
    const user = { accountId, userId: found.id }
    const at = now()
    await setAddress(tx, user, email)
    await own.endOfUser(tx, user)
    await voidLinksOf(tx, found.email, at)
    await voidLinksOf(tx, email, at)
  }

  async function reactivate(tx: Tx, accountId: string, userId: string): Promise<void> {
    await reactivateMember(tx, { accountId, userId }, FIRST_ROLE)
    // A login that ran beside the removal may have left a session that the tombstone alone kept out.
    await own.endOfUser(tx, { accountId, userId })
  }

  async function deprovision(tx: Tx, caller: Acting, userId: string, keys: readonly string[]): Promise<void> {
    const member = await findTeamMember(tx, { accountId: caller.accountId, userId })
    if (member === undefined) throw new Error('a user under the lock of the team is not there')
    await members.deprovision(tx, caller, member, keys)
  }

  function settle<R>(caller: Acting, work: (tx: Tx) => Promise<R>): Promise<R> {
    return db.tenant(caller, work).catch((error: unknown) => {
      throw isTaken(error) ? taken() : error
    })
  }

  async function find(tx: Tx, accountId: string, id: string): Promise<DirectoryUser> {
    const domain = await findOwnDomain(tx, accountId)
    const found = await findDirectoryUser(tx, accountId, id)
    const isSeen = found !== undefined && !found.isDeleted && domainOf(found.email) === domain
    if (isSeen) return found
    throw new Failure('not_found', 'There is no such user in this directory.')
  }

  async function checkDomain(tx: Tx, accountId: string, email: string): Promise<void> {
    const domain = await findOwnDomain(tx, accountId)
    if (domainOf(email) === domain) return
    throw new Failure(
      'conflict',
      domain === undefined
        ? 'The account has no verified domain: a directory keeps the users of one.'
        : `The address is outside of the domain ${domain}, whose users this directory keeps.`,
    )
  }
}

/** The user as a resource. Of a user of whom the directory has said nothing, the address is the one of work. */
export function resourceOf(user: DirectoryUser): ScimResource {
  const { email, deprovisionedAt, isWritten, externalId, name, displayName } = user
  const emails = isWritten ? user.emails : [{ value: email, type: 'work', primary: true }]
  return {
    userName: email,
    ...(externalId !== null && { externalId }),
    ...(displayName !== null && { displayName }),
    ...(name !== null && { name }),
    ...(emails !== null && { emails }),
    active: deprovisionedAt === null,
  }
}

function rowOf(accountId: string, userId: string, resource: ScimResource, at: Date) {
  const { externalId = null, name = null, displayName = null, emails = null } = resource
  return { accountId, userId, externalId, name, displayName, emails, workEmail: workEmailOf(resource), at }
}

function changesOf(before: ScimResource, after: ScimResource): string[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])] as (keyof ScimResource)[]
  return names.filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name])).sort()
}

function readAddress(userName: string): string {
  const email = normalizeAddress(userName)
  if (email !== undefined) return email
  throw scimFailure('invalidValue', 'The userName must be the e-mail address of the user.')
}

function refuseOwner({ role }: DirectoryUser): void {
  if (role !== 'owner') return
  throw new Failure('conflict', 'This user is an owner, whom a directory does not change.')
}

// The answer does not tell whether the active user is one of this account or of another one.
function taken(): Failure {
  return scimFailure('uniqueness', 'An active user has this userName already.')
}

function isTaken(error: unknown): boolean {
  return (
    error instanceof Error &&
    'constraint' in error &&
    (error.constraint === 'users_active_email_key' || error.constraint === 'users_email_key')
  )
}
