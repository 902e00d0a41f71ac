// Vendors' lists belong to the deployment: one row each, locked by the process that fetches it.

import type { Tx } from '#src/platform/db/database.ts'

export interface ListRow {
  url: string
  digest: Buffer | null
  fetchedAt: Date | null
  attemptedAt: Date
  failure: string | null
  count: number
  /** Null when the caller already has it, by its digest. */
  entries: Record<string, string> | null
}

export async function findList(tx: Tx, name: string, known: Buffer | undefined): Promise<ListRow | undefined> {
  const [row] = await tx.query<ListRow>(
    `SELECT url, digest, fetched_at AS "fetchedAt", attempted_at AS "attemptedAt", failure,
       (SELECT count(*) FROM jsonb_object_keys(entries)) AS count,
       CASE WHEN digest IS DISTINCT FROM $2 THEN entries END AS entries
     FROM revocation_lists WHERE name = $1`,
    [name, known ?? null],
  )
  return row
}

/**
 * Locks the list for a fetch when one is due; undefined when it is not due or locked by another process. Deletes a list
 * that was fetched from another address. Returns how many keys it names so far.
 */
export async function takeList(
  tx: Tx,
  { name, url }: { name: string; url: string },
  { everySeconds, retrySeconds }: { everySeconds: number; retrySeconds: number },
): Promise<{ count: number } | undefined> {
  const [taken] = await tx.query<{ count: number }>(
    `INSERT INTO revocation_lists AS known (name, url, attempted_at) VALUES ($1, $2, now())
     ON CONFLICT ON CONSTRAINT revocation_lists_pkey DO UPDATE SET
       url = excluded.url,
       attempted_at = excluded.attempted_at,
       entries = CASE WHEN known.url = excluded.url THEN known.entries ELSE '{}' END,
       digest = CASE WHEN known.url = excluded.url THEN known.digest END,
       changed_at = CASE WHEN known.url = excluded.url THEN known.changed_at END,
       fetched_at = CASE WHEN known.url = excluded.url THEN known.fetched_at END,
       -- Until the new list is fetched no evidence counts; evaluations until then are re-evaluated with it.
       applied_digest = CASE WHEN known.url = excluded.url THEN known.applied_digest END,
       applied_serials = CASE WHEN known.url = excluded.url THEN known.applied_serials END
     WHERE known.url <> excluded.url
       OR (known.attempted_at < now() - make_interval(secs => $4)
         AND (known.failure IS NOT NULL OR known.fetched_at IS NULL OR known.fetched_at < now() - make_interval(secs => $3)))
     RETURNING (SELECT count(*) FROM jsonb_object_keys(entries)) AS count`,
    [name, url, everySeconds, retrySeconds],
  )
  return taken
}

export async function storeList(
  tx: Tx,
  { name, url }: { name: string; url: string },
  { entries, digest }: { entries: ReadonlyMap<string, string>; digest: Buffer },
): Promise<void> {
  await tx.query(
    `UPDATE revocation_lists SET entries = $3, digest = $4, fetched_at = now(), failure = NULL,
       changed_at = CASE WHEN digest IS DISTINCT FROM $4 THEN now() ELSE changed_at END
     WHERE name = $1 AND url = $2`,
    [name, url, JSON.stringify(Object.fromEntries(entries)), digest],
  )
}

export async function noteListFailure(
  tx: Tx,
  { name, url }: { name: string; url: string },
  failure: string,
): Promise<void> {
  await tx.query('UPDATE revocation_lists SET failure = $3 WHERE name = $1 AND url = $2', [name, url, failure])
}

/** A list whose changes have not been applied to evaluated attestations yet. */
export interface UnappliedList {
  name: string
  digest: Buffer
  changedAt: Date
  serials: string[]
  /** Null: no list was applied before. */
  appliedSerials: string[] | null
}

export async function findUnapplied(tx: Tx): Promise<UnappliedList[]> {
  return tx.query<UnappliedList>(
    `SELECT name, digest, changed_at AS "changedAt", ARRAY(SELECT jsonb_object_keys(entries)) AS serials,
       applied_serials AS "appliedSerials"
     FROM revocation_lists WHERE digest IS NOT NULL AND applied_digest IS DISTINCT FROM digest`,
  )
}

export async function markApplied(tx: Tx, { name, digest, serials }: UnappliedList): Promise<void> {
  await tx.query(
    'UPDATE revocation_lists SET applied_digest = $2, applied_serials = $3 WHERE name = $1 AND digest = $2',
    [name, digest, serials],
  )
}
