// What ends with a key, for users, keys and operators alike. A key that has leaked may have invited people and created
// keys: its pending invites are revoked with it, and the keys are named, because programs may depend on them.

import type { Unattended } from '#src/account/audit/record.ts'
import { revokeInvitesOf } from '#src/account/team/rows.ts'
import { lockTeam } from '#src/account/users/team-rows.ts'
import { ROLES } from '#src/catalogue/access.ts'
import type { Tx } from '#src/platform/db/database.ts'
import type { Acting } from '#src/platform/http/principal.ts'
import type { Scope } from '#src/platform/ids.ts'
import { selectKeysMadeBy } from './administration-rows.ts'
import { auditRevoked } from './audit.ts'
import { type Key, toKey } from './key.ts'
import { type KeyListRow, lockKeys, revokeKey } from './rows.ts'

export interface RevokedKey extends Key {
  /** Pending invites that it sent. */
  invitesRevoked: string[]
  /** Keys that it created, or that such keys created, and that still work. */
  keysCreated: string[]
}

/**
 * First in the transaction of a revocation. The lock of the team too: an invite that was authenticated before the revocation
 * is committed before it, and revoked, or reads the revoked key.
 */
export async function lockForRevocation(tx: Tx, scope: Scope): Promise<void> {
  await lockTeam(tx, scope.accountId)
  await lockKeys(tx, scope)
}

/**
 * Ends a key, with its audit entry; the caller holds the locks of `lockForRevocation`. A key that was revoked before
 * stays as it is.
 */
export async function endKey(tx: Tx, by: Acting | Unattended, found: KeyListRow, at: Date): Promise<RevokedKey> {
  const { accountId } = by
  const { id } = found
  const row = await revokeKey(tx, id, at)
  if (row === undefined) throw new Error('a key under the lock of its environment is gone')
  const invitesRevoked = await revokeInvitesOf(tx, { accountId, sentBy: id, roles: ROLES }, at)
  // A key creates keys of its own environment only, so this transaction sees them all.
  const { text, values } = selectKeysMadeBy({ accountId, creatorId: id }, at)
  const made = await tx.query<{ id: string }>(text, values)
  const revoked = { ...toKey(row, at), invitesRevoked, keysCreated: made.map((key) => key.id) }
  await auditRevoked(tx, by, toKey(found, at), revoked)
  return revoked
}
