// What the rows say of submissions that are to be judged. Those of one account that come together are looked at together:
// two round trips for all of them.

import { createCrowds } from '#src/platform/crowds.ts'
import type { Database, Tx } from '#src/platform/db/database.ts'
import type { Scope } from '#src/platform/ids.ts'
import { inSpan } from '#src/platform/trace.ts'
import type { Facts } from '../factors/facts.ts'
import { currentPolicy } from '../policy/rows.ts'
import { screeningFactors } from '../screen/rows.ts'
import { type Gathered, gather } from './gather.ts'
import { findSubmitted, type SubmittedRow } from './rows.ts'

export interface Look {
  submitted: SubmittedRow
  gathered: Gathered
  policy: Required<Facts['policy']>
  screening: NonNullable<Facts['screening']>
}

/** Looks at one submission; undefined when it is gone. */
export function createLook(db: Pick<Database, 'tenant'>): (scope: Scope, id: string) => Promise<Look | undefined> {
  const join = createCrowds<{ scope: Scope; id: string }, Look | undefined>({
    keyOf: ({ scope }) => `${scope.accountId} ${scope.environment}`,
    isSplitOnFailure: true,
    async run(crowd) {
      const ids = crowd.map(({ id }) => id)
      const found = await db.tenant(crowd[0].scope, (tx) => lookAt(tx, ids))
      return ids.map((id) => found.get(id))
    },
  })
  return (scope, id) =>
    inSpan(
      () => ({ name: 'look' }),
      () => join({ scope, id }),
    )
}

/** The same for several, in the caller's transaction, by their ids. */
export async function lookAt(tx: Tx, ids: readonly string[]): Promise<Map<string, Look>> {
  const submitted = await findSubmitted(tx, ids)
  if (submitted.length === 0) return new Map()
  const [policy, gathered, screenings] = await Promise.all([
    currentPolicy(tx),
    gather(tx, submitted),
    screeningFactors(
      tx,
      submitted.map(({ mediaSha256 }) => mediaSha256),
    ),
  ])
  const looks = new Map<string, Look>()
  for (const [index, one] of submitted.entries()) {
    const own = gathered[index]
    if (own !== undefined) {
      looks.set(one.id, { submitted: one, gathered: own, policy, screening: screenings[index] ?? [] })
    }
  }
  return looks
}
