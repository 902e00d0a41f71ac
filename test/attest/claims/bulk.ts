// Accepts lines as one batch, in a transaction of its own.

import { insertBatch } from '#src/attest/batches/rows.ts'
import type { Acceptance } from '#src/attest/claims/accept.ts'
import { acceptBulk } from '#src/attest/claims/accept-bulk.ts'
import { deferClaims } from '#src/attest/claims/deferred-claims.ts'
import type { BatchLine } from '#src/attest/claims/submission.ts'
import type { Database } from '#src/platform/db/database.ts'
import { newId, type Scope } from '#src/platform/ids.ts'

export function acceptBatch(
  db: Database,
  scope: Scope,
  bodies: readonly BatchLine[],
  { committing = async () => {} }: { committing?: () => Promise<void> } = {},
): Promise<Acceptance[]> {
  return db.tenant(scope, async (tx) => {
    const [batchId, now] = [newId('bat', scope.environment), new Date()]
    await insertBatch(tx, scope, { id: batchId, createdAt: now })
    const claims = await deferClaims(tx, scope, batchId)
    const lines = bodies.map((body, index) => ({ line: index + 1, body }))
    const verdicts = await acceptBulk(tx, scope, lines, { batchId, claims, now })
    await claims.write()
    await committing()
    return verdicts
  })
}
