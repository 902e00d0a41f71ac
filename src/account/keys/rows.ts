import type { GrantableScope, Plan, Product } from '#src/catalogue/access.ts'
import type { Statement, Tx } from '#src/platform/db/database.ts'
import type { Environment } from '#src/platform/ids.ts'

export interface AccountRow {
  id: string
  name: string
  plan: Plan
  products: Product[]
  is_public: boolean
  created_at: Date
}

/** What a request's key look-up needs, with what a request must know of the key's account. */
export interface LookupRow {
  hash: Buffer
  id: string
  account_id: string
  environment: Environment
  scopes: GrantableScope[]
  is_account_bearing: boolean
  plan: Plan
  products: Product[]
  closed_at: Date | null
  expires_at: Date | null
  revoked_at: Date | null
  last_used_at: Date | null
}

export interface KeyListRow {
  id: string
  name: string
  prefix: string
  last4: string | null
  scopes: GrantableScope[]
  is_account_bearing: boolean
  created_at: Date
  expires_at: Date | null
  revoked_at: Date | null
  last_used_at: Date | null
}

export interface NewKeyRow {
  accountId: string
  environment: Environment
  id: string
  name: string
  hash: Buffer
  prefix: string
  last4: string
  scopes: readonly string[]
  isAccountBearing: boolean
  expiresAt: Date | null
}

const LISTED = 'id, name, prefix, last4, scopes, is_account_bearing, created_at, expires_at, revoked_at, last_used_at'

// System role: an account is created before a scope exists.

/** Leaves an account that already has this id unchanged. */
export async function insertAccount(tx: Tx, row: Omit<AccountRow, 'created_at'>): Promise<void> {
  await tx.query(
    `INSERT INTO accounts (id, name, plan, products, is_public) VALUES ($1, $2, $3, $4, $5) ON CONFLICT (id) DO NOTHING`,
    [row.id, row.name, row.plan, row.products, row.is_public],
  )
}

export async function findAccount(tx: Tx, id: string): Promise<AccountRow | undefined> {
  const [row] = await tx.query<AccountRow>(
    `SELECT id, name, plan, products, is_public, created_at FROM accounts WHERE id = $1`,
    [id],
  )
  return row
}

/** In the order of the ids, starting above `after`. */
export async function listAccounts(
  tx: Tx,
  { after, limit }: { after: string; limit: number },
): Promise<Pick<AccountRow, 'id' | 'is_public'>[]> {
  return tx.query(`SELECT id, is_public FROM accounts WHERE id > $1 AND erased_at IS NULL ORDER BY id LIMIT $2`, [
    after,
    limit,
  ])
}

// System role: only the key of a request tells its account.

/** Returns `LookupRow`s. */
export function selectByHashes(hashes: readonly Buffer[]): Statement {
  return {
    text: `SELECT k.hash, k.id, k.account_id, k.environment, k.scopes, k.is_account_bearing, a.plan, a.products,
       a.closed_at, k.expires_at, k.revoked_at, k.last_used_at
     FROM api_keys k JOIN accounts a ON a.id = k.account_id
     WHERE k.hash = ANY ($1::bytea[])`,
    values: [hashes],
  }
}

export async function touchKey(
  tx: Tx,
  key: Pick<LookupRow, 'account_id' | 'environment' | 'id'>,
  at: Date,
): Promise<void> {
  await tx.query(
    `UPDATE api_keys SET last_used_at = $4
     WHERE account_id = $1 AND environment = $2 AND id = $3
       AND (last_used_at IS NULL OR last_used_at <= $4::timestamptz - interval '1 minute')`,
    [key.account_id, key.environment, key.id, at],
  )
}

/** For operators, who know the id of a key and not its account. */
export async function findScopeOfKey(
  tx: Tx,
  id: string,
): Promise<Pick<LookupRow, 'account_id' | 'environment'> | undefined> {
  const [row] = await tx.query<LookupRow>(`SELECT account_id, environment FROM api_keys WHERE id = $1`, [id])
  return row
}

// Tenant role from here on.

/** @returns whether it was inserted: a key with this hash may exist, in this account or another. */
export async function insertKey(tx: Tx, row: NewKeyRow): Promise<boolean> {
  const inserted = await tx.query(
    `INSERT INTO api_keys (account_id, environment, id, name, hash, prefix, last4, scopes, is_account_bearing, expires_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) ON CONFLICT (hash) DO NOTHING RETURNING id`,
    [
      row.accountId,
      row.environment,
      row.id,
      row.name,
      row.hash,
      row.prefix,
      row.last4,
      row.scopes,
      row.isAccountBearing,
      row.expiresAt,
    ],
  )
  return inserted.length === 1
}

export async function findIdByHash(tx: Tx, hash: Buffer): Promise<string | undefined> {
  const [row] = await tx.query<{ id: string }>(`SELECT id FROM api_keys WHERE hash = $1`, [hash])
  return row?.id
}

/** The first revocation's time stays. */
export async function revokeKey(tx: Tx, id: string, at: Date): Promise<KeyListRow | undefined> {
  const [row] = await tx.query<KeyListRow>(
    `UPDATE api_keys SET revoked_at = coalesce(revoked_at, $2) WHERE id = $1 RETURNING ${LISTED}`,
    [id, at],
  )
  return row
}

export async function findKeyById(tx: Tx, id: string): Promise<KeyListRow | undefined> {
  const [row] = await tx.query<KeyListRow>(`SELECT ${LISTED} FROM api_keys WHERE id = $1`, [id])
  return row
}

/** Newest first, starting below `before`. */
export async function listKeys(
  tx: Tx,
  { before, limit }: { before?: string | undefined; limit: number },
): Promise<KeyListRow[]> {
  return tx.query<KeyListRow>(
    `SELECT ${LISTED} FROM api_keys WHERE ($1::text IS NULL OR id < $1) ORDER BY id DESC LIMIT $2`,
    [before ?? null, limit],
  )
}
