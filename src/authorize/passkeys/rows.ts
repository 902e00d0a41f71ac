// The passkeys of users, and the registrations that their sessions have begun. Of the account: each statement of a user's own
// names the user.

import type { Statement, Tx } from '#src/platform/db/database.ts'
import { countOf, type TimeRange } from '#src/platform/db/id-ranges.ts'
import { newAccountId } from '#src/platform/ids.ts'
import type { PasskeyAlgorithm } from './authenticator-data.ts'
import type { Registered } from './ceremony.ts'

export interface PasskeyRow extends Registered {
  id: string
  userId: string
  name: string
  algorithm: PasskeyAlgorithm
  createdAt: Date
  lastUsedAt: Date | null
}

export interface PasskeyOwner {
  accountId: string
  userId: string
}

const PASSKEY = `p.id, p.user_id AS "userId", p.name, p.credential_id AS "credentialId", p.public_key AS "publicKey",
  p.algorithm, p.counter, p.aaguid, p.transports, p.is_backup_eligible AS "isBackupEligible",
  p.is_backed_up AS "isBackedUp", p.created_at AS "createdAt", p.last_used_at AS "lastUsedAt"`

/** Oldest first. */
export async function findPasskeysOf(tx: Tx, { accountId, userId }: PasskeyOwner): Promise<PasskeyRow[]> {
  return tx.query<PasskeyRow>(
    `SELECT ${PASSKEY} FROM passkeys p WHERE p.user_id = $2 AND p.account_id = $1 ORDER BY p.id`,
    [accountId, userId],
  )
}

export interface PasskeyFilter extends TimeRange {}

const MATCHES = `p.user_id = $2 AND p.account_id = $1
  AND ($3::timestamptz IS NULL OR p.created_at >= $3) AND ($4::timestamptz IS NULL OR p.created_at < $4)`

/** Newest first, starting below the id `before`. */
export async function listPasskeys(
  tx: Tx,
  { accountId, userId }: PasskeyOwner,
  { from, to }: PasskeyFilter,
  { before, limit }: { before: string | undefined; limit: number },
): Promise<PasskeyRow[]> {
  return tx.query<PasskeyRow>(
    `SELECT ${PASSKEY} FROM passkeys p WHERE ${MATCHES} AND ($5::text IS NULL OR p.id < $5) ORDER BY p.id DESC LIMIT $6`,
    [accountId, userId, from ?? null, to ?? null, before ?? null, limit],
  )
}

export async function countPasskeys(
  tx: Tx,
  { accountId, userId }: PasskeyOwner,
  { from, to }: PasskeyFilter,
): Promise<number> {
  const [row] = await tx.query<{ count: number }>(countOf(`passkeys p WHERE ${MATCHES}`), [
    accountId,
    userId,
    from ?? null,
    to ?? null,
  ])
  return row?.count ?? 0
}

export async function findPasskey(
  tx: Tx,
  { accountId, userId }: PasskeyOwner,
  id: string,
): Promise<PasskeyRow | undefined> {
  const [row] = await tx.query<PasskeyRow>(
    `SELECT ${PASSKEY} FROM passkeys p WHERE p.account_id = $1 AND p.id = $3 AND p.user_id = $2`,
    [accountId, userId, id],
  )
  return row
}

/** Of an active user, for `readTenant`: one row, or none. */
export function selectByCredential(accountId: string, credentialId: Buffer): Statement {
  return {
    text: `SELECT ${PASSKEY} FROM passkeys p JOIN users u ON u.account_id = p.account_id AND u.id = p.user_id
      WHERE p.credential_id = $2 AND p.account_id = $1 AND u.deprovisioned_at IS NULL`,
    values: [accountId, credentialId],
  }
}

