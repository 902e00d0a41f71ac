// The slots of one worker, which the accounts share. What dispatch leaves free over all workers must be free in each of
// them too: a batch may go to any worker.

interface Owner {
  running: number
  waiting: (() => void)[]
}

interface SlotsOptions {
  count: number
  /**
   * An owner takes one more slot only while it has fewer than are free, so that another owner's work starts at once.
   * false: only the order is fair.
   */
  leavesRoom: boolean
}

/** Runs the work when a slot is free for its owner. */
export type Slots = <R>(
  owner: string,
  work: () => Promise<R>,
  options?: {
    /**
     * Called while the work waits and slots are free for other owners: at once when few works wait, otherwise after
     * PATIENCE_MS.
     */
    onPassed?: () => void
    /** Before its owner's other works that wait. */
    goesFirst?: boolean | undefined
  },
) => Promise<R>

// When as many works wait as one owner may run, a quick owner's works wait for each other this long before others can
// overtake them: a worker that fetched all that it could would keep it from other workers.
const PATIENCE_MS = 250

/** The waiting owner with the fewest running works goes first; the works of one owner keep their order, but for those that go first. */
export function createSlots({ count, leavesRoom }: SlotsOptions): Slots {
  const owners = new Map<string, Owner>()
  let free = count
  let waiting = 0

  const mayStart = ({ running }: Owner) => free > 0 && (!leavesRoom || running < free)

  function startNext(): void {
    for (;;) {
      let next: Owner | undefined
      for (const owner of owners.values()) {
        if (owner.waiting.length > 0 && owner.running < (next?.running ?? Number.POSITIVE_INFINITY)) next = owner
      }
      if (next === undefined || !mayStart(next)) return
      free -= 1
      next.running += 1
      next.waiting.shift()?.()
    }
  }

  return async (name, work, { onPassed = () => {}, goesFirst = false } = {}) => {
    const owner = owners.get(name) ?? { running: 0, waiting: [] }
    owners.set(name, owner)
    await new Promise<void>((start) => {
      const passIfFree = () => {
        if (free > 0) onPassed()
      }
      let passing: NodeJS.Timeout | undefined
      let isWaiting = true
      waiting += 1
      const begin = () => {
        clearInterval(passing)
        isWaiting = false
        waiting -= 1
        start()
      }
      if (goesFirst) owner.waiting.unshift(begin)
      else owner.waiting.push(begin)
      startNext()
      // Most works start at once, and need no timer.
      if (!isWaiting) return
      if (waiting <= count / 2) passIfFree()
      passing = setInterval(passIfFree, PATIENCE_MS)
    })
    try {
      return await work()
    } finally {
      free += 1
      owner.running -= 1
      if (owner.running === 0 && owner.waiting.length === 0) owners.delete(name)
      startNext()
    }
  }
}
