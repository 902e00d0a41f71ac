// A row in each table of exclusion lists.

import { randomBytes } from 'node:crypto'
import type { Tx } from '#src/platform/db/database.ts'

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
