// Leaving another account to accept an invite. A person who signed in before has an account of their own, which the last
// owner can't leave: with an explicit confirmation it is closed in the transaction that accepts the invite, while it has
// nothing but its user, or when its owner has closed it before.

import { recordAudit } from '#src/account/audit/record.ts'
import { closeInSystem, hasContent, lockForClosure } from '#src/account/keys/account-rows.ts'
import { findSignedIn } from '#src/account/sessions/own-rows.ts'
import { freshUntil, type OwnSessions, staleSession } from '#src/account/sessions/own-sessions.ts'
import type { Member } from '#src/account/users/rows.ts'
import { countOthers, markRemoved } from '#src/account/users/team-rows.ts'
import { ROLES } from '#src/catalogue/access.ts'
import { Failure } from '#src/failure.ts'
import type { FieldErrorCode } from '#src/field-errors.ts'
import type { Tx } from '#src/platform/db/database.ts'
import type { TenantTable } from '#src/platform/feature.ts'
import type { SessionRow } from '#src/platform/http/caller.ts'
import { isOver } from '#src/platform/http/closed.ts'
import type { Acting, Origin } from '#src/platform/http/principal.ts'
import type { EndWithUser } from './members.ts'
import { revokeInvitesOf } from './rows.ts'

// What an account has because a person signed in to it. A row of any other table is content.
const OF_SIGNING_IN = [
  'accounts',
  'users',
  'user_sessions',
  'passkeys',
  'passkey_registrations',
  'audit_entries',
  'mails',
  'jobs',
  'idempotency_keys',
  'account_notices',
]
// Limits of jobs that wait. The account has nothing by them.
const OF_QUEUES = ['job_lanes']
// A row of these has one of a table that is read: they have foreign keys to them, and no index by account.
export const WITH_OTHERS = [
  'agent_suspensions',
  'assertion_counters',
  'attestation_results',
  'exclusion_changes',
  'fingerprints',
  'pictures',
  'reevaluation_marks',
  'schedule_cycles',
]

/** The tables that say whether an account has anything. Each is read by the account. */
export function contentTables(tables: readonly TenantTable[]): string[] {
  const others = [...OF_SIGNING_IN, ...OF_QUEUES, ...WITH_OTHERS]
  return tables.map(({ table }) => table).filter((table) => !others.includes(table))
}

const POINTER = '/close_own_account'

interface OwnAccountDeps {
  endWithUser: EndWithUser
  own: Pick<OwnSessions, 'endOfUser'>
  now: () => Date
  /** Tables of all features. */
  tables: () => readonly TenantTable[]
}

export interface LeaveRequest {
  /** Member with the address of the invite, in another account. */
  member: Member
  signedIn: SessionRow | undefined
  /** The request confirms that the account is closed. */
  isConfirmed: boolean
  origin: Origin
}

export type LeaveOwnAccount = ReturnType<typeof createLeaveOwnAccount>

/**
 * In a system transaction, under the locks of the address and of both teams: the member is free for another account
 * afterwards, or the refusal says what the person has to do.
 */
