import type { Statement, Tx } from '#src/platform/db/database.ts'
import type { Scope } from '#src/platform/ids.ts'

export interface PolicySecretRow {
  version: number
  createdAt: Date
  /** The key or user. */
  createdBy: string
  /** null: the newest. */
  expiresAt: Date | null
}

export interface SealedPolicySecret {
  version: number
  sealedSecret: Buffer
}

/** Secrets that sign, newest first. */
export const LIVE_SECRETS: Statement = {
  text: `SELECT version, sealed_secret AS "sealedSecret" FROM policy_webhook_secrets
    WHERE expires_at IS NULL OR expires_at > now() ORDER BY version DESC`,
  values: [],
}

const SECRET = `version, created_at AS "createdAt", created_by AS "createdBy", expires_at AS "expiresAt"`

/** Returns the secrets that sign, newest first, without their values. */
export async function findLiveSecrets(tx: Tx): Promise<PolicySecretRow[]> {
  return tx.query<PolicySecretRow>(
    `SELECT ${SECRET} FROM policy_webhook_secrets
     WHERE expires_at IS NULL OR expires_at > now() ORDER BY version DESC`,
  )
}

/** Rotations of one account and environment wait for each other. */
export async function lockSecrets(tx: Tx, scope: Scope): Promise<void> {
  await tx.query(`SELECT pg_advisory_xact_lock(hashtextextended($1, 0))`, [
    `policy_webhook_secrets ${scope.accountId} ${scope.environment}`,
  ])
}

/** The newest one signs until the end of the grace; those before it are deleted. */
export async function retireSecrets(tx: Tx, graceSeconds: number): Promise<void> {
  await tx.query('DELETE FROM policy_webhook_secrets WHERE expires_at IS NOT NULL OR $1 = 0', [graceSeconds])
  await tx.query(
    `UPDATE policy_webhook_secrets SET expires_at = now() + make_interval(secs => $1) WHERE expires_at IS NULL`,
    [graceSeconds],
  )
}

export async function insertSecret(
  tx: Tx,
  { accountId, environment }: Scope,
  row: SealedPolicySecret & { createdBy: string },
): Promise<void> {
  await tx.query(
    `INSERT INTO policy_webhook_secrets (account_id, environment, version, sealed_secret, created_by)
     VALUES ($1, $2, $3, $4, $5)`,
    [accountId, environment, row.version, row.sealedSecret, row.createdBy],
  )
}
