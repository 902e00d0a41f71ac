import type { Tx } from '#src/platform/db/database.ts'
import type { Scope } from '#src/platform/ids.ts'

export interface C2paAnchorRow {
  id: string
  name: string
  /** DER. */
  certificate: Buffer
  /** SHA-256 of `certificate`. */
  fingerprint: Buffer
  notBefore: Date
  notAfter: Date
  createdAt: Date
}

/** Every anchor of the account and environment: at most `MAX_C2PA_ANCHORS`. */
export async function findC2paAnchors(tx: Tx): Promise<C2paAnchorRow[]> {
  return tx.query<C2paAnchorRow>(`SELECT ${ANCHOR} FROM c2pa_anchors ORDER BY id`)
}

export async function findC2paAnchor(tx: Tx, id: string): Promise<C2paAnchorRow | undefined> {
  const [anchor] = await tx.query<C2paAnchorRow>(`SELECT ${ANCHOR} FROM c2pa_anchors WHERE id = $1`, [id])
  return anchor
}

/** Serialises the registrations of one account and environment, so that counting before inserting holds. */
export async function lockC2paAnchors(tx: Tx, scope: Scope): Promise<void> {
  await tx.query(`SELECT pg_advisory_xact_lock(hashtextextended($1, 0))`, [
    `c2pa_anchors ${scope.accountId} ${scope.environment}`,
  ])
}

export async function insertC2paAnchor(
  tx: Tx,
  scope: Scope,
  anchor: C2paAnchorRow & { subject: string },
): Promise<void> {
  await tx.query(
    `INSERT INTO c2pa_anchors (account_id, environment, id, name, certificate, fingerprint, subject, not_before, not_after,
       created_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
    [
      scope.accountId,
      scope.environment,
      anchor.id,
      anchor.name,
      anchor.certificate,
      anchor.fingerprint,
      anchor.subject,
      anchor.notBefore,
      anchor.notAfter,
      anchor.createdAt,
    ],
  )
}

/** False when there is no such anchor. */
export async function deleteC2paAnchor(tx: Tx, id: string): Promise<boolean> {
  const gone = await tx.query('DELETE FROM c2pa_anchors WHERE id = $1 RETURNING id', [id])
  return gone.length === 1
}

const ANCHOR = `id, name, certificate, fingerprint, not_before AS "notBefore", not_after AS "notAfter",
  created_at AS "createdAt"`
