// Batches calls: a transaction's round trips and its wait for the disk cost the same for one item and for fifty.

import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { detached } from './context.ts'
import { isLockTimeout, isUnavailable } from './unavailable.ts'

/** Adds one item to a batch and returns its own result. */
export type AddToBatch<Item, Result> = (item: Item) => Promise<Result>

export type Batch<Item> = readonly [Item, ...Item[]]

interface Waiting<Item, Result> {
  item: Item
  resolve(result: Result): void
  reject(error: unknown): void
}

interface BatcherOptions<Item, Result> {
  /** Handles items of one key at once; returns a result for each, in order. */
  run(items: Batch<Item>): Promise<readonly Result[]>
  /** Items of different keys are never in one batch. */
  keyOf?: (item: Item) => string
  /**
   * Items that failed together are tried alone, so that one bad item does not fail the others. Not after a lock
   * timeout, and not without a connection: each would wait for the same again, on a connection of its own.
   */
  isSplitOnFailure?: boolean
  /**
   * From the start of a batch of several items to the next: a fast disk would otherwise make many small batches, whose
   * statements cost both sides more. An item that comes alone never waits.
   */
  pauseMs?: number
}

/**
 * One batch of a key at a time: items that arrive while it runs join the next. So load grows the batches and not the
 * queue for connections.
 */
export function createBatcher<Item, Result>({
  run,
  keyOf = () => '',
  isSplitOnFailure = false,
  pauseMs = 0,
}: BatcherOptions<Item, Result>): AddToBatch<Item, Result> {
  const batches = new Map<string, Waiting<Item, Result>[]>()

  async function drain(key: string): Promise<void> {
    for (let batch = batches.get(key) ?? []; batch.length > 0; batch = batches.get(key) ?? []) {
      batches.set(key, [])
      const startedAt = performance.now()
      await runBatch(batch)
      const leftMs = pauseMs - (performance.now() - startedAt)
      if (batch.length > 1 && leftMs > 0) await delay(leftMs)
    }
    batches.delete(key)
  }

  async function runBatch(batch: readonly Waiting<Item, Result>[]): Promise<void> {
    try {
      resolveAll(batch, await run(batch.map(({ item }) => item) as [Item, ...Item[]]))
    } catch (error) {
      if (isSplitOnFailure && batch.length > 1 && mayDependOnItem(error))
        await Promise.all(batch.map((one) => runBatch([one])))
      else for (const { reject } of batch) reject(error)
    }
  }

  return (item) =>
    new Promise((resolve, reject) => {
      const key = keyOf(item)
      const batch = batches.get(key)
      if (batch !== undefined) {
        batch.push({ item, resolve, reject })
        return
      }
      batches.set(key, [{ item, resolve, reject }])
      // The batch runs for all of its items: it must not keep the context of one request or job.
      detached(() => setImmediate(() => void drain(key)))
    })
}

interface TransactionBatcherOptions<Item, Result> {
  /**
   * Handles one batch in one transaction: `take`, called once there is a connection, closes the batch and returns its
   * items. Returns a result for each, in order.
   */
  run(take: () => readonly Item[], first: Item): Promise<readonly Result[]>
  /** Items of different keys are never in one batch. */
  keyOf?: (item: Item) => string
  /** Items in one batch. */
  maxSize?: number
  /**
   * Batches of one key at once: fewer hold more items each. One that waits for a row lock delays the others of its key:
   * more than one only for statements that wait for none, or where all wait for the same lock.
   */
  maxRunning?: number
  /** How long a batch waits for the running one before it runs beside it; by default it does not wait. */
  patienceMs?: number
}

type OpenBatch<Item, Result> = Waiting<Item, Result>[]

interface KeyState<Item, Result> {
  running: number
  /** Still takes items, also while the batch waits for its connection. */
  open: OpenBatch<Item, Result> | undefined
  waiting: OpenBatch<Item, Result>[]
}

/**
 * Items that wait for a connection share one transaction. No item waits longer for it, none joins a transaction that
 * has begun, and on an idle service each item has its own. Items that failed together are tried alone, so that one bad
 * item does not fail the others.
 */
export function createTransactionBatcher<Item, Result>({
  run,
  keyOf = () => '',
  maxSize = Number.POSITIVE_INFINITY,
  maxRunning = Number.POSITIVE_INFINITY,
  patienceMs = 0,
}: TransactionBatcherOptions<Item, Result>): AddToBatch<Item, Result> {
  const keys = new Map<string, KeyState<Item, Result>>()

  async function start(key: string, state: KeyState<Item, Result>, batch: OpenBatch<Item, Result>): Promise<void> {
    state.running += 1
    await runBatch(batch, () => {
      if (state.open === batch) state.open = undefined
    })
    state.running -= 1
    const next = state.waiting.shift()
    if (next !== undefined) void start(key, state, next)
    else if (state.running === 0) keys.delete(key)
  }

  function startBeside(key: string, state: KeyState<Item, Result>, batch: OpenBatch<Item, Result>): void {
    const place = state.waiting.indexOf(batch)
    if (place === -1 || state.running >= maxRunning) return
    state.waiting.splice(place, 1)
    void start(key, state, batch)
  }

  async function runBatch(batch: OpenBatch<Item, Result>, close: () => void): Promise<void> {
    const take = () => {
      close()
      return batch.map(({ item }) => item)
    }
    try {
      const [first] = batch
      if (first === undefined) return
      resolveAll(batch, await run(take, first.item))
    } catch (error) {
      if (batch.length > 1 && isRolledBack(error)) await Promise.all(batch.map((one) => runBatch([one], () => {})))
      else for (const { reject } of batch) reject(error)
    } finally {
      close()
    }
  }

  return (item) =>
    new Promise((resolve, reject) => {
      const key = keyOf(item)
      const state = keys.get(key) ?? { running: 0, open: undefined, waiting: [] }
      keys.set(key, state)
      const added = { item, resolve, reject }
      if (state.open !== undefined && state.open.length < maxSize) {
        state.open.push(added)
        return
      }
      const batch = [added]
      state.open = batch
      if (state.running < (patienceMs === 0 ? maxRunning : 1)) void start(key, state, batch)
      else {
        state.waiting.push(batch)
        if (patienceMs > 0) detached(() => setTimeout(() => startBeside(key, state, batch), patienceMs)).unref()
      }
    })
}

function resolveAll<Item, Result>(batch: readonly Waiting<Item, Result>[], results: readonly Result[]): void {
  if (results.length !== batch.length) throw new Error(`${batch.length} items, but ${results.length} results`)
  for (const [index, { resolve }] of batch.entries()) resolve(results[index] as Result)
}

function mayDependOnItem(error: unknown): boolean {
  if (isLockTimeout(error)) return false
  return error instanceof pg.DatabaseError ? isRolledBack(error) : !isUnavailable(error)
}

// Postgres reports that the transaction was rolled back. After a cut connection (08, 57P) that is unknown: a second try
// could be a second effect. Without resources (53) there is no reason to ask for more. After a lock timeout (55P03)
// each item would wait for the same lock again, on its own connection.
function isRolledBack(error: unknown): boolean {
  return error instanceof pg.DatabaseError && !/^(?:08|53|57P|55P03$)/.test(error.code ?? '')
}
