import { QUEUE_NAMES, type QueueName } from '#src/catalogue/queues.ts'
import type { Log } from '#src/platform/log.ts'
import type { Dispatcher } from './dispatch.ts'
import { idlePauseMs, nextPauseMs, PAUSE_IDLE_MS, PAUSE_MS } from './poll-interval.ts'

export interface Loop {
  /** Ends after the current round. */
  close(): Promise<void>
}

// Reconcile finds a lapsed lease within 17.5 s of the worker's death.
const RECONCILE_EVERY_MS = 2_500
// An idle queue is dispatched when a job is due. This period also dispatches it, in case the query misses a due job.
const IDLE_ROUND_MS = 120_000

/**
 * Dispatches every queue in its own loop, so that a slow queue does not delay another. One statement per period asks
 * for all idle queues, however many there are.
 */
export function runDispatchLoops(dispatcher: Dispatcher, log: Log): Loop {
  const idle = new Map<QueueName, () => void>()
  let busyAt = performance.now()
  const dispatching = QUEUE_NAMES.map((queue) => {
    let pauseMs = PAUSE_MS
    const loop = repeat(async () => {
      idle.delete(queue)
      const round = await dispatcher.dispatch(queue)
      if (round.count > 0) busyAt = performance.now()
      pauseMs = nextPauseMs(pauseMs, round)
      if (pauseMs < PAUSE_IDLE_MS) return pauseMs
      idle.set(queue, () => loop.wake())
      return IDLE_ROUND_MS
    }, log)
    return loop
  })
  // A queue whose engine does not answer delays no other: its next reconcile starts when this one has ended.
  const reconciling = new Map<QueueName, Promise<unknown>>()
  const reconcile = (queue: QueueName) => {
    if (reconciling.has(queue)) return
    const round = dispatcher
      .reconcile(queue)
      .catch((error: unknown) => log.warn({ queue, err: error }, 'reconciling a queue failed; it is tried again'))
      .finally(() => reconciling.delete(queue))
    reconciling.set(queue, round)
  }
  const finding = every(
    RECONCILE_EVERY_MS,
    async () => {
      for (const queue of await dispatcher.findInFlight()) reconcile(queue)
    },
    log,
  )
  const waking = repeat(async () => {
    const due = idle.size === 0 ? [] : await dispatcher.findDue([...idle.keys()])
    if (due.length > 0) busyAt = performance.now()
    for (const queue of due) idle.get(queue)?.()
    return idlePauseMs(performance.now() - busyAt)
  }, log)
  return {
    async close() {
      await Promise.all([waking, finding, ...dispatching].map((loop) => loop.close()))
      await Promise.all(reconciling.values())
    },
  }
}

/** Runs a task repeatedly, `periodMs` after its last end. A throw is logged, and the next round tries again. */
export function every(periodMs: number, task: () => Promise<unknown>, log: Log): Loop {
  return repeat(async () => {
    await task()
    return periodMs
  }, log)
}

// After a failure: Postgres or Redis is away, and asking more often does not help.
const AFTER_FAILURE_MS = 1_000

// Long pauses end at the nearest of these moments, so that the idle loops of a process wake it up together.
const TOGETHER_MS = 250

function together(ms: number): number {
  if (ms < 2 * TOGETHER_MS) return ms
  const now = performance.now()
  return Math.round((now + ms) / TOGETHER_MS) * TOGETHER_MS - now
}

export interface Repeating extends Loop {
  /** Ends the pause. */
  wake(): void
}

export function repeat(round: () => Promise<number>, log: Log): Repeating {
  let isClosed = false
  let isWoken = false
  let wake = () => {}
  const pause = (ms: number) =>
    new Promise<void>((done) => {
      const timer = setTimeout(done, isWoken ? 0 : together(ms))
      wake = () => {
        clearTimeout(timer)
        done()
      }
    })
  // A wake may come between a round and its pause.
  const wakeUp = () => {
    isWoken = true
    wake()
  }
  const ended = (async () => {
    while (!isClosed) {
      isWoken = false
      const pauseMs = await round().catch((error: unknown) => {
        log.warn({ err: error }, 'a round failed')
        return AFTER_FAILURE_MS
      })
      if (!isClosed) await pause(pauseMs)
    }
  })()
  return {
    wake: wakeUp,
    close() {
      isClosed = true
      wakeUp()
      return ended
    },
  }
}
