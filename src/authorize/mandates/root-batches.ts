// Charges of mandates with one root need the lock on that root's row. In a process, executions that wait for it are decided
// together, in the order of their arrival and in one transaction: a busy mandate takes one connection, and one commit for
// many of them.

import { Failure } from '#src/failure.ts'
import { createTransactionBatcher } from '#src/platform/batching.ts'
import { detached } from '#src/platform/context.ts'
import type { Scope } from '#src/platform/ids.ts'
import { isLockTimeout } from '#src/platform/unavailable.ts'

/** An execution that waits. */
export interface RootItem {
  scope: Scope
  mandateId: string
  /** Aborted when the client leaves: then nothing is decided for it. */
  signal: AbortSignal
}

/** What became of an item. An error is its own: the transaction keeps what was decided for the other items. */
export type Decided<Result> = { result: Result } | { error: unknown }

export interface RootBatches<Item, Result> {
  /**
   * @throws what was decided for the item, or why its transaction failed; {Failure} `service_unavailable` with Retry-After
   * when it waited for too long.
   */
  decide(item: Item): Promise<Result>
  /** The root of a mandate never changes. Until it is known, a mandate is a root to this process. */
  learn(mandateId: string, rootId: string): void
}

interface RootBatchesOptions<Item, Result> {
  /**
   * Decides items in one transaction: `take`, called once there is a connection, returns them. Returns what became of each,
   * in order.
   * @throws {Undone} when nothing was decided.
   */
  decideAll(first: Item, take: () => readonly Item[]): Promise<readonly Decided<Result>[]>
  random?: () => number
  maxWaitMs?: number | undefined
}

/** Thrown before the COMMIT of a transaction for several items: nothing of it was kept, and each can be tried alone. */
export class Undone extends Error {
  readonly count: number

  constructor(cause: unknown, count: number) {
    super('the transaction was undone', { cause })
    this.count = count
  }
}

/** From here on a caller is told to come back later. */
const MAX_WAIT_MS = 5_000
// Callers that were refused together come back spread over this time.
const RETRY_SPREAD_SECONDS = 5
// A transaction of this size ends within a tenth of a second: other processes wait for its locks for 900 ms at most.
const MAX_ITEMS = 32
/** Roots that a process remembers. Dropping them costs waits for locks, and no wrong answer. */
const MAX_ROOTS = 10_000

export function createRootBatches<Item extends RootItem, Result>({
  decideAll,
  random = Math.random,
  maxWaitMs = MAX_WAIT_MS,
}: RootBatchesOptions<Item, Result>): RootBatches<Item, Result> {
  interface Waiting {
    item: Item
    /** False when the item waits no more. */
    begin(): boolean
  }
  const roots = new Map<string, string>()
  const keyOf = ({ item: { scope, mandateId } }: Waiting) =>
    `${scope.accountId} ${scope.environment} ${roots.get(mandateId) ?? mandateId}`

  const run = (take: () => readonly Waiting[], { item: first }: Waiting) =>
    detached(async () => {
      let places: boolean[] = []
      const decided = await decideAll(first, () => {
        const waiting = take()
        places = waiting.map((one) => one.begin())
        return waiting.filter((_, index) => places[index]).map(({ item }) => item)
      })
      const left = decided.values()
      return places.map((isTaken): Decided<Result> => (isTaken && left.next().value) || LEFT)
    })
  const together = createTransactionBatcher({ run, keyOf, maxRunning: 1, maxSize: MAX_ITEMS })
  const alone = createTransactionBatcher({ run, keyOf, maxRunning: 1, maxSize: 1 })

  /** Waits for a transaction until `until`, and then for its end. */
  function wait(batcher: typeof together, item: Item, until: number): Promise<Decided<Result>> {
    const { signal } = item
    return new Promise((resolve, reject) => {
      let state: 'waiting' | 'begun' | 'left' = 'waiting'
      const stop = () => {
        clearTimeout(timer)
        signal.removeEventListener('abort', onAbort)
      }
      const leave = (error: unknown) => {
        stop()
        if (state !== 'waiting') return
        state = 'left'
        reject(error)
      }
      const onAbort = () => leave(signal.reason)
      const timer = setTimeout(() => leave(busy(random)), until - performance.now())
      signal.addEventListener('abort', onAbort)
      if (signal.aborted) return onAbort()
      const begin = () => {
        stop()
        if (state === 'waiting') state = 'begun'
        return state === 'begun'
      }
      batcher({ item, begin }).then(resolve, reject)
    })
  }

  return {
    async decide(item) {
      const until = performance.now() + maxWaitMs
      for (let batcher = together; ; batcher = alone) {
        try {
          const decided = await wait(batcher, item, until)
          if ('error' in decided) throw decided.error
          return decided.result
        } catch (error) {
          if (!(error instanceof Undone)) throw error
          // What failed together is tried alone: one item may be why. A lock that is not free is waited for.
          if (error.count === 1 && !isLockTimeout(error)) throw error.cause
          if (performance.now() >= until) throw busy(random)
        }
      }
    },

    learn(mandateId, rootId) {
      if (mandateId === rootId) return
      if (roots.size >= MAX_ROOTS) roots.clear()
      roots.set(mandateId, rootId)
    },
  }
}

// Result of an item that was answered before.
const LEFT = { error: new Error('the item has left its batch') }

function busy(random: () => number): Failure {
  const retryAfter = 1 + Math.floor(random() * RETRY_SPREAD_SECONDS)
  return new Failure('service_unavailable', {
    detail: 'Too many actions are being executed under this mandate: try again in a moment.',
    headers: { 'Retry-After': String(retryAfter) },
  })
}
