// Erases accounts that were closed 30 days ago: their blobs, every row of every table that a feature declares, and the
// name of the account. Each step is a transaction of its own and safe to repeat: a process that ends in the middle
// leaves the rest to the next run.

import type { Database, Tx } from '#src/platform/db/database.ts'
import type { TenantTable } from '#src/platform/feature.ts'
import { isOver } from '#src/platform/http/closed.ts'
import { findOpenWithHeldJobs, findWithJobsToHold, hasJobsToRun } from '#src/platform/jobs/hold.ts'
import type { Log } from '#src/platform/log.ts'
import type { BlobStore } from '#src/platform/store/blobs.ts'
import { type ClosedAccount, eraseRows, findClosed, markAccountErased, orderForErasure } from '../keys/account-rows.ts'
import type { Closure } from './closure.ts'

const STEP_ROWS = 5_000
// Concurrent deletes: an S3-compatible server handles this many in the time of one.
const AT_ONCE = 8
// The jobs of other closed accounts are held this often while an erasure runs.
const HOLD_EVERY_MS = 60_000
const ENVIRONMENTS = ['sandbox', 'live'] as const
// Its row remains: ids of accounts are never given twice.
const ACCOUNT_TABLE = 'accounts'
// Erased of all accounts first: their people are free to sign up anew while the rest, which may take hours, goes on.
const FIRST_TABLES = ['user_sessions', 'users']

type Order = Awaited<ReturnType<typeof orderForErasure>>

interface ClosedAccountsDeps {
  db: Pick<Database, 'system'>
  store: Pick<BlobStore, 'list' | 'delete'>
  tables: () => readonly TenantTable[]
  closure: Pick<Closure, 'hold' | 'release'>
  now: () => Date
  log: Log
  stepRows?: number
}

/** Holds the jobs of closed accounts, releases those of reopened ones, and erases those whose time is over. Returns how many it erased. */
export function createClosedAccounts(deps: ClosedAccountsDeps): (signal: AbortSignal) => Promise<number> {
  const { db, store, tables, closure, now, log, stepRows = STEP_ROWS } = deps
  let heldAtMs = 0
  let order: Order = { early: [], late: [] }
  let freed = new Set<string>()

  /** Returns false when it has to wait for a job. */
  async function erase(accountId: string, signal: AbortSignal): Promise<boolean> {
    // An export that has begun before the 30 days were over stores its archive at its end, after we have listed the blobs.
    const isExporting = (tx: Tx) => hasJobsToRun(tx, accountId, 'export')
    if (await db.system('erase account', isExporting)) return waits(accountId)
    // A request or a job that had begun before may store more meanwhile.
    for (let gone = 1; gone > 0; ) {
      gone = await eraseTables(accountId, order.early, signal)
      gone += await eraseBlobs(accountId, signal)
      gone += await eraseTables(accountId, order.late, signal)
    }
    signal.throwIfAborted()
    const isErased = await db.system('erase account', async (tx) => {
      if (await isExporting(tx)) return false
      await markAccountErased(tx, accountId)
      return true
    })
    if (!isErased) return waits(accountId)
    log.info({ account: accountId }, 'account erased')
    return true
  }

  function waits(accountId: string): false {
    log.info({ account: accountId }, 'the erasure of an account waits for an export')
    return false
  }

  /** Returns how many rows it deleted. */
  async function eraseTables(accountId: string, names: readonly string[], signal: AbortSignal): Promise<number> {
    let total = 0
    for (const table of names) {
      for (let gone = stepRows; gone === stepRows; total += gone) {
        await beforeStep(signal)
        gone = await db.system('erase account', (tx) => eraseRows(tx, table, accountId, stepRows))
      }
    }
    return total
  }

  /** Returns how many blobs it deleted. */
  async function eraseBlobs(accountId: string, signal: AbortSignal): Promise<number> {
    let total = 0
    for (const environment of ENVIRONMENTS) {
      for await (const page of store.list({ accountId, environment })) {
        await beforeStep(signal)
        total += page.length
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
    return total
  }

  async function beforeStep(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    if (now().getTime() - heldAtMs >= HOLD_EVERY_MS) await freeUsers(await holdAll(signal), signal)
  }

  /** Erases the users of accounts whose time is over: the erasure of another may take hours. Returns those accounts. */
  async function freeUsers(closed: readonly ClosedAccount[], signal: AbortSignal): Promise<ClosedAccount[]> {
    const due = closed.filter(({ erasedAfter }) => isOver(erasedAfter, now()))
    for (const { id } of due.filter(({ id }) => !freed.has(id))) {
      freed.add(id)
      await attempt(id, () => eraseTables(id, order.early, signal), signal)
    }
    return due
  }

  /** Returns the closed accounts. */
  async function holdAll(signal: AbortSignal): Promise<ClosedAccount[]> {
    heldAtMs = now().getTime()
    const closed = await db.system('closed accounts', findClosed)
    const ids = closed.map(({ id }) => id)
    for (const id of await db.system('jobs to hold', (tx) => findWithJobsToHold(tx, ids))) {
      await attempt(id, () => closure.hold(id), signal)
    }
    return closed
  }

  /** Another account must not wait for this one; the next run tries again. Returns whether it was done. */
  async function attempt(id: string, work: () => Promise<unknown>, signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return false
    try {
      return (await work()) !== false
    } catch (error) {
      if (!signal.aborted) log.warn({ account: id, err: error }, 'a closed or reopened account could not be worked on')
      return false
    }
  }

  return async (signal) => {
    for (const id of await db.system('reopened accounts', findOpenWithHeldJobs)) {
      await attempt(id, () => closure.release(id), signal)
    }
    const closed = await holdAll(signal)
    if (closed.length === 0) return 0
    const names = tables()
      .map(({ table }) => table)
      .filter((table) => table !== ACCOUNT_TABLE)
    order = await db.system('erase account', (tx) => orderForErasure(tx, names, FIRST_TABLES))
    freed = new Set()
    let erased = 0
    for (const { id } of await freeUsers(closed, signal)) {
      if (await attempt(id, () => erase(id, signal), signal)) erased += 1
    }
    return erased
  }
}
