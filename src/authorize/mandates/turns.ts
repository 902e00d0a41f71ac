// Charges of mandates with one root wait for each other's row locks. In a process they wait here, before they take a
// connection: else one busy mandate would hold all of the process's connections.

import { Failure } from '#src/failure.ts'

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
const RETRY_AFTER_SECONDS = '1'
/** Roots that a process remembers. Forgetting them costs a wait for a connection, and no wrong answer. */
const MAX_ROOTS = 10_000

export function createTurns({ maxWaitMs = MAX_WAIT_MS }: TurnsOptions = {}): Turns {
  const roots = new Map<string, string>()
  /** By root: those that wait, while a work runs. Without an entry nothing runs. */
  const queues = new Map<string, Waiting[]>()

  async function enter(root: string): Promise<void> {
    const queue = queues.get(root)
    if (queue === undefined) {
      queues.set(root, [])
      return
    }
    await new Promise<void>((start, reject) => {
      const waiting: Waiting = {
        start() {
          clearTimeout(timer)
          start()
        },
      }
      const timer = setTimeout(() => {
        queue.splice(queue.indexOf(waiting), 1)
        reject(busy())
      }, maxWaitMs)
      queue.push(waiting)
    })
  }

  function leave(root: string): void {
    const next = queues.get(root)?.shift()
    if (next === undefined) queues.delete(root)
    else next.start()
  }

  return {
    async inTurn(mandateId, work) {
      const root = roots.get(mandateId) ?? mandateId
      await enter(root)
      try {
        return await work()
      } finally {
        leave(root)
      }
    },

    learn(mandateId, rootId) {
      if (mandateId === rootId) return
      if (roots.size >= MAX_ROOTS) roots.clear()
      roots.set(mandateId, rootId)
    },
  }
}

interface Waiting {
  start(): void
}

function busy(): Failure {
  return new Failure('service_unavailable', {
    detail: 'Too many actions are being executed under this mandate: try again in a moment.',
    headers: { 'Retry-After': RETRY_AFTER_SECONDS },
  })
}
