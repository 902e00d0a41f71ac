// Invites: a mailed token makes the reader of a mailbox a member. The database knows the token's SHA-256; the mail worker
// computes the token again when it sends the mail.

import { recordAudit } from '#src/account/audit/record.ts'
import { findAccount } from '#src/account/keys/rows.ts'
import type { Allowlist } from '#src/account/login/allowlist.ts'
import { type AttemptLimit, createAttempts, tooManyAttempts } from '#src/account/login/attempts.ts'
import type { Login } from '#src/account/login/login.ts'
import type { Letter } from '#src/account/mail/letter.ts'
import { type LetterWriter, sendMail } from '#src/account/mail/send.ts'
import { readActors } from '#src/account/users/actors.ts'
import { findTeamMemberByEmail, lockTeam } from '#src/account/users/team-rows.ts'
import type { Role } from '#src/catalogue/access.ts'
import { Failure, fieldFailure, invalidField } from '#src/failure.ts'
import type { LinkTokens } from '#src/platform/crypto/link-token.ts'
import type { Database, Tx } from '#src/platform/db/database.ts'
import type { ActorView } from '#src/platform/http/actor.ts'
import { type IdempotencyKey, once, refuseRepeat } from '#src/platform/http/idempotency.ts'
import {
  type CountedPage,
  createdBetween,
  inBothEnvironments,
  type ListQuery,
  listPage,
  type Pager,
} from '#src/platform/http/page.ts'
import { type Acting, actorOf } from '#src/platform/http/principal.ts'
import { newAccountId, type Scope } from '#src/platform/ids.ts'
import { normalizeAddress } from '#src/platform/mail-address.ts'
import { quote } from '#src/platform/sanitize.ts'
import { checkGrant, getAuthority, isSenderValid } from './authority.ts'
import {
  countInvites,
  findInvite,
  findPendingInvite,
  type Invite,
  type InviteStatus,
  insertInvite,
  listInvites,
  renewInvite,
  revokeInvite,
  statusOf,
} from './rows.ts'

const INVITE_DAYS = 7
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

const MAILS_OF_ACCOUNT: AttemptLimit = { name: 'invites of account', most: 200, withinMs: HOUR_MS }
const MAILS_OF_ACCOUNT_TO_ADDRESS: AttemptLimit = { name: 'invites to address', most: 5, withinMs: DAY_MS }
// From all accounts together: how many invites strangers can send to one mailbox.
const MAILS_TO_ADDRESS: AttemptLimit = { name: 'invites to mailbox', most: 20, withinMs: DAY_MS }

export interface InviteQuery extends ListQuery {
  /** Invites of any of these. */
  status?: readonly InviteStatus[] | undefined
  role?: readonly Role[] | undefined
}

export interface InvitesDeps {
  db: Pick<Database, 'tenant' | 'system'>
  now: () => Date
  pager: Pager
  linkTokens: LinkTokens
  allowlist: Allowlist
  /** Without a trailing slash. */
  baseUrl: string
  withSlot: Login['withSlot']
}

/** An invite with its status at the time of the answer, and the sender of its newest mail. */
export type ShownInvite = Invite & { status: InviteStatus; sender: ActorView }

export type Invites = ReturnType<typeof createInvites>

