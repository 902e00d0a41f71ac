import type { Tx } from '#src/platform/db/database.ts'
import { oneRow } from '#src/platform/db/reads.ts'
import type { Scope } from '#src/platform/ids.ts'
import type { PolicyDocument } from './document.ts'

export interface PolicyVersion {
  version: number
  document: PolicyDocument
  /** SHA-256 of the document's canonical JSON, hex. */
  digest: string
  /** The version whose document this one repeats. */
  rolledBackTo: number | null
  /** The key or user; null: the defaults, before any change. */
  changedBy: string | null
  createdAt: Date | null
}

type NewVersion = Omit<PolicyVersion, 'createdAt' | 'changedBy'> & { changedBy: string }

const VERSION = `version, document, encode(digest, 'hex') AS digest, rolled_back_to AS "rolledBackTo",
  changed_by AS "changedBy", created_at AS "createdAt"`

/** Number and digest of the newest version; no row while the defaults apply. */
export const CURRENT_DIGEST = oneRow<Pick<PolicyVersion, 'version' | 'digest'>>(
  `SELECT version, encode(digest, 'hex') AS digest FROM policy_versions ORDER BY version DESC LIMIT 1`,
)

export async function findCurrentDigest(tx: Tx): Promise<Pick<PolicyVersion, 'version' | 'digest'> | undefined> {
  const [row] = await tx.query<Pick<PolicyVersion, 'version' | 'digest'>>(CURRENT_DIGEST)
  return row
}

export async function findCurrentVersion(tx: Tx): Promise<PolicyVersion | undefined> {
  const [row] = await tx.query<PolicyVersion>(`SELECT ${VERSION} FROM policy_versions ORDER BY version DESC LIMIT 1`)
  return row
}

export async function findVersion(tx: Tx, version: number): Promise<PolicyVersion | undefined> {
  const [row] = await tx.query<PolicyVersion>(`SELECT ${VERSION} FROM policy_versions WHERE version = $1`, [version])
  return row
}

export interface VersionSummary extends Omit<PolicyVersion, 'document'> {
  name: string
  rules: number
}

/** Newest first, without the documents. */
export async function listVersions(
  tx: Tx,
  { before, limit }: { before: number | undefined; limit: number },
): Promise<VersionSummary[]> {
  return tx.query<VersionSummary>(
    `SELECT version, encode(digest, 'hex') AS digest, rolled_back_to AS "rolledBackTo", changed_by AS "changedBy",
       created_at AS "createdAt", document->>'name' AS name, jsonb_array_length(document->'rules') AS rules
     FROM policy_versions WHERE ($1::int IS NULL OR version < $1) ORDER BY version DESC LIMIT $2`,
    [before ?? null, limit],
  )
}

export async function insertVersion(tx: Tx, scope: Scope, row: NewVersion): Promise<PolicyVersion> {
  const { version, document, digest, rolledBackTo, changedBy } = row
  const [inserted] = await tx.query<PolicyVersion>(
    `INSERT INTO policy_versions (account_id, environment, version, document, digest, rolled_back_to, changed_by)
     VALUES ($1, $2, $3, $4, decode($5, 'hex'), $6, $7) RETURNING ${VERSION}`,
    [scope.accountId, scope.environment, version, JSON.stringify(document), digest, rolledBackTo, changedBy],
  )
  if (inserted === undefined) throw new Error('a version of the policy that was just inserted is not there')
  return inserted
}

/** How many members have each role. On plans without teams only owners act. */
export async function countRoles(tx: Tx, { accountId }: Scope): Promise<Record<string, number>> {
  const rows = await tx.query<{ role: string; count: number }>(
    `SELECT u.role, count(*) AS count FROM users u JOIN accounts a ON a.id = u.account_id
     WHERE u.account_id = $1 AND u.deprovisioned_at IS NULL AND (u.role = 'owner' OR a.plan = 'enterprise')
     GROUP BY u.role`,
    [accountId],
  )
  return Object.fromEntries(rows.map(({ role, count }) => [role, count]))
}
