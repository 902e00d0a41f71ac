// Places for the callers of one process that wait, shared by accounts. Where all are taken, the account with the most gives
// back the one that it took first, so that no few accounts can take all: n accounts that want all of them get 1/n each.

const MAX_WAITING = 1_000
// The remaining places are free without refusing any caller.
const MAX_OF_ACCOUNT = 900

export interface WaitingPlaces {
  hasRoom(account: string): boolean
  /**
   * Takes a place, and returns what frees it; undefined without room.
   * @param leave A function of this place alone, called when the place is another account's: its caller must wait no longer.
   */
  take(account: string, leave: () => void): (() => void) | undefined
}

export function createWaitingPlaces(): WaitingPlaces {
  // A Set iterates in insertion order.
  const places = new Map<string, Set<() => void>>()
  let taken = 0

  function findMost(): [account: string, own: Set<() => void>] | undefined {
    let most: [string, Set<() => void>] | undefined
    for (const one of places) if (one[1].size > (most?.[1].size ?? 0)) most = one
    return most
  }

  function hasRoom(account: string): boolean {
    const own = places.get(account)?.size ?? 0
    if (own >= MAX_OF_ACCOUNT) return false
    return taken < MAX_WAITING || (findMost()?.[1].size ?? 0) > own + 1
  }

  function free(account: string, leave: () => void): void {
    const own = places.get(account)
    if (own?.delete(leave) !== true) return
    taken -= 1
    if (own.size === 0) places.delete(account)
  }

  function sendOneAway(): void {
    const [account, own = []] = findMost() ?? []
    const [first] = own
    if (account === undefined || first === undefined) return
    free(account, first)
    first()
  }

  return {
    hasRoom,
    take(account, leave) {
      if (!hasRoom(account)) return undefined
      if (taken >= MAX_WAITING) sendOneAway()
      const own = places.get(account) ?? new Set()
      places.set(account, own)
      own.add(leave)
      taken += 1
      return () => free(account, leave)
    },
  }
}
