// Which user an identity of the provider is. A login that comes back signs in a member who is linked to its subject; a first login
// links the member of its address, or makes one. None makes, links or changes an owner, but for an owner who asked for it.

import { recordAudit } from '#src/account/audit/record.ts'
import { type Allowlist, refuseUnlisted } from '#src/account/login/allowlist.ts'
import { endRequests } from '#src/account/login/request-limits.ts'
import { lockAddress } from '#src/account/login/rows.ts'
import type { Sessions, SignedIn } from '#src/account/sessions/sessions.ts'
import { isSenderValid } from '#src/account/team/authority.ts'
import { findPendingInvite, type Invite, takeInvite } from '#src/account/team/rows.ts'
import { findMember, findMemberByEmail, type Member, noteSignIn } from '#src/account/users/rows.ts'
import { findBySubject, findSubject, linkSubject } from '#src/account/users/sso-rows.ts'
import { findTeamMemberByEmail, insertTeamMember, lockTeam } from '#src/account/users/team-rows.ts'
import type { Role } from '#src/catalogue/access.ts'
import type { SsoRefusal } from '#src/catalogue/sso.ts'
import { type Failure, fieldFailure } from '#src/failure.ts'
import type { Tx } from '#src/platform/db/database.ts'
import type { SessionRow } from '#src/platform/http/caller.ts'
import type { Acting, Origin } from '#src/platform/http/principal.ts'
import { normalizeAddress } from '#src/platform/mail-address.ts'
import { domainOf } from './domain.ts'
import { accountFailure, refused } from './problems.ts'
import type { Identity } from './provider.ts'
import { markTested, type SsoStart, shareConfig, type UsableConfig } from './rows.ts'

/** A user whom the first login makes has it, as one whom the directory makes. */
export const FIRST_ROLE: Role = 'analyst'

interface SettleDeps {
  now: () => Date
  allowlist: Allowlist
  sessions: Pick<Sessions, 'create' | 'endBySecret'>
}

interface Login {
  identity: Identity
  begun: SsoStart
  /** The session that the browser has. */
  signedIn: SessionRow | undefined
  currentSecret: string | undefined
  origin: Origin
}

export interface SsoSignedIn {
  session: SignedIn
  accountId: string
}

/** `refused` is recorded by the caller, in another transaction. */
export type Settled =
  | { signedIn: SsoSignedIn }
  | { refused: Failure; cause?: string | undefined; userId?: string | undefined }

type Refused = Extract<Settled, { refused: Failure }>

/** `isNew`: made by this login. `isLinked`: the link to the subject is made by this login. */
interface Found {
  userId: string
  role: Role
  isNew: boolean
  isLinked: boolean
  invite?: Invite | undefined
}

