// Signing in without a password: links are requested and mailed, and the first that is used voids the others. Whether an
// address has an account does not show before its mailbox is read: a request sends the same statements for every address,
// and the mail queue decides later whether a mail is sent. Using a link answers every reason but the allowlist in one way.

import { recordAudit } from '#src/account/audit/record.ts'
import type { FailedSignIn, RefusalAudit } from '#src/account/audit/refusals.ts'
import { type AccountRow, insertAccount } from '#src/account/keys/rows.ts'
import { type LetterWriter, sendMail } from '#src/account/mail/send.ts'
import type { Sessions, SignedIn } from '#src/account/sessions/sessions.ts'
import { ssoRequired } from '#src/account/sso/problems.ts'
import {
  findMember,
  findMemberByEmail,
  insertOwner,
  type KnownAddress,
  type Member,
  noteSignIn,
} from '#src/account/users/rows.ts'
import { PRODUCTS } from '#src/catalogue/access.ts'
import { Failure, invalidField } from '#src/failure.ts'
import { sha256 } from '#src/platform/crypto/digest.ts'
import type { LinkTokens } from '#src/platform/crypto/link-token.ts'
import type { Database, Tx } from '#src/platform/db/database.ts'
import { isOver } from '#src/platform/http/closed.ts'
import type { Acting, Origin } from '#src/platform/http/principal.ts'
import { isOwnHost } from '#src/platform/http/request-headers.ts'
import { newAccountId } from '#src/platform/ids.ts'
import { normalizeAddress } from '#src/platform/mail-address.ts'
import { type Allowlist, refuseUnlisted } from './allowlist.ts'
import {
  type AttemptRefusal,
  countAttempt,
  createAttempts,
  limitsOfClient,
  siteOf,
  tooManyAttempts,
} from './attempts.ts'
import { letterOf, loginUrl, newLink } from './links.ts'
import { countsOfRequest, endRequests, findShare } from './request-limits.ts'
import { findEmailByToken, findOpenLink, insertLink, type LinkRow, lockAddress, takeLink } from './rows.ts'
import { createStrangerTurns, createTokenDoor } from './token-door.ts'

// Only tokens that don't sign in count: a link that works is accepted, whatever others behind the same address send.
const FAILED_USES = limitsOfClient({ name: 'login use', most: 20, withinMs: 60 * 60_000 })

// All mails share one lane: neither a lane nor its place in the queue tells whether an address has an account.
const LANE = 'login'

// Error codes of refused links.
const CODES = { beta: 'beta_access_required', sso: 'sso_required', invalid: 'invalid_link' } as const
const USE_ROUTE = 'POST /v1/auth/magic-link/verify'
// Longest name of an account, in characters.
const MAX_NAME = 200

interface LoginDeps {
  db: Pick<Database, 'system'>
  now: () => Date
  sessions: Pick<Sessions, 'create' | 'endBySecret'>
  refusals: Pick<RefusalAudit, 'recordSignIn'>
  linkTokens: LinkTokens
  allowlist: Allowlist
  /** Address without a trailing slash. */
  baseUrl: string
  areLinksMailed: boolean
  isEchoed: boolean
  isSignupOpen: boolean
}

/** What the answer to a request shows. */
export interface LinkRequested {
  link?: string
  token?: string
}

export interface UsedLink {
  session: SignedIn
  accountId: string
}

interface UseRequest {
  token: string
  origin: Origin
  /** Secret of the session that the browser has. */
  currentSecret: string | undefined
}

/** unmailed: why no mail is sent, which the answer does not show. isRefused: the allowlist does not have the address. */
type Requested = { limited: AttemptRefusal } | { isRefused: boolean; unmailed: AttemptRefusal | undefined }

type Use =
  | { kind: 'used'; used: UsedLink }
  | { kind: 'limited'; refused: AttemptRefusal }
  | { kind: 'beta'; failed: Refusal | undefined }
  | { kind: 'sso'; failed: Refusal | undefined; domain: string }
  | { kind: 'invalid'; failed?: Refusal | undefined }

/** A user whom the link should have signed in, and why it did not. Addresses without a user are not logged. */
interface Refusal {
  member: Member
  reason: FailedSignIn['reason']
}

export type Login = ReturnType<typeof createLogin>

