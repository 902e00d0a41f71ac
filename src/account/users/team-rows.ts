// The members of one account. Tenant or system role: each statement names the account.

import type { Role } from '#src/catalogue/access.ts'
import type { Tx } from '#src/platform/db/database.ts'
import { countOf, type TimeRange } from '#src/platform/db/id-ranges.ts'
import { newAccountId } from '#src/platform/ids.ts'

export const MEMBER_STATUSES = ['active', 'deprovisioned'] as const
export type MemberStatus = (typeof MEMBER_STATUSES)[number]

export interface TeamMember {
  id: string
  email: string
  role: Role
  createdAt: Date
  lastLoginAt: Date | null
  deprovisionedAt: Date | null
}

interface MemberKey {
  accountId: string
  userId: string
}

const MEMBER = `id, email, role, created_at AS "createdAt", last_login_at AS "lastLoginAt",
  deprovisioned_at AS "deprovisionedAt"`

/**
 * Transactions that change who is a member, or a member's role, run one after the other: otherwise two of them could each
 * remove one of two owners.
 */
export async function lockTeam(tx: Tx, accountId: string): Promise<void> {
  await tx.query(`SELECT pg_advisory_xact_lock(hashtextextended('team ' || $1, 0))`, [accountId])
}

export async function findTeamMember(tx: Tx, { accountId, userId }: MemberKey): Promise<TeamMember | undefined> {
  const [row] = await tx.query<TeamMember>(`SELECT ${MEMBER} FROM users WHERE account_id = $1 AND id = $2`, [
    accountId,
    userId,
  ])
  return row
}

export async function findTeamMemberByEmail(tx: Tx, accountId: string, email: string): Promise<TeamMember | undefined> {
  const [row] = await tx.query<TeamMember>(`SELECT ${MEMBER} FROM users WHERE account_id = $1 AND email = $2`, [
    accountId,
    email,
  ])
  return row
}

export interface MemberFilter extends TimeRange {
  accountId: string
  status: readonly MemberStatus[] | undefined
  roles: readonly Role[] | undefined
}

const MATCHES = `account_id = $1 AND ($2::boolean[] IS NULL OR (deprovisioned_at IS NOT NULL) = ANY($2))
  AND ($3::text[] IS NULL OR role = ANY($3))
  AND ($4::timestamptz IS NULL OR created_at >= $4) AND ($5::timestamptz IS NULL OR created_at < $5)`

function valuesOf({ accountId, status, roles, from, to }: MemberFilter) {
  const isRemoved = status?.map((one) => one === 'deprovisioned') ?? null
  return [accountId, isRemoved, roles ?? null, from ?? null, to ?? null]
}

/** Newest first, starting below the id `before`. */
export async function listTeamMembers(
  tx: Tx,
  filter: MemberFilter,
  { before, limit }: { before: string | undefined; limit: number },
): Promise<TeamMember[]> {
  return tx.query<TeamMember>(
    `SELECT ${MEMBER} FROM users WHERE ${MATCHES} AND ($6::text IS NULL OR id < $6) ORDER BY id DESC LIMIT $7`,
    [...valuesOf(filter), before ?? null, limit],
  )
}

export async function countTeamMembers(tx: Tx, filter: MemberFilter): Promise<number> {
  const [row] = await tx.query<{ count: number }>(countOf(`users WHERE ${MATCHES}`), valuesOf(filter))
  return row?.count ?? 0
}

/** Under the lock of the team. */
export async function hasOtherOwner(tx: Tx, { accountId, userId }: MemberKey): Promise<boolean> {
  const rows = await tx.query(
    `SELECT 1 FROM users WHERE account_id = $1 AND id <> $2 AND role = 'owner' AND deprovisioned_at IS NULL LIMIT 1`,
    [accountId, userId],
  )
  return rows.length === 1
}

/** Active members beside one. */
export async function countOthers(
  tx: Tx,
  { accountId, userId }: MemberKey,
): Promise<{ users: number; owners: number }> {
  const [row] = await tx.query<{ users: number; owners: number }>(
    `SELECT count(*) AS users, count(*) FILTER (WHERE role = 'owner') AS owners
     FROM users WHERE account_id = $1 AND id <> $2 AND deprovisioned_at IS NULL`,
    [accountId, userId],
  )
  return row ?? { users: 0, owners: 0 }
}

/** @throws a unique violation of `users_active_email_key` when another account has the address as a member. */
export async function insertTeamMember(
  tx: Tx,
  { accountId, email, role, at }: { accountId: string; email: string; role: Role; at: Date },
): Promise<string> {
  const userId = newAccountId('usr')
  await tx.query(`INSERT INTO users (account_id, id, email, role, created_at) VALUES ($1, $2, $3, $4, $5)`, [
    accountId,
    userId,
    email,
    role,
    at,
  ])
  return userId
}

/** Makes a removed member active again. @throws as `insertTeamMember` does. */
export async function reactivateMember(tx: Tx, { accountId, userId }: MemberKey, role: Role): Promise<void> {
  await tx.query(
    `UPDATE users SET deprovisioned_at = NULL, reactivated_at = now(), role = $3 WHERE account_id = $1 AND id = $2`,
    [accountId, userId, role],
  )
}

export async function setRole(tx: Tx, { accountId, userId }: MemberKey, role: Role): Promise<void> {
  await tx.query(`UPDATE users SET role = $3 WHERE account_id = $1 AND id = $2`, [accountId, userId, role])
}

/** Keeps the row, which keeps the address out. */
export async function markRemoved(tx: Tx, { accountId, userId }: MemberKey, at: Date): Promise<void> {
  await tx.query(`UPDATE users SET deprovisioned_at = $3 WHERE account_id = $1 AND id = $2`, [accountId, userId, at])
}
