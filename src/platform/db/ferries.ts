// Whoever waits for a connection anyway travels together: one transaction serves all of them. Nobody waits longer for it,
// nobody joins one that has begun, and an idle service sends everybody alone.

import pg from 'pg'

interface FerryOptions<Item, Result> {
  /**
   * Serves those who are aboard: `depart`, called when there is a connection, says who they are. Answers a result for each,
   * in order.
   */
  run(depart: () => readonly Item[], first: Item): Promise<readonly Result[]>
  /** Items of different keys never meet. */
  keyOf?: (item: Item) => string
  /** Aboard one. */
  maxSize?: number
  /** Of one key at once: fewer carry more each. For what waits for nobody's locks, or one that does would hold up the rest. */
  maxUnderWay?: number
}

interface Passenger<Item, Result> {
  item: Item
  resolve(result: Result): void
  reject(error: unknown): void
}

type Ferry<Item, Result> = Passenger<Item, Result>[]

/** The ferries of one key. */
interface Berth<Item, Result> {
  underWay: number
  /** Still takes passengers, also when it is under way to its connection. */
  boarding: Ferry<Item, Result> | undefined
  waiting: Ferry<Item, Result>[]
}

/**
 * @returns a function that takes an item aboard and answers its own result. Those who failed together are tried alone, so
 * that one bad item costs the others nothing.
 */
export function createFerries<Item, Result>({
  run,
  keyOf = () => '',
  maxSize = Number.POSITIVE_INFINITY,
  maxUnderWay = Number.POSITIVE_INFINITY,
}: FerryOptions<Item, Result>): (item: Item) => Promise<Result> {
  const berths = new Map<string, Berth<Item, Result>>()

  async function sail(key: string, berth: Berth<Item, Result>, aboard: Ferry<Item, Result>): Promise<void> {
    berth.underWay += 1
    await cross(aboard, () => {
      if (berth.boarding === aboard) berth.boarding = undefined
    })
    berth.underWay -= 1
    const next = berth.waiting.shift()
    if (next !== undefined) void sail(key, berth, next)
    else if (berth.underWay === 0) berths.delete(key)
  }

  async function cross(aboard: Ferry<Item, Result>, close: () => void): Promise<void> {
    const depart = () => {
      close()
      return aboard.map(({ item }) => item)
    }
    try {
      const [first] = aboard
      if (first === undefined) return
      const results = await run(depart, first.item)
      if (results.length !== aboard.length) throw new Error(`${aboard.length} items, but ${results.length} results`)
      for (const [index, { resolve }] of aboard.entries()) resolve(results[index] as Result)
    } catch (error) {
      if (aboard.length > 1 && isTakenBack(error)) await Promise.all(aboard.map((one) => cross([one], () => {})))
      else for (const { reject } of aboard) reject(error)
    } finally {
      close()
    }
  }

  return (item) =>
    new Promise((resolve, reject) => {
      const key = keyOf(item)
      const berth = berths.get(key) ?? { underWay: 0, boarding: undefined, waiting: [] }
      berths.set(key, berth)
      const passenger = { item, resolve, reject }
      if (berth.boarding !== undefined && berth.boarding.length < maxSize) {
        berth.boarding.push(passenger)
        return
      }
      const ferry = [passenger]
      berth.boarding = ferry
      if (berth.underWay < maxUnderWay) void sail(key, berth, ferry)
      else berth.waiting.push(ferry)
    })
}

// Postgres says itself that the transaction has come to nothing. Of one whose connection was cut (08, 57P) nobody knows: again
// could be twice. Without resources (53) there is no reason to ask for more, and after a lock timeout (55P03) each item would
// wait for the same lock again, with a connection of its own.
function isTakenBack(error: unknown): boolean {
  return error instanceof pg.DatabaseError && !/^(?:08|53|57P|55P03$)/.test(error.code ?? '')
}
