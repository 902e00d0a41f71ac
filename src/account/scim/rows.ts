// The users of an account as its directory sees them. Tenant role: each statement names the account.

import type { Role } from '#src/catalogue/access.ts'
import type { Tx } from '#src/platform/db/database.ts'
import type { UserCondition } from './filter.ts'
import type { ScimEmail, ScimName } from './resource.ts'

export interface DirectoryUser {
  id: string
  email: string
  role: Role
  createdAt: Date
  deprovisionedAt: Date | null
  reactivatedAt: Date | null
  /** The directory has written what follows. Otherwise it is empty. */
  isWritten: boolean
  externalId: string | null
  name: ScimName | null
  displayName: string | null
  emails: ScimEmail[] | null
  changedAt: Date | null
  isDeleted: boolean
}

const USER = `u.id, u.email, u.role, u.created_at AS "createdAt", u.deprovisioned_at AS "deprovisionedAt",
  u.reactivated_at AS "reactivatedAt", d.user_id IS NOT NULL AS "isWritten", d.external_id AS "externalId", d.name,
  d.display_name AS "displayName", d.emails, d.changed_at AS "changedAt", d.deleted_at IS NOT NULL AS "isDeleted"`
const FROM = `users u LEFT JOIN directory_users d ON d.account_id = u.account_id AND d.user_id = u.id`

/** The domain whose users the directory keeps; undefined while none is verified. */
export async function findOwnDomain(tx: Tx, accountId: string): Promise<string | undefined> {
  const [row] = await tx.query<{ domain: string }>(
    'SELECT domain FROM sso_configs WHERE account_id = $1 AND verified_at IS NOT NULL',
    [accountId],
  )
  return row?.domain
}

export async function findDirectoryUser(tx: Tx, accountId: string, id: string): Promise<DirectoryUser | undefined> {
  const [row] = await tx.query<DirectoryUser>(`SELECT ${USER} FROM ${FROM} WHERE u.account_id = $1 AND u.id = $2`, [
    accountId,
    id,
  ])
  return row
}

export async function findByAddress(tx: Tx, accountId: string, email: string): Promise<DirectoryUser | undefined> {
  const [row] = await tx.query<DirectoryUser>(`SELECT ${USER} FROM ${FROM} WHERE u.account_id = $1 AND u.email = $2`, [
    accountId,
    email,
  ])
  return row
}

export interface UserPage {
  accountId: string
  domain: string
  conditions: readonly UserCondition[]
  /** From 0. */
  offset: number
  limit: number
}

// Users without a word of the directory have their address as the one of work.
const WORK_EMAIL = 'CASE WHEN d.user_id IS NULL THEN u.email ELSE d.work_email END'

/** In the order of their making, which pages keep. */
export async function listDirectoryUsers(
  tx: Tx,
  { accountId, domain, conditions, offset, limit }: UserPage,
): Promise<{ total: number; users: DirectoryUser[] }> {
  const values: unknown[] = [accountId, domain]
  const where = conditions.map((condition) => conditionOf(condition, values))
  const matching = [`u.account_id = $1`, `split_part(u.email, '@', 2) = $2`, 'd.deleted_at IS NULL', ...where].join(
    ' AND ',
  )
  const [count] = await tx.adhoc<{ total: number }>(
    `SELECT count(*)::int AS total FROM ${FROM} WHERE ${matching}`,
    values,
  )
  const total = count?.total ?? 0
  if (limit === 0 || offset >= total) return { total, users: [] }
  const users = await tx.adhoc<DirectoryUser>(
    `SELECT ${USER} FROM ${FROM} WHERE ${matching} ORDER BY u.id
     LIMIT $${values.push(limit)} OFFSET $${values.push(offset)}`,
    values,
  )
  return { total, users }
}

function conditionOf(condition: UserCondition, values: unknown[]): string {
  const { attribute, value } = condition
  if (attribute === 'active') return `(u.deprovisioned_at IS NULL) = $${values.push(value)}`
  const isExact = attribute === 'id' || attribute === 'externalId'
  const place = `$${values.push(isExact ? value : value.toLowerCase())}`
  const column = { id: 'u.id', userName: 'u.email', externalId: 'd.external_id', workEmail: WORK_EMAIL }[attribute]
  return `${column} = ${place}`
}

export interface DirectoryEntry {
  accountId: string
  userId: string
  externalId: string | null
  name: ScimName | null
  displayName: string | null
  emails: ScimEmail[] | null
  workEmail: string | null
  at: Date
}

/** What the directory says of a user. A deleted one is not deleted any more. */
export async function putDirectoryRow(tx: Tx, row: DirectoryEntry): Promise<void> {
  await tx.query(
    `INSERT INTO directory_users (account_id, user_id, external_id, name, display_name, emails, work_email, changed_at)
     VALUES ($1, $2, $3, $4::jsonb, $5, $6::jsonb, $7, $8)
     ON CONFLICT (account_id, user_id) DO UPDATE SET external_id = $3, name = $4::jsonb, display_name = $5,
       emails = $6::jsonb, work_email = $7, changed_at = $8, deleted_at = NULL`,
    [
      row.accountId,
      row.userId,
      row.externalId,
      row.name === null ? null : JSON.stringify(row.name),
      row.displayName,
      row.emails === null ? null : JSON.stringify(row.emails),
      row.workEmail,
      row.at,
    ],
  )
}

export async function markDeleted(tx: Tx, { accountId, userId }: { accountId: string; userId: string }, at: Date) {
  await tx.query(
    `INSERT INTO directory_users (account_id, user_id, changed_at, deleted_at) VALUES ($1, $2, $3, $3)
     ON CONFLICT (account_id, user_id) DO UPDATE SET changed_at = $3, deleted_at = $3`,
    [accountId, userId, at],
  )
}

/** Voids the login links of an address. */
export async function voidLinksOf(tx: Tx, email: string, at: Date): Promise<void> {
  await tx.query('SELECT void_login_links($1, $2)', [email, at])
}
