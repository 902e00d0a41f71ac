// A queue that several owners share: each takes one item in turn, so that an owner with a thousand items delays another's
// by one. The items of one owner keep their order. Where the queue is full, the owner with the most items gives up its
// newest one to an owner with fewer, so that no few owners can keep the others out: n owners that want all places get 1/n each.
//
// Owners with one item each have nothing to give up: as many owners as there are places keep a newcomer out until an item
// is taken. To evict one of theirs, the oldest or a random one, would only refuse another owner that is served as rarely.

export interface FairQueue<Item> {
  readonly size: number
  sizeOf(owner: string): number
  /**
   * Adds an item, and returns the one that must be refused for it: undefined where there was room, the item itself where its
   * owner may add none, or the newest item of the owner with the most.
   */
  push(owner: string, item: Item): Item | undefined
  /** Removes and returns the first item of the owner whose turn is next, among those that may take one. */
  shift(mayTake?: (owner: string) => boolean): Item | undefined
  /** Puts an owner behind all others. */
  passTurn(owner: string): void
  /** false when the item does not wait. */
  remove(owner: string, item: Item): boolean
  /** Removes and returns all items. */
  clear(): Item[]
}

interface FairQueueOptions {
  /** Items of all owners. */
  max?: number | undefined
  /** Items of one owner. */
  maxEach?: number | undefined
}

export function createFairQueue<Item>({
  max = Number.POSITIVE_INFINITY,
  maxEach = Number.POSITIVE_INFINITY,
}: FairQueueOptions = {}): FairQueue<Item> {
  // A Map iterates in insertion order: an owner that had its turn is inserted again, behind all others.
  const owners = new Map<string, Item[]>()
  let size = 0

  const sizeOf = (owner: string): number => owners.get(owner)?.length ?? 0

  function passTurn(owner: string): void {
    const items = owners.get(owner)
    if (items === undefined) return
    owners.delete(owner)
    if (items.length > 0) owners.set(owner, items)
  }

  /** Items of the owner with the most; of several such owners, of the one whose turn comes last. */
  function findMost(): [owner: string, items: Item[]] | undefined {
    let most: [string, Item[]] | undefined
    for (const entry of owners) if (entry[1].length >= (most?.[1].length ?? 0)) most = entry
    return most
  }

  /** undefined where no owner has so many items that it still has as many as `owner` without one of them. */
  function evictFor(owner: string): Item | undefined {
    const [name, items = []] = findMost() ?? []
    if (name === undefined || items.length < sizeOf(owner) + 2) return undefined
    size -= 1
    return items.pop()
  }

  return {
    get size() {
      return size
    },
    sizeOf,
    push(owner, item) {
      if (sizeOf(owner) >= maxEach) return item
      const evicted = size < max ? undefined : evictFor(owner)
      if (size >= max) return item
      const items = owners.get(owner)
      if (items === undefined) owners.set(owner, [item])
      else items.push(item)
      size += 1
      return evicted
    },
    shift(mayTake = () => true) {
      for (const [owner, items] of owners) {
        if (!mayTake(owner)) continue
        const item = items.shift()
        passTurn(owner)
        size -= 1
        return item
      }
      return undefined
    },
    passTurn,
    remove(owner, item) {
      const items = owners.get(owner)
      const index = items?.indexOf(item) ?? -1
      if (items === undefined || index === -1) return false
      items.splice(index, 1)
      size -= 1
      if (items.length === 0) owners.delete(owner)
      return true
    },
    clear() {
      const items = [...owners.values()].flat()
      owners.clear()
      size = 0
      return items
    },
  }
}