/** Returns its id, or undefined where the account has the credential already. */
export async function insertPasskey(
  tx: Tx,
  { accountId, userId }: PasskeyOwner,
  row: Registered & { name: string; at: Date },
): Promise<string | undefined> {
  const id = newAccountId('psk', row.at.getTime())
  const inserted = await tx.query(
    `INSERT INTO passkeys (account_id, id, user_id, name, credential_id, public_key, algorithm, counter, aaguid, transports,
       is_backup_eligible, is_backed_up, created_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
     ON CONFLICT ON CONSTRAINT passkeys_credential_key DO NOTHING RETURNING 1`,
    [
      accountId,
      id,
      userId,
      row.name,
      row.credentialId,
      row.publicKey,
      row.algorithm,
      row.counter,
      row.aaguid,
      row.transports,
      row.isBackupEligible,
      row.isBackedUp,
      row.at,
    ],
  )
  return inserted.length === 1 ? id : undefined
}

export async function renamePasskey(
  tx: Tx,
  { accountId, userId }: PasskeyOwner,
  { id, name }: { id: string; name: string },
): Promise<void> {
  await tx.query('UPDATE passkeys SET name = $4 WHERE account_id = $1 AND user_id = $2 AND id = $3', [
    accountId,
    userId,
    id,
    name,
  ])
}

/** Waits for the transactions that use it. False when it is gone already. */
export async function deletePasskey(tx: Tx, { accountId, userId }: PasskeyOwner, id: string): Promise<boolean> {
  const gone = await tx.query('DELETE FROM passkeys WHERE account_id = $1 AND user_id = $2 AND id = $3 RETURNING id', [
    accountId,
    userId,
    id,
  ])
  return gone.length === 1
}

/** Tenant or system role. Returns how many. */
export async function deletePasskeysOf(tx: Tx, { accountId, userId }: PasskeyOwner): Promise<number> {
  const gone = await tx.query('DELETE FROM passkeys WHERE user_id = $2 AND account_id = $1 RETURNING id', [
    accountId,
    userId,
  ])
  return gone.length
}

/**
 * Notes a use. False where the passkey was removed meanwhile, or another use had the same counter or a higher one: the
 * condition is evaluated again after another transaction's use or removal has committed. It compares with the new counter
 * and not with the one that was read: two uses may commit in either order of their checks.
 */
export async function notePasskeyUse(
  tx: Tx,
  { accountId, userId }: PasskeyOwner,
  { id, counter, isBackedUp }: { id: string; counter: number; isBackedUp: boolean },
): Promise<boolean> {
  const used = await tx.query(
    `UPDATE passkeys SET counter = $4, is_backed_up = $5, last_used_at = clock_timestamp()
     WHERE account_id = $1 AND id = $3 AND user_id = $2 AND (counter < $4 OR (counter = 0 AND $4 = 0)) RETURNING 1`,
    [accountId, userId, id, counter, isBackedUp],
  )
  return used.length === 1
}

interface PendingRegistration {
  challenge: Buffer
  expiresAt: Date
}

/** In place of one that the session began before. */
export async function putRegistration(
  tx: Tx,
  { accountId, sessionId }: { accountId: string; sessionId: string },
  { challenge, expiresAt }: PendingRegistration,
): Promise<void> {
  await tx.query(
    `INSERT INTO passkey_registrations (account_id, session_id, challenge, expires_at) VALUES ($1, $2, $3, $4)
     ON CONFLICT ON CONSTRAINT passkey_registrations_pkey
     DO UPDATE SET challenge = EXCLUDED.challenge, expires_at = EXCLUDED.expires_at`,
    [accountId, sessionId, challenge, expiresAt],
  )
}

/** For `readTenant`: one `PendingRegistration`, or none. */
export function selectRegistration({ accountId, sessionId }: { accountId: string; sessionId: string }): Statement {
  return {
    text: `SELECT challenge, expires_at AS "expiresAt" FROM passkey_registrations WHERE account_id = $1 AND session_id = $2`,
    values: [accountId, sessionId],
  }
}

/** False where another request has ended or replaced it. */
export async function takeRegistration(
  tx: Tx,
  { accountId, sessionId }: { accountId: string; sessionId: string },
  challenge: Buffer,
): Promise<boolean> {
  const taken = await tx.query(
    'DELETE FROM passkey_registrations WHERE account_id = $1 AND session_id = $2 AND challenge = $3 RETURNING 1',
    [accountId, sessionId, challenge],
  )
  return taken.length === 1
}
