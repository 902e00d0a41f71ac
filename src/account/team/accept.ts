// Accepting an invite: the token proves that the caller reads the mailbox, so it needs no session. An invite that is
// refused for another reason than its token stays pending: the person may leave the other account first.

import { recordAudit } from '#src/account/audit/record.ts'
import { findAccount } from '#src/account/keys/rows.ts'
import { type Allowlist, refuseUnlisted } from '#src/account/login/allowlist.ts'
import {
  type AttemptLimit,
  type AttemptRefusal,
  limitsOfClient,
  siteOf,
  tooManyAttempts,
} from '#src/account/login/attempts.ts'
import type { Login } from '#src/account/login/login.ts'
import { endRequests } from '#src/account/login/request-limits.ts'
import { lockAddress } from '#src/account/login/rows.ts'
import { createTokenDoor } from '#src/account/login/token-door.ts'
import type { OwnSessions } from '#src/account/sessions/own-sessions.ts'
import type { Sessions, SignedIn } from '#src/account/sessions/sessions.ts'
import { ssoRequired } from '#src/account/sso/problems.ts'
import { findMember, findMemberByEmail, noteSignIn } from '#src/account/users/rows.ts'
import {
  findTeamMemberByEmail,
  insertTeamMember,
  lockTeam,
  reactivateMember,
  type TeamMember,
} from '#src/account/users/team-rows.ts'
import type { Plan } from '#src/catalogue/access.ts'
import { Failure, invalidField } from '#src/failure.ts'
import type { Database, Tx } from '#src/platform/db/database.ts'
import type { SessionRow } from '#src/platform/http/caller.ts'
import { isOver } from '#src/platform/http/closed.ts'
import type { Acting, Origin } from '#src/platform/http/principal.ts'
import { isSenderValid } from './authority.ts'
import { type LeaveOwnAccount, needsSession } from './own-account.ts'
import { findInviteByToken, type Invite, statusOf, takeInvite } from './rows.ts'

const HOUR_MS = 60 * 60_000
// These limits match login links: only tokens of no invite count against the client.
const FAILED_USES = limitsOfClient({ name: 'invite use', most: 20, withinMs: HOUR_MS })
// An invite that is refused stays pending, so its token can be sent again and again.
const USES_OF_INVITE: AttemptLimit = { name: 'invite token', most: 60, withinMs: HOUR_MS }

interface AcceptDeps {
  db: Pick<Database, 'system'>
  now: () => Date
  sessions: Pick<Sessions, 'create' | 'find' | 'endBySecret'>
  own: Pick<OwnSessions, 'endOfUser'>
  allowlist: Allowlist
  withSlot: Login['withSlot']
  leaveOwn: LeaveOwnAccount
  /** Without a trailing slash. */
  baseUrl: string
}

export interface AcceptedInvite {
  session: SignedIn
  accountId: string
}

type Acceptance = { accepted: AcceptedInvite } | { limited: AttemptRefusal } | { refused: Failure }

export type Accept = ReturnType<typeof createAccept>

