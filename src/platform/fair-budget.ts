// Memory or disk that the accounts of a process share. An owner leaves as much free as it holds: alone it gets half, two get a
// third each, n get 1 / (n + 1) each, and something is always free for an owner that comes now.

export interface FairBudget {
  /** What one request of an owner holds. Nothing is taken yet. */
  open(owner: string): Hold
}

export interface Hold {
  /** false, and nothing is taken, when the owner would hold more than is left to the others. */
  take(bytes: number): boolean
  /** Gives back all that was taken. It may be called again. */
  release(): void
}

export function createFairBudget(maxBytes: number): FairBudget {
  const heldBy = new Map<string, number>()
  let free = maxBytes

  function change(owner: string, bytes: number): void {
    free -= bytes
    const held = (heldBy.get(owner) ?? 0) + bytes
    if (held === 0) heldBy.delete(owner)
    else heldBy.set(owner, held)
  }

  return {
    open(owner) {
      let taken = 0
      return {
        take(bytes) {
          if ((heldBy.get(owner) ?? 0) + bytes > free - bytes) return false
          change(owner, bytes)
          taken += bytes
          return true
        },
        release() {
          change(owner, -taken)
          taken = 0
        },
      }
    },
  }
}
