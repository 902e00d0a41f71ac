// Loads the rows that an evaluation needs. Submissions of one account that arrive together are loaded together, in two
// round trips.

import type { Facts } from '#src/attest/factors/facts.ts'
import { currentPolicy } from '#src/attest/policy/rows.ts'
import { screeningFactors } from '#src/attest/screen/rows.ts'
import { createBatcher } from '#src/platform/batching.ts'
import type { Database, Tx } from '#src/platform/db/database.ts'
import type { Scope } from '#src/platform/ids.ts'
import { inSpan } from '#src/platform/trace.ts'
import { loadContext } from './context.ts'
import { findSubmitted, type SubmittedRow } from './submission-rows.ts'
import type { CaptureContext } from './verify-capture.ts'

export interface LoadedSubmission {
  submitted: SubmittedRow
  captureContext: CaptureContext
  policy: Required<Facts['policy']>
  screening: NonNullable<Facts['screening']>
}

// Same as in settle.ts.
const PAUSE_MS = 10

/** Loads one submission; undefined when it is gone. */
export function createLoadSubmission(
  db: Pick<Database, 'tenant'>,
): (scope: Scope, id: string) => Promise<LoadedSubmission | undefined> {
  const addToBatch = createBatcher<{ scope: Scope; id: string }, LoadedSubmission | undefined>({
    keyOf: ({ scope }) => `${scope.accountId} ${scope.environment}`,
    isSplitOnFailure: true,
    pauseMs: PAUSE_MS,
    async run(batch) {
      const ids = batch.map(({ id }) => id)
      const found = await db.tenant(batch[0].scope, (tx) => loadSubmissions(tx, ids))
      return ids.map((id) => found.get(id))
    },
  })
  return (scope, id) =>
    inSpan(
      () => ({ name: 'load submission' }),
      () => addToBatch({ scope, id }),
    )
}

/** Loads several in the caller's transaction, by id. */
export async function loadSubmissions(tx: Tx, ids: readonly string[]): Promise<Map<string, LoadedSubmission>> {
  const submitted = await findSubmitted(tx, ids)
  if (submitted.length === 0) return new Map()
  const [policy, captureContext, screenings] = await Promise.all([
    currentPolicy(tx),
    loadContext(tx, submitted),
    screeningFactors(
      tx,
      submitted.map(({ mediaSha256 }) => mediaSha256),
    ),
  ])
  const loaded = new Map<string, LoadedSubmission>()
  for (const [index, one] of submitted.entries()) {
    const own = captureContext[index]
    if (own !== undefined) {
      loaded.set(one.id, { submitted: one, captureContext: own, policy, screening: screenings[index] ?? [] })
    }
  }
  return loaded
}
