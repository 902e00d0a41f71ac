// Long computations on the event loop, cut into slices of a few milliseconds. In each turn of the loop one slice of one
// account runs, and the accounts take turns: other requests wait for one slice, however many large bodies there are.

import { currentSubject } from './context.ts'
import { createFairQueue } from './fair-queue.ts'

// A request makes some five round trips to Postgres, and each may wait for one slice. A shorter slice costs throughput: a
// turn of the loop takes some 0.05 ms.
const SLICE_MS = 1

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
      await nextTurn()
      startedAt = performance.now()
    },
  }
}

/** Runs a computation to its end, in slices. `steps` yields after some 0.1 ms of work each time. */
export async function runInSlices<Result>(steps: Generator<unknown, Result>): Promise<Result> {
  const slice = createSlice()
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
    if (slice.isOver()) await slice.next()
  }
}

/** Resolves in a later turn of the loop: for short computations that would otherwise run many in one turn. */
export function nextTurn(): Promise<void> {
  return new Promise((resume) => {
    waiting.push(currentSubject()?.account ?? '', resume)
    schedule()
  })
}

// One queue serves the process, as one event loop does.
const waiting = createFairQueue<() => void>()
let isScheduled = false

function schedule(): void {
  if (isScheduled) return
  isScheduled = true
  setImmediate(resumeOne)
}

function resumeOne(): void {
  isScheduled = false
  waiting.shift()?.()
  if (waiting.size > 0) schedule()
}
