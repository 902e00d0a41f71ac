import type { Role } from '#src/catalogue/access.ts'
import type { Database, Tx } from '#src/platform/db/database.ts'
import { countOf, type TimeRange } from '#src/platform/db/id-ranges.ts'
import { deleteInSteps } from '#src/platform/retention.ts'

export const INVITE_STATUSES = ['pending', 'accepted', 'revoked', 'expired'] as const
export type InviteStatus = (typeof INVITE_STATUSES)[number]

export interface Invite {
  accountId: string
  id: string
  email: string
  role: Role
  /** The user or the key that sent its newest mail. */
  invitedBy: string
  nonce: Buffer
  tokenHash: Buffer
  /** How many mails were made. */
  sends: number
  createdAt: Date
  sentAt: Date
  expiresAt: Date
  acceptedAt: Date | null
  /** Whom accepting made a member. */
  userId: string | null
  revokedAt: Date | null
}

export type NewInvite = Omit<Invite, 'sends' | 'sentAt' | 'acceptedAt' | 'userId' | 'revokedAt'>

export function statusOf(
  { acceptedAt, revokedAt, expiresAt }: Pick<Invite, 'acceptedAt' | 'revokedAt' | 'expiresAt'>,
  at: Date,
): InviteStatus {
  if (acceptedAt !== null) return 'accepted'
  if (revokedAt !== null) return 'revoked'
  return expiresAt <= at ? 'expired' : 'pending'
}

const INVITE = `account_id AS "accountId", id, email, role, invited_by AS "invitedBy", nonce, token_hash AS "tokenHash",
  sends, created_at AS "createdAt", sent_at AS "sentAt", expires_at AS "expiresAt", accepted_at AS "acceptedAt",
  user_id AS "userId", revoked_at AS "revokedAt"`
const IS_OPEN = 'accepted_at IS NULL AND revoked_at IS NULL'

// Tenant role.

export async function insertInvite(tx: Tx, row: NewInvite): Promise<void> {
  await tx.query(
    `INSERT INTO invites (account_id, id, email, role, invited_by, nonce, token_hash, created_at, sent_at, expires_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $8, $9)`,
    [row.accountId, row.id, row.email, row.role, row.invitedBy, row.nonce, row.tokenHash, row.createdAt, row.expiresAt],
  )
}

/** The invite of an address that can still be accepted. */
export async function findPendingInvite(
  tx: Tx,
  { accountId, email, at }: { accountId: string; email: string; at: Date },
): Promise<Invite | undefined> {
  const [row] = await tx.query<Invite>(
    `SELECT ${INVITE} FROM invites WHERE account_id = $1 AND email = $2 AND ${IS_OPEN} AND expires_at > $3 LIMIT 1`,
    [accountId, email, at],
  )
  return row
}

export interface InviteFilter extends TimeRange {
  accountId: string
  /** The status at this time. */
  at: Date
  status: readonly InviteStatus[] | undefined
  roles: readonly Role[] | undefined
}

const MATCHES = `account_id = $1
  AND ($3::text[] IS NULL OR CASE WHEN accepted_at IS NOT NULL THEN 'accepted' WHEN revoked_at IS NOT NULL THEN 'revoked'
    WHEN expires_at <= $2 THEN 'expired' ELSE 'pending' END = ANY($3))
  AND ($4::text[] IS NULL OR role = ANY($4))
  AND ($5::timestamptz IS NULL OR created_at >= $5) AND ($6::timestamptz IS NULL OR created_at < $6)`

function valuesOf({ accountId, at, status, roles, from, to }: InviteFilter) {
  return [accountId, at, status ?? null, roles ?? null, from ?? null, to ?? null]
}