export function createLogin(deps: LoginDeps) {
  const { db, now, sessions, refusals, linkTokens, allowlist, baseUrl, isSignupOpen } = deps
  const withSlot = createStrangerTurns('Too many people sign in or are invited at this moment. Try again.')
  const attempts = createAttempts()
  const door = createTokenDoor({ find: findEmailByToken, failures: FAILED_USES })
  const ownNames = new Set([new URL(baseUrl).hostname])

  /**
   * Makes a link, mailed later. Beyond some limits it makes none, and answers the same.
   * @param sent host: the request's. Under a name that is not ours no link is shown: a page of that name might read it.
   * browserOf: the id of the browser, where it signed in to an address before.
   * @throws {Failure} `not_found` where links are off; `invalid_request` at `/email`; `rate_limited`;
   * `beta_access_required`.
   */
  async function request(
    given: string,
    origin: Origin,
    { host, browserOf }: { host?: string | undefined; browserOf: (email: string, at: Date) => string | undefined },
  ): Promise<LinkRequested> {
    if (!deps.areLinksMailed) throw new Failure('not_found', 'This deployment has no mailed login links.')
    const email = readAddress(given)
    const at = now()
    const isEchoed = deps.isEchoed && isOwnHost(host, ownNames)
    const isListed = allowlist.isAllowed(email)
    const browser = browserOf(email, at)
    const wanted = { email, ip: origin.ip, browser, isListed, at }
    const made = newLink(linkTokens, { email, at, method: 'magic_link', isEchoed })
    const counted = countsOfRequest(wanted)
    attempts.check(counted, at)
    const write = async (tx: Tx): Promise<Requested> => {
      const limited = await attempts.count(tx, counted, at)
      if (limited !== undefined) return { limited }
      await lockAddress(tx, email)
      const { count, refused } = await findShare(tx, wanted)
      // What gets no mail writes its rows too, and takes them back: otherwise its time would tell.
      await tx.adhoc('SAVEPOINT unmailed')
      const unmailed = (count && (await countAttempt(tx, [count], at))) ?? refused
      await insertLink(tx, made.row)
      await sendMail(tx, { kind: 'login_link', recipient: email, subjectId: made.row.id, lane: LANE })
      const isMailed = isListed && unmailed === undefined
      await tx.adhoc(isMailed ? 'RELEASE SAVEPOINT unmailed' : 'ROLLBACK TO SAVEPOINT unmailed')
      return { isRefused: !isListed && refused === undefined, unmailed }
    }
    const outcome = await withSlot(browser ?? siteOf(origin.ip), () => db.system('request login link', write))
    if ('limited' in outcome) throw tooManyAttempts(outcome.limited)
    if (outcome.isRefused) throw refuseUnlisted()
    if (!isEchoed) return {}
    // A link that is shown must work. Where links are shown, every caller can sign in as any user, so there is nothing
    // to hide.
    if (outcome.unmailed !== undefined) throw tooManyAttempts(outcome.unmailed)
    return { link: loginUrl(baseUrl, made.token), token: made.token }
  }

  /**
   * Signs in with a link, which can't be used again, whatever comes of it. Ends the session that the browser had.
   * @throws {Failure} `rate_limited`, `beta_access_required`, `sso_required`; `invalid_request` at `/token` for a link that is unknown,
   * used, voided or too old, and for a person who may not sign in.
   */
  async function use(token: string, origin: Origin, currentSecret?: string): Promise<UsedLink> {
    const outcome = await withSlot(siteOf(origin.ip), () =>
      onceMoreIfTaken(() => db.system('use login link', (tx) => useIn(tx, { token, origin, currentSecret }))),
    )
    if (outcome.kind === 'used') return outcome.used
    if (outcome.kind === 'limited') throw tooManyAttempts(outcome.refused)
    if (outcome.kind === 'beta') throw refuseUnlisted()
    if (outcome.kind === 'sso') throw ssoRequired(baseUrl, outcome.domain)
    throw invalidField(
      '/token',
      'invalid_link',
      'is not a valid link: this link or another one was used, or it has expired',
    )
  }

  async function useIn(tx: Tx, request: UseRequest): Promise<Use> {
    const at = now()
    const use = await signInBy(tx, request, at)
    if (use.kind === 'used' || use.kind === 'limited') return use
    if (use.kind === 'invalid') {
      const refused = await door.countFailure(tx, request.origin, at)
      if (refused !== undefined) return { kind: 'limited', refused }
    }
    if (use.failed !== undefined) await record(tx, use.failed, use.kind, request.origin)
    return use
  }

  function record(tx: Tx, { member, reason }: Refusal, kind: keyof typeof CODES, origin: Origin): Promise<void> {
    const { accountId, userId } = member
    return refusals.recordSignIn(tx, { accountId, userId, origin, route: USE_ROUTE, code: CODES[kind], reason })
  }

  async function signInBy(tx: Tx, { token, origin, currentSecret }: UseRequest, at: Date): Promise<Use> {
    const email = await door.findRow(tx, token)
    if (email === undefined) return { kind: 'invalid' }
    await lockAddress(tx, email)
    const link = await takeLink(tx, sha256(token), at)
    const refusalOf = (found: Member | undefined, reason: Refusal['reason']): Refusal | undefined =>
      found === undefined || isOver(found.erasedAfter, at) ? undefined : { member: found, reason }
    if (link === undefined) {
      return { kind: 'invalid', failed: refusalOf((await findMemberByEmail(tx, email)).member, 'link_ended') }
    }
    await endRequests(tx, email, at)
    const { member: known, enforcedDomain } = await addressOf(tx, link)
    if (!allowlist.isAllowed(email)) return { kind: 'beta', failed: refusalOf(known, 'address_not_allowed') }
    if (enforcedDomain !== undefined) {
      return { kind: 'sso', domain: enforcedDomain, failed: refusalOf(known, 'sso_required') }
    }
    const member = known ?? (isSignupOpen && link.userId === null ? await createOwner(tx, email) : undefined)
    if (member === undefined || !mayEnter(member, at)) {
      return { kind: 'invalid', failed: refusalOf(known, 'user_removed') }
    }
    const { accountId, userId, role } = member
    if (currentSecret !== undefined) await sessions.endBySecret(tx, currentSecret)
    const { method, isEchoed } = link
    const session = await sessions.create(tx, { accountId, userId, method, isSandboxOnly: isEchoed, origin })
    await noteSignIn(tx, member, at)
    const acting: Acting = {
      accountId,
      environment: 'sandbox',
      principal: { kind: 'session', sessionId: session.id, userId, role, isSandboxOnly: isEchoed },
      origin,
    }
    if (known === undefined) {
      await recordAudit(tx, acting, { action: 'account.created', subjectId: accountId, isScoped: false })
    }
    const after = { method, sandbox_only: isEchoed }
    await recordAudit(tx, acting, { action: 'user.signed_in', subjectId: session.id, after, isScoped: false })
    return { kind: 'used', used: { session, accountId } }
  }

  /** Writes the letter for the mail queue. */
  const writeLetter: LetterWriter = async ({ subjectId, recipient }) => {
    const link = await db.system('mail login link', async (tx) => {
      const at = now()
      const open = await findOpenLink(tx, subjectId, at)
      const { member, enforcedDomain } = await findMemberByEmail(tx, recipient)
      const mayUse = enforcedDomain === undefined && (member === undefined ? isSignupOpen : mayEnter(member, at))
      return open !== undefined && mayUse ? open : undefined
    })
    const token = link === undefined ? undefined : linkTokens.recompute(link)
    return token === undefined ? undefined : letterOf(baseUrl, token)
  }

  return { request, use, writeLetter, withSlot }
}

