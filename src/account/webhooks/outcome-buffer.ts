// Outcomes of attempts that the statistics don't have yet. While an account has many deliveries at once, a transaction
// that ends some of them would update a counter of nearly each, which costs as much as ending them. So one transaction
// a second writes what the others left. Of a process that is killed, the statistics miss that second; the log of
// attempts, and with it every delivery, is complete.

import type { AttemptOutcome } from './statistics.ts'

export interface OutcomeBuffer {
  /** A delivery of the account begins to run in this process. */
  enter(account: string): void
  /** It ends. Returns the outcomes that no later transaction would write; otherwise none. */
  leave(account: string): readonly AttemptOutcome[]
  /**
   * For a transaction that ends `count` deliveries: the earlier outcomes that it writes with its own. undefined: its own
   * can wait too, and are given to `add` once it has committed. Taken outcomes whose transaction failed are added again.
   */
  take(account: string, count: number): readonly AttemptOutcome[] | undefined
  add(account: string, outcomes: readonly AttemptOutcome[]): void
}

const WRITE_EVERY_MS = 1_000

interface Held {
  running: number
  outcomes: AttemptOutcome[]
  writtenAt: number
}

export function createOutcomeBuffer({ now = () => performance.now() } = {}): OutcomeBuffer {
  const accounts = new Map<string, Held>()

  function heldOf(account: string): Held {
    const known = accounts.get(account) ?? { running: 0, outcomes: [], writtenAt: Number.NEGATIVE_INFINITY }
    accounts.set(account, known)
    return known
  }

  return {
    enter(account) {
      heldOf(account).running += 1
    },
    leave(account) {
      const held = heldOf(account)
      held.running -= 1
      if (held.running > 0) return []
      accounts.delete(account)
      return held.outcomes
    },
    take(account, count) {
      const held = heldOf(account)
      if (held.running > count && now() - held.writtenAt < WRITE_EVERY_MS) return undefined
      held.writtenAt = now()
      return held.outcomes.splice(0)
    },
    add(account, outcomes) {
      if (outcomes.length > 0) heldOf(account).outcomes.push(...outcomes)
    },
  }
}
