// Charges of mandates with one root wait for each other's row locks. In a process they wait here, before they take a
// connection: else one busy mandate would hold all of the process's connections.

import { createFairSemaphore } from '#src/platform/fair-semaphore.ts'

/** @throws {Failure} `service_unavailable` with Retry-After when no slot is free in time. */
export interface RootSemaphore {
  /** Does `work` when no other task under the mandate's root runs in this process. */
  withSlot<R>(mandateId: string, work: () => Promise<R>): Promise<R>
  /** The root of a mandate never changes; until it is known, a mandate waits for its own tasks only. */
  learn(mandateId: string, rootId: string): void
}

interface RootSemaphoreOptions {
  /** The longest wait. Below the 3 s after which callers of verify give up, and long enough for some hundred charges. */
  maxWaitMs?: number
}

const MAX_WAIT_MS = 1_000
/** Roots that a process remembers. Dropping them costs a wait for a connection, and no wrong answer. */
const MAX_ROOTS = 10_000

export function createRootSemaphore({ maxWaitMs = MAX_WAIT_MS }: RootSemaphoreOptions = {}): RootSemaphore {
  const roots = new Map<string, string>()
  const withSlot = createFairSemaphore({
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
    withSlot: (mandateId, work) => withSlot(roots.get(mandateId) ?? mandateId, work),

    learn(mandateId, rootId) {
      if (mandateId === rootId) return
      if (roots.size >= MAX_ROOTS) roots.clear()
      roots.set(mandateId, rootId)
    },
  }
}
