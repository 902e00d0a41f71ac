// What the audit log says of keys. `prefix` and `last4` are what every list shows.

import { recordAudit, type Unattended } from '#src/account/audit/record.ts'
import type { Tx } from '#src/platform/db/database.ts'
import type { Acting } from '#src/platform/http/principal.ts'
import type { Key } from './key.ts'
import type { RevokedKey } from './revocation.ts'
import type { NewKeyRow } from './rows.ts'

type By = Acting | Unattended

/** @param replaces The key whose rotation made it. */
export async function auditCreated(tx: Tx, by: By, row: NewKeyRow, replaces?: string): Promise<void> {
  const after = {
    name: row.name,
    scopes: [...row.scopes],
    prefix: row.prefix,
    last4: row.last4,
    expires_at: row.expiresAt?.toISOString() ?? null,
    ip_allow: row.ipAllow === null ? null : [...row.ipAllow],
    products: row.products === null ? null : [...row.products],
    read_only: row.isReadOnly,
    ...(replaces === undefined ? {} : { replaces_api_key_id: replaces }),
  }
  await recordAudit(tx, by, { action: 'key.created', subjectId: row.id, after })
}

export async function auditChanged(tx: Tx, by: By, before: Key, after: Key): Promise<void> {
  const shown = ({ name, ipAllow }: Key) => ({ name, ip_allow: ipAllow === null ? null : [...ipAllow] })
  await recordAudit(tx, by, { action: 'key.changed', subjectId: after.id, before: shown(before), after: shown(after) })
}

/** Writes nothing when the key was revoked before and nothing else ended. */
export async function auditRevoked(tx: Tx, by: By, before: Key, after: RevokedKey): Promise<void> {
  if (before.status === 'revoked' && after.invitesRevoked.length === 0) return
  await recordAudit(tx, by, {
    action: 'key.revoked',
    subjectId: after.id,
    before: { name: before.name, scopes: [...before.scopes], status: before.status },
    after: {
      status: after.status,
      revoked_at: after.revokedAt?.toISOString() ?? null,
      invites_revoked: after.invitesRevoked,
      keys_created: after.keysCreated,
    },
  })
}

export interface Rotation {
  before: Key
  after: Key
  /** The key that replaces it. */
  successor: Key
}

export async function auditRotated(tx: Tx, by: By, { before, after, successor }: Rotation): Promise<void> {
  await recordAudit(tx, by, {
    action: 'key.rotated',
    subjectId: after.id,
    before: { name: before.name, scopes: [...before.scopes], status: before.status },
    after: {
      status: after.status,
      grace_expires_at: after.graceExpiresAt?.toISOString() ?? null,
      replaced_by_api_key_id: successor.id,
      prefix: successor.prefix,
      last4: successor.last4,
      expires_at: successor.expiresAt?.toISOString() ?? null,
    },
  })
}
