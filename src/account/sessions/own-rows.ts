// Tenant role, or the system role where an act on the whole account ends sessions: each statement names the account.

import type { Plan, Product, Role } from '#src/catalogue/access.ts'
import type { Tx } from '#src/platform/db/database.ts'
import { countOf, type TimeRange } from '#src/platform/db/id-ranges.ts'
import type { SignInMethod } from './rows.ts'

export interface OwnSessionRow {
  id: string
  method: SignInMethod
  isSandboxOnly: boolean
  ip: string | null
  userAgent: string | null
  createdAt: Date
  lastSeenAt: Date
  expiresAt: Date
}

/** A session with its user and account. */
export interface SessionFacts extends OwnSessionRow {
  userId: string
  email: string
  role: Role
  accountId: string
  accountName: string
  plan: Plan
  products: Product[]
  isClosed: boolean
}

const SESSION = `s.id, s.method, s.is_sandbox_only AS "isSandboxOnly", s.ip, s.user_agent AS "userAgent",
  s.created_at AS "createdAt", s.last_seen_at AS "lastSeenAt", s.expires_at AS "expiresAt"`

export async function findSessionFacts(
  tx: Tx,
  accountId: string,
  sessionId: string,
): Promise<SessionFacts | undefined> {
  const [row] = await tx.query<SessionFacts>(
    `SELECT ${SESSION}, u.id AS "userId", u.email, u.role, a.id AS "accountId", a.name AS "accountName", a.plan, a.products,
       a.closed_at IS NOT NULL AS "isClosed"
     FROM user_sessions s
     JOIN users u ON u.account_id = s.account_id AND u.id = s.user_id
     JOIN accounts a ON a.id = s.account_id
     WHERE s.account_id = $1 AND s.id = $2`,
    [accountId, sessionId],
  )
  return row
}

export interface OwnAccount {
  accountId: string
  name: string
  plan: Plan
  products: Product[]
}

/** The account of the transaction. */
export async function findOwnAccount(tx: Tx): Promise<OwnAccount> {
  const [row] = await tx.query<OwnAccount>('SELECT id AS "accountId", name, plan, products FROM accounts')
  if (row === undefined) throw new Error('the account of a request is not there')
  return row
}

interface Whose {
  accountId: string
  userId: string
}

export interface SignedInUser {
  email: string
  /** When the session began. */
  startedAt: Date
}

const SIGNED_IN = `SELECT u.email, s.created_at AS "startedAt"
  FROM users u JOIN user_sessions s ON s.account_id = u.account_id AND s.user_id = u.id
  WHERE u.account_id = $1 AND u.id = $2 AND s.id = $3 AND u.deprovisioned_at IS NULL AND s.ended_at IS NULL`

/** undefined: the session has ended, or its user was removed. */
export async function findSignedIn(
  tx: Tx,
  { accountId, userId }: Whose,
  sessionId: string,
): Promise<SignedInUser | undefined> {
  const [row] = await tx.query<SignedInUser>(SIGNED_IN, [accountId, userId, sessionId])
  return row
}

/** The same, and neither the user nor what the user has changes until the end of the transaction. */
export async function lockSignedIn(
  tx: Tx,
  { accountId, userId }: Whose,
  sessionId: string,
): Promise<SignedInUser | undefined> {
  // A member who is removed is updated. So are two registrations of one user one after the other, for their number.
  const [row] = await tx.query<SignedInUser>(`${SIGNED_IN} FOR NO KEY UPDATE OF u`, [accountId, userId, sessionId])
  return row
}

export interface OpenFilter extends TimeRange {
  at: Date
  seenAfter: Date
}

const IS_OPEN = `s.account_id = $1 AND s.user_id = $2 AND s.ended_at IS NULL AND s.expires_at > $3 AND s.last_seen_at > $4
  AND ($5::timestamptz IS NULL OR s.created_at >= $5) AND ($6::timestamptz IS NULL OR s.created_at < $6)`

function openValues({ accountId, userId }: Whose, { at, seenAfter, from, to }: OpenFilter) {
  return [accountId, userId, at, seenAfter, from ?? null, to ?? null]
}

/** Sessions that have not ended, newest first, starting below the id `before`. */
export async function listOpen(
  tx: Tx,
  user: Whose,
  filter: OpenFilter,
  { before, limit }: { before: string | undefined; limit: number },
): Promise<OwnSessionRow[]> {
  return tx.query<OwnSessionRow>(
    `SELECT ${SESSION} FROM user_sessions s WHERE ${IS_OPEN} AND ($7::text IS NULL OR s.id < $7)
     ORDER BY s.id DESC LIMIT $8`,
    [...openValues(user, filter), before ?? null, limit],
  )
}

export async function countOpen(tx: Tx, user: Whose, filter: OpenFilter): Promise<number> {
  const [row] = await tx.query<{ count: number }>(countOf(`user_sessions s WHERE ${IS_OPEN}`), openValues(user, filter))
  return row?.count ?? 0
}

/** Ends one session. wasOpen: this has ended it. undefined: the user has none with this id. */
export async function endOne(
  tx: Tx,
  { accountId, userId }: Whose,
  id: string,
  { at, seenAfter }: Pick<OpenFilter, 'at' | 'seenAfter'>,
): Promise<{ wasOpen: boolean } | undefined> {
  const [row] = await tx.query<{ wasOpen: boolean }>(
    `WITH found AS (
       SELECT id, ended_at IS NULL AND expires_at > $4 AND last_seen_at > $5 AS was_open FROM user_sessions
       WHERE account_id = $1 AND user_id = $2 AND id = $3 FOR NO KEY UPDATE
     ), ended AS (
       UPDATE user_sessions SET ended_at = coalesce(ended_at, $4) WHERE account_id = $1 AND id = (SELECT id FROM found)
     )
     SELECT was_open AS "wasOpen" FROM found`,
    [accountId, userId, id, at, seenAfter],
  )
  return row
}

/** Ends the sessions of a user, all but `except`; returns how many were open. */
export async function endAll(
  tx: Tx,
  { accountId, userId }: Whose,
  { at, seenAfter }: Pick<OpenFilter, 'at' | 'seenAfter'>,
  except?: string,
): Promise<number> {
  const rows = await tx.query<{ wasOpen: boolean }>(
    `UPDATE user_sessions SET ended_at = $3
     WHERE account_id = $1 AND user_id = $2 AND ended_at IS NULL AND expires_at > $3 AND ($4::text IS NULL OR id <> $4)
     RETURNING last_seen_at > $5 AS "wasOpen"`,
    [accountId, userId, at, except ?? null, seenAfter],
  )
  return rows.filter(({ wasOpen }) => wasOpen).length
}

/** Tenant role. Returns the absolute end, or undefined where the session has ended. */
export async function replaceSessionSecret(
  tx: Tx,
  { accountId, sessionId, secretHash }: { accountId: string; sessionId: string; secretHash: Buffer },
): Promise<Date | undefined> {
  const [row] = await tx.query<{ expiresAt: Date }>(
    `UPDATE user_sessions SET secret_hash = $3 WHERE account_id = $1 AND id = $2 AND ended_at IS NULL
     RETURNING expires_at AS "expiresAt"`,
    [accountId, sessionId, secretHash],
  )
  return row?.expiresAt
}