export function createInvites({ db, now, pager, linkTokens, allowlist, baseUrl, withSlot }: InvitesDeps) {
  const attempts = createAttempts()

  async function showAll(tx: Tx, invites: readonly Invite[]): Promise<ShownInvite[]> {
    const actor = await readActors(
      tx,
      invites.map(({ invitedBy }) => invitedBy),
    )
    const at = now()
    return invites.map((invite) => ({ ...invite, status: statusOf(invite, at), sender: actor(invite.invitedBy) }))
  }

  async function show(scope: Scope, invite: Invite): Promise<ShownInvite> {
    const actor = await db.tenant(scope, (tx) => readActors(tx, [invite.invitedBy]))
    return { ...invite, status: statusOf(invite, now()), sender: actor(invite.invitedBy) }
  }

  /**
   * @throws {Failure} `invalid_request` at `/email`; `rate_limited`; `beta_access_required`; `role_limit`,
   * `session_required`, `insufficient_role`; `conflict` where the address is a member or has a pending invite.
   */
  async function invite(
    caller: Acting,
    wanted: { email: string; role: Role },
    key: IdempotencyKey | undefined,
  ): Promise<ShownInvite> {
    const email = readAddress(wanted.email)
    allowlist.check(email)
    const { accountId } = caller
    const make = async (tx: Tx) => {
      await lockTeam(tx, accountId)
      const at = now()
      checkGrant(await getAuthority(tx, caller, at), wanted.role)
      await refuseTaken(tx, { accountId, email, at })
      const id = newAccountId('inv')
      const { nonce, tokenHash } = linkTokens.make(id)
      const invitedBy = actorOf(caller.principal).id
      const expiresAt = endOf(at)
      const { role } = wanted
      await insertInvite(tx, { accountId, id, email, role, invitedBy, nonce, tokenHash, createdAt: at, expiresAt })
      await mail(tx, caller, { id, email, sends: 1 })
      await recordAudit(tx, caller, {
        action: 'user.invited',
        subjectId: id,
        after: { role, email_domain: domainOf(email) },
        isScoped: false,
      })
      return getInvite(tx, accountId, id)
    }
    return show(caller, await countedOnce(caller, { email, key, work: make }))
  }

  /** Newest first. */
  async function list(caller: Scope, query: InviteQuery): Promise<CountedPage<ShownInvite>> {
    const { status, role: roles } = query
    const filter = { accountId: caller.accountId, at: now(), status, roles, ...createdBetween(query) }
    const list = { ...inBothEnvironments(caller), route: 'GET /v1/org/invites', query }
    return listPage({ db, pager }, list, {
      rows: (tx, page) => listInvites(tx, filter, page),
      count: (tx) => countInvites(tx, filter),
      show: showAll,
    })
  }

  /** @throws {Failure} `not_found` */
  async function get(caller: Scope, id: string): Promise<ShownInvite> {
    return show(caller, await db.tenant(caller, (tx) => getInvite(tx, caller.accountId, id)))
  }

  /**
   * Mails a pending or expired invite again, with a new token and a new end: the token before no longer works.
   * @throws {Failure} `not_found`, `invalid_state_transition`, `rate_limited`, and what `invite` throws.
   */
  async function resend(caller: Acting, id: string, key: IdempotencyKey | undefined): Promise<ShownInvite> {
    const { accountId } = caller
    const known = await get(caller, id)
    allowlist.check(known.email)
    const renew = async (tx: Tx) => {
      await lockTeam(tx, accountId)
      const found = await getInvite(tx, accountId, id)
      const at = now()
      checkGrant(await getAuthority(tx, caller, at), found.role)
      refuseEnded(statusOf(found, at), ['pending', 'expired'])
      await refuseTaken(tx, { accountId, email: found.email, at, except: id })
      const { nonce, tokenHash } = linkTokens.make(id)
      const invitedBy = actorOf(caller.principal).id
      const expiresAt = endOf(at)
      const next = await renewInvite(tx, { accountId, id, invitedBy, nonce, tokenHash, sentAt: at, expiresAt })
      if (next === undefined) throw new Error('an open invite under the lock of its team is not open')
      await mail(tx, caller, next)
      await recordAudit(tx, caller, { action: 'invite.resent', subjectId: id, isScoped: false })
      return next
    }
    return show(caller, await countedOnce(caller, { email: known.email, key, work: renew }))
  }

  /**
   * An invite that has expired or was revoked stays as it is.
   * @throws {Failure} `not_found`, `invalid_state_transition` for an accepted one.
   */
  async function revoke(caller: Acting, id: string, key: IdempotencyKey | undefined): Promise<ShownInvite> {
    const { accountId } = caller
    const end = async (tx: Tx) => {
      await lockTeam(tx, accountId)
      const at = now()
      await getAuthority(tx, caller, at)
      const status = statusOf(await getInvite(tx, accountId, id), at)
      refuseEnded(status, ['pending', 'expired', 'revoked'])
      if (status === 'pending') {
        await revokeInvite(tx, { accountId, id }, at)
        await recordAudit(tx, caller, { action: 'invite.revoked', subjectId: id, isScoped: false })
      }
      return getInvite(tx, accountId, id)
    }
    return show(caller, await db.tenant(caller, (tx) => once(tx, key, end, () => id)))
  }

  /** Of the mail queue. No letter for an invite that ended, or that was sent again meanwhile. */
  const writeLetter: LetterWriter = async ({ subjectId, scope: { accountId } }) => {
    const [id = '', sends] = subjectId.split('.')
    const found = await db.system('mail invite', async (tx) => {
      const row = await findInvite(tx, accountId, id)
      const account = await findAccount(tx, accountId)
      if (row === undefined || account === undefined || !(await isSenderValid(tx, row, now()))) return undefined
      return { row, accountName: account.name }
    })
    if (found === undefined || statusOf(found.row, now()) !== 'pending' || String(found.row.sends) !== sends) {
      return undefined
    }
    const token = linkTokens.recompute(found.row)
    const { accountName, row } = found
    return token === undefined ? undefined : inviteLetterOf({ baseUrl, token, accountName, role: row.role })
  }

  return { invite, list, get, resend, revoke, writeLetter }

  // Counted before the mail exists, so that concurrent requests can't exceed a limit together, and given back when none was
  // made: what is refused, or repeats an earlier request, uses up no mail.
  async function countedOnce(caller: Scope, { email, key, work }: Mailing): Promise<Invite> {
    if (key !== undefined) await db.tenant(caller, (tx) => refuseRepeat(tx, key))
    const { accountId } = caller
    const counted = [
      { limit: MAILS_OF_ACCOUNT, subject: [accountId] },
      { limit: MAILS_OF_ACCOUNT_TO_ADDRESS, subject: [accountId, email] },
      { limit: MAILS_TO_ADDRESS, subject: [email] },
    ]
    const at = now()
    attempts.check(counted, at)
    // One after the other, together with logins: keys are looked up on the same few connections, and the counts of one account
    // wait for each other's row.
    const inTurn = <R>(count: (tx: Tx) => Promise<R>) => withSlot(accountId, () => db.system('count invite', count))
    const refused = await inTurn((tx) => attempts.count(tx, counted, at))
    if (refused !== undefined) throw tooManyAttempts(refused)
    try {
      return await db.tenant(caller, (tx) => once(tx, key, work, ({ id }) => id))
    } catch (error) {
      // Where even this fails, the attempt counts until its window is over.
      await inTurn((tx) => attempts.giveBack(tx, counted, at)).catch(() => {})
      throw error
    }
  }
}

