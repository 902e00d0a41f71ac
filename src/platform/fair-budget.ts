// Memory or disk that the accounts of a process share. An owner leaves as much free as it holds: alone it gets half, two that
// grow together get a third each, n get 1 / (n + 1) each. Where nothing is left because the owners came one after the other, an
// owner that comes now takes the newest hold of the owner with the most, if that has twice as much and its request only waits: for
// its sender, or its turn. So no few owners keep the others out for as long as they drip.

export interface FairBudget {
  /** What one request of an owner holds. Nothing is taken yet. */
  open(owner: string): Hold
}

export interface Hold {
  /** false, and nothing is taken, when the owner would hold more than is left to the others, or the hold was evicted. */
  take(bytes: number): boolean
  /**
   * Until `begin`, the hold may be evicted for another owner.
   * @param drop Frees what was taken, at once. The request is then to be refused.
   */
  mayBeEvicted(drop: () => void): void
  readonly isEvicted: boolean
  /** Call it when the request no longer waits. false: the hold was evicted. */
  begin(): boolean
  /** Gives back all that was taken. It may be called again. */
  release(): void
}

interface Held {
  owner: string
  taken: number
  /** undefined: it is not evicted. */
  drop: (() => void) | undefined
  isEvicted: boolean
}

export function createFairBudget(maxBytes: number): FairBudget {
  // In the order in which they were opened, those that hold something.
  const holds = new Set<Held>()
  const heldBy = new Map<string, number>()
  let free = maxBytes

  function change(held: Held, bytes: number): void {
    free -= bytes
    held.taken += bytes
    const sum = (heldBy.get(held.owner) ?? 0) + bytes
    if (sum === 0) heldBy.delete(held.owner)
    else heldBy.set(held.owner, sum)
    if (held.taken === 0) holds.delete(held)
    else holds.add(held)
  }

  /** The holds to evict, so that the owner can take the bytes; undefined where they don't suffice. */
  function findRoom(owner: string, bytes: number): Held[] | undefined {
    const wanted = (heldBy.get(owner) ?? 0) + bytes
    let room = free - bytes
    if (wanted <= room) return []
    const left = new Map(heldBy)
    const leftOf = (held: Held) => left.get(held.owner) ?? 0
    const waiting = new Set([...holds].reverse().filter(({ drop }) => drop !== undefined))
    const evicted: Held[] = []
    while (wanted > room) {
      let next: Held | undefined
      for (const held of waiting) if (next === undefined || leftOf(held) > leftOf(next)) next = held
      if (next === undefined || leftOf(next) < 2 * wanted) return undefined
      evicted.push(next)
      waiting.delete(next)
      left.set(next.owner, leftOf(next) - next.taken)
      room += next.taken
    }
    return evicted
  }

  function evict(held: Held): void {
    held.isEvicted = true
    change(held, -held.taken)
    held.drop?.()
  }

  return {
    open(owner) {
      const held: Held = { owner, taken: 0, drop: undefined, isEvicted: false }
      return {
        take(bytes) {
          const evicted = held.isEvicted ? undefined : findRoom(owner, bytes)
          if (evicted === undefined) return false
          for (const one of evicted) evict(one)
          change(held, bytes)
          return true
        },
        get isEvicted() {
          return held.isEvicted
        },
        mayBeEvicted(drop) {
          held.drop = drop
        },
        begin() {
          held.drop = undefined
          return !held.isEvicted
        },
        release() {
          change(held, -held.taken)
        },
      }
    },
  }
}
