// The history of devices. The statement that makes a change also writes its entry, so that neither exists alone.

import type { Tx } from '#src/platform/db/database.ts'
import { type Acting, actorOf } from '#src/platform/http/principal.ts'

export const ENTRY_KINDS = ['enrolled', 'renewed', 'attested', 'revoked'] as const
export type DeviceEntryKind = (typeof ENTRY_KINDS)[number]

export interface DeviceEntry {
  id: string
  kind: DeviceEntryKind
  actor: string | null
  keyId: string | null
  reason: string | null
  detail: Record<string, unknown>
  at: Date
}

// Sorts by the entry's stated time, as cursors need it, and then by its insertion: an enrollment and the result of its
// evidence have the same time.
const ENTRY_ID = (at: string) =>
  `lpad(to_hex((extract(epoch FROM ${at}) * 1000)::bigint), 12, '0')
    || lpad(to_hex((extract(epoch FROM clock_timestamp()) * 1000000)::bigint), 14, '0') || left(gen_random_uuid()::text, 8)`

interface NewEntries {
  at: Date
  /** `kind`, `reason` and `detail` are SQL. */
  kind: string
  reason?: string
  detail: string
  /** User id given in the request. */
  named?: string | undefined
}

/**
 * The insertion of entries for devices that a statement has written. Append it to a CTE `written` with the columns of
 * `devices` that `kind`, `reason` and `detail` use. Appends its parameters to `values`.
 */
export function entriesOfWritten(
  { principal }: Acting,
  { at, kind, detail, reason = 'NULL', named }: NewEntries,
  values: unknown[],
): string {
  const time = `$${values.push(at)}::timestamptz`
  const { person, keyId } = actorOf(principal, named)
  const by = `$${values.push(person)}::text, $${values.push(keyId)}::text`
  return `INSERT INTO device_entries (account_id, environment, id, device_id, kind, actor, key_id, reason, detail, at)
    SELECT account_id, environment, ${ENTRY_ID(time)}, id, ${kind}, ${by}, ${reason}, ${detail}, ${time}
    FROM written`
}

/** Newest first. */
export async function findDeviceEntries(
  tx: Tx,
  deviceId: string,
  { before, limit }: { before: string | undefined; limit: number },
): Promise<DeviceEntry[]> {
  return tx.query<DeviceEntry>(
    `SELECT id, kind, actor, key_id AS "keyId", reason, detail, at FROM device_entries
     WHERE device_id = $1 AND ($2::text IS NULL OR id < $2) ORDER BY id DESC LIMIT $3`,
    [deviceId, before ?? null, limit],
  )
}

export interface DeviceCounts {
  enrolled: number
  expired: number
  revoked: number
  /** Enrolled devices whose certificates lapse before that time. */
  expiring: number
}

export async function countByState(tx: Tx, now: Date, soon: Date): Promise<DeviceCounts> {
  const [row] = await tx.query<DeviceCounts>(
    `SELECT count(*) FILTER (WHERE revoked_at IS NULL AND not_after >= $1) AS enrolled,
       count(*) FILTER (WHERE revoked_at IS NULL AND not_after < $1) AS expired,
       count(*) FILTER (WHERE revoked_at IS NOT NULL) AS revoked,
       count(*) FILTER (WHERE revoked_at IS NULL AND not_after >= $1 AND not_after < $2) AS expiring
     FROM devices`,
    [now, soon],
  )
  return row ?? { enrolled: 0, expired: 0, revoked: 0, expiring: 0 }
}
