// Erases accounts that were closed 30 days ago: their blobs, every row of every table that a feature declares, and the
// name of the account. Each step is a transaction of its own and safe to repeat: a process that ends in the middle
// leaves the rest to the next run.

import type { Database } from '#src/platform/db/database.ts'
import type { TenantTable } from '#src/platform/feature.ts'
import { erasedAfter } from '#src/platform/http/closed.ts'
import type { Log } from '#src/platform/log.ts'
import type { BlobStore } from '#src/platform/store/blobs.ts'
import { eraseRows, findClosed, markAccountErased, orderForErasure } from '../keys/account-rows.ts'
import type { Closure } from './closure.ts'

const STEP_ROWS = 5_000
// Concurrent deletes: an S3-compatible server handles this many in the time of one.
const AT_ONCE = 8
const ENVIRONMENTS = ['sandbox', 'live'] as const
// Its row remains: ids of accounts are never given twice.
const ACCOUNT_TABLE = 'accounts'

interface ClosedAccountsDeps {
  db: Pick<Database, 'system'>
  store: Pick<BlobStore, 'list' | 'delete'>
  tables: () => readonly TenantTable[]
  hold: Closure['hold']
  now: () => Date
  log: Log
  stepRows?: number
}

/** Holds the jobs of closed accounts, and erases those whose time is over. Returns how many it erased. */
export function createClosedAccounts(deps: ClosedAccountsDeps): (signal: AbortSignal) => Promise<number> {
  const { db, store, tables, hold, now, log, stepRows = STEP_ROWS } = deps

  async function erase(accountId: string, signal: AbortSignal): Promise<void> {
    const names = tables()
      .map(({ table }) => table)
      .filter((table) => table !== ACCOUNT_TABLE)
    const ordered = await db.system('erase account', (tx) => orderForErasure(tx, names))
    await eraseBlobs(accountId, signal)
    for (const table of ordered) {
      for (let gone = stepRows; gone === stepRows; ) {
        signal.throwIfAborted()
        gone = await db.system('erase account', (tx) => eraseRows(tx, table, accountId, stepRows))
      }
    }
    // What a request that had begun before stored meanwhile.
    await eraseBlobs(accountId, signal)
    await db.system('erase account', (tx) => markAccountErased(tx, accountId))
    log.info({ account: accountId }, 'account erased')
  }

  async function eraseBlobs(accountId: string, signal: AbortSignal): Promise<void> {
    for (const environment of ENVIRONMENTS) {
      for await (const page of store.list({ accountId, environment })) {
        const waiting = page.values()
        const lane = async () => {
          for (const sha256 of waiting) {
            signal.throwIfAborted()
            await store.delete({ accountId, environment }, sha256)
          }
        }
        await Promise.all(Array.from({ length: AT_ONCE }, lane))
      }
    }
  }

  return async (signal) => {
    let erased = 0
    for (const { id, closedAt } of await db.system('closed accounts', findClosed)) {
      if (signal.aborted) break
      try {
        if (erasedAfter(closedAt) > now()) await hold(id)
        else {
          await erase(id, signal)
          erased += 1
        }
      } catch (error) {
        // Another account must not wait for this one; the next run tries again.
        if (!signal.aborted) log.warn({ account: id, err: error }, 'a closed account could not be worked on')
      }
    }
    return erased
  }
}