export function createSettle({ now, allowlist, sessions }: SettleDeps) {
  return async (tx: Tx, login: Login): Promise<Settled> => {
    const { identity, begun, origin } = login
    const { accountId } = begun
    const email = addressOf(identity)
    if (typeof email !== 'string') return email
    await lockAddress(tx, email)
    await lockTeam(tx, accountId)
    const config = await shareConfig(tx, accountId)
    if (config === undefined || config.generation !== begun.generation || config.verifiedAt === null) {
      return {
        refused: refused('domain_mismatch', 'The configuration of single sign-on has changed meanwhile.'),
        cause: 'domain_mismatch',
      }
    }
    const found = await find(tx, login, { config, email })
    if ('refused' in found) return found
    return { signedIn: await enter(tx, login, { found, config, email, origin }) }
  }

  async function find(
    tx: Tx,
    login: Login,
    { config, email }: { config: UsableConfig; email: string },
  ): Promise<Found | Refused> {
    const { identity, begun } = login
    const { accountId } = config
    if (domainOf(email) !== config.domain) {
      return refuse('domain_mismatch', `The identity provider gave an address outside of the domain ${config.domain}.`)
    }
    const failure = accountFailure(config) ?? (allowlist.isAllowed(email) ? undefined : refuseUnlisted())
    if (failure !== undefined) return { refused: failure }
    const linked = await findBySubject(tx, accountId, identity.subject)
    if (linked !== undefined) {
      const member = await findMember(tx, accountId, linked.userId)
      if (member === undefined) throw new Error('a linked member is not there')
      if (member.isRemoved) return removed(member.userId)
      if (!allowlist.isAllowed(member.email)) return { refused: refuseUnlisted(), userId: member.userId }
      if (begun.sessionId !== null && login.signedIn?.userId !== member.userId) return otherSubject(member.userId)
      return { userId: member.userId, role: member.role, isNew: false, isLinked: false }
    }
    if (begun.sessionId !== null) return linkOwn(tx, login, { accountId, email })
    const known = await findTeamMemberByEmail(tx, accountId, email)
    if (known === undefined) return join(tx, { accountId, email })
    if (known.deprovisionedAt !== null) return removed(known.id)
    if ((await findSubject(tx, { accountId, userId: known.id })) !== null) return otherSubject(known.id)
    if (known.role === 'owner') return ownerNotLinked(known.id)
    return { userId: known.id, role: known.role, isNew: false, isLinked: true }
  }

  // The person asked for it in a session of their own, which is still in this browser.
  async function linkOwn(
    tx: Tx,
    { begun, signedIn }: Login,
    { accountId, email }: { accountId: string; email: string },
  ): Promise<Found | Refused> {
    if (signedIn?.sessionId !== begun.sessionId || signedIn.accountId !== accountId) {
      return refuse('session_mismatch', 'The session that asked to be linked is not in this browser any more.')
    }
    const { userId } = signedIn
    const member = await findMember(tx, accountId, userId)
    if (member === undefined || member.isRemoved) return removed(userId)
    if (member.email !== email) {
      return refuse('address_mismatch', `The identity provider gave another address than ${member.email}.`, userId)
    }
    if ((await findSubject(tx, { accountId, userId })) !== null) return otherSubject(userId)
    return { userId, role: member.role, isNew: false, isLinked: true }
  }

  async function join(tx: Tx, { accountId, email }: { accountId: string; email: string }): Promise<Found | Refused> {
    const at = now()
    const { member: elsewhere } = await findMemberByEmail(tx, email)
    if (elsewhere !== undefined && !elsewhere.isRemoved) return belongsElsewhere()
    const pending = await findPendingInvite(tx, { accountId, email, at })
    const invite = pending !== undefined && (await isSenderValid(tx, pending, at)) ? pending : undefined
    if (invite?.role === 'owner') return ownerNotLinked()
    const role = invite?.role ?? FIRST_ROLE
    const userId = await insertTeamMember(tx, { accountId, email, role, at })
    if (invite !== undefined) await takeInvite(tx, invite.tokenHash, userId, at)
    return { userId, role, isNew: true, isLinked: true, invite }
  }

  async function enter(
    tx: Tx,
    { identity, currentSecret }: Login,
    { found, config, email, origin }: { found: Found; config: UsableConfig; email: string; origin: Origin },
  ): Promise<SsoSignedIn> {
    const { accountId } = config
    const { userId, role, isNew, isLinked, invite } = found
    const at = now()
    if (isLinked) await linkSubject(tx, { accountId, userId }, identity.subject)
    if (config.testedAt === null) await markTested(tx, accountId, at)
    await endRequests(tx, email, at)
    if (currentSecret !== undefined) await sessions.endBySecret(tx, currentSecret)
    const session = await sessions.create(tx, { accountId, userId, method: 'sso', origin })
    await noteSignIn(tx, { accountId, userId }, at)
    const acting: Acting = {
      accountId,
      environment: 'sandbox',
      principal: { kind: 'session', sessionId: session.id, userId, role, isSandboxOnly: false },
      origin,
    }
    if (invite !== undefined) {
      const after = { user_id: userId, role, was_removed: false }
      await recordAudit(tx, acting, { action: 'invite.accepted', subjectId: invite.id, after, isScoped: false })
    }
    if (isNew) {
      const after = { role, method: 'sso' }
      await recordAudit(tx, acting, { action: 'user.provisioned', subjectId: userId, after, isScoped: false })
    }
    if (isLinked) await recordAudit(tx, acting, { action: 'sso.linked', subjectId: userId, isScoped: false })
    const after = { method: 'sso', sandbox_only: false }
    await recordAudit(tx, acting, { action: 'user.signed_in', subjectId: session.id, after, isScoped: false })
    return { session, accountId }
  }
}

/** The address of an identity, in the form in which addresses of users are stored. */
function addressOf({ email, emailVerified }: Identity): string | Refused {
  const address = typeof email === 'string' ? normalizeAddress(email) : undefined
  if (address === undefined) return refuse('email_missing', 'The identity provider gave no e-mail address.')
  // Entra ID does not send it: the domain is the organization's own.
  const isVerified = emailVerified === undefined || emailVerified === true || emailVerified === 'true'
  if (isVerified) return address
  return refuse('email_unverified', 'The identity provider has not verified the e-mail address.')
}

function refuse(cause: SsoRefusal, detail: string, userId?: string): Refused {
  return { refused: refused(cause, detail), cause, userId }
}

function removed(userId: Member['userId']): Refused {
  return refuse(
    'user_removed',
    'This user was removed. Only an invite or the directory makes them a user again.',
    userId,
  )
}

function ownerNotLinked(userId?: string): Refused {
  return refuse(
    'owner_not_linked',
    'Single sign-on makes and links no owner. An owner signs in with a mailed link first, and is linked from that session.',
    userId,
  )
}

function otherSubject(userId: string): Refused {
  const failure = fieldFailure('conflict', {
    pointer: '/code',
    code: 'other_subject',
    detail: 'names another subject of the identity provider than the one to which this user is linked',
  })
  return { refused: failure, cause: 'other_subject', userId }
}

/** An address is a member of one account in the whole deployment. */
export function belongsElsewhere(): Refused {
  const failure = fieldFailure('conflict', {
    pointer: '/code',
    code: 'address_elsewhere',
    detail: 'names an address that belongs to a user of another account, who has to leave that first',
  })
  return { refused: failure, cause: 'address_elsewhere' }
}