function readAddress(given: string): string {
  const email = normalizeAddress(given)
  if (email !== undefined) return email
  throw invalidField('/email', 'invalid_format', 'must be an e-mail address: ASCII before one @, a domain after it')
}

function mayEnter({ isRemoved, erasedAfter }: Member, at: Date): boolean {
  return !isRemoved && !isOver(erasedAfter, at)
}

// The operator's own link signs in whatever an organization demands.
async function addressOf(tx: Tx, { email, accountId, userId }: LinkRow): Promise<KnownAddress> {
  if (accountId === null || userId === null) return findMemberByEmail(tx, email)
  return { member: await findMember(tx, accountId, userId), enforcedDomain: undefined }
}

async function createOwner(tx: Tx, email: string): Promise<Member> {
  const account = newAccount(email)
  await insertAccount(tx, account)
  return insertOwner(tx, email, account)
}

function newAccount(email: string): Pick<AccountRow, 'id' | 'name' | 'plan' | 'products' | 'is_public'> {
  const id = newAccountId('acc')
  return { id, name: email.slice(0, MAX_NAME), plan: 'developer', products: [...PRODUCTS], is_public: false }
}

// Two people with one address at the same moment: the second finds what the first made.
async function onceMoreIfTaken<R>(work: () => Promise<R>): Promise<R> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof Error && 'constraint' in error && error.constraint === 'users_active_email_key')) throw error
    return work()
  }
}
