// API keys, for requests and for operators: stored as a hash, looked up on every request. What users and keys do with keys
// over HTTP is in administration.ts.

import type { Unattended } from '#src/account/audit/record.ts'
import { Failure } from '#src/failure.ts'
import { sha256 } from '#src/platform/crypto/digest.ts'
import type { Database } from '#src/platform/db/database.ts'
import type { KeyRow } from '#src/platform/http/caller.ts'
import { isListed } from '#src/platform/http/client-address.ts'
import { closureOf } from '#src/platform/http/closed.ts'
import { checkId, getOwned, type Scope } from '#src/platform/ids.ts'
import { auditCreated } from './audit.ts'
import { parseKey } from './format.ts'
import { type Key, revokedAtOf, statusOf, toKey } from './key.ts'
import { createLookup } from './lookup.ts'
import { drawKey, type NewKey } from './new-key.ts'
import { endKey, lockForRevocation, type RevokedKey } from './revocation.ts'
import {
  findIdByHash,
  findKeyById,
  findScopeOfKey,
  insertKey,
  type LookupRow,
  listKeys,
  selectByHashes,
  touchKey,
} from './rows.ts'

interface KeysDeps {
  db: Pick<Database, 'tenant' | 'system' | 'readSystem'>
  now?: () => Date
  /** Called when `last_used_at` could not be written; requests don't wait for it. */
  onError?: (error: unknown) => void
}

const TOUCH_AFTER_MS = 60_000

export type Keys = ReturnType<typeof createKeys>

export function createKeys({ db, now = () => new Date(), onError = () => {} }: KeysDeps) {
  const lookUp = createLookup<LookupRow>(db, 'key look-up', selectByHashes)
  const touching = new Map<string, Promise<void>>()

  /**
   * For operators and for the deployment itself: without the limits of a caller.
   * @returns the raw key, which can't be shown again.
   * @throws {Failure} `invalid_request`; `conflict` when `raw` is a key of another account or environment.
   */
  async function create(scope: Scope, wanted: NewKey): Promise<{ id: string; key: string }> {
    const by = operatorOf(scope)
    const { key, row } = drawKey(scope, wanted, { at: now(), createdBy: by.kind })
    return db.tenant(scope, async (tx) => {
      if (await insertKey(tx, row)) {
        await auditCreated(tx, by, row)
        return { id: row.id, key }
      }
      const existing = await findIdByHash(tx, row.hash)
      if (existing === undefined) throw new Failure('conflict', 'This key belongs to another account.')
      return { id: existing, key }
    })
  }

  /**
   * For operators. Takes effect on the key's next request, and revokes the pending invites that it sent. Revoking again
   * changes nothing.
   * @throws {Failure} `not_found`, `environment_mismatch`
   */
  async function revoke(scope: Scope, id: string): Promise<RevokedKey> {
    checkId(id, 'key', scope.environment)
    const at = now()
    return db.tenant(scope, async (tx) => {
      await lockForRevocation(tx, scope)
      const found = await getOwned(findKeyById(tx, id), id)
      return endKey(tx, operatorOf(scope), found, at)
    })
  }

  /** @throws {Failure} `not_found`, `environment_mismatch` */
  async function get(scope: Scope, id: string): Promise<Key> {
    checkId(id, 'key', scope.environment)
    const row = await db.tenant(scope, (tx) => getOwned(findKeyById(tx, id), id))
    return toKey(row, now())
  }

  /** Newest first, starting below the id `before`. */
  async function list(scope: Scope, page: { before?: string | undefined; limit: number }): Promise<Key[]> {
    const rows = await db.tenant(scope, (tx) => listKeys(tx, page))
    return rows.map((row) => toKey(row, now()))
  }

  /** The scope of a key, for operators. */
  async function findScope(id: string): Promise<Scope | undefined> {
    const row = await db.system('find key', (tx) => findScopeOfKey(tx, id))
    return row === undefined ? undefined : { accountId: row.account_id, environment: row.environment }
  }

  /**
   * The row of a raw key, including a revoked or expired one; notes that a valid key was used.
   * @param address Of the caller. Without it the key is looked up by the service itself.
   */
  async function find(raw: string, address?: string): Promise<KeyRow | undefined> {
    const parts = parseKey(raw)
    if (parts === undefined) return undefined
    const row = await lookUp(sha256(raw))
    // The row gives the environment. A key whose own word disagrees was not written by this service.
    if (row === undefined || row.environment !== parts.environment) return undefined
    const at = now()
    noteUse(row, at, address)
    return toKeyRow(row, at)
  }

  function noteUse(row: LookupRow, at: Date, address: string | undefined): void {
    const isFresh = row.last_used_at !== null && at.getTime() - row.last_used_at.getTime() < TOUCH_AFTER_MS
    if (isFresh || touching.has(row.id)) return
    const status = statusOf(row, at)
    if (status === 'revoked' || status === 'expired') return
    // A thief who tries the key elsewhere must not make it look used.
    if (address !== undefined && row.ip_allow !== null && !isListed(address, row.ip_allow)) return
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

function operatorOf({ accountId, environment }: Scope): Unattended {
  return { accountId, environment, kind: 'operator' }
}

function toKeyRow(row: LookupRow, at: Date): KeyRow {
  return {
    keyId: row.id,
    accountId: row.account_id,
    environment: row.environment,
    scopes: row.scopes,
    isAccountBearing: row.is_account_bearing,
    plan: row.plan,
    products: row.products,
    narrowedTo: row.key_products ?? undefined,
    isReadOnly: row.read_only,
    closure: closureOf(row),
    expiresAt: row.expires_at ?? undefined,
    revokedAt: revokedAtOf(row, at) ?? undefined,
    ipAllow: row.ip_allow ?? undefined,
    suspendedAt: row.suspended_at ?? undefined,
  }
}
