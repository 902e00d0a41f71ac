// API keys: created once, stored as a hash, looked up on every request.

import { GRANTABLE_SCOPES, type GrantableScope } from '#src/catalogue/access.ts'
import { Failure, type FieldError } from '#src/failure.ts'
import { sha256 } from '#src/platform/crypto/digest.ts'
import type { Database } from '#src/platform/db/database.ts'
import type { KeyRow } from '#src/platform/http/caller.ts'
import { invalidRequest } from '#src/platform/http/validate.ts'
import { checkId, newId, type Scope } from '#src/platform/ids.ts'
import { makeKey, parseKey } from './format.ts'
import { createLookup } from './lookup.ts'
import {
  findIdByHash,
  findKeyById,
  findScopeOfKey,
  insertKey,
  type KeyListRow,
  type LookupRow,
  listKeys,
  revokeKey,
  selectByHashes,
  touchKey,
} from './rows.ts'

interface KeysDeps {
  db: Pick<Database, 'tenant' | 'system' | 'readSystem'>
  now?: () => Date
  /** Called when `last_used_at` could not be written; requests don't wait for it. */
  onError?: (error: unknown) => void
}

export interface NewKey {
  name: string
  scopes: readonly GrantableScope[]
  expiresAt?: Date
  /** True when absent. False for the publishable sandbox keys. */
  isAccountBearing?: boolean
  /** A configured key, which the deployment publishes. Creating it again in the same scope returns the existing one. */
  raw?: string
}

/** The part of a key that may be shown at any time. */
export interface Key {
  id: string
  name: string
  prefix: string
  /** Null for keys from before last-4 display. */
  last4: string | null
  scopes: readonly GrantableScope[]
  isAccountBearing: boolean
  createdAt: Date
  expiresAt: Date | null
  revokedAt: Date | null
  lastUsedAt: Date | null
}

const TOUCH_AFTER_MS = 60_000

export type Keys = ReturnType<typeof createKeys>

export function createKeys({ db, now = () => new Date(), onError = () => {} }: KeysDeps) {
  const lookUp = createLookup<LookupRow>(db, 'key look-up', selectByHashes)
  const touching = new Map<string, Promise<void>>()

  /**
   * @returns the raw key, which can't be shown again.
   * @throws {Failure} `invalid_request`; `conflict` when `raw` is a key of another account or environment.
   */
  async function create(scope: Scope, wanted: NewKey): Promise<{ id: string; key: string }> {
    checkNewKey(scope, wanted, now())
    const key = wanted.raw ?? makeKey(scope.environment)
    const hash = sha256(key)
    const row = {
      ...scope,
      id: newId('key', scope.environment),
      name: wanted.name,
      hash,
      prefix: key.slice(0, 8),
      last4: key.slice(-4),
      scopes: [...new Set(wanted.scopes)],
      isAccountBearing: wanted.isAccountBearing ?? true,
      expiresAt: wanted.expiresAt ?? null,
    }
    return db.tenant(scope, async (tx) => {
      if (await insertKey(tx, row)) return { id: row.id, key }
      const existing = await findIdByHash(tx, hash)
      if (existing === undefined) throw new Failure('conflict', 'This key belongs to another account.')
      return { id: existing, key }
    })
  }

  /**
   * Takes effect on the key's next request. Revoking again changes nothing.
   * @throws {Failure} `not_found`, `environment_mismatch`
   */
  async function revoke(scope: Scope, id: string): Promise<Key> {
    checkId(id, 'key', scope.environment)
    const row = await db.tenant(scope, (tx) => revokeKey(tx, id, now()))
    if (row === undefined) throw new Failure('not_found', 'No such key.')
    return toKey(row)
  }

  /** @throws {Failure} `not_found`, `environment_mismatch` */
  async function get(scope: Scope, id: string): Promise<Key> {
    checkId(id, 'key', scope.environment)
    const row = await db.tenant(scope, (tx) => findKeyById(tx, id))
    if (row === undefined) throw new Failure('not_found', 'No such key.')
    return toKey(row)
  }

  /** Newest first, starting below the id `before`. */
  async function list(scope: Scope, page: { before?: string; limit: number }): Promise<Key[]> {
    const rows = await db.tenant(scope, (tx) => listKeys(tx, page))
    return rows.map(toKey)
  }

  /** The scope of a key, for operators. */
  async function findScope(id: string): Promise<Scope | undefined> {
    const row = await db.system('find key', (tx) => findScopeOfKey(tx, id))
    return row === undefined ? undefined : { accountId: row.account_id, environment: row.environment }
  }

  /** The row of a raw key, including a revoked or expired one; notes that a valid key was used. */
  async function find(raw: string): Promise<KeyRow | undefined> {
    const parts = parseKey(raw)
    if (parts === undefined) return undefined
    const row = await lookUp(sha256(raw))
    // The row gives the environment. A key whose own word disagrees was not written by this service.
    if (row === undefined || row.environment !== parts.environment) return undefined
    noteUse(row)
    return toKeyRow(row)
  }

  function noteUse(row: LookupRow): void {
    const at = now()
    const isLive = row.revoked_at === null && (row.expires_at === null || row.expires_at > at)
    const isFresh = row.last_used_at !== null && at.getTime() - row.last_used_at.getTime() < TOUCH_AFTER_MS
    if (!isLive || isFresh || touching.has(row.id)) return
    const written = db
      .system('key use', (tx) => touchKey(tx, row, at), { isDurable: false })
      .catch(onError)
      .finally(() => touching.delete(row.id))
    touching.set(row.id, written)
  }

  /** Resolves when every noted use is written; for an ordered shutdown. */
  async function settle(): Promise<void> {
    await Promise.all(touching.values())
  }

  return { create, revoke, get, list, find, findScope, settle }
}

