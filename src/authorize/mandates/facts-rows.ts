// Reads a mandate with its ancestors for a decision. What depends on the time is computed by the clock of Postgres.

import type { Tx } from '#src/platform/db/database.ts'
import type { MandateFacts } from './judge.ts'

/** `share` is held against changes by others, `update` against charges too. Taken root first. */
export type MandateLock = 'none' | 'share' | 'update'

/**
 * Statements that are sent together, each of which sees what was committed before the locks were had. undefined: there is no
 * such mandate in the scope; a token that names it is refused as `mandate_revoked`.
 */
export async function readMandateFacts(
  _tx: Tx,
  _mandateId: string,
  _lock: MandateLock,
): Promise<MandateFacts | undefined> {
  throw new Error('not yet')
}