/** A change that mails an invite. */
interface Mailing {
  email: string
  key: IdempotencyKey | undefined
  work: (tx: Tx) => Promise<Invite>
}

function mail(tx: Tx, { accountId, environment }: Scope, { id, email, sends }: Pick<Invite, 'id' | 'email' | 'sends'>) {
  const subjectId = `${id}.${sends}`
  return sendMail(tx, { kind: 'invite', recipient: email, subjectId, scope: { accountId, environment } })
}

/** @throws {Failure} `conflict` at `/email` */
async function refuseTaken(
  tx: Tx,
  { accountId, email, at, except }: { accountId: string; email: string; at: Date; except?: string },
): Promise<void> {
  const taken = (detail: string) => fieldFailure('conflict', { pointer: '/email', code: 'conflict', detail })
  const member = await findTeamMemberByEmail(tx, accountId, email)
  if (member !== undefined && member.deprovisionedAt === null) throw taken(`is the address of ${member.id}, a member`)
  const pending = await findPendingInvite(tx, { accountId, email, at })
  if (pending !== undefined && pending.id !== except) {
    throw taken(`has the pending invite ${pending.id}: send that one again, or revoke it`)
  }
}

/** @throws {Failure} `invalid_state_transition` */
function refuseEnded(status: InviteStatus, allowed: readonly InviteStatus[]): void {
  if (allowed.includes(status)) return
  throw new Failure('invalid_state_transition', {
    detail: `The invite is ${status}.`,
    members: { allowed, current_status: status },
  })
}

async function getInvite(tx: Tx, accountId: string, id: string): Promise<Invite> {
  const found = await findInvite(tx, accountId, id)
  if (found === undefined) throw new Failure('not_found', 'There is no such invite: GET /v1/org/invites lists them.')
  return found
}

function readAddress(given: string): string {
  const email = normalizeAddress(given)
  if (email !== undefined) return email
  throw invalidField('/email', 'invalid_format', 'must be an e-mail address: ASCII before one @, a domain after it')
}

function domainOf(email: string): string {
  return email.slice(email.indexOf('@') + 1)
}

function endOf(at: Date): Date {
  return new Date(at.getTime() + INVITE_DAYS * DAY_MS)
}

/** The token is in the fragment, which browsers send to no server: no log on the way has it. */
function inviteUrl(baseUrl: string, token: string): string {
  return `${baseUrl}/login/invite#${token}`
}

interface Invitation {
  baseUrl: string
  token: string
  accountName: string
  role: Role
}

function inviteLetterOf({ baseUrl, token, accountName, role }: Invitation): Letter {
  return {
    subject: 'You are invited to Countersign',
    paragraphs: [
      // Chosen by strangers: without line breaks and invisible characters it can't pose as another part of the mail.
      `You are invited to the account "${quote(accountName) ?? ''}" of Countersign at ${baseUrl}, with the role ${role}.`,
    ],
    action: { label: 'Accept the invite', url: inviteUrl(baseUrl, token) },
    notes: [
      `The link works once, for ${INVITE_DAYS} days, and only until the invite is sent again or revoked.`,
      'If you did not expect it, do nothing.',
    ],
  }
}
