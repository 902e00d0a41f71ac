import type { Tx } from '#src/platform/db/database.ts'
import type { Scope } from '#src/platform/ids.ts'

/** A CA certificate that an account trusts, for one purpose. */
export interface CaRow {
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

/** One table per purpose, with the same columns. */
export type CaTable = 'root_cas' | 'c2pa_anchors'

const CA = `id, name, certificate, fingerprint, not_before AS "notBefore", not_after AS "notAfter",
  created_at AS "createdAt"`

/** Every certificate of the account and environment, oldest first: at most `MAX_CAS`. */
export async function findCas(tx: Tx, table: CaTable): Promise<CaRow[]> {
  return tx.query<CaRow>(`SELECT ${CA} FROM ${table} ORDER BY id`)
}

export async function findCa(tx: Tx, table: CaTable, id: string): Promise<CaRow | undefined> {
  const [row] = await tx.query<CaRow>(`SELECT ${CA} FROM ${table} WHERE id = $1`, [id])
  return row
}

/** Serializes the registrations of one account and environment, so that the count before an insert stays valid. */
export async function lockCas(tx: Tx, scope: Scope, table: CaTable): Promise<void> {
  await tx.query(`SELECT pg_advisory_xact_lock(hashtextextended($1, 0))`, [
    `${table} ${scope.accountId} ${scope.environment}`,
  ])
}

export async function insertCa(
  tx: Tx,
  scope: Scope,
  table: CaTable,
  { id, name, certificate, fingerprint, subject, notBefore, notAfter, createdAt }: CaRow & { subject: string },
): Promise<void> {
  await tx.query(
    `INSERT INTO ${table} (account_id, environment, id, name, certificate, fingerprint, subject, not_before, not_after,
       created_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
    [scope.accountId, scope.environment, id, name, certificate, fingerprint, subject, notBefore, notAfter, createdAt],
  )
}

/** Returns what was deleted; undefined when there is no such certificate. */
export async function deleteCa(tx: Tx, table: CaTable, id: string): Promise<CaRow | undefined> {
  const [gone] = await tx.query<CaRow>(`DELETE FROM ${table} WHERE id = $1 RETURNING ${CA}`, [id])
  return gone
}