export function createAccept({ db, now, sessions, own, allowlist, withSlot, leaveOwn, baseUrl }: AcceptDeps) {
  const door = createTokenDoor({ find: findInviteByToken, failures: FAILED_USES, uses: USES_OF_INVITE })

  /**
   * Makes the caller a member with the role of the invite, and signs in. Ends the session that the browser had.
   * @param currentSecret Of the session cookie, if there is one.
   * @param closesOwn The person confirms that their own account is closed: called with the session that does it.
   * @throws {Failure} `rate_limited`; `invalid_request` at `/token` for an invite that is unknown, used, revoked, replaced
   * or too old, or whose sender is a key that has ended; `beta_access_required`; `plan_required`; `sso_required`; `conflict` where the account
   * is closed, the session is another person's, or the address a member's: of another account, it says how to leave that.
   */
  return async (
    token: string,
    origin: Origin,
    { currentSecret, closesOwn }: { currentSecret?: string | undefined; closesOwn?: (sessionId: string) => void } = {},
  ): Promise<AcceptedInvite> => {
    door.check(token, now())
    const current = currentSecret === undefined ? undefined : await sessions.find(currentSecret)
    const signedIn = current === undefined || current.hasEnded ? undefined : current
    if (signedIn !== undefined) closesOwn?.(signedIn.sessionId)
    const wanted = { token, origin, currentSecret, signedIn, isConfirmed: closesOwn !== undefined }
    const work = () => db.system('accept invite', (tx) => acceptIn(tx, wanted))
    // Together with logins: strangers send both.
    const outcome = await withSlot(siteOf(origin.ip), work).catch((error: unknown): Acceptance => {
      // Another account made the address its member between our look-up and our insert.
      if (error instanceof Error && 'constraint' in error && error.constraint === 'users_active_email_key') {
        return { refused: needsSession() }
      }
      throw error
    })
    if ('accepted' in outcome) return outcome.accepted
    throw 'limited' in outcome ? tooManyAttempts(outcome.limited) : outcome.refused
  }

  // A refusal is returned, so that the attempt stays counted.
  async function acceptIn(tx: Tx, request: AcceptRequest): Promise<Acceptance> {
    const { token, origin, currentSecret, signedIn } = request
    const at = now()
    const opened = await door.open(tx, { token, origin, at })
    if ('limited' in opened) return opened
    if (opened.row === undefined) return { refused: invalidInvite() }
    const { accountId, email, role, tokenHash } = opened.row
    await lockAddress(tx, email)
    // The team that the person may leave, too; in one order, so that two acceptances don't deadlock.
    const teams = new Set([accountId, ...(signedIn === undefined ? [] : [signedIn.accountId])])
    for (const team of [...teams].sort()) await lockTeam(tx, team)
    // It may have been used or replaced while we waited.
    const invite = await findInviteByToken(tx, tokenHash)
    if (invite === undefined || statusOf(invite, at) !== 'pending') return { refused: invalidInvite() }
    if (!(await isSenderValid(tx, invite, at))) return { refused: invalidInvite() }
    const sender = signedIn && (await findMember(tx, signedIn.accountId, signedIn.userId))
    const known = await findTeamMemberByEmail(tx, accountId, email)
    const { member: elsewhere, enforcedDomain } = await findMemberByEmail(tx, email)
    const account = await findAccount(tx, accountId)
    if (isOver(account?.erased_after, at)) return { refused: invalidInvite() }
    const refused = refusalOf({ invite, sender, known, plan: account?.plan, isClosed: account?.closed_at != null })
    if (refused !== undefined) return { refused }
    if (enforcedDomain !== undefined) return { refused: ssoRequired(baseUrl, enforcedDomain) }
    if (elsewhere !== undefined && !elsewhere.isRemoved) {
      const { isConfirmed } = request
      const held = await leaveOwn(tx, { member: elsewhere, signedIn, isConfirmed, origin })
      if (held !== undefined) return { refused: held }
    }

    const userId = await join(tx, invite, known, at)
    if (!(await takeInvite(tx, tokenHash, userId, at)))
      throw new Error('an invite was taken under the lock of its team')
    await endRequests(tx, email, at)
    if (currentSecret !== undefined) await sessions.endBySecret(tx, currentSecret)
    const session = await sessions.create(tx, { accountId, userId, method: 'invite', origin })
    await noteSignIn(tx, { accountId, userId }, at)
    const acting: Acting = {
      accountId,
      environment: 'sandbox',
      principal: { kind: 'session', sessionId: session.id, userId, role, isSandboxOnly: false },
      origin,
    }
    await recordAudit(tx, acting, {
      action: 'invite.accepted',
      subjectId: invite.id,
      after: { user_id: userId, role, was_removed: known !== undefined },
      isScoped: false,
    })
    const after = { method: 'invite', sandbox_only: false }
    await recordAudit(tx, acting, { action: 'user.signed_in', subjectId: session.id, after, isScoped: false })
    return { accepted: { session, accountId } }
  }

  async function join(
    tx: Tx,
    { accountId, email, role }: Invite,
    known: TeamMember | undefined,
    at: Date,
  ): Promise<string> {
    if (known === undefined) return insertTeamMember(tx, { accountId, email, role, at })
    const member = { accountId, userId: known.id }
    await reactivateMember(tx, member, role)
    // A login that ran beside the removal may have left a session that the tombstone alone kept out.
    await own.endOfUser(tx, member)
    return known.id
  }

  function refusalOf({ invite, sender, known, plan, isClosed }: Known): Failure | undefined {
    if (sender !== undefined && sender.email !== invite.email) {
      return new Failure('conflict', 'You are signed in with another address than the invite names: sign out first.')
    }
    if (!allowlist.isAllowed(invite.email)) return refuseUnlisted()
    if (known !== undefined && known.deprovisionedAt === null) {
      return new Failure('conflict', 'You are a member of this account already: sign in.')
    }
    if (plan !== 'enterprise') return lackingPlan()
    return isClosed ? closedAccount() : undefined
  }
}

interface AcceptRequest {
  token: string
  origin: Origin
  currentSecret: string | undefined
  signedIn: SessionRow | undefined
  isConfirmed: boolean
}

interface Known {
  invite: Invite
  sender: { email: string } | undefined
  known: TeamMember | undefined
  plan: Plan | undefined
  isClosed: boolean
}

// Every reason has the same answer: a guessed token learns nothing.
function invalidInvite(): Failure {
  return invalidField(
    '/token',
    'invalid_link',
    'is not a valid invite: it was used, revoked or sent again, has expired, or was sent by an API key that has ended',
  )
}

// Pending: an owner who comes with an invite could undo a closure, also of an account that its last owner has left.
function closedAccount(): Failure {
  return new Failure(
    'conflict',
    'The account of this invite is closed. The invite works again when an owner or the operator undoes the closure.',
  )
}

function lackingPlan(): Failure {
  return new Failure('plan_required', {
    detail: 'Members other than the owner need the plan enterprise, which this account does not have.',
    members: { required_plan: 'enterprise' },
  })
}
