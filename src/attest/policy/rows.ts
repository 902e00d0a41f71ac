import type { Tx } from '#src/platform/db/database.ts'
import type { Scope } from '#src/platform/ids.ts'
import type { PurgeStep } from '#src/platform/retention.ts'
import type { Policy } from '../factors/facts.ts'
import { DEFAULT_POLICY, type RiskPolicyDocument, toPolicy } from './policy.ts'

export interface PolicyRow {
  version: number
  policy: RiskPolicyDocument
  /** The key or user. */
  changedBy: string
  createdAt: Date
}

const POLICY = `version, policy, key_id AS "changedBy", created_at AS "createdAt"`

/** The newest version; undefined while the defaults apply. */
export async function findPolicy(tx: Tx): Promise<PolicyRow | undefined> {
  const [row] = await tx.query<PolicyRow>(`SELECT ${POLICY} FROM risk_policies ORDER BY version DESC LIMIT 1`)
  return row
}

export async function findPolicyVersion(tx: Tx, version: number): Promise<PolicyRow | undefined> {
  const [row] = await tx.query<PolicyRow>(`SELECT ${POLICY} FROM risk_policies WHERE version = $1`, [version])
  return row
}

/** The current policy as the factors read it. */
export async function currentPolicy(tx: Tx): Promise<Required<Policy>> {
  const row = await findPolicy(tx)
  return toPolicy(row?.policy ?? DEFAULT_POLICY, row?.version ?? 0)
}

/** Newest first. */
export async function findPolicies(
  tx: Tx,
  { before, limit }: { before: number | undefined; limit: number },
): Promise<PolicyRow[]> {
  return tx.query<PolicyRow>(
    `SELECT ${POLICY} FROM risk_policies WHERE ($1::int IS NULL OR version < $1) ORDER BY version DESC LIMIT $2`,
    [before ?? null, limit],
  )
}

export async function insertPolicy(tx: Tx, scope: Scope, row: Omit<PolicyRow, 'createdAt'>): Promise<PolicyRow> {
  const [inserted] = await tx.query<PolicyRow>(
    `INSERT INTO risk_policies (account_id, environment, version, policy, key_id) VALUES ($1, $2, $3, $4, $5)
     RETURNING ${POLICY}`,
    [scope.accountId, scope.environment, row.version, JSON.stringify(row.policy), row.changedBy],
  )
  if (inserted === undefined) throw new Error('a policy that was just inserted is not there')
  return inserted
}

export const purgePolicies: PurgeStep = async (tx, _scope, { before, limit }) => {
  const gone = await tx.query(
    `DELETE FROM risk_policies WHERE version = ANY(ARRAY(
       SELECT version FROM risk_policies WHERE created_at < $1 ORDER BY version LIMIT $2)) RETURNING 1`,
    [before, limit],
  )
  return gone.length
}
