import type { Tx } from '#src/platform/db/database.ts'
import type { Scope } from '#src/platform/ids.ts'

export interface EvalSetRow {
  id: string
  name: string
  prompts: number
  sha256: Buffer
  createdBy: string
  createdAt: Date
}

const SET = 'id, name, prompts, sha256, created_by AS "createdBy", created_at AS "createdAt"'

export async function insertEvalSet(
  tx: Tx,
  { accountId, environment }: Scope,
  row: EvalSetRow & { sealedPrompts: Buffer },
): Promise<void> {
  await tx.query(
    `INSERT INTO eval_sets (account_id, environment, id, name, prompts, sha256, sealed_prompts, created_by, created_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
    [
      accountId,
      environment,
      row.id,
      row.name,
      row.prompts,
      row.sha256,
      row.sealedPrompts,
      row.createdBy,
      row.createdAt,
    ],
  )
}

export async function findEvalSet(tx: Tx, id: string): Promise<EvalSetRow | undefined> {
  const [row] = await tx.query<EvalSetRow>(`SELECT ${SET} FROM eval_sets WHERE id = $1`, [id])
  return row
}

export async function findSealedPrompts(
  tx: Tx,
  id: string,
): Promise<{ name: string; sha256: Buffer; sealedPrompts: Buffer } | undefined> {
  const [row] = await tx.query<{ name: string; sha256: Buffer; sealedPrompts: Buffer }>(
    'SELECT name, sha256, sealed_prompts AS "sealedPrompts" FROM eval_sets WHERE id = $1',
    [id],
  )
  return row
}

/** Whether it is there. If it is, it can't be deleted before the transaction ends. */
export async function lockEvalSet(tx: Tx, id: string): Promise<boolean> {
  return (await tx.query('SELECT 1 FROM eval_sets WHERE id = $1 FOR KEY SHARE', [id])).length > 0
}

export async function countEvalSets(tx: Tx): Promise<number> {
  const [row] = await tx.query<{ count: number }>('SELECT count(*) AS count FROM eval_sets')
  return row?.count ?? 0
}

/** Newest first. */
export async function findEvalSets(
  tx: Tx,
  { before, limit }: { before: string | undefined; limit: number },
): Promise<EvalSetRow[]> {
  return tx.query<EvalSetRow>(
    `SELECT ${SET} FROM eval_sets WHERE $1::text IS NULL OR id < $1 ORDER BY id DESC LIMIT $2`,
    [before ?? null, limit],
  )
}

/** Returns false when the set does not exist. */
export async function deleteEvalSet(tx: Tx, id: string): Promise<boolean> {
  return (await tx.query('DELETE FROM eval_sets WHERE id = $1 RETURNING 1', [id])).length > 0
}
