// Gives jobs to re-evaluations without one. Only processes of the version before make such rows, during an upgrade: they
// searched in a loop of the process clock. To be removed in the version that no longer upgrades from that one.

import { findJobless, queueJobless } from '#src/attest/causes/rows.ts'
import type { Database } from '#src/platform/db/database.ts'

const STEP = 100

/** Returns how many jobs it made. */
export function createHandOver({ db }: { db: Database }): () => Promise<number> {
  return async () => {
    const found = await db.system('re-evaluations without a job', (tx) => findJobless(tx, STEP))
    for (const { id, scope } of found) await db.tenant(scope, (tx) => queueJobless(tx, scope, id))
    return found.length
  }
}
