// What comes together goes together: a transaction's round trips and its wait for the disk cost the same for one row and
// for fifty, and a busy worker's calls come in crowds.

import { detached } from './context.ts'
import { isLockTimeout } from './unavailable.ts'

/** Adds one item and answers its own result. */
export type Join<Item, Result> = (item: Item) => Promise<Result>

export type Crowd<Item> = readonly [Item, ...Item[]]

interface CrowdOptions<Item, Result> {
  /** Handles items of one key at once; answers a result for each, in order. */
  run(items: Crowd<Item>): Promise<readonly Result[]>
  /** Items of different keys never meet. */
  keyOf?: (item: Item) => string
  /**
   * Items that failed together are tried alone, so that one bad item costs the others nothing. Not after a lock timeout:
   * each would wait for the same lock again, with a connection of its own.
   */
  isSplitOnFailure?: boolean
}

interface Waiting<Item, Result> {
  item: Item
  resolve(result: Result): void
  reject(error: unknown): void
}

/**
 * One run of a key at a time: what arrives while it runs goes with the next, so a crowd grows the batch and not the queue
 * for connections.
 */
export function createCrowds<Item, Result>({
  run,
  keyOf = () => '',
  isSplitOnFailure = false,
}: CrowdOptions<Item, Result>): Join<Item, Result> {
  const crowds = new Map<string, Waiting<Item, Result>[]>()

  async function drain(key: string): Promise<void> {
    for (let crowd = crowds.get(key) ?? []; crowd.length > 0; crowd = crowds.get(key) ?? []) {
      crowds.set(key, [])
      await runTogether(crowd)
    }
    crowds.delete(key)
  }

  async function runTogether(crowd: readonly Waiting<Item, Result>[]): Promise<void> {
    try {
      const results = await run(crowd.map(({ item }) => item) as [Item, ...Item[]])
      if (results.length !== crowd.length) throw new Error(`${crowd.length} items, but ${results.length} results`)
      for (const [index, { resolve }] of crowd.entries()) resolve(results[index] as Result)
    } catch (error) {
      if (isSplitOnFailure && crowd.length > 1 && !isLockTimeout(error))
        await Promise.all(crowd.map((one) => runTogether([one])))
      else for (const { reject } of crowd) reject(error)
    }
  }

  return (item) =>
    new Promise((resolve, reject) => {
      const key = keyOf(item)
      const crowd = crowds.get(key)
      if (crowd !== undefined) {
        crowd.push({ item, resolve, reject })
        return
      }
      crowds.set(key, [{ item, resolve, reject }])
      // What is done for all of them is done in nobody's name.
      detached(() => setImmediate(() => void drain(key)))
    })
}
