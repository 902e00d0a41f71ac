// The rows of media on their way out. Whoever decides has them locked, looks for attestations in a statement after that,
// and changes the state in the same transaction: an attestation that refers to them was committed before the look, or waits
// for the commit and then finds no such media.

import type { Tx } from '#src/platform/db/database.ts'
import { newId, type Scope } from '#src/platform/ids.ts'

/** A row in the state `erasing`, whose lease is ours. */
export interface Doomed {
  id: string
  /** 64 lower-case hexadecimal digits. */
  sha256: string
}

// Deleting a blob takes seconds at worst: whoever holds rows for longer is dead.
const LEASE = `interval '5 minutes'`
const DOOMED = `id, encode(sha256, 'hex') AS sha256`

/**
 * Takes media out of use that nobody refers to and that did not come again since `before`. Those that are referred to are
 * noted, and not looked at again. `idsBefore` narrows the look.
 */
export async function takeUnreferenced(
  tx: Tx,
  { before, idsBefore, limit }: { before: Date; idsBefore: string; limit: number },
): Promise<{ taken: Doomed[]; looked: number }> {
  const found = await tx.query<{ id: string }>(
    `SELECT id FROM media WHERE id < $1 AND state = 'stored' AND NOT is_referenced AND uploaded_at < $2
     ORDER BY id LIMIT $3 FOR UPDATE SKIP LOCKED`,
    [idsBefore, before, limit],
  )
  const ids = found.map(({ id }) => id)
  const referenced = await findReferenced(tx, ids)
  await tx.query('UPDATE media SET is_referenced = true WHERE id = ANY($1)', [[...referenced]])
  return { taken: await takeMedia(tx, without(ids, referenced)), looked: ids.length }
}

/** Takes stored media out of use, for good. Their rows are locked by the caller, who knows that nothing may need them. */
export async function takeMedia(tx: Tx, ids: readonly string[]): Promise<Doomed[]> {
  if (ids.length === 0) return []
  return tx.query<Doomed>(
    `UPDATE media SET state = 'erasing', erasing_since = now() WHERE id = ANY($1) AND state = 'stored' RETURNING ${DOOMED}`,
    [ids],
  )
}

/** Takes over what somebody began to erase and did not finish; of `among`, or of all. */
export async function takeUnfinished(tx: Tx, limit: number, among?: readonly string[]): Promise<Doomed[]> {
  const found = await tx.query<{ id: string }>(
    `SELECT id FROM media WHERE state = 'erasing' AND erasing_since < now() - ${LEASE}
       AND ($2::text[] IS NULL OR id = ANY($2)) ORDER BY id LIMIT $1 FOR UPDATE SKIP LOCKED`,
    [limit, among ?? null],
  )
  if (found.length === 0) return []
  return tx.query<Doomed>(`UPDATE media SET erasing_since = now() WHERE id = ANY($1) RETURNING ${DOOMED}`, [
    found.map(({ id }) => id),
  ])
}

/** Whether any of these is still being erased. */
export async function isErasing(tx: Tx, ids: readonly string[]): Promise<boolean> {
  const rows = await tx.query(`SELECT id FROM media WHERE id = ANY($1) AND state = 'erasing' LIMIT 1`, [ids])
  return rows.length > 0
}

/** The bytes are gone: rows that attestations name stay for their hash, the others go too. */
export async function finishErasing(tx: Tx, ids: readonly string[]): Promise<void> {
  const referenced = await findReferenced(tx, ids)
  await tx.query(
    `UPDATE media SET state = 'erased', erased_at = now(), erasing_since = NULL WHERE id = ANY($1) AND state = 'erasing'`,
    [[...referenced]],
  )
  await tx.query(`DELETE FROM media WHERE id = ANY($1) AND state = 'erasing'`, [without(ids, referenced)])
}

/** Of these hashes, those that no row names. */
export async function findStrays(tx: Tx, hashes: readonly string[]): Promise<string[]> {
  const known = await tx.query<{ sha256: string }>(
    `SELECT encode(sha256, 'hex') AS sha256 FROM media WHERE sha256 = ANY($1::bytea[]) AND state <> 'erased'`,
    [hashes.map((hash) => Buffer.from(hash, 'hex'))],
  )
  return without(hashes, new Set(known.map(({ sha256 }) => sha256)))
}

/** Makes a row for bytes that have none, so that nobody gets one for them while they are erased. undefined: somebody has. */
export async function takeStray(tx: Tx, scope: Scope, sha256: string): Promise<Doomed | undefined> {
  const [row] = await tx.query<Doomed>(
    `INSERT INTO media (account_id, environment, id, sha256, size, content_type, state, erasing_since)
     VALUES ($1, $2, $3, $4, 0, 'application/octet-stream', 'erasing', now())
     ON CONFLICT (sha256, account_id, environment) WHERE state <> 'erased' DO NOTHING RETURNING ${DOOMED}`,
    [scope.accountId, scope.environment, newId('med', scope.environment), Buffer.from(sha256, 'hex')],
  )
  return row
}

/** Rows of erased media that nothing names any more. Answers how many went. */
export async function purgeErased(tx: Tx, { idsBefore, limit }: { idsBefore: string; limit: number }): Promise<number> {
  const found = await tx.query<{ id: string }>(
    `SELECT id FROM media WHERE id < $1 AND state = 'erased' ORDER BY id LIMIT $2 FOR UPDATE SKIP LOCKED`,
    [idsBefore, limit],
  )
  const ids = found.map(({ id }) => id)
  const loose = without(ids, await findReferenced(tx, ids))
  await tx.query('DELETE FROM media WHERE id = ANY($1)', [loose])
  return loose.length
}

async function findReferenced(tx: Tx, ids: readonly string[]): Promise<Set<string>> {
  if (ids.length === 0) return new Set()
  const rows = await tx.query<{ id: string }>(
    'SELECT DISTINCT media_id AS id FROM attestations WHERE media_id = ANY($1)',
    [ids],
  )
  return new Set(rows.map(({ id }) => id))
}

function without(ids: readonly string[], others: ReadonlySet<string>): string[] {
  return ids.filter((id) => !others.has(id))
}

export async function lockStored(tx: Tx, ids: readonly string[]): Promise<string[]> {
  const rows = await tx.query<{ id: string }>(
    `SELECT id FROM media WHERE id = ANY($1) AND state = 'stored' ORDER BY id FOR UPDATE`,
    [ids],
  )
  return rows.map(({ id }) => id)
}

/** Rows that hold no more than the hash and the format of these media. Answers the copy's id by the original's. */
export async function insertErasedCopies(tx: Tx, scope: Scope, ids: readonly string[]): Promise<Map<string, string>> {
  const copies = new Map(ids.map((id) => [id, newId('med', scope.environment)]))
  for (const [id, copyId] of copies) {
    await tx.query(
      `INSERT INTO media (account_id, environment, id, sha256, size, content_type, width, height, created_at, uploaded_at,
         state, erased_at)
       SELECT account_id, environment, $2, sha256, size, content_type, width, height, created_at, uploaded_at, 'erased', now()
       FROM media WHERE id = $1`,
      [id, copyId],
    )
  }
  return copies
}

/** Retention noted that these media are needed: that no longer holds, and it looks at them again. */
export async function noteUnreferenced(tx: Tx, ids: readonly string[]): Promise<void> {
  await tx.query('UPDATE media SET is_referenced = false WHERE id = ANY($1) AND is_referenced', [ids])
}
