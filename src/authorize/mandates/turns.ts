// Charges of mandates with one root wait for each other's row locks. In a process they wait here, before they take a
// connection: else one busy mandate would hold all of the process's connections.

import { createFairTurns } from '#src/platform/fair-turns.ts'

/** @throws {Failure} `service_unavailable` with Retry-After when the turn does not come in time. */
export interface Turns {
  /** Does `work` when no other work under the mandate's root runs in this process. */
  inTurn<R>(mandateId: string, work: () => Promise<R>): Promise<R>
  /** The root of a mandate never changes; until it is known, a mandate waits for its own works only. */
  learn(mandateId: string, rootId: string): void
}

interface TurnsOptions {
  /** The longest wait. Below the 3 s after which callers of verify give up, and long enough for some hundred charges. */
  maxWaitMs?: number
}

const MAX_WAIT_MS = 1_000
/** Roots that a process remembers. Forgetting them costs a wait for a connection, and no wrong answer. */
const MAX_ROOTS = 10_000

export function createTurns({ maxWaitMs = MAX_WAIT_MS }: TurnsOptions = {}): Turns {
  const roots = new Map<string, string>()
  const inTurn = createFairTurns({
    slots: Number.POSITIVE_INFINITY,
    slotsEach: 1,
    maxWaitingEach: Number.POSITIVE_INFINITY,
    maxWaiting: Number.POSITIVE_INFINITY,
    maxWaitMs,
    refusal: {
      detail: 'Too many actions are being executed under this mandate: try again in a moment.',
      retryAfterSeconds: 1,
    },
  })

  return {
    inTurn: (mandateId, work) => inTurn(roots.get(mandateId) ?? mandateId, work),

    learn(mandateId, rootId) {
      if (mandateId === rootId) return
      if (roots.size >= MAX_ROOTS) roots.clear()
      roots.set(mandateId, rootId)
    },
  }
}
