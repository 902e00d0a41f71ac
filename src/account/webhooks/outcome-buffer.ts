// Outcomes of attempts that the statistics don't have yet. While an account has many deliveries at once, a transaction
// that ends some of them would update a counter of nearly each, which costs as much as ending them. So one transaction
// a second writes what the others left. When a process is killed, the statistics miss its last two seconds; the log of
// attempts, and with it every delivery, is complete.

import type { Scope } from '#src/platform/ids.ts'
import type { AttemptOutcome } from './statistics.ts'

export interface OutcomeBuffer {
  /** A delivery begins to run in this process. */
  enter(scope: Scope): void
  /** It ends. The last one of its scope resolves when everything is written. */
  leave(scope: Scope): Promise<void>
  /**
   * For a transaction that ends `count` deliveries: the earlier outcomes that it writes with its own. undefined: its own
   * can wait too, and are given to `add` once it has committed. Taken outcomes whose transaction failed are added again.
   */
  take(scope: Scope, count: number): readonly AttemptOutcome[] | undefined
  add(scope: Scope, outcomes: readonly AttemptOutcome[]): void
}

const WRITE_EVERY_MS = 1_000
// Where no transaction came that could have written them: the deliveries that still run wait for their receivers.
const WRITE_ALONE_MS = 2_000

interface BufferOptions {
  /** Writes outcomes in a transaction of their own. */
  write: (scope: Scope, outcomes: readonly AttemptOutcome[]) => Promise<void>
  now?: () => number
  schedule?: (work: () => void, delayMs: number) => void
}

interface Held {
  running: number
  outcomes: AttemptOutcome[]
  writtenAt: number
  isScheduled: boolean
}

export function createOutcomeBuffer({
  write,
  now = () => performance.now(),
  schedule = (work, delayMs) => void setTimeout(work, delayMs).unref(),
}: BufferOptions): OutcomeBuffer {
  const scopes = new Map<string, Held>()

  function heldOf(scope: Scope): Held {
    const known = scopes.get(keyOf(scope))
    if (known !== undefined) return known
    const held = { running: 0, outcomes: [], writtenAt: Number.NEGATIVE_INFINITY, isScheduled: false }
    scopes.set(keyOf(scope), held)
    return held
  }

  async function flush(scope: Scope, held: Held): Promise<void> {
    const left = held.outcomes.splice(0)
    if (left.length > 0) await write(scope, left).catch(() => add(scope, left))
    const isDone = held.running === 0 && held.outcomes.length === 0
    if (isDone && scopes.get(keyOf(scope)) === held) scopes.delete(keyOf(scope))
  }

  function add(scope: Scope, outcomes: readonly AttemptOutcome[]): void {
    if (outcomes.length === 0) return
    const held = heldOf(scope)
    held.outcomes.push(...outcomes)
    if (held.isScheduled) return
    held.isScheduled = true
    schedule(() => {
      held.isScheduled = false
      void flush(scope, held)
    }, WRITE_ALONE_MS)
  }

  return {
    enter(scope) {
      heldOf(scope).running += 1
    },
    async leave(scope) {
      const held = heldOf(scope)
      held.running -= 1
      if (held.running === 0) await flush(scope, held)
    },
    take(scope, count) {
      const held = heldOf(scope)
      if (held.running > count && now() - held.writtenAt < WRITE_EVERY_MS) return undefined
      held.writtenAt = now()
      return held.outcomes.splice(0)
    },
    add,
  }
}

const keyOf = ({ accountId, environment }: Scope): string => `${accountId} ${environment}`
