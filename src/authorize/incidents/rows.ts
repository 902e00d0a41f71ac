// Incident reports: one for each account and environment and each day in UTC.

import type { Tx } from '#src/platform/db/database.ts'
import type { Scope } from '#src/platform/ids.ts'

/** Deletes the reports that were made before a time. */
export async function purgeReports(
  tx: Tx,
  { accountId, environment }: Scope,
  { before }: { before: Date },
): Promise<number> {
  const gone = await tx.query(
    `DELETE FROM clinical_incident_reports WHERE account_id = $1 AND environment = $2 AND created_at < $3 RETURNING 1`,
    [accountId, environment, before],
  )
  return gone.length
}
