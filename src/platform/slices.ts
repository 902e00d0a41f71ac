// Long computations on the event loop, cut into slices of a few milliseconds. In each turn of the loop one slice of one
// account runs, and the accounts take turns: other requests wait for one slice, however many large bodies there are.

import { currentSubject } from './context.ts'

/**
 * A request makes some five round trips to Postgres, and each may wait for one slice. A shorter slice costs throughput:
 * a turn of the loop takes some 0.05 ms.
 */
const SLICE_MS = 2

export interface Slice {
  /** Whether the computation has run long enough. Reads the clock: call it after some 0.1 ms of work. */
  isOver(): boolean
  /** Resolves in a later turn of the loop, when it is the turn of the account in progress. */
  next(): Promise<void>
}

/** Begins a slice now. */
export function createSlice(): Slice {
  let startedAt = performance.now()
  return {
    isOver: () => performance.now() - startedAt >= SLICE_MS,
    async next() {
      await turnOf(currentSubject()?.account ?? '')
      startedAt = performance.now()
    },
  }
}

// Of this process, as the event loop is. A Map iterates in insertion order: an account that had its turn is inserted
// again behind the others.
const waiting = new Map<string, (() => void)[]>()
let isScheduled = false

function turnOf(account: string): Promise<void> {
  return new Promise((resume) => {
    const queue = waiting.get(account)
    if (queue === undefined) waiting.set(account, [resume])
    else queue.push(resume)
    schedule()
  })
}

function schedule(): void {
  if (isScheduled) return
  isScheduled = true
  setImmediate(resumeOne)
}

function resumeOne(): void {
  isScheduled = false
  for (const [account, queue] of waiting) {
    const resume = queue.shift()
    waiting.delete(account)
    if (queue.length > 0) waiting.set(account, queue)
    resume?.()
    break
  }
  if (waiting.size > 0) schedule()
}