/** Newest first, starting below the id `before`. */
export async function listInvites(
  tx: Tx,
  filter: InviteFilter,
  { before, limit }: { before: string | undefined; limit: number },
): Promise<Invite[]> {
  return tx.query<Invite>(
    `SELECT ${INVITE} FROM invites WHERE ${MATCHES} AND ($7::text IS NULL OR id < $7) ORDER BY id DESC LIMIT $8`,
    [...valuesOf(filter), before ?? null, limit],
  )
}

export async function countInvites(tx: Tx, filter: InviteFilter): Promise<number> {
  const [row] = await tx.query<{ count: number }>(countOf(`invites WHERE ${MATCHES}`), valuesOf(filter))
  return row?.count ?? 0
}

/** Replaces the token, so that the one before no longer works. The invite ends with the rights of its new sender. */
export async function renewInvite(
  tx: Tx,
  invite: Pick<Invite, 'accountId' | 'id' | 'invitedBy' | 'nonce' | 'tokenHash' | 'sentAt' | 'expiresAt'>,
): Promise<Invite | undefined> {
  const [row] = await tx.query<Invite>(
    `UPDATE invites SET nonce = $3, token_hash = $4, sent_at = $5, expires_at = $6, invited_by = $7, sends = sends + 1
     WHERE account_id = $1 AND id = $2 AND ${IS_OPEN} RETURNING ${INVITE}`,
    [invite.accountId, invite.id, invite.nonce, invite.tokenHash, invite.sentAt, invite.expiresAt, invite.invitedBy],
  )
  return row
}

export async function revokeInvite(tx: Tx, { accountId, id }: Pick<Invite, 'accountId' | 'id'>, at: Date) {
  await tx.query(`UPDATE invites SET revoked_at = $3 WHERE account_id = $1 AND id = $2 AND ${IS_OPEN}`, [
    accountId,
    id,
    at,
  ])
}

// Tenant or system role.

export async function findInvite(tx: Tx, accountId: string, id: string): Promise<Invite | undefined> {
  const [row] = await tx.query<Invite>(`SELECT ${INVITE} FROM invites WHERE account_id = $1 AND id = $2`, [
    accountId,
    id,
  ])
  return row
}

/** Revokes the pending invites that a user sent for some roles, and those to an address; returns their ids. */
export async function revokeInvitesOf(
  tx: Tx,
  { accountId, sentBy, roles, email }: { accountId: string; sentBy: string; roles: readonly Role[]; email?: string },
  at: Date,
): Promise<string[]> {
  const rows = await tx.query<{ id: string }>(
    `UPDATE invites SET revoked_at = $5
     WHERE account_id = $1 AND ((invited_by = $2 AND role = ANY ($3)) OR email = $4) AND ${IS_OPEN} AND expires_at > $5
     RETURNING id`,
    [accountId, sentBy, roles, email ?? null, at],
  )
  return rows.map(({ id }) => id)
}

// System role: the token alone tells the account.

export async function findInviteByToken(tx: Tx, tokenHash: Buffer): Promise<Invite | undefined> {
  const [row] = await tx.query<Invite>(`SELECT ${INVITE} FROM invites WHERE token_hash = $1`, [tokenHash])
  return row
}

/** Uses an invite up. Of two transactions, one gets true. */
export async function takeInvite(tx: Tx, tokenHash: Buffer, userId: string, at: Date): Promise<boolean> {
  const rows = await tx.query(
    `UPDATE invites SET accepted_at = $2, user_id = $3 WHERE token_hash = $1 AND ${IS_OPEN} AND expires_at > $2
     RETURNING 1`,
    [tokenHash, at, userId],
  )
  return rows.length === 1
}

/** Deletes invites that expired, or would have, before `before`; returns how many. They name people. */
export function purgeInvites(db: Pick<Database, 'system'>, before: Date): Promise<number> {
  return deleteInSteps(db, (tx, limit) =>
    tx.query(
      `DELETE FROM invites WHERE (account_id, id) IN
         (SELECT account_id, id FROM invites WHERE expires_at < $1 LIMIT $2) RETURNING 1`,
      [before, limit],
    ),
  )
}
