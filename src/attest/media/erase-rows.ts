// The rows of media in erasure. An eraser locks the rows, reads the attestations in a later statement, and changes the
// state in the same transaction. So an attestation that refers to the media was committed before that read, or waits
// for the commit and then finds no such media.

import type { Tx } from '#src/platform/db/database.ts'
import { newId, type Scope } from '#src/platform/ids.ts'

/** A row in the state `erasing` whose lease this process holds. */
export interface Doomed {
  id: string
  /** 64 lower-case hexadecimal digits. */
  sha256: string
}

// Deleting a blob takes seconds at worst: a process that holds rows for longer is dead.
const LEASE = `interval '5 minutes'`
const DOOMED = `id, encode(sha256, 'hex') AS sha256`

/**
 * Marks media for erasure that no row refers to and that were not uploaded again since `before`. Media with references
 * are marked as needed, and skipped from then on. `idsBefore` limits the scan.
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

/**
 * Marks stored media for erasure, permanently. The caller holds the locks on their rows and knows that nothing may need
 * them.
 */
export async function takeMedia(tx: Tx, ids: readonly string[]): Promise<Doomed[]> {
  if (ids.length === 0) return []
  return tx.query<Doomed>(
    `UPDATE media SET state = 'erasing', erasing_since = now() WHERE id = ANY($1) AND state = 'stored' RETURNING ${DOOMED}`,
    [ids],
  )
}

/** Takes over erasures that another process began and did not finish; of `among`, or of all. */
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

/** Records that the bytes are gone: rows that attestations name stay for their hash, the others are deleted. */
export async function finishErasing(tx: Tx, ids: readonly string[]): Promise<void> {
  const referenced = await findReferenced(tx, ids)
  await tx.query(
    `UPDATE media SET state = 'erased', erased_at = now(), erasing_since = NULL WHERE id = ANY($1) AND state = 'erasing'`,
    [[...referenced]],
  )
  await tx.query(`DELETE FROM media WHERE id = ANY($1) AND state = 'erasing'`, [without(ids, referenced)])
}

/** Returns those of the hashes that no row names. */
export async function findStrays(tx: Tx, hashes: readonly string[]): Promise<string[]> {
  const known = await tx.query<{ sha256: string }>(
    `SELECT encode(sha256, 'hex') AS sha256 FROM media WHERE sha256 = ANY($1::bytea[]) AND state <> 'erased'
     -- Archives of the account and exclusion lists have no row here.
     UNION ALL SELECT encode(sha256, 'hex') FROM account_exports WHERE sha256 = ANY($1::bytea[]) AND state = 'ready'
     UNION ALL SELECT encode(sha256, 'hex') FROM exclusion_imports WHERE sha256 = ANY($1::bytea[])`,
    [hashes.map((hash) => Buffer.from(hash, 'hex'))],
  )
  return without(hashes, new Set(known.map(({ sha256 }) => sha256)))
}

/**
 * Inserts a row for bytes that have none, so that no upload gets them while they are erased. undefined: there is a row.
 */
export async function takeStray(tx: Tx, scope: Scope, sha256: string): Promise<Doomed | undefined> {
  const [row] = await tx.query<Doomed>(
    `INSERT INTO media (account_id, environment, id, sha256, size, content_type, state, erasing_since)
     VALUES ($1, $2, $3, $4, 0, 'application/octet-stream', 'erasing', now())
     ON CONFLICT (sha256, account_id, environment) WHERE state <> 'erased' DO NOTHING RETURNING ${DOOMED}`,
    [scope.accountId, scope.environment, newId('med', scope.environment), Buffer.from(sha256, 'hex')],
  )
  return row
}

/** Deletes rows of erased media that nothing names any more. Returns how many. */
export async function purgeErased(tx: Tx, { idsBefore, limit }: { idsBefore: string; limit: number }): Promise<number> {
  const found = await tx.query<{ id: string }>(
    `SELECT id FROM media WHERE id < $1 AND state = 'erased' ORDER BY id LIMIT $2 FOR UPDATE SKIP LOCKED`,
    [idsBefore, limit],
  )
  const ids = found.map(({ id }) => id)
  const unreferenced = without(ids, await findReferenced(tx, ids))
  await tx.query('DELETE FROM media WHERE id = ANY($1)', [unreferenced])
  return unreferenced.length
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

/** Inserts rows with only the hash and the format of these media. Returns the copy's id by the original's. */
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

/** Clears retention's mark that these media are needed, so that it checks them again. */
export async function noteUnreferenced(tx: Tx, ids: readonly string[]): Promise<void> {
  await tx.query('UPDATE media SET is_referenced = false WHERE id = ANY($1) AND is_referenced', [ids])
}
