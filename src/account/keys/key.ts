// A key as it may be shown at any time, and its state at a moment. The end of the grace period after a rotation counts
// as the key's revocation, without any process having to act at that time.

import type { GrantableScope, Product } from '#src/catalogue/access.ts'
import type { Environment } from '#src/platform/ids.ts'
import type { KeyListRow } from './rows.ts'

/** A list's filter: both that are accepted. */
export const WORKING = 'working'
export const KEY_STATUSES = ['active', 'rotating', 'revoked', 'expired'] as const
export type KeyStatus = (typeof KEY_STATUSES)[number]

export interface Key {
  id: string
  environment: Environment
  name: string
  prefix: string
  last4: string
  scopes: readonly GrantableScope[]
  /** Null: of every product. */
  products: readonly Product[] | null
  /** It calls routes that read, and no others. */
  isReadOnly: boolean
  isAccountBearing: boolean
  status: KeyStatus
  createdAt: Date
  /** The key or the user; `operator`. */
  createdBy: string
  expiresAt: Date | null
  revokedAt: Date | null
  lastUsedAt: Date | null
  /** Null: accepted from every address. */
  ipAllow: readonly string[] | null
  /** The key that a rotation made. */
  replacedBy: string | null
  /** The key whose rotation made this one. */
  replaces: string | null
  graceExpiresAt: Date | null
  /** Counts the changes of its name and addresses. */
  version: number
}

type Times = Pick<KeyListRow, 'expires_at' | 'revoked_at' | 'grace_expires_at'>

/** Since when the key is revoked; null while it is not. */
export function revokedAtOf({ revoked_at, grace_expires_at }: Omit<Times, 'expires_at'>, at: Date): Date | null {
  if (revoked_at !== null) return revoked_at
  return grace_expires_at !== null && grace_expires_at <= at ? grace_expires_at : null
}

export function statusOf(times: Times, at: Date): KeyStatus {
  if (revokedAtOf(times, at) !== null) return 'revoked'
  if (times.expires_at !== null && times.expires_at <= at) return 'expired'
  return times.grace_expires_at === null ? 'active' : 'rotating'
}

/** When the key stops working, as far as it is known; null: never by itself. */
export function endOf({ expires_at, grace_expires_at }: Omit<Times, 'revoked_at'>): Date | null {
  if (expires_at === null || grace_expires_at === null) return expires_at ?? grace_expires_at
  return expires_at < grace_expires_at ? expires_at : grace_expires_at
}

export function toKey(row: KeyListRow, at: Date): Key {
  return {
    id: row.id,
    environment: row.environment,
    name: row.name,
    prefix: row.prefix,
    last4: row.last4,
    scopes: row.scopes,
    products: row.products,
    isReadOnly: row.read_only,
    isAccountBearing: row.is_account_bearing,
    status: statusOf(row, at),
    createdAt: row.created_at,
    createdBy: row.created_by,
    expiresAt: row.expires_at,
    revokedAt: revokedAtOf(row, at),
    lastUsedAt: row.last_used_at,
    ipAllow: row.ip_allow,
    replacedBy: row.successor_id,
    replaces: row.predecessor_id,
    graceExpiresAt: row.grace_expires_at,
    version: row.version,
  }
}
