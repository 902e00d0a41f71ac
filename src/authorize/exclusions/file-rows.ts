// Files and their entries. They have nothing of an account: which of them is in force for an account, its pointer says.

import type { Database, Tx } from '#src/platform/db/database.ts'
import type { FileKind, ListEntry, ListName } from './formats.ts'

export interface ListFile {
  id: number
  rows: number
}

interface FileContent {
  list: ListName
  kind: FileKind
  sha256: Buffer
  /** The file that a supplement is merged with. */
  baseId: number | null
}

export async function findFile(tx: Tx, { list, kind, sha256, baseId }: FileContent): Promise<ListFile | undefined> {
  const [file] = await tx.query<ListFile>(
    `SELECT id, rows FROM exclusion_files
     WHERE sha256 = $1 AND list = $2 AND kind = $3 AND base_id IS NOT DISTINCT FROM $4`,
    [sha256, list, kind, baseId],
  )
  return file
}

/**
 * The caller inserts the entries in the same transaction. Another transaction that stores the same content waits for its end, and
 * its lock times out when that takes long: the job is tried again.
 * @returns undefined when another transaction has stored the content meanwhile.
 */
export async function insertFile(
  tx: Tx,
  { list, kind, sha256, baseId, rows, newestOn }: FileContent & { rows: number; newestOn: string | null },
): Promise<ListFile | undefined> {
  const [file] = await tx.query<ListFile>(
    `INSERT INTO exclusion_files (list, kind, sha256, base_id, rows, newest_on) VALUES ($1, $2, $3, $4, $5, $6)
     ON CONFLICT (sha256, list, kind, base_id) DO NOTHING RETURNING id, rows`,
    [list, kind, sha256, baseId, rows, newestOn],
  )
  return file
}

/** @param from Number of the first row. */
export async function insertEntries(
  tx: Tx,
  fileId: number,
  { from, entries }: { from: number; entries: readonly ListEntry[] },
): Promise<void> {
  const column = <Name extends keyof ListEntry>(name: Name) => entries.map((entry) => entry[name])
  await tx.query(
    `INSERT INTO exclusion_entries (file_id, row_number, row_hash, identity, npi, match_full, match_name, match_state, started_on,
       ended_on, waived_in, waived_on)
     SELECT $1, $2 + e.place - 1, row_hash, identity, npi, match_full, match_name, match_state, started_on, ended_on, waived_in, waived_on
     FROM unnest($3::bytea[], $4::bytea[], $5::text[], $6::bytea[], $7::bytea[], $8::bytea[], $9::date[], $10::date[], $11::text[],
       $12::date[]) WITH ORDINALITY AS e (row_hash, identity, npi, match_full, match_name, match_state, started_on, ended_on,
       waived_in, waived_on, place)`,
    [
      fileId,
      from,
      column('rowHash'),
      column('identity'),
      column('npi'),
      column('fullKey'),
      column('nameKey'),
      column('stateKey'),
      column('startedOn'),
      column('endedOn'),
      column('waivedIn'),
      column('waivedOn'),
    ],
  )
}

/** Returns the hashes that a file has, in hexadecimal. */
export async function findKnownHashes(tx: Tx, fileId: number, hashes: readonly Buffer[]): Promise<Set<string>> {
  const rows = await tx.query<{ hash: string }>(
    `SELECT DISTINCT encode(row_hash, 'hex') AS hash FROM exclusion_entries WHERE file_id = $1 AND row_hash = ANY($2::bytea[])`,
    [fileId, hashes],
  )
  return new Set(rows.map(({ hash }) => hash))
}

/** Copies the entries of a file. Those that `ended` names end on the day that it gives. */
export async function copyEntries(
  tx: Tx,
  { from, to }: { from: number; to: number },
  ended: readonly Pick<ListEntry, 'identity' | 'endedOn'>[],
): Promise<void> {
  await tx.query(
    `INSERT INTO exclusion_entries (file_id, row_number, row_hash, identity, npi, match_full, match_name, match_state, started_on,
       ended_on, waived_in, waived_on)
     SELECT $2, e.row_number, e.row_hash, e.identity, e.npi, e.match_full, e.match_name, e.match_state, e.started_on,
       COALESCE(r.ended_on, e.ended_on), e.waived_in, e.waived_on
     FROM exclusion_entries e
     LEFT JOIN (SELECT identity, max(ended_on) AS ended_on FROM unnest($3::bytea[], $4::date[]) AS r (identity, ended_on)
       GROUP BY identity) r ON r.identity = e.identity
     WHERE e.file_id = $1`,
    [from, to, ended.map(({ identity }) => identity), ended.map(({ endedOn }) => endedOn)],
  )
}

/** Deletes files older than `before` that no pointer names, with their entries. The uploaded bytes stay in the store. */
export async function purgeFiles(db: Pick<Database, 'system'>, before: Date): Promise<number> {
  for (let purged = 0; ; purged += 1) {
    // One at a time: each has up to 150,000 entries.
    const gone = await db.system('unused exclusion lists', (tx) =>
      tx.query(
        `DELETE FROM exclusion_files WHERE id = (SELECT f.id FROM exclusion_files f WHERE f.created_at < $1
           AND NOT EXISTS (SELECT FROM exclusion_pointers p WHERE p.file_id = f.id)
           AND NOT EXISTS (SELECT FROM exclusion_files o WHERE o.base_id = f.id) ORDER BY f.id DESC LIMIT 1) RETURNING 1`,
        [before],
      ),
    )
    if (gone.length === 0) return purged
  }
}
