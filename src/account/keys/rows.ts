import type { GrantableScope, Plan, Product } from '#src/catalogue/access.ts'
import { sha256 } from '#src/platform/crypto/digest.ts'
import type { Statement, Tx } from '#src/platform/db/database.ts'
import type { ClosureColumns } from '#src/platform/http/closed.ts'
import type { Environment, Scope } from '#src/platform/ids.ts'

export interface AccountRow extends ClosureColumns {
  id: string
  name: string
  plan: Plan
  products: Product[]
  is_public: boolean
  created_at: Date
  suspended_at: Date | null
  /** The operator's own words; not shown to callers. */
  suspension_reason: string | null
  erased_at: Date | null
}

/** What a request's key look-up needs, with what a request must know of the key's account. */
export interface LookupRow extends ClosureColumns {
  hash: Buffer
  id: string
  account_id: string
  environment: Environment
  scopes: GrantableScope[]
  is_account_bearing: boolean
  plan: Plan
  products: Product[]
  /** Of the key; null: not narrowed. */
  key_products: Product[] | null
  read_only: boolean
  expires_at: Date | null
  revoked_at: Date | null
  grace_expires_at: Date | null
  ip_allow: string[] | null
  last_used_at: Date | null
  suspended_at: Date | null
}

export interface KeyListRow {
  id: string
  environment: Environment
  name: string
  prefix: string
  last4: string
  scopes: GrantableScope[]
  /** Null: of every product. */
  products: Product[] | null
  read_only: boolean
  is_account_bearing: boolean
  created_at: Date
  created_by: string
  expires_at: Date | null
  revoked_at: Date | null
  last_used_at: Date | null
  ip_allow: string[] | null
  successor_id: string | null
  /** The key whose rotation made this one. */
  predecessor_id: string | null
  grace_expires_at: Date | null
  /** Counts the changes of its name and addresses. */
  version: number
}

export interface NewKeyRow {
  accountId: string
  environment: Environment
  id: string
  name: string
  hash: Buffer
  prefix: string
  last4: string
  scopes: readonly GrantableScope[]
  products: readonly Product[] | null
  isReadOnly: boolean
  isAccountBearing: boolean
  createdAt: Date
  createdBy: string
  expiresAt: Date | null
  ipAllow: readonly string[] | null
}

export const LISTED = `id, environment, name, prefix, last4, scopes, products, read_only, is_account_bearing, created_at, created_by,
  expires_at, revoked_at, last_used_at, ip_allow, successor_id, grace_expires_at, version,
  (SELECT old.id FROM api_keys old WHERE old.successor_id = api_keys.id) AS predecessor_id`

const ACCOUNT =
  'id, name, plan, products, is_public, created_at, suspended_at, suspension_reason, closed_at, erased_after, erased_at'

// System role: an account is created before a scope exists.

/** Leaves an account that already has this id unchanged. Returns whether it is new. */
export async function insertAccount(
  tx: Tx,
  row: Pick<AccountRow, 'id' | 'name' | 'plan' | 'products' | 'is_public'>,
): Promise<boolean> {
  const inserted = await tx.query(
    `INSERT INTO accounts (id, name, plan, products, is_public) VALUES ($1, $2, $3, $4, $5)
     ON CONFLICT (id) DO NOTHING RETURNING id`,
    [row.id, row.name, row.plan, row.products, row.is_public],
  )
  return inserted.length === 1
}

export async function findAccount(tx: Tx, id: string): Promise<AccountRow | undefined> {
  const [row] = await tx.query<AccountRow>(`SELECT ${ACCOUNT} FROM accounts WHERE id = $1`, [id])
  return row
}

/** Blocks other changes of the account, and no request: foreign keys and look-ups don't need this lock. */
export async function lockAccount(tx: Tx, id: string): Promise<AccountRow | undefined> {
  const [row] = await tx.query<AccountRow>(`SELECT ${ACCOUNT} FROM accounts WHERE id = $1 FOR NO KEY UPDATE`, [id])
  return row
}

/** Whether the account is being erased, or was. */
export async function isAccountErasing(tx: Tx, id: string): Promise<boolean> {
  const rows = await tx.query(
    'SELECT 1 FROM accounts WHERE id = $1 AND erased_after <= now() AND suspended_at IS NULL',
    [id],
  )
  return rows.length === 1
}

/** Keeps the time of a suspension that lasts. */
export async function changeAccount(
  tx: Tx,
  row: { id: string; products: readonly Product[]; suspension_reason: string | null },
): Promise<AccountRow | undefined> {
  const [changed] = await tx.query<AccountRow>(
    `UPDATE accounts SET products = $2, version = version + (products <> $2)::int, suspension_reason = $3::text,
       suspended_at = CASE WHEN $3::text IS NULL THEN NULL ELSE coalesce(suspended_at, now()) END,
       suspension_ended_at = CASE WHEN $3::text IS NULL AND suspended_at IS NOT NULL THEN now() ELSE suspension_ended_at END
     WHERE id = $1 RETURNING ${ACCOUNT}`,
    [row.id, row.products, row.suspension_reason],
  )
  return changed
}

