import type { Plan, Product, Role } from '#src/catalogue/access.ts'
import type { Database, Statement, Tx } from '#src/platform/db/database.ts'
import type { ClosureColumns } from '#src/platform/http/closed.ts'
import type { Origin } from '#src/platform/http/principal.ts'
import { deleteInSteps } from '#src/platform/retention.ts'

/** How the person proved who they are. `operator_link`: the operator's own command printed the link. */
export type SignInMethod = 'magic_link' | 'operator_link' | 'invite' | 'sso'

export interface NewSessionRow {
  accountId: string
  id: string
  userId: string
  secretHash: Buffer
  method: SignInMethod
  isSandboxOnly?: boolean
  origin?: Origin | undefined
  at: Date
  expiresAt: Date
}

/** What a request must know of its session, with its user and account. */
export interface SessionLookupRow extends ClosureColumns {
  hash: Buffer
  id: string
  account_id: string
  user_id: string
  role: Role
  plan: Plan
  products: Product[]
  is_sandbox_only: boolean
  last_seen_at: Date
  expires_at: Date
  ended_at: Date | null
  deprovisioned_at: Date | null
  suspended_at: Date | null
}

export async function insertSession(tx: Tx, row: NewSessionRow): Promise<void> {
  await tx.query(
    `INSERT INTO user_sessions (account_id, id, user_id, secret_hash, method, is_sandbox_only, ip, user_agent, created_at,
       last_seen_at, expires_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $9, $10)`,
    [
      row.accountId,
      row.id,
      row.userId,
      row.secretHash,
      row.method,
      row.isSandboxOnly ?? false,
      row.origin?.ip ?? null,
      row.origin?.userAgent?.replaceAll('\0', '').slice(0, 500) ?? null,
      row.at,
      row.expiresAt,
    ],
  )
}

// System role: only the cookie of a request tells its account.

/** Returns `SessionLookupRow`s. */
export function selectBySecrets(hashes: readonly Buffer[]): Statement {
  return {
    text: `SELECT s.secret_hash AS hash, s.id, s.account_id, s.user_id, u.role, a.plan, a.products, s.is_sandbox_only,
       s.last_seen_at, s.expires_at, s.ended_at, u.deprovisioned_at, a.suspended_at, a.closed_at, a.erased_after
     FROM user_sessions s
     JOIN users u ON u.account_id = s.account_id AND u.id = s.user_id
     JOIN accounts a ON a.id = s.account_id
     WHERE s.secret_hash = ANY ($1::bytea[])`,
    values: [hashes],
  }
}

export async function touchSession(
  tx: Tx,
  session: Pick<SessionLookupRow, 'account_id' | 'id'>,
  at: Date,
): Promise<void> {
  await tx.query(
    `UPDATE user_sessions SET last_seen_at = $3
     WHERE account_id = $1 AND id = $2 AND ended_at IS NULL AND last_seen_at <= $3::timestamptz - interval '1 minute'`,
    [session.account_id, session.id, at],
  )
}

/** Ends the session that a browser had before it signs in anew. */
export async function endBySecret(tx: Tx, hash: Buffer, at: Date): Promise<void> {
  await tx.query(`UPDATE user_sessions SET ended_at = $2 WHERE secret_hash = $1 AND ended_at IS NULL`, [hash, at])
}

/** Deletes sessions whose absolute end is before `before`; returns how many. */
export function purgeSessions(db: Pick<Database, 'system'>, before: Date): Promise<number> {
  return deleteInSteps(db, (tx, limit) =>
    tx.query(
      `DELETE FROM user_sessions WHERE (account_id, id) IN
         (SELECT account_id, id FROM user_sessions WHERE expires_at < $1 LIMIT $2) RETURNING 1`,
      [before, limit],
    ),
  )
}
