// Statements are sent before the ones ahead of them are answered. After an error Postgres refuses all that follow in the
// transaction (25P02), and which of these errors a caller sees first is chance. Only the first one tells a lock timeout, which
// may pass, from an error of the service.

import { setImmediate as turn } from 'node:timers/promises'
import pg from 'pg'

export const IN_FAILED_TRANSACTION = '25P02'

/** Returns a function for one transaction, which gives the original error for each error of a statement. */
export function createCauses(): (error: unknown) => Promise<unknown> {
  let first: unknown
  return async (error) => {
    if (!(error instanceof pg.DatabaseError && error.code === IN_FAILED_TRANSACTION)) {
      first ??= error
      return error
    }
    // Postgres has sent the other error before this one, but it may pass through more promises on its way here.
    if (first === undefined) await turn()
    return first ?? error
  }
}