export interface KeyCount {
  environment: Environment
  valid: number
  lastUsedAt: Date | null
}

export async function countKeysByEnvironment(tx: Tx, accountId: string): Promise<KeyCount[]> {
  return tx.query<KeyCount>(
    `SELECT environment, max(last_used_at) AS "lastUsedAt",
       count(*) FILTER (WHERE revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now())
         AND (grace_expires_at IS NULL OR grace_expires_at > now()))::int AS valid
     FROM api_keys WHERE account_id = $1 GROUP BY environment ORDER BY environment`,
    [accountId],
  )
}

/** Newest first, starting below the id `before`. */
export async function listNewestAccounts(
  tx: Tx,
  {
    before,
    limit,
    isSuspended,
    isClosed,
  }: { before?: string | undefined; limit: number; isSuspended: boolean; isClosed: boolean },
): Promise<AccountRow[]> {
  return tx.query<AccountRow>(
    `SELECT ${ACCOUNT} FROM accounts
     WHERE ($1::text IS NULL OR (created_at, id) < (SELECT created_at, id FROM accounts WHERE id = $1))
       AND (NOT $3::boolean OR suspended_at IS NOT NULL) AND (NOT $4::boolean OR closed_at IS NOT NULL)
     ORDER BY created_at DESC, id DESC LIMIT $2`,
    [before ?? null, limit, isSuspended, isClosed],
  )
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
       k.products AS key_products, k.read_only, k.expires_at, k.revoked_at, k.grace_expires_at, k.ip_allow, k.last_used_at, a.suspended_at, a.closed_at, a.erased_after
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

// System or tenant role.

/** The plan of an account. Nothing else changes it until the transaction ends. */
export async function lockPlan(tx: Tx, accountId: string): Promise<Plan | undefined> {
  const [row] = await tx.query<{ plan: Plan }>('SELECT plan FROM accounts WHERE id = $1 FOR NO KEY UPDATE', [accountId])
  return row?.plan
}

export async function updatePlan(tx: Tx, accountId: string, plan: Plan): Promise<void> {
  await tx.query('UPDATE accounts SET plan = $2, version = version + 1 WHERE id = $1', [accountId, plan])
}

// Tenant role from here on.

/** @returns whether it was inserted: a key with this hash may exist, in this account or another. */
export async function insertKey(tx: Tx, row: NewKeyRow): Promise<boolean> {
  const inserted = await tx.query(
    `INSERT INTO api_keys (account_id, environment, id, name, hash, prefix, last4, scopes, is_account_bearing, created_at,
       created_by, expires_at, ip_allow, products, read_only)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15) ON CONFLICT (hash) DO NOTHING RETURNING id`,
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
      row.createdAt,
      row.createdBy,
      row.expiresAt,
      row.ipAllow,
      row.products,
      row.isReadOnly,
    ],
  )
  return inserted.length === 1
}

export async function findIdByHash(tx: Tx, hash: Buffer): Promise<string | undefined> {
  const [row] = await tx.query<{ id: string }>(`SELECT id FROM api_keys WHERE hash = $1`, [hash])
  return row?.id
}

/**
 * Makes the changes to an environment's keys wait for each other until the transaction ends: two rotations of one key,
 * a limit on their number, a key that is revoked while it makes another.
 */
export async function lockKeys(tx: Tx, { accountId, environment }: Scope): Promise<void> {
  const name = JSON.stringify(['api keys', accountId, environment])
  await tx.query('SELECT pg_advisory_xact_lock($1::bigint)', [sha256(name).readBigInt64BE().toString()])
}

/** The first revocation's time stays, which may be the end of a grace period. */
export async function revokeKey(tx: Tx, id: string, at: Date): Promise<KeyListRow | undefined> {
  const [row] = await tx.query<KeyListRow>(
    `UPDATE api_keys SET revoked_at = coalesce(revoked_at, least(grace_expires_at, $2)) WHERE id = $1 RETURNING ${LISTED}`,
    [id, at],
  )
  return row
}

export async function findKeyById(tx: Tx, id: string): Promise<KeyListRow | undefined> {
  const [row] = await tx.query<KeyListRow>(`SELECT ${LISTED} FROM api_keys WHERE id = $1`, [id])
  return row
}

/** Changes what people set of a key that works: see `KeyChange`. */
export async function changeKey(
  tx: Tx,
  id: string,
  { name, ipAllow }: { name: string; ipAllow: readonly string[] | null },
): Promise<KeyListRow | undefined> {
  const [row] = await tx.query<KeyListRow>(
    `UPDATE api_keys SET name = $2, ip_allow = $3, version = version + 1 WHERE id = $1 RETURNING ${LISTED}`,
    [id, name, ipAllow],
  )
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