function checkNewKey(scope: Scope, wanted: NewKey, at: Date): void {
  const errors: FieldError[] = []
  const refuse = (pointer: string, code: string, detail: string) => void errors.push({ pointer, code, detail })
  if (wanted.name.trim() === '' || wanted.name.length > 200 || wanted.name.includes('\0')) {
    refuse('/name', 'out_of_range', 'must have 1 to 200 characters')
  }
  if (wanted.scopes.length === 0) refuse('/scopes', 'too_few', 'must name at least one scope')
  wanted.scopes.forEach((name, index) => {
    if (!GRANTABLE_SCOPES.includes(name))
      refuse(`/scopes/${index}`, 'invalid_value', `must be one of ${GRANTABLE_SCOPES.join(', ')}`)
    if (name === 'all' && scope.environment !== 'sandbox') {
      refuse(`/scopes/${index}`, 'invalid_value', 'only a sandbox key may carry "all"')
    }
  })
  if (wanted.expiresAt !== undefined && !(wanted.expiresAt > at))
    refuse('/expires_at', 'out_of_range', 'must be in the future')
  if (wanted.raw !== undefined && parseKey(wanted.raw)?.environment !== scope.environment) {
    const word = scope.environment === 'live' ? 'live' : 'test'
    refuse('/raw', 'invalid_format', `must be svc_${word}_ and 32 base62 characters`)
  }
  if (errors.length > 0) throw invalidRequest(errors)
}

function toKeyRow(row: LookupRow): KeyRow {
  return {
    keyId: row.id,
    accountId: row.account_id,
    environment: row.environment,
    scopes: row.scopes,
    isAccountBearing: row.is_account_bearing,
    plan: row.plan,
    products: row.products,
    closedAt: row.closed_at ?? undefined,
    expiresAt: row.expires_at ?? undefined,
    revokedAt: row.revoked_at ?? undefined,
  }
}

function toKey(row: KeyListRow): Key {
  return {
    id: row.id,
    name: row.name,
    prefix: row.prefix,
    last4: row.last4,
    scopes: row.scopes,
    isAccountBearing: row.is_account_bearing,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    revokedAt: row.revoked_at,
    lastUsedAt: row.last_used_at,
  }
}
