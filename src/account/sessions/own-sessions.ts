// What users see and do of their own sessions, and what ends or renews the sessions of a user from elsewhere.

import { randomBytes } from 'node:crypto'
import { recordAudit } from '#src/account/audit/record.ts'
import { Failure } from '#src/failure.ts'
import { sha256 } from '#src/platform/crypto/digest.ts'
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
import {
  countOpen,
  endAll,
  endOne,
  findOwnAccount,
  findSessionFacts,
  findSignedIn,
  listOpen,
  type OwnSessionRow,
  replaceSessionSecret,
  type SessionFacts,
  type SignedInUser,
} from './own-rows.ts'
import { IDLE_MS, type SignedIn } from './sessions.ts'

// What outlives a session, or ends the account, must not be done with one that was left open.
const FRESH_MINUTES = 10

interface OwnSessionsDeps {
  db: Pick<Database, 'tenant'>
  pager: Pager
  now: () => Date
}

export type OwnSessions = ReturnType<typeof createOwnSessions>

export function createOwnSessions({ db, pager, now }: OwnSessionsDeps) {
  /** @throws {Failure} `session_expired` when its user was erased meanwhile. */
  async function describe(scope: Scope, sessionId: string): Promise<SessionFacts> {
    const facts = await db.tenant(scope, (tx) => findSessionFacts(tx, scope.accountId, sessionId))
    if (facts === undefined) throw new Failure('session_expired', 'This session has ended: sign in again.')
    return facts
  }

  /** The account that a credential opens, and its session if it is one. @throws {Failure} `session_expired` */
  async function describeCredential({ principal, ...scope }: Acting) {
    return db.tenant(scope, async (tx) => {
      if (principal.kind === 'key') return { account: await findOwnAccount(tx), session: undefined }
      const session = await findSessionFacts(tx, scope.accountId, principal.sessionId)
      if (session === undefined) throw new Failure('session_expired', 'This session has ended: sign in again.')
      const { accountId, accountName: name, plan, products } = session
      return { account: { accountId, name, plan, products }, session }
    })
  }

  /** Those that have not ended, newest first. */
  async function list(caller: Acting, query: ListQuery): Promise<CountedPage<OwnSessionRow & { isCurrent: boolean }>> {
    const { userId, sessionId } = sessionOf(caller)
    const user = { accountId: caller.accountId, userId }
    const filter = { ...openAt(), ...createdBetween(query) }
    const list = { ...inBothEnvironments(caller), route: 'GET /v1/auth/sessions', query: { ...query, userId } }
    return listPage({ db, pager }, list, {
      rows: (tx, page) => listOpen(tx, user, filter, page),
      count: (tx) => countOpen(tx, user, filter),
      show: async (_tx, rows) => rows.map((row) => ({ ...row, isCurrent: row.id === sessionId })),
    })
  }

  /**
   * Ends one session of the caller.
   * @throws {Failure} `not_found`
   */
  async function end(caller: Acting, id: string, key: IdempotencyKey | undefined): Promise<void> {
    const { userId } = sessionOf(caller)
    const end = async (tx: Tx) => {
      const ended = await endOne(tx, { accountId: caller.accountId, userId }, id, openAt())
      if (ended === undefined) {
        throw new Failure('not_found', 'You have no such session: GET /v1/auth/sessions lists them.')
      }
      if (!ended.wasOpen) return
      await recordAudit(tx, caller, { action: 'user.signed_out', subjectId: id, isScoped: false })
    }
    await db.tenant(caller, (tx) => once(tx, key, end, () => id))
  }

  /** Ends all sessions of the caller, this one too; returns how many. */
  async function endEvery(caller: Acting, key: IdempotencyKey | undefined): Promise<number> {
    const { userId } = sessionOf(caller)
    const end = async (tx: Tx) => {
      const sessions = await endAll(tx, { accountId: caller.accountId, userId }, openAt())
      await recordAudit(tx, caller, {
        action: 'user.signed_out',
        subjectId: userId,
        after: { sessions },
        isScoped: false,
      })
      return sessions
    }
    return db.tenant(caller, (tx) => once(tx, key, end, () => userId))
  }

  /**
   * Ends all sessions of a user, in the transaction that removes the user or changes the role: a secret from before does not
   * get the new role. Returns how many.
   * @param except A session that goes on with another secret.
   */
  async function endOfUser(tx: Tx, user: { accountId: string; userId: string }, except?: string): Promise<number> {
    return endAll(tx, user, openAt(), except)
  }

  /**
   * Gives a session another secret, when its own user's privileges change in a request of that session: the one before
   * ends at once. In a tenant transaction.
   * @throws {Failure} `session_expired`
   */
  async function rotate(tx: Tx, { accountId, sessionId }: { accountId: string; sessionId: string }): Promise<SignedIn> {
    const secret = randomBytes(32).toString('base64url')
    const expiresAt = await replaceSessionSecret(tx, { accountId, sessionId, secretHash: sha256(secret) })
    if (expiresAt === undefined) throw new Failure('session_expired', 'This session has ended: sign in again.')
    const maxAgeSeconds = Math.max(0, Math.floor((expiresAt.getTime() - now().getTime()) / 1_000))
    return { id: sessionId, secret, expiresAt, maxAgeSeconds }
  }

  return { describe, describeCredential, list, end, endEvery, endOfUser, rotate }

  /** By what a session is open now. */
  function openAt(): { at: Date; seenAfter: Date } {
    const at = now()
    return { at, seenAfter: new Date(at.getTime() - IDLE_MS) }
  }
}

/** Of a route that takes sessions only. */
export function sessionOf({ principal }: Pick<Acting, 'principal'>) {
  if (principal.kind !== 'session') throw new Error('this route takes sessions only')
  return principal
}

/** Until when a session that began then is fresh. */
export function freshUntil(startedAt: Date): Date {
  return new Date(startedAt.getTime() + FRESH_MINUTES * 60_000)
}

/**
 * Refuses a session that has not just begun.
 * @param what The act in the passive, such as `A passkey is registered`.
 * @throws {Failure} `session_expired`, `session_required`
 */
export function checkFresh(
  signedIn: SignedInUser | undefined,
  at: Date,
  what: string,
): SignedInUser & { freshUntil: Date } {
  if (signedIn === undefined) throw new Failure('session_expired', 'This session has ended: sign in again.')
  const until = freshUntil(signedIn.startedAt)
  if (until <= at) throw staleSession(what)
  return { ...signedIn, freshUntil: until }
}

export function staleSession(what: string): Failure {
  return new Failure('session_required', `${what} within ${FRESH_MINUTES} minutes of signing in: sign in again.`)
}

/** The same for the session of the caller. @throws {Failure} `session_expired`, `session_required` */
export async function checkFreshSession(tx: Tx, caller: Acting, at: Date, what: string): Promise<void> {
  const { userId, sessionId } = sessionOf(caller)
  checkFresh(await findSignedIn(tx, { accountId: caller.accountId, userId }, sessionId), at, what)
}
