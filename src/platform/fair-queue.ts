// A queue that several owners share: each takes one item in turn, so that an owner with a thousand items delays another's
// by one. The items of one owner keep their order.

export interface FairQueue<Item> {
  readonly size: number
  push(owner: string, item: Item): void
  /** Removes and returns the first item of the owner whose turn is next. */
  shift(): Item | undefined
  /** Removes and returns all items. */
  clear(): Item[]
}

export function createFairQueue<Item>(): FairQueue<Item> {
  // A Map iterates in insertion order: an owner that had its turn is inserted again, behind all others.
  const owners = new Map<string, Item[]>()
  let size = 0

  return {
    get size() {
      return size
    },
    push(owner, item) {
      const items = owners.get(owner)
      if (items === undefined) owners.set(owner, [item])
      else items.push(item)
      size += 1
    },
    shift() {
      const [next] = owners
      if (next === undefined) return undefined
      const [owner, items] = next
      owners.delete(owner)
      if (items.length > 1) owners.set(owner, items)
      size -= 1
      return items.shift()
    },
    clear() {
      const items = [...owners.values()].flat()
      owners.clear()
      size = 0
      return items
    },
  }
}
