// Rows of exclusion lists: one in each table, and lists of today for tests of orders, which are refused without.

import { randomBytes } from 'node:crypto'
import type { Tx } from '#src/platform/db/database.ts'
import { newId, type Scope } from '#src/platform/ids.ts'
import type { TestDatabase } from './database.ts'

export async function fillExclusions(
  tx: Tx,
  insert: (table: string, row: Record<string, unknown>) => Promise<unknown>,
  id: (type: 'exi' | 'exs' | 'exr' | 'prs' | 'key') => string,
): Promise<void> {
  const [file] = await tx.query<{ id: number }>(
    `INSERT INTO exclusion_files (list, kind, sha256, rows) VALUES ('leie', 'full', $1, 1) RETURNING id`,
    [randomBytes(32)],
  )
  const made = id('exi')
  const common = { list: 'leie', file_id: file?.id, list_date: '2026-11-20' }
  const at = new Date()
  await insert('exclusion_imports', {
    ...common,
    id: made,
    kind: 'full',
    sha256: randomBytes(32),
    size: 1,
    is_forced: false,
    status: 'succeeded',
    rows: 1,
    requested_by: id('key'),
    created_at: at,
  })
  await insert('exclusion_pointers', { ...common, import_id: made, changed_at: at })
  const screening = id('exs')
  const prescriber = id('prs')
  await insert('exclusion_screenings', { id: screening, cause: 'leie', status: 'succeeded', created_at: at })
  await insert('exclusion_changes', {
    screening_id: screening,
    prescriber_id: prescriber,
    status_before: 'clear',
    status: 'review',
    evidence: '[]',
    changed_at: at,
  })
  await insert('exclusion_reviews', {
    id: id('exr'),
    prescriber_id: prescriber,
    list: 'leie',
    row_hash: randomBytes(32),
    list_date: '2026-11-20',
    matched_on: 'name',
    created_at: at,
  })
}

export interface ListedToday {
  list?: 'leie' | 'sam'
  npi?: string
  /** A prescriber whose name the entry has. */
  nameOf?: string
}

/** Brings a list of today into force whose only entry has a number or the name of a prescriber, or is of nobody. */
export async function listToday(
  { owner }: Pick<TestDatabase, 'owner'>,
  { accountId, environment }: Scope,
  { list = 'leie', npi, nameOf }: ListedToday = {},
): Promise<void> {
  const importId = newId('exi', environment)
  await owner(
    `WITH file AS (INSERT INTO exclusion_files (list, kind, sha256, rows) VALUES ($7, 'full', $4, 1) RETURNING id),
     entry AS (INSERT INTO exclusion_entries (file_id, row_number, row_hash, npi, match_name)
       SELECT id, 1, $4, $5, (SELECT match_name FROM prescribers WHERE id = $6) FROM file)
     INSERT INTO exclusion_imports (account_id, environment, id, list, kind, sha256, size, is_forced, status, rows, file_id,
       list_date, requested_by, created_at)
     SELECT $1, $2, $3, $7, 'full', $4, 1, false, 'succeeded', 1, id, current_date, 'key', now() FROM file`,
    [accountId, environment, importId, randomBytes(32), npi ?? null, nameOf ?? null, list],
  )
  await owner(
    `INSERT INTO exclusion_pointers (account_id, environment, list, file_id, list_date, import_id, changed_at)
     SELECT account_id, environment, list, file_id, list_date, id, now() FROM exclusion_imports WHERE id = $1
     ON CONFLICT (account_id, environment, list) DO UPDATE SET file_id = excluded.file_id, import_id = excluded.import_id`,
    [importId],
  )
}

/** Both lists, with an entry of nobody each. */
export async function listNobodyToday(test: Pick<TestDatabase, 'owner'>, scope: Scope): Promise<void> {
  for (const list of ['leie', 'sam'] as const) await listToday(test, scope, { list })
}
