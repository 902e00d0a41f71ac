// What single sign-on and the directory write of users. Tenant or system role: each statement names the account.

import type { Tx } from '#src/platform/db/database.ts'

interface MemberKey {
  accountId: string
  userId: string
}

/** A member who is linked to a subject of the identity provider, removed or not. */
export interface LinkedMember {
  userId: string
  subject: string
}

export async function findBySubject(tx: Tx, accountId: string, subject: string): Promise<LinkedMember | undefined> {
  const [row] = await tx.query<LinkedMember>(
    `SELECT id AS "userId", sso_subject AS subject FROM users WHERE account_id = $1 AND sso_subject = $2`,
    [accountId, subject],
  )
  return row
}

export async function findSubject(tx: Tx, { accountId, userId }: MemberKey): Promise<string | null> {
  const [row] = await tx.query<{ subject: string | null }>(
    `SELECT sso_subject AS subject FROM users WHERE account_id = $1 AND id = $2`,
    [accountId, userId],
  )
  return row?.subject ?? null
}

export async function linkSubject(tx: Tx, { accountId, userId }: MemberKey, subject: string): Promise<void> {
  await tx.query('UPDATE users SET sso_subject = $3 WHERE account_id = $1 AND id = $2', [accountId, userId, subject])
}

/** The identity provider is another one: links are made again. */
export async function unlinkSubjects(tx: Tx, accountId: string): Promise<void> {
  await tx.query('UPDATE users SET sso_subject = NULL WHERE account_id = $1 AND sso_subject IS NOT NULL', [accountId])
}

export async function listOwnerAddresses(tx: Tx, accountId: string): Promise<string[]> {
  const rows = await tx.query<{ email: string }>(
    `SELECT email FROM users WHERE account_id = $1 AND role = 'owner' AND deprovisioned_at IS NULL ORDER BY id`,
    [accountId],
  )
  return rows.map(({ email }) => email)
}

/** @throws a unique violation of `users_email_key` or `users_active_email_key` when the address is a user's. */
export async function setAddress(tx: Tx, { accountId, userId }: MemberKey, email: string): Promise<void> {
  await tx.query('UPDATE users SET email = $3 WHERE account_id = $1 AND id = $2', [accountId, userId, email])
}
