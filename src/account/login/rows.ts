// System role throughout: who signs in is not known before.

import type { Database, Tx } from '#src/platform/db/database.ts'
import { deleteInSteps } from '#src/platform/retention.ts'

export interface LinkRow {
  id: string
  email: string
  method: 'magic_link' | 'operator_link'
  /** Account of the user whom an operator's link signs in. */
  accountId: string | null
  userId: string | null
  nonce: Buffer
  tokenHash: Buffer
  isEchoed: boolean
  createdAt: Date
  expiresAt: Date
}

const LINK = `id, email, method, account_id AS "accountId", user_id AS "userId", nonce, token_hash AS "tokenHash",
  is_echoed AS "isEchoed", created_at AS "createdAt", expires_at AS "expiresAt"`
const IS_OPEN = 'used_at IS NULL AND voided_at IS NULL'

/** Transactions that make or use links of one address run one after the other, so that of its links one signs in. */
export async function lockAddress(tx: Tx, email: string): Promise<void> {
  await tx.query(`SELECT pg_advisory_xact_lock(hashtextextended('login address ' || $1, 0))`, [email])
}

export async function insertLink(tx: Tx, link: LinkRow): Promise<void> {
  await tx.query(
    `INSERT INTO login_links (id, email, method, account_id, user_id, nonce, token_hash, is_echoed, created_at, expires_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
    [
      link.id,
      link.email,
      link.method,
      link.accountId,
      link.userId,
      link.nonce,
      link.tokenHash,
      link.isEchoed,
      link.createdAt,
      link.expiresAt,
    ],
  )
}

/** Voids the open links of an address: all, or those of one method. */
export async function voidLinks(
  tx: Tx,
  { email, method, at }: { email: string; method?: LinkRow['method']; at: Date },
): Promise<void> {
  await tx.query(
    `UPDATE login_links SET voided_at = $2 WHERE email = $1 AND ${IS_OPEN} AND ($3::text IS NULL OR method = $3)`,
    [email, at, method ?? null],
  )
}

/** A link that can still be used. */
export async function findOpenLink(tx: Tx, id: string, at: Date): Promise<LinkRow | undefined> {
  const [row] = await tx.query<LinkRow>(
    `SELECT ${LINK} FROM login_links WHERE id = $1 AND ${IS_OPEN} AND expires_at > $2`,
    [id, at],
  )
  return row
}

export async function findEmailByToken(tx: Tx, tokenHash: Buffer): Promise<string | undefined> {
  const [row] = await tx.query<{ email: string }>(`SELECT email FROM login_links WHERE token_hash = $1`, [tokenHash])
  return row?.email
}

export interface SignInFacts {
  /** Whether a user has the address. */
  isUser: boolean
  /** The end of the user's account, if it is closed. */
  erasedAfter: Date | null
  /** Network addresses from which the user signed in last. */
  addresses: string[]
}

/** What limits on requests must know. One row for every address, so that reading it takes as long. */
export async function findSignInFacts(tx: Tx, email: string): Promise<SignInFacts> {
  const [row] = await tx.query<SignInFacts>(
    `SELECT member.id IS NOT NULL AS "isUser", member.erased_after AS "erasedAfter", ARRAY(
       SELECT s.ip FROM user_sessions s
       WHERE s.account_id = member.account_id AND s.user_id = member.id AND s.ip IS NOT NULL AND NOT s.is_sandbox_only
       ORDER BY s.id DESC LIMIT 20) AS addresses
     FROM (VALUES (1)) AS always LEFT JOIN LATERAL (
       SELECT u.account_id, u.id, a.erased_after FROM users u JOIN accounts a ON a.id = u.account_id
       WHERE u.email = $1 AND u.deprovisioned_at IS NULL) AS member ON true`,
    [email],
  )
  if (row === undefined) throw new Error('a row for every address')
  return row
}

/** Uses up a link. One of two concurrent transactions gets it. */
export async function takeLink(tx: Tx, tokenHash: Buffer, at: Date): Promise<LinkRow | undefined> {
  const [row] = await tx.query<LinkRow>(
    `UPDATE login_links SET used_at = $2 WHERE token_hash = $1 AND ${IS_OPEN} AND expires_at > $2 RETURNING ${LINK}`,
    [tokenHash, at],
  )
  return row
}

/** Deletes links that expired before `before`; returns how many. */
export function purgeLinks(db: Pick<Database, 'system'>, before: Date): Promise<number> {
  return deleteInSteps(db, (tx, limit) =>
    tx.query(
      `DELETE FROM login_links WHERE id = ANY(ARRAY(SELECT id FROM login_links WHERE expires_at < $1 LIMIT $2)) RETURNING 1`,
      [before, limit],
    ),
  )
}