export function createLeaveOwnAccount({ own, now, tables, endWithUser }: OwnAccountDeps) {
  return async (tx: Tx, request: LeaveRequest): Promise<Failure | undefined> => {
    const { member, signedIn, isConfirmed } = request
    const { accountId, userId } = member
    // Without their session, the other account is not spoken of: a link may be in wrong hands.
    if (signedIn?.accountId !== accountId || signedIn.userId !== userId) return needsSession()
    if (signedIn.isSandboxOnly) return needsProof()
    // What other transactions have inserted before is committed when the lock is got. A request that began before and
    // stores later does so in a closed account, as with any closure.
    const account = await lockForClosure(tx, accountId)
    if (account.suspendedAt !== null) {
      return refusal('account_suspended', `Your account ${accountId} is suspended: ask the operator of the service.`)
    }
    const others = await countOthers(tx, { accountId, userId })
    if (member.role !== 'owner' || others.owners > 0) return mustLeave(accountId)
    if (others.users > 0) return hasOtherUsers(accountId)
    const isClosed = account.closedAt !== null
    if (!isClosed && (await hasContent(tx, contentTables(tables()), accountId))) return notEmpty(accountId)
    if (isOver(account.erasedAfter, now())) return refusal('being_erased', `Your account ${accountId} is being erased.`)
    const session = await findSignedIn(tx, { accountId, userId }, signedIn.sessionId)
    if (session === undefined || freshUntil(session.startedAt) <= now()) return needsFreshSession()
    if (!isConfirmed) return unconfirmed(accountId)
    await leave(tx, request, { isClosed })
    return undefined
  }

  async function leave(tx: Tx, { member, signedIn, origin }: LeaveRequest, { isClosed }: { isClosed: boolean }) {
    if (signedIn === undefined) throw new Error('an account is left by its own session')
    const { accountId, userId, role } = member
    const { sessionId } = signedIn
    const by: Acting = {
      accountId,
      environment: 'sandbox',
      principal: { kind: 'session', sessionId, userId, role, isSandboxOnly: false },
      origin,
    }
    const at = now()
    if (!isClosed) {
      const erasedAfter = await closeInSystem(tx, { accountId, closedBy: userId, at })
      const after = { erased_after: erasedAfter.toISOString() }
      await recordAudit(tx, by, { action: 'account.closed', subjectId: accountId, after, isScoped: false })
    }
    await markRemoved(tx, { accountId, userId }, at)
    const sessionsEnded = await own.endOfUser(tx, { accountId, userId })
    await endWithUser(tx, { accountId, userId })
    const wanted = { accountId, sentBy: userId, roles: ROLES, email: member.email }
    const invitesRevoked = await revokeInvitesOf(tx, wanted, at)
    await recordAudit(tx, by, {
      action: 'user.deprovisioned',
      subjectId: userId,
      before: { role },
      after: { sessions_ended: sessionsEnded, invites_revoked: invitesRevoked },
      isScoped: false,
    })
  }
}

function refusal(code: FieldErrorCode, detail: string): Failure {
  return new Failure('conflict', { detail, errors: [{ pointer: POINTER, code, detail }] })
}

export function needsSession(): Failure {
  return refusal(
    'session_required',
    'Your address belongs to a user of another account, and an address has one account. Sign in there in this browser, then ' +
      'accept the invite again: the answer says how to leave that account.',
  )
}

function needsFreshSession(): Failure {
  return refusal('session_required', staleSession('An account is closed').message)
}

function needsProof(): Failure {
  return refusal(
    'session_required',
    'The link of your session was shown and not mailed, so it closes no account: sign in with a mailed link, or with one that the ' +
      'operator prints.',
  )
}

function mustLeave(accountId: string): Failure {
  return refusal(
    'leave_first',
    `You are a user of the account ${accountId}, which others own as well or alone. Leave it with DELETE /v1/org/users/me, then accept the invite again.`,
  )
}

function hasOtherUsers(accountId: string): Failure {
  return refusal(
    'other_users',
    `You are the only owner of the account ${accountId}, which has other users. Make one of them an owner, leave with DELETE /v1/org/users/me, then accept the invite again.`,
  )
}

function notEmpty(accountId: string): Failure {
  return refusal(
    'account_not_empty',
    `Your account ${accountId} has keys, claims or other data. Export what you need (POST /v1/account/export), close it (POST /v1/account/closure), then accept the invite again with close_own_account: true.`,
  )
}

function unconfirmed(accountId: string): Failure {
  return refusal(
    'confirmation_required',
    `You own the account ${accountId} alone. Accept the invite again with close_own_account: true to leave it: it is closed, and erased 30 days after its closure.`,
  )
}
