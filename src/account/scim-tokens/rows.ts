import type { Plan, Product } from '#src/catalogue/access.ts'
import type { Statement, Tx } from '#src/platform/db/database.ts'
import type { TimeRange } from '#src/platform/db/id-ranges.ts'
import { countOf } from '#src/platform/db/id-ranges.ts'
import type { ClosureColumns } from '#src/platform/http/closed.ts'

export interface ScimToken {
  id: string
  last4: string
  createdBy: string
  createdAt: Date
  lastUsedAt: Date | null
  revokedAt: Date | null
}

const TOKEN = `id, last4, created_by AS "createdBy", created_at AS "createdAt", last_used_at AS "lastUsedAt",
  revoked_at AS "revokedAt"`

// Tenant role.

export async function insertToken(
  tx: Tx,
  row: Pick<ScimToken, 'id' | 'last4' | 'createdBy' | 'createdAt'> & { accountId: string; tokenHash: Buffer },
): Promise<void> {
  await tx.query(
    `INSERT INTO scim_tokens (account_id, id, token_hash, last4, created_by, created_at) VALUES ($1, $2, $3, $4, $5, $6)`,
    [row.accountId, row.id, row.tokenHash, row.last4, row.createdBy, row.createdAt],
  )
}

export async function findToken(tx: Tx, accountId: string, id: string): Promise<ScimToken | undefined> {
  const [row] = await tx.query<ScimToken>(`SELECT ${TOKEN} FROM scim_tokens WHERE account_id = $1 AND id = $2`, [
    accountId,
    id,
  ])
  return row
}

export async function countLive(tx: Tx, accountId: string): Promise<number> {
  const [row] = await tx.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM scim_tokens WHERE account_id = $1 AND revoked_at IS NULL`,
    [accountId],
  )
  return row?.count ?? 0
}

export async function markRevoked(tx: Tx, accountId: string, id: string, at: Date): Promise<void> {
  await tx.query(`UPDATE scim_tokens SET revoked_at = $3 WHERE account_id = $1 AND id = $2 AND revoked_at IS NULL`, [
    accountId,
    id,
    at,
  ])
}

export interface TokenFilter extends TimeRange {
  accountId: string
}

const MATCHES = `account_id = $1 AND ($2::timestamptz IS NULL OR created_at >= $2) AND ($3::timestamptz IS NULL OR created_at < $3)`

function valuesOf({ accountId, from, to }: TokenFilter) {
  return [accountId, from ?? null, to ?? null]
}

/** Newest first, starting below the id `before`. */
export async function listTokens(
  tx: Tx,
  filter: TokenFilter,
  { before, limit }: { before: string | undefined; limit: number },
): Promise<ScimToken[]> {
  return tx.query<ScimToken>(
    `SELECT ${TOKEN} FROM scim_tokens WHERE ${MATCHES} AND ($4::text IS NULL OR id < $4) ORDER BY id DESC LIMIT $5`,
    [...valuesOf(filter), before ?? null, limit],
  )
}

export async function countTokens(tx: Tx, filter: TokenFilter): Promise<number> {
  const [row] = await tx.query<{ count: number }>(countOf(`scim_tokens WHERE ${MATCHES}`), valuesOf(filter))
  return row?.count ?? 0
}

// System role: only the token of a request tells its account.

/** What a request must know of its token, with its account. */
export interface TokenLookupRow extends ClosureColumns {
  hash: Buffer
  id: string
  account_id: string
  plan: Plan
  products: Product[]
  last_used_at: Date | null
  revoked_at: Date | null
  suspended_at: Date | null
}

/** Returns `TokenLookupRow`s. */
export function selectByTokens(hashes: readonly Buffer[]): Statement {
  return {
    text: `SELECT t.token_hash AS hash, t.id, t.account_id, a.plan, a.products, t.last_used_at, t.revoked_at, a.suspended_at,
       a.closed_at, a.erased_after
     FROM scim_tokens t JOIN accounts a ON a.id = t.account_id WHERE t.token_hash = ANY ($1::bytea[])`,
    values: [hashes],
  }
}

export async function touchToken(
  tx: Tx,
  { account_id, id }: Pick<TokenLookupRow, 'account_id' | 'id'>,
  at: Date,
): Promise<void> {
  await tx.query(
    `UPDATE scim_tokens SET last_used_at = $3
     WHERE account_id = $1 AND id = $2 AND (last_used_at IS NULL OR last_used_at <= $3::timestamptz - interval '1 minute')`,
    [account_id, id, at],
  )
}
