import type { Plan } from '#src/catalogue/access.ts'
import type { Database, Tx } from '#src/platform/db/database.ts'
import { deleteInSteps } from '#src/platform/retention.ts'

export interface SsoConfig {
  accountId: string
  id: string
  issuer: string
  clientId: string
  sealedClientSecret: Buffer
  clientSecretLast4: string
  generation: number
  domain: string
  domainToken: string
  verifiedAt: Date | null
  checkedAt: Date | null
  failedChecks: number
  testedAt: Date | null
  isEnforced: boolean
  version: number
  changedAt: Date
  changedBy: string
}

const CONFIG = `c.account_id AS "accountId", c.id, c.issuer, c.client_id AS "clientId",
  c.sealed_client_secret AS "sealedClientSecret", c.client_secret_last4 AS "clientSecretLast4", c.generation, c.domain,
  c.domain_token AS "domainToken", c.verified_at AS "verifiedAt", c.checked_at AS "checkedAt",
  c.failed_checks AS "failedChecks", c.tested_at AS "testedAt", c.is_enforced AS "isEnforced", c.version,
  c.changed_at AS "changedAt", c.changed_by AS "changedBy"`

// Tenant or system role.

export async function findConfig(tx: Tx, accountId: string): Promise<SsoConfig | undefined> {
  const [row] = await tx.query<SsoConfig>(`SELECT ${CONFIG} FROM sso_configs c WHERE c.account_id = $1`, [accountId])
  return row
}

/** Under this lock no link signs in whose address is in the domain. */
export async function lockConfig(tx: Tx, accountId: string): Promise<SsoConfig | undefined> {
  const [row] = await tx.query<SsoConfig>(`SELECT ${CONFIG} FROM sso_configs c WHERE c.account_id = $1 FOR UPDATE`, [
    accountId,
  ])
  return row
}

/** Inserts or replaces it. @throws a unique violation of `sso_configs_verified_domain_key` */
export async function putConfig(tx: Tx, row: SsoConfig): Promise<void> {
  await tx.query(
    `INSERT INTO sso_configs (account_id, id, issuer, client_id, sealed_client_secret, client_secret_last4, generation, domain,
       domain_token, verified_at, checked_at, failed_checks, tested_at, is_enforced, version, changed_at, changed_by)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)
     ON CONFLICT (account_id) DO UPDATE SET issuer = $3, client_id = $4, sealed_client_secret = $5, client_secret_last4 = $6,
       generation = $7, domain = $8, domain_token = $9, verified_at = $10, checked_at = $11, failed_checks = $12,
       tested_at = $13, is_enforced = $14, version = $15, changed_at = $16, changed_by = $17`,
    [
      row.accountId,
      row.id,
      row.issuer,
      row.clientId,
      row.sealedClientSecret,
      row.clientSecretLast4,
      row.generation,
      row.domain,
      row.domainToken,
      row.verifiedAt,
      row.checkedAt,
      row.failedChecks,
      row.testedAt,
      row.isEnforced,
      row.version,
      row.changedAt,
      row.changedBy,
    ],
  )
}

export async function deleteConfig(tx: Tx, accountId: string): Promise<void> {
  await tx.query('DELETE FROM sso_configs WHERE account_id = $1', [accountId])
}

// System role: the domain or the state alone tells the account.

/** A configuration with what signing in must know of its account. */
export interface UsableConfig extends SsoConfig {
  plan: Plan
  closedAt: Date | null
  suspendedAt: Date | null
}

const USABLE = `SELECT ${CONFIG}, a.plan, a.closed_at AS "closedAt", a.suspended_at AS "suspendedAt"
  FROM sso_configs c JOIN accounts a ON a.id = c.account_id`

/** The organization that has a domain. */
export async function findByDomain(tx: Tx, domain: string): Promise<UsableConfig | undefined> {
  const [row] = await tx.query<UsableConfig>(`${USABLE} WHERE c.domain = $1 AND c.verified_at IS NOT NULL`, [domain])
  return row
}

/** Until the end of the transaction nobody turns enforcement on, or changes the provider. */
export async function shareConfig(tx: Tx, accountId: string): Promise<UsableConfig | undefined> {
  const [row] = await tx.query<UsableConfig>(`${USABLE} WHERE c.account_id = $1 FOR SHARE OF c`, [accountId])
  return row
}

export async function markTested(tx: Tx, accountId: string, at: Date): Promise<void> {
  await tx.query(`UPDATE sso_configs SET tested_at = $2 WHERE account_id = $1 AND verified_at IS NOT NULL`, [
    accountId,
    at,
  ])
}

/** Verified domains that were not looked up since then. */
export async function findUnchecked(tx: Tx, before: Date, limit: number): Promise<SsoConfig[]> {
  return tx.query<SsoConfig>(
    `SELECT ${CONFIG} FROM sso_configs c WHERE c.verified_at IS NOT NULL AND c.checked_at < $1 ORDER BY c.checked_at LIMIT $2`,
    [before, limit],
  )
}

export async function noteCheck(
  tx: Tx,
  { accountId, failedChecks, isVerified }: { accountId: string; failedChecks: number; isVerified: boolean },
  at: Date,
): Promise<void> {
  await tx.query(
    `UPDATE sso_configs SET checked_at = $2, failed_checks = $3,
       verified_at = CASE WHEN $4 THEN verified_at END, tested_at = CASE WHEN $4 THEN tested_at END,
       is_enforced = is_enforced AND $4
     WHERE account_id = $1`,
    [accountId, at, failedChecks, isVerified],
  )
}

/** A login that has begun. */
export interface SsoStart {
  accountId: string
  id: string
  stateHash: Buffer
  browserHash: Buffer
  sealedSecrets: Buffer
  generation: number
  /** Session of a member who links their own user. */
  sessionId: string | null
  expiresAt: Date
}

/** Tenant or system role. */
export async function insertStart(tx: Tx, row: SsoStart): Promise<void> {
  await tx.query(
    `INSERT INTO sso_starts (account_id, id, state_hash, browser_hash, sealed_secrets, generation, session_id, expires_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
    [
      row.accountId,
      row.id,
      row.stateHash,
      row.browserHash,
      row.sealedSecrets,
      row.generation,
      row.sessionId,
      row.expiresAt,
    ],
  )
}

/** Uses a start up. Of two transactions, one gets it. Another browser does not end it. */
export async function takeStart(
  tx: Tx,
  { stateHash, browserHash }: Pick<SsoStart, 'stateHash' | 'browserHash'>,
  at: Date,
): Promise<SsoStart | undefined> {
  const [row] = await tx.query<SsoStart>(
    `DELETE FROM sso_starts WHERE state_hash = $1 AND browser_hash = $2 AND expires_at > $3
     RETURNING account_id AS "accountId", id, state_hash AS "stateHash", browser_hash AS "browserHash",
       sealed_secrets AS "sealedSecrets", generation, session_id AS "sessionId", expires_at AS "expiresAt"`,
    [stateHash, browserHash, at],
  )
  return row
}

/** Deletes starts that expired before `before`; returns how many. */
export function purgeStarts(db: Pick<Database, 'system'>, before: Date): Promise<number> {
  return deleteInSteps(db, (tx, limit) =>
    tx.query(
      `DELETE FROM sso_starts WHERE (account_id, id) IN
         (SELECT account_id, id FROM sso_starts WHERE expires_at < $1 LIMIT $2) RETURNING 1`,
      [before, limit],
    ),
  )
}
