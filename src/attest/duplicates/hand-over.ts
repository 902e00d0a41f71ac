// Gives jobs to fingerprints that wait without one. Only processes of the version that compared in a loop of the process
// clock leave such rows, during an upgrade. To be removed, with the column leased_until, in the version that no longer
// upgrades from that one. The version before this one writes leased_until with each fingerprint.

import type { Database } from '#src/platform/db/database.ts'
import { findUnqueued, queueUnqueued } from './rows.ts'

const STEP = 1_000

/** Returns how many jobs it made. */
export function createHandOver({ db }: { db: Database }): (signal: AbortSignal) => Promise<number> {
  return async (signal) => {
    for (let total = 0; ; ) {
      const found = await db.system('comparisons without a job', (tx) => findUnqueued(tx, STEP))
      const tenants = Map.groupBy(found, ({ accountId, environment }) => `${accountId} ${environment}`)
      for (const rows of tenants.values()) {
        const [scope] = rows
        if (scope === undefined || signal.aborted) continue
        const ids = rows.map(({ attestationId }) => attestationId)
        total += await db.tenant(scope, (tx) => queueUnqueued(tx, scope, ids))
      }
      if (found.length < STEP || signal.aborted) return total
    }
  }
}
