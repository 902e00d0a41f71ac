import type { Statement, Tx } from '#src/platform/db/database.ts'
import { countOf, type TimeRange } from '#src/platform/db/id-ranges.ts'
import type { KeyStatus, WORKING } from './key.ts'
import { type KeyListRow, LISTED } from './rows.ts'

// Tenant role. `at` is the caller's time: a key's state depends on it.

export interface KeyFilter extends TimeRange {
  at: Date
  /** Keys of any of these. */
  status?: readonly (KeyStatus | typeof WORKING)[] | undefined
  createdBy?: string | undefined
}

// As `statusOf`: the first that is true.
const IS_REVOKED = '(revoked_at IS NOT NULL OR coalesce(grace_expires_at <= $1, false))'
const IS_EXPIRED = 'coalesce(expires_at <= $1, false)'
const STATUS: Record<KeyStatus | typeof WORKING, string> = {
  working: `NOT ${IS_REVOKED} AND NOT ${IS_EXPIRED}`,
  revoked: IS_REVOKED,
  expired: `NOT ${IS_REVOKED} AND ${IS_EXPIRED}`,
  rotating: `NOT ${IS_REVOKED} AND NOT ${IS_EXPIRED} AND successor_id IS NOT NULL`,
  active: `revoked_at IS NULL AND NOT ${IS_EXPIRED} AND successor_id IS NULL`,
}

/** Newest first, starting below `before`. */
export async function listFilteredKeys(
  tx: Tx,
  filter: KeyFilter,
  { before, limit }: { before?: string | undefined; limit: number },
): Promise<KeyListRow[]> {
  const { where, values } = conditionsOf(filter, before)
  return tx.adhoc<KeyListRow>(
    `SELECT ${LISTED} FROM api_keys WHERE ${where} ORDER BY id DESC LIMIT $${values.push(limit)}`,
    values,
  )
}

export async function countKeys(tx: Tx, filter: KeyFilter): Promise<number> {
  const { where, values } = conditionsOf(filter)
  const [row] = await tx.adhoc<{ count: number }>(countOf(`api_keys WHERE ${where}`), values)
  return row?.count ?? 0
}

/** Whether an active key remains that may manage keys. */
export async function hasAdminKey(tx: Tx, at: Date): Promise<boolean> {
  const [row] = await tx.query<{ has: boolean }>(
    `SELECT EXISTS (SELECT FROM api_keys WHERE ${STATUS.active} AND is_account_bearing AND scopes && '{admin,all}') AS has`,
    [at],
  )
  return row?.has === true
}

export async function findPredecessor(tx: Tx, id: string): Promise<KeyListRow | undefined> {
  const [row] = await tx.query<KeyListRow>(`SELECT ${LISTED} FROM api_keys WHERE successor_id = $1`, [id])
  return row
}

/** Both keys work until the grace period is over; a key that expires earlier ends then. */
export async function markRotated(
  tx: Tx,
  id: string,
  { successorId, graceExpiresAt }: { successorId: string; graceExpiresAt: Date },
): Promise<KeyListRow | undefined> {
  const [row] = await tx.query<KeyListRow>(
    `UPDATE api_keys SET successor_id = $2, grace_expires_at = least($3, expires_at) WHERE id = $1 RETURNING ${LISTED}`,
    [id, successorId, graceExpiresAt],
  )
  return row
}

/** System role: what the state of a key follows from. */
export async function findKeyTimes(
  tx: Tx,
  accountId: string,
  id: string,
): Promise<Pick<KeyListRow, 'expires_at' | 'revoked_at' | 'grace_expires_at'> | undefined> {
  const [row] = await tx.query<KeyListRow>(
    `SELECT expires_at, revoked_at, grace_expires_at FROM api_keys WHERE account_id = $1 AND id = $2`,
    [accountId, id],
  )
  return row
}

/**
 * Tenant or system role: the ids of keys that still work and that a user or a key created, or that such keys created, also
 * where those between no longer work. The tenant role sees those of its environment.
 */
export function selectKeysMadeBy(
  { accountId, creatorId }: { accountId: string; creatorId: string },
  at: Date,
): Statement {
  return {
    text: `WITH RECURSIVE made (id) AS (
       SELECT id FROM api_keys WHERE account_id = $1 AND created_by = $2
       UNION SELECT k.id FROM made JOIN api_keys k ON k.account_id = $1 AND k.created_by = made.id
     )
     SELECT id FROM api_keys WHERE account_id = $1 AND id IN (SELECT id FROM made) AND revoked_at IS NULL
       AND (expires_at IS NULL OR expires_at > $3) AND (grace_expires_at IS NULL OR grace_expires_at > $3) ORDER BY id`,
    values: [accountId, creatorId, at],
  }
}

function conditionsOf({ at, status, createdBy, from, to }: KeyFilter, before?: string) {
  const values: unknown[] = [at]
  // The first is always referred to: Postgres refuses a parameter whose type nothing shows.
  const conditions = ['$1::timestamptz IS NOT NULL']
  const add = (condition: string, value: unknown) => {
    if (value !== undefined) conditions.push(`${condition} $${values.push(value)}`)
  }
  if (status !== undefined) conditions.push(`(${status.map((name) => STATUS[name]).join(' OR ')})`)
  add('created_by =', createdBy)
  add('created_at >=', from)
  add('created_at <', to)
  add('id <', before)
  return { where: conditions.join(' AND '), values }
}
